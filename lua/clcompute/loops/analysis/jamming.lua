-- SPDX-License-Identifier: MIT

--- Whether several passes of a sequential loop may be jammed into one of a loop within it (unroll and jam, Allen and
-- Cocke 1972): passes of the loop within that were done one pass of the sequential loop after the other are each done
-- for all of them then, before the next one begins.
--
--     for i do for k do b[k] = b[k] + a[i][k] * s[i] end end
--     for i, i + 1 do for k do b[k] = b[k] + a[i][k] * s[i]; b[k] = b[k] + a[i + 1][k] * s[i + 1] end end
-- @module clcompute.loops.analysis.jamming

local dependences = require "clcompute.loops.analysis.dependences"
local polyhedral_text = require "clcompute.loops.analysis.polyhedral_text"

local jamming = {}

local BUDGET = 1000000 -- isl's operations for a nest

--- The accesses in a loop, which may have been moved in its tree since the scop was extracted.
local function accesses_in(scop, loop)
  local list = {}
  for _, statement in ipairs(scop.statements) do
    local is_within = false
    for _, around in ipairs(statement.loops) do is_within = is_within or around.variable == loop.variable end
    for _, access in ipairs(is_within and statement.accesses or {}) do list[#list + 1] = access end
  end
  return list
end

--- That one pass of a loop is less than so many before another one.
local function is_shortly_before(loop, passes)
  local low, high = loop.variable.id .. "_earlier", loop.variable.id
  if loop.step < 0 then low, high = high, low end
  return ("%s < %s and %s <= %s + %d"):format(low, high, high, low, (passes - 1) * math.abs(loop.step))
end

--- That some of loops are in another pass; nil of no loops.
local function is_elsewhere(loops)
  local formulas = {}
  for i, loop in ipairs(loops) do formulas[i] = ("%s_earlier != %s"):format(loop.variable.id, loop.variable.id) end
  return #formulas > 0 and table.concat(formulas, " or ") or nil
end

--- When the order of two accesses, of an earlier and a later pass, is not kept; nil: it always is. What is read before
-- the lane must not have been written there by a pass that is jammed; who overwrites it comes after it, unless the
-- loops between the sequential one and the lane are in another pass.
local function is_reordered(from, to, chain, early)
  if early[to.node] then return "true" end
  local last = early[from.node] and #chain - 1 or #chain
  return is_elsewhere(table.move(chain, 2, last, 1, {}))
end

--- The text of an access with the loops of a chain in their earlier passes.
local function in_earlier_pass(text, chain)
  for _, loop in ipairs(chain) do
    text = text:gsub("%f[%w_]" .. loop.variable.id .. "%f[^%w_]", loop.variable.id .. "_earlier")
  end
  return text
end

--- The pairs of accesses that may not touch the same element, each with what it would be.
local function pairs_of(scop, chain, early, passes)
  local list, names, has = {}, {}, {}
  for i, loop in ipairs(chain) do names[i] = loop.variable.id .. "_earlier" end
  local accesses, order = accesses_in(scop, chain[1]), is_shortly_before(chain[1], passes)
  local function add(from, to)
    local reordered = is_reordered(from, to, chain, early)
    if not reordered then return end
    local one = in_earlier_pass(polyhedral_text.access(scop, from, #from.statement.loops), chain)
    local other = polyhedral_text.access(scop, to, #to.statement.loops, { order, reordered }, names)
    if has[one .. other] then return end
    has[one .. other] = true
    list[#list + 1] = { one = one, other = other, array = from.variable, from = from, to = to,
      kind = not from.write and "anti" or to.write and "output" or "flow" }
  end
  for _, from in ipairs(accesses) do
    for _, to in ipairs(accesses) do
      if from.variable == to.variable and (from.write or to.write) then add(from, to) end
    end
  end
  return list
end

local function texts_of(list)
  local texts = {}
  for i, pair in ipairs(list) do texts[i] = { one = pair.one, other = pair.other } end
  return texts
end

--- Why passes of a sequential loop may not be jammed, or nil: isl proves that no result depends on it.
-- @tparam table scop of `clcompute.loops.analysis.scop`
-- @tparam {table,...} chain the sequential loop, and those nested in it perfectly, the lane last
-- @tparam table early nodes of reads as keys that do not depend on the lane: they come before it, for all passes
-- @tparam integer passes that are jammed at most
-- @treturn ?string
function jamming.obstacle(scop, chain, early, passes)
  local list = pairs_of(scop, chain, early, passes)
  local found, reason = require "clcompute.poly".overlap { pairs = texts_of(list), budget = BUDGET }
  if found == nil then return reason end
  return found and dependences.describe(scop, list[found]) or nil
end

return jamming
