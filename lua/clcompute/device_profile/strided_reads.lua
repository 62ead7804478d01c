-- SPDX-License-Identifier: MIT

--- Reads of a large buffer by neighbouring work-items, with a stride and an offset: what coalescing is measured by.
-- @module clcompute.device_profile.strided_reads

local large = require "clcompute.device_profile.large"
local random_words = require "clcompute.device_profile.random_words"
local size_text = require "clcompute.device_profile.size_text"

local WORD = 4 -- bytes
local GROUP, QUICK_GROUP = 256, 16
local READS = 8 -- of a work-item
local LOW = 0xffffffff

local StridedReads = {}
StridedReads.__index = StridedReads

--- @tparam table lab
-- @tparam integer stride the largest there will be
-- @tparam integer offset likewise
-- @treturn table
function StridedReads.new(lab, stride, offset)
  local device = lab.device
  local group = math.min(lab:choose(GROUP, QUICK_GROUP), device.max_group_size)
  local least = READS * group * stride + offset
  local words = lab:choose(large(device) // WORD, 1)
  while words < least do words = 2 * words end
  local self = setmetatable({ lab = lab, group = group, room = words - offset,
    kernel = lab:kernel("probe_stride", { GROUP = group, READS = READS }) }, StridedReads)
  self.from, self.word = random_words.fill(device, words)
  self.out = device:empty("uint", words // READS)
  return self
end

--- How it reads, in words.
-- @treturn string
function StridedReads:how()
  return ("Each work-item, in groups of %d, adds up %d words of a buffer of %s."):format(self.group, READS,
    size_text(self.from.bytes))
end

function StridedReads:__close()
  self.from:release()
  self.out:release()
end

--- What the sum of work-item l of group g is.
local function expected(self, g, l, stride, offset)
  local sum = 0
  for u = 0, READS - 1 do sum = sum + self.word(offset + ((g * READS + u) * self.group + l) * stride) end
  return sum & LOW
end

--- Whether sums of the first and the last group are right.
local function check(self, groups, stride, offset)
  for _, g in ipairs { 0, groups - 1 } do
    for _, l in ipairs { 0, self.group // 2, self.group - 1 } do
      local item, right = g * self.group + l, expected(self, g, l, stride, offset)
      local found = self.out:get(item + 1)
      if found ~= right then return false, ("the sum of work-item %d is %d, not %d"):format(item, found, right) end
    end
  end
  return true
end

--- Measures the reads of every word that is a multiple of the stride from the offset, as far as the buffer goes.
-- @treturn table the row: `each` is the time of a word
function StridedReads:row(name, stride, offset)
  local groups = self.room // (stride * READS * self.group)
  local items = groups * self.group
  local range = { global = { items }, group = { self.group } }
  self.out:fill(0, 1, items) -- no sum of an earlier row passes for one of this
  return self.lab:time {
    name = name, params = { stride = stride, offset = offset }, bytes = WORD * READS * items,
    operations = READS * items,
    launch = function() return self.kernel(range, stride, offset, self.from, self.out) end,
    check = function() return check(self, groups, stride, offset) end,
  }
end

return StridedReads
