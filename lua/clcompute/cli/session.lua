-- SPDX-License-Identifier: MIT

--- What `clcompute repl` does in the interpreter before its first prompt.
-- @module clcompute.cli.session

local need = require "clcompute.cli.need"
local output = require "clcompute.cli.output"

local session = {}

--- A device on which no kernel ends the session, where there is one: a CPU isolated.
local function open(selector)
  local device = need.device(selector)
  return device.type == "cpu" and need.device(device.place, { isolated = true }) or device
end

--- Sets the globals `cl` and `d`, turns warnings on, and says so. Without a device `d` stays nil; without the library
-- the process ends.
-- @tparam[opt] string selector as for `cl.device`
function session.open(selector)
  local loaded, library = pcall(need.library)
  if not loaded then
    output.complain(library)
    os.exit(1)
  end
  _G.cl = library
  warn "@on"
  local found, device = pcall(open, selector)
  if found then
    _G.d = device
    print(("%s: cl is the library, d is %s"):format(library._VERSION, tostring(device)))
  else
    print(("%s: cl is the library, d is nil: %s"):format(library._VERSION, device))
  end
end

return session
