-- SPDX-License-Identifier: MIT

--- Several buffers in one file, as numpy.savez has it: a .zip archive whose entry "name.npy" is the buffer `name`.

local npy = require "clcompute.formats.npy"
local zip = require "clcompute.formats.zip"

local npz = {}

--- Writes buffers by their names to an open file.
-- @raise the reason
function npz.write(file, buffers)
  local names = {}
  for name in pairs(buffers) do names[#names + 1] = name .. ".npy" end
  table.sort(names)
  return zip.write(file, names, function(entry, name) return npy.write(entry, buffers[name:sub(1, -5)]) end)
end

local function read_entry(device, file, e)
  local entry, check = zip.open(file, e)
  local ok, buffer = pcall(npy.read, device, entry)
  if not ok then error(("entry %s: %s"):format(zip.quote(e.name), buffer), 0) end
  local is_whole, message = pcall(check)
  if is_whole then return buffer end
  buffer:release()
  error(message, 0)
end

--- New buffers with the arrays of an open file, by their names.
function npz.read(device, file)
  local entries, buffers = zip.entries(file), {}
  for _, e in ipairs(entries) do
    if not e.name:find "%.npy$" then error(("entry %s is no .npy file"):format(zip.quote(e.name)), 0) end
  end
  local ok, message = pcall(function()
    for _, e in ipairs(entries) do buffers[e.name:sub(1, -5)] = read_entry(device, file, e) end
  end)
  if ok then return buffers end
  for _, buffer in pairs(buffers) do buffer:release() end -- at once, not when the collector comes by
  error(message, 0)
end

return npz
