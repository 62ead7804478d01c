-- SPDX-License-Identifier: MIT

--- Makes the variables of a tree: `{ id=, name=, role=, node=, loops= }`. An id is valid in Lua, C and isl, where
-- words like `floor` and `M_PI_2` mean something.
-- @module clcompute.loops.tree.variables

local variables = {}

local Variables = {}
Variables.__index = Variables

--- A letter first, a number last: no keyword of the three languages is like this; macros of C are in capitals.
local function id_of(name, number)
  local is_plain = name:find "^%l" or name:find "^%u+%l*$"
  return ("%s%s_%d"):format(is_plain and "" or "v", name, number)
end

--- A new variable.
-- @string name as written
-- @string role "parameter", "capture", "local" or "loop"; usage makes "array" of it
-- @tparam table node where it is declared
-- @tparam table loops the `for` nodes around its declaration, outermost first
-- @treturn table
function Variables:new(name, role, node, loops)
  self.count = self.count + 1
  return { id = id_of(name, self.count), name = name, role = role, node = node, loops = loops }
end

--- The name of an array's size: a number of the call in Lua, C and isl.
-- @tparam table array its variable
-- @tparam integer dimension
function variables.size(array, dimension)
  return ("%s_d%d"):format(array.id, dimension)
end

--- Numbers variables from 1.
function variables.new()
  return setmetatable({ count = 0 }, Variables)
end

return variables
