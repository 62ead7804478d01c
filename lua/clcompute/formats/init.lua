-- SPDX-License-Identifier: MIT

--- Formats of files: `d:load(path)` gives back what `save` wrote, a buffer of a .npy or .csv file, buffers of a .npz
-- file, an image of a picture (.pgm, .ppm, .png). What a file is, its first bytes say, but for .csv, which has none of
-- its own; what is written, the object and the path's extension.

local files = require "clcompute.files"
local type_of = require("clcompute.base").options.type_of

local formats = {}

local LONGEST_MAGIC = 8

-- What files of each format begin with, and the module that reads them.
local READERS = {
  { magic = "\x93NUMPY", module = "npy" },
  { magic = "PK\3\4", module = "npz" },
  { magic = "PK\5\6", module = "npz" },
  { magic = "P5", module = "netpbm" },
  { magic = "P6", module = "netpbm" },
  { magic = "\x89PNG\r\n\x1a\n", module = "png" },
}
local PICTURES = { pgm = "netpbm", ppm = "netpbm", png = "png" }

-- What is written by other programs: .npy elements under such a name mislead them.
local FOREIGN = {}
for name in ("jpg jpeg gif bmp tif tiff webp svg pdf txt tsv xls xlsx json mat h5 hdf5"):gmatch "%w+" do
  FOREIGN[name] = true
end

local function fail(...) error(string.format(...), 0) end

local function format_module(name) return require("clcompute.formats." .. name) end

local function extension_of(path) return (path:match "%.(%w+)$" or ""):lower() end

--- The module that reads a file of these first bytes, or the one of .npy, which raises what it is not.
local function reader_of(magic, path)
  for _, reader in ipairs(READERS) do
    if magic:sub(1, #reader.magic) == reader.magic then return reader.module end
  end
  return extension_of(path) == "csv" and "csv" or "npy"
end

local function load_file(device, path, options)
  local file <close> = files.open(path)
  local magic, message = file:read(LONGEST_MAGIC)
  if message then fail("%s", message) end
  file:seek "set"
  local name = reader_of(magic or "", path)
  if options.dtype and name ~= "csv" then fail "option 'dtype' is for .csv files: others say what they hold" end
  return format_module(name).read(device, file, options)
end

formats.load = files.method("load", load_file, { dtype = "string" })

--- The text of a picture's file.
-- @tparam table head {width=, height=, channels=, bytes=, what=}, rows packed behind each other
-- @string rows
-- @string extension
function formats.picture(head, rows, extension)
  return format_module(PICTURES[extension]).write(head, rows, extension)
end

local function save_picture(path, extension, head, rows)
  local text = formats.picture(head, rows, extension)
  files.replace(path, function(file) return file:write(text) end)
end

local function save_buffer(buffer, path, options)
  local extension = extension_of(path)
  if PICTURES[extension] then
    if options.header then fail "option 'header' is for .csv files" end
    save_picture(path, extension, format_module("matrix").picture(buffer, options))
    return buffer
  end
  local name = extension == "csv" and "csv" or "npy"
  for option in next, options do
    if option ~= "header" then fail("option '%s' is for pictures: .pgm, .ppm and .png", option) end
    if name ~= "csv" then fail "option 'header' is for .csv files" end
  end
  if extension == "npz" then fail "a .npz file holds buffers by name: cl.save_npz(path, { name = buffer })" end
  if FOREIGN[extension] then
    fail("no buffer is saved as .%s: .npy, .csv, .png, .pgm, .ppm or no extension expected", extension)
  end
  files.replace(path, function(file) return format_module(name).write(file, buffer, options) end)
  return buffer
end

formats.save_buffer = files.method("save", save_buffer, { low = "number", high = "number",
  header = "table" })

local function save_image(image, path)
  local extension = extension_of(path)
  if not PICTURES[extension] then fail "a picture's path ends in .pgm, .ppm or .png" end
  save_picture(path, extension, format_module("picture").of_image(image))
  return image
end

formats.save_image = files.method("save", save_image)

local function save_npz(path, buffers)
  if type(buffers) ~= "table" then fail("table of buffers by name expected, got %s", type_of(buffers)) end
  local checked = {}
  for name, buffer in next, buffers do
    if type(name) ~= "string" or name == "" then
      fail("table of buffers by name expected, got one at [%s]", tostring(name))
    end
    if type_of(buffer) ~= "Buffer" then fail("buffer expected at '%s', got %s", name, type_of(buffer)) end
    checked[name] = buffer
  end
  files.replace(path, function(file) return format_module("npz").write(file, checked) end)
  return path
end

formats.save_npz = files.writer("save_npz", save_npz)

return formats
