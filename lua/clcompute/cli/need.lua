-- SPDX-License-Identifier: MIT

--- What a command needs, or an error of one line that says what is missing. The errors name no place in
-- the code: who reads them typed a command.
-- @module clcompute.cli.need

local need = {}

--- A Lua module of a Debian package.
-- @tparam string name of the module
-- @tparam string package
-- @return the module
-- @raise when it is not installed, naming the package
function need.module(name, package)
  local found, module = pcall(require, name)
  if found then return module end
  error(("the Lua module %s is missing: apt install %s (or luarocks install %s)"):format(name, package, name), 0)
end

--- The library.
-- @treturn table what `require "clcompute"` gives
-- @raise when it does not load, with the remedy
function need.library()
  local found, library = pcall(require, "clcompute")
  if found then return library end
  local missing = tostring(library):match "^module '([^']+)' not found:"
  error(missing and ("module '%s' not found; `clcompute doctor` says what to do"):format(missing) or library, 0)
end

--- A device.
-- @tparam[opt] string selector as for `cl.device`
-- @tparam[opt] table options as for `cl.device`
-- @treturn Device
-- @raise when none matches, with what there is
function need.device(selector, options)
  local found, device = pcall(need.library().device, selector, options)
  if found then return device end
  error(device, 0)
end

return need
