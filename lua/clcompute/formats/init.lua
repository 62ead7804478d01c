-- SPDX-License-Identifier: MIT

--- Formats of files: `d:load(path)` gives back what `save` wrote, a buffer of a .npy file, an image of a picture (.pgm,
-- .ppm, .png). What a file is, its first bytes say; what is written, the object and the path's extension.

local arity = require("clcompute.base").arity
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

--- The type of what came in place of a path: an explicit nil is "nil", no argument "none".
local function type_given(...)
  return select("#", ...) == 0 and "none" or type((...))
end

--- Calls f(object, path), the path being the first of the further arguments, and raises its errors in
-- the name of the script that called the method: level 1 is `guard`, 2 the method below, 3 the core's
-- check of the object, 4 the script.
local function guard(method, f, object, ...)
  local path = ...
  arity.check(method, 1, 4, ...)
  if type(path) ~= "string" then
    error(("bad argument #1 to '%s' (path expected, got %s)"):format(method, type_given(...)), 4)
  end
  if path:find("\0", 1, true) then error(("bad argument #1 to '%s' (the path holds a NUL byte)"):format(method), 4) end
  local ok, result = pcall(f, object, path)
  if ok then return result end
  if type(result) ~= "string" then error(result, 0) end -- of a debug hook: not ours
  -- The core's own messages start with the line of the package that called it.
  error(("%s: %s"):format(path, (result:gsub("^[^\n]-formats/%l+%.lua:%d+: ", ""))), 4)
end

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
  return format_module("npy").read(device, file) -- says what is wrong with it
end

function formats.load(device, ...)
  return (guard("load", load_file, device, ...))
end

local function save_buffer(buffer, path)
  files.replace(path, function(file) return format_module("npy").write(file, buffer) end)
  return buffer
end

function formats.save_buffer(buffer, ...)
  return (guard("save", save_buffer, buffer, ...))
end

local function save_image(image, path)
  local extension = (path:match "%.(%w+)$" or ""):lower()
  local module = WRITERS[extension]
  if not module then error("a picture's path ends in .pgm, .ppm or .png", 0) end
  local text = format_module(module).write(image, extension)
  files.replace(path, function(file) return file:write(text) end)
  return image
end

function formats.save_image(image, ...)
  return (guard("save", save_image, image, ...))
end

return formats
