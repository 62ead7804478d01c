-- SPDX-License-Identifier: MIT

--- What a command needs, or an error of one line that says what is missing. The errors name no place in
-- the code: who reads them typed a command.
-- @module clcompute.cli.need

local process = require("clcompute.base").process

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

--- The devices to be measured: the one of `--device`, or all.
-- @treturn table a list that is not empty
function need.devices(options)
  if options.device then return { need.device(options.device) } end
  local devices = need.library().devices()
  if #devices == 0 then error("no OpenCL device; `clcompute doctor` says what to install", 0) end
  return devices
end

--- Whether a file can be written. Only asks: opening it would empty a page, or leave an empty one.
local function is_writable(path)
  local file = process.quote(path)
  if path == "" then return false end
  if os.execute("test -e " .. file) then
    return os.execute(("test ! -d %s && test -w %s"):format(file, file))
  end
  local folder = process.quote(path:match "^.*/" or ".")
  return os.execute(("test -d %s && test -w %s"):format(folder, folder))
end

--- Makes a folder where there is none; returns whether files can be written in it.
local function make_folder(path)
  local folder = process.quote(path)
  return os.execute(("mkdir -p -- %s 2>/dev/null && test -w %s"):format(folder, folder))
end

--- Raises what would keep the result from being shown or kept: to be called before anything is measured.
-- @tparam table options of `command_line.add_output`, and `rows`, a folder, which is made
-- @raise a missing lua-dkjson, or a file or folder that cannot be written
function need.output(options)
  if options.json or options.rows then need.module("dkjson", "lua-dkjson") end
  if options.html and not is_writable(options.html) then
    error(("--html: cannot write '%s'"):format(options.html), 0)
  end
  if options.rows and not make_folder(options.rows) then
    error(("--rows: cannot write in folder '%s'"):format(options.rows), 0)
  end
end

return need
