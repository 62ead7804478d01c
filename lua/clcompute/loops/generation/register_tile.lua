-- SPDX-License-Identifier: MIT

--- Finds nests that a tile of registers can go through: passes of two parallel loops side by side, whose sums stay in
-- registers while a loop within goes on.
--
--     for i do                              -- rows
--       for j do                            -- columns, neighbours in memory; may be missing
--         local s = 0.0                     -- before
--         for k do s = s + a[i][k] * b[k][j] end
--         c[i][j] = s                       -- after
-- @module clcompute.loops.generation.register_tile

local lua_text = require "clcompute.loops.tree.lua_text"
local strides = require "clcompute.loops.tree.strides"
local walk = require "clcompute.loops.tree.walk"

local register_tile = {}

local ARITHMETIC = { ["+"] = true, ["-"] = true, ["*"] = true, ["/"] = true }

--- Whether an expression is arithmetic of floats, each of which a vector can hold: `real` is their type in memory.
local function is_arithmetic(node, real)
  if node.kind == "number" then return true end
  if node.type ~= "float" then return false end
  if node.kind == "name" then return true end
  if node.kind == "index" then return node.array.element == real end
  if node.kind == "unary" then return node.op == "-" and is_arithmetic(node.operand, real) end
  return node.kind == "binary" and ARITHMETIC[node.op] and not node.is_reordered and is_arithmetic(node.left, real)
    and is_arithmetic(node.right, real)
end

--- Whether all statements of a list are of floats; loops, of one step and of statements alone, are added to `loops`.
local function is_simple(nodes, real, loops)
  for _, node in ipairs(nodes) do
    if node.kind == "for" and loops then
      loops[#loops + 1] = node
      if node.step ~= 1 or not is_simple(node.body, real) then return false end
    elseif node.kind == "assign" then
      local target = node.target
      if target.type ~= "float" or target.array and target.array.element ~= real then return false end
      if not is_arithmetic(node.value, real) then return false end
    elseif node.kind ~= "local" or node.variable.type ~= "float" or not is_arithmetic(node.value, real) then
      return false
    end
  end
  return true
end

--- Whether a loop's bounds grow evenly with a variable: then those in a tile's first and last row say all.
local function is_even(loop, variable)
  return strides.multiple(loop.from, variable) ~= nil and strides.multiple(loop.to, variable) ~= nil
end

--- The elements that the loops in a body assign: they stay in registers, so nothing else of their arrays may be
-- touched, and they are the same in all passes of these loops. nil where that is not so.
local function accumulators_of(body, loops)
  local list, text_of = {}, {}
  for _, loop in ipairs(loops) do
    for _, node in ipairs(loop.body) do
      local target = node.kind == "assign" and node.target
      if target and target.array and not text_of[target.array] then
        text_of[target.array] = lua_text.expression(target)
        list[#list + 1] = { array = target.array, node = target, text = text_of[target.array] }
      end
    end
  end
  local is_alone = true
  walk.nodes(body, function(part)
    if part.kind ~= "index" or not text_of[part.array] then return end
    if lua_text.expression(part) ~= text_of[part.array] then is_alone = false end
  end)
  for _, accumulator in ipairs(list) do
    for _, loop in ipairs(loops) do
      if strides.of(accumulator.node, loop.variable) ~= 0 then return nil end
    end
  end
  return is_alone and list or nil
end

--- Whether each column's pass assigns elements of its own.
local function are_own(body, columns)
  local found = true
  walk.nodes(body, function(part)
    if part.kind == "assign" and part.target.array and strides.of(part.target, columns.variable) ~= 1 then
      found = false
    end
  end)
  return found
end

--- Whether an element's first use in a body is its assignment: then it is not loaded.
local function is_assigned_first(body, accumulator)
  for _, node in ipairs(body) do
    if node.kind == "for" then return false end
    local is_read = false
    walk.node(node.value, function(part)
      if part.kind == "index" and part.array == accumulator.array then is_read = true end
    end)
    if is_read then return false end
    if node.kind == "assign" and node.target.array == accumulator.array then return true end
  end
  return false
end

--- The tile of a nest, or nil.
-- @tparam table rows the `for` node of the rows
-- @tparam ?table columns that of the columns
-- @tparam {table,...} body of the innermost of them
-- @string real the type of floats in C
-- @treturn ?table `rows`, `columns`, `body`, `loops` (those in the body), `accumulators`: `{ array=, node=, text=,
-- is_loaded= }`
function register_tile.of(rows, columns, body, real)
  local loops = {}
  if rows.step ~= 1 or columns and columns.step ~= 1 or not is_simple(body, real, loops) or #loops == 0 then
    return nil
  end
  if columns and not (strides.units(body, columns.variable) and are_own(body, columns)) then return nil end
  if columns and not is_even(columns, rows.variable) then return nil end
  for _, loop in ipairs(loops) do
    if not is_even(loop, rows.variable) or columns and strides.is_bounded_by(loop, columns.variable) then return nil end
  end
  local accumulators = accumulators_of(body, loops)
  if not accumulators then return nil end
  for _, accumulator in ipairs(accumulators) do
    accumulator.is_loaded = not is_assigned_first(body, accumulator)

  end
  return { rows = rows, columns = columns, body = body, loops = loops, accumulators = accumulators }
end

return register_tile
