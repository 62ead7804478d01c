-- SPDX-License-Identifier: MIT
--- `clcompute loops`, as a process.

local command = require "spec.support.command"
local helper = require "spec.helper"
local loops = require "clcompute.loops"
local loops_trial = require "clcompute.cli.loops_trial"
local width = require("clcompute.base").width
local write_file = require("clcompute.base").write_file

local run, fails = command.run, command.fails

local SUMS = [[
local M = {}
local N <const> = 3
local function half(x) return x / 2 end
function M.scale(a, x, n)
  for i = 1, n do a[i] = half(a[i]) * x + N end
end
local function sweep(a, n, steps)
  for t = 1, steps do
    for i = 2, n do a[i] = a[i - 1] + a[i] end
  end
end
shift = function(a, k, n) for i = 1, n do a[i] = a[i] << k end end
function M.waves(a, b, n) for i = 1, n do a[i] = math.sin(b[i]) ^ 1.5 end end
function M.loop(a, n)
  for i = 1, n do
    a[i] = 'x'
  end
end
function M.stencil(a, b, n) for i = 1, n do a[i] = b[i + 1] end end
print "the file has run"
return M
]]
local ONE = "function only(a, n) for i = 1, n do a[i] = 2 * a[i] end end\n"

local folder = os.tmpname()
local sums, one = folder .. "/sums.lua", folder .. "/one.lua"
local fast = helper.device().place

local function write(path, text)
  write_file(path, text)
  return path
end

local function succeeds(...)
  local code, out, err = run(...)
  assert.same({ 0, "" }, { code, err })
  return out
end

--- Runs a function of the file on the fast device; returns the output.
local function try(name, more)
  return command.succeeds(("loops %s --function %s --run --device %s %s"):format(sums, name, fast, more or ""))
end

--- The cells of the table's line that begins so: times, launches, bytes, result.
local function line_of(out, name)
  local first, second, rest = out:match("\n" .. name .. " +([%d.]+) +([%d.]+) *([^\n]*)")
  assert.is_truthy(first, out)
  return rest, tonumber(first), tonumber(second)
end

setup(function()
  os.remove(folder)
  os.execute("mkdir " .. folder)
  write(sums, SUMS)
  write(one, ONE)
end)

teardown(function() os.execute("rm -r " .. folder) end)

describe("clcompute loops", function()
  it("tells of each loop whether it is parallel, or what depends on what", function()
    local out = succeeds(("loops %s --function sweep"):format(sums))
    assert.matches("\n +8: for t +sequential: ", out)
    assert.matches("\n +9: +for i +sequential: a%[i %- 1%] %(line 9%) reads what a%[i%] %(line 9%) wrote", out)
    assert.matches(require "clcompute".device().type == "cpu" and "\n  nest_1, line 8: one work-item;"
      or "\n  nest_1, line 8: in wavefronts 2 t + i, work-items (t);", out, 1, true)
    assert.is_nil(out:find("arithmetic", 1, true))
    assert.is_nil(out:find("has run", 1, true)) -- it is read, no more
  end)

  it("takes all functions of a file with loops, or the one that is named; names them where it takes one", function()
    assert.matches("^only of .*nest_1, line 1", succeeds("loops " .. one))
    local beside = write(folder .. "/beside.lua", "local function half(x) return x / 2 end " .. ONE .. "return half\n")
    assert.matches("^only of .*nest_1, line 1", succeeds("loops " .. beside))
    assert.matches("\n   5: for i ", (succeeds(("loops %s --function M.scale"):format(sums)):gsub("\n +", "\n   ")))
    local code, out, err = run("loops " .. sums)
    assert.equal(1, code)
    assert.matches("^M.scale of .-\n\nsweep of .-\n\nshift of .-\n\nM.waves of .-\n\n"
      .. "M.loop of [^\n]+sums.lua: refused\n\nM.stencil of [^\n]+\n", out)
    assert.matches("^[^\n]+sums.lua:16:12: a string is not accepted[^\n]+\n[^\n]+\n +%^\n$", err) -- of M.loop
    code, out, err = run(("loops %s --arguments n=int"):format(sums))
    assert.same({ 1, "" }, { code, out })
    assert.matches("sums.lua:4:1: a second function: --function says which one; there are: half, ", err, 1, true)
    assert.matches("no function 'zork'; there are: half, ", select(3, run(("loops %s --function zork"):format(sums))),
      1, true)
  end)

  it("names whose source it shows, and functions without a name that it leaves out", function()
    local several = write(folder .. "/several.lua", ONE .. ONE:gsub("only", "other") .. "return function(a)\n"
      .. " for i = 1, #a do a[i] = 0 end\nend\n")
    local code, out, err = run(("loops %s --source"):format(several))
    assert.same({ 0, several .. ":3: a function without a name is left out\n" }, { code, err })
    assert.matches("^// only\n.-kernel void nest_1.-\n\n// other\n.-kernel void nest_1", out)
    write(several, ONE .. ONE:gsub("only", "other"):gsub("2 %*", "nil *"))
    local _, both = command.shell(("%s loops %s --source 2>&1"):format(command.text, several))
    assert.matches("\n\n// other of [^\n]+: refused\n[^\n]+:2:%d+: nil is not accepted", both)
  end)

  it("reads standard input", function()
    for _, words in ipairs { "", " --run --device " .. fast } do
      local code, out = command.shell(("%s loops -%s <%s"):format(command.text, words, one))
      assert.equal(0, code)
      assert.matches(words == "" and "^only of " or "^a: table of floats, 128; n = 128\n", out)
    end
  end)

  it("explains and shows the source as the library does", function()
    local compiled = assert(loops.compile({ file = one }))
    assert.equal(compiled:explain() .. "\n", succeeds(("loops %s --explain"):format(one)))
    assert.equal(compiled:source(), succeeds(("loops %s --source"):format(one)))
  end)

  it("supposes the arguments that it is told, and what fits of the others", function()
    local out = succeeds(("loops %s --source --arguments a=float"):format(one))
    assert.matches("kernel void nest_1(global float *restrict a_1", out, 1, true)
    out = succeeds(("loops %s --function shift"):format(sums))
    assert.matches("for a: table of long, rank 1; k: int; n: int (presumed", out, 1, true)
    out = succeeds(("loops %s --function scale --arguments 'a=integers, x=2'"):format(sums))
    assert.matches("a: table of double, rank 1; x: int; n: int", out, 1, true)
  end)

  it("shares sums out where it is told to", function()
    local path = os.tmpname()
    local file <close> = assert(io.open(path, "w"))
    file:write "function total(a, out, n) local s = 0.0 for i = 1, n do s = s + a[i] end out[1] = s end"
    file:close()
    local out = succeeds(("loops %s --reduce tree"):format(path))
    assert.matches("reduction: sum in s; shared out", out, 1, true)
    out = succeeds(("loops %s"):format(path))
    assert.matches("sequential: s reads", out, 1, true)
    os.remove(path)
    fails(2, { "--reduce" }, ("loops %s --reduce three"):format(one))
  end)

  it("shows what is wrong with a file as compilers do", function()
    local code, out, err = run(("loops %s --function loop"):format(sums))
    assert.same({ 1, "" }, { code, out })
    assert.equal(sums .. ":16:12: a string is not accepted: values are numbers and booleans; texts are made before or "
      .. "behind the compiled function\n"
      .. "    a[i] = 'x'\n           ^\n", err)
    code, out, err = run(("loops %s --arguments n=float"):format(one))
    assert.same({ 1, "" }, { code, out })
    assert.equal(1, err:find(one .. ":1:32: 'n' is used in a bound", 1, true), err)
    assert.matches("\nfunction only[^\n]*\n +%^\n$", err)
    assert.same({ 1, "", "/none.lua: cannot be read: No such file or directory\n" }, { run "loops /none.lua" })
    assert.same({ 1, "", folder .. ": cannot be read: Is a directory\n" }, { run("loops " .. folder) })
  end)

  it("refuses arguments that the function has not", function()
    fails(1, { "no argument 'b'; there are: a, n" }, ("loops %s --arguments b=int"):format(one))
    fails(1, { "clcompute: 'a' is an array: floats, integers or a dtype expected, got 'half'" },
      ("loops %s --arguments a=half"):format(one))
    fails(1, { "'n' is a number: int or float expected, got 'floats'" }, ("loops %s --arguments n=floats"):format(one))
    fails(1, { "'a' is an array: floats, integers or a dtype expected, got 5" },
      ("loops %s --arguments a=5"):format(one))
    fails(1, { "'n' is a number and has no sizes" }, ("loops %s --arguments n=int:5"):format(one))
    for _, word in ipairs { "a", "a=", "a=floats:", "a=floats:0", "a=floats:3x", "a=floats:x3", "a=int,a=int", ",",
      "1=int" } do
      fails(2, { "NAME=KIND", "`clcompute loops --help`" }, ("loops %s --arguments %s"):format(one, word))
    end
    fails(2, { "--size goes with --run" }, ("loops %s --size 8"):format(one))
    for _, size in ipairs { "-3", "0", "x" } do
      fails(2, { ("positive integer expected, got '%s'"):format(size) }, ("loops %s --run --size %s"):format(one, size))
    end
    fails(2, { "--device goes with --run" }, ("loops %s --device cpu"):format(one))
    fails(2, { "missing argument 'file'" }, "loops")
    fails(2, {}, ("loops %s --run --source"):format(one))
  end)
end)

describe("clcompute loops --run", function()
  it("calls a local, a global and a field in Lua and compiled, and compares", function()
    for name, shown in pairs { scale = "a: table of floats, 50; x = 1.5; n = 50",
      shift = "a: table of integers, 50; k = 3; n = 50" } do
      local out = try(name, "--size 50")
      assert.matches("^the file has run\n" .. shown, out)
      line_of(out, "Lua")
      assert.matches("^0 +0 +as in Lua$", (line_of(out, "where it pays")))
      assert.matches("^1 +800 +as in Lua$", (line_of(out, "all on device")))
      assert.matches("\n  nest_1: Lua: ", out, 1, true)
    end
    local out = try("sweep", "--size 20")
    assert.matches("a: table of floats, 20; n = 20; steps = 20", out, 1, true)
    assert.matches("nest_1: Lua: launches: %d+, ", out)
    assert.is_nil(out:find("all parallel nests", 1, true))
  end)

  it("tries all functions of a file, which runs once; what is wrong with one stops none", function()
    local code, out, err = run(("loops %s --run --size 30 --device %s"):format(sums, fast))
    assert.equal(1, code)
    assert.matches("^the file has run\nM.scale of [^\n]+sums.lua\na: table of floats, 30; x = 1.5; n = 30\n.-"
      .. "\n\nsweep of .-\n\nshift of .-\n\nM.waves of .-\n\nM.loop of [^\n]+sums.lua: refused\n\n"
      .. "M.stencil of [^\n]+sums.lua: stopped\n\ncall 2, s +Lua +where it pays +all on device +result\n", out)
    assert.equal(1, select(2, out:gsub("the file has run", "")))
    local rows = out:match "\ncall 2, s.*$"
    assert.matches("\nM.scale +[%d.]+ +[%d.]+ +[%d.]+ +as in Lua\n", rows)
    assert.matches("\nM.loop +– +– +– +refused\n", rows)
    assert.matches("\nM.stencil +– +– +– +stopped *\n?$", rows)
    assert.matches("^[^\n]+sums.lua:16:12: a string is not accepted[^\n]+\n[^\n]+\n +%^\n"
      .. "clcompute: M.stencil: b%[31%] is needed at line 19 [^\n]+\n$", err)
  end)

  it("finds functions that a file returns in a table, keeps under two names, or has no name for", function()
    local file = write(folder .. "/kept.lua", "local function twice(x) return 2 * x end\n"
      .. "local function fill(a, n) for i = 1, n do a[i] = twice(i) end end\n"
      .. "local M = { fill = fill }\nfunction M.list(a, n) for i = 1, n do a[i] = a[i] + 1 end end\n"
      .. "return { list = function(a, b, n) for i = 1, n do a[i] = b[i] end end, M }\n")
    local out = command.succeeds(("loops %s --run --size 9 --device %s"):format(file, fast))
    for name, arguments in pairs { fill = "a: table of floats, 9; n = 9", ["M.list"] = "a: table of floats, 9; n = 9",
      list = "a: table of floats, 9; b: table of floats, 9; n = 9" } do
      local head = ("\n%s of %s\n%s\n"):format(name, file, arguments)
      assert.matches(head, "\n" .. out, 1, true)
      assert.matches(("\n%s +[%%d.]+ +[%%d.]+ +[%%d.]+ +as in Lua"):format(name), out)
    end
    write(file, "local function twice(x) return 2 * x end\n"
      .. "return function(a, n) for i = 1, n do a[i] = twice(a[i]) end end\n")
    assert.matches("^a: table of floats, 9; n = 9\n", command.succeeds(("loops %s --run --size 9 --device %s")
      :format(file, fast)))
    write(file, "return { function(a) for i = 1, #a do a[i] = 1 end end,\n"
      .. "function(a) for i = 1, #a do a[i] = 2 end end }\n")
    local code, text, err = run(("loops %s --run --device %s"):format(file, fast))
    assert.same({ 1, "", file .. ":1: a function without a name is left out\n" .. file .. ":2: a function without a "
      .. "name is left out\nclcompute: " .. file .. ": no function with a loop has a name\n" }, { code, text, err })
  end)

  it("ends where the file or the device does, before any function", function()
    local boom = write(folder .. "/boom.lua", ONE .. ONE:gsub("only", "other") .. "error 'boom'")
    fails(1, { "boom.lua:3: boom" }, ("loops %s --run --device %s"):format(boom, fast))
    fails(1, { "no OpenCL device matches 'zork'" }, ("loops %s --run --device zork"):format(sums))
  end)

  it("passes buffers, sizes and numbers as it is told", function()
    local out = try("stencil", "--size 40 --arguments a=double,b=double:41")
    assert.matches("a: buffer of double, 40; b: buffer of double, 41; n = 40", out, 1, true)
    assert.matches("^1 +0 +as in Lua$", (line_of(out, "all on device")))
    assert.matches("a: table of floats, 128; x = 2; n = 7", try("scale", "--arguments x=2,n=7"), 1, true)
  end)

  it("is as wide as the terminal", function()
    for _, arguments in ipairs { "--function waves --run --size 1000 --device " .. fast, "--function sweep" } do
      local out = command.succeeds(("loops %s %s"):format(sums, arguments), "COLUMNS=60")
      for line in out:gmatch "[^\n]+" do assert.is_true(width.of(line) <= 60, line) end
      assert.is_nil(out:find "\n[^\n]*…", out)
    end
  end)

  it("ends with 1 where results differ", function()
    local other = write(folder .. "/other.lua", "function f(a, n) for i = 1, n do a[i] = math.sqrt(a[i] + 1) end end\n"
      .. "math = { sqrt = tonumber }\n") -- a global of the file, not seen in its text
    local code, out = run(("loops %s --run --size 10 --device %s"):format(other, fast))
    assert.equal(1, code)
    assert.matches("10 elements differ, by ", (line_of(out, "where it pays")), 1, true)
  end)

  it("takes differences of functions that OpenCL does not round as Lua, and names those", function()
    local out = try("waves", "--size 1000")
    assert.matches("\n^, math.sin: the last digits may differ, as OpenCL allows\n", out, 1, true)
    assert.is_nil(try("scale", "--size 10"):find("limits", 1, true))
  end)

  it("takes other roundings of sums that are shared out, and says so", function()
    local sum = write(folder .. "/sum.lua",
      "function sum(a, b, n) local s = 0.0 for i = 1, n do s = s + a[i] / 3 end b[1] = s end")
    local function shared(path, more)
      return command.succeeds(("loops %s --run %s --device %s"):format(path, more, fast))
    end
    local out = shared(sum, "--reduce tree --size 1000")
    assert.matches("\nsums and products that are shared out: the last digits may differ", out, 1, true)
    local most = write(folder .. "/most.lua",
      "function most(a, b, n) local s = 0.0 for i = 1, n do s = math.max(s, a[i]) end b[1] = s end")
    assert.matches("\nminima and maxima that are shared out: ", shared(most, "--reduce tree --size 100"), 1, true)
    assert.is_nil(shared(sum, "--size 10"):find("shared out", 1, true))
  end)

  it("makes flat arrays as long as their rows ask for", function()
    local flat = write(folder .. "/flat.lua",
      "function twice(a, n) for i = 1, n do for j = 1, n do a[(i - 1) * n + j] = 2 * a[(i - 1) * n + j] end end end")
    local out = command.succeeds(("loops %s --run --size 12 --device %s"):format(flat, fast))
    assert.matches("a: table of floats, 144;", out, 1, true)
    assert.matches("as in Lua", (line_of(out, "all on device")), 1, true)
  end)

  it("says what stops it", function()
    fails(1, { "clcompute: M.stencil: b[129] is needed at line 19 for n=128, but #b is 128; "
      .. "the values made up for a, b, n do not fit; --arguments says others" },
      ("loops %s --function stencil --run --device %s"):format(sums, fast))
    local bins = write(folder .. "/bins.lua",
      "function bins(h, x, n)\n  for i = 1, n do local k = math.floor(x[i] * 10) + 1\n    h[k] = h[k] + 1 end\nend")
    fails(1, { "clcompute: bins: line 3: attempt to perform arithmetic on a nil value (field '?'); "
      .. "the values made up for h, x do not fit; --arguments says others" },
      ("loops %s --run --arguments n=128 --device %s"):format(bins, fast))
    fails(1, { "'a' is a buffer of float, which Lua has not" },
      ("loops %s --run --device %s --arguments a=float"):format(one, fast))
    fails(1, { "'a' has rank 1, but 2 sizes were given" },
      ("loops %s --run --device %s --arguments a=floats:3x4"):format(one, fast))
    fails(1, { "'a' would have more than 67108864 elements" },
      ("loops %s --run --device %s --size 67108865"):format(one, fast))
    fails(1, { "no OpenCL device matches 'zork'" }, ("loops %s --run --device zork"):format(one))
    local boom = write(folder .. "/boom.lua", ONE .. "error 'boom'")
    fails(1, { "boom.lua:2: boom" }, ("loops %s --run --device %s"):format(boom, fast))
    local gone = write(folder .. "/gone.lua", "do local " .. ONE .. " end")
    fails(1, { "gone.lua has run, but its function of line 1 is in no local, global or table" },
      ("loops %s --run --device %s"):format(gone, fast))
    local twins = write(folder .. "/twins.lua", ONE:gsub("\n", " ") .. ONE:gsub("only", "other"))
    local code, _, err = run(("loops %s --function only --run --device %s"):format(twins, fast))
    assert.equal(1, code)
    assert.matches("2 functions of this line have the same parameters", err, 1, true)
  end)
end)

describe("the arguments", function()
  it("are read with their kinds, sizes and values", function()
    assert.same({ A = { word = "floats", sizes = { 100, 50 } }, B = { word = "double" },
      n = { word = "int", value = 7 }, x = { word = "float", value = 1.5 }, y = { word = "float" } },
      loops_trial.parse "A=floats:100x50, B=double,n=7,x=1.5,y=float")
  end)
end)

describe("a trial", function()
  it("does not count numbers that are computed before a call among the arguments", function()
    local file = write(folder .. "/halves.lua",
      "function half(x, n) for i = 1, math.floor(n / 2) do x[i] = 0.5 end end\n")
    assert.matches("^x: table of floats, 20; n = 8\n", command.succeeds(("loops %s --run --size 20 --arguments n=8 "
      .. "--device %s"):format(file, fast)))
    fails(1, { "no argument 'q'; there are: x, n\n" }, ("loops %s --arguments q=int"):format(file))
  end)

  --- The column of results where a function does not do what its compiled text does.
  local function result_of(text, fn, given)
    local device = helper.device()
    local compiled = assert(loops.compile(text, { device = device }))
    local presumed = require("clcompute.loops.explain").presume(compiled.state, { x = given })
    local shown, has_failed = loops_trial.run(fn, compiled, assert(loops.compile(text, { device = device,
      force = true })), { device = device, given = {}, size = 4, presumed = presumed })
    return shown, has_failed
  end

  it("tells of results that are longer, shorter or of other kinds than Lua's", function()
    local list = "function(x) local t = {} for i = 1, #x do t[i] = x[i] end return t end"
    local rows = "function(x) local t = {} for i = 1, #x do t[i] = { x[i], 2 } end return t end"
    local function first(n)
      return function(x) return table.move(x, 1, n, 1, {}) end
    end
    local function pairs_of(n, count)
      return function(x)
        local t = {}
        for i = 1, n do t[i] = table.move({ x[i], 2, 3 }, 1, count, 1, {}) end
        return t
      end
    end
    for _, given in ipairs { "floats", "double" } do
      for _, case in ipairs {
        { list, first(4), 0 }, { list, first(3), 1 },
        { list, function(x) return { x[1], x[2], x[3], x[4], 5, 6 } end, 2 },
        { list, function() return {} end, 4 }, { list, function() return 1 end, 1 }, { list, function() end, 1 },
        { rows, pairs_of(4, 2), 0 }, { rows, pairs_of(3, 2), 1 }, { rows, pairs_of(4, 1), 4 },
        { rows, pairs_of(6, 2), 2 }, { rows, pairs_of(4, 3), 4 },
      } do
        local text, fn, alone = table.unpack(case)
        local function in_lua(x) return fn(type(x) == "userdata" and x:read() or x) end
        local shown, has_failed = result_of(text, in_lua, given)
        assert.equal(alone > 0, has_failed, shown)
        assert.matches(alone == 0 and "as in Lua" or ("%d elements or rows are in one"):format(alone), shown, 1, true)
      end
    end
  end)
end)
