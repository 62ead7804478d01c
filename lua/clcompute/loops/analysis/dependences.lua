-- SPDX-License-Identifier: MIT

--- Tells for each loop, in the order of the program, whether it is parallel: no two of its passes touch one element of
-- which one of them writes, with all loops around it in one pass.

local isl_text = require "clcompute.loops.analysis.isl_text"

local dependences = {}

local function all_accesses(scop)
  local list = {}
  for _, statement in ipairs(scop.statements) do
    for _, access in ipairs(statement.accesses) do list[#list + 1] = access end
  end
  return list
end

local function numbers(loops)
  local number_of = {}
  for number, loop in ipairs(loops) do number_of[loop] = number end
  return number_of
end

--- The accesses as clcompute.poly takes them.
local function rows(list, number_of)
  local result = {}
  for i, access in ipairs(list) do
    local loops = {}
    for d, loop in ipairs(access.statement.loops) do
      loops[d] = loop.step < 0 and -number_of[loop] or number_of[loop]
    end
    result[i] = { array = access.variable.id, map = access.map, write = access.write, loops = loops }
  end
  return result
end

--- A text that is the same for the same accesses: what isl says of them depends on nothing else.
local function key_of(accesses)
  local parts = {}
  for i, access in ipairs(accesses) do
    parts[i] = ("%s %s %s %s"):format(access.array, access.write, table.concat(access.loops, ","), access.map)
  end
  return table.concat(parts, "\n")
end

--- Sets `parallel` of every loop, and `carried`: for each array and kind of dependence between its passes one example
-- `{ array=variable, kind="flow"|"anti"|"output", from=access, to=access }`, where `from` happens in an earlier pass.
-- `parallel` is set again by scattered_updates.lua (atomic sums), and by compiler.lua where `bounds` gives up.
-- @tparam table scop of `clcompute.loops.analysis.scop`
-- @tparam ?integer budget in isl's operations
-- @tparam ?table known keeps what isl said: passes that change loops for nothing ask the same once more
-- @treturn ?boolean true; or nil where the budget is exceeded, and then no loop is parallel
-- @treturn ?string the reason
function dependences.analyse(scop, budget, known)
  local poly = require "clcompute.poly"
  local list, number_of = all_accesses(scop), numbers(scop.loops)
  local accesses = rows(list, number_of)
  local key = known and key_of(accesses)
  local examples, reason = known and known[key], nil
  if not examples then examples, reason = poly.dependences { accesses = accesses, budget = budget } end
  if known then known[key] = examples end
  for _, loop in ipairs(scop.loops) do loop.parallel, loop.carried = examples ~= nil, {} end
  if not examples then return nil, reason end
  for _, example in ipairs(examples) do
    local loop, from = scop.loops[example.loop], list[example.from]
    loop.parallel = false
    loop.carried[#loop.carried + 1] = { array = from.variable, kind = example.kind, from = from,
      to = list[example.to] }
  end
  for _, loop in ipairs(scop.loops) do -- whether a pass comes is known when the one before has ended
    if loop.is_broken then loop.parallel = false end
  end
  return true
end

local function is_within(loop, statement)
  for _, around in ipairs(statement.loops) do
    if around == loop then return true end
  end
  return false
end

--- Whether some accesses are in passes of a loop that depend on each other, or that is not found within a budget.
local function are_carried(scop, loop, accesses, budget)
  local poly = require "clcompute.poly"
  local number_of = numbers(scop.loops)
  local examples = poly.dependences { accesses = rows(accesses, number_of), budget = budget }
  for _, example in ipairs(examples or { { loop = number_of[loop] } }) do
    if example.loop == number_of[loop] then return true end
  end
  return false
end

--- Whether passes of a loop depend on each other, some accesses being left out of account.
-- @tparam table scop
-- @tparam table loop
-- @tparam table except nodes of accesses as keys
-- @tparam ?integer budget in isl's operations; where it is exceeded, they do
function dependences.is_carried(scop, loop, except, budget)
  local list = {}
  for _, access in ipairs(all_accesses(scop)) do
    if not except[access.node] and is_within(loop, access.statement) then list[#list + 1] = access end
  end
  return are_carried(scop, loop, list, budget)
end

--- Whether those passes of a loop depend on each other in which a formula of isl holds.
function dependences.is_carried_where(scop, loop, formula)
  local list = {}
  for _, access in ipairs(all_accesses(scop)) do
    if is_within(loop, access.statement) then
      list[#list + 1] = setmetatable({ map = isl_text.access(scop, access, 0, { formula }) }, { __index = access })
    end
  end
  return are_carried(scop, loop, list)
end

local SENTENCES = {
  flow = "%s (line %d) reads what %s (line %d) wrote",
  anti = "%s (line %d) overwrites what %s (line %d) read",
  output = "%s (line %d) overwrites what %s (line %d) wrote",
}

--- A name or an element as it is written.
function dependences.source_of(scop, node)
  if node.kind == "name" then return node.variable.name end
  return (scop.tree.origin.text:sub(node.offset, node.finish):gsub("%s+", " "))
end

--- One dependence in words: "b[i] (line 4) reads what b[i - 1] (line 5) wrote".
-- @tparam table scop
-- @tparam table dependence of a loop's `carried`
-- @treturn string
function dependences.describe(scop, dependence)
  local from, to = dependence.from, dependence.to
  local source_of = dependences.source_of
  return SENTENCES[dependence.kind]:format(source_of(scop, to.node), to.node.line, source_of(scop, from.node),
    from.node.line)
end

return dependences
