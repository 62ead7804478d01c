-- SPDX-License-Identifier: MIT

--- Lets passes of a parallel loop in which a `while` or `repeat` ends where data say so be lanes of vectors: they go on
-- together, those that have ended keep what they have, and the last few go on alone.
--
--     for j do local x = a[j]; while x > 1 do x = x * f end; a[j] = x end
--     for j do x[j] = a[j]; off[j] = false end
--     repeat
--       for j do off[j] = off[j] or not (x[j] > 1); x[j] = off[j] and x[j] or x[j] * f end
--       count = 0; for j do count = count + 1 - off[j] end
--     until count < 4
--     for j do if not off[j] then while x[j] > 1 do x[j] = x[j] * f end end end
--     for j do a[j] = x[j] end

local ast = require("clcompute.loops.tree").ast
local faults = require "clcompute.loops.generation.faults"
local walk = require("clcompute.loops.tree").walk

local masking = {}

local changed = ast.changed
local FEW = 4 -- lanes, fewer of which are slower together than one after the other

-- --- which loops ------------------------------------------------------------------------------

-- What vectors are good at, by the type of the result.
local OPERATORS = { int = { ["+"] = true, ["-"] = true },
  float = { ["+"] = true, ["-"] = true, ["*"] = true, ["/"] = true } }

--- Whether an expression may be evaluated in any case, and vectors are good at it.
local function is_harmless(node)
  return not walk.find({ node }, function(part)
    if part.kind == "index" or part.kind == "call" or part.is_mixed then return true end
    return part.kind == "binary" and part.type ~= "bool" and not OPERATORS[part.type][part.op]
  end)
end

local function is_break(node)
  return node.kind == "if" and #node.arms == 1 and not node.otherwise and #node.arms[1].body == 1
    and node.arms[1].body[1].kind == "break" and is_harmless(node.arms[1].condition)
end

--- Whether statements only give locals other numbers.
local function are_plain(nodes)
  for _, node in ipairs(nodes) do
    if node.kind == "if" then
      if #node.arms > 1 or not is_harmless(node.arms[1].condition) or not are_plain(node.arms[1].body)
        or not are_plain(node.otherwise or {}) then return false end
    elseif node.kind ~= "local" and node.kind ~= "assign" or node.target and node.target.kind ~= "name" then
      return false
    elseif not is_harmless(node.value) or node.value.type == "bool" or node.target
      and node.target.type ~= node.value.type then
      return false
    end
  end
  return true
end

--- The place of the only `break` of a loop without an end, beside which there are plain statements, or nil.
local function break_of(node)
  if node.kind ~= "for" or not node.word then return nil end
  local at, rest = nil, {}
  for i, inner in ipairs(node.body) do
    if not at and is_break(inner) then at = i else rest[#rest + 1] = inner end
  end
  return are_plain(rest) and at or nil
end

-- --- masks ------------------------------------------------------------------------------------

local EAGER, OPPOSITE = { ["and"] = "&", ["or"] = "|" }, { ["and"] = "|", ["or"] = "&" }

--- A condition, or its opposite, both sides of which are evaluated: compilers make vectors of that.
local function eager(node, is_opposite)
  if node.op == "not" then return eager(node.operand, not is_opposite) end
  local op = node.kind == "binary" and node.type == "bool" and (is_opposite and OPPOSITE or EAGER)[node.op]
  if op and node.left.type == "bool" and node.right.type == "bool" then
    return changed(node, { op = op, left = eager(node.left, is_opposite), right = eager(node.right, is_opposite) })
  end
  return is_opposite and ast.node("unary", { op = "not", operand = node, type = "bool" }) or node
end

local function either(left, right)
  return ast.node("binary", { op = "|", left = left, right = right, type = "bool" })
end

--- A local with a name that no other one has, before what uses it.
local function add_local(state, list, value, at)
  state.number = state.number + 1
  local name = ast.made_up(("%s_lane%d"):format(state.id, state.number), value.type)
  list[#list + 1] = ast.node("local", { variable = name.variable, value = value }, at)
  return name
end

--- Adds statements that do nothing where a lane is off.
local function add_masked(nodes, off, state, list)
  for _, node in ipairs(nodes) do
    if node.kind == "local" then
      list[#list + 1] = node
    elseif node.kind == "assign" then
      local value, target = add_local(state, list, node.value, node), node.target
      local choice = ast.node("binary", { op = "and", left = off, right = target, type = target.type,
        is_partial = true })
      list[#list + 1] = changed(node, { value = ast.node("binary", { op = "or", left = choice, right = value,
        type = target.type }) })
    else
      local condition = node.arms[1].condition
      local fails, holds = add_local(state, list, eager(condition, true), node),
        node.otherwise and add_local(state, list, eager(condition, false), node)
      add_masked(node.arms[1].body, add_local(state, list, either(off, fails), node), state, list)
      if holds then add_masked(node.otherwise, add_local(state, list, either(off, holds), node), state, list) end
    end
  end
end

local function number(value) return ast.node("number", { value = value, type = "int" }) end

local function compare(op, left, right)
  return ast.node("binary", { op = op, left = left, right = right, type = "bool" })
end

--- The local of whether a lane has ended, and the loop with what becomes of it.
local function masked(node, at, state)
  local ends, list, result = node.body[at], {}, {}
  local function assign(target, value) return ast.node("assign", { target = target, value = value }) end
  local function sum(op, left, right)
    return ast.node("binary", { op = op, left = left, right = right, type = "int" })
  end
  local off = add_local(state, result, compare("==", number(0), number(1)))
  local count = ast.made_up(state.id .. "_count", "int")
  add_masked(table.move(node.body, 1, at - 1, 1, {}), off, state, list)
  list[#list + 1] = assign(off, either(off, eager(ends.arms[1].condition)))
  add_masked(table.move(node.body, at + 1, #node.body, 1, {}), off, state, list)
  local tally = assign(count, sum("-", sum("+", count, number(1)), off))
  local function arm(condition, body) return changed(ends.arms[1], { condition = condition, body = body }) end
  result[2] = changed(node, { lanes = { all = list, each = { tally },
    first = { ast.node("local", { variable = count.variable, value = number(0) }) },
    last = { changed(ends, { arms = { arm(compare("<", count, number(FEW)), ends.arms[1].body) } }) },
    rest = { ast.node("if", { arms = { arm(eager(off, true), { node }) } }) } } })
  return result
end

--- The body of a parallel loop with such loops in it, or nil.
-- @tparam table loop a `for` node
-- @tparam {table,...} body of it
-- @treturn ?{table,...} statements. The loop without an end has `lanes`: `all`, statements for all lanes; `first` and
-- `last`, which are there once, before and behind these; `each`, lane after lane between them; `rest`, for each lane
-- behind the loop. nil where there is none, or one that is not like this
function masking.of(loop, body)
  if loop.step ~= 1 or faults.are_in(body) then return nil end
  local list, count, state = {}, 0, { id = loop.variable.id, number = 0 }
  for _, node in ipairs(body) do
    local at = break_of(node)
    if not at and walk.depth(node) > 0 or at and count > 0 then return nil end
    local others = at and masked(node, at, state) or { node }
    table.move(others, 1, #others, #list + 1, list)
    count = count + (at and 1 or 0)
  end
  return count == 1 and list or nil
end

return masking
