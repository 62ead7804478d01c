-- SPDX-License-Identifier: MIT
-- Tasks whose parallel loops the groups of one launch share.

local helper = require "spec.helper"
local loops = require "clcompute.loops"

local N = 2500 -- enough for several pieces of a loop without loops in it

local STATEMENTS = {
  "for i = 3, n do y[i] = x[i - 1] * 0.5 + 0.25 * x[i - 2] end",
  "for i = n, 2, -1 do x[i] = y[i] + 0.125 * t end",
  "for i = 1, n // 2 do x[2 * i] = y[2 * i - 1] * 0.5 end",
  "for i = 1, n, 3 do y[i] = y[i] * 0.5 + x[i] end",
  "for i = t, n - t do if x[i] > 0.5 then y[i] = x[i] else y[i] = 0.5 * y[i] end end",
  "for i = 1, 40 do for k = 1, i do z[i] = z[i] * 0.5 + x[k] end end",
  "for i = t, 40 do z[i] = z[i] + x[t] * 0.25 end",
  "for i = 2, n do x[i] = 0.5 * (x[i] + x[i - 1]) end",
  "x[t] = y[t + 1] * 0.5",
  "local c = t * 2 + 1; for i = c, n do y[i] = y[i] * 0.5 + 0.125 * c end",
  "local s = x[t]; for i = 5, n do y[i] = s * 0.5 end; x[t] = y[6] + s * 0.25",
  "local s = 0.0; for i = 1, n do s = s + x[i] end; z[t] = s / n",
  "for k = 1, t do for i = 1, n do y[i] = y[i] + 0.125 * k end end",
  "if t % 2 == 1 then for i = 1, n do y[i] = 0.5 * x[i] end else for i = 1, n do x[i] = y[i] * 0.5 end; x[t] = 1 end",
  "for i = n + 5, n do x[i] = 0 end",
  "do local d = t + 1; for i = 1, n do y[i] = 0.5 * (y[i] + d) end end",
}

describe("a task that groups share", function()
  local device = helper.device()

  local function numbers(count)
    local list = {}
    for i = 1, count do list[i] = math.random() end
    return list
  end

  local function call_on_device(...) return helper.call_on_device(20, ...) end

  local function is_shared(compiled) return compiled:source():find("take_piece(progress", 1, true) ~= nil end

  helper.on_threads("has the results of Lua", function()
    local count = 0
    for _ = 1, helper.long(300) or 25 do
      local lines = {}
      for i = 1, math.random(2, 5) do lines[i] = ("do %s end"):format(STATEMENTS[math.random(#STATEMENTS)]) end
      local text = ("function(x, y, z, n, steps)\n for t = 1, steps do\n%s\n end\n y[1] = x[2]\nend"):format(
        table.concat(lines, "\n"))
      local compiled, f = assert(loops.compile(text, { device = device })), assert(load("return " .. text))()
      local x, y, z = numbers(N), numbers(N), numbers(40)
      local buffers = { device:buffer(x, "double"), device:buffer(y, "double"), device:buffer(z, "double") }
      for _, size in ipairs { { N, 6 }, { 20, 3 }, { 1100, 2 } } do
        local n, steps = table.unpack(size)
        f(x, y, z, n, steps)
        assert(call_on_device(compiled, buffers[1], buffers[2], buffers[3], n, steps))
        for i, list in ipairs { x, y, z } do assert.same(list, buffers[i]:read(), text) end
      end
      count = count + (is_shared(compiled) and 1 or 0)
    end
    assert.is_true(count > 5)
  end)

  helper.on_threads("goes on where the numbers of pieces go round", function()
    local text = [[function(x, y, n, steps)
      for t = 1, steps do
        for i = 2, n - 1 do y[i] = 0.5 * (x[i - 1] + x[i + 1]) end
        for i = 2, n - 1 do x[i] = y[i] end
      end
    end]]
    local compiled, x = assert(loops.compile(text, { device = device })), numbers(N)
    assert(call_on_device(compiled, device:buffer(x, "double"), device:zeros("double", N), N, 1))
    local source = compiled:source()
    local name = source:match "kernel void ([%w_]+)%([^)]*progress%)"
    local program <close> = device:program((source:gsub("base = 0;", "base = 4294967290;")))
    local progress, result = device:zeros("int", 96), device:buffer(x, "double")
    progress:set(1, -6)
    program[name]({ global = 2, group = 1 }, { x_1 = result, y_2 = device:zeros("double", N), n_3 = N, steps_4 = 9,
      progress = progress })
    load("return " .. text)()(x, numbers(N), N, 9)
    assert.same(x, result:read())
  end)

  helper.on_threads("ends in all groups where one meets what Lua raises an error for, and then runs again", function()
    local text = [=[function(x, y, k, n, steps)
      for t = 1, steps do
        for i = 1, n do y[i] = x[n - i + 1] * 0.5 + k[k[i]] end
        for i = 1, n do x[i] = y[i] end
      end
    end]=]
    local compiled = assert(loops.compile(text, { device = device }))
    local f, x, k = assert(load("return " .. text))(), numbers(N), {}
    for i = 1, N do k[i] = math.random(N) end
    local x_buffer, y, k_buffer = device:buffer(x, "double"), device:zeros("double", N), device:buffer(k, "long")
    for _, place in ipairs { 1, N // 2, N } do
      for _ = 1, 5 do
        local kept = k[place]
        k_buffer:set(place, N + 7)
        local ok, message = call_on_device(compiled, x_buffer, y, k_buffer, N, 50)
        assert.is_false(ok)
        assert.matches("%(k%[k%[i%]%]%): index 2507 is outside of 1 %.%. 2500", message)
        k_buffer:set(place, kept)
        x_buffer:write(x)
        assert(call_on_device(compiled, x_buffer, y, k_buffer, N, 3))
        f(x, {}, k, N, 3)
        assert.same(x, x_buffer:read())
      end
    end
    assert.is_true(is_shared(compiled))
  end)

  helper.on_threads("leaves to Lua what it raises an error for before the launch", function()
    local text = [=[function(k, l, n, steps, divisor)
      for t = 1, steps do
        for i = 1, n do l[i] = k[n - i + 1] // divisor + t end
        for i = 1, n do k[i] = l[i] end
      end
    end]=]
    local compiled, list = assert(loops.compile(text, { device = device })), {}
    for i = 1, N do list[i] = i end
    local k, l = device:buffer(list, "long"), device:zeros("long", N)
    assert(call_on_device(compiled, k, l, N, 3, 2))
    local ok, message = call_on_device(compiled, k, l, N, 3, 0)
    assert.is_false(ok)
    assert.matches("line 3: attempt to", message)
    assert(call_on_device(compiled, k, l, N, 3, 2))
    assert.is_true(is_shared(compiled))
  end)

  helper.on_threads("has stored what comes before a place that fails", function()
    local text = [=[function(x, y, z, n, steps, d)
      for t = 1, steps do
        for i = 1, n do y[i] = x[i] + t end
        for i = 1, n do z[i] = y[n - i + 1] end
        local c = 10 // (t - d)
        for i = 1, n do x[i] = z[i] * 0 + c * 0 end
      end
    end]=]
    local compiled, n = assert(loops.compile(text, { device = device })), 1000 -- one piece of a loop
    local x, y, z = device:zeros("long", n), device:zeros("long", n), device:zeros("long", n)
    for _ = 1, 40 do
      x:fill(0)
      local ok, message = call_on_device(compiled, x, y, z, n, 300, 200)
      assert.is_false(ok)
      assert.matches("line 5: attempt to", message)
      for _, value in ipairs(z:read()) do assert.equal(200, value) end
    end
    assert.is_true(is_shared(compiled))
  end)

  helper.on_threads("looks at what subscripts read after it was written", function()
    local text = [=[function(x, y, z, k, n, steps)
      for t = 1, steps do
        for i = 1, n do k[i] = (t % 2) * (1 << 40) end
        for i = 1, n do k[i] = k[i] // (1 << 40) + 1 end
        for r = 1, 3 do
          z[n] = z[n] * 0.5 + x[k[n - t] + r]
          for i = 1, n - 9 do z[i] = y[n - i + 1] * 0.5 + z[n] end
          for i = 1, n - 9 do y[i] = z[i] end
        end
      end
    end]=]
    local compiled = assert(loops.compile(text, { device = device }))
    local f, x, y, z, k = assert(load("return " .. text))(), numbers(N), numbers(N), numbers(N), {}
    for i = 1, N do k[i] = i end
    local x_buffer, y_buffer = device:buffer(x, "double"), device:buffer(y, "double")
    local z_buffer, k_buffer = device:buffer(z, "double"), device:buffer(k, "long")
    for _ = 1, 3 do
      f(x, y, z, k, N, 200)
      assert(call_on_device(compiled, x_buffer, y_buffer, z_buffer, k_buffer, N, 200))
      assert.same(k, k_buffer:read())
      assert.same(y, y_buffer:read())
    end
    assert.is_true(is_shared(compiled))
  end)

  helper.on_threads("is chosen where launches take long, and not where groups would only wait", function()
    local text = [[function(a, b, n, steps)
      for t = 1, steps do
        for i = 2, n - 1 do b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3 + t end
        for i = t, n - 1 do a[i] = b[i] end
        for i = 1, n // 2 do a[i] = a[n - i + 1] end
      end
    end]]
    for _, size in ipairs { { 20000, 200, "device" }, { 30, 3000, "Lua" } } do
      local compiled, n = assert(loops.compile(text, { device = device })), size[1]
      local a, b = device:random("double", n), device:zeros("double", n)
      compiled(a, b, n, size[2])
      compiled.state.latest.place.costs.build, compiled.state.latest.place.costs.load = 0.0, 0.0
      compiled(a, b, n, size[2])
      assert.matches("nest_5, line 2: one launch, whose groups share the parallel loops; reads a, b, writes b, a\n"
        .. "  or, instead of it:\n    nest_4, line 2: one work%-item", compiled:explain())
      assert.matches(("nest_5: %s: launches: 1"):format(size[3]), compiled:explain())
      assert.matches("for t .- %-> a loop of each group, or a loop of one work%-item, or a loop on the host\n",
        compiled:explain())
    end
  end)

  helper.on_threads("is told with what each group does, and one alone", function()
    local compiled = assert(loops.compile([[function(x, y, z, n)
      for t = 1, n do
        for i = 1, n do y[i] = y[i] * 0.5 + x[t] end
        local c = y[1]
        for k = 1, n do z[k] = z[k] + c end
        x[t] = c
      end
    end]], { device = device }))
    call_on_device(compiled, device:zeros("double", 9), device:zeros("double", 9), device:zeros("double", 9), 9)
    local text = compiled:explain()
    assert.matches("for t .- %-> a loop of each group, ", text)
    assert.matches("for i .- %-> shared by groups, ", text)
    assert.matches("for k .- %-> a loop of one group, ", text)
  end)

  helper.on_threads("is none where locals that depend on elements live across its loops", function()
    for body, expected in pairs {
      ["local s = y[t]; for i = 1, n do y[i] = y[i] * s end"] = false,
      ["local s = t / 2; for i = 1, n do y[i] = y[i] * s end"] = true,
      ["local s = 0.0; for i = 1, n do s = s + y[i] end; for i = 1, n do y[i] = y[i] * s end"] = false,
      ["local s = 0.0; for i = 1, n do s = s + x[i] end; for i = 1, n do y[i] = y[i] * s end"] = true, -- `expansion`
      ["if x[t] > 0 then for i = 1, n do y[i] = y[i] * 2 end end"] = false,
      ["for k = 1, n do x[k] = x[k] + 1; for i = 1, n do y[i] = y[i] * x[k] end end"] = true,
    } do
      local text = ("function(x, y, n) for t = 1, n do %s end end"):format(body)
      local compiled = assert(loops.compile(text, { device = device }))
      assert(call_on_device(compiled, device:random("double", 9), device:random("double", 9), 9))
      assert.equal(expected or compiled.state.latest.spec.row.spread ~= nil, is_shared(compiled), text)
    end
  end)
end)

helper.describe_each("a task that the work-items of a GPU's group share", function(device) -- one of a processor
  local OPTIONS = { device = device, target = "gpu", tiles = { together = 8 } }

  local function numbers(count)
    local list = {}
    for i = 1, count do list[i] = math.random() end
    return list
  end

  local function is_shared(compiled) return compiled:source():find("if (slice == 0)", 1, true) ~= nil end

  it("has the results of Lua", function()
    local count, n, steps = 0, 43, 4
    for _ = 1, helper.long(200) or 15 do
      local lines = {}
      for i = 1, math.random(2, 5) do lines[i] = ("do %s end"):format(STATEMENTS[math.random(#STATEMENTS)]) end
      local text = ("function(x, y, z, n, steps)\n for t = 1, steps do\n%s\n end\n y[1] = x[2]\nend"):format(
        table.concat(lines, "\n"))
      local compiled, f = assert(loops.compile(text, OPTIONS)), assert(load("return " .. text))()
      local x, y, z = numbers(n), numbers(n), numbers(40)
      local buffers = { device:buffer(x, "double"), device:buffer(y, "double"), device:buffer(z, "double") }
      f(x, y, z, n, steps)
      assert(helper.call_on_device(20, compiled, buffers[1], buffers[2], buffers[3], n, steps))
      for i, list in ipairs { x, y, z } do assert.same(list, buffers[i]:read(), text) end
      count = count + (is_shared(compiled) and 1 or 0)
    end
    assert.is_true(count > 5)
  end)

  it("is one launch in place of two for each pass, if the model finds that shorter", function()
    local compiled = assert(loops.compile([[function(a, b, n, steps)
      for t = 1, steps do
        for i = 2, n - 1 do b[i] = 0.5 * (a[i - 1] + a[i + 1]) end
        for i = 2, n - 1 do a[i] = b[i] end
      end
    end]], { device = device, target = "gpu" }))
    compiled(device:random("double", 500), device:zeros("double", 500), 500, 2)
    local text = compiled:explain()
    assert.matches("nest_4, line 2: one group, whose work%-items share the parallel loops; reads a, b, writes b, a\n"
      .. "  or, instead of it:\n    nest_3, line 2: one work%-item", text)
    assert.matches("for t .- %-> a loop of each work%-item, or a loop of one work%-item, or a loop on the host\n", text)
    assert.matches("for i .- %-> shared by work%-items, ", text)
  end)

  it("is no choice where one work-item has most to do, or the device's other groups have", function()
    local function way(text, n)
      local compiled = assert(loops.compile(text, { device = device, target = "gpu" }))
      compiled({ { 1.0, 2.0 }, { 3.0, 4.0 } }, 2)
      local latest = compiled.state.latest
      local call = { n_2 = n, a_1_d1 = n, a_1_d2 = n, wide = true }
      local costs = require "clcompute.loops.runtime.costs".of { type = "gpu", compute_units = 132, clock_mhz = 0 }
      local figures = require "clcompute.loops.runtime.profitability".figures(latest.spec.estimate(call), costs)
      local shared, launches
      for i, kernel in ipairs(latest.spec.plan.kernels) do
        if kernel.is_shared then shared = figures.device[i] end
        if not kernel.is_task then launches = (launches or 0.0) + figures.device[i] end
      end
      return shared < launches and "group" or "launches"
    end
    local eliminate = [[function(a, n)
      for k = 1, n do
        for i = k + 1, n do a[i][k] = a[i][k] / a[k][k] end
        for i = k + 1, n do for j = k + 1, n do a[i][j] = a[i][j] - a[i][k] * a[k][j] end end
      end
    end]]
    assert.equal("group", way(eliminate, 100))
    assert.equal("launches", way(eliminate, 1000))
    local with_sums = [[function(a, n)
      for k = 1, n do
        for j = 2, n do a[k][1] = math.sqrt(a[k][1]) + a[k][j] * 0.5 end
        for i = k + 1, n do a[i][k] = a[i][k] / a[k][1] end
      end
    end]]
    assert.equal("launches", way(with_sums, 300))
  end)

  it("is none where a pass may meet what Lua raises an error for, unless groups meet: others would wait", function()
    for body, expected in pairs {
      ["y[i] = y[i] * x[t]"] = true, ["y[i] = y[k[i]] * x[t]"] = false, ["k[i] = k[i] // k[t]"] = false,
    } do
      local text = ("function(x, y, k, n) for t = 1, n do for i = 1, n do %s end; x[t] = 2.0 end end"):format(body)
      local compiled = assert(loops.compile(text, OPTIONS))
      assert(helper.call_on_device(20, compiled, device:random("double", 9), device:random("double", 9),
        device:buffer({ 1, 2, 3, 4, 5, 6, 7, 8, 9 }, "long"), 9))
      local may_meet = compiled.state.latest.spec.row.spread ~= nil -- where groups do, some of these are one
      assert.equal(expected, is_shared(compiled) and (expected or not may_meet), text)
    end
  end)
end)
