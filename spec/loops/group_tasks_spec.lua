-- SPDX-License-Identifier: MIT
--- Sums in the passes of a sequential loop, which the work-items of a GPU's only group share: those of substitutions.

local copies = require "spec.support.copies"
local helper = require "spec.helper"
local launchers = require "clcompute.loops.runtime.launchers"
local loops = require "clcompute.loops"
local polykernels = require "clcompute.suite.polykernels"
local random_tasks = require "spec.support.random_tasks"

--- What shows in which order numbers were put together.
local function number()
  local which = math.random(60)
  if which <= 6 then return ({ 1e16, -1e16, 1.0, -0.0, 0.0, 3e-300 })[which] end
  return 2 * math.random() - 1
end

--- What has the same sum in any order.
local function eighth() return math.random(-16, 16) / 8 end

local PASSES = {
  "for i = 1, n do local w = x[i]; for j = 1, i - 1 do w = w - a[i][j] * y[j] end; y[i] = w end",
  "for i = n, 1, -1 do local w = y[i]; for j = i + 1, n do w = w - a[i][j] * x[j] end; x[i] = w / a[i][i] end",
  "for i = 2, n do for j = 1, i - 1 do y[i] = y[i] - a[i][j] * y[j] end; x[i] = y[i - 1] * y[i] end",
  "for i = 1, n do for j = n, i + 1, -1 do y[i] = a[j][i] - y[i]; z[i] = z[i] + y[j] end; y[i] = y[i] + z[i] end",
  [[for i = 1, n do
      local s, m = y[i], 0.5
      for j = 1, i - 1, 2 do s = math.min(s, y[j] + a[i][j]); m = m * 0.5 + x[j] end
      y[i] = s; x[i] = m - s
    end]],
  "for i = 2, n do local k = q[i]; for j = 1, i - 1 do k = k + p[i][j] * q[j] end; q[i] = k end",
  [[local alpha, beta = x[1], 1.0
    for k = 2, n do
      local s = 0.0
      for i = 1, k - 1 do s = s + x[k - i] * y[i] end
      beta = (1.0 - alpha * alpha) * beta
      alpha = -(x[k] + s) / (beta + 3.0)
      for i = 1, k - 1 do z[i] = y[i] + alpha * y[k - i] end
      for i = 1, k - 1 do y[i] = z[i] end
      y[k] = alpha
    end]],
  [[for i = 1, n do
      for j = i + 5, i do y[i] = y[i] + x[j] end
      local s = y[1]
      y[1] = s + 1.0
      for j = 1, n do s = s + a[i][j] end
      for j = 1, n do x[j] = x[j] + s end
    end]],
  [[for i = 1, n do
      local w = x[i]
      for j = 1, i - 1 do w = w - a[i][j] * y[j] end
      y[i] = w
      local v = w * 0.5
      for j = 1, n do z[j] = z[j] + v end
    end]],
  "local m = x[1]; for i = 2, n do y[1] = m; for j = 1, n do m = m * 0.5 + a[i][j] end; m = m + y[1] end; x[2] = m",
  [[for i = 1, n do
      local s, r = x[i], 0.25
      for j = 1, i - 1 do s = s + a[i][j] * y[j] end
      for j = 1, n do r = r + a[i][j] * s end
      y[i] = s * 0.5 + r * 0.125
    end]],
}

helper.describe_each("a sum that the work-items of a task's group share", function(device)
  local own, own_options = launchers.team, launchers.group_options
  local gpu = { type = "gpu", local_memory = device.local_memory, max_group_size = device.max_group_size }
  local is_slow = not helper.is_simulator(device) and not helper.long(true) -- to build for each size of a group
  local widest

  setup(function() -- on processors, too, which have groups of one work-item else
    launchers.group_options = function(_, row) return own_options(gpu, row) end
    launchers.team = function(nest, program, _, row)
      local team = own(nest, program, gpu, row)
      if nest.team then widest = math.max(widest, team.range.group[1]) end
      return team
    end
  end)

  teardown(function() launchers.team, launchers.group_options = own, own_options end)

  before_each(function() widest = 0 end)

  local function compile(text, together, options)
    local all = { device = device, target = "gpu", tiles = { together = together } }
    for name, value in pairs(options or {}) do all[name] = value end
    return assert(loops.compile(text, all))
  end

  --- Runs a function in Lua and compiled, on buffers; returns what both left.
  local function run(compiled, text, values, dtype)
    local expected, got = copies.of(values), copies.in_buffers(values, device, dtype or "double")
    load("return " .. text)()(table.unpack(expected))
    assert(helper.call_on_device(40, compiled, table.unpack(got)))
    return expected, copies.read(got)
  end

  local function check(compiled, text, values)
    local expected, got = run(compiled, text, values)
    for i in ipairs(values) do
      assert(copies.are_equal(expected[i], got[i]), ("argument %d, n = %d\n%s"):format(i, values[7], text))
    end
  end

  local function in_function(body) return ("function(a, x, y, z, p, q, n)\n%s\nend"):format(body) end

  it("is Lua's to the last bit", function()
    for which, body in ipairs(PASSES) do
      if not is_slow or which % 2 == 1 then
        local text = in_function(body)
        local compiled = compile(text, 8)
        for _, n in ipairs { 1, 2, 8, 33, math.random(70) } do
          check(compiled, text, random_tasks.arguments(n, number))
        end
        -- integers go by a tree
        assert(compiled:source():find(body:find("q%[j%]") and "_found%[" or "_terms%[2%]"), text)
      end
    end
    assert.equal(8, widest)
  end)

  it("is Lua's in random tasks", function()
    for _ = 1, helper.long(200) or is_slow and 3 or 16 do
      local text = random_tasks.text()
      local compiled = compile(text, 1 << math.random(5))
      check(compiled, text, random_tasks.arguments(math.random(70), number))
    end
    assert.is_true(widest > 1 or is_slow)
  end)

  it("goes by a tree where that is asked for", function()
    for which, body in ipairs(PASSES) do
      if which < 3 or which == 6 or which == 11 or which == 7 and not is_slow then
        local text = in_function(body)
        local compiled = compile(text, 64, { reduce = "tree" })
        for _, n in ipairs { 1, 40, 70 } do
          local values = random_tasks.arguments(n, eighth)
          for i = 1, n do values[1][i][i] = 50.0 end -- so that numbers stay small
          for i = 1, n do
            for j = 1, n do values[1][i][j] = values[1][i][j] / 50 end
          end
          local expected, got = run(compiled, text, values)
          for k = 2, 4 do
            for i = 1, n do
              local value, found = expected[k][i], got[k][i]
              local is_near = math.abs(value - found) <= 1e-9 * (1 + math.abs(value))
              assert(is_near or value == found or value ~= value and found ~= found, text)
            end
          end
          assert.same(expected[6], got[6])
        end
        assert.matches("_found%[%d%]%[TEAM_ITEMS%]", compiled:source())
        if which == 1 then assert.matches("put together in another order than Lua's", compiled:explain()) end
      end
    end
    assert.equal(64, widest)
  end)

  it("is rounded at each step in arrays of floats", function()
    local text, n = in_function(PASSES[3]), 30
    local values = random_tasks.arguments(n, eighth)
    for i = 1, n do
      for j = 1, n do values[1][i][j] = values[1][i][j] / 16 end
    end
    local got = copies.in_buffers(values, device, "float")
    local expected = copies.of(copies.read(got))
    for _, k in ipairs { 2, 3 } do -- x and y
      local list = expected[k]
      expected[k] = setmetatable({}, { __index = list, __newindex = function(_, i, value)
        list[i] = string.unpack("f", string.pack("f", value))
      end })
    end
    load("return " .. text)()(table.unpack(expected))
    assert(helper.call_on_device(40, compile(text, 8), table.unpack(got)))
    for i = 1, n do assert.equal(expected[3][i], got[3][i]) end
  end)

  it("waits where one work-item stores what each reads", function()
    local compiled = compile(in_function(PASSES[8]), 8)
    check(compiled, in_function(PASSES[8]), random_tasks.arguments(9, number))
    assert.matches("s_%d+ = y_%d+%[0%];[^\n]*\n *EVERYBODY\n *if %(slice == 0%) {\n[^\n]*y_%d+%[0%] = s",
      compiled:source())
  end)

  it("takes three barriers a pass where what is behind it is one work-item's", function()
    local compiled = compile(in_function(PASSES[1]), 8)
    check(compiled, in_function(PASSES[1]), random_tasks.arguments(9, number))
    local kernel = compiled:source():match "kernel void nest_2.-\n}\n"
    assert.equal(2, select(2, kernel:gsub("EVERYBODY", "")), kernel) -- one of them in a loop of two passes
  end)

  it("is one work-item's where statements are others", function()
    for _, body in ipairs {
      "local w = x[i]; for j = 1, i - 1 do if y[j] > 0.0 then w = w - y[j] end end; y[i] = w",
      "local w = x[i]; for j = 1, i - 1 do w = w * w - y[j] end; y[i] = w",
      "local w = x[i]; for j = 1, i - 1 do w = w - y[j]; if w < 0.0 then break end end; y[i] = w",
      "local w = x[i]; for j = 1, i - 1 do w = w - y[j] + a[i][j] - a[j][i] end; y[i] = w",
      "local w, v = x[i], 0.0; for j = 1, i - 1 do w = w - y[j] end\n"
        .. "for l = 1, 3 do v = v * v + w; z[l] = v end; y[i] = w + v; w = v",
    } do
      local text = in_function(("for i = 1, n do %s end"):format(body))
      local compiled = compile(text, 8)
      check(compiled, text, random_tasks.arguments(20, eighth))
      if not body:find "v = v" then assert.not_matches("_terms", compiled:source(), text) end
    end
  end)

  it("is one work-item's where there is no room for it", function()
    for body, is_shared in pairs {
      ["s = s + a[i][j]; r = r + y[j]"] = true, ["s = s + a[i][j]; r = r + y[j]; t = t + y[j]"] = false,
      ["s = s + a[i][j]; r = r + y[j]; k = k + q[j]"] = true,
    } do
      for options, mark in pairs { [{}] = "_terms", [{ reduce = "tree" }] = "_found" } do
        local compiled = compile(in_function(("for i = 1, n do local s, r, t, k = 0.5, x[i], 1.0, 3\n"
          .. "for j = 1, i - 1 do %s end; y[i] = s + r + t; q[i] = k end"):format(body)), 8, options)
        run(compiled, in_function "", random_tasks.arguments(3, eighth))
        assert.equal(is_shared, compiled:source():find(mark, 1, true) ~= nil, body)
      end
    end
  end)

  it("has bounds that are looked at before, as in Lua", function()
    local text, messages = in_function(PASSES[1]), {}
    for i, target in ipairs { "gpu", "cpu" } do
      local compiled = assert(loops.compile(text, { device = device, target = target }))
      local values = copies.in_buffers(random_tasks.arguments(9, number), device, "double")
      values[7] = 10
      local before, result = values[3]:read(), table.pack(pcall(compiled, table.unpack(values)))
      assert.is_false(result[1])
      messages[i] = result[2]
      assert.same(before, values[3]:read())
    end
    assert.equal(messages[2], messages[1])
    assert.matches("line 2.*10", messages[1])
  end)

  it("is named in explain", function()
    local compiled = compile(in_function(PASSES[1]), 8)
    run(compiled, in_function(PASSES[1]), random_tasks.arguments(9, number))
    assert.matches("nest_2, line 2: one group, whose work%-items share the parallel loops and sums; reads x, a, y, "
      .. "writes y\n  or, instead of it:\n    nest_1, line 2: one work%-item", compiled:explain())
    assert.matches("for i .- %-> a loop of each work%-item, or a loop of one work%-item\n", compiled:explain())
    assert.matches("for j .- %-> shared by work%-items, its sums in Lua's order, or a loop of one work%-item; "
      .. 'reduce = "tree" shares it out: sum in', compiled:explain())
  end)
end)

describe("what a GPU's plan leaves over beside rounds", function()
  local device = helper.device()

  local function compiled_for(options)
    local all = { device = device, target = "gpu" }
    for name, value in pairs(options) do all[name] = value end
    local row, n = polykernels.load "ludcmp", 20
    local compiled, values = assert(loops.compile(row.run, all)), random_tasks.arguments(n, eighth)
    for i = 1, n do values[1][i][i] = 50.0 end
    local expected = { values[1], values[2], values[3], values[4], n }
    local got = copies.in_buffers(expected, device, "double")
    row.run(table.unpack(expected))
    return compiled, expected, got
  end

  --- The choice of a GPU for equations of a size.
  local function choice(compiled, n)
    local spec, values = compiled.state.latest.spec, { wide = true }
    local profitability = require "clcompute.loops.runtime.profitability"
    local costs = require "clcompute.loops.runtime.costs".of { type = "gpu", compute_units = 132, clock_mhz = 0 }
    for _, list in ipairs { spec.names, spec.own_sizes } do
      for _, name in ipairs(list) do values[name.id] = n end
    end
    local numbers, arrays = spec.estimate(values), {}
    for _, variable in ipairs(spec.arrays) do
      local elements = math.tointeger(n ^ variable.rank)
      arrays[variable] = { bytes = 8 * elements, elements = elements, host = false, device = true, home = "device" }
    end
    local verdict = profitability.decide(spec.plan, numbers, arrays, profitability.figures(numbers, costs),
      { heuristics = "model" })
    local names = {}
    for i, kernel in ipairs(spec.plan.kernels) do
      names[#names + 1] = verdict.on_device[i] and (kernel.team and "group" or "nest") or nil
    end
    return table.concat(names, " ")
  end

  it("is a task of its own, whose group shares sums", function()
    local compiled, expected, got = compiled_for {}
    assert(helper.call_with({ true, true, true, false, true }, compiled, table.unpack(got)))
    assert.equal(0, compiled:stats().downloads + compiled:stats().uploads)
    for i, list in ipairs(copies.read(got)) do assert(copies.are_equal(expected[i], list), i) end
    local text = compiled:explain()
    assert.matches("in rounds of several passes.-\n      nest_5, line %d+: one group, whose work%-items share the "
      .. "parallel loops and sums; reads b, a, y, x, writes y, x\n      or, instead of it:\n        nest_4", text)
    assert.not_matches("Lua, from", text)
    assert.equal("nest nest nest group", choice(compiled, 1000))
    assert.equal("group", choice(compiled, 20))
  end)

  it("is one in place of loops on the host where sums are put together by a tree", function()
    local compiled, expected, got = compiled_for { mode = "fast", reduce = "tree" }
    local on_device = {}
    for i = 1, 10 do on_device[i] = true end
    assert(helper.call_with(on_device, compiled, table.unpack(got)))
    assert.equal(0, compiled:stats().downloads + compiled:stats().uploads)
    for k, list in ipairs(copies.read(got)) do
      for i, value in ipairs((k == 1 or k == 5) and {} or list) do assert.near(expected[k][i], value, 1e-9) end
    end
    assert.matches("nest_10, line %d+: one group, whose work%-items share the parallel loops and sums; "
      .. "reads b, a, y, x, writes y, x\n    or, instead of it:\n      loop on the host over i, line %d+\n"
      .. "        nest_6, line %d+: one group", compiled:explain())
    assert.equal("nest nest nest group", choice(compiled, 1000))
  end)

  it("is a group's in each pass of a loop on the host, which waits for no sum", function()
    local text, n = [[function(a, x, y, z, p, q, n)
      for k = 1, n do
        local s = 0.5
        for i = 1, n do s = s + a[i][k] * a[i][k] end
        z[k] = math.sqrt(s)
        for i = 1, n do for j = 1, n do a[i][j] = a[i][j] * 0.5 + 0.01 * z[k] end end
      end
    end]], 17
    for reduce, way in pairs { sequential = "one work%-item", tree = "Lua, from line 3: reads nothing" } do
      local compiled = assert(loops.compile(text, { device = device, target = "gpu", reduce = reduce }))
      local values = random_tasks.arguments(n, eighth)
      local got, on_device = copies.in_buffers(values, device, "double"), {}
      load("return " .. text)()(table.unpack(values))
      compiled(table.unpack(copies.in_buffers(random_tasks.arguments(1, eighth), device, "double")))
      for i, kernel in ipairs(compiled.state.latest.spec.plan.kernels) do
        on_device[i] = #kernel.host_loops == 1 or nil
      end
      local before = compiled:stats()
      assert(helper.call_with(on_device, compiled, table.unpack(got)))
      local found = got[4]:read()
      for i = 1, n do assert.near(values[4][i], found[i], 1e-12 * math.abs(values[4][i])) end
      assert.equal(before.downloads, compiled:stats().downloads)
      assert.equal(before.launches + 2 * n, compiled:stats().launches)
      assert.matches("loop on the host over k, line 2\n *nest_%d+, line 3: one group, whose work%-items share the "
        .. "parallel loops and sums; reads a, writes z.-\n *or, instead of it:\n *.-" .. way, compiled:explain())
    end
  end)

  it("gives way, with all tasks in its place, to launches that sum up where sums are long", function()
    local compiled = assert(loops.compile([[function(x, z, n)
      for k = 1, n do
        local s = 0.0
        for i = 1, n do s = s + x[i] * x[i] end
        z[k] = s
        z[1] = s * 0.5
      end
    end]], { device = device, target = "gpu", reduce = "tree" }))
    compiled(device:buffer({ 0.5, 0.25 }, "double"), device:buffer({ 0.0, 0.0 }, "double"), 2)
    assert.equal("group", choice(compiled, 1000))
    assert.equal("nest", choice(compiled, 100000))
  end)

  it("stays as it was on a processor", function()
    local compiled, expected, got = compiled_for { target = "cpu" }
    compiled(table.unpack(got))
    for i, list in ipairs(copies.read(got)) do assert(copies.are_equal(expected[i], list), i) end
    assert.matches("Lua, from line", compiled:explain())
    assert.not_matches("and sums", compiled:explain())
  end)

  it("has no sums by a tree on a processor, whose groups share none", function()
    local text = [[function(x, y, n)
      for t = 1, n do
        for i = 1, n do y[i] = y[i] * 0.5 + x[t] end
        for i = 1, n do x[t] = x[t] + y[i] end
      end
    end]]
    local compiled = assert(loops.compile(text, { device = device, target = "cpu", reduce = "tree" }))
    local expected, got = { { 0.5, 1.0, 1.5 }, { 1.0, 2.0, 3.0 }, 3 }, { { 0.5, 1.0, 1.5 }, { 1.0, 2.0, 3.0 }, 3 }
    load("return " .. text)()(table.unpack(expected))
    compiled(table.unpack(got))
    assert.same(expected, got)
    assert.matches("reduces, work%-items share %(i%)", compiled:explain())
    assert.not_matches("one launch", compiled:explain())
  end)
end)
