-- SPDX-License-Identifier: MIT

--- Sweeps over a piece of memory, by all work-items: reads, writes and copies, in the order that suits the device.

local curve = require "clcompute.device_profile.curve"

local WORD = 4 -- bytes
local GROUP, UNROLL, LEAST_WIDTH = 64, 4, 4
local OPERATIONS = { read = 0, write = 1, copy = 2 }
local TRAFFIC = { read = 1, write = 1, copy = 2 } -- bytes for each one that is swept
local MOST = 1 << 14 -- steps
local FACTOR = 2654435761
local LOW = 0xffffffff

local Stream = {}
Stream.__index = Stream

--- Sweeps over the pieces at the start of one buffer.
-- @tparam table lab
-- @tparam integer bytes of the largest, a power of two
-- @treturn table
function Stream.new(lab, bytes)
  local device = lab.device
  local is_cpu = device.type == "cpu"
  local width = is_cpu and math.max(LEAST_WIDTH, device.vector_width_float) or LEAST_WIDTH
  local self = setmetatable({ lab = lab, width = width, neighbours = not is_cpu, n = 1, kernels = {} }, Stream)
  self.items = lab:items(GROUP)
  self.swept = GROUP * UNROLL * width * WORD -- bytes, by a group in a step
  self.from, self.word = lab:random_words(bytes // WORD)
  self.out = device:empty("uint", math.max(bytes // WORD, self.items * width))
  return self
end

function Stream:__close()
  self.from:release()
  self.out:release()
end

--- Bytes of the smallest piece.
function Stream:least()
  return self.neighbours and self.swept or self.swept // GROUP
end

--- How a piece is read, in words.
-- @treturn string
function Stream:how()
  return ("%s add up vectors of %d words, %s; together they go through the piece again and again, once at "
    .. "least."):format(curve.items_text(self.items, GROUP), self.width,
    self.neighbours and "neighbours next to each other" or "each in a stretch of its own")
end

local function kernel_of(self, operation)
  if not self.kernels[operation] then
    self.kernels[operation] = self.lab:kernel("probe_stream", { OPERATION = OPERATIONS[operation], WIDTH = self.width,
      NEIGHBOURS = self.neighbours and 1 or 0, UNROLL = UNROLL, GROUP = GROUP })
  end
  return self.kernels[operation]
end

local function launch(self, operation, bytes, items, n)
  local mask = bytes // (WORD * self.width) - 1
  return kernel_of(self, operation)({ global = { items }, group = { GROUP } }, n, mask, self.from, self.out)
end

--- The vectors that a work-item reads: calls visit(index) for each.
local function each_vector(self, item, n, mask, visit)
  local group, lane = item // GROUP, item % GROUP
  local apart, step = 1, UNROLL
  local at = group * n * GROUP * UNROLL
  if self.neighbours then
    apart, step, at = GROUP, GROUP * UNROLL, at + lane
  else
    at = at + lane * n * UNROLL
  end
  for _ = 1, n do
    for u = 0, UNROLL - 1 do visit((at & mask) + u * apart) end
    at = at + step
  end
end

--- Whether some work-items have the right sums, in the first and the last part of their vectors.
local function check_read(self, bytes, items, n)
  local mask = bytes // (WORD * self.width) - 1
  for _, item in ipairs { 1, items - 1 } do
    for _, part in ipairs { 0, self.width - 1 } do
      local sum = 0
      each_vector(self, item, n, mask, function(i) sum = sum + self.word(i * self.width + part) end)
      local found = self.out:get(item * self.width + part + 1)
      if found ~= sum & LOW then
        return false, ("part %d of the sum of work-item %d is %d, not %d"):format(part, item, found, sum & LOW)
      end
    end
  end
  return true
end

--- Whether words all over the piece are what was written, or copied.
local function check_swept(self, operation, bytes)
  local words = bytes // WORD
  for k = 0, 63 do
    local i = k * (words // 64) + k * 7 % (words // 64)
    local right = operation == "copy" and self.word(i) or i // self.width * FACTOR & LOW
    local found = self.out:get(i + 1)
    if found ~= right then return false, ("word %d is %d, not %d"):format(i, found, right) end
  end
  return true
end

--- Makes launches long enough to be timed over the smallest piece.
function Stream:fit_size(bytes)
  self.n = self.lab:size(1, MOST, function(n) launch(self, "read", bytes, self.items, n) end)
end

--- Measures reads of a piece, over and over; once at least.
-- @tparam integer bytes a power of two
-- @treturn table the row
function Stream:read(bytes)
  local items = self.items
  local groups = items // GROUP
  local n = math.max(self.n, -(-bytes // (groups * self.swept)))
  self.out:fill(0, 1, items * self.width) -- no sum of an earlier row passes for one of this
  return self.lab:time {
    name = "read", params = { bytes = bytes }, bytes = groups * n * self.swept,
    launch = function() return launch(self, "read", bytes, items, n) end,
    check = function() return check_read(self, bytes, items, n) end,
  }
end

--- Measures one sweep over a piece: each word of it once.
-- @tparam string operation "read", "write" or "copy"
-- @tparam integer bytes a power of two
-- @treturn table the row; a copy moves each byte twice
function Stream:sweep(operation, bytes)
  local groups, steps = 1, bytes // self.swept
  while 2 * groups <= math.min(self.items // GROUP, steps) do groups = 2 * groups end
  local items, n = groups * GROUP, steps // groups
  self.out:fill(0) -- nothing that lay there passes for what is written
  return self.lab:time {
    name = operation, params = { bytes = bytes, operation = operation }, bytes = TRAFFIC[operation] * bytes,
    launch = function() return launch(self, operation, bytes, items, n) end,
    check = function()
      if operation == "read" then return check_read(self, bytes, items, n) end
      return check_swept(self, operation, bytes)
    end,
  }
end

--- Halves the steps of launches that last longer than they need.
-- @tparam number seconds of the last one
-- @tparam number enough
function Stream:shorten(seconds, enough)
  while seconds > 2 * enough and self.n > 1 do self.n, seconds = self.n // 2, seconds / 2 end
end

return Stream
