-- SPDX-License-Identifier: MIT

--- What `clcompute repl` does in the interpreter before its first prompt.
-- @module clcompute.cli.session

local need = require "clcompute.cli.need"
local output = require "clcompute.cli.output"

local session = {}

--- No kernel is to end the session: CPUs that `cl.device` gives are isolated, unless told otherwise.
local function isolate_cpus(library)
  local device = library.device
  function library.device(selector, options)
    local is_told = options and (type(options) ~= "table" or options.isolated ~= nil)
    local ok, found = pcall(device, selector, is_told and options or nil)
    if not ok then error(found, 2) end
    if is_told or found.type ~= "cpu" then return options and device(found.place, options) or found end
    local isolated = { isolated = true }
    for key, value in pairs(options or {}) do isolated[key] = value end
    return device(found.place, isolated)
  end
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
  isolate_cpus(library)
  warn "@on"
  local found, device = pcall(need.device, selector)
  if found then
    _G.d = device
    print(("%s: cl is the library, d is %s"):format(library._VERSION, tostring(device)))
  else
    print(("%s: cl is the library, d is nil: %s"):format(library._VERSION, device))
  end
end

return session
