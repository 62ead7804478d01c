-- SPDX-License-Identifier: MIT
--- Every function and method of the reference refuses extra arguments, options that it does not know, and arguments of
-- another type, at the line of the script and by its name. Its example is the valid call: the spec takes the function's
-- place there, and calls it with others.

local helper = require "spec.helper"
local cl = require "clcompute"
local loops = require "clcompute.loops"
local reference = require "clcompute.reference"

local d = helper.device()

--- Calls of those that their examples show, but do not call by name.
local CALLS = { ["Device:close"] = "d:queue():close()" }

--- Names that messages have for another one.
local SAID = { ["cl.doctor"] = "examine" }

--- What is said where the arguments are counted by a shape.
local COUNTED = { ["Group:zeros"] = "at most 4 dimensions", ["Group:empty"] = "at most 4 dimensions",
  ["Group:full"] = "at most 4 dimensions", ["Group:random"] = "at most 4 dimensions",
  ["Group:buffer"] = "a table brings its own shape", ["Spread:get"] = " expected, got",
  ["Spread:set"] = " expected, got", ["Buffer:get"] = " expected, got", ["Buffer:set"] = " expected, got",
  ["Buffer:slice"] = "slice: at most 2 arguments expected, got",
  ["Buffer:view"] = "view: at most 2 arguments expected, got", ["Drawing:html"] = "drawing expected, got number",
  ["Kernel:capture"] = "takes 1 argument, got 7",
  ["Buffer:reshape"] = "at most 4 dimensions", ["Device:zeros"] = "at most 4 dimensions",
  ["Device:empty"] = "at most 4 dimensions", ["Device:random"] = "at most 4 dimensions",
  ["Device:full"] = "at most 4 dimensions",
  ["Device:image"] = "at most 3 dimensions", ["Image:get"] = "coordinates expected, got",
  ["Device:buffer"] = "a table brings its own shape", ["cl.concat"] = "buffer expected, got table" }

--- Peers that may not be installed, by what is tried of them.
local PEERS = { OpenBLAS = "openblas", CLBlast = "clblast", ["blas.openblas"] = "openblas",
  ["blas.clblast"] = "clblast" }

--- The table that holds a public function, and its name there.
local function place_of(entry)
  local owner, name = entry.name:match "^([%w_]+)[.:]([%w_]+)$"
  if entry.kind == "function" then return require(entry.module), name end
  if owner == "Compiled" then return getmetatable(assert(loops.compile "function() end")).__index, name end
  if owner == "Struct" then return getmetatable(cl.struct("s", "int a;")).__index, name end
  if owner == "Group" then return getmetatable(cl.group { d }).methods, name end
  if owner == "Spread" then return getmetatable(cl.group({ d }):zeros("int", 1)).methods, name end
  if owner == "World" then return getmetatable(require("clcompute.mpi").world).methods, name end
  if owner == "SpreadFactors" then return getmetatable(cl.lu(cl.group({ d, d }):eye(1))).methods, name end
  if owner == "Drawing" then return getmetatable(cl.plot {}).__index, name end
  return debug.getregistry()["clcompute." .. owner].methods, name
end

--- A list of arguments with more from a place on.
local function with(given, at, ...)
  local list = table.move(given, 1, given.n, 1, {})
  table.move({ ... }, 1, select("#", ...), at, list)
  list.n = math.max(given.n, at + select("#", ...) - 1)
  return list
end

--- Raises unless the call is refused in these words.
local function refused(words, f, list)
  local ok, message = pcall(function() f(table.unpack(list, 1, list.n)) end)
  if ok then error("taken: " .. words, 0) end
  if not tostring(message):find(words, 1, true) then error(("'%s' is not in: %s"):format(words, message), 0) end
  return message
end

--- Calls f with what an example gives it, and an argument more.
local function add_argument(entry, f, given)
  local most, selves = #entry.params, entry.kind == "method" and 1 or 0
  local words = COUNTED[entry.name]
  if words then
    refused(words, f, with(given, given.n + 1, 1, 1, 1, 1, 1, 1))
    return
  end
  words = ("%s: %s expected, got %d"):format(SAID[entry.name] or entry.name:match "[%w_]+$",
    most == 0 and "no argument" or ("at most %d argument%s"):format(most, most == 1 and "" or "s"), most + 1)
  local message = refused(words, f, with(given, selves + most + 1, 1))
  if not message:find "^[^\n]*arguments_spec%.lua:%d+: " then error("no place in: " .. message, 0) end
  refused(words .. "; the table with 'axis' is too many", f, with(given, selves + most + 1, { axis = 1 }))
end

--- Calls f with an option more, where the last parameter is a table of options.
local function add_option(entry, f, given)
  local last = entry.params[#entry.params]
  local is_last = last and (last.name == "options" or last.type:find "^{ ?%w+: " or last.type:find "Options$")
  if not is_last then return end
  local at = last.name == "..." and given.n or #entry.params + (entry.kind == "method" and 1 or 0)
  local more = { no_such_option = 1 }
  for key, value in pairs(given[at] or {}) do more[key] = value end
  refused("'no_such_option'", f, with(given, at, more))
end

--- Refused by every parameter there is.
local THREAD = coroutine.create(print)

--- Calls a function by its name, as line 1 of a script would.
local function call_by_name(functions, name, list)
  local script = load(("local functions, list = ...; local _ = functions.%s(table.unpack(list, 1, list.n))")
    :format(name), "=script")
  return pcall(script, functions, list)
end

--- Raises unless what a call raises begins with the place in the script and names the function, or the kernel.
local function check_message(name, message)
  message = tostring(message)
  if not message:find "^script:1: " then error("no place in: " .. message, 0) end
  local is_named = message:find(name, 1, true) or message:find("kernel '", 1, true)
  if not is_named then error(("'%s' is not in: %s"):format(name, message), 0) end
end

--- Calls a function with something else in the place of each argument, and without any where it needs one.
local function exchange_arguments(entry, functions, name, given)
  local first = entry.kind == "method" and 2 or 1
  for at = first, math.max(given.n, first) do
    local ok, message = call_by_name(functions, name, with(given, at, THREAD))
    if ok then error(("taken: a thread as argument %d"):format(at - first + 1), 0) end
    check_message(name, message)
  end
  if not entry.params[1] or entry.params[1].is_optional then return end
  local ok, message = call_by_name(functions, name, { n = first - 1, given[first - 1] })
  if not ok then check_message(name, message) end
end

--- Runs the call of an entry with what it does not take, then as it is; returns whether there was one, and what it
-- raised.
local function run(entry)
  local functions, name = place_of(entry)
  local f, is_called, fault = functions[name], false, nil
  functions[name] = function(...)
    functions[name] = f
    is_called = true
    local given = table.pack(...)
    local shape = entry.name == "Device:random" and { n = given.n - 1, table.unpack(given, 1, given.n - 1) } or given
    fault = select(2, pcall(add_argument, entry, f, shape)) or select(2, pcall(add_option, entry, f, given))
      or select(2, pcall(exchange_arguments, entry, functions, name, given))
    return f(...)
  end
  local environment = setmetatable({ cl = cl, d = d, print = function() end }, { __index = _G })
  local example = assert(load(CALLS[entry.name] or entry.example, "=" .. entry.name, "t", environment))
  local ok, message = pcall(example)
  functions[name] = f
  if fault then error(fault, 0) end
  return is_called, not ok and message or nil
end

describe("arguments that a call does not take are refused by", function()
  for _, entry in ipairs(reference.read "library") do
    if entry.signature then
      it(entry.name, function()
        local peer = PEERS[entry.name] or PEERS[entry.name:match "^%w+"]
        if peer and not require("clcompute.blas")[peer]() then return pending(peer .. " is not installed") end
        local is_called, message = run(entry)
        assert.is_true(is_called, "no call of it: " .. tostring(message))
      end)
    end
  end

  it("kernels", function()
    local f = d:program("kernel void f(global int *x) { x[0] = 1; }").f
    helper.raises("kernel 'f' takes 1 argument, got 2", f, 1, d:zeros("int", 1), 1)
    helper.raises("no option 'groups'", f, { global = 1, groups = 1 }, d:zeros("int", 1))
  end)

  it("compiled functions", function()
    local double = assert(loops.compile "local function double(x, n) for i = 1, n do x[i] = 2 * x[i] end end")
    local x = { 1.0, 2.0 }
    local message = helper.raises("double: at most 2 arguments expected, got 3", function() double(x, 2, 1) end)
    assert.matches("arguments_spec.lua:%d+: double", message)
    double(x, 2, nil, nil)
    assert.same({ 2.0, 4.0 }, x)
  end)
end)

describe("nils at the end", function()
  it("are no extra arguments", function()
    local x = d:buffer { 3, 1, 2 }
    assert.equal(3.0, cl.max(x, nil, nil))
    assert.equal(2, #x:view(2, 3, nil))
    assert.equal(d, d:wait(nil))
    assert.equal(x, x:release(nil))
  end)

  it("do not hide what stands behind them", function()
    helper.raises("max: at most 2 arguments expected, got 3", cl.max, d:buffer { 1 }, nil, 1)
    helper.raises("view: at most 2 arguments expected, got 4", function() d:buffer({ 1 }):view(1, 1, nil, 1) end)
  end)
end)

describe("a message of an argument too many", function()
  it("begins with the place in the script", function()
    local x = d:buffer { 1 }
    for words, f in pairs { max = function() return (cl.max(x, {}, 1)) end,
      view = function() return (x:view(1, 1, 1)) end,
      load = function() return (d:load("none", {}, 1)) end, examine = function() return (cl.doctor({}, 1)) end } do
      assert.matches("^%S*arguments_spec%.lua:%d+: " .. words .. ": ", helper.raises("at most", f))
    end
  end)

  it("names an option, where it is a table that has one", function()
    for _, f in ipairs { cl.clock, cl.profile } do
      assert.matches("got %d$", helper.raises("", f, 1, { 1 }))
      assert.matches("; the table with 'axis' is too many$", helper.raises("", f, { 1, axis = 1 }, { 1, axis = 1 }))
    end
  end)
end)

describe("a message of a wrong argument", function()
  it("has the public name of a function that pcall calls", function()
    for _, name in ipairs { "gemm", "saxpy", "lu" } do
      assert.matches(("^bad argument #1 to 'clcompute.%s'"):format(name), select(2, pcall(cl[name], {})))
    end
  end)

  it("names the method where a value is none that it takes", function()
    local x, pair = d:buffer { { 1, 2 } }, cl.struct("pair", "int a; float b;")
    local s, fill = cl.group({ d }):zeros("int", 2, 2), d:record(function() x:fill(0) end)
    for words, f in pairs {
      ["bad argument #1 to 'load' (path expected, got an empty text)"] = function() return (d:load "") end,
      ["bad argument #1 to 'save' (path expected, got an empty text)"] = function() return (x:save "") end,
      ["save: /none/a: No such file"] = function() return (x:save "/none/a") end,
      ["reshape: 3 is 3 elements"] = function() return (x:reshape(3)) end,
      ["zeros: buffer of "] = function() return (d:zeros("int", 1 << 40)) end,
      ["pack: pair.a: number expected"] = function() return (pair:pack { a = "x", b = 1 }) end,
      ["unpack: struct 2 of 1"] = function() return (pair:unpack(pair:pack { a = 1, b = 2 }, 2)) end,
      ["a[1] of a spread matrix"] = function() return (s[1]) end,
      ["has no field 'none' to set"] = function() s.none = 1 end,
      ["bad argument #1 to 'fill' (number expected"] = function() return (fill "x") end,
    } do
      local message = helper.raises(words, f)
      assert.matches("^%S*arguments_spec%.lua:%d+: ", message)
    end
  end)
end)
