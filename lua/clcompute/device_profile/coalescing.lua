-- SPDX-License-Identifier: MIT

--- Reads of global memory by neighbouring work-items: next to each other, apart, and off the alignment. Memory moves
-- whole pieces; what a read needs of them is of use, the rest is not.

local curve = require "clcompute.device_profile.curve"
local format = require("clcompute.base").format
local statistics = require("clcompute.base").statistics

local WORD = 4 -- bytes
local STRIDES, QUICK_STRIDES = { 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64 }, { 1, 2, 32 }
local OFFSETS, QUICK_OFFSETS = { 0, 1, 2, 3, 4, 7, 8, 15, 16, 17, 24, 31, 32 }, { 0, 1 }

local PIECES = { 8, 16, 32, 64, 128, 256 } -- bytes that memory may move at once; the last: as far as strides reach
local TAILS = { 0, 1 / 8, 1 / 4 } -- of the slope, beyond a piece: there rows of memory and pages still count
local LEAST_POINTS = 6
local UNEXPLAINED = 0.1 -- at most, of the variation, by a law that is taken for true,
local CLEARLY = 0.5     -- and of what the next best piece leaves
local RISE = 1.5 -- times as long a lone word at least, where there are pieces
local LINE = 64 -- bytes, where nothing tells
local FREE = 1.1 -- times as long: less is no difference

local coalescing = {}

-- --- reading -------------------------------------------------------------------

--- Bytes that a read of one word moves with a stride, in pieces of so many bytes.
local function moved(stride, piece)
  return math.min(WORD * stride, piece)
end

--- The law of a piece that explains most of a curve, whatever its tail.
local function fit_piece(points, piece)
  return (curve.law(points, TAILS, function(stride, tail)
    local used = moved(stride, piece)
    return used + tail * (WORD * stride - used)
  end))
end

--- The bytes that memory moves at once, by the law that the cost of a read rises with the stride up to there, and
-- little beyond.
-- @tparam table rows over `params.stride`, with `each`, the time of a read
-- @treturn ?integer nil where no such law is clear
function coalescing.piece(rows)
  local points = curve.of(rows, "params.stride", "each")
  if #points < LEAST_POINTS then return nil end
  local best, best_piece, next_best
  for _, piece in ipairs(PIECES) do
    local line = fit_piece(points, piece)
    if not best or line.unexplained < best.unexplained then
      best, best_piece, next_best = line, piece, best
    elseif not next_best or line.unexplained < next_best.unexplained then
      next_best = line
    end
  end
  local one = curve.at(points, 1)
  if not one or best.b <= 0 or best_piece == PIECES[#PIECES] then return nil end
  if best.unexplained > UNEXPLAINED or best.unexplained > CLEARLY * next_best.unexplained then return nil end
  return curve.highest(points).y >= RISE * one and best_piece or nil
end

--- What the strides say, in words.
-- @tparam table rows
-- @tparam integer line bytes of a line of the cache, by the driver's word; 0 where it does not tell
-- @treturn table sentences
function coalescing.read_strides(rows, line)
  local points, piece = curve.of(rows, "params.stride", "each"), coalescing.piece(rows)
  local one, worst = curve.at(points, 1), curve.highest(points)
  if not one or #points < 3 then return { curve.TOO_FEW } end
  local sentences = { ("A word costs %.1f times as much with stride %d as with stride 1, where neighbours read "
    .. "neighbours."):format(worst.y / one, worst.x) }
  if piece then
    sentences[2] = ("The cost rises up to a stride of %d bytes and little beyond: memory moves %d bytes at once%s.")
      :format(piece, piece, piece == line and ", a line of the cache, of which a lone word uses 4"
        or line > 0 and (" (a line of the cache has %d by the driver's word)"):format(line) or "")
  else
    sentences[2] = "No size of what memory moves at once shows clearly: the cost does not rise up to one stride and "
      .. "stay there."
  end
  return sentences
end

--- What the offsets say, in words: by medians, since a single slow point says little.
-- @tparam table rows over `params.offset`, with `each`
-- @tparam integer piece bytes that starts are aligned to
-- @treturn table sentences
function coalescing.read_offsets(rows, piece)
  local aligned, others = {}, {}
  for _, point in ipairs(curve.of(rows, "params.offset", "each")) do
    local list = point.x * WORD % piece == 0 and aligned or others
    list[#list + 1] = point.y
  end
  if #aligned == 0 or #others == 0 then return { curve.TOO_FEW } end
  local middle = statistics.median(others)
  local times = middle / statistics.median(aligned)
  local remark = times < FREE and ": it costs nothing that shows"
    or middle <= math.max(table.unpack(aligned)) and ", no more than these differ among themselves" or ""
  return { ("Reads that begin off a multiple of %d bytes take %.2f times as long as those that begin on one%s.")
    :format(piece, times, remark) }
end

-- --- reads with a stride and an offset ------------------------------------------------

local GROUP, QUICK_GROUP = 256, 16
local READS = 8 -- of a work-item
local LOW = 0xffffffff

local StridedReads = {}
StridedReads.__index = StridedReads

--- @tparam table lab
-- @tparam integer stride the largest there will be
-- @tparam integer offset the largest there will be
-- @treturn table
function StridedReads.new(lab, stride, offset)
  local device = lab.device
  local group = math.min(lab:choose(GROUP, QUICK_GROUP), device.max_group_size)
  local least = READS * group * stride + offset
  local words = lab:choose(lab:beyond_caches() // WORD, 1)
  while words < least do words = 2 * words end
  local self = setmetatable({ lab = lab, group = group, room = words - offset,
    kernel = lab:kernel("probe_stride", { GROUP = group, READS = READS }) }, StridedReads)
  self.from, self.word = lab:random_words(words)
  self.out = device:empty("uint", words // READS)
  return self
end

--- How it reads, in words.
-- @treturn string
function StridedReads:how()
  return ("Each work-item, in groups of %d, adds up %d words of a buffer of %s."):format(self.group, READS,
    format.size(self.from.bytes))
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

-- --- measuring -------------------------------------------------------------------

--- Adds the bytes a second: those of use, and those that were moved, whole pieces.
local function add_rates(rows, piece)
  for _, row in ipairs(rows) do
    local time = curve.time(row)
    if time then
      row.useful = row.bytes / time
      row.share = WORD / moved(row.params.stride, piece)
      row.moved = row.useful / row.share
    end
  end
end

local function section(title, how, x, xtitle, rows, reading)
  local made = curve.section { title = title, how = how, rows = rows, reading = reading, x = x, xtitle = xtitle,
    y = "useful", ytitle = "bytes of use", yunit = "B/s" }
  made.columns[#made.columns + 1] = { key = "moved", title = "bytes moved", unit = "B/s" }
  made.columns[#made.columns + 1] = { key = "share", title = "of use", format = "percent" }
  return made
end

local function measure(lab)
  local reads <close> = StridedReads.new(lab, STRIDES[#STRIDES], OFFSETS[#OFFSETS])
  local strides, offsets = {}, {}
  for i, stride in ipairs(lab:choose(STRIDES, QUICK_STRIDES)) do
    strides[i] = reads:row(("stride %d"):format(stride), stride, 0)
  end
  for i, offset in ipairs(lab:choose(OFFSETS, QUICK_OFFSETS)) do
    offsets[i] = reads:row(("offset %d"):format(offset), 1, offset)
  end
  local line, found = lab.device.cache_line, coalescing.piece(strides)
  local piece = found or line > 0 and line or LINE
  add_rates(strides, piece)
  add_rates(offsets, piece)
  local reading = coalescing.read_strides(strides, line)
  reading[#reading + 1] = ("Moved bytes are counted in whole pieces of %d."):format(piece)
  return {
    section("stride", reads:how() .. " Neighbours read words a stride apart. Larger strides read fewer words, in "
      .. "shorter launches.", "params.stride", "stride, words of 4 bytes", strides, reading),
    section("offset", "The same of neighbouring words, from a start that is so many words behind the buffer's.",
      "params.offset", "words from the aligned start", offsets,
      coalescing.read_offsets(offsets, piece)),
  }, { transaction = found }
end

coalescing.name = "coalescing"
coalescing.title = "Coalescing of global memory"
coalescing.teaches = "Global memory serves neighbouring work-items together where they read neighbouring addresses; "
  .. "local memory needs no such coalescing (source 4, 4.7)."
coalescing.measure = measure

return coalescing
