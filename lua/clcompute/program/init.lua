-- SPDX-License-Identifier: MIT

--- Built programs in files: `p:save(path)`. csrc/program/saved.c says what such a file holds, and reads it.

local files = require "clcompute.files"
local internal = require "clcompute.core.internal"
local version = require("clcompute.base").version

local function save(program, path)
  local bytes = internal.seal_program(program, version)
  files.replace(path, function(file) return file:write(bytes) end)
  return program
end

local LONGEST = 1 << 20 -- bytes of a script that is looked through

--- All of a script's file; nil where it cannot be read.
local function read(path)
  local file <close> = io.open(path)
  return file and file:read(LONGEST)
end

--- Where a source stands as it is in one of the scripts that are running, as in `d:program [[...]]`.
-- @string text
-- @treturn ?string the script
-- @treturn ?integer its line with the first line of the source
local function find_origin(text)
  local level, info = 2, debug.getinfo(2, "S")
  while info do
    local script = info.source:sub(1, 1) == "@" and read(info.source:sub(2))
    local at = script and #text > 0 and script:find(text, 1, true)
    if at then return info.short_src, select(2, script:sub(1, at - 1):gsub("\n", "")) + 1 end
    level = level + 1
    info = debug.getinfo(level, "S")
  end
end

return { save = files.method("save", save), find_origin = find_origin }
