-- SPDX-License-Identifier: MIT
-- Flat arrays as matrices: a[(i - 1) * n + j] is a[i][j], with all that is proved of that; where a row is left, a call
-- does what it does in Lua.

local copies = require "spec.support.copies"
local helper = require "spec.helper"
local loops = require "clcompute.loops"
local random_flat = require "spec.support.random_flat"
local random_nests = require "spec.support.random_nests"
local shapes = require "spec.support.loop_shapes"

local function rounded(value) return (string.unpack("f", string.pack("f", value))) end

--- A list that keeps what a buffer of a dtype would.
local function kept(list, dtype)
  local inner = {}
  for i, value in ipairs(list) do inner[i] = dtype == "float" and rounded(value) or value end
  return setmetatable({}, { __index = inner, __len = function() return #inner end,
    __newindex = function(_, i, value)
      assert(inner[i], "an element that is not there")
      inner[i] = dtype == "float" and rounded(value) or value * 1.0
    end })
end

local function list_of(count)
  local list = {}
  for i = 1, count do list[i] = math.random() - 0.5 end
  return list
end

--- Calls a function in Lua and compiled, on tables and on buffers; all must leave the same.
local function compare(compiled, text, device, lists, ...)
  local in_lua = assert(load("return " .. text))()
  local expected, got = copies.of(lists), copies.of(lists)
  in_lua(table.unpack(table.move({ ... }, 1, select("#", ...), #lists + 1, expected)))
  compiled(table.unpack(table.move({ ... }, 1, select("#", ...), #lists + 1, got)))
  for i in ipairs(lists) do assert(copies.are_equal(expected[i], got[i]) and #expected[i] == #got[i], text) end
  for _, dtype in ipairs { "double", "float" } do
    for i, list in ipairs(lists) do
      expected[i] = kept(list, dtype)
      got[i] = #list > 0 and device:buffer(list, dtype) or device:zeros(dtype, 0)
    end
    in_lua(table.unpack(expected, 1, #lists + select("#", ...)))
    compiled(table.unpack(got, 1, #lists + select("#", ...)))
    for i, list in ipairs(lists) do
      local values = #list > 0 and got[i]:read() or {}
      for at, value in ipairs(values) do assert.equal(expected[i][at], value, text) end
    end
  end
end

-- Of matrices of n x n; flat ones are made of them.
local NESTS = {
  product = { letters = "abc", [[function(a, b, c, n)
    for i = 1, n do for j = 1, n do
      local s = 0.0
      for k = 1, n do s = s + a[i][k] * b[k][j] end
      c[i][j] = s
    end end
  end]] },
  stencil = { letters = "ab", [[function(a, b, n)
    for t = 1, 3 do
      for i = 2, n - 1 do for j = 2, n - 1 do
        b[i][j] = 0.2 * (a[i][j] + a[i][j - 1] + a[i][j + 1] + a[i - 1][j] + a[i + 1][j])
      end end
      for i = 2, n - 1 do for j = 2, n - 1 do a[i][j] = b[i][j] end end
    end
  end]] },
  convolution = { letters = "abc", [[function(a, b, c, n)
    for i = 2, n - 1 do for j = 2, n - 1 do
      local s = 0.0
      for p = -1, 1 do for q = -1, 1 do s = s + a[i + p][j + q] * c[p + 2][q + 2] end end
      b[i][j] = s
    end end
  end]] },
  transposition = { letters = "ab", [[function(a, b, n)
    for i = 1, n do for j = 1, n do b[j][i] = a[i][j] end end
  end]] },
  triangle = { letters = "ab", [[function(a, b, n)
    for i = 1, n do for j = 1, i do
      for k = 1, n do b[i][j] = b[i][j] + a[i][k] * a[j][k] end
    end end
  end]] },
  ["LU decomposition"] = { letters = "a", [[function(a, n)
    for k = 1, n do
      for i = k + 1, n do a[i][k] = a[i][k] / (a[k][k] + 3) end
      for i = k + 1, n do for j = k + 1, n do a[i][j] = a[i][j] - a[i][k] * a[k][j] end end
    end
  end]] },
  ["shortest paths"] = { letters = "a", [[function(a, n)
    for k = 1, n do for i = 1, n do for j = 1, n do
      a[i][j] = math.min(a[i][j], a[i][k] + a[k][j])
    end end end
  end]] },
}

-- The same, with locals for places.
local BY_LOCALS = {
  product = [[function(a, b, c, n)
    for i = 1, n do local row = (i - 1) * n for j = 1, n do
      local s, at = 0.0, row + j
      for k = 1, n do local below = (k - 1) * n s = s + a[row + k] * b[below + j] end
      c[at] = s
    end end
  end]],
  transposition = [[function(a, b, n)
    local pitch = n
    for i = 1, n do
      local row = (i - 1) * pitch
      for j = 1, n do local at = row + j b[i + (j - 1) * pitch] = a[at] end
    end
  end]],
}

--- What is said of the loops and the plan, but for lines and the names of elements.
local function found(compiled)
  local text = compiled:explain():gsub("^.-\nloops:", ""):gsub("sequential: .- %->", "sequential ->")
  return (text:gsub("%d+: ", ""):gsub("line %d+", "line"))
end

helper.describe_each("flat arrays", function(device)
  local sizes = helper.is_simulator(device) and { 0, 1, 7 } or { 0, 1, 19, 34 }

  for name, nest in pairs(NESTS) do
    it("are matrices: " .. name, function()
      local text = random_flat.text(nest[1], nest.letters, "n", true)
      for _, target in ipairs { "cpu", "gpu" } do
        local options = { device = device, force = true, target = target }
        local compiled = assert(loops.compile(text, options))
        assert.equal(found(assert(loops.compile(nest[1], options))), found(compiled))
        for _, n in ipairs(sizes) do
          local lists = {}
          for i = 1, #nest.letters do lists[i] = list_of(math.max(n, 3) * math.max(n, 3)) end
          if name ~= "convolution" then for i in ipairs(lists) do lists[i] = list_of(n * n) end end
          if name ~= "convolution" or n > 2 then compare(compiled, text, device, lists, n) end
        end
        assert.is_true(compiled:stats().launches > 0)
      end
    end)
  end

  it("may have locals for places", function()
    for name, text in pairs(BY_LOCALS) do
      local compiled = assert(loops.compile(text, { device = device, force = true }))
      assert.equal(found(assert(loops.compile(NESTS[name][1], { device = device, force = true }))), found(compiled))
      local n = sizes[#sizes]
      compare(compiled, text, device, name == "product" and { list_of(n * n), list_of(n * n), list_of(n * n) }
        or { list_of(n * n), list_of(n * n) }, n)
    end
  end)

  it("may have three dimensions", function()
    for _, place in ipairs { "((z + %d - 1) * h + y + %d - 1) * w + x + %d",
      "(z + %d - 1) * h * w + (y + %d - 1) * w + x + %d", "w * h * (z + %d) - w * h + w * (y + %d - 1) + x + %d" } do
      local function at(z, y, x) return place:format(z, y, x) end
      local text = ([[function(a, b, w, h, d)
        for z = 2, d - 1 do for y = 2, h - 1 do for x = 2, w - 1 do
          b[%s] = a[%s] + a[%s] * 0.5 + a[%s] * 0.25 + a[%s] / 3
        end end end
      end]]):format(at(0, 0, 0), at(-1, 0, 0), at(1, 0, 0), at(0, 1, 0), at(0, 0, -1))
      local compiled = assert(loops.compile(text, { device = device, force = true }))
      assert.matches("rows of h x w; b: table of double, rank 1 in rows of h x w", compiled:explain())
      compare(compiled, text, device, { list_of(3 * 5 * 7), list_of(3 * 5 * 7) }, 7, 5, 3)
      assert.equal(3, compiled:stats().launches)
    end
  end)

  it("may be counted from anywhere", function()
    for base, texts in pairs { [0] = { "i * n + j", "(i + 1) * n - n + j" },
      { "i * n + j + 1", "n * i + 1 + j", "(n - 1 - i) * n + j + 1", "i * n + n - j", "(i + 1) * n - j" } } do
      for _, place in ipairs(texts) do
        local text = ("function(a, n) for i = 0, n - 1 do for j = 0, n - 1 do a[%s] = i - j + 0.5 end end end"):format(
          place)
        local compiled = assert(loops.compile(text, { device = device, force = true, base = base }))
        local expected, got = {}, {}
        for i = base, base + 24 do expected[i], got[i] = 0.0, 0.0 end
        load("return " .. text)()(expected, 5)
        compiled(got, 5)
        assert.same(expected, got)
        assert.equal(1, compiled:stats().launches, place)
      end
    end
  end)

  it("have rows of lengths, upvalues, locals and sums of them", function()
    local width, x = 4, list_of(4)
    local function of_upvalues(a) for i = 1, 3 do for j = 1, width do a[(i - 1) * width + j] = x[j] * i end end end
    local function of_length(a) for i = 1, 3 do for j = 1, #x do a[(i - 1) * #x + j] = x[j] * i end end end
    local function of_local(a, n)
      local m = n
      local pitch = m - 1
      for i = 1, 3 do
        local row = (i - 1) * pitch
        for j = 1, pitch do a[row + j] = x[j] * i end
      end
    end
    local function of_sum(a, n) for i = 1, 3 do for j = 1, n - 1 do a[(i - 1) * (n - 1) + j] = x[j] * i end end end
    local expected = list_of(12)
    of_upvalues(expected)
    for _, f in ipairs { of_upvalues, of_length, of_local, of_sum } do
      local compiled, got = assert(loops.compile(f, { device = device, force = true })), list_of(12)
      compiled(got, f ~= of_upvalues and f ~= of_length and 5 or nil)
      assert.same(expected, got)
      assert.equal(1, compiled:stats().launches)
    end
  end)

  it("have rows that data name", function()
    local text = [[function(a, n)
      for k = 1, n do
        local p = k
        for i = k + 1, n do
          if math.abs(a[(i - 1) * n + k]) > math.abs(a[(p - 1) * n + k]) then p = i end
        end
        for j = 1, n do a[(p - 1) * n + j], a[(k - 1) * n + j] = a[(k - 1) * n + j], a[(p - 1) * n + j] end
        for i = k + 1, n do a[(i - 1) * n + k] = a[(i - 1) * n + k] / a[(k - 1) * n + k] end
        for i = k + 1, n do for j = k + 1, n do
          a[(i - 1) * n + j] = a[(i - 1) * n + j] - a[(i - 1) * n + k] * a[(k - 1) * n + j]
        end end
      end
    end]]
    local compiled = assert(loops.compile(text, { device = device, force = true }))
    assert.matches("7:   for j        parallel", compiled:explain())
    for n = 0, 5 do compare(compiled, text, device, { list_of(n * n) }, n) end
    text = [[function(y, b, val, row, col, n, m)
      for i = 1, n do
        for k = row[i], row[i + 1] - 1 do
          for j = 1, m do y[(i - 1) * m + j] = y[(i - 1) * m + j] + val[k] * b[(col[k] - 1) * m + j] end
        end
      end
    end]]
    compiled = assert(loops.compile(text, { device = device, force = true }))
    local lists, row, col = { list_of(12), list_of(12), list_of(5) }, { 1, 3, 4, 6 }, { 1, 3, 2, 2, 3 }
    assert.matches("4:     for j      parallel", compiled:explain())
    local expected, got = copies.of(lists), copies.of(lists)
    load("return " .. text)()(expected[1], expected[2], expected[3], row, col, 3, 4)
    compiled(got[1], got[2], got[3], row, col, 3, 4)
    assert.same(expected, got)
    assert.equal(1, compiled:stats().launches)
    col[2] = 4
    local _, message = pcall(compiled, got[1], got[2], got[3], row, col, 3, 4)
    assert.matches("line 4: attempt to perform arithmetic on a nil value %(b%[%(col%[k%] %- 1%) %* m %+ j%]%): "
      .. "row 4 is outside of 1 %.%. 3$", message)
    table.move(list_of(4), 1, 4, 13, lists[2])
    lists[2][17] = 0.5 -- and part of another row
    expected, got = copies.of(lists), copies.of(lists)
    load("return " .. text)()(expected[1], expected[2], expected[3], row, col, 3, 4)
    compiled(got[1], got[2], got[3], row, col, 3, 4)
    assert.same(expected, got)
  end)

  it("are flat where a row is left", function()
    local text = [[function(a, n, m)
      for i = 1, n do for j = 1, m do a[(i - 1) * n + j] = a[(i - 1) * n + j] * i + j end end
    end]]
    local compiled = assert(loops.compile(text, { device = device, force = true }))
    local store = text:gsub("= a%b[] %*", "= #a *")
    local refused = assert(loops.compile(store, { device = device, force = true }))
    for _, m in ipairs { 4, 6, 5 } do
      compare(compiled, text, device, { list_of(26) }, 5, m)
      compare(refused, store, device, { list_of(26) }, 5, m)
      if m == 6 then assert.matches("a: %S+ of %S+, rank 1, flat: its rows are left", refused:explain()) end
    end
    assert.equal(6, refused:stats().launches) -- with 4 and 5 elements of each row
  end)

  it("are flat where it takes too long to tell whether a row is left", function()
    local text = [[function(a, n, m) -- whose loops change places
      for j = 2, m do for i = 1, n do a[(i - 1) * n + j] = a[(i - 1) * n + j - 1] * 0.5 + i end end
    end]]
    local bounds = require("clcompute.loops.analysis").bounds
    local analyse = bounds.analyse
    local compiled = assert(loops.compile(text, { device = device, force = true }))
    bounds.analyse = function() return nil, "too long" end
    local ok, message = pcall(compare, compiled, text, device, { list_of(35) }, 5, 10)
    bounds.analyse = analyse
    assert.is_true(ok, message)
  end)

  it("keep what is behind their last row", function()
    local text = "function(a, n) for i = 1, n do for j = 1, n do a[(i - 1) * n + j] = i + j end end end"
    local compiled = assert(loops.compile(text, { device = device, force = true }))
    for _, n in ipairs { 0, 3, 4 } do compare(compiled, text, device, { list_of(n * n + 2) }, n) end
    assert.equal(6, compiled:stats().launches)
  end)

  it("may have a last row that is not whole", function()
    local text = "function(a, n) for i = 1, n do for j = 1, n - 2 do a[(i - 1) * n + j] = i + j end end end"
    local compiled = assert(loops.compile(text, { device = device, force = true }))
    for less = 0, 2 do compare(compiled, text, device, { list_of(25 - less) }, 5) end
    assert.equal(9, compiled:stats().launches)
    local ok, message = pcall(compiled, list_of(22), 5)
    assert.is_false(ok)
    assert.matches("a%[23%] is needed at line 1 for n=5, but #a is 22$", message)
  end)

  it("may have a last row of one element, or of more dimensions", function()
    local text = "function(a, b, n, inc) for i = 1, n do a[(i - 1) * inc + 1] = b[(n - i) * inc + 1] * 2 end end"
    local compiled = assert(loops.compile(text, { device = device, force = true }))
    compare(compiled, text, device, { list_of(13), list_of(13) }, 5, 3)
    text = [[function(v, w, h, d)
      for z = 1, d do for y = 1, h do for x = 1, w do
        if z < d or y < h - 1 or y < h and x < w - 1 then v[((z - 1) * h + y - 1) * w + x] = x + y * z end
      end end end
    end]]
    local in_slabs = assert(loops.compile(text, { device = device, force = true }))
    compare(in_slabs, text, device, { list_of(4 * 5 * 6 - 6 - 2) }, 6, 5, 4)
    assert.equal(6, compiled:stats().launches + in_slabs:stats().launches)
    for _, count in ipairs { 111, 107, 83, 17 } do -- less of the last row, of the last slab, and of others
      local ok, message = pcall(in_slabs, list_of(count), 6, 5, 4)
      assert.is_false(ok)
      assert.matches(("v%%[112%%] is needed at line 3.*, but #v is %d$"):format(count), message)
    end
  end)

  it("may be one array", function()
    local text = [[function(a, b, n, m)
      for i = 1, n do for j = 1, n do a[(i - 1) * n + j] = b[(i - 1) * m + j] + i end end
    end]]
    local compiled = assert(loops.compile(text, { device = device, force = true }))
    local same = text:gsub("%* m", "* n")
    local with_same = assert(loops.compile(same, { device = device, force = true }))
    for _, m in ipairs { 3, 5 } do
      local expected = list_of(25)
      local got, buffer = copies.of({ expected })[1], device:buffer(expected, "double")
      load("return " .. text)()(expected, expected, 4, m)
      compiled(got, got, 4, m)
      compiled(buffer, buffer, 4, m)
      assert.same(expected, got)
      assert.same(expected, buffer:read())
    end
    local list = list_of(16)
    local expected = copies.of({ list })[1]
    load("return " .. same)()(expected, expected, 4, 4)
    with_same(list, list, 4, 4)
    assert.same(expected, list)
    assert.equal(1, with_same:stats().launches)
  end)

  it("tell what is missing as it is written", function()
    local text = "function(a, b, w, n)\n  for i = 1, n do\n    for j = 1, w do a[(i - 1) * w + j] = b[i * w + j] end"
      .. "\n  end\nend"
    local compiled = assert(loops.compile(text, { device = device, force = true }))
    for expected, arguments in pairs {
      ["a[12] is needed at line 3 for n=3, w=4, but #a is 11"] = { list_of(11), list_of(16), 4, 3 },
      ["b[16] is needed at line 3 for n=3, w=4, but #b is 12"] = { list_of(12), list_of(12), 4, 3 },
      ["argument #3 'w': it is used in bounds or subscripts, so an integer is expected, got 2.5"] =
        { list_of(12), list_of(16), 2.5, 3 },
    } do
      local ok, message = pcall(compiled, table.unpack(arguments))
      assert.is_false(ok)
      assert.equal(expected, message:sub(-#expected))
    end
    local a, b = list_of(12), list_of(16)
    compiled(a, b, 4.0, 3)
    assert.same({ table.unpack(b, 5) }, a)
    assert.matches("a[(i - 1) * w + j] = b[i * w + j]", compiled:source(), 1, true)
    local from_0 = assert(loops.compile("function(a, n) for i = 0, n do for j = 1, n do a[(i - 1) * n + j] = 0 end end "
      .. "end", { device = device, force = true }))
    local _, message = pcall(from_0, list_of(9), 3)
    assert.matches("a%[%-2%] is needed at line 1 for n=3, but a begins at 1$", message)
  end)

  it("do what random functions do in Lua", function()
    local count, n = 6, 6
    if helper.is_simulator(device) then count, n = 30, 3 end
    if os.getenv "LONG" then count = 50 * count end
    local ran = 0
    while ran < count do
      local seed = math.random(1 << 30)
      math.randomseed(seed)
      local text = random_flat.text(random_nests.text(), "abp", "w"):gsub("return function%((.-)%)",
        "return function(%1, w)")
      local values, shape = random_nests.arguments(n, text), shapes[math.random(#shapes)]
      for _, i in ipairs { 1, 2, 4 } do values[i] = random_flat.values(values[i]) end
      values[9] = math.random(3) > 1 and n + 4 or math.random(n + 4)
      local in_lua = assert(load(text))()
      local compiled = loops.compile(in_lua, { device = device, force = true, target = shape.target,
        tiles = shape.tiles })
      local expected, got = copies.of(values), copies.of(values)
      if compiled and text:find "%* w" and pcall(in_lua, table.unpack(expected)) then
        ran = ran + 1
        compiled(table.unpack(got))
        for i, value in ipairs(got) do
          assert(copies.are_equal(expected[i], value), ("seed %d, argument %d\n%s"):format(seed, i, text))
        end
      end
    end
  end)
end)
