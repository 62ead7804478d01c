-- SPDX-License-Identifier: MIT
--- Sequential loops as kernels of one work-item, where the model says that they pay.

local helper = require "spec.helper"
local decision = require("clcompute.loops.runtime").decision
local loops = require "clcompute.loops"

local SWEEP = [[function(a, n)
  for i = 2, n do for j = 2, n do a[i][j] = (a[i - 1][j] + a[i][j - 1]) * 0.5 + a[i][j] end end
end]]

local function matrix(n) return helper.matrix(n, n) end

describe("a sequential nest", function()
  local device = helper.device()

  it("runs on a processor where its buffers are, with the results of Lua", function()
    if device.type ~= "cpu" then return pending "no processor is here" end
    local n = 150
    for _, dtype in ipairs { "double", "float" } do
      local values = matrix(n)
      local buffer, expected = device:buffer(values, dtype), device:buffer(values, dtype):read()
      local f = assert(load("return " .. SWEEP))()
      local compiled = assert(loops.compile(SWEEP, { device = device }))
      for _ = 1, 3 do compiled(buffer, n) end
      if dtype == "double" then
        for _ = 1, 3 do f(expected, n) end
        assert.same(expected, buffer:read())
      else
        local forced = assert(loops.compile(SWEEP, { device = device, force = false }))
        local other = device:buffer(values, "float")
        for _ = 1, 3 do forced(other, n) end
        assert.same(other:read(), buffer:read())
      end
      for _ = 1, 400 do compiled(buffer, n) end -- until building has paid
      assert.is_true(compiled:stats().launches > 0)
      assert.matches(helper.has_threads(device) and "nest_1, line 2: work%-items %(j, i%) in tiles, whose rows overlap"
        or "nest_1, line 2: one work%-item", compiled:explain())
    end
  end)

  local PREFIX = [[function(x, y, n)
    local s = 0.0
    for i = 1, n do
      s = s + x[i]
      y[i] = s
    end
  end]]
  local DURBIN = [[function(r, y, z, n)
    y[1] = -r[1]
    local beta, alpha = 1.0, -r[1]
    for k = 2, n do
      beta = (1 - alpha * alpha) * beta
      local sum = 0.0
      for i = 1, k - 1 do sum = sum + r[k - i] * y[i] end
      alpha = -(r[k] + sum) / beta
      for i = 1, k - 1 do z[i] = y[i] + alpha * y[k - i] end
      for i = 1, k - 1 do y[i] = z[i] end
      y[k] = alpha
    end
  end]]
  local ATAX = [[function(a, x, y, n)
    for j = 1, n do y[j] = 0.0 end
    for i = 1, n do
      local t = 0.0
      for j = 1, n do t = t + a[i][j] * x[j] end
      for j = 1, n do y[j] = y[j] + a[i][j] * t end
    end
  end]]
  local GRAMSCHMIDT = [[function(a, r, q, n)
    for k = 1, n do
      local norm = 0.0
      for i = 1, n do norm = norm + a[i][k] * a[i][k] end
      r[k][k] = math.sqrt(norm)
      for i = 1, n do q[i][k] = a[i][k] / r[k][k] end
      for j = k + 1, n do
        r[k][j] = 0.0
        for i = 1, n do r[k][j] = r[k][j] + q[i][k] * a[i][j] end
        for i = 1, n do a[i][j] = a[i][j] - q[i][k] * r[k][j] end
      end
    end
  end]]
  local HISTOGRAM = [[function(x, count, n, bins)
    for i = 1, n do
      for b = 1, bins do
        if x[i] * bins >= b - 1 and x[i] * bins < b then count[b] = count[b] + 1 end
      end
    end
  end]]

  local function vector(n) return matrix(n)[1] end

  --- Values of calls, in tables, by function.
  local function arguments(text, n)
    if text == PREFIX then return { vector(n), vector(n), n } end
    if text == DURBIN then return { vector(n), vector(n), vector(n), n } end
    if text == ATAX then return { matrix(n), vector(n), vector(n), n } end
    if text == GRAMSCHMIDT then return { matrix(n), matrix(n), matrix(n), n } end
    return { vector(n), vector(3), n, 3 }
  end

  it("may be statements with their locals, or a loop with nests in it; either way results are Lua's", function()
    if device.type ~= "cpu" then return pending "no processor is here" end
    local n = 40
    for _, text in ipairs { PREFIX, DURBIN, ATAX, GRAMSCHMIDT, HISTOGRAM } do
      for _, dtype in ipairs { "double", "float" } do
        local values, verdicts = arguments(text, n), {}
        local function buffers()
          local list = {}
          for i, value in ipairs(values) do
            list[i] = type(value) == "table" and device:buffer(value, dtype) or value
          end
          return list
        end
        local function results(list)
          local read = {}
          for i, value in ipairs(list) do read[i] = type(value) == "number" and value or value:read() end
          return read
        end
        local expected = buffers()
        assert(loops.compile(text, { device = device, force = false }))(table.unpack(expected))
        if dtype == "double" then
          assert(load("return " .. text))()(table.unpack(values))
          for i, value in ipairs(results(expected)) do assert.same(values[i], value) end
          values = arguments(text, n)
          expected = buffers()
          assert(loops.compile(text, { device = device, force = false }))(table.unpack(expected))
        end
        expected = results(expected)
        local compiled = assert(loops.compile(text, { device = device }))
        local function run()
          local list = buffers()
          compiled(table.unpack(list))
          assert.same(expected, results(list))
          return compiled.state.latest
        end
        local latest = run()
        local kernels, costs = latest.spec.plan.kernels, latest.place.costs
        costs.build, costs.load = 0.0, 0.0
        for _ = 1, 8 do run() end
        -- and with one work-item for all that may be, with none, and with every other choice of nests
        for choice = 0, 2 ^ #kernels - 1 | 0 do
          local on_device = {}
          for i in ipairs(kernels) do on_device[i] = choice >> (i - 1) & 1 == 1 end
          verdicts[#verdicts + 1] = on_device
        end
        local decide = decision.make
        for _, on_device in ipairs(verdicts) do
          decision.make = function() return { on_device = on_device, reasons = {}, is_spread = on_device } end
          local ok, message = pcall(run)
          decision.make = decide
          assert(ok, message)
        end
      end
    end
  end)

  local function is_side_by_side(compiled) return compiled:source():find "_row %+ [37] <=" ~= nil end

  local function call_on_device(...) assert(helper.call_on_device(4, ...)) end

  --- A sweep over rows in which numbers wait for neighbours that have theirs, and perhaps for others further away.
  local function random_sweep()
    local terms = {}
    for i = 1, math.random(1, 5) do
      terms[i] = ("a[i + %d][j + %d]"):format(math.random(-2, 2), math.random(-3, 3))
    end
    local value = ("(a[i][j - 1] + %s) * 0.25"):format(table.concat(terms, " + "))
    local body = ({ "a[i][j] = a[i][j] > 0.5 and a[i][j - 1] + 0.125 or math.max(a[i - 1][j], 0.5 * a[i - 1][j - 1])",
      "local t = %s; if a[i - 1][j] > 0.5 then t = t + 0.125 end; a[i][j] = math.min(t, a[i - 1][j] + 0.25)",
      "a[i][j] = %s", "local t = %s; a[i][j] = t - a[i][j] * 0.5", "a[i][j] = %s + 0.125 * j - i",
      "a[i][j] = math.max(a[i][j - 1], %s)", "local t = 1; t = t + j; a[i][j] = %s + t",
      "a[i][j] = a[i - 1][j] > 0.5 and %s or a[i][j - 1]" })[math.random(8)]:format(value)
    return ([[function(a, n, m, first)
      for _ = 1, 2 do for i = 3, m do for j = first, n do %s end end end
    end]]):format((body:gsub("%+ %-", "- ")))
  end

  it("has rows side by side where isl proves that right, with the results of Lua", function()
    if device.type ~= "cpu" then return pending "no processor is here" end
    local count = 0
    for _ = 1, helper.long(300) or 25 do
      local text = random_sweep()
      local compiled = assert(loops.compile(text, { device = device }))
      for _, size in ipairs { { 7, 6, 4 }, { 9, 13, 4 }, { 10, 9, 4 }, { 3, 9, 4 }, { 6, 2, 5 }, { 40, 31, 4 } } do
        local n, m, first = table.unpack(size)
        local values = matrix(50)
        local buffer = device:buffer(values, "double")
        assert(load("return " .. text))()(values, n, m, first)
        call_on_device(compiled, buffer, n, m, first)
        assert.same(values, buffer:read(), text)
      end
      count = count + (is_side_by_side(compiled) and 1 or 0)
    end
    assert.is_true(count > 5)
  end)

  it("has its rows one after the other where a later pass of the first row is needed", function()
    if device.type ~= "cpu" then return pending "no processor is here" end
    for text, is_skewed in pairs { -- nor where nothing waits, as a choice is guessed
      ["function(a, n) for i = 2, n do for j = 2, n do if a[i][j] > 0 then a[i][j] = a[i][j - 1] end end end end"] =
        false,
      ["function(a, n) for i = 2, n do for j = 2, n do "
        .. "a[i][j] = a[i][j] > 0 and a[i][j - 1] / 3 or a[i - 1][j] end end end"] = false,
      ["function(a, n) for i = 2, n do for j = 2, n do " -- of which both sides are computed
        .. "a[i][j] = a[i][j] > 0 and a[i][j - 1] - 3 or a[i - 1][j] end end end"] = true,
      ["function(a, n) for i = 2, n do for j = 2, n do a[i][j] = a[i][j - 1] + a[i - 1][j + 2] end end end"] = true,
      ["function(a, n) for i = 2, n do for j = 2, n do a[i][j] = a[i][j - 1] + a[i - 1][j + 3] end end end"] = false,
      ["function(a, n) for i = 2, n do for j = 2, n do a[1][j] = a[1][j - 1] + a[i][j] end end end"] = false,
      ["function(a, n) for i = 2, n do for j = 2, i do a[i][j] = a[i][j - 1] + a[i - 1][j] end end end"] = true,
      ["function(a, n) for i = 2, n do for j = 2, n - 2 * i do " -- rows that end long after those behind them
        .. "a[i][j] = a[i][j - 1] + a[i - 1][j] end end end"] = true,
      ["function(a, n) for i = 2, n do for j = 2, n do a[i][j] = a[i][j - 1] + a[n][2] end end end"] = false,
    } do
      local compiled, values = assert(loops.compile(text, { device = device })), matrix(50)
      local buffer = device:buffer(values, "double")
      assert(load("return " .. text))()(values, 40)
      call_on_device(compiled, buffer, 40)
      assert.same(values, buffer:read())
      assert.equal(is_skewed, is_side_by_side(compiled), text)
    end
  end)

  it("has no rows side by side where a row leaves its elements from pass to pass", function()
    if device.type ~= "cpu" then return pending "no processor is here" end
    for text, n in pairs {
      ["function(a, n) for i = 2, n do for j = 2, n do "
        .. "a[i + j][j] = 0.25 * (a[i + j - 1][j - 1] + a[i + j][j - 1]) + a[i + j][j] end end end"] = 24,
      ["function(a, n) for i = 2, n do for j = 2, n do "
        .. "a[i - j + n][j] = 0.25 * (a[i - j + n + 1][j - 1] + a[i - j + n][j - 1]) end end end"] = 23,
    } do
      local compiled, values = assert(loops.compile(text, { device = device })), matrix(50)
      local buffer = device:buffer(values, "double")
      assert(load("return " .. text))()(values, n)
      call_on_device(compiled, buffer, n)
      assert.same(values, buffer:read())
      assert.is_false(is_side_by_side(compiled))
    end
  end)

  it("is said to have run in place of the nests that it is without", function()
    if device.type ~= "cpu" then return pending "no processor is here" end
    local compiled = assert(loops.compile("function(a, b, n)\n  for t = 1, n do\n"
      .. "    for i = 1, n do b[i] = 2 * a[i] end\n    for i = 1, n do a[i] = 3 * b[i] end\n  end\nend",
      { device = device }))
    local a, b, decide = device:zeros("double", 9), device:zeros("double", 9), decision.make
    for _, case in ipairs { { "Lua", "Lua", { false, false, false } },
      { "not run, nest_3 took its place", "device", { false, false, true } } } do
      local told = { "told", "told", "told" }
      decision.make = function() return { on_device = case[3], reasons = told, is_spread = {} } end
      local ok, message = pcall(compiled, a, b, 9)
      decision.make = decide
      assert(ok, message)
      assert.matches(("\n  nest_1: %s: [^\n]+\n  nest_2: %s: [^\n]+\n  nest_3: %s: "):format(case[1], case[1], case[2]),
        compiled:explain())
    end
  end)

  it("is chosen where buffers are, and for statements without a loop only within one", function()
    if device.type ~= "cpu" then return pending "no processor is here" end
    local compiled = assert(loops.compile(PREFIX, { device = device }))
    local x <close> = device:random("float", 100000)
    local y <close> = device:zeros("float", 100000)
    compiled(x, y, 100000)
    compiled.state.latest.place.costs.build, compiled.state.latest.place.costs.load = 0.0, 0.0
    compiled(x, y, 100000)
    assert.equal(1, compiled:stats().launches)
    assert.matches("nest_1, line 2: one work%-item; reads x, writes y", compiled:explain())
    local text = assert(loops.compile(DURBIN, { device = device })):explain()
    assert.matches("nest_%d, line 2: one work%-item; reads r, y, z, writes y, z.-\n  or, instead of it:\n", text)
    assert.matches("for k .- %-> a loop of one work%-item, or a loop on the host\n", text)
  end)

  helper.on_cpu("is a further choice within a loop if it reads elements on the host, not if numbers alone", function()
    for value, tasks in pairs { ["t * u"] = 1, ["a[u]"] = 2 } do
      local text = assert(loops.compile(([[function(a, n)
        for t = 1, n do for u = 1, n do
          local x = %s
          for i = 1, n do a[i] = a[i] + x end
        end end
      end]]):format(value), { device = device })):explain()
      local _, count = text:match("for u [^\n]*"):gsub("a loop of one work%-item", "")
      assert.equal(tasks, count, text)
    end
  end)

  local SUM = "function(a, n) for i = 2, n do a[i][1] = a[i][1] + a[i - 1][1] end end"

  helper.on_cpu("is one work-item on a GPU, too, between nests whose data stay there", function()
    local text = [[function(a, n)
      for j = 1, n do
        for k = 1, j - 2 do a[j][j] = a[j][j] - 0.25 * a[j][k] end
        for i = j + 1, n do a[i][j] = a[i][j] * 0.5 + a[j][j] end
      end
    end]]
    local compiled, values = assert(loops.compile(text, { device = device, target = "gpu" })), matrix(30)
    local buffer = device:buffer(values, "double")
    load("return " .. text)()(values, 30)
    local decide = decision.make
    decision.make = function() return { on_device = { true, true, false }, reasons = {}, is_spread = {} } end
    local ok, message = pcall(compiled, buffer, 30)
    decision.make = decide
    assert(ok, message)
    assert.same(values, buffer:read())
    assert.equal(59, compiled:stats().launches)
    assert.equal(0, compiled:stats().downloads)
    assert.matches("line 3: one work%-item; [^\n]*\n[^\n]*line 4: work%-items %(i%)", compiled:explain())
  end)

  helper.on_cpu("may have a return in it, also behind another nest", function()
    local compiled <close> = assert(loops.compile(function(a, n)
      local pivots = {}
      for i = 1, n do pivots[i] = 0.0 end
      for k = 1, n do
        if a[k][k] == 0 then return false, pivots end
        for i = k + 1, n do
          for j = k + 1, n do a[i][j] = a[i][j] - a[i][k] * a[k][j] / a[k][k] end
        end
        pivots[k] = a[k][k]
      end
      return true, pivots
    end, { device = device }))
    local is_regular, pivots = compiled(device:buffer({ { 2.0, 1.0 }, { 4.0, 5.0 } }, "double"), 2)
    assert.same({ true, { 2.0, 3.0 } }, { is_regular, pivots:read() })
    is_regular, pivots = compiled(device:buffer({ { 2.0, 1.0 }, { 4.0, 2.0 } }, "double"), 2)
    assert.same({ false, { 2.0, 0.0 } }, { is_regular, pivots:read() })
    assert.matches("for k +[^\n]*: it ends where data say so %-> a loop of one work%-item", compiled:explain())
  end)

  helper.on_cpu("stays in Lua where it is told so, or assigns what outlives it", function()
    local values = matrix(5)
    for _, case in ipairs { { SUM, { force = true } }, { SUM, { heuristics = "none" } },
      { SWEEP, { heuristics = "paper" } },
      { "function(a, n) local s = 0.0; for i = 1, n do s = s + a[i][1] end end", {} },
      { "function(a, n) a[1][1] = 1.0 end", {} } } do
      case[2].device = device
      local compiled = assert(loops.compile(case[1], case[2]))
      compiled(values, 5)
      assert.equal(0, compiled:stats().launches)
      assert.matches("no kernel: no loop is parallel", compiled:source())
    end
  end)
end)
