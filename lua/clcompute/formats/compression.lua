-- SPDX-License-Identifier: MIT

--- What zlib does for files: checksums, deflate, inflate. Debian's lua-zlib does that, and is loaded when it is first
-- needed. Without it the checksums are computed here, what is written is not compressed, and nothing is decompressed.

local compression = {}

local PIECE = 4096 -- bytes that are handled at once
local MOST_STORED = 65535 -- bytes of a block of deflate that is not compressed
local RAW = -15 -- zlib's sign of a stream without head and checksum

--- The Lua module zlib of Debian's lua-zlib, or nil: another module of that name works otherwise.
local function find_zlib()
  local ok, zlib = pcall(require, "zlib")
  return ok and type(zlib) == "table" and tostring(zlib._VERSION):find "^lua%-zlib" and zlib or nil
end

--- Whether anything can be decompressed.
function compression.is_found() return find_zlib() ~= nil end

-- --- checksums -----------------------------------------------------------------------------------------

local crc_table

--- The checksum of CRC-32, a polynomial's remainder, where there is no zlib.
local function plain_crc()
  if not crc_table then
    crc_table = {}
    for i = 0, 255 do
      local c = i
      for _ = 1, 8 do c = c & 1 == 1 and 0xedb88320 ~ (c >> 1) or c >> 1 end
      crc_table[i] = c
    end
  end
  local crc = 0xffffffff
  return function(bytes)
    for at = 1, #bytes, PIECE do
      for _, byte in ipairs { bytes:byte(at, at + PIECE - 1) } do crc = crc_table[(crc ~ byte) & 0xff] ~ (crc >> 8) end
    end
    return crc ~ 0xffffffff
  end
end

--- A function that takes bytes, piece by piece, and returns the CRC-32 of all of them so far.
function compression.crc()
  local zlib = find_zlib()
  if not zlib then return plain_crc() end
  local crc = zlib.crc32()
  return function(bytes) return crc(bytes) | 0 end
end

local function adler_of(bytes)
  local a, b = 1, 0
  for at = 1, #bytes, PIECE do
    for _, byte in ipairs { bytes:byte(at, at + PIECE - 1) } do
      a = a + byte
      b = b + a
    end
    a, b = a % 65521, b % 65521
  end
  return b << 16 | a
end

-- --- deflate -------------------------------------------------------------------------------------------

--- A stream of zlib that holds the bytes as they are.
local function store(bytes)
  local parts = { "\x78\x01" }
  for at = 1, #bytes, MOST_STORED do
    local block = bytes:sub(at, at + MOST_STORED - 1)
    local is_last = at + MOST_STORED > #bytes and 1 or 0
    parts[#parts + 1] = string.pack("<I1I2I2", is_last, #block, ~#block & 0xffff) .. block
  end
  return table.concat(parts) .. string.pack(">I4", adler_of(bytes))
end

--- The bytes as a stream of zlib.
function compression.deflate(bytes)
  local zlib = find_zlib()
  return zlib and (zlib.deflate()(bytes, "finish")) or store(bytes)
end

--- A function that returns the next decompressed bytes, of a stream that comes in pieces; nil at its end. Pieces are
-- small, since a stream may hold a thousand times what it should. It needs zlib.
-- @tparam function next_piece (most) --> at most so many bytes of the stream; "" where there are no more
-- @tparam boolean is_raw whether the stream has neither head nor checksum, as in a .zip file
-- @tparam string what begins messages: "its pixels"
-- @treturn function raises what does not decompress
-- @treturn function whether the stream came to its end
function compression.inflater(next_piece, is_raw, what)
  local zlib, ended = find_zlib(), false
  local stream = is_raw and zlib.inflate(RAW) or zlib.inflate()
  local function next_bytes()
    if ended then return nil end
    local piece = next_piece(PIECE)
    if piece == "" then return nil end
    local ok, bytes, eof = pcall(stream, piece)
    if not ok then error(what .. " do not decompress", 0) end
    ended = eof
    return bytes ~= "" and bytes or next_bytes()
  end
  return next_bytes, function() return ended end
end

return compression
