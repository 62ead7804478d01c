-- SPDX-License-Identifier: MIT

--- Assignments to elements that cannot hold every number of Lua, in Lua: a value as it is there.
-- @module clcompute.loops.generation.stores

local stores = {}

local function rounding(format)
  return function(value) return (string.unpack(format, string.pack(format, value))) end
end

--- The integer that the low bits are.
local function wrapping(bits, is_signed)
  local mask, half = (1 << bits) - 1, 1 << (bits - 1)
  if not is_signed then return function(value) return value & mask end end
  return function(value) return ((value & mask) ~ half) - half end
end

local STORES = { float = rounding "f", char = wrapping(8, true), uchar = wrapping(8), short = wrapping(16, true),
  ushort = wrapping(16), int = wrapping(32, true), uint = wrapping(32) }

--- The functions that texts of `text` call, by name.
stores.environment = {}
for dtype, store in pairs(STORES) do stores.environment["store_" .. dtype] = store end

--- A value as an array's element, as text.
function stores.text(node, value)
  local array = node.target.array
  if not array then return value end
  if STORES[array.element] then return ("store_%s(%s)"):format(array.element, value) end
  local is_kept = array.element ~= "double" or not array.is_buffer -- integers in a table stay integers
  return is_kept and value or ("(%s) * 1.0"):format(value)
end

return stores
