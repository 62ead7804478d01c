-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"
local baseline = require "clcompute.papers.polykernels.baseline"
local loops = require "clcompute.loops"
local data = require "clcompute.papers.polykernels.data"
local native = require "clcompute.native"
local rows = require "clcompute.papers.polykernels.rows"

describe("random data", function()
  it("is the same for a seed, and within its bounds", function()
    local function make(seed) return data.array({ 3, 5 }, data.generator(seed), 2, 4) end
    local first = make(7)
    assert.same(first, make(7))
    assert.is_false((data.equal(first, make(8))))
    assert.equal(3, #first)
    for _, list in ipairs(first) do
      assert.equal(5, #list)
      for _, x in ipairs(list) do assert.is_true(x >= 2 and x < 4) end
    end
  end)

  it("is copied in depth", function()
    local array = { { 1, 2 }, { 3, 4 } }
    local copy = data.copy(array)
    copy[2][1] = 5
    assert.same({ { 1, 2 }, { 3, 4 } }, array)
    assert.same({ { 1, 2 }, { 5, 4 } }, copy)
  end)

  it("is compared bit by bit", function()
    local nan = 0 / 0
    assert.is_true((data.equal({ 1, nan, -0.0 }, { 1.0, -nan, -0.0 })))
    for _, pair in ipairs { { { 0.0 }, { -0.0 } }, { { 1 }, { nan } }, { { nan }, { 1 } }, { { 1 }, { 1, 2 } },
      { { { 1 } }, { 1 } }, { { 1 }, { 1 + 2 ^ -52 } } } do
      assert.is_false((data.equal(pair[1], pair[2])))
    end
    assert.equal("[2][1]: 3 and 4", select(2, data.equal({ { 1 }, { 3 } }, { { 1 }, { 4 } })))
  end)
end)

describe("the calls of native functions", function()
  it("refuse what is no library, function or list", function()
    helper.raises("/none.so", native.call, "/none.so", "f", {}, {}, {})
    local row = rows.load "mmm"
    local compiled <close> = assert(baseline.compile { row })
    helper.raises({ compiled.path, "nothing" }, native.call, compiled.path, "nothing", {}, {}, {})
    helper.raises("integers", native.call, compiled.path, "mmm", { 0.5 }, {}, {})
    helper.raises("numbers", native.call, compiled.path, "mmm", { 0 }, { "x" }, {})
    helper.raises("strings", native.call, compiled.path, "mmm", { 0 }, {}, { 1 })
  end)
end)

describe("the PolyKernels", function()
  local all = rows.all()

  it("are a row a file", function()
    local pipe = assert(io.popen "ls examples/polykernels")
    local files = {}
    for name in pipe:lines() do files[#files + 1] = name end
    pipe:close()
    local expected = { "refusal.lua" }
    for i, row in ipairs(all) do
      assert.equal(rows.NAMES[i], row.name)
      expected[#expected + 1] = row.name .. ".lua"
    end
    table.sort(files)
    table.sort(expected)
    assert.same(expected, files)
  end)

  it("write their results, and nothing else", function()
    for _, row in ipairs(all) do
      local before = row.arguments(7)
      local after = data.copies(before)
      row.run(table.unpack(after))
      local written = {}
      for _, position in ipairs(row.written) do written[position] = true end
      for i in ipairs(before) do
        assert.equal(not written[i], (data.equal(before[i], after[i])), ("%s: argument %d"):format(row.name, i))
      end
    end
  end)

  for _, case in ipairs { { "alone", {} }, { "with threads", { openmp = true } } } do
    it("compute what their loops in C do, " .. case[1], function()
      local compiled <close> = assert(baseline.compile(all, case[2]))
      for _, row in ipairs(all) do
        for _, n in ipairs { 0, 1, 2, 3, 7, 16, 33 } do
          local arguments = row.arguments(n, 3, helper.seed)
          local packed = baseline.pack(row, arguments)
          local after = compiled:run(row, packed)
          row.run(table.unpack(arguments))
          for i, name in ipairs(row.results) do
            assert.is_true(data.pack(arguments[row.written[i]]) == after[name],
              ("%s, n = %d: %s differs"):format(row.name, n, name))
          end
        end
      end
    end)
  end
end)

-- --- as kernels -------------------------------------------------------------------

--- Which loops no order of the paper's makes parallel: these run in Lua whatever is asked.
local SEQUENTIAL = { gs = true, sor = true, trisolv_if = true }

--- Rounds all elements to float.
local function round(value)
  if math.type(value) then return (string.unpack("f", string.pack("f", value))) end
  local list = {}
  for i, item in ipairs(value) do list[i] = round(item) end
  return list
end

helper.describe_each("the PolyKernels by clcompute.loops", function(device)
  local simulator = helper.is_simulator(device)
  local sizes = simulator and { 0, 1, 2, 3, 7 } or { 0, 1, 2, 3, 7, 64, 65 }

  --- Compiles a row, runs it and Lua on copies of the same arguments, and compares all of them.
  local function compare(row, f, n, what, to_device, from_device)
    local arguments = row.arguments(n, 2, helper.seed)
    local ours = {}
    for i, value in ipairs(arguments) do ours[i] = type(value) == "table" and to_device(value) or value end
    row.run(table.unpack(arguments))
    f(table.unpack(ours))
    for i, value in ipairs(arguments) do
      local same, where = data.equal(value, type(value) == "table" and from_device(ours[i]) or ours[i])
      assert.is_true(same, ("%s on %s, n = %d, argument %d%s"):format(row.name, what, n, i, where or ""))
    end
  end

  for _, row in ipairs(rows.all()) do
    it("compute what Lua does: " .. row.name, function()
      local f = assert(loops.compile(row.run, { device = device, heuristics = "none" }))
      for _, n in ipairs(sizes) do
        compare(row, f, n, "tables", data.copy, function(value) return value end)
        if n > 0 then
          compare(row, f, n, "buffers", function(value) return device:buffer(value, "double") end,
            function(buffer) return buffer:read() end)
        end
      end
      assert.equal(SEQUENTIAL[row.name] ~= nil, f:stats().launches == 0)
    end)
  end
end)
