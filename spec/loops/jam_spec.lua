-- SPDX-License-Identifier: MIT
--- Passes of sequential loops jammed into one of the vectors within them: where that is done, where dependences forbid
-- it, and that results are those of Lua to the bit.

local copies = require "spec.support.copies"
local explain = require "clcompute.loops.explain"
local helper = require "spec.helper"
local loops = require "clcompute.loops"
local random_jams = require "spec.support.random_jams"
local rows = require "clcompute.suite.polykernels"

local SIZES = { 0, 1, 2, 3, 4, 5, 7, 8, 9, 63, 64, 65, 100 }

--- A nest in a parallel loop over h; `%s` is what stands in its loops.
local function nest(sequential, between, lane, statement)
  return ("function(w, a, u, x, m, n) for h = 1, m do for i = %s do %sfor k = %s do %s end %send end end"):format(
    sequential, between and "for j = " .. between .. " do " or "", lane, statement, between and "end " or "")
end

local function compiled(text, options)
  local all = { force = true, target = "cpu", tiles = { jam = 4 } }
  for key, value in pairs(options or {}) do all[key] = value end
  return assert(loops.compile(text, all))
end

--- What became of the sequential loops of a function: a list of passes, or of obstacles.
local function jams_of(text, options)
  local f, list = compiled(text, options), {}
  for _, kernel in ipairs(explain.specialisation(f.state).plan.kernels) do
    for _, jam in ipairs(kernel.tiles and kernel.tiles.jams or {}) do list[#list + 1] = jam.obstacle or jam.passes end
  end
  return list, f
end

--- Runs a function in Lua and on a device, on tables of doubles.
local function check(text, device, jam, values)
  local expected, got = copies.of(values), copies.of(values)
  assert(load("return " .. text))()(table.unpack(expected))
  compiled(text, { device = device, tiles = { jam = jam, vector = 4, lane = 64, block = 5 } })(table.unpack(got))
  for i, value in ipairs(got) do assert.is_true(copies.are_equal(expected[i], value), ("argument %d"):format(i)) end
end

local STRMM = "function(a, b, n) for i = 2, n do for j = 1, n do for k = 1, i - 1 do"
  .. " b[j][k] = b[j][k] + a[i][k] * b[j][i] end end end end"
local SUNK = "function(a, b, c, n) for j = 1, n do for i = 1, n do local s = 0.25 * c[i][j]"
  .. " if n > 2 then for k = 1, i do s = s * 0.5 + a[i][k] * b[k][j] end end c[i][j] = s + 1.0 end end end"
local ROW = "w[h][n + 8][k] = w[h][n + 8][k] * 0.5 + "
local LEGAL = {
  { "a column left of the lane", nest("3, n + 2", nil, "3, i - 1", ROW .. "w[h][n + 8][i] * a[i][k]") },
  { "one further left", nest("3, n + 2", nil, "3, i - 2", ROW .. "w[h][n + 8][i - 1] * a[i][k]") },
  { "a lane that grows backwards", nest("n + 2, 3, -1", nil, "i + 1, n + 2", ROW .. "w[h][n + 8][i] * a[i][k]") },
  { "in steps", nest("4, n + 2, 2", nil, "3, i - 1", ROW .. "w[h][n + 8][i] * a[i][k]") },
  { "in steps backwards", nest("n + 2, 3, -3", "3, n + 2", "i, n + 2", "w[h][j][k] = w[h][j][k] + a[i][k] * u[j]") },
  { "both ends", nest("3, n + 2", nil, "n + 5 - i, i", ROW .. "a[i][k]") },
  { "a range that shrinks to nothing", nest("3, n + 2", nil, "i, n + 5 - i", ROW .. "u[i] * i") },
  { "a lane backwards", nest("3, n + 2", nil, "n + 2, 3, -1", ROW .. "a[i][k]") },
  { "a row for each pass", nest("3, n + 2", nil, "3, n + 2", ROW .. "a[i][k] w[h][i][k] = w[h][n + 8][k] * x") },
  { "a local", nest("3, n + 2", nil, "3, i - 1", "local t = a[i][k] * i " .. ROW .. "t * t") },
  { "who reads further than it goes", nest("n + 2, 3, -3", nil, "i + 1, n + 2", ROW .. "w[h][n + 8][i - 1]") },
  { "sums in places", SUNK },
}
local ILLEGAL = {
  { "w[h][n + 8][i] (line 1) reads what w[h][n + 8][k] (line 1) wrote",
    nest("3, n + 2", nil, "i + 1, n + 2", ROW .. "w[h][n + 8][i] * a[i][k]") },
  { "w[h][n + 8][i - 1] (line 1) reads what w[h][n + 8][k] (line 1) wrote",
    nest("4, n + 2", nil, "i, n + 2", ROW .. "w[h][n + 8][i - 1] * a[i][k]") },
  { "w[h][n + 8][i + 1] (line 1) reads what w[h][n + 8][k] (line 1) wrote",
    nest("n + 2, 3, -1", nil, "3, i", ROW .. "w[h][n + 8][i + 1]") },
  { "w[h][j + 1][i] (line 1) reads what w[h][j][k] (line 1) wrote",
    nest("3, n + 2", "3, n + 2", "i + 1, n + 2", "w[h][j][k] = w[h][j][k] + w[h][j + 1][i] * x") },
  { "w[h][j][k] (line 1) overwrites what w[h][j - 1][i] (line 1) read",
    nest("3, n + 2", "3, n + 2", "3, i - 1", "w[h][j][k] = w[h][j][k] + w[h][j - 1][i] * x") },
  { "w[h][i - 1][k + 1] (line 1) reads what w[h][i][k] (line 1) wrote",
    nest("3, n + 2", nil, "3, n + 2", ROW .. "w[h][i - 1][k + 1] w[h][i][k] = a[i][k]") },
  { "w[h][i][k] (line 1) overwrites what w[h][i + 1][k - 1] (line 1) read",
    nest("3, n + 2", nil, "3, n + 2", ROW .. "w[h][i + 1][k - 1] w[h][i][k] = a[i][k]") },
  { "w[h][n + 9][k + i] (line 1) overwrites what w[h][n + 9][k + i] (line 1) read",
    nest("3, n + 2", nil, "3, n + 2", ROW .. "x w[h][n + 9][k + i] = w[h][n + 9][k + i] * 0.5 + a[i][k]") },
  { "w[h][i + j + n][k] (line 1) overwrites what w[h][i + j + n][k] (line 1) read",
    nest("3, n + 2", "3, n + 2", "3, n + 2", "w[h][j][k] = w[h][j][k] * 0.5 + x "
      .. "w[h][i + j + n][k] = w[h][i + j + n][k] * 0.5 + a[i][k]") },
}

local WRITTEN_OUT = "a loop in it or around it is written out"
local COPIES = { "function(w, a, u, x, m, n) for h = 1, m do for _ = 1, 2 do for i = 3, n + 2 do"
  .. " for k = 5, 5 do w[h][n + 8][k] = w[h][n + 8][k] * 0.5 + w[h][n + 8][m + 2] end end end end end",
  nest("3, n + 2", nil, "5, 5", "for _ = 1, 2 do " .. ROW .. "w[h][n + 8][m + 2] end") }
for _, text in ipairs(COPIES) do ILLEGAL[#ILLEGAL + 1] = { WRITTEN_OUT, text } end

local function values_for(text, m, n)
  local values = random_jams.arguments(m, n)
  if text == STRMM then return { values[2], values[1][1], n } end
  if text == SUNK then return { values[2], values[1][1], values[1][2], n } end
  return values
end

describe("passes of a sequential loop are jammed", function()
  it("where those of the lane do not need each other", function()
    assert.same({ 4 }, (jams_of(STRMM)))
    assert.is_true(jams_of(STRMM, { tiles = {} })[1] > 1)
    for _, case in ipairs(LEGAL) do assert.same({ 4 }, (jams_of(case[2])), case[1]) end
  end)

  it("not where one needs another one of an earlier pass, or would come too late for it", function()
    for _, case in ipairs(ILLEGAL) do
      local found = jams_of(case[2])
      assert.truthy(found[1], case[2])
      for _, obstacle in ipairs(found) do assert.equal(case[1], obstacle, case[2]) end -- one of each copy of a loop
    end
  end)

  it("as many as keep the order: two where every third pass needs another one", function()
    local text = nest("3, n + 2", nil, "3, n + 2", ROW .. "w[h][i - 2][k + 1] w[h][i][k] = a[i][k]")
    assert.same({ 2 }, (jams_of(text, { tiles = { jam = 2 } })))
    assert.same({ "w[h][i - 2][k + 1] (line 1) reads what w[h][i][k] (line 1) wrote" },
      (jams_of(text, { tiles = { jam = 3 } })))
  end)

  it("where a lane grows by up to four elements a pass", function()
    for _, case in ipairs { { "3, n + 2", "4 * i" }, { "3, n + 2", "3 * i" }, { "4, n + 2, 2", "2 * i" },
      { "4, n + 2, 4", "i" } } do
      local sequential, last = table.unpack(case)
      assert.same({ 4 }, (jams_of(nest(sequential, nil, "3, " .. last, ROW .. "a[i][k]"))), last)
    end
  end)

  it("not where it spares nothing, bounds are uneven or grow fast, or numbers or the device say so", function()
    for _, text in ipairs {
      nest("3, n + 2", nil, "3, n + 2", "w[h][i][k] = w[h][i - 1][k] * 0.5 + a[i][k]"),
      nest("3, n + 2", nil, "3, i // 2 + 2", ROW .. "a[i][k]"),
      nest("3, n + 2", nil, "i, n + 2, 2", ROW .. "a[i][k]"),
      nest("3, n + 2", nil, "3, 5 * i - 4 * n", ROW .. "a[i][k]"),
      nest("4, n + 2, 2", nil, "3, 3 * i", ROW .. "a[i][k]"),
      nest("3, n + 2", "3, i", "3, n + 2", "w[h][j][k] = w[h][j][k] + a[i][k]"),
    } do assert.same({}, (jams_of(text)), text) end
    assert.same({}, (jams_of(STRMM, { tiles = { jam = 1 } })))
    assert.same({}, (jams_of(STRMM, { target = "gpu" })))
  end)

  it("and explained", function()
    assert.matches("a loop inside a work-item, 4 passes at a time", compiled(STRMM):explain(), 1, true)
    assert.matches("pass by pass: w[h][n + 8][i] reads what", compiled(ILLEGAL[1][2]):explain(), 1, true)
  end)

  it("in numbers from 1 to 16", function()
    for _, wrong in ipairs { 0, 17 } do
      assert.has_error(function() loops.compile(STRMM, { tiles = { jam = wrong } }) end,
        ("loops.compile: option 'tiles': jam: integer from 1 to 16 expected, got %d"):format(wrong))
    end
  end)
end)

helper.describe_each("jammed passes", function(device)
  local is_simulator = helper.is_simulator(device)
  local sizes = is_simulator and { 0, 1, 4, 9 } or SIZES

  --- Every third case where each is a build of half a second, or all.
  local function sample(cases)
    if is_simulator or helper.long(true) then return cases end
    local list = {}
    for i = 1, #cases, 3 do list[#list + 1] = cases[i] end
    return list
  end

  it("compute what Lua does, for every size", function()
    for _, jam in ipairs(helper.long { 1, 4, 7 } or { 7 }) do
      for _, n in ipairs(sizes) do check(STRMM, device, jam, values_for(STRMM, 2, n)) end
    end
    local step = helper.long(3) or 6
    for _, case in ipairs(sample(LEGAL)) do
      local jam = math.random(2, 8)
      for s = math.random(math.min(step, #sizes)), #sizes, step do
        check(case[2], device, jam, values_for(case[2], 2, sizes[s]))
      end
    end
  end)

  it("leave what is not jammed alone", function()
    for _, case in ipairs(sample(ILLEGAL)) do
      check(case[2], device, 4, values_for(case[2], 3, sizes[math.random(#sizes)])) -- COPIES read w[h][n + 8][m + 2]
    end
  end)

  it("leave the same floats as single passes in fast mode", function()
    local row = rows.load "strmm"
    for i = 2, #sizes do
      local arguments, texts = row.arguments(sizes[i], 1), {}
      for _, jam in ipairs { 1, 4 } do
        local list = copies.in_buffers(arguments, device, "float")
        compiled(STRMM, { device = device, mode = "fast", tiles = { jam = jam } })(table.unpack(list))
        texts[#texts + 1] = list[2]:string()
      end
      assert.equal(texts[1], texts[2])
    end
  end)

  it("compute what Lua does in nests at random", function()
    local wanted, jammed, refused = helper.long(12) or is_simulator and 5 or 4, 0, 0
    for _ = 1, 40 * wanted do
      if jammed >= wanted and refused > 0 then break end
      local seed = math.random(1 << 30)
      math.randomseed(seed)
      local text = random_jams.text():gsub("^return ", "")
      local jam = math.random(2, 8)
      local result = jams_of(text, { tiles = { jam = jam } })[1]
      if type(result) == "string" then refused = refused + 1 end
      if type(result) == "number" then
        jammed = jammed + 1
        local ok, message = pcall(check, text, device, jam,
          random_jams.arguments(math.random(3), math.random(0, is_simulator and 9 or 30)))
        assert(ok, ("seed %d, jam %d: %s\n%s"):format(seed, jam, message, text))
      end
    end
    assert.is_true(jammed >= wanted)
    assert.is_true(refused > 0)
  end)
end)
