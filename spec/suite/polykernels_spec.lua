-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"
local baseline = require "clcompute.suite.baseline"
local loops = require "clcompute.loops"
local shapes = require "spec.support.loop_shapes"
local data = require "clcompute.suite.data"
local native = require "clcompute.native"
local process = require("clcompute.base").process
local rows = require "clcompute.suite.polykernels"

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

  it("is a matrix whose diagonal dominates where no pivoting is to be needed", function()
    local n = 3
    for seed = 1, 30 do
      local matrix = data.dominant("double", n, seed)
      for i = 0, n - 1 do
        local others = 0
        for j = 0, n - 1 do
          others = others + (j == i and 0 or math.abs(string.unpack("d", matrix, 8 * (n * i + j) + 1)))
        end
        assert.is_true(others < string.unpack("d", matrix, 8 * (n + 1) * i + 1))
      end
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

describe("loops in C", function()
  it("are not compiled where there is no gcc, and say what gets it", function()
    local find = process.find
    finally(function() process.find = find end)
    process.find = function(program) return program ~= "gcc" and find(program) or nil end
    local compiled, lack = baseline.compile { rows.load "mmm" }
    assert.is_nil(compiled)
    assert.matches("there is no gcc: apt-get install gcc", lack, 1, true)
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

-- No loop of these is parallel in its order: on a processor without pipelines they run in Lua whatever is asked, on a
-- GPU in wavefronts.
local SEQUENTIAL = { gs = true, sor = true, trisolv_if = true }

--- A nested table whose elements are rounded when they are stored, as those of a buffer of floats are.
local function rounding(list)
  local inner = {}
  local function store(_, i, value) inner[i] = string.unpack("f", string.pack("f", value)) end
  for i, item in ipairs(list) do
    if type(item) == "table" then inner[i] = rounding(item) else store(nil, i, item) end
  end
  return setmetatable({}, { __index = inner, __newindex = store, __len = function() return #inner end })
end

helper.describe_each("the PolyKernels by clcompute.loops", function(device)
  local sizes = helper.is_simulator(device) and { 0, 1, 5 }
    or helper.long { 0, 1, 2, 3, 7, 64, 65 } or { 0, 1, 2, 7, 33 }

  --- By what arrays are made: for Lua, for the compiled function, and as a table after it.
  local FORMS = {
    table = { lua = data.copy, ours = data.copy, read = function(value) return value end },
    double = { lua = data.copy, ours = function(value) return device:buffer(value, "double") end,
      read = function(buffer) return buffer:read() end },
    float = { lua = rounding, ours = function(value) return device:buffer(value, "float") end,
      read = function(buffer) return buffer:read() end },
  }

  local function arrays(arguments, make)
    local list = {}
    for i, value in ipairs(arguments) do list[i] = type(value) == "table" and make(value) or value end
    return list
  end

  --- Runs a row in Lua and compiled, and compares all arrays.
  local function compare(row, f, n, form)
    local arguments = row.arguments(n, 2, helper.seed)
    local lua, ours = arrays(arguments, FORMS[form].lua), arrays(arguments, FORMS[form].ours)
    row.run(table.unpack(lua))
    f(table.unpack(ours))
    for i, value in ipairs(lua) do
      if type(value) == "table" then
        local same, where = data.equal(value, FORMS[form].read(ours[i]))
        assert.is_true(same, ("%s, %s, n = %d, argument %d%s"):format(row.name, form, n, i, where or ""))
      end
    end
  end

  --- The shapes that a row is tried in: all of them, or one, so that each has some rows.
  local function shapes_for(index)
    local others = table.move(shapes, 2, #shapes, 1, {})
    return helper.long(others) or { others[1 + (index + helper.seed) % #others] }
  end

  --- The forms that a row is tried in: all of them, or one, so that each has some rows; the largest in doubles.
  local function forms_for(index, n)
    if n == 0 then return { "table" } end -- a buffer has elements
    if n > 32 and n ~= 65 then return { "double" } end
    local forms = { "table", "double", "float" }
    return (helper.long(true) or helper.is_simulator(device)) and forms or { forms[1 + (index + helper.seed) % 3] }
  end

  for index, row in ipairs(rows.all()) do
    it("compute what Lua does: " .. row.name, function()
      local f <close> = assert(loops.compile(row.run, { device = device, heuristics = "none" }))
      for _, n in ipairs(sizes) do
        for _, form in ipairs(forms_for(index, n)) do compare(row, f, n, form) end
      end
      local is_in_lua = device.type == "cpu" and not helper.has_threads(device) and SEQUENTIAL[row.name] ~= nil
      assert.equal(is_in_lua, f:stats().launches == 0)
    end)

    it("compute what Lua does in kernels of other shapes: " .. row.name, function()
      for _, shape in ipairs(shapes_for(index)) do
        local f <close> = assert(loops.compile(row.run, { device = device, heuristics = "none", target = shape.target,
          tiles = shape.tiles }))
        for _, n in ipairs { 2, helper.is_simulator(device) and 5 or 23 } do compare(row, f, n, "double") end
      end
    end)
  end
end)

describe("the paper's rules", function()
  it("take of the PolyKernels those that the paper made faster on tables, and trisolv", function()
    local taken = {}
    for _, row in ipairs(rows.all()) do
      local f <close> = assert(loops.compile(row.run, { device = helper.device(), heuristics = "paper" }))
      f(table.unpack(row.arguments(7, 2)))
      if f:stats().launches > 0 then taken[#taken + 1] = row.name end
    end
    assert.same({ "mmm", "ssymm", "tmm", "trisolv" }, taken)
  end)
end)

-- --- the report -------------------------------------------------------------------

describe("the report of the PolyKernels", function()
  local device = helper.device()

  local function row_of(list, method)
    for _, row in ipairs(list) do if row.params.method == method then return row end end
    error("no row of " .. method)
  end

  it("leaves the refusal set to Lua, within 5 % of its time, and shows the loss without heuristics", function()
    local measured = require "clcompute.suite.refusal"({ devices = { device }, quick = true, seconds = 0.5 }).rows
    local with, without = row_of(measured, "loops"), row_of(measured, "forced")
    for _, row in ipairs { with, without } do assert.is_true(row.checked, row.reason) end
    assert.equal(0, with.launches)
    assert.is_true(with.ratio_low <= 1.05, ("%.3f times Lua's time"):format(with.ratio))
    assert.is_true(without.launches > 0)
    assert.is_true(without.ratio_low > 1)
  end)

  helper.on_cpu("measures kernels in all forms, checked, beside the paper's", function()
    local report = require "clcompute.report"
    local document = require "clcompute.suite".report("polykernels", { devices = { device }, quick = true,
      kernels = { "mmm", "gs" } })
    local by_kernel = { mmm = {}, gs = {} }
    for _, row in ipairs(document.sections[1].rows) do table.insert(by_kernel[row.kernel_name], row) end
    for _, list in pairs(by_kernel) do
      assert.equal(6, #list)
      for _, row in ipairs(list) do
        if row.status ~= "unsupported" then assert.is_true(row.checked or row.name == "Lua", row.reason) end
      end
    end
    assert.equal("unsupported", row_of(by_kernel.gs, "gcc, OpenMP").status)
    assert.equal(helper.has_threads(device) and "taken" or "in Lua", row_of(by_kernel.gs, "forced").verdict)
    local taken = row_of(by_kernel.mmm, "forced")
    assert.same({ "taken", 1, 2, 1 }, { taken.verdict, taken.launches, taken.uploads, taken.downloads })
    assert.same({ 2 * 128 * 128 * 8, 128 * 128 * 8 }, { taken.bytes_up, taken.bytes_down })
    for _, row in ipairs(document.sections[2].rows) do
      assert.equal(by_kernel[row.name] ~= nil, row.loops ~= nil and row.buffers ~= nil and row.gcc == 1)
      local expected = ({ mmm = "faster, faster", mvt = "slower, faster", jac = "same, same" })[row.name]
      assert.equal(expected or row.paper_verdict, row.paper_verdict)
    end
    local text = report.text(document)
    for _, part in ipairs { "x37.9", "wupwise", "test_fpu", "refusal set", "licence" } do
      assert.truthy(text:find(part, 1, true), part)
    end
    assert.truthy(report.html(document):find("<svg", 1, true))
  end)
end)
