-- SPDX-License-Identifier: MIT

--- Checks that a local without a value (`local s`) gets one in every way that leads to where it is read: there is no
-- nil in a kernel. A tree has no jumps but `break`, so one walk in the order of the text tells.

local failure = require("clcompute.loops.tree").failure
local walk = require("clcompute.loops.tree").walk

local unassigned = {}

-- What may be without a value at a place of the text: a set of variables. Of a place that is not reached it is nil.

local function copy(open)
  local other = {}
  for variable in pairs(open or {}) do other[variable] = true end
  return other
end

--- What is open behind two ways of which one was taken.
local function either(one, other)
  if not one or not other then return one or other end
  local open = copy(one)
  for variable in pairs(other) do open[variable] = true end
  return open
end

local Check = {}
Check.__index = Check

function Check:read(node, open)
  walk.node(node, function(part)
    local variable = part.kind == "name" and part.variable
    if not variable or not open[variable] then return end
    failure.raise(self.origin, part, ("'%s' may have no value here: give it one in every way that leads here, or where "
      .. "it is declared: local %s = 0, math.huge for a minimum, -math.huge for a maximum"):format(variable.name,
      variable.name))
  end)
end

-- Each returns what is open behind its statement.
local STATEMENTS = {}

function Check:list(nodes, open)
  for _, node in ipairs(nodes) do
    if not open then return nil end -- nothing leads here
    open = STATEMENTS[node.kind](self, node, open)
  end
  return open
end

STATEMENTS["local"] = function(self, node, open)
  self:read(node.value, open)
  open[node.variable] = node.is_bare
  return open
end

function STATEMENTS.assign(self, node, open)
  self:read(node.value, open)
  if node.target.kind == "name" then
    open[node.target.variable] = nil
  else
    self:read(node.target, open)
  end
  return open
end

STATEMENTS["if"] = function(self, node, open)
  local behind
  for _, arm in ipairs(node.arms) do
    self:read(arm.condition, open)
    behind = either(behind, self:list(arm.body, copy(open)))
  end
  return either(behind, self:list(node.otherwise or {}, open))
end

--- A loop may have no pass; one without an end is left by a `break` alone.
STATEMENTS["for"] = function(self, node, open)
  for _, bound in ipairs { node.from, node.to, node.pace } do self:read(bound, open) end
  local around = self.broken
  self.broken = nil
  self:list(node.body, copy(open))
  local behind = self.broken
  self.broken = around
  return node.word and behind or open
end

STATEMENTS["break"] = function(self, _, open)
  self.broken = either(self.broken, open)
end

--- Raises a failure where a local may be read before it has a value.
-- @tparam table tree of `clcompute.loops.front.resolve`
-- @treturn table the tree
function unassigned.check(tree)
  setmetatable({ origin = tree.origin }, Check):list(tree.body, {})
  return tree
end

return unassigned
