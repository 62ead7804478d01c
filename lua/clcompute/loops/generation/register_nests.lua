-- SPDX-License-Identifier: MIT

--- Finds nests that a tile of registers can go through: passes of two parallel loops side by side, whose sums stay in
-- registers while a loop within goes on.
--
--     for i do                              -- rows
--       for j do                            -- columns, whose results are neighbours in memory; may be missing
--         local s = 0.0                     -- before
--         for k do s = s + a[i][k] * b[k][j] end
--         c[i][j] = s                       -- after

local affine = require("clcompute.loops.tree").affine
local lua_text = require("clcompute.loops.tree").lua_text
local panels = require "clcompute.loops.generation.panels"
local vector_arithmetic = require "clcompute.loops.generation.vector_arithmetic"
local walk = require("clcompute.loops.tree").walk

local register_nests = {}

--- Whether all statements of a list are of floats; loops, of one step and of statements alone, are added to `loops`.
local function is_simple(nodes, real, loops)
  for _, node in ipairs(nodes) do
    if node.kind == "for" and loops then
      loops[#loops + 1] = node
      if node.step ~= 1 or node.irregular or not is_simple(node.body, real) then return false end
    elseif node.kind == "assign" then
      local target = node.target
      if target.type ~= "float" or target.checked or target.array and target.array.element ~= real then return false end
      if not vector_arithmetic.is_in(node.value, real) then return false end
    elseif node.kind ~= "local" or node.variable.type ~= "float" or not vector_arithmetic.is_in(node.value, real) then
      return false
    end
  end
  return true
end

--- Whether a loop's bounds grow evenly with a variable: then those in a tile's first and last row say all.
local function is_even(loop, variable)
  return not walk.is_bounded_by(loop, variable)
    or affine.multiple(loop.from, variable) ~= nil and affine.multiple(loop.to, variable) ~= nil
end

--- The loops of a body.
local function loops_of(body)
  local loops = {}
  for _, node in ipairs(body) do loops[#loops + 1] = node.kind == "for" and node or nil end
  return loops
end

--- The elements that loops assign, and their texts by array.
local function assigned_in(loops)
  local list, text_of = {}, {}
  for _, loop in ipairs(loops) do
    for _, node in ipairs(loop.body) do
      local target = node.kind == "assign" and node.target
      if target and target.array and not text_of[target.array] then
        text_of[target.array] = lua_text.expression(target)
        list[#list + 1] = { array = target.array, node = target }
      end
    end
  end
  return list, text_of
end

--- The statements of a body that store a sum of its loops elsewhere in its array, too, as where a matrix is symmetric,
-- and the other ones. nil where a loop comes behind such a statement. `text_of` has the sums by array.
local function split_mirrors(body, text_of)
  local mirrors, others = {}, {}
  for _, node in ipairs(body) do
    local text = node.kind == "assign" and node.target.array and text_of[node.target.array]
    if node.kind == "for" and #mirrors > 0 then return nil end
    local is_mirror = text and lua_text.expression(node.value) == text and lua_text.expression(node.target) ~= text
    local list = is_mirror and mirrors or others
    list[#list + 1] = node
  end
  return mirrors, others
end

--- Whether elements stay in registers: nothing else of their arrays is touched, and they are the same in all passes of
-- the loops.
local function stay(accumulators, text_of, body, loops)
  local is_alone = true
  walk.nodes(body, function(part)
    if part.kind ~= "index" or not text_of[part.array] then return end
    if lua_text.expression(part) ~= text_of[part.array] then is_alone = false end
  end)
  for _, accumulator in ipairs(accumulators) do
    for _, loop in ipairs(loops) do
      if affine.stride(accumulator.node, loop.variable) ~= 0 then return false end
    end
  end
  return is_alone
end

--- Whether each column's pass assigns elements of its own, side by side.
local function are_own(body, columns)
  return not walk.find(body, function(part)
    return part.kind == "assign" and part.target.array and affine.stride(part.target, columns.variable) ~= 1
  end)
end

--- Whether the passes of a loop may be the columns of tiles on a GPU.
-- @tparam table loop
-- @tparam {table,...} body of the innermost loop that is shared out
function register_nests.may_be_columns(loop, body)
  local _, text_of = assigned_in(loops_of(body))
  local _, others = split_mirrors(body, text_of)
  return others ~= nil and are_own(others, loop)
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

--- Whether the bounds of all loops in a body grow evenly with its rows and columns.
local function are_even(loops, rows, columns)
  for _, loop in ipairs(loops) do
    if not is_even(loop, rows.variable) or columns and not is_even(loop, columns.variable) then return false end
  end
  return not columns or is_even(columns, rows.variable)
end

--- Whether one of some loops is bounded by the columns.
local function go_with_columns(loops, columns)
  for _, loop in ipairs(columns and loops or {}) do
    if walk.is_bounded_by(loop, columns.variable) then return true end
  end
  return false
end

--- The tile of a nest, or nil.
-- @tparam table rows the `for` node of the rows
-- @tparam ?table columns that of the columns
-- @tparam {table,...} body of the innermost of them
-- @string real the type of floats in C
-- @tparam ?string remedy for elements that lie apart along the columns: "panels", or "slices" of a group on a GPU,
-- where loops may be bounded by the columns, too, and sums stored twice
-- @treturn ?table `rows`, `columns`, `body`, `loops` (those in the body), `accumulators`: `{ array=, node=,
-- is_loaded= }`; `panels`, if any; `needs_slices`; `mirrors`: statements that store a sum once more, as keys
function register_nests.of(rows, columns, body, real, remedy)
  local loops, mirrors, others, may_jump = {}, {}, body, remedy == "slices"
  if rows.step ~= 1 or columns and columns.step ~= 1 or not is_simple(body, real, loops) or #loops == 0
    or not are_even(loops, rows, columns) then return nil end
  local accumulators, text_of = assigned_in(loops)
  if may_jump then mirrors, others = split_mirrors(body, text_of) end
  if not mirrors or columns and not are_own(others, columns) or not stay(accumulators, text_of, others, loops) then
    return nil
  end
  local is_slanted = go_with_columns(loops, columns)
  local jumps = columns and not affine.units(others, columns.variable, true)
  local packed = jumps and remedy == "panels" and panels.of(rows, columns, body) or nil
  if not may_jump and (is_slanted or jumps and not packed) then return nil end
  for _, accumulator in ipairs(accumulators) do
    accumulator.is_loaded = not is_assigned_first(body, accumulator)
  end
  return { rows = rows, columns = columns, body = body, loops = loops, accumulators = accumulators, panels = packed,
    needs_slices = may_jump and (jumps or is_slanted), mirrors = walk.set(mirrors) }
end

return register_nests
