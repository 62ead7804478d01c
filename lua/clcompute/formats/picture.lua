-- SPDX-License-Identifier: MIT

--- Pictures as files hold them: rows of 1 to 4 channels (gray; gray and alpha; red, green, blue; the same and alpha),
-- each of 8 or of 16 bits, the high byte first. And images of them: one channel becomes "r", more become "rgba".

local picture = {}

local NATIVE_LITTLE = string.pack("=I2", 1) == "\1\0"

--- The pattern of a pixel, in which each channel is a capture.
local function captures(channels, bytes) return ("(" .. ("."):rep(bytes) .. ")"):rep(channels) end

--- Turns the two bytes of every channel of 16 bits round, where the machine has the low one first.
local function native(rows, bytes)
  if bytes == 1 or not NATIVE_LITTLE then return rows end
  return (rows:gsub("(.)(.)", "%2%1"))
end

-- Red, green, blue and alpha of a pixel of so many channels; of three the alpha is added, the largest value.
local TO_RGBA = { [2] = "%1%1%1%2", [3] = "%1%2%3" }

--- Makes the image first, which raises what the device does not allow before the pixels are decoded.
-- @tparam Device device
-- @tparam table head {width=, height=, channels=, bytes= (of a channel)}
-- @tparam function decode returns the rows
-- @treturn Image
function picture.to_image(device, head, decode)
  local order, depth = head.channels == 1 and "r" or "rgba", head.bytes == 1 and "unorm8" or "unorm16"
  local image = device:image(order .. " " .. depth, head.width, head.height)
  local ok, message = pcall(function()
    local rows, rgba = decode(), TO_RGBA[head.channels]
    if head.channels == 3 then rgba = rgba .. ("\xff"):rep(head.bytes) end
    if rgba then rows = rows:gsub(captures(head.channels, head.bytes), rgba) end
    image:write(native(rows, head.bytes))
  end)
  if ok then return image end
  image:release() -- at once, not when the collector comes by
  error(message, 0)
end

-- Of each channel order the channels of a picture, and how a pixel is turned round to it.
local ORDERS = {
  r = { 1 }, a = { 1 }, intensity = { 1 }, luminance = { 1 }, ra = { 2 },
  rgba = { 4 }, srgba = { 4 }, bgra = { 4, "%3%2%1%4" }, sbgra = { 4, "%3%2%1%4" }, argb = { 4, "%2%3%4%1" },
  abgr = { 4, "%4%3%2%1" },
}
local BYTES = { unorm8 = 1, uchar = 1, unorm16 = 2, ushort = 2 }

--- The picture of an image.
-- @treturn table head {width=, height=, channels=, bytes=, what= it is}
-- @treturn string rows
function picture.of_image(image)
  local name, depth = image.format:match "^(%w+) (%w+)$"
  local order, bytes = ORDERS[name], BYTES[depth]
  if image.kind ~= "image2d" then error("a picture is an image2d, this is an " .. image.kind, 0) end
  if not order or not bytes then
    error(("no picture has pixels of '%s', but r, ra, rgba, bgra, argb or abgr of unorm8, unorm16, uchar, ushort; "
      .. "image:buffer():save(path) makes one of other numbers"):format(image.format), 0)
  end
  local rows = native(image:string(), bytes)
  if order[2] then rows = rows:gsub(captures(4, bytes), order[2]) end
  return { width = image.width, height = image.height, channels = order[1], bytes = bytes,
    what = ("pixels of '%s'"):format(image.format) }, rows
end

--- Rows without their alpha, the last of the channels.
function picture.without_alpha(head, rows)
  if head.channels % 2 == 1 then return head, rows end
  local kept = (head.channels - 1) * head.bytes
  rows = rows:gsub("(" .. ("."):rep(kept) .. ")" .. ("."):rep(head.bytes), "%1")
  return { width = head.width, height = head.height, channels = head.channels - 1, bytes = head.bytes }, rows
end

return picture
