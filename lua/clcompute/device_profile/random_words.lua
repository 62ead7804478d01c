-- SPDX-License-Identifier: MIT

--- Random words, that repeat after a while, in buffers of any size: what lies at any place of them is known here
-- without their being read back.
-- @module clcompute.device_profile.random_words

local random_words = {}

local PERIOD = 1 << 14 -- words
local SEED = 5

--- A buffer of words.
-- @tparam Device device
-- @tparam integer n a power of two
-- @treturn Buffer of uint
-- @treturn function word(i), the word at i, counted from 0
function random_words.fill(device, n)
  local period = math.min(n, PERIOD)
  local part <close> = device:random("uint", period, { seed = SEED, high = 0xffffffff })
  local buffer, words, filled = device:empty("uint", n), part:read(), period
  buffer:write(part)
  while filled < n do
    buffer:write(buffer:view(1, filled), filled + 1)
    filled = 2 * filled
  end
  return buffer, function(i) return words[(i & period - 1) + 1] end
end

return random_words
