-- SPDX-License-Identifier: MIT

--- Pictures as PNG (ISO/IEC 15948): a signature, then chunks, each with a checksum; the rows are filtered, byte by
-- byte, and compressed by zlib.

local compression = require "clcompute.formats.compression"
local picture = require "clcompute.formats.picture"

local png = {}

local SIGNATURE = "\x89PNG\r\n\x1a\n"
local PIECE = 4096 -- bytes that are handled at once
local LARGEST = 1 << 20 -- pixels of an edge; no device has images as large

local function fail(...) error(string.format(...), 0) end

--- The name of a chunk as a message may hold it.
local function quote(name) return (name:gsub("%W", "?")) end

-- --- writing -------------------------------------------------------------------------------------------

local COLOUR_TYPES = { 0, 4, 2, 6 } -- by the number of channels

local function crc_of(name, data)
  local crc = compression.crc()
  crc(name)
  return crc(data)
end

local function chunk(name, data)
  return string.pack(">I4", #data) .. name .. data .. string.pack(">I4", crc_of(name, data))
end

--- The file of a picture.
-- @tparam table head {width=, height=, channels=, bytes= (of a channel)}
-- @tparam string rows
function png.write(head, rows)
  local stride, filtered = head.width * head.channels * head.bytes, {}
  for y = 1, head.height do filtered[y] = "\0" .. rows:sub((y - 1) * stride + 1, y * stride) end
  local kind = COLOUR_TYPES[head.channels]
  local header = string.pack(">I4I4BBBBB", head.width, head.height, 8 * head.bytes, kind, 0, 0, 0)
  return SIGNATURE .. chunk("IHDR", header) .. chunk("IDAT", compression.deflate(table.concat(filtered)))
    .. chunk("IEND", "")
end

-- --- reading: chunks -----------------------------------------------------------------------------------

-- Of each colour type its channels, and the bits that a channel may have.
local KINDS = {
  [0] = { channels = 1, depths = { 1, 2, 4, 8, 16 } },
  [2] = { channels = 3, depths = { 8, 16 } },
  [3] = { channels = 1, depths = { 1, 2, 4, 8 }, is_palette = true },
  [4] = { channels = 2, depths = { 8, 16 } },
  [6] = { channels = 4, depths = { 8, 16 } },
}

local function read_header(data)
  if #data ~= 13 then fail("bad header of %d bytes", #data) end
  local width, height, depth, kind, method, filter, interlace = string.unpack(">I4I4BBBBB", data)
  local h = { width = width, height = height, depth = depth, kind = KINDS[kind] }
  local fits = false
  for _, known in ipairs(h.kind and h.kind.depths or {}) do fits = fits or depth == known end
  if not fits then fail("no picture has colour type %d with %d bits", kind, depth) end
  if method ~= 0 or filter ~= 0 or interlace > 1 then fail "unknown compression, filter or interlace method" end
  if interlace == 1 then fail "the picture is interlaced, which is not read: save it without" end
  if width < 1 or height < 1 or width > LARGEST or height > LARGEST then
    fail("a picture of %dx%d pixels", width, height)
  end
  return h
end

--- Reads the chunks of a file's text.
-- @treturn table the header, with PLTE=, tRNS= and data=, the text of their chunks
local function read_chunks(text)
  local at, h, data, name = #SIGNATURE + 1, nil, {}, ""
  while name ~= "IEND" do
    if at + 11 > #text then fail "truncated between its chunks" end
    local length = string.unpack(">I4", text, at)
    name = text:sub(at + 4, at + 7)
    if length > #text - at - 11 then fail("truncated in its chunk %s", quote(name)) end
    local body = text:sub(at + 8, at + 7 + length)
    if string.unpack(">I4", text, at + 8 + length) ~= crc_of(name, body) then
      fail("the checksum of its chunk %s is wrong", quote(name))
    end
    if (name == "IHDR") ~= (h == nil) then fail "its header is not the first chunk" end
    if name == "IHDR" then
      h = read_header(body)
    elseif name == "IDAT" then
      data[#data + 1] = body
    elseif name == "PLTE" or name == "tRNS" then
      h[name] = body
    elseif name ~= "IEND" and name:byte() & 0x20 == 0 then
      fail("unknown chunk %s", quote(name))
    end
    at = at + 12 + length
  end
  h.data = table.concat(data)
  return h
end

-- --- reading: rows -------------------------------------------------------------------------------------

--- Decompresses exactly so many bytes.
local function inflate(data, size)
  local at, parts, count = 1, {}, 0
  local next_bytes, is_ended = compression.inflater(function(most)
    at = at + most
    return data:sub(at - most, at - 1)
  end, false, "its pixels")
  for part in next_bytes do
    parts[#parts + 1], count = part, count + #part
    if count > size then break end
  end
  if count ~= size or not is_ended() then fail("its pixels are not the %d bytes that they should be", size) end
  return table.concat(parts)
end

local function paeth(left, up, corner)
  local guess = left + up - corner
  local to_left, to_up, to_corner = math.abs(guess - left), math.abs(guess - up), math.abs(guess - corner)
  if to_left <= to_up and to_left <= to_corner then return left end
  return to_up <= to_corner and up or corner
end

-- How each filter predicts a byte: from the one before it in the pixel to the left, the one above, the one above that.
local PREDICT = {
  function(left) return left end,
  function(_, up) return up end,
  function(left, up) return (left + up) // 2 end,
  paeth,
}

local function to_bytes(row)
  local bytes = {}
  for at = 1, #row, PIECE do table.move({ row:byte(at, at + PIECE - 1) }, 1, PIECE, at, bytes) end
  return bytes
end

local function to_text(bytes)
  local parts = {}
  for at = 1, #bytes, PIECE do
    parts[#parts + 1] = string.char(table.unpack(bytes, at, math.min(at + PIECE - 1, #bytes)))
  end
  return table.concat(parts)
end

--- The rows without their filters.
local function unfilter(data, height, stride, pixel)
  local rows, above = {}, ("\0"):rep(stride)
  for y = 1, height do
    local start = (y - 1) * (stride + 1) + 1
    local filter, row = data:byte(start), data:sub(start + 1, start + stride)
    if filter > #PREDICT then fail("row %d has filter %d, of 0 to 4", y, filter) end
    if filter > 0 then
      local predict, bytes, up = PREDICT[filter], to_bytes(row), to_bytes(above)
      for i = 1, stride do
        bytes[i] = (bytes[i] + predict(bytes[i - pixel] or 0, up[i], up[i - pixel] or 0)) & 0xff
      end
      row = to_text(bytes)
    end
    rows[y], above = row, row
  end
  return rows
end

-- --- reading: pixels -----------------------------------------------------------------------------------

--- A function of a value from 0 on to its pixel: of a palette, or of gray with less than 8 bits.
local function pixel_of(h)
  if not h.kind.is_palette then
    local most = (1 << h.depth) - 1
    return function(value) return string.char(value * 255 // most) end
  end
  local palette, alpha = h.PLTE or "", h.tRNS or ""
  return function(value)
    if 3 * value + 3 > #palette then fail("colour %d of a palette of %d", value, #palette // 3) end
    return palette:sub(3 * value + 1, 3 * value + 3) .. string.char(alpha:byte(value + 1) or 255)
  end
end

--- What each byte of a row becomes, made when it is met: its values, from the high bits down, as pixels.
local function byte_map(h)
  local pixel, most = pixel_of(h), (1 << h.depth) - 1
  return setmetatable({}, { __index = function(known, byte)
    local pixels, value = {}, byte:byte()
    for shift = 8 - h.depth, 0, -h.depth do pixels[#pixels + 1] = pixel(value >> shift & most) end
    known[byte] = table.concat(pixels)
    return known[byte]
  end })
end

--- What rows of bytes become where they are no pixels of whole bytes yet.
local function expand(h, rows, size)
  local map, unused = byte_map(h), -h.width * h.depth % 8
  for y, row in ipairs(rows) do -- the bits behind the last pixel are any, and may be no colour of the palette
    if unused > 0 then row = row:sub(1, -2) .. string.char(row:byte(-1) >> unused << unused) end
    rows[y] = h.depth == 8 and row:gsub(".", map) or row:gsub(".", map):sub(1, h.width * size)
  end
end

local function decode(h)
  local bits = h.kind.channels * h.depth
  local stride = (h.width * bits + 7) // 8
  local data = inflate(h.data, (stride + 1) * h.height)
  local rows = unfilter(data, h.height, stride, math.max(1, bits // 8))
  if h.kind.is_palette or h.depth < 8 then expand(h, rows, h.kind.is_palette and 4 or 1) end
  return table.concat(rows)
end

--- A new image with the picture of an open file.
function png.read(device, file)
  if not compression.is_found() then fail "to read PNG takes the Lua module zlib: apt install lua-zlib" end
  local h = read_chunks(file:read "a")
  if h.tRNS and not h.kind.is_palette then fail "a transparent colour (tRNS) is not read: save it with alpha" end
  local channels = h.kind.is_palette and 4 or h.kind.channels
  local head = { width = h.width, height = h.height, channels = channels, bytes = h.depth == 16 and 2 or 1 }
  return picture.to_image(device, head, function() return decode(h) end)
end

return png
