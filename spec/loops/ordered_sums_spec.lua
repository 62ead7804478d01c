-- SPDX-License-Identifier: MIT
--- Where the work-items of a group share a pass, and one of them sums in Lua's order: every bit is as in Lua.

local copies = require "spec.support.copies"
local helper = require "spec.helper"
local launchers = require "clcompute.loops.runtime.launchers"
local loops = require "clcompute.loops"
local random_reductions = require "spec.support.random_reductions"

local huge, nan = math.huge, 0 / 0

--- What shows in which order numbers were put together.
local function number()
  local which = math.random(60)
  if which <= 6 then return ({ 1e16, -1e16, 1.0, -0.0, 0.0, 3e-300 })[which] end
  return 2 * math.random() - 1
end

--- The same, with what stays once it is there.
local function any_number()
  local which = math.random(400)
  return which <= 3 and ({ nan, huge, -huge })[which] or number()
end

local list_of = random_reductions.list_of

--- A matrix of so many rows and columns, one list for each.
local function matrix(rows, columns, element)
  return list_of(rows, function() return list_of(columns, element) end)
end

--- A function whose passes do something.
local function in_passes(body)
  return ("function(a, x, y, z, m, n) for i = 1, m do %s end end"):format(body)
end

-- Passes by how elements lie, with `j` from 1 to n.
local ROWS = {
  "local s = 0.25; for j = 1, n do s = s + a[i][j] * x[j] end; y[i] = s",
  "for j = 1, n do y[i] = y[i] - a[i][j] end",
  [[local s, t = 0.0, 1.0
    for j = n, 1, -1 do local d = a[i][j] - x[j]; s = d * d + s; t = t * (1.0 + d) end
    y[i] = s; z[i] = t]],
  "for j = 1, n, 2 do y[i] = y[i] - a[i][j] * x[j] + x[j] * 0.5 - 1 end",
  "local s = 1.0; for j = 1, n do s = (s * x[i] + a[i][j]) / 1.5 end; y[i] = s",
  "local s = -0.0; for j = 2, n do s = s + a[i][j] end; y[i] = s; for j = 1, n do z[i] = z[i] + a[i][j] / s end",
  [[local s = a[i][1]
    for j = 2, n do s = math.max(a[i][j], s) end
    for j = 1, n do a[i][j] = a[i][j] - s end
    y[i] = s]],
}
local COLUMNS = {
  "local s = 0.25; for j = 1, n do s = s + a[j][i] * x[j] end; y[i] = s",
  "for j = 1, n do y[i] = a[j][i] - y[i] end",
  "for j = 1, n, 2 do y[i] = y[i] * a[j][i]; z[i] = z[i] + a[j][i] - x[j] * 0.5 end",
  "for j = n, 1, -1 do if a[j][i] < 0.0 then a[j][i] = 1.0 end; y[i] = y[i] + a[j][i] end; z[i] = y[i]",
  "for j = i + 1, n do y[i] = y[i] + a[j][i] end",
  "for j = math.max(1, i - 20), math.min(n, i + 20) do y[i] = y[i] + a[j][i] end",
  "local s = y[i]; for j = 1, n do s = math.min(s, a[j][i]) end; y[i] = s; for j = 1, i do z[i] = z[i] - a[j][i] end",
}

helper.describe_each("a sum in Lua's order that a work-group shares", function(device)
  local own, own_options = launchers.grouped, launchers.group_options
  local gpu = { type = "gpu", compute_units = 1000, local_memory = device.local_memory,
    max_group_size = device.max_group_size }
  local is_slow = not helper.is_simulator(device) and not helper.long(true) -- to build for each size of a group
  local groups

  setup(function() -- on processors, too, which have groups of one work-item else
    launchers.group_options = function(_, row) return own_options(gpu, row) end
    launchers.grouped = function(nest, program, _, row)
      local grouped = own(nest, program, gpu, row)
      return { share = function(_, ...)
        local kernel, range = grouped:share(...)
        if range then groups = groups + 1 end
        return kernel, range
      end }
    end
  end)

  teardown(function() launchers.grouped, launchers.group_options = own, own_options end)

  before_each(function() groups = 0 end)

  local function compile(f, slices, options)
    local all = { device = device, force = true, target = "gpu", tiles = { slices = slices, terms = 1 } }
    for name, value in pairs(helper.WIDE) do all.tiles[name] = value end
    for name, value in pairs(options or {}) do all[name] = value end
    return assert(loops.compile(f, all))
  end

  local function check(compiled, text, values)
    copies.check(compiled, text, values, ("of %d x %d"):format(values[5], values[6]))
  end

  local function values_of(m, n, element)
    local size = math.max(m, n, 1)
    return { matrix(size, size, element), list_of(size, element), list_of(size, element), list_of(size, element), m, n }
  end

  for name, bodies in pairs { rows = ROWS, columns = COLUMNS } do
    it("is Lua's to the last bit, by " .. name, function()
      for number_of, body in ipairs(bodies) do
        if not is_slow or number_of <= 3 then
          local text = in_passes(body)
          local compiled = compile(text, 8)
          assert.matches("_terms%[2%]", compiled:source(), text)
          for _, n in ipairs { 0, 1, 31, 32, 33, 100 } do check(compiled, text, values_of(7, n, number)) end
          for _, m in ipairs { 1, 32, 41 } do check(compiled, text, values_of(m, 37, any_number)) end
        end
      end
      assert.is_true(groups >= 6 * #bodies or is_slow and groups >= 15)
    end)
  end

  it("is Lua's in passes of two loops", function()
    for _, body in ipairs {
      "for k = 1, n do local s = y[i]; for j = 1, n do s = math.min(s, x[j] + a[j][k]) end; b[i][k] = s end",
      "for k = i, n do for j = k, n do b[i][k] = b[i][k] * 0.5 + a[j][i] end; b[i][k] = b[i][k] + 1.0 end",
    } do
      local text = in_passes(body):gsub("a, x, y, z", "a, b, x, y")
      local values = values_of(35, 35, number)
      values[2] = matrix(35, 35, number)
      check(compile(text, 8), text, values)
    end
    assert.equal(2, groups)
  end)

  it("is that of a thousand terms", function()
    for _, text in ipairs { in_passes(ROWS[1]), in_passes(COLUMNS[1]) } do
      local compiled = compile(text, 16)
      check(compiled, text, values_of(3, 1000, number))
    end
    assert.equal(2, groups)
  end)

  it("is rounded at each step in arrays of floats", function()
    local text = in_passes "for j = 1, n do y[i] = y[i] * 0.75 + a[i][j]; z[i] = z[i] - a[i][j] * x[j] + x[i] end"
    local n = 45
    local bound = 2 * (2 * n) * (2 * n) * 2.0 ^ -24 -- of so many additions, whose sums are no larger
    local values = values_of(n, n, function() return 2 * math.random() - 1 end)
    local got, fast = copies.in_buffers(values, device, "float"), copies.in_buffers(values, device, "float")
    local expected = copies.of(copies.read(got))
    for _, k in ipairs { 3, 4 } do -- y and z
      expected[k] = setmetatable({}, { __index = expected[k], __newindex = function(_, i, value)
        getmetatable(expected[k]).__index[i] = string.unpack("f", string.pack("f", value))
      end })
    end
    load("return " .. text)()(table.unpack(expected))
    compile(text, 8)(table.unpack(got))
    compile(text, 8, { mode = "fast" })(table.unpack(fast))
    local found, near = copies.read(got), copies.read(fast)
    for k = 3, 4 do
      for i = 1, n do
        assert.equal(expected[k][i], found[k][i])
        assert.near(expected[k][i], near[k][i], bound)
      end
    end
    assert.equal(2, groups)
  end)

  it("has what integers are in arrays of few bits, by a tree", function()
    if is_slow then return end -- POCL goes round for ever in its barriers
    local text = in_passes "for j = 1, n do y[i] = y[i] + a[i][j] * x[j]; z[i] = z[i] - 1 end"
    local compiled, n = compile(text, 8), 40
    local values = values_of(n, n, function() return math.random(-1 << 30, 1 << 30) end)
    local got = copies.in_buffers(values, device, "long")
    got[3], got[4] = device:buffer(values[3], "int"), device:buffer(values[4], "int")
    compiled(table.unpack(got))
    load("return " .. text)()(table.unpack(values))
    for k, buffer in pairs { [3] = got[3], [4] = got[4] } do
      for i, value in ipairs(buffer:read()) do
        assert.equal(string.unpack("<i4", string.pack("<i8", values[k][i])), value)
      end
    end
    assert.equal(1, groups)
  end)

  it("may be one of literals", function()
    local text = in_passes
      "local s = 1.0; for j = 1, n do y[i] = y[i] * 1.5 - 1; s = s - a[i][j]; z[i] = 2 / z[i] end; x[i] = s"
    check(compile(text, 8), text, values_of(35, 35, any_number))
    assert.equal(1, groups)
  end)

  it("is a work-item's where all terms are at hand for each of them", function()
    for _, body in ipairs { "s = s * x[i] + y[j]", "s = s * 0.5 + 1", "s = s + 1.0 / j", "s = s + x[j] * y[j]" } do
      local text = in_passes(("local s = 0.0; for j = 1, n do %s end; z[i] = s"):format(body))
      check(compile(text, 8), text, values_of(35, 35, number))
    end
    assert.equal(0, groups)
  end)

  it("goes on with numbers of the call, integers and floats", function()
    for _, order in ipairs { "a[i][j]", "a[j][i]" } do
      local text = in_passes(("local s = 0.5; for j = 1, n do s = (s * m - n) / m + %s end; z[i] = s"):format(order))
      check(compile(text, 8), text, values_of(35, 35, number))
    end
    assert.equal(2, groups)
  end)

  it("is a work-item's on a processor, whose groups have one", function()
    gpu.type = "cpu"
    for _, order in ipairs { "a[i][j]", "a[j][i]" } do
      local text = in_passes(("local s = 0.0; for j = 1, n do s = s + %s end; z[i] = s"):format(order))
      check(compile(text, 8), text, values_of(35, 35, number))
    end
    gpu.type = "gpu"
    assert.equal(0, groups)
  end)

  it("is a work-item's where the heuristics of the paper are asked for", function()
    local text = in_passes "local s = 0.0; for j = 1, n do s = s + a[i][j] end; z[i] = s"
    check(compile(text, 8, { heuristics = "paper" }), text, values_of(35, 35, number))
    assert.equal(0, groups)
    check(compile(text, 8), text, values_of(35, 35, number))
    assert.equal(1, groups)
  end)

  it("does not touch an element that no pass comes to, which may not be there", function()
    for _, order in ipairs { "a[i][j]", "a[j][i]" } do
      local text = in_passes(("for j = i + 1, n do y[i] = y[i] + %s end"):format(order))
      local compiled, values = compile(text, 8), values_of(40, 40, number)
      values[3][40] = nil
      check(compiled, text, values)
      assert.equal(39, #values[3])
    end
    assert.equal(2, groups)
  end)

  it("is left to a work-item where statements are others", function()
    for _, body in ipairs {
      "for j = 1, n do if a[i][j] > 0.0 then y[i] = y[i] + a[i][j] end end",
      "local s = 0.0; for j = 1, n do s = s + a[i][j]; z[i] = s end; y[i] = s",
      "local s = 0.0; for j = 1, n do s = s + s * a[i][j] end; y[i] = s",
      "local s = 0.0; for j = 1, n do s = math.sqrt(s) + a[i][j] end; y[i] = s",
      "local s = 0.0; for j = 1, n do s = s + a[i][j]; if s > 3.0 then break end end; y[i] = s",
      "local s = 0.0; for j = 1, n do s = s + a[i][j] - a[j][i] + x[j] - x[i] * a[i][i] + y[j] end; z[i] = s",
    } do
      local text = in_passes(body)
      local compiled = compile(text, 8)
      check(compiled, text, values_of(33, 33, number))
      assert.not_matches("_terms", compiled:source(), text)
    end
    assert.equal(0, groups)
  end)

  it("is named in explain", function()
    local words = "%-> a loop inside a work%-item, or shared by those of a group, its sums in Lua's order\n"
    for body, way in pairs { [ROWS[1]] = "each pass", [COLUMNS[1]] = "passes side by side" } do
      local explained = compile(in_passes(body), 8):explain()
      assert.matches(words, explained)
      assert.matches("work%-items %(i%), or a work%-group for " .. way, explained)
      assert.not_matches(words, compile(in_passes(body), 8, { reduce = "tree" }):explain())
    end
    assert.matches(words, compile(in_passes(ROWS[5]), 8, { reduce = "tree" }):explain())
  end)

  it("is Lua's in random passes", function()
    local count, launches = helper.long(200) or is_slow and 3 or 16, 0
    for _ = 1, count do
      local seed = math.random(1 << 30)
      math.randomseed(seed)
      local text = random_reductions.passes(true)
      local values = random_reductions.arguments(math.random(0, 40), number)
      local compiled = compile(text, 1 << math.random(1, 4))
      local expected, got = copies.of(values), copies.of(values)
      load("return " .. text)()(table.unpack(expected))
      compiled(table.unpack(got))
      for i in ipairs(values) do
        assert(copies.are_equal(expected[i], got[i]), ("seed %d, argument %d\n%s"):format(seed, i, text))
      end
      launches = launches + compiled:stats().launches
    end
    assert.is_true(launches >= count // 2, "few were launched")
    assert.is_true(groups > 0 or is_slow, "no group shared a pass")
  end)
end)
