-- SPDX-License-Identifier: MIT
--- Slices of arrays in the local memory of a GPU's groups: which ones, and that results stay what they are, to the bit.
-- LONG=1 tries twenty times as many nests at random.

local candidates = require "clcompute.tuning.candidates"
local copies = require "spec.support.copies"
local helper = require "spec.helper"
local known = require "clcompute.tuning.known"
local loops = require "clcompute.loops"
local options = require "clcompute.base.options"
local tune = require "clcompute.tune"
local tuning = require "clcompute.tuning"

-- Blocks of a group, all of other numbers: 4 x 4 elements, 8 x 12, those that GPUs get, 64 x 64, and 128 x 64.
local TINY = { rows = 2, columns = 2, group = 2, depth = 3 }
local SMALL = { rows = 2, columns = 3, group = 4, depth = 5 }
local GPU = { rows = 4, columns = 4, group = 16, depth = 16 }
local LARGE = { rows = 8, columns = 4, group = 16, depth = 16 }

local MMM = [[function(a, b, c, n)
  for i = 1, n do for j = 1, n do
    local s = 0.0
    for k = 1, n do s = s + a[i][k] * b[k][j] end
    c[i][j] = s
  end end
end]]

local SYRK = [[function(a, c, n)
  for i = 1, n do for j = 1, n do for k = j, n do c[j][k] = c[j][k] + a[i][j] * a[i][k] end end end
end]]

--- A nest of one statement in loops over i, j and k from 3 on.
local function nest(statement, to)
  return ("function(a, b, c, n) for i = 3, n do for j = 3, n do for k = 3, %s do %s end end end end"):format(to or "n",
    statement)
end

local PRODUCT = "c[i][j] = c[i][j] + a[i][k] * b[k][j]"

--- A product whose columns and terms have bounds of their own.
local function triangle(columns, terms)
  return ("function(a, b, c, n) for i = 3, n do for j = %s do for k = %s do %s end end end end"):format(columns, terms,
    PRODUCT)
end

-- A triangle of sums, each of which is stored twice.
local COVARIANCE = [[function(a, b, c, n)
  for i = 1, n do for j = i, n do
    c[i][j] = 0.0
    for k = 1, n do c[i][j] = c[i][j] + a[k][i] * a[k][j] end
    c[i][j] = c[i][j] / (n - 1)
    c[j][i] = c[i][j]
  end end
end]]

local function matrix(rows, columns)
  local list = {}
  for i = 1, rows do
    list[i] = {}
    for j = 1, columns or rows do list[i][j] = 4 * math.random() - 2 end
  end
  return list
end

local function compiled(text, tiles, others)
  return assert(loops.compile(text, options.merge({ force = true, target = "gpu", tiles = tiles }, others or {})))
end

--- What the first nest of a compiled function has in local memory, in words.
local function slices_of(f)
  return f:explain():match "in local memory (.-); reads" or "nothing"
end

local function promoted(text, tiles, others)
  return slices_of(compiled(text, tiles or LARGE, others))
end

--- What runs a function in Lua and on a device, where results must be the same to the bit; and the compiled one.
local function checker(text, tiles, device)
  local in_lua, on_device = assert(load("return " .. text))(), compiled(text, tiles, { device = device })
  return function(...)
    local expected, got = copies.of { ... }, copies.of { ... }
    in_lua(table.unpack(expected))
    on_device(table.unpack(got))
    for i, value in ipairs(expected) do
      assert(copies.are_equal(value, got[i]), ("argument %d is another one, rows = %d, %s"):format(i, tiles.rows, text))
    end
  end, on_device
end

local function pick(list) return list[math.random(#list)] end

--- A subscript: a loop's variable, or a place beside it.
local function near(name)
  return pick { name, name, name .. " + 1", name .. " - 2" }
end

--- An element of what is read, in loops over i (rows), j (columns) and k.
local function random_read()
  return pick {
    function() return ("a[%s][%s]"):format(near "i", near "k") end,
    function() return ("a[%s][%s]"):format(near "k", near "i") end,
    function() return ("a[n + 4 - i][%s]"):format(near "k") end,
    function() return ("b[%s][%s]"):format(near "k", near "j") end,
    function() return ("b[%s][%s]"):format(near "k", near "j") end,
    function() return ("b[%s][%s]"):format(near "i", near "j") end,
    function() return ("b[%s][%s]"):format(near "j", near "k") end,
    function() return ("b[%s][3]"):format(near "k") end,
  }()
end

--- A nest whose sums are in registers, and which may be in slices; arrays have n + 8 elements in each dimension.
local function random_nest()
  local function bounds() return pick { "3", "4" } .. ", " .. pick { "n", "n + 2", "n + 3" } end
  local is_triangle = math.random(3) == 1
  local lines = { ("function(a, b, c, n) for i = %s do for j = %s do"):format(bounds(),
    is_triangle and pick { "i, n + 2", "3, i" } or bounds()) }
  for _ = 1, math.random(2) do
    lines[#lines + 1] = ("for k = %s do"):format(math.random(2) == 1
      and pick { "i, n", "3, i + 1", "i + 3, n", "3, n - i", "j, n", "3, j + 1", "i, j", "3, n - j" } or bounds())
    for _ = 1, math.random(2) do
      lines[#lines + 1] = pick { "c[i][j] = c[i][j] + %s * %s", "c[i][j] = c[i][j] * 0.5 - %s * %s",
        "c[i][j] = %s + c[i][j] / 4 * %s" }:format(random_read(), random_read())
    end
    lines[#lines + 1] = "end"
  end
  if is_triangle and math.random(2) == 1 then lines[#lines + 1] = "c[j][i] = c[i][j]" end
  return table.concat(lines, "\n  ") .. "\nend end end"
end

describe("in local memory are", function()
  it("slices of what rows share, and of what columns share", function()
    assert.equal("16 passes of k of a, b", promoted(MMM))
    assert.equal("16 passes of i of a", promoted(SYRK))
    assert.equal("5 passes of k of a, b", promoted(MMM, SMALL))
    assert.equal("16 passes of k of a, b", promoted(nest "c[i][j] = c[i][j] + a[k][i + 2] * b[k - 2][j + 1]"))
    assert.equal("16 passes of k of b", promoted(nest "c[i][j] = c[i][j] + a[k][3] * b[k][j]"))
    assert.equal("16 passes of k of a, b", promoted(nest(PRODUCT, "n // 2 + 3")))
  end)

  it("none unless the numbers say so", function()
    assert.equal("16 passes of k of a, b", promoted(MMM, {}))
    assert.equal("nothing", promoted(MMM, { depth = 1 }))
    assert.equal("nothing", promoted(MMM, LARGE, { target = "cpu" }))
    assert.equal("nothing", promoted(MMM, { depth = 16, group = 1 }))
    assert.not_matches("local ", (compiled(MMM, { depth = 1 }):source():gsub("//[^\n]*", "")))
  end)

  it("none that the nest writes", function()
    assert.equal("16 passes of k of a", promoted(nest "b[i][j] = b[i][j] + a[i][k] * a[k][j]"))
    assert.equal("nothing", promoted [[function(a, n)
      for k = 1, n do for i = k + 1, n do for j = k + 1, n do a[i][j] = a[i][j] - a[i][k] * a[k][j] end end end
    end]])
    local f, a, b = compiled(nest(PRODUCT), TINY, { device = helper.device() }), matrix(9), matrix(9)
    f(a, b, b, 9) -- whose products are of what it writes
    assert.not_matches("in local memory", f:explain())
  end)

  it("none of loops that begin and end with the row, or grow where the columns do not", function()
    assert.equal("16 passes of k of a, b", promoted(nest(PRODUCT, "i")))
    assert.equal("16 passes of k of a, b", promoted(nest(PRODUCT, "j")))
    assert.equal("16 passes of k of a, b", promoted(triangle("i, n", "i, n")))
    assert.equal("nothing", promoted(triangle("i, n", "3, j")))
    assert.equal("nothing", promoted [[function(a, b, c, n)
      for i = 1, n do for j = 1, n do for k = i, 2 * i do c[i][j] = c[i][j] + a[i][k] * b[k][j] end end end
    end]])
    assert.equal("16 passes of k of a, b, 16 passes of l of a, b", promoted [[function(a, b, c, n)
      for i = 1, n do for j = 1, n do
        for k = 1, i do c[i][j] = c[i][j] + a[i][k] * b[k][j] end
        for l = 1, n do c[i][j] = c[i][j] + a[i][l] * b[l][j] end
      end end
    end]])
  end)

  it("none of sums whose mirrors are read, or before the loop", function()
    assert.equal("16 passes of k of a", promoted(COVARIANCE))
    assert.equal("nothing", promoted((COVARIANCE:gsub("c%[j%]%[i%] =", "b[i][j] = c[j][i] %0"))))
    assert.equal("nothing", promoted((COVARIANCE:gsub("c%[i%]%[j%] = 0.0", "%0 c[j][i] = c[i][j]"))))
    assert.equal("nothing", promoted((COVARIANCE:gsub("c%[j%]%[i%] =", "b[j][i] ="))))
  end)

  it("none that work-items do not share, or that have no neighbours", function()
    assert.equal("nothing", promoted("function(a, b, c, n) for i = 1, n do for j = 1, n do for k = 1, n do "
      .. "c[i][j] = c[i][j] + a[i + k] * b[j + k] end end end end"))
    assert.equal("nothing", promoted("function(a, b, c, n) for i = 1, n do for j = 1, n do for k = 1, n do "
      .. "c[i][j] = c[i][j] + a[k] * b[i][j] end end end end"))
    assert.equal("16 passes of k of b", promoted("function(a, b, c, n) for i = 1, n do for j = 1, n do for k = 1, n do "
      .. "c[i][j] = c[i][j] + a[i][k][3] * b[k][j] end end end end"))
    assert.equal("16 passes of k of a, b", promoted(nest "c[i][j] = c[i][j] + a[i][k] * b[j][k]"))
    assert.equal("nothing", promoted(nest "c[i][j] = c[i][j] + a[i][k] * b[j][2 * k]")) -- none of it
  end)

  it("none where the memory is too small", function()
    local device, was = helper.device(), tuning.facts
    local bytes = 8 * 16 * (8 * 16 + 4 + 4 * 16) -- doubles of 16 passes, in 128 rows, longer by 4, and 64 columns
    for _, memory in ipairs { bytes - 1, bytes } do
      tuning.facts = function(...) -- luacheck: ignore 122
        local facts = was(...)
        facts.local_memory = memory
        return facts
      end
      local ok, found = pcall(promoted, MMM, LARGE, { device = device })
      tuning.facts = was -- luacheck: ignore 122
      assert.equal(memory == bytes and "16 passes of k of a, b" or "nothing", ok and found or error(found))
    end
  end)

  it("arrays that the source shows, copied between barriers", function()
    local source = compiled(MMM, LARGE):source()
    assert.matches("local double slice1%[2112%]", source)
    assert.matches("local double slice2%[1024%]", source)
    assert.equal(4, select(2, source:gsub("barrier%(CLK_LOCAL_MEM_FENCE%)", ""))) -- of large tiles, and of small ones
    assert.equal(0, select(2, source:gsub("slice3", "")))
  end)
end)

--- What `clcompute tune loops` tries for a number.
local function values_of(kernel, name)
  for _, choice in ipairs(candidates.loops) do
    for _, pair in ipairs(choice.kernel == kernel and choice.values or {}) do
      if pair[1] == name then return pair end
    end
  end
end

describe("the passes of a slice", function()
  it("are refused where there cannot be so many", function()
    for _, case in ipairs { { 0, "depth: integer from 1 to 64 expected, got 0" }, { 65, "from 1 to 64 expected" },
      { -16, "from 1 to 64 expected" }, { "16", "option 'depth': integer expected, got string" },
      { 2.5, "option 'depth': integer expected" } } do
      helper.raises({ "loops.compile: option 'tiles': ", case[2] }, loops.compile, MMM, { tiles = { depth = case[1] } })
    end
  end)

  it("are what clcompute tune tries on devices that need many work-items", function()
    local device, was, tried = helper.device(), candidates.loops, {}
    local row = tuning.choose(known.loops, options.merge(tuning.facts(device, "float"), { type = "gpu" }))
    for name, number in pairs(GPU) do assert.equal(number, row[name]) end
    local small = options.merge(row, { rows = 2, group = 8, depth = 1 })
    small.where, small.units = nil, nil
    candidates.loops = { { kernel = "items", lines = { { row = "mmm", n = 40 } },
      values = { values_of("items", "depth") } } }
    for _, dtype in ipairs { "float", "double" } do tuning.use(device, "loops", dtype, small) end
    local ok, found = pcall(tune.run, device, { operations = { "loops" }, dtypes = { "float" }, seconds = 30,
      keep = false, progress = function(event) tried[event.name] = event.status end })
    candidates.loops = was
    for _, dtype in ipairs { "float", "double" } do tuning.use(device, "loops", dtype, nil) end
    assert.is_true(ok, found)
    for _, depth in ipairs { 8, 16, 32 } do assert.equal("ok", tried["depth = " .. depth]) end
    assert.is_not_nil(found[1].after.depth)
  end)
end)

helper.describe_each("slices in local memory change no bit", function(device)
  local is_slow = helper.is_simulator(device)

  it("of products of every size, in groups as GPUs have them", function()
    for _, tiles in ipairs { GPU, LARGE } do
      local run = checker(MMM, tiles, device)
      for _, n in ipairs(is_slow and { 17 } or { 0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 65, 127, 128, 129, 200 }) do
        run(matrix(n), matrix(n), matrix(n), n)
      end
    end
  end)

  it("of three loops in one nest, of which one goes as far as its row", function()
    local run = checker([[function(a, b, c, n)
      for i = 2, n do for j = 2, n do
        c[i][j] = 0.5
        for k = 1, n - 1 do c[i][j] = c[i][j] + a[i][k + 1] * b[k + 1][j] end
        for k = 2, i do c[i][j] = c[i][j] * 0.5 + b[i][k] * a[k][j] end
        for k = 2, n do c[i][j] = c[i][j] - b[i][k] * a[k][j - 1] end
        c[i][j] = c[i][j] / 4 + a[i][j]
      end end
    end]], TINY, device)
    for _, n in ipairs(is_slow and { 1, 4, 10 } or { 0, 1, 2, 3, 4, 5, 8, 11, 12, 16, 25, 33 }) do
      run(matrix(n), matrix(n), matrix(n), n)
    end
  end)
end)

describe("slices in local memory change no bit", function()
  -- A simulator, if there is one: it sees races, and compiles in no time.
  local device = require "clcompute".devices("oclgrind")[1] or helper.device()
  local sizes = { 1, 3, 4, 10 }

  it("of products of matrices that are not square", function()
    local text = [[function(a, b, c, m, n, l)
      for i = 1, m do for j = 1, n do
        for k = 1, l do c[i][j] = c[i][j] + a[i][k] * b[k][j] end
      end end
    end]]
    for _, tiles in ipairs { TINY, SMALL } do
      local run = checker(text, tiles, device)
      for _, shape in ipairs { { 8, 24, 10 }, { 9, 13, 4 }, { 17, 12, 6 }, { 7, 15, 5 }, { 8, 12, 0 } } do
        local m, n, l = table.unpack(shape)
        run(matrix(m, math.max(l, 1)), matrix(math.max(l, 1), n), matrix(m, n), m, n, l)
      end
    end
  end)

  for name, text in pairs {
    ["products of triangles"] = nest(PRODUCT, "i"),
    ["symmetric products"] = SYRK:gsub("a, c", "a, b, c"):gsub("a%[i%]%[k%]", "b[i][k] + b[i][j] * a[i][k]"),
    ["a transposed matrix"] = nest "c[i][j] = c[i][j] + a[k][i] * b[k][j]",
    ["the other transposed matrix"] = nest "c[i][j] = c[i][j] + a[i][k] * b[j][k]",
    ["sums from the column on"] = nest(PRODUCT, "n - j"),
    ["sums up to the column"] = nest(PRODUCT, "j"),
    ["sums between the row and the column"] = triangle("3, n", "i, j"),
    ["triangles of triangles"] = triangle("i, n", "i, n"),
    ["other triangles of triangles"] = triangle("3, i", "3, i"),
    ["sums up to twice the column, without a pass in some"] = nest(PRODUCT, "2 * j - n"),
    ["covariances"] = COVARIANCE,
    ["sums stored twice, of which one changes behind that"] = COVARIANCE:gsub("c%[j%]%[i%] = c%[i%]%[j%]",
      "%0 c[i][j] = c[i][j] * 2 + 1"),
    ["sums stored in one place twice"] = COVARIANCE:gsub("c%[j%]%[i%]", "c[i + 0][j + 0]"),
    ["sums stored three times"] = COVARIANCE:gsub("c%[j%]%[i%] = c%[i%]%[j%]", "%0 c[n + j][n + i] = c[i][j]"),
    ["loops that go with the row, the column, and neither"] = [[function(a, b, c, n)
      for i = 3, n do for j = 3, n do
        for k = 3, j do c[i][j] = c[i][j] + a[i][k] * b[k][j] end
        for k = i, n do c[i][j] = c[i][j] * 0.5 - a[i][k] * b[k][j] end
        for k = 3, n do c[i][j] = c[i][j] + a[k][i] * b[j][k] end
      end end
    end]],
    ["transposed matrices"] = nest "c[i][j] = c[i][j] + a[k][i] * b[k][j] - a[i][k] * b[j][k]",
    ["neighbours of elements"] = nest "c[i][j] = c[i][j] + a[i - 1][k] * b[k - 2][j] * a[i][k - 1] + b[k][j - 2]",
    ["elements in steps"] = nest "c[i][j] = c[i][j] + a[n - i + 1][k] * b[2 * k - 4][j]",
    ["two sums in one loop"] = [[function(a, b, c, n)
      for i = 1, n do for j = 1, n do
        local s, t = 0.0, 1.0
        for k = 1, n do
          s = s + a[i][k] * b[k][j]
          t = t - a[k][i] * b[k][j] * s
        end
        c[i][j] = s * t
      end end
    end]],
  } do
    it("of " .. name, function()
      for _, tiles in ipairs { TINY, SMALL } do
        local run = checker(text, tiles, device)
        for _, n in ipairs(tiles == TINY and sizes or { 17 }) do run(matrix(n), matrix(2 * n, n), matrix(2 * n), n) end
      end
    end)
  end

  it("of many products in one nest, in a range of three dimensions", function()
    local text = [[function(a, b, c, m, n)
      for l = 1, m do for i = 1, n do for j = 1, n do
        for k = l, n do c[l][i][j] = c[l][i][j] + a[l][i][k] * b[k][j] end
      end end end
    end]]
    local run = checker(text, TINY, device)
    for _, n in ipairs { 4, 9 } do
      local function cube() return { matrix(n), matrix(n), matrix(n) } end
      run(cube(), matrix(n), cube(), 3, n)
    end
    assert.equal("3 passes of k of a, b", promoted(text, TINY))
  end)

  it("of products within a loop on the host, again and again", function()
    local run = checker([[function(a, b, c, n)
      for t = 1, 3 do
        for i = 1, n do for j = 1, n do
          for k = t, n do c[i][j] = c[i][j] + a[i][k] * b[k][j] end
        end end
        for i = 1, n do for j = 1, n do a[i][j] = 0.5 * c[i][j] end end
      end
    end]], TINY, device)
    for _, n in ipairs { 8, 13 } do run(matrix(n), matrix(n), matrix(n), n) end
  end)

  it("of floats in fast mode", function()
    local own, plain = compiled(MMM, TINY, { device = device, mode = "fast" }),
      compiled(MMM, options.merge(TINY, { depth = 1 }), { device = device, mode = "fast" })
    for _, n in ipairs(sizes) do
      local found, a, b = {}, device:buffer(matrix(n), "float"), device:buffer(matrix(n), "float")
      for i, f in ipairs { own, plain } do
        local c = device:zeros("float", n, n)
        f(a, b, c, n)
        found[i] = c:string()
      end
      assert.is_true(found[1] == found[2], "n = " .. n)
    end
    assert.matches("local float slice1", own:source())
  end)

  it("of nests at random", function()
    local with_slices, count = 0, (helper.is_simulator(device) and 12 or 4) * (os.getenv "LONG" and 20 or 1)
    for _ = 1, count do
      local seed = math.random(1 << 30)
      math.randomseed(seed)
      local text, n = random_nest(), math.random(1, 14)
      local function any() return math.random(4) end
      local tiles = { rows = any(), columns = math.random(2), group = math.random(2, 3), depth = math.random(2, 5),
        few = pick { 0, 1 << 20 } }
      local run, f = checker(text, tiles, device)
      local ok, message = pcall(run, matrix(n + 8), matrix(n + 8), matrix(n + 8), n)
      assert(ok, ("seed %d, n = %d: %s"):format(seed, n, message))
      if slices_of(f) ~= "nothing" then with_slices = with_slices + 1 end
    end
    assert.is_true(with_slices > 0, "none has slices")
  end)
end)

describe("slices in local memory on an isolated device", function()
  it("change no bit either", function()
    if helper.device().type ~= "cpu" then return pending "only CPUs can be isolated" end
    local device <close> = require "clcompute".device(helper.device().place, { isolated = true })
    local run = checker(MMM, LARGE, device)
    for _, n in ipairs { 7, 130 } do run(matrix(n), matrix(n), matrix(n), n) end
  end)
end)
