-- SPDX-License-Identifier: MIT

--- The remainder of CRC-32, bit by bit.
return function(bytes)
  local c = 0xffffffff
  for i = 1, #bytes do
    c = c ~ bytes:byte(i)
    for _ = 1, 8 do c = c & 1 == 1 and c >> 1 ~ 0xedb88320 or c >> 1 end
  end
  return c ~ 0xffffffff
end
