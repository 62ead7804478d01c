-- SPDX-License-Identifier: MIT

--- Sizes of memory in words, by powers of two.
-- @module clcompute.device_profile.size_text

local UNITS = { "B", "KiB", "MiB", "GiB" }

--- 32768 as "32 KiB".
-- @tparam integer bytes
-- @treturn string
return function(bytes)
  local i = 1
  while bytes >= 1024 and bytes % 1024 == 0 and i < #UNITS do bytes, i = bytes // 1024, i + 1 end
  return ("%d %s"):format(bytes, UNITS[i])
end
