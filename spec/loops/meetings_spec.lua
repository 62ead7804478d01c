-- SPDX-License-Identifier: MIT
-- Tasks that all groups of a GPU share: groups of one work-item on a processor, of several in Oclgrind.

local helper = require "spec.helper"
local loops = require "clcompute.loops"

local STATEMENTS = {
  "for i = 3, n do y[i] = x[i - 1] * 0.5 + 0.25 * x[i - 2] end",
  "for i = n, 2, -1 do x[i] = y[i] + 0.125 * t end",
  "for i = 1, n, 3 do y[i] = y[i] * 0.5 + x[i] end",
  "for i = t, n - t do if x[i] > 0.5 then y[i] = x[i] else y[i] = 0.5 * y[i] end end",
  "for i = 1, n do local s = 0.0; for k = 1, i do s = s + x[k] end; y[i] = s * 0.125 end",
  "for i = 1, 5 do for j = 1, 7 do z[i][j] = z[i][j] * 0.5 + x[t] end end",
  "for i = 2, n do x[i] = 0.5 * (x[i] + x[i - 1]) end",
  "x[t] = y[t + 1] * 0.5",
  "local c = t * 2 + 1; for i = c, n do y[i] = y[i] * 0.5 + 0.125 * c end",
  "if t % 2 == 1 then for i = 1, n do y[i] = x[i] end else for i = 1, n do x[i] = y[i] + 1 end end",
  "for i = 1, n do y[i] = x[k[i]] * 0.5 end",
  "for k = 1, t do for i = 1, n do y[i] = y[i] + 0.125 * k end end",
  "for i = n + 5, n do x[i] = 0 end",
}

helper.describe_each("a task that all groups of a GPU share", function(device)
  local OPTIONS = { device = device, target = "gpu", tiles = { together = 8, spread = 1 } }

  local function numbers(count)
    local list = {}
    for i = 1, count do list[i] = math.random() end
    return list
  end

  local function table_of(rows, columns)
    local list = {}
    for i = 1, rows do list[i] = numbers(columns) end
    return list
  end

  local function compile(text) return assert(loops.compile(text, OPTIONS)), assert(load("return " .. text))() end

  local function is_spread(compiled) return compiled:source():find("join(progress)", 1, true) ~= nil end

  it("has the results of Lua", function()
    local count, n = 0, 43
    for _ = 1, helper.long(200) or 15 do
      local lines, keys = {}, {}
      for i = 1, math.random(2, 5) do lines[i] = ("do %s end"):format(STATEMENTS[math.random(#STATEMENTS)]) end
      for i = 1, n do keys[i] = math.random(n) end
      local text = ("function(x, y, z, k, n, steps)\n for t = 1, steps do\n%s\n end\nend"):format(
        table.concat(lines, "\n"))
      local compiled, f = compile(text)
      local x, y, z = numbers(n), numbers(n), table_of(5, 7)
      local buffers = { device:buffer(x, "double"), device:buffer(y, "double"), device:buffer(z, "double"),
        device:buffer(keys, "long") }
      for steps = 3, 4 do -- the second launch finds the counters as the first one left them
        f(x, y, z, keys, n, steps)
        assert(helper.call_on_device(20, compiled, buffers[1], buffers[2], buffers[3], buffers[4], n, steps))
        for i, list in ipairs { x, y, z } do assert.same(list, buffers[i]:read(), text) end
      end
      count = count + (is_spread(compiled) and 1 or 0)
    end
    assert.is_true(count > 5)
  end)

  it("shares three loops whose bounds do not depend on each other, and those whose do", function()
    for _, range in ipairs { "2, n - 1", "i, n - 1" } do
      local text = ([[function(a, b, n, steps)
        for t = 1, steps do
          for i = 2, n - 1 do for j = %s do for k = 2, n - 1 do
            b[i][j][k] = 0.5 * (a[i - 1][j][k] + a[i][j + 1][k]) + a[i][j][k - 1]
          end end end
          for i = 2, n - 1 do for j = 2, n - 1 do for k = 2, n - 1 do a[i][j][k] = b[i][j][k] end end end
        end
      end]]):format(range)
      local compiled, f = compile(text)
      local a, b, n = {}, {}, 7
      for i = 1, n do a[i], b[i] = table_of(n, n), table_of(n, n) end
      local buffers = { device:buffer(a, "double"), device:buffer(b, "double") }
      f(a, b, n, 3)
      assert(helper.call_on_device(20, compiled, buffers[1], buffers[2], n, 3))
      assert.is_true(is_spread(compiled))
      assert.same(a, buffers[1]:read())
      assert.same(b, buffers[2]:read())
    end
  end)

  it("ends where a pass meets what Lua raises an error for, and is whole again at the next call", function()
    local text = [=[function(x, y, k, n)
      for t = 1, 3 do
        for i = 1, n do y[i] = x[k[i]] + t end
        for i = 1, n do x[i] = y[i] * 0.5 end
      end
      y[1] = -1
    end]=]
    local compiled, f = compile(text)
    local n = 40
    local x, y, keys = numbers(n), numbers(n), {}
    for i = 1, n do keys[i] = i end
    keys[17] = n + 1
    local buffers = { device:buffer(x, "double"), device:buffer(y, "double"), device:buffer(keys, "long") }
    for _ = 1, 2 do
      local ok, message = helper.call_on_device(20, compiled, buffers[1], buffers[2], buffers[3], n)
      assert.is_false(ok)
      assert.matches("line 3: .*x%[k%[i%]%].*: index 41 is outside of 1 .. 40", message)
      assert.equal(y[17], buffers[2]:get(17)) -- what came before it in its pass, and nothing behind the loop
      assert.is_true(buffers[2]:get(1) ~= -1)
      assert.same(x, buffers[1]:read())
    end
    assert.is_true(is_spread(compiled))
    keys[17] = 17
    buffers[3]:write(keys)
    buffers[2]:write(y)
    f(x, y, keys, n)
    assert(helper.call_on_device(20, compiled, buffers[1], buffers[2], buffers[3], n))
    assert.same(y, buffers[2]:read())
  end)

  it("leaves out groups that begin late, and goes on where the number of meetings goes round", function()
    local text = [[function(x, y, n, steps)
      for t = 1, steps do
        for i = 2, n - 1 do y[i] = 0.5 * (x[i - 1] + x[i + 1]) end
        for i = 2, n - 1 do x[i] = y[i] end
      end
    end]]
    local wide, n, steps = "for i = 2, n - 1 do for j = 1, 4 do %s end end", 30, 9
    text = text:gsub("for i = 2, n %- 1 do (.-) end", function(body)
      return wide:format((body:gsub("%[(i[ %-+1]*)%]", "[%1][j]")))
    end)
    local compiled, f = compile(text)
    local x, y = table_of(n, 4), table_of(n, 4)
    local first, second = device:buffer(x, "double"), device:buffer(y, "double")
    f(x, y, n, steps)
    assert(helper.call_on_device(20, compiled, first, second, n, steps))
    assert.same(x, first:read())
    local source = compiled:source()
    local name = source:match "kernel void ([%w_]+)%([^)]*progress%)"
    source = source:gsub("PATIENCE 256", "PATIENCE 0"):gsub("uint all = 0;", "uint all = 4294967290;")
    local program <close> = device:program(source)
    for _, groups in ipairs { 1, 2, 5 } do
      local progress = device:zeros("int", 64)
      for _ = 1, 3 do -- without patience some groups are late, or none is
        progress:set(33, -6)
        f(x, y, n, steps)
        program[name]({ global = groups, group = 1 }, { x_1 = first, y_2 = second, x_1_d2 = 4, y_2_d2 = 4, n_3 = n,
          steps_4 = steps, progress = progress })
        assert.same(x, first:read())
        for i = 1, 64 do assert.equal(0, progress:get(i)) end
      end
    end
  end)

  it("is there on those of NVIDIA's that have fences which other groups see", function()
    local tuning = require "clcompute.tuning"
    local function spread(capability, platform)
      return tuning.choose(tuning.known.loops, { type = "gpu", dtype = "float", vector = 1, max_group = 1024, units = 8,
        platform = platform, local_memory = 49152, capability = capability }).spread
    end
    assert.equal(4096, spread(90, "NVIDIA CUDA"))
    assert.equal(4096, spread(70, "NVIDIA CUDA"))
    assert.is_nil(spread(61, "NVIDIA CUDA"))
    assert.is_nil(spread(0, "another one"))
  end)

  it("is one group's where loops have fewer passes, and launches' where they have many or a better way", function()
    local launchers = require "clcompute.loops.runtime.launchers"
    local text = [[function(a, b, n, steps)
      for t = 1, steps do
        for i = 2, n - 1 do for j = 2, n - 1 do b[i][j] = 0.5 * (a[i - 1][j] + a[i][j + 1]) end end
        for i = 2, n - 1 do for j = 2, n - 1 do a[i][j] = b[i][j] end end
      end
    end]]
    local compiled = assert(loops.compile(text, { device = device, target = "gpu", tiles = { spread = 1000 } }))
    compiled(device:random("double", 9, 9), device:zeros("double", 9, 9), 9, 2)
    assert.matches("one group, or all for loops of 1000 passes and more, whose work%-items share", compiled:explain())
    local spec, index = compiled.state.latest.spec, nil
    for i, kernel in ipairs(spec.plan.kernels) do index = kernel.spread and i or index end
    local function ways(n)
      local estimate = spec.estimate { n_3 = n, steps_4 = 50, a_1_d1 = n, a_1_d2 = n, b_2_d1 = n, b_2_d2 = n,
        wide = true }
      local kernels = { [index] = { single = "one", all = "all" } }
      for i = 1, index - 1 do kernels[i] = {} end
      launchers.spread(kernels, estimate.is_spread)
      return kernels[index].range
    end
    assert.same({ "one", "all", "all", "one" }, { ways(30), ways(40), ways(1200), ways(1300) })
    compiled = assert(loops.compile([[function(a, n)
      for k = 1, n do
        for i = k + 1, n do a[i][k] = a[i][k] / a[k][k] end
        for i = k + 1, n do for j = k + 1, n do a[i][j] = a[i][j] - a[i][k] * a[k][j] end end
      end
    end]], OPTIONS))
    compiled(device:random("double", 9, 9), 9)
    assert.matches("one group, whose work%-items share", compiled:explain())
    assert.is_false(is_spread(compiled))
  end)
end)
