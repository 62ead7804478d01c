-- SPDX-License-Identifier: MIT

--- Rows of a nest of sequential loops as lanes of vectors, each some passes behind the one before: what a row needs of
-- the row before is in the lane beside it, so it stays in registers.
--
--     for i do for j do d[i][j] = math.min(d[i - 1][j], d[i][j - 1]) + b[j] end end
--
--     lane 0   d[i][j]               one step: all lanes compute, and then have what they need for the next one
--     lane 1   d[i + 1][j - 1]
--     lane 2   d[i + 2][j - 2]
--
-- After as many steps as there are lanes the vectors are transposed: each row's numbers lie side by side then.

local affine = require("clcompute.loops.tree").affine
local c_expression = require "clcompute.loops.generation.c_expression"
local choices = require "clcompute.loops.generation.choices"
local walk = require("clcompute.loops.tree").walk

local row_lanes = {}

row_lanes.rows = 8
row_lanes.most_behind = 2 -- passes that a lane is behind the one before: what goes into `rows` without a rest
local MOST_PASSES = 3 -- that what was computed is kept for
local MOST_STATEMENTS = 12 -- each of eight steps has them
local MOST_GATHERED = 2 -- elements that each lane reads for itself: these take as long as without vectors

-- --- what is read -----------------------------------------------------------------------------

--- Whether an element's place changes with the rows, and with the passes; nil where that is not known.
local function movement_of(node, loops)
  local with_rows, with_passes = false, false
  for _, subscript in ipairs(node.subscripts) do
    local row, pass = affine.multiple(subscript, loops.row), affine.multiple(subscript, loops.pass)
    if not row or not pass then return nil end
    with_rows, with_passes = with_rows or row ~= 0, with_passes or pass ~= 0
  end
  return with_rows, with_passes
end

--- The dimension of what a loop stores along which its rows lie; nil where its passes do not lie along the last one.
local function row_dimension(target, loops)
  local found
  for d, subscript in ipairs(target.subscripts) do
    local is_last = d == #target.subscripts
    local row, pass = affine.multiple(subscript, loops.row), affine.multiple(subscript, loops.pass)
    if pass ~= (is_last and 1 or 0) or row ~= 0 and (row ~= 1 or is_last or found) then return nil end
    if row == 1 then found = d end
  end
  return found
end

--- How many rows and passes further on an element of the array is stored in which a loop stores; nil: not known.
local function distance_of(node, target, dimension)
  local rows, passes
  for d, subscript in ipairs(node.subscripts) do
    local distance = affine.distance(subscript, target.subscripts[d])
    if not distance then return nil end
    if d == dimension then rows = distance elseif d == #node.subscripts then passes = distance
    elseif distance ~= 0 then return nil end
  end
  return rows, passes
end

--- How the lanes read an element of the array in which they store: "kept" or "above", so many passes ago; "gathered",
-- which is not stored yet.
local function own_read(node, state)
  local rows, passes = distance_of(node, state.target, state.dimension)
  if not rows then return nil end
  if rows > 0 or rows == 0 and passes >= 0 then return { kind = "gathered" } end
  local ago = (rows == 0 and 0 or state.loops.behind) - passes
  if rows < -1 or ago < 1 or ago > MOST_PASSES then return nil end
  return { kind = rows == 0 and "kept" or "above", ago = ago }
end

--- Whether an element's place speaks of a local of the pass, which is another one in each step.
local function has_own(node, state)
  return walk.find(node.subscripts, function(part) return state.types[part.variable] end) ~= nil
end

--- How the lanes read an element; nil where they cannot.
local function read_of(node, state)
  if node.checked or has_own(node, state) or node.array.element == "half" then return nil end
  if node.array == state.target.array then return own_read(node, state) end
  local with_rows, with_passes = movement_of(node, state.loops)
  if with_rows == nil then return nil end
  return { kind = with_rows and (with_passes and "gathered" or "fixed") or with_passes and "along" or "common" }
end

-- --- what may be computed ---------------------------------------------------------------------

local INTEGERS, FLOATS = { ["+"] = true, ["-"] = true, ["*"] = true },
  { ["+"] = true, ["-"] = true, ["*"] = true, ["/"] = true }
local COMPARISONS = { ["=="] = true, ["~="] = true, ["<"] = true, ["<="] = true, [">"] = true, [">="] = true }

--- Whether a node is another number in each lane.
local function is_lane(node, state)
  return walk.find({ node }, function(part)
    if part.kind == "index" then return state.reads[part].kind ~= "common" end
    return part.kind == "name" and (state.types[part.variable] or part.variable == state.loops.row
      or part.variable == state.loops.pass)
  end) ~= nil
end

local fits, mask_of

--- Whether nodes are numbers of a type, or integers where that is a float.
local function all_fit(nodes, type, state)
  for _, node in ipairs(nodes) do
    if not fits(node, state) or node.type == "float" and type == "int" then return false end
  end
  return true
end

local FITS = {
  number = function() return true end,
  name = function(node) return node.type ~= "bool" end,
  index = function(node, state)
    local read = read_of(node, state)
    state.reads[node] = read
    if read and read.kind == "gathered" then state.gathered = state.gathered + 1 end
    return read ~= nil
  end,
  binary = function(node, state)
    if node.op == "or" then
      return choices.is_free(node) and all_fit({ node.left.right, node.right }, node.type, state)
        and mask_of(node.left.left, state) ~= nil
    end
    return not node.is_reordered and (node.type == "int" and INTEGERS or FLOATS)[node.op]
      and all_fit({ node.left, node.right }, node.type, state)
  end,
  unary = function(node, state) return node.op == "-" and fits(node.operand, state) end,
  call = function(node, state)
    local is_one = node.name == "min" or node.name == "max" or node.name == "abs" and node.type == "float"
    return is_one and all_fit(node.arguments, node.type, state)
  end,
}

--- Whether vectors of OpenCL C compute a number.
function fits(node, state)
  local test = FITS[node.kind]
  return test ~= nil and test(node, state)
end

--- What a condition compares, "int" or "float"; nil where vectors do not, or it is the same in all lanes.
function mask_of(node, state)
  if node.kind == "name" then return state.types[node.variable] end
  if node.op == "not" then return mask_of(node.operand, state) end
  if node.op == "and" or node.op == "or" then
    local left, right = mask_of(node.left, state), mask_of(node.right, state)
    return choices.has_both(node) and left == right and left or nil
  end
  if not COMPARISONS[node.op] then return nil end
  local left, right = node.left, node.right
  local is_exact = c_expression.is_exact_literal(left, state.real) or c_expression.is_exact_literal(right, state.real)
  local type = left.type == right.type and left.type or is_exact and "float" or nil
  return type and fits(left, state) and fits(right, state) and is_lane(node, state) and type or nil
end

--- Whether a statement fits; its locals, and what they hold, are added to `state.types`.
local function is_statement(node, state)
  local variable = node.variable or node.target and node.target.variable
  if node.kind == "local" and variable.type == "bool" then
    state.types[variable] = mask_of(node.value, state)
    return state.types[variable] ~= nil
  end
  local type = variable and variable.type or node.target.type
  if node.kind == "assign" and variable and not state.types[variable] or not all_fit({ node.value }, type, state) then
    return false
  end
  if node.kind == "local" then state.types[variable] = type end
  return true
end

--- Whether a statement is one that lanes may have: locals, and a store at the end.
local function is_in_place(node, is_last)
  if is_last then return node.kind == "assign" and node.target.array ~= nil and not node.target.checked end
  return node.kind == "local" or node.kind == "assign" and not node.target.array
end

--- How rows of a loop go as lanes; nil where they cannot.
-- @tparam {table,...} body of the inner loop, with choices in place of conditions
-- @tparam table loops `row` and `pass`, the variables of both loops; `behind`: passes that a row is behind the one
--  before
-- @string real the type of floats that are computed
-- @treturn ?table `target`, what they store; `dimension`, along which of its dimensions they lie; `reads`, by element
--  how it is read: `kind`, and `ago`, passes; `types`, of the locals, and what those of conditions compare; `loops`
function row_lanes.of(body, loops, real)
  if #body > MOST_STATEMENTS then return nil end
  for i, node in ipairs(body) do
    if not is_in_place(node, i == #body) then return nil end
  end
  local target = body[#body].target
  local state = { target = target, dimension = row_dimension(target, loops), loops = loops, real = real, reads = {},
    types = {}, gathered = 0 }
  if not state.dimension or target.array.element ~= (target.type == "int" and "long" or real) then return nil end
  for _, node in ipairs(body) do
    if not is_statement(node, state) then return nil end
  end
  return state.gathered <= MOST_GATHERED and not has_own(target, state) and state or nil
end

return row_lanes
