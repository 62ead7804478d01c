-- SPDX-License-Identifier: MIT
--- Kernels of loop nests in tiles, in registers and in another order of loops: what they are, and that they touch
-- nothing that Lua does not.

local helper = require "spec.helper"
local interchange = require "clcompute.loops.analysis.interchange"
local loops = require "clcompute.loops"
local shapes = require "spec.support.loop_shapes"
local tuning = require "clcompute.tuning"

local SMALL = shapes[2].tiles

local function random_matrix(rows, columns)
  local list = {}
  for i = 1, rows do
    list[i] = {}
    for j = 1, columns do list[i][j] = 4 * math.random() - 2 end
  end
  return list
end

local function copy(list)
  local other = {}
  for i, item in ipairs(list) do other[i] = type(item) == "table" and copy(item) or item end
  return other
end

--- Runs a text in Lua and in kernels of every shape on the same arrays; returns what was compiled last.
local function check(text, device, ...)
  local f, compiled = assert(load("return " .. text))(), nil
  for _, shape in ipairs(shapes) do
    compiled = assert(loops.compile(text, { device = device, force = true, target = shape.target,
      tiles = shape.tiles }))
    local expected, got = {}, {}
    for i, value in ipairs { ... } do
      local is_array = type(value) == "table"
      expected[i], got[i] = is_array and copy(value) or value, is_array and copy(value) or value
    end
    f(table.unpack(expected))
    compiled(table.unpack(got))
    assert.same(expected, got, shape.name)
  end
  return compiled
end

local SYRK = [[function(a, c, n)
  for i = 1, n do for j = 1, n do for k = j, n do
    c[j][k] = c[j][k] + a[i][j] * a[i][k]
  end end end
end]]

helper.describe_each("loop nests in tiles", function(device)
  local n = helper.is_simulator(device) and 7 or 19

  it("are not fused where sums of rows wait for each other, and are where many go on at once", function()
    local function text_of(body)
      local compiled = assert(loops.compile(("function(a, c, n) for i = 1, n do for j = 1, n do for k = 1, n do %s end "
        .. "end end end"):format(body), { device = device, force = true, target = "cpu", mode = "fast" }))
      compiled(device:zeros("float", n, n), device:zeros("float", n, n), n)
      return compiled:source()
    end
    local by_rows, in_registers = text_of "c[i][j] = c[i][j] + a[(i + j) // 2][k] * a[i][k]",
      text_of "c[i][j] = c[i][j] + a[i][k] * a[k][j]"
    assert.matches("pragma OPENCL FP_CONTRACT OFF", by_rows)
    assert.is_nil(in_registers:find("FP_CONTRACT OFF", 1, true))
  end)

  it("are one launch where a sequential loop can go inside", function()
    local compiled = assert(loops.compile(SYRK, { device = device, force = true, target = "cpu" }))
    compiled(random_matrix(n, n), random_matrix(n, n), n)
    assert.equal(1, compiled:stats().launches)
    assert.matches("for i +sequential: .* %-> a loop inside a work%-item", compiled:explain())
    assert.matches("moved inwards", compiled:explain())
    check(SYRK, device, random_matrix(n, n), random_matrix(n, n), n)
  end)

  it("have a work-item a sum on a GPU where there are few", function()
    local text = [[function(a, b, c, n) for i = 1, n do for j = 1, n do for k = 1, n do
      c[i][j] = c[i][j] + a[i][k] * b[k][j] end end end end]]
    for _, few in ipairs { n * n, n * n + 1 } do
      local compiled = assert(loops.compile(text, { device = device, force = true,
        tiles = { kernel = "items", rows = 2, columns = 2, vector = 1, passes = 1, jam = 1, group = 4, depth = 1,
          few = few } }))
      local values, buffers = {}, {}
      for k = 1, 3 do
        values[k] = random_matrix(n, n)
        buffers[k] = device:buffer(values[k], "double")
      end
      compiled(buffers[1], buffers[2], buffers[3], n)
      assert(load("return " .. text))()(values[1], values[2], values[3], n)
      assert.same(values[3], buffers[3]:read())
      assert.matches("kernel void nest_1_single", compiled:source())
    end
  end)

  it("keep their launches on a GPU where work-items would be lost", function()
    local text = [[function(a, b, n)
      for i = 1, n - 1 do for j = 1, n do for k = i + 1, n do b[j][k] = b[j][k] + a[i][k] * b[j][i] end end end
    end]]
    local function launches(target)
      local compiled = assert(loops.compile(text, { device = device, force = true, target = target,
        tiles = { passes = 1 } }))
      compiled(random_matrix(n, n), random_matrix(n, n), n)
      return compiled:stats().launches
    end
    assert.equal(1, launches "cpu")
    assert.equal(n - 1, launches "gpu")
    check(text, device, random_matrix(n, n), random_matrix(n, n), n)
  end)

  it("have bounds that depend on rows, with passes before and after those of all rows", function()
    check([[function(a, b, c, n)
      for i = 1, n do for j = 1, n do
        local s = 0.5
        for k = i, n - i do s = s + a[i][k] * b[k][j] end
        for k = 1, i do s = s - a[k][i] * b[i][j] end
        c[i][j] = s * 2
      end end
    end]], device, random_matrix(n, n), random_matrix(n, n), random_matrix(n, n), n)
    check([[function(a, b, c, n)
      for i = 1, n do for j = i, n do for k = i, j do c[i][j] = c[i][j] + a[i][k] * b[k][j] end end end
    end]], device, random_matrix(n, n), random_matrix(n, n), random_matrix(n, n), n)
  end)

  it("load no sums where Lua has no pass and touches nothing", function()
    -- c has no rows for i < 6; a[i][k] would be there
    check([[function(a, c, n)
      for i = 1, n do for j = 1, n do for k = 1, i - 5 do
        c[i - 5][j] = c[i - 5][j] + a[i][k] * a[k][j]
      end end end
    end]], device, random_matrix(n, n), random_matrix(n - 5, n), n)
  end)

  it("read nothing before a loop that has no pass", function()
    -- b[j][i] is beyond the columns of b where there is no k
    check([[function(a, b, n)
      for i = 1, n do for j = 1, n do for k = i + 1, n - 1 do
        b[j][k] = b[j][k] - a[i][k] * b[j][i]
      end end end
    end]], device, random_matrix(n, n), random_matrix(n, n - 1), n)
  end)

  it("read what one pass writes where there is one pass only", function()
    check([[function(a, n)
      for i = 1, n do for k = i, i do
        a[i][k] = a[i][k] + 1
        a[i][k] = a[i][i] * 2
      end end
    end]], device, random_matrix(n, n), n)
  end)

  it("keep locals for each pass of the loop that was moved inwards", function()
    check([[function(a, b, n)
      for i = 1, n do for j = 1, n do
        local s, t = 0.0, a[i][j]
        for k = 1, n do s = s + t * a[k][j] end
        local u = s / 2
        for k = 1, n do if a[k][j] > u then s = s + 1 end end
        b[i][j] = s + u
      end end
    end]], device, random_matrix(n, n), random_matrix(n, n), n)
  end)

  --- Limits within n, at its ends, and such that adding 1 to them would wrap.
  local function limits()
    local list = { 0, 1, n - 1, n, math.maxinteger }
    for i = #list + 1, n do list[i] = math.random(0, n) end
    return list
  end

  it("are cut where a condition changes that holds from one pass on, or up to one", function()
    for _, condition in ipairs { "j > w[i]", "w[i] < j", "j >= w[i]", "w[i] + 1 <= j", "j + 2 > w[i]", "j - i >= 3",
      "i + j - n > 1" } do
      local text = ([[function(a, b, w, n)
        for i = 1, n do for j = 1, n do
          b[i][j] = a[i][j]
          if %s then b[i][j] = b[i][j] + a[i][j] * 2 end
        end end
      end]]):format(condition)
      check(text, device, random_matrix(n, n), random_matrix(n, n), limits(), n)
      local compiled = assert(loops.compile(text, { device = device, force = true, target = "cpu" }))
      compiled(random_matrix(n, n), random_matrix(n, n), limits(), n)
      assert.matches("long j_%d+_before = ", compiled:source())
    end
  end)

  it("are cut with what stands behind else, before the change and from there on", function()
    for _, condition in ipairs { "j < w[i]", "j <= w[i]", "w[i] >= j - 1", "j <= i" } do
      check(([[function(a, b, w, n)
        for i = 1, n do for j = 2, n - 1 do
          if %s then
            local t = a[i][j - 1]
            b[i][j] = t * t
          else
            b[i][j] = a[i][j + 1] - 1
          end
        end end
      end]]):format(condition), device, random_matrix(n, n), random_matrix(n, n), limits(), n)
    end
  end)

  it("compute with integers of the call as Lua does, which wrap, and become the nearest float", function()
    local text = [[function(a, c, m, n)
      for i = 1, n do for j = 1, n do
        for k = 1, n do c[i][j] = c[i][j] + a[i][k] * a[k][j] * (m * m - n) end
        c[i][j] = c[i][j] / (-m + #a)
      end end
    end]]
    local in_lua, compiled = assert(load("return " .. text))(),
      assert(loops.compile(text, { device = device, force = true, target = "cpu" }))
    for _, m in ipairs { 3, 3037000500, 1 << 32, (1 << 53) + 1, math.mininteger, math.maxinteger } do
      local a, expected = random_matrix(n, n), random_matrix(n, n)
      local got = copy(expected)
      in_lua(a, expected, m, n)
      compiled(a, got, m, n)
      assert.same(expected, got, m)
    end
    assert.matches("sums in registers", compiled:explain())
  end)

  it("look at what a condition guards where it holds alone", function()
    check([=[function(a, b, w, n)
      for i = 1, n do for j = 1, n do
        b[i][j] = 0.5
        if j > w[i] then b[i][j] = a[j - w[i]] end
      end end
    end]=], device, random_matrix(1, n)[1], random_matrix(n, n), limits(), n)
    check([=[function(a, w, n)
      for i = 1, n do for j = 1, n do
        a[i + 1][j] = a[i][j]
        if j > w[i] then a[i + 1][j] = math.max(a[i][j], a[i][j - w[i]] + 0.25) end
      end end
    end]=], device, random_matrix(n + 1, n), limits(), n)
    local far, wide = random_matrix(1, 2049)[1], assert(loops.compile([=[function(a, b, w, n)
      for j = 1, n do b[j] = a[(j - 1) * 9007199254740992 + w[1]] end
    end]=], { device = device, force = true, target = "cpu" })) -- 2^53: the last index is the first one again
    local _, message = pcall(wide, far, copy(far), { 1 }, 2049)
    local text = message:match "index (%-?%d+) is outside of 1 %.%. 2049"
    local index = math.tointeger(text) -- whichever work-item is first; half of them wrap below 0
    assert.equal(1, index % (1 << 53))
    assert.not_equal(1, index)
    local list = limits()
    list[3] = -2
    local compiled = assert(loops.compile([=[function(a, b, w, n)
      for i = 1, n do for j = 1, n do if j > w[i] then b[i][j] = a[j - w[i]] end end end
    end]=], { device = device, force = true, target = "cpu" }))
    assert.error_matches(function() compiled(random_matrix(1, n)[1], random_matrix(n, n), list, n) end,
      ("line 2: .*index %d is outside of 1 .. %d"):format(n + 2, n))
  end)

  --- A matrix of numbers that are often equal, NaN, or one of both zeros.
  local function special_matrix(rows, columns)
    local kinds, list = { 0.0, -0.0, 0 / 0, 1.5, -1.5, math.huge, -math.huge, 0.0, -0.0, 2.0 }, {}
    for i = 1, rows do
      list[i] = {}
      local few = math.random(2, #kinds)
      for j = 1, columns do list[i][j] = kinds[math.random(few)] end
    end
    return list
  end

  local function packed(list)
    local texts = {}
    for i, value in ipairs(list) do texts[i] = value ~= value and "NaN" or string.pack("d", value) end
    return table.concat(texts, " ")
  end

  it("look for the smallest and the largest in vectors, to the sign of zero", function()
    local columns = helper.is_simulator(device) and 19 or 61
    for _, step in ipairs { "if v < s then s = v end", "if v <= s then s = v end", "if s < v then s = v end",
      "if s >= v then s = v end", "s = math.max(s, v)", "s = math.min(s, v)" } do
      local text = ([[function(a, b, first, last, n, m)
        for i = 1, n do
          local s = first[i]
          for k = i // 2 + 1, m do
            local v = a[i][k] * b[k][i] + 0.5 * -first[i]
            %s
          end
          last[i] = s
        end
      end]]):format(step)
      local compiled = assert(loops.compile(text, { device = device, force = true, target = "cpu" }))
      for m = 1, columns, 9 do
        local a, b, first = special_matrix(n, m), special_matrix(m, n), special_matrix(1, n)[1]
        local expected, got = {}, {}
        for i = 1, n do expected[i], got[i] = 0.0, 0.0 end
        assert(load("return " .. text))()(a, b, first, expected, n, m)
        compiled(a, b, first, got, n, m)
        assert.equal(packed(expected), packed(got), text)
      end
      assert.matches("double8 kept = before", compiled:source())
    end
  end)

  it("look for it pass by pass where it is read beside the comparison, or kept otherwise", function()
    for _, step in ipairs { "if v < s then s = v * 2 end", "if v * s < s then s = v * s end", "s = math.max(v, s)",
      "if v < s then s = v else s = s + 1 end", "local t = v if v < t then t = v end" } do
      local text = ([[function(a, b, n)
        for i = 1, n do
          local s = 0.25
          for k = 1, n do
            local v = a[i][k]
            %s
          end
          b[i][1] = s
        end
      end]]):format(step)
      assert.not_matches("kept", check(text, device, random_matrix(n, n), random_matrix(n, n), n):source())
      local compiled = assert(loops.compile(text, { device = device, force = true, target = "cpu" }))
      compiled(random_matrix(n, n), random_matrix(n, n), n)
      assert.not_matches("kept", compiled:source())
    end
  end)

  -- Loops that end where data say so, whose body is put where # is.
  local UNTIL_DATA = [[function(a, b, n)
    for i = 1, n do for j = 1, n do
      local x, y, count = a[i][j], 0.5 * j, 0
      #
      b[i][j] = x + y * count
    end end
  end]]

  local function source_of(text)
    local compiled = assert(loops.compile(text, { device = device, force = true, target = "cpu" }))
    compiled(random_matrix(n, n), random_matrix(n, n), n)
    return compiled:source(), compiled:explain()
  end

  it("go on together in loops that end where data say so", function()
    for _, body in ipairs {
      "while x < 3 and count < 40 do x, y = x * 1.25 + 0.1, y - x; count = count + 1 end",
      "repeat x = x + 0.5; count = count + 1 until x > y or count > 30",
      "while true do x = x + 1; if not (x < i) then break end; y = y - x end",
      "while count < 9 do local t = x; if t > 2 or y < 1 then x = x / 2 else y = y - 0.5 end; count = count + 1 end",
      "while x > 0 do if x > 1 then x = x - 1 end; if y > 3 then y = y / 2; count = count + 2 end; x = x - 0.25 end",
      "repeat local t = x; if t > 2 then x = x - 2 elseif t < 0 then x = x + 1 end; count = count + 1 until count > j",
      "local function turn(p, q) return p * 0.5 - q, q * 0.5 + p end "
        .. "while x * x + y * y > 0.1 and count < 20 do x, y = turn(x, y); count = count + 1 end",
    } do
      local text = UNTIL_DATA:gsub("#", function() return body end)
      check(text, device, random_matrix(n, n), random_matrix(n, n), n)
      local is_masked = not helper.is_simulator(device) and not body:find "elseif"
      local source, words = source_of(text)
      assert.equal(is_masked, source:find "_count < 4L" ~= nil, body)
      assert.equal(is_masked, words:find " in tiles, passes that end where data say so side by side;" ~= nil, body)
    end
  end)

  it("go on alone in such loops where an error may be met, or vectors are bad at it", function()
    for _, body in ipairs {
      "while x > 0 do x = x - a[i][count % n + 1] * a[i][count % n + 1] - 0.1; count = count + 1 end",
      "while count < 9 do count = count * 3 + 1 end",
      "while x < 99 do x = x + 1; if not (x < i) then break end; y = y - x end",
      "while x > 0 do x = x - 1 end; while y > 0 do y = y - 1 end",
      "while x > 0 do x = x - math.abs(y) - 0.5 end", "while x > 0 do x = x - y % 1 - 0.5 end",
    } do
      local text = UNTIL_DATA:gsub("#", function() return body end)
      check(text, device, random_matrix(n, n), random_matrix(n, n), n)
      assert.not_matches("_count < 4L", source_of(text))
    end
  end)

  it("keep locals for passes in steps, more of them than a tile has", function()
    local text = [[function(a, b, c, n)
      for i = 1, n do for j = 1, n, 2 do
        local s = 0.0
        for k = 1, n do s = s + a[i][k] * b[k][j] end
        c[i][j] = s
      end end
    end]]
    check(text, device, random_matrix(n, n), random_matrix(n, n), random_matrix(n, n), n)
    local compiled = assert(loops.compile(text, { device = device, force = true, target = "cpu",
      tiles = { lane = 4, block = 2 } }))
    compiled(random_matrix(n, n), random_matrix(n, n), random_matrix(n, n), n)
    assert.not_matches("s_%d+%[4%]", compiled:source())
  end)

  it("have subscripts of locals", function()
    check([[function(a, b, n)
      for i = 1, n do for j = 4, n do
        local m = 3
        for k = 1, n do a[i][j] = a[i][j] - a[i][m] * b[k][j] end
      end end
    end]], device, random_matrix(n, n), random_matrix(n, n), n)
  end)

  it("read rows whole where they have no other elements than a pass reads again and again, and gather these elsewhere",
    function()
      local text = [[function(x, w, y, n)
        for i = 1, n do
          local best, least = 0, 1e30
          for c = 1, 5 do
            local s = 0.0
            for k = %s do s = s + (x[i][k] - w[c][k]) * (x[i][k] - w[c][k]) end
            if s < least then least = s; best = c end
          end
          y[i] = best * 100 + least
        end
      end]]
      for columns, is_whole in pairs { ["1, 3"] = true, ["2, 4"] = true, ["1, 4, 2"] = false } do
        local own, on_cpu = text:format(columns), assert(loops.compile(text:format(columns), { target = "cpu" }))
        for _, width in ipairs { 4, 5 } do
          local y = {}
          for i = 1, 4 * n do y[i] = 0.0 end
          check(own, device, random_matrix(4 * n, width), random_matrix(5, width), y, 4 * n)
        end
        local has_both = on_cpu:source():find("_d2 == 3", 1, true) ~= nil
        assert.equal(is_whole, has_both, columns)
      end
      local y = {}
      for i = 1, 4 * n do y[i] = 0.0 end
      check(text:format "1, 3", device, random_matrix(4 * n, 3), random_matrix(5, 3), y, 4 * n)
    end)

  it("share out no frames that are mostly empty", function()
    local compiled = check([[function(a, n)
      for i = 1, n do for j = i, i + 2 do a[i][j] = a[i][j] * 2 end end
    end]], device, random_matrix(n, n + 2), n)
    assert.not_matches("get_global_id%(1%)", assert(loops.compile(
      "function(a, n) for i = 1, n do for j = i, i + 2 do a[i][j] = a[i][j] * 2 end end end",
      { device = device, force = true, target = "cpu" })):source())
    assert.is_table(compiled)
  end)

  it("go downwards and in steps", function()
    check([[function(a, b, n)
      for i = n, 1, -1 do for j = n, 2, -2 do
        for k = 1, n do b[i][j] = b[i][j] + a[i][k] * a[k][j] end
      end end
      for i = 2, n, 3 do for j = 1, n do b[i][j] = b[i][j] + a[j][i] end end
    end]], device, random_matrix(n, n), random_matrix(n, n), n)
  end)

  it("have a place for each pass of a loop in steps", function()
    for _, bounds in ipairs { "1, n, 2", "n, 1, -3" } do
      check(([[function(a, b, n)
        for i = 1, n do for j = %s do
          local s = 0.0
          for k = 1, n do s = s + a[i][k] * a[k][j] end
          b[i][j] = s
        end end
      end]]):format(bounds), device, random_matrix(2 * n, 2 * n), random_matrix(2 * n, 2 * n), 2 * n)
    end
  end)

  it("are within the error of their sums in fast mode", function()
    local text = [[function(a, b, c, n)
      for i = 1, n do for j = 1, n do
        local s = 0.0
        for k = 1, n do s = s + a[i][k] * b[k][j] end
        c[i][j] = s
      end end
    end]]
    local f, a, b = assert(load("return " .. text))(), random_matrix(n, n), random_matrix(n, n)
    local exact, bound = random_matrix(n, n), random_matrix(n, n)
    f(a, b, exact, n)
    local function magnitude(list)
      local other = copy(list)
      for _, row in ipairs(other) do for j = 1, n do row[j] = math.abs(row[j]) end end
      return other
    end
    f(magnitude(a), magnitude(b), bound, n)
    for _, shape in ipairs(shapes) do
      local compiled = assert(loops.compile(text, { device = device, force = true, mode = "fast",
        target = shape.target, tiles = shape.tiles }))
      local c = device:zeros("float", n, n)
      compiled(device:buffer(a, "float"), device:buffer(b, "float"), c, n)
      for i, row in ipairs(c:read()) do
        for j, value in ipairs(row) do
          assert.is_true(math.abs(value - exact[i][j]) <= (n + 3) * 2 ^ -24 * bound[i][j], shape.name)
        end
      end
    end
  end)

  it("change with the numbers of the device", function()
    local compiled = assert(loops.compile(SYRK, { device = device, force = true, target = "cpu" }))
    compiled(random_matrix(3, 3), random_matrix(3, 3), 3)
    local before = compiled:source()
    local row = tuning.of(device, "loops", "double")
    for key, value in pairs(SMALL) do row[key] = value end
    row.units, row.where = nil, nil
    tuning.use(device, "loops", "double", row)
    local own = assert(loops.compile(SYRK, { device = device, force = true }))
    own(random_matrix(3, 3), random_matrix(3, 3), 3)
    local after = own:source()
    tuning.use(device, "loops", "double", nil)
    assert.matches("TILE_2x2", after)
    assert.not_matches("TILE_2x2", before)
  end)

  it("change with them where a call is repeated on the same buffers", function()
    local compiled = assert(loops.compile(SYRK, { device = device, force = true }))
    local a, c = device:zeros("double", 3, 3), device:zeros("double", 3, 3)
    for _ = 1, 3 do compiled(a, c, 3) end
    local row = tuning.of(device, "loops", "double")
    row.rows, row.columns, row.units, row.where = 3, 3, nil, nil
    tuning.use(device, "loops", "double", row)
    compiled(a, c, 3)
    local after = compiled:source()
    tuning.use(device, "loops", "double", nil)
    assert.matches("TILE_3x3", after)
  end)
end)

describe("the shape of kernels", function()
  local text = "function(a, n) for i = 1, n do a[i] = 2 * a[i] end end"

  it("is refused where no kernel can have it", function()
    for _, case in ipairs { { { rows = 0 }, "rows: integer from 1 to 16 expected, got 0" },
      { { vector = 3 }, "vector: one of 1, 2, 4, 8, 16 expected, got 3" },
      { { lane = 1 << 20 }, "lane: integer from 1 to 4096 expected" },
      { { kernel = "blocks" }, "kernel: one of tiles, items expected" } } do
      helper.raises("loops.compile: option 'tiles': " .. case[2], loops.compile, text, { tiles = case[1] })
    end
    assert(loops.compile(text, { tiles = { kernel = "items" } })) -- on a GPU, whose groups it takes
    helper.raises("group: integer from 1", loops.compile, text, { target = "cpu", tiles = { kernel = "items" } })
    local for_gpu = assert(loops.compile(text, { device = helper.device(), tiles = { kernel = "items" } }))
    if helper.device().type == "cpu" then helper.raises("group: integer from 1", for_gpu, { 1.0 }, 1) end
    helper.raises("option 'tiles': unknown option 'colums'", loops.compile, text, { tiles = { colums = 2 } })
    helper.raises("option 'tiles': option 'rows': integer expected, got string", loops.compile, text,
      { tiles = { rows = "2" } })
    helper.raises("option 'target': cpu or gpu expected, got 'fpga'", loops.compile, text, { target = "fpga" })
    helper.raises("option 'tiles': table expected, got integer", loops.compile, text, { tiles = 8 })
  end)

  it("is what was given when a function was compiled, whatever becomes of the table", function()
    local sum = [[function(a, b, n)
      for i = 1, n do for j = 1, n do for k = 1, n do b[i][j] = b[i][j] + a[i][k] * a[k][j] end end end
    end]]
    local tiles, sources = { rows = 2, columns = 2 }, {}
    for i, target in ipairs { "cpu", "gpu" } do
      local compiled = assert(loops.compile(sum, { device = helper.device(), force = true, target = target,
        tiles = tiles }))
      tiles.rows = 3
      compiled(random_matrix(3, 3), random_matrix(3, 3), 3)
      sources[i] = compiled:source()
    end
    assert.matches("TILE_2x2", sources[1])
    assert.not_matches("get_group_id", sources[1])
    assert.matches("TILE_3x2", sources[2])
    assert.matches("get_group_id", sources[2])
  end)

  it("is told by explain", function()
    local compiled = assert(loops.compile(text, { device = helper.device(), force = true, target = "cpu" }))
    compiled({ 1.0 }, 1)
    assert.matches("in tiles", compiled:explain())
  end)
end)

describe("the order of loops", function()
  local function loop(id, parallel, body, from)
    local node = { kind = "for", parallel = parallel, body = body, variable = { id = id }, step = 1 }
    node.from = from and { kind = "name", variable = from } or { kind = "number", value = 1 }
    node.to = { kind = "number", value = 9 }
    return node
  end

  --- Names of nested loops, the outermost first.
  local function order(node)
    local names = {}
    while node and node.kind == "for" do names[#names + 1], node = node.variable.id, node.body[1] end
    return table.concat(names)
  end

  it("changes as far as loops stay parallel", function()
    local k = loop("k", true, {})
    local tree = { body = { loop("i", false, { loop("j", true, { k }) }) } }
    interchange.apply(tree, function() end, false)
    assert.equal("jki", order(tree.body[1]))
    tree = { body = { loop("i", false, { loop("j", true, { loop("k", true, {}) }) }) } }
    interchange.apply(tree, function() k.parallel = true end, true)
    assert.equal("jki", order(tree.body[1]))
  end)

  it("is restored where a loop is not parallel outside, or work-items are lost", function()
    for _, is_wide in ipairs { false, true } do
      local j, k = loop("j", true, {}), loop("k", true, {})
      j.body[1] = k
      local i = loop("i", false, { j })
      local tree = { body = { i } }
      interchange.apply(tree, function() k.parallel = order(tree.body[1]):find "^jk" == nil end, is_wide)
      assert.equal(is_wide and "ijk" or "jik", order(tree.body[1]))
      assert.equal(not is_wide, i.is_moved)
    end
  end)

  it("stays where bounds depend on it", function()
    local i = loop("i", false, {})
    i.body[1] = loop("j", true, {}, i.variable)
    local tree = { body = { i } }
    interchange.apply(tree, error, false)
    assert.equal("ij", order(tree.body[1]))
  end)
end)
