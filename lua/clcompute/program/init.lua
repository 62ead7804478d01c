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

return { save = files.method("save", save) }
