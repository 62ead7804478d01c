-- SPDX-License-Identifier: MIT

--- The static placement of copies after Belevantsev, Kravets & Monakov 2012, 3.4.1: which copies between host and
-- device a program of loops and blocks needs, and where they stand. What `coherence` decides at run time is decided
-- here once for all runs; `explain` shows it, and the run-time rules must not copy more.
--
-- A program is a list of operators: { kind="loop", body={operators} } or { kind="block", on="host"|"device",
-- reads={}, writes={} }, with objects as names, and a `name` of the operator if it has one. A block uses what it
-- reads and what it writes: a write that leaves elements as they were needs them.
--
-- The paper walks the tree once and asks, before each block, whether an object is valid after all of pred(block).
-- To the letter that is wrong in three ways, and wasteful in a fourth; what is done instead:
--
-- 1. Back edges. pred of the first operator of a loop holds the loop's last blocks, which one walk has not seen yet.
--    So a body is walked once to learn what is valid after it, and then to place copies.
-- 2. Loops that run no time. last(loop) is the last block of its body, so after the loop the paper counts on what a
--    body has copied or written that never ran. Here last(loop) holds pred(loop) too, and validity after a loop is
--    that before it and that after its body, met.
-- 3. A copy from a side that is not valid. Host writes x, then a loop { host reads x; device writes x }: after the
--    loop's last block only the device is valid, so a copy to the host stands first in the body, and the first time
--    round it overwrites what the host wrote by what the device never had (against the paper's own rule 4). Where
--    the sides valid before a loop and after its body have nothing in common, the loop is entered with both valid:
--    one copy before it.
-- 4. "Valid on both sides at the start" holds only because the paper uploads every buffer when the program begins,
--    also those that no kernel reads. With initial="host" nothing is uploaded, and the first use places the copy.
--
-- A copy stands before the outermost loop around the block that does not modify the object. It is then made even if
-- that loop runs no time, so validity after such a loop may count on it.

local check = require("clcompute.base").options

local static_copies = {}

-- Stands in `pred` for what ran before the program.
static_copies.START = { kind = "block", on = "host", reads = {}, writes = {} }

local OTHER = { host = "device", device = "host" }
local OPTIONS = { initial = "string" }
local INITIAL = { both = true, host = true }

-- --- the paper's sets -----------------------------------------------------------

local function add_all(set, other)
  for item in pairs(other) do set[item] = true end
  return set
end

local function set_of(list)
  local set = {}
  for _, item in ipairs(list) do set[item] = true end
  return set
end

--- Objects by use, of an operator and all in it: on which sides it uses each, and which it modifies.
local function summarize(operator, sets)
  local uses, modify = { host = {}, device = {} }, {}
  if operator.kind == "block" then
    add_all(add_all(uses[operator.on], set_of(operator.reads)), set_of(operator.writes))
    add_all(modify, set_of(operator.writes))
  else
    for _, child in ipairs(operator.body) do
      summarize(child, sets)
      add_all(modify, sets.modify[child])
      for side, objects in pairs(uses) do add_all(objects, sets.uses[child][side]) end
    end
  end
  sets.uses[operator], sets.modify[operator] = uses, modify
end

--- last(loop) within its body: what may run last when the body is run from its head on.
local function tail_of(body)
  local blocks = {}
  for i = #body, 1, -1 do
    if body[i].kind == "block" then
      blocks[body[i]] = true
      return blocks
    end
    add_all(blocks, tail_of(body[i].body))
  end
  return blocks
end

--- Fills pred and last of operators, which begin after the blocks of `before`.
local function relate(body, before, sets)
  for _, operator in ipairs(body) do
    sets.pred[operator] = before
    if operator.kind == "block" then
      sets.last[operator] = { [operator] = true }
    else
      local tail = tail_of(operator.body)
      relate(operator.body, add_all(add_all({}, before), tail), sets)
      sets.last[operator] = add_all(add_all({}, before), tail)
    end
    before = sets.last[operator]
  end
end

-- --- validity of one object -----------------------------------------------------
-- A state is "host", "device" (valid there only) or "both".

local function is_valid(state, side)
  return state == "both" or state == side
end

--- Valid after either of two states; nil: on no side.
local function meet(a, b)
  if a == "both" then return b end
  return (b == "both" or a == b) and a or nil
end

local walk

--- Notes a copy before an operator.
local function place(placed, operator, side)
  placed.copies[#placed.copies + 1] = { before = operator, to = side }
end

--- Where an operator does not modify the object: copies to the sides that use it.
local function pass(operator, object, state, placed, sets)
  for _, side in ipairs { "host", "device" } do
    if sets.uses[operator][side][object] and not is_valid(state, side) then
      place(placed, operator, side)
      state = "both"
    end
  end
  return state
end

--- A block that modifies the object, and so uses it.
local function write(block, object, state, placed, sets)
  pass(block, object, state, placed, sets)
  return block.on
end

--- Validity at the head of a loop: that before it, met with that after its body; nil: on no side. One walk is enough: a
-- body that begins with less valid ends with no more, and always with a side.
local function head_of(loop, object, before, sets)
  return meet(before, walk(loop.body, object, before, { copies = {}, after = {} }, sets))
end

--- A loop that modifies the object.
local function iterate(loop, object, before, placed, sets)
  local head = head_of(loop, object, before, sets)
  if not head then
    place(placed, loop, OTHER[before])
    before = "both"
    head = head_of(loop, object, before, sets)
  end
  return meet(before, walk(loop.body, object, head, placed, sets))
end

--- Runs through operators, notes the copies and the validity after each, and returns the last one.
function walk(body, object, state, placed, sets)
  for _, operator in ipairs(body) do
    local step = pass
    if sets.modify[operator][object] then step = operator.kind == "loop" and iterate or write end
    state = step(operator, object, state, placed, sets)
    if operator.kind == "loop" and step == pass then
      walk(operator.body, object, state, placed, sets) -- places nothing: it is valid where it is used
    end
    placed.after[operator] = state
  end
  return state
end

-- --- the pass -------------------------------------------------------------------

local function sorted(set)
  local list = {}
  for item in pairs(set) do list[#list + 1] = item end
  table.sort(list)
  return list
end

--- Places the copies of a program.
-- @tparam table body a list of operators
-- @tparam[opt] table options `initial`: where objects are valid at the start, "both" (the paper; as every object that
--  the device uses is uploaded first) or "host"
-- @treturn table `body`, `initial`; `uploads`, the objects uploaded at the start, and `downloads`, those still to be
--  copied to the host at the end; `before[operator]`, a list of { object=, to= }; `after[operator][object]`,
--  "host", "device" or "both"; and the paper's sets `last`, `pred`, `modify` by operator
function static_copies.place(body, options)
  options = check.check("static_copies.place", options or {}, OPTIONS)
  check.one_of("static_copies.place", options, "initial", INITIAL)
  local sets = { uses = {}, modify = {}, last = {}, pred = {} }
  local root = { kind = "loop", body = body }
  summarize(root, sets)
  local before, after = {}, {}
  for operator in pairs(sets.modify) do before[operator], after[operator] = {}, {} end
  relate(body, { [static_copies.START] = true }, sets)
  local result = { body = body, initial = options.initial or "both", uploads = {}, downloads = {}, before = before,
    after = after, last = sets.last, pred = sets.pred, modify = sets.modify }
  local uses = sets.uses[root]
  if result.initial == "both" then result.uploads = sorted(uses.device) end
  for _, object in ipairs(sorted(add_all(add_all({}, uses.host), uses.device))) do
    local placed = { copies = {}, after = {} }
    local state = walk(body, object, uses.device[object] and result.initial or "host", placed, sets)
    for _, copy in ipairs(placed.copies) do
      table.insert(before[copy.before], { object = object, to = copy.to })
    end
    for operator, valid in pairs(placed.after) do after[operator][object] = valid end
    if not is_valid(state, "host") then table.insert(result.downloads, object) end
  end
  return result
end

-- --- as text --------------------------------------------------------------------

local function names(operators, name_of)
  local list = {}
  for operator in pairs(operators) do list[#list + 1] = name_of[operator] end
  table.sort(list)
  return table.concat(list, ", ")
end

--- Names of operators: their own, or B1, L2, ... in the order of the text.
local function name_all(body, name_of, count)
  for _, operator in ipairs(body) do
    count = count + 1
    name_of[operator] = operator.name or (operator.kind == "block" and "B" or "L") .. count
    if operator.kind == "loop" then count = name_all(operator.body, name_of, count) end
  end
  return count
end

local function validity(after)
  local parts = {}
  for _, object in ipairs(sorted(after)) do parts[#parts + 1] = ("%s %s"):format(object, after[object]) end
  return table.concat(parts, ", ")
end

local function describe(operator, name_of)
  if operator.kind == "loop" then return "loop " .. name_of[operator] end
  local reads, writes = table.concat(operator.reads, ", "), table.concat(operator.writes, ", ")
  return ("%s %s%s%s"):format(operator.on, name_of[operator], reads ~= "" and ": reads " .. reads or "",
    writes ~= "" and (reads ~= "" and "; " or ": ") .. "writes " .. writes or "")
end

local function show(body, result, name_of, indent, lines)
  local function add(text) lines[#lines + 1] = indent .. text end
  for _, operator in ipairs(body) do
    for _, copy in ipairs(result.before[operator]) do add(("copy %s to %s"):format(copy.object, copy.to)) end
    add(describe(operator, name_of))
    add(("  -- pred {%s}; last {%s}; modify {%s}; valid after it: %s"):format(names(result.pred[operator], name_of),
      names(result.last[operator], name_of), table.concat(sorted(result.modify[operator]), ", "),
      validity(result.after[operator])))
    if operator.kind == "loop" then show(operator.body, result, name_of, indent .. "  ", lines) end
  end
end

--- A program with its copies as text, an operator a line; below each its pred, last and modify, and where objects are
-- valid after it.
-- @tparam table result what `place` returned
-- @treturn string
function static_copies.show(result)
  local name_of, lines = { [static_copies.START] = "start" }, {}
  name_all(result.body, name_of, 0)
  for _, object in ipairs(result.uploads) do lines[#lines + 1] = ("copy %s to device"):format(object) end
  show(result.body, result, name_of, "", lines)
  for _, object in ipairs(result.downloads) do lines[#lines + 1] = ("copy %s to host"):format(object) end
  return table.concat(lines, "\n")
end

return static_copies
