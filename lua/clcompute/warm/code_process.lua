-- SPDX-License-Identifier: MIT
--- Processes that run Lua code with the modules that this one finds.

local process = require("clcompute.base").process

local code_process = {}

--- A command of the shell that runs code.
-- @tparam string code
-- @tparam ?table variables of its environment
-- @treturn string
function code_process.command(code, variables)
  local words = {}
  for name, value in pairs(variables or {}) do words[#words + 1] = name .. "=" .. process.quote(value) end
  code = ("package.path, package.cpath = %q, %q\n%s"):format(package.path, package.cpath, code)
  table.move({ process.quote(process.interpreter()), "-e", process.quote(code) }, 1, 3, #words + 1, words)
  return table.concat(words, " ")
end

--- What a command prints, line by line; its end waits for that of the command.
-- @tparam string command
-- @treturn file to be closed: nil, how it ended and a number where it did not end well
function code_process.open(command)
  return assert(io.popen(command .. " </dev/null"))
end

return code_process
