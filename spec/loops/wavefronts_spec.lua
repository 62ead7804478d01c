-- SPDX-License-Identifier: MIT
--- Sequential nests in wavefronts, as they go on devices that need many work-items: which ones, in how many launches,
-- and that results are those of Lua to the bit.

local copies = require "spec.support.copies"
local explain = require "clcompute.loops.explain"
local helper = require "spec.helper"
local loops = require "clcompute.loops"

local SEIDEL = [[function(a, n, steps)
  for t = 1, steps do for i = 2, n - 1 do for j = 2, n - 1 do
    a[i][j] = (a[i-1][j-1] + a[i-1][j] + a[i-1][j+1] + a[i][j-1] + a[i][j] + a[i][j+1] + a[i+1][j-1] + a[i+1][j]
      + a[i+1][j+1]) / 9
  end end end
end]]

local BACKWARD = [[function(a, n)
  for i = n - 1, 2, -1 do for j = n - 1, 2, -1 do a[i][j] = a[i][j] - 0.25 * (a[i + 1][j] + a[i][j + 1]) end end
end]]

local TRIANGLE = [[function(a, n)
  for i = 2, n do for j = 2, i do a[i][j] = 0.5 * a[i - 1][j - 1] + 0.25 * (a[i - 1][j] + a[i][j - 1]) end end
end]]

local function matrix(n)
  local rows = {}
  for i = 1, n do
    rows[i] = {}
    for j = 1, n do rows[i][j] = 4 * math.random() - 2 end
  end
  return rows
end

local function compiled(text, options)
  local all = { force = not (options and options.tiles) or nil, target = "gpu" }
  for key, value in pairs(options or {}) do all[key] = value end
  return assert(loops.compile(text, all))
end

--- The wavefronts of a function's first nest, or nil.
local function wavefront_of(text, options)
  local kernel = explain.specialisation(compiled(text, options).state).plan.kernels[1]
  return kernel and kernel.wavefront
end

local function coefficients_of(text)
  local list, mark = {}, wavefront_of(text)
  for i, term in ipairs(mark.terms) do list[i] = term.coefficient end
  return list, mark.follower.variable.name
end

--- Runs a function in Lua and on a device; returns how many launches there were.
local function check(text, device, ...)
  local expected, got = copies.of { ... }, copies.of { ... }
  assert(load("return " .. text))()(table.unpack(expected))
  local f = compiled(text, { device = device })
  f(table.unpack(got))
  assert.same(expected, got)
  return f:stats().launches
end

describe("a sequential nest goes in wavefronts", function()
  it("whose sum isl finds", function()
    assert.same({ { 4, 2, 1 }, "j" }, { coefficients_of(SEIDEL) })
    assert.same({ { -1, -1 }, "j" }, { coefficients_of(BACKWARD) })
    assert.same({ { 1, 1 }, "j" }, { coefficients_of(TRIANGLE) })
  end)

  it("on devices that need many work-items only, and not in the paper's way", function()
    assert.is_nil(wavefront_of(SEIDEL, { target = "cpu" }))
    assert.is_nil(wavefront_of(SEIDEL, { heuristics = "paper" }))
  end)

  it("if some loops have them, not if each pass needs the one before", function()
    assert.is_nil(wavefront_of "function(a, n) for i = 1, n do for j = 1, n do a[1] = a[1] * 0.5 + i end end end")
    assert.is_nil(wavefront_of "function(a, n) for i = 2, n do a[i] = a[i - 1] end end")
    local in_steps = SEIDEL:gsub("n %- 1 do", "n - 1, 2 do")
    assert.is_nil(wavefront_of(in_steps))
  end)

  it("also within a loop on the host, and with loops and locals in its passes", function()
    local text = [[function(a, b, n, steps)
      for t = 1, steps do
        for i = 2, n do for j = 2, n do
          local s = a[i - 1][j]
          for k = 1, 3 do s = s * 0.5 + b[k][j] end
          if j > 3 then a[i][j] = s + a[i][j - 1] end
        end end
        b[1][t] = a[t][t]
      end
    end]]
    for _, n in ipairs { 3, 4, 9 } do check(text, helper.device(), matrix(n), matrix(n), n, 3) end
  end)

  it("of fewer loops where isl's scheduler gives up with all of them", function()
    local text = [[function(a, n, m) for i = 1, m + 3 do for j = n - i, n - 2 do for k = 1, 7 do
      a[k + i + 6][k + 5] = 0.5; a[k + j + 3][2 * i + 8] = a[k + 4][j + i + 2] * 0.5
    end end end end]]
    assert.is_table(wavefront_of(text))
    for n = 4, 9 do check(text, helper.device(), matrix(24), n, 2) end
  end)

  it("however much it reads", function()
    local reads = {}
    for i = 1, 11 do reads[i] = ("local s%d = 0.0%s"):format(i, (" + b[1]"):rep(100)) end
    local text = "function(a, b, n) for i = 2, n do for j = 2, i do %s; a[i][j] = a[i - 1][j] + a[i][j - 1] end end end"
    assert.is_table(wavefront_of(text:format(table.concat(reads, "; "))))
  end)

  it("and explains itself", function()
    local f = compiled(SEIDEL)
    assert.matches("in wavefronts 4 t + 2 i + j, work-items (i, t)", f:explain(), 1, true)
    assert.matches("for j .- follows from the wavefront", f:explain())
  end)
end)

describe("wavefronts compute what Lua does", function()
  local device = helper.device()

  it("for every size, in a launch each", function()
    for _, n in ipairs { 0, 1, 2, 3, 4, 7, 33 } do
      for _, steps in ipairs { 0, 1, 3 } do
        local launches = check(SEIDEL, device, matrix(n), n, steps)
        local is_empty = n < 3 or steps == 0
        assert.equal(is_empty and 0 or 4 * (steps - 1) + 3 * (n - 3) + 1, launches)
      end
      check(BACKWARD, device, matrix(n), n)
      check(TRIANGLE, device, matrix(n), n)
    end
  end)

  it("for nests at random", function()
    local found, tries = 0, 0
    while found < 12 do -- about two in five
      tries = tries + 1
      assert(tries <= 80, "hardly any go in wavefronts")
      local function bounds(name, outer)
        local low = outer and math.random(3) == 1 and outer or "3"
        if math.random(4) == 1 then return ("%s = n - 2, %s, -1"):format(name, low) end
        return ("%s = %s, n - 2"):format(name, low)
      end
      local function near(name)
        local offset = math.random(-2, 2)
        return offset == 0 and name or ("%s %s %d"):format(name, offset < 0 and "-" or "+", math.abs(offset))
      end
      local terms = {}
      for i = 1, math.random(2, 5) do terms[i] = ("a[%s][%s]"):format(near "i", near "j") end
      local text = ("function(a, n, steps) %sfor %s do for %s do a[i][j] = 0.2 * (%s) end end %send"):format(
        math.random(2) == 1 and "for t = 1, steps do " or "do ", bounds "i", bounds("j", "i"),
        table.concat(terms, " + "), "end ")
      local n = math.random(4, 14)
      local mark = wavefront_of(text)
      found = found + (mark and 1 or 0)
      local ok, message = pcall(check, text, device, matrix(n), n, math.random(0, 3))
      assert(ok, ("%s: %s"):format(text, message))
    end
  end)
end)

describe("the diagonals of two loops", function()
  local device = helper.device()

  local function has_diagonals(text, options)
    return compiled(text, options):explain():find("for i + j", 1, true) ~= nil
  end

  local function nest(body, head)
    return ("function(a, b, n, m) %s %s end end end"):format(head or "for i = 2, n do for j = 2, m do", body)
  end

  -- They are launches; one group, and all groups, share them in one.
  local WAYS = { { force = true }, { tiles = { spread = 1 << 30 }, is_task = true },
    { tiles = { spread = 1 }, is_task = true } }

  --- Calls a function some times, and compares what is in its two matrices with what they are to have.
  local function compare(f, way, values, expected, ...)
    local a, b = device:buffer(values[1], "double"), device:buffer(values[2], "double")
    for _ = 1, 3 do
      a:write(device:buffer(values[1], "double"))
      b:write(device:buffer(values[2], "double"))
      local before = f:stats().launches
      if way.is_task then assert(helper.call_on_device(20, f, a, b, ...)) else f(a, b, ...) end
      assert.same(expected, { a:read(), b:read() })
      if way.is_task then assert.equal(before + 1, f:stats().launches) end
    end
  end

  it("are a loop of their own, whose passes groups share", function()
    for _, body in ipairs {
      "a[i][j] = 0.5 * a[i - 1][j] + 0.25 * a[i][j - 1]",
      "if b[i][j] > 0 then a[i][j] = a[i - 1][j - 1] + 1 else a[i][j] = math.max(a[i - 1][j], a[i][j - 1]) end",
      "local s = a[i - 1][j]; for k = 1, 3 do s = s * 0.5 + b[k][j] end; if j > 3 then a[i][j] = s + a[i][j - 1] end",
      "a[i][j] = a[i - 1][j] * 0.5 + i - j; b[j][i] = a[i][j - 1] * 0.5 + b[j][i - 1] * 0.5",
    } do
      local text = nest(body)
      assert.is_true(has_diagonals(text), text)
      for _, way in ipairs(WAYS) do
        local f = compiled(text, { device = device, tiles = way.tiles })
        for _, size in ipairs { { 2, 2 }, { 2, 9 }, { 9, 2 }, { 24, 13 }, { 11, 24 } } do
          local values = { matrix(24), matrix(24) }
          local expected = copies.of(values)
          assert(load("return " .. text))()(expected[1], expected[2], table.unpack(size))
          compare(f, way, values, expected, table.unpack(size))
        end
      end
    end
  end)

  it("are wavefronts where bounds differ from row to row, steps are others, or a row is further behind", function()
    for text, head in pairs {
      ["a[i][j] = a[i - 1][j] + a[i][j - 1]"] = "for i = 2, n do for j = 2, i do",
      ["a[i][j] = a[i - 1][j] + 2 * a[i][j - 1]"] = "for i = 2, n do for j = m, 2, -1 do",
      ["a[i][j] = a[i - 1][j + 1] + a[i][j - 1]"] = "for i = 2, n do for j = 2, m do",
    } do
      assert.is_false(has_diagonals(nest(text, head)), text)
    end
    assert.is_false(has_diagonals(nest "a[i][j] = a[i - 1][j] + a[i][j - 1]", { target = "cpu" }))
    assert.is_false(has_diagonals(SEIDEL))
  end)
end)
