-- SPDX-License-Identifier: MIT

--- How far a table that the function makes goes at a place, where an element is asked for that may be missing:
-- `t[i + 1] or 0` behind the loop that fills the table, `t[i - 1] or 0` within it. Within the loop it is presumed that
-- a store follows which fills the table. Where that, or what is stored later, turns out otherwise, all is resolved once
-- more, and elements of the table are read as they are written (`wanted.plain`).

local bounds = require("clcompute.loops.tree").loop_bounds
local list_proofs = require "clcompute.loops.front.list_proofs"

local made_extents = {}

local function read_plainly(self, array)
  self.again(self.wanted.plain, array.node.offset, true)
end

--- Whether a loop may fill a table from 1 on.
local function counts_from_first(loop)
  return loop.from.value == 1 and loop.step == 1 and not loop.pace and not loop.word
end

--- How far a table goes in the loop that fills it: up to the pass before, or behind the store up to this one.
local function in_loop(self, array, loop)
  if array.filled ~= loop and (self.stores[array] or array.appended or not counts_from_first(loop)) then return nil end
  array.early = loop
  local is_behind = array.filled == loop and self.filling ~= array
  return bounds.plus(bounds.name(loop.variable), is_behind and 0 or -1)
end

--- How far a table goes at this place, as an expression; nil where that is not known.
-- @tparam table self of `clcompute.loops.front.names`
-- @tparam table array that the function makes
-- @tparam table parsed
-- @tparam function passes_of says how many passes the loop has that fills a table
-- @treturn ?table resolved
function made_extents.at(self, array, parsed, passes_of)
  local notes, loop, cursor = self.stores[array], self.loops[#array.loops + 1], array.cursor
  if cursor and cursor.node == array.node then return self:node("name", parsed, { variable = cursor }) end
  if self.wanted.plain[array.node.offset] or cursor or notes and notes.has_others then return nil end
  local filling = array.filled or array.appended and array.appended.loop
  if not filling and array.item_count > 0 then
    array.is_looked_up = true
    return self:node("number", parsed, { value = array.item_count })
  end
  if array.item_count > 0 then return nil end
  if loop and (not filling or filling == loop) then return in_loop(self, array, loop) end
  local passes = filling and passes_of(self, array)
  array.is_looked_up = passes and true or array.is_looked_up
  array.is_counted = passes and true or array.is_counted
  return passes or nil
end

--- Notes a store by which a table may get longer, or have holes: other than that of the loop that fills it.
function made_extents.note(self, array, subscript, is_filling)
  if is_filling or array.filled and list_proofs.is_within(array, subscript) then return end
  self.stores[array].has_others = true
  if array.early or array.is_looked_up then read_plainly(self, array) end
end

--- Looks whether a table was filled by the loop for which that was said before.
function made_extents.settle(self, array)
  local loop = array.early
  if loop and array.filled ~= loop and not (array.appended and array.appended.loop == loop) then
    read_plainly(self, array)
  end
end

return made_extents
