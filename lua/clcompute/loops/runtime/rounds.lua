-- SPDX-License-Identifier: MIT

--- A loop in rounds on one device: how many passes a round has, and how wide the pieces are.
-- @module clcompute.loops.runtime.rounds

local rounds = {}

local Rounds = {}
Rounds.__index = Rounds

--- A loop on a device.
-- @tparam table round of `clcompute.loops.generation.rounds`
-- @tparam Program program with its kernel
-- @tparam Device device
-- @tparam table row numbers of `clcompute.tuning.known`: `blocks` pieces for each compute unit, of up to `cache` bytes;
-- at most `passes` of a round
-- @treturn table `kernel`
function rounds.new(round, program, device, row)
  local self = setmetatable({ kernel = program:kernel(round.name), is_front = round.is_front, slope = round.slope,
    reach = round.reach, cache = row.cache, most = row.passes, wanted = row.blocks * device.compute_units }, Rounds)
  self.of_call = { __index = self }
  return self
end

--- Begins with a loop.
-- @tparam integer count its passes
-- @tparam integer low where the line begins
-- @tparam integer high where it ends
-- @tparam integer bytes of one place of the line
-- @treturn ?table `passes` of a round, `kernel`, and the method `pieces`; nil where rounds of one pass would be as good
function Rounds:over(count, low, high, bytes)
  local shrinking = 4 * self.slope -- of a piece in a pass, with the gaps at its ends, so that they get half of it
  local most = math.max(self.cache // math.max(bytes, 1), 2 * shrinking, 1)
  local width = math.min(most, -(-(high - low + 1) // self.wanted))
  local passes = math.min(count, self.most)
  if self.is_front then passes = math.min(passes, (high - low + 1) // self.wanted) end -- the first launch is one item
  if shrinking > 0 then passes = math.min(passes, width // shrinking) end
  if passes < 2 or width < 1 then return nil end
  return setmetatable({ passes = passes, width = width, low = low, high = high,
    range = { global = { 1 }, group = { 1 } } }, self.of_call) -- a finalizer may call the function meanwhile
end

local function trapezoids(self, number)
  local global, width = self.range.global, self.width
  local count = -(-(self.high - self.low + 1) // width)
  if number == 1 then
    global[1] = count
    return self.range, self.low, width, width, 1
  end
  if self.slope == 0 then return nil end
  global[1] = count + 1
  return self.range, self.low, width, 0, -1
end

local function front(self, number, last)
  local global, edge = self.range.global, last + self.reach
  if number == 1 then
    global[1] = 1
    return self.range, self.low, 0, edge - self.low + 1, 1
  end
  local length = self.high - edge
  if length < 1 then return nil end
  local width = math.min(self.width, -(-length // self.wanted))
  global[1] = -(-length // width)
  return self.range, edge + 1, width, width, 1
end

--- One of the two launches of a round, the last pass of which is `last`.
-- @tparam integer number 1 or 2
-- @tparam integer last
-- @treturn ?table range; nil: nothing is to do
-- @treturn integer where the first piece begins
-- @treturn integer how far it is to the next one
-- @treturn integer how wide they are
-- @treturn integer 1: they shrink from nest to nest; -1: they grow
function Rounds:pieces(number, last)
  local pieces = self.is_front and front or trapezoids
  return pieces(self, number, last)
end

return rounds
