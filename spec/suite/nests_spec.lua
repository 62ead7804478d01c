-- SPDX-License-Identifier: MIT
--- The functions for which the loop compiler was not made compute in C, in nests and as one work-item what they compute
-- in Lua, and what makes some of them fast is there.

local baseline = require "clcompute.suite.baseline"
local data = require "clcompute.suite.data"
local decision = require("clcompute.loops.runtime").decision
local helper = require "spec.helper"
local loops = require "clcompute.loops"
local rows = require "clcompute.suite.polykernels"

local SIZES = { 3, 7, 33 }

--- The rows whose results are Lua's to the bit.
local function exact_rows()
  local list = {}
  for _, name in ipairs(rows.NESTS) do
    local row = rows.load(name)
    if not row.has_transcendental then list[#list + 1] = row end
  end
  return list
end

describe("further functions", function()
  it("are a row a file", function()
    local pipe, files, expected = assert(io.popen "ls examples/nests"), {}, {}
    for name in pipe:lines() do files[#files + 1] = name end
    pipe:close()
    for i, name in ipairs(rows.NESTS) do
      expected[i] = name .. ".lua"
      assert.equal(name, rows.load(name).name)
    end
    table.sort(expected)
    assert.same(expected, files)
  end)

  for _, case in ipairs { { "alone", {} }, { "with threads", { openmp = true } } } do
    it("compute what their loops in C do, " .. case[1], function()
      local all = exact_rows()
      local compiled <close> = assert(baseline.compile(all, case[2]))
      for _, row in ipairs(all) do
        for _, n in ipairs(SIZES) do
          local arguments = row.arguments(n, 3, helper.seed)
          local after = compiled:run(row, baseline.pack(row, arguments))
          row.run(table.unpack(arguments))
          for i, name in ipairs(row.results) do
            local dtype = row.parameters[row.written[i]].integers and "long" or "double"
            assert.is_true(data.pack(arguments[row.written[i]], dtype) == after[name],
              ("%s, n = %d: %s differs"):format(row.name, n, name))
          end
        end
      end
    end)
  end
end)

-- --- compiled -----------------------------------------------------------------------

local device = helper.device()

local function dtype_of(row, i) return row.parameters[i].integers and "long" or "double" end

--- Whether two arrays hold the same, but for the last digits of `exp` and `log`.
local function are_equal(row, expected, found)
  if type(expected) ~= "table" then
    if row.has_transcendental then return math.abs(expected - found) <= 1e-13 * math.max(1.0, math.abs(expected)) end
    return expected == found or expected ~= expected and found ~= found
  end
  for i, value in ipairs(expected) do
    if not are_equal(row, value, found[i]) then return false end
  end
  return #expected == #found
end

--- Runs a row in Lua and compiled, on buffers.
local function compare(row, f, n)
  local lua, ours = row.arguments(n, 3, helper.seed), row.arguments(n, 3, helper.seed)
  row.run(table.unpack(lua))
  for i, value in ipairs(ours) do
    if type(value) == "table" then ours[i] = device:buffer(value, dtype_of(row, i)) end
  end
  f(table.unpack(ours))
  for i, value in ipairs(lua) do
    if type(value) == "table" then
      assert.is_true(are_equal(row, value, ours[i]:read()), ("%s, n = %d, argument %d"):format(row.name, n, i))
    end
  end
end

--- Runs a function with a choice for each nest of its plan.
local function with_choice(chosen, f)
  local make = decision.make
  decision.make = function(_, spec)
    local on_device = {}
    for i, kernel in ipairs(spec.plan.kernels) do on_device[i] = chosen(kernel) end
    return { on_device = on_device, reasons = {}, is_spread = on_device }
  end
  local ok, message = pcall(f)
  decision.make = make
  assert(ok, message)
end

describe("further functions by clcompute.loops", function()
  for _, name in ipairs(rows.NESTS) do
    it("compute what Lua does, in nests and as one work-item: " .. name, function()
      if device.type ~= "cpu" then return pending "no processor is here" end
      local row = rows.load(name)
      local f <close> = assert(loops.compile(row.run, { device = device }))
      for _, n in ipairs(SIZES) do
        with_choice(function() return true end, function() compare(row, f, n) end)
        with_choice(function(kernel) return not kernel.is_task or not kernel.instead end,
          function() compare(row, f, n) end)
      end
      assert.is_true(f:stats().launches > 0)
    end)
  end

  --- The source of a row's kernels.
  local function source_of(name)
    local f <close> = assert(loops.compile(rows.load(name).run, { device = device, target = "cpu" }))
    return f:source()
  end

  it("have no loop left for the passes of a window", function()
    for _, name in ipairs { "conv2d", "conv3d", "box_blur", "dilate" } do
      assert.is_nil(source_of(name):find("long p_%d+ ="))
    end
  end)

  it("have tiles in registers where other statements have nests of their own", function()
    for _, name in ipairs { "correlation", "covariance" } do assert.matches("TILE_%dx%d", source_of(name)) end
  end)

  it("are cut where that makes vectors", function()
    assert.matches("long j_%d+ = 1, j_%d+_last = k_%d+ %- 1;", source_of "floyd_warshall")
    assert.matches("long j_%d+ = k_%d+ %+ 1, ", source_of "floyd_warshall")
  end)

  it("have strips of a lane in one work-item", function()
    assert.matches("double w_%d+%[512%];\n *VECTORS", source_of "ludcmp")
  end)

  it("have exponents in a loop of their own", function()
    local text = source_of "softmax"
    assert.matches("VECTORS_4\n[^\n]*\n *for [^\n]*\n[^\n]*\n *y_2[^\n]* = exp_double%(", text)
  end)

  it("have several vectors at once where numbers wait long, as many as registers hold", function()
    for name, vectors in pairs { box_blur = "VECTORS_4", black_scholes = "VECTORS_2", heat3d = "VECTORS",
      sobel = "VECTORS" } do
      assert.matches(("\n *%s\n"):format(vectors), source_of(name))
      for _, other in ipairs { "VECTORS_2", "VECTORS_4" } do
        if other ~= vectors then assert.not_matches(("\n *%s\n"):format(other), source_of(name)) end
      end
    end
  end)

  it("leave no vectors' passes to be done one by one", function()
    local text = source_of "conv3d"
    assert.matches("VECTORS_4\n[^\n]*\n *for .-\n *VECTORS\n[^\n]*\n *for .-\n *LEFT_OVER\n[^\n]*\n *for ", text)
  end)

  it("gather what lies apart", function()
    assert.matches("double x_1_i_%d+_of1%[512%];", source_of "kmeans")
    assert.matches("choose_int%(i_%d+_holds", source_of "kmeans")
  end)
end)

describe("e^x and logarithms of kernels on a processor", function()
  --- How far a result is from the right one, in units of its last digit.
  local function ulps(expected, found, digits)
    if expected ~= expected or found ~= found then return (expected ~= expected) == (found ~= found) and 0 or 1e9 end
    if expected == found then return 0 end
    local exponent = math.floor(math.log(math.abs(expected), 2)) + 1
    return math.abs(expected - found) / 2.0 ^ math.max(exponent - digits, digits == 24 and -149 or -1074)
  end

  local INPUTS = { 0.0, -0.0, 1.0, math.huge, -math.huge, 0 / 0, -1.0, 5e-324, 1e-310, 709.7, 709.79, -708.5, -745.0,
    -745.2, -1e300, 1e300, 88.7, 88.8, -87.5, -103.0, -104.0, 1e-40, 1e-45 }

  for _, dtype in ipairs { "double", "float" } do
    it("are right but for their last digit, in " .. dtype .. "s", function()
      if device.type ~= "cpu" then return pending "no processor is here" end
      local digits = dtype == "double" and 53 or 24
      local values = {}
      for _, x in ipairs(INPUTS) do
        if dtype == "double" or not (math.abs(x) > 3e38 and math.abs(x) < math.huge) then values[#values + 1] = x end
      end
      for _ = 1, 4000 do
        values[#values + 1] = (math.random() - 0.5) * 2.0 ^ math.random(-3, dtype == "double" and 10 or 7)
        values[#values + 1] = 2.0 ^ ((math.random() - 0.5) * (dtype == "double" and 2000 or 240))
        values[#values + 1] = 0.5 + math.random()
      end
      for _, name in ipairs { "exp", "log" } do
        local f <close> = assert(loops.compile(("function(x, y) for i = 1, #x do y[i] = math.%s(x[i]) end end"):format(
          name), { device = device, force = true, mode = dtype == "float" and "fast" or "exact" }))
        local x <close> = device:buffer(values, dtype)
        local y <close> = device:zeros(dtype, #values)
        f(x, y)
        local given, found = x:read(), y:read()
        for i, value in ipairs(given) do
          local expected = math[name](value)
          if dtype == "float" then expected = string.unpack("f", string.pack("f", expected)) end
          assert.is_true(ulps(expected, found[i], digits) <= 2, ("%s(%g) is %g"):format(name, value, found[i]))
        end
      end
    end)
  end
end)
