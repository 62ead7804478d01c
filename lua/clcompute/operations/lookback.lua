-- SPDX-License-Identifier: MIT
--- Launches whose work-groups wait for those before them (kernels/clcompute/lookback.h).

local answers = require "clcompute.answers"
local enqueue = require("clcompute.core.internal").enqueue

local lookback = {}

local HEAD = 4 -- words of the state before those of tiles
local FEWEST = 4096 -- words of a state
local USE = "tiles"

--- Whether a device's groups may wait for those that began before them; asked once a row.
-- @tparam Device device
-- @tparam table row of `clcompute.tuning.known`
function lookback.serves(device, row)
  if row.may_wait == nil then row.may_wait = row.one_pass and answers.has_progress(device) or false end
  return row.may_wait
end

local begun = setmetatable({}, { __mode = "k" }) -- states that a launch left as the next one needs them

local function take_state(device, tiles)
  local words, needed = FEWEST, HEAD + 2 * (tiles + tiles // 16 + 2)
  while words < needed do words = 2 * words end
  local state = enqueue.take(device, USE, "ulong", words)
  if not begun[state] then
    state:fill(0)
    begun[state] = true
  end
  return state
end

--- Elements of a work-item, for elements of so many bytes; odd: see scan_lookback.
local function share_of(row, size)
  return size > 4 and row.share // 2 | 1 or row.share
end

--- What a kernel is built with, for elements of so many bytes.
function lookback.defines(row, size)
  return { SHARE = share_of(row, size), BLOCK = row.block }
end

--- Queues a kernel for the tiles of n elements of so many bytes; the rest is its arguments behind n and the state.
function lookback.launch(kernel, device, row, size, n, ...)
  local tiles = -(-n // (row.group * share_of(row, size)))
  local state = take_state(device, tiles)
  enqueue.launch(kernel, tiles * row.group, row.group, n, state, ...)
  enqueue.give(state, USE)
end

return lookback
