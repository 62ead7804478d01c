-- SPDX-License-Identifier: MIT

--- What the statements of `clcompute.loops.analysis.recurrences` are made of: x, which goes on in Lua's order, and
-- terms, which do not need it and which work-items share. `ordered_sums` prints them.

local ast = require("clcompute.loops.tree").ast
local walk = require("clcompute.loops.tree").walk

local chains = {}

local MOST_TERMS = 4 -- of a work-item in a chunk: doubles of 512 work-items take 32 KiB, with those of the next chunk

--- Whether a loop has such statements.
function chains.are_in(loop)
  return loop.recurrences ~= nil and not loop.parallel and not loop.reductions
end

--- Whether x is in an expression.
local function has(node, x)
  return walk.find({ node }, function(part) return part == x end) ~= nil
end

--- Whether a value is a number of the source or of the call, which is at hand in all passes.
local function is_at_hand(node)
  local role = node.kind == "name" and node.variable.role
  return node.kind == "number" or role == "parameter" or role == "capture"
end

--- An expression with other nodes in place of x, and of what is without x; what is at hand stays.
local function replaced(node, x, other, term_of)
  if node == x then return other end
  if is_at_hand(node) then return node end
  if not has(node, x) then return term_of(node) end
  if node.kind == "binary" then
    return ast.changed(node, { left = replaced(node.left, x, other, term_of),
      right = replaced(node.right, x, other, term_of) })
  end
  local arguments = {}
  for i, argument in ipairs(node.arguments) do arguments[i] = replaced(argument, x, other, term_of) end
  return ast.changed(node, { arguments = arguments })
end

--- A place in local memory: `side` says whether in the chunk that is summed or in the next one, `at` which pass it is.
function chains.place(type, slot, side, at)
  return ("%s_terms[%s][%d][%s]"):format(type == "int" and "int" or "real", side, slot, at)
end

--- The statements of a loop whose x goes on in Lua's order, and how many slots of local memory they need, by type: one
-- for each term, or, when the loop has ended, one for each x that is a local.
function chains.of(loop)
  local list, slots, locals = {}, { int = 0, float = 0 }, { int = 0, float = 0 }
  for i, recurrence in ipairs(loop.recurrences) do
    local target, type = recurrence.target, recurrence.target.type
    local is_local, terms = target.kind == "name", {}
    local name = is_local and target or ast.made_up(("%s_x%d"):format(target.array.id, i), type)
    local value = replaced(recurrence.node.value, recurrence.occurrence, name, function(node)
      terms[#terms + 1] = { node = node, slot = slots[type] }
      slots[type] = slots[type] + 1
      local text = chains.place(type, terms[#terms].slot, "side", "term * columns + column")
      return ast.node("text", { type = type, text = text })
    end)
    list[i] = { node = recurrence.node, target = target, type = type, is_local = is_local, name = name, terms = terms,
      value = value, slot = locals[type] }
    if is_local then locals[type] = locals[type] + 1 end
  end
  for type, count in pairs(locals) do slots[type] = math.max(slots[type], count) end
  return list, slots
end

--- Whether an element is another one in each pass of a loop, and of the loops around it.
local function is_of_one_pass(node, loop, band)
  if node.kind ~= "index" then return false end
  local goes, is_own = false, false
  for _, subscript in ipairs(node.subscripts) do
    goes = goes or walk.mentions(subscript, loop.variable)
    for _, outer in ipairs(band) do is_own = is_own or walk.mentions(subscript, outer.variable) end
  end
  return goes and is_own
end

local IS_QUICK = { min = true, max = true }

--- Whether the terms of a loop take longer than to put them together: what all passes read is at hand soon.
local function are_costly(loop, band)
  return walk.find(loop.body, function(part)
    return part.kind == "call" and not IS_QUICK[part.name] or is_of_one_pass(part, loop, band)
  end) ~= nil
end

--- The local memory for some loops' terms.
-- @tparam {table,...} loops that are shared
-- @tparam ?{table,...} band the loops around them; without it terms are worth it in any case
-- @treturn ?table slots by type, "int" and "float", and `turns`, how many passes of a chunk a work-item has, 0 where
-- there is no room, or the terms of no loop are worth it; nil where no loop is such
function chains.room(loops, band)
  local room, are_worth_it = nil, false
  for _, loop in ipairs(loops) do
    if chains.are_in(loop) then
      local _, slots = chains.of(loop)
      are_worth_it = are_worth_it or not band or are_costly(loop, band)
      room = room or { int = 0, float = 0 }
      for type, count in pairs(slots) do room[type] = math.max(room[type], count) end
    end
  end
  if room then room.turns = are_worth_it and MOST_TERMS // math.max(room.int + room.float, 1) or 0 end
  return room
end

return chains
