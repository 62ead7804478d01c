-- SPDX-License-Identifier: MIT
--- The command as a process, for specs.

local assert = require "luassert"
local helper = require "spec.helper"

local command = { text = helper.lua .. " bin/clcompute " }

--- Runs a shell command; returns its exit code, standard output and standard error.
function command.shell(line)
  local scratch = os.tmpname()
  local pipe = assert(io.popen(("{ %s; } 2>%s"):format(line, scratch)))
  local out = pipe:read("a")
  local _, kind, code = pipe:close()
  local err = helper.read(scratch)
  os.remove(scratch)
  return kind == "signal" and 128 + code or code, out, err
end

--- The same of the command with those arguments, in an environment.
function command.run(arguments, environment)
  return command.shell(("%s %s%s"):format(environment or "", command.text, arguments))
end

--- Asserts that the command ends with code 0; returns its standard output.
function command.succeeds(...)
  local code, out, err = command.run(...)
  assert.equal(0, code, err)
  return out
end

--- Asserts that the command ends with that code and one line on standard error which holds each text.
function command.fails(expected, texts, ...)
  local code, out, err = command.run(...)
  assert.equal(expected, code, err)
  assert.matches("^clcompute: [^\n]+\n$", err)
  for _, text in ipairs(texts) do assert.truthy(err:find(text, 1, true), err) end
  return out
end

return command
