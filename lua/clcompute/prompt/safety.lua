-- SPDX-License-Identifier: MIT

--- Devices that no kernel takes the process away from: the CPUs that `cl.device` and `cl.devices` return are isolated,
-- buffers are made in check mode, what a compiler may get wrong is built without optimisation, and launches are timed,
-- unless the options of `cl.device` say otherwise. And a library that says so where it has no such function;
-- `rawget(cl, name)` asks.

local catalogue = require "clcompute.prompt.catalogue"
local spelling = require("clcompute.base").spelling

local safety = {}

--- What could be meant by a name that the library does not have, in words behind a message.
local function advice(library, name)
  local known = catalogue.new()
  local module, method = known:entry("clcompute." .. name), known:entry("Device:" .. name)
  if module and module.name == module.module then return ('; it is a module: require "%s"'):format(module.name) end
  if method then return "; a device has it: " .. method.signature:gsub("^Device", "d") end
  return spelling.member(name, "library", library, "", library)
end

--- Refuses names that a module does not have, which Lua would take for nil. A module may make what is asked for.
local function refuse_unknown(module, module_name, suggest)
  local make = (getmetatable(module) or {}).__index
  setmetatable(module, { __index = function(_, name)
    local value = make and make(module, name)
    if value ~= nil then return value end
    error(("%s has no '%s'%s"):format(module_name, tostring(name), suggest(module, tostring(name))), 2)
  end })
end

local function suggest(module, name)
  return spelling.suggestion(name, module)
end

local function is_public(name)
  for _, known in ipairs(name:find "^clcompute%.%w+$" and catalogue.new():modules() or {}) do
    if known == name then return true end
  end
  return false
end

--- Has modules of the reference refuse such names too, from when they are loaded.
local function watch_modules()
  local searchers = table.move(package.searchers, 2, #package.searchers, 1, {}) -- those behind package.preload's
  local function search(name)
    for _, searcher in ipairs(is_public(name) and searchers or {}) do
      local load_module, place = searcher(name)
      if type(load_module) == "function" then
        return function(...)
          local module = load_module(...)
          refuse_unknown(module, name, suggest)
          return module
        end, place
      end
    end
  end
  table.insert(package.searchers, 2, search)
end

--- Options with `isolated` among them.
local function isolating(given)
  local options = { isolated = true }
  for key, value in pairs(given or {}) do options[key] = value end
  return options
end

--- Raises at the script's line what a function of the library raised when it was called from here.
local function pass_on(name, reason)
  error((tostring(reason):gsub("^(bad argument #%d to )'%?'", "%1'" .. name .. "'")), 3)
end

--- Puts functions of its own in the place of `library.device` and `library.devices`, and refuses names that are none,
-- also of modules that are loaded later.
-- @tparam table library
function safety.guard(library)
  refuse_unknown(library, "clcompute", advice)
  watch_modules()
  local device, seen = library.device, setmetatable({}, { __mode = "k" })
  function library.device(selector, given, ...)
    local is_table = type(given) == "table"
    local is_open = given == nil or is_table and given.isolated == nil -- for us to decide
    local told = given
    if is_open then told = nil end
    local ok, found = pcall(device, selector, told, ...)
    if ok and is_open then
      local options = found.type == "cpu" and isolating(given) or given
      if options then ok, found = pcall(device, found.place, options) end
    end
    if not ok then pass_on("device", found) end
    if not seen[found] then -- what `d:check(false)` said since stays
      seen[found] = true
      if not (is_table and given.check ~= nil) then found:check(true) end
      local options = { isolated = found.isolated }
      for _, name in ipairs { "careful", "timing" } do
        options[name] = not (is_table and given[name] ~= nil) or given[name]
      end
      device(found.place, options)
    end
    return found
  end

  local devices = library.devices
  function library.devices(...)
    local ok, list = pcall(devices, ...)
    if not ok then pass_on("devices", list) end
    for i, found in ipairs(list) do list[i] = library.device(found.place) end
    return list
  end
end

return safety
