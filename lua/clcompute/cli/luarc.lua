-- SPDX-License-Identifier: MIT

--- `clcompute luarc`: the settings by which the Lua language server knows the library, wherever it is installed.

local output = require "clcompute.cli.output"
local process = require("clcompute.base").process
local reference = require "clcompute.reference"

local luarc = {
  name = "luarc",
  description = "Print a .luarc.json, by which the editor of a project knows every name, option and type here.",
  examples = { "clcompute luarc >.luarc.json" },
}

--- Adds no option.
function luarc.configure() end

--- Runs the command.
function luarc.run()
  local folder = reference.folder()
  folder = process.output(("cd %s && pwd"):format(process.quote(folder))) or folder
  output.print(output.json { ["runtime.version"] = "Lua 5.4", ["workspace.library"] = { folder } })
  return 0
end

return luarc
