-- SPDX-License-Identifier: MIT
--- What the lines of a fuzzed script run on: slots with objects, and values that do something in the middle of a call.
-- A script is such lines behind a `require` of this file, so that it runs by itself.

local cl = require "clcompute"
local count = require "clcount"

local stage = { slots = {}, calls = 0, messages = {}, distinct = 0 }

local v = stage.slots

-- A CPU whose kernels a worker runs, instead of a simulator: a launch waits there, which hooks meet.
if os.getenv "FUZZ_DEVICE" == "isolated" then
  local open = cl.device
  function cl.device(selector, options)
    if selector == nil and options == nil then return open(nil, { isolated = true, limit = 2 }) end
    return open(selector, options)
  end
end

-- --- judging ---------------------------------------------------------------------------------------

-- What no message of the library may hold: an error of Lua inside it, a place in it, a check left to the driver.
local INTERNAL = {
  "lua/clcompute/[%w_/]+%.lua:%d+: ", "^line:1: [%w_]+: attempt to ", "assertion failed", "stack overflow",
  "CL_INVALID_", "to '%?'", "^line:1: %a[%w_]*: bad argument #",
}

-- The lines of a script have errors of their own.
-- So have objects whose metatables were exchanged where a call has no name, and a hook that releases what the library's
-- Lua uses.
local OWN = { "^line:1: attempt to", "^attempt to", "attempt to yield", "expected, got clcompute%.%u",
  "expected, got its metatable", "%l is released%)?$" }

local function has_one(message, patterns)
  for _, pattern in ipairs(patterns) do if message:find(pattern) then return true end end
  return false
end

--- A message without what differs from call to call.
local function shape_of(message)
  return (message:gsub("^[^\n]-:%d+: ", ""):gsub("'[^']*'", "''"):gsub("%d+", "0"):sub(1, 100))
end

--- What came out wrong, once for each kind.
stage.faults = {}

local function note_fault(message)
  local shape = shape_of(message)
  if stage.faults[shape] then return end
  stage.faults[shape] = true
  stage.faults[#stage.faults + 1] = message
end

--- Notes the error of a call.
local function judge(message)
  if message == stage.boom then return end
  if type(message) ~= "string" then return note_fault("an error that is no string: " .. tostring(message)) end
  if has_one(message, OWN) then return end
  if has_one(message, INTERNAL) then return note_fault("an internal message: " .. message) end
  local shape = shape_of(message)
  if not stage.messages[shape] then stage.messages[shape], stage.distinct = message, stage.distinct + 1 end
end

-- --- values that act -------------------------------------------------------------------------------

--- Releases what a slot holds; the slot keeps the dead object.
function stage.drop(i)
  local object = v[i]
  local meta = debug.getmetatable(object)
  if meta and meta.__close then pcall(meta.__close, object) end
end

--- A table whose every metamethod calls f, over the fields of `base`.
local function acting(base, f)
  local meta = {}
  for _, name in ipairs { "__index", "__newindex", "__len", "__call", "__eq", "__concat", "__unm", "__lt" } do
    meta[name] = function() return f() end
  end
  function meta.__pairs(t)
    f()
    return next, t
  end
  function meta.__tostring()
    f()
    return "acting"
  end
  return setmetatable(base or {}, meta)
end

--- Releases a slot when it is looked at.
function stage.trap(i, base)
  return acting(base, function()
    stage.drop(i)
    return nil
  end)
end

--- Yields, or raises, when it is looked at.
function stage.yielding(base) return acting(base, function() return coroutine.yield() end) end

stage.boom = setmetatable({}, { __tostring = function() return "boom" end })

function stage.raising(base) return acting(base, function() error(stage.boom) end) end

--- Garbage whose finalizer releases a slot, and enough of it that the collector comes by soon.
function stage.mine(i)
  setmetatable({}, { __gc = function() stage.drop(i) end })
  collectgarbage "step"
end

--- Garbage whose finalizer uses a slot.
function stage.user(i)
  setmetatable({}, { __gc = function()
    local object = v[i]
    pcall(function() local _ = object:read() end)
    pcall(function() local _ = object:zeros("int", 3) end)
    local _ = pcall(tostring, object)
  end })
end

--- Calls f with a debug hook that releases a slot after so many instructions.
function stage.hooked(i, n, f)
  debug.sethook(function()
    debug.sethook()
    stage.drop(i)
  end, "", n)
  local ok, result = pcall(f)
  debug.sethook()
  if not ok then error(result, 0) end
  return result
end

--- Calls f while the collector comes by at every step, with garbage whose finalizer releases a slot, or else uses it.
function stage.pressed(i, releases, f)
  local meta, work = {}, releases and stage.drop or function() pcall(function() v[i]:eval() end) end
  function meta.__gc(t)
    work(i)
    if meta.__gc then setmetatable(t, meta) end
  end
  setmetatable({}, meta)
  local pause, step = collectgarbage("setpause", 0), collectgarbage("setstepmul", 1000)
  local ok, result = pcall(f)
  meta.__gc = nil
  collectgarbage("setpause", pause)
  collectgarbage("setstepmul", step)
  if not ok then error(result, 0) end
  return result
end

--- Calls f in a coroutine that is abandoned where f yields.
function stage.inside(f)
  local ok, result = coroutine.resume(coroutine.create(f))
  if not ok then error(result, 0) end
  return result
end

--- Calls f in a coroutine that is closed where f yields.
function stage.closed(f)
  local co = coroutine.create(f)
  local ok, result = coroutine.resume(co)
  local closed, message = coroutine.close(co)
  if not ok then error(result, 0) end
  if not closed then error(message, 0) end
  return result
end

--- Calls f with an object that is released at the end.
function stage.scoped(i, f)
  local object <close> = v[i] -- luacheck: ignore 211
  local result = f()
  return result
end

-- --- lines -----------------------------------------------------------------------------------------

local names = setmetatable({ v = v, cl = cl, stage = stage }, { __index = _G })
stage.names = names -- what a line sees

for _, module in ipairs { "sequential", "blas", "poly", "report", "loops" } do
  local ok, loaded = pcall(require, "clcompute." .. module)
  names[module] = ok and loaded or nil
end

local function is_kept(value)
  local meta = debug.getmetatable(value)
  return type(value) == "userdata" or type(value) == "table" and meta ~= nil and (meta.__gc or meta.__close) ~= nil
end

--- Runs one line, a chunk that may return an object, which goes into the slot.
function stage.line(slot, text)
  stage.calls = stage.calls + 1
  local f = assert(load(text, "=line", "t", names))
  local ok, result = pcall(f)
  if not ok then
    judge(result)
  elseif is_kept(result) then
    v[slot] = result
  end
end

local leaked, bad, alive = 0, 0, 0 -- until now

--- Gives an object the metatable of another one. What loses its finalizer so is released at the end of the state.
function stage.forge(object, other)
  stage.forged = true
  debug.setmetatable(object, debug.getmetatable(other))
end

--- Empties the slots: nothing may be left then.
function stage.finish()
  debug.sethook()
  collectgarbage "incremental"
  collectgarbage "restart"
  for i in pairs(v) do v[i] = nil end
  for _ = 1, 3 do collectgarbage() end
  for _, device in ipairs(cl.devices()) do
    pcall(device.wait, device)
    device:close()
  end
  if os.getenv "FUZZ_DEVICE" == "isolated" then cl.device():close() end
  for _ = 1, 3 do collectgarbage() end
  local left = count.live() or {}
  if #left > leaked and not stage.forged then
    note_fault(("%d handles leaked, one of %s"):format(#left - leaked, left[#left].call))
  end
  if count.bad() > bad then note_fault "a handle was released twice" end
  local bytes = cl.live().bytes
  if bytes > alive and not stage.forged then note_fault(("%d bytes are said to be alive"):format(bytes - alive)) end
  leaked, bad, alive, stage.forged = #left, count.bad(), bytes, false
end

--- The end of a script that runs by itself: what came out wrong, as its exit code.
function stage.report()
  for _, message in ipairs(stage.faults) do io.stderr:write("fuzz: ", message, "\n") end
  if #stage.faults > 0 then os.exit(3) end
end

return stage
