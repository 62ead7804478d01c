-- SPDX-License-Identifier: MIT

--- Formats of files: `d:load(path)` gives back what `save` wrote, a buffer of a .npy file, an image of a picture (.pgm,
-- .ppm, .png). What a file is, its first bytes say; what is written, the object and the path's extension.

local files = require "clcompute.files"

local formats = {}

local LONGEST_MAGIC = 8

-- What files of each format begin with, and the module that reads them.
local READERS = {
  { magic = "\x93NUMPY", module = "npy" },
  { magic = "P5", module = "netpbm" },
  { magic = "P6", module = "netpbm" },
  { magic = "\x89PNG\r\n\x1a\n", module = "png" },
}
local WRITERS = { pgm = "netpbm", ppm = "netpbm", png = "png" }

local function format_module(name) return require("clcompute.formats." .. name) end

local function load_file(device, path)
  local file <close> = files.open(path)
  local magic, message = file:read(LONGEST_MAGIC)
  if message then error(message, 0) end
  file:seek "set"
  for _, reader in ipairs(READERS) do
    if (magic or ""):sub(1, #reader.magic) == reader.magic then
      return format_module(reader.module).read(device, file)
    end
  end
  return format_module("npy").read(device, file) -- raises what it is not
end

formats.load = files.method("load", load_file)

local function save_buffer(buffer, path)
  files.replace(path, function(file) return format_module("npy").write(file, buffer) end)
  return buffer
end

formats.save_buffer = files.method("save", save_buffer)

local function save_image(image, path)
  local extension = (path:match "%.(%w+)$" or ""):lower()
  local module = WRITERS[extension]
  if not module then error("a picture's path ends in .pgm, .ppm or .png", 0) end
  local text = format_module(module).write(image, extension)
  files.replace(path, function(file) return file:write(text) end)
  return image
end

formats.save_image = files.method("save", save_image)

return formats
