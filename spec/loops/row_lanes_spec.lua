-- SPDX-License-Identifier: MIT
-- Rows of sequential nests as lanes of vectors.

local helper = require "spec.helper"
local loops = require "clcompute.loops"

local N = 75

describe("rows as lanes", function()
  local device = helper.device()
  local random = math.random

  local function has_lanes(compiled) return compiled:source():find "store_%a+%([%w_]+_done0" ~= nil end

  -- Tiles so small that all sizes here have many.
  local function compile(text, mode)
    return assert(loops.compile(text, { device = device, force = true, tiles = { lane = 32 }, mode = mode or "exact" }))
  end

  local function numbers(dtype, ...)
    local is_real = dtype == "double" or dtype == "float"
    local function element() return is_real and random(-8, 8) * 0.5 or random(0, 3) end
    local columns = select("#", ...) == 2 and select(2, ...)
    if columns then return helper.matrix(..., columns, element) end
    local list = {}
    for i = 1, (...) do list[i] = element() end
    return list
  end

  --- Runs `function(d, a, b, c, n, m)` compiled and in Lua for each n and m, and compares what is in d. Returns whether
  -- rows were lanes.
  local function compare(text, dtype, sizes)
    local compiled, in_lua = compile(text, dtype == "float" and "fast"), assert(load("return " .. text))()
    for _, size in ipairs(sizes) do
      local d, a, b, c = numbers(dtype, N + 8, N + 8), numbers("int", N + 8), numbers("int", N + 8),
        numbers(dtype, N + 8, N + 8)
      local buffer = device:buffer(d, dtype)
      compiled(buffer, device:buffer(a, "long"), device:buffer(b, "int"), device:buffer(c, dtype), table.unpack(size))
      in_lua(d, a, b, c, table.unpack(size))
      assert.same(d, buffer:read(), text)
    end
    local has = has_lanes(compiled)
    compiled:close()
    return has
  end

  local HEADS = { "for i = 4, n do for j = 4, m do", "for i = 4, n do for j = 4, math.min(m, i + 2) do",
    "for i = 4, n do for j = i, m do", "for i = 4, n do for j = n - i + 4, m do",
    "for i = 4, n do for j = math.max(4, i - 30), math.min(m, i + 30) do" }

  -- What reads what a row, and the one before, have stored; what is not stored yet; other arrays.
  local OWN = { "d[i][j - 1]", "d[i][j - 1]", "d[i][j - 2]", "d[i][j - 3]" }
  local ABOVE = { "d[i - 1][j]", "d[i - 1][j - 1]", "d[i - 1][j - 2]", "d[i - 1][j + 1]" }
  local OTHERS = { "d[i][j]", "d[i + 1][j]", "d[i + 1][j - 1]", "d[i][j + 2]", "c[i][j]", "c[i - 1][j + 2]",
    "c[j][i]", "b[j]", "b[j + 3]", "a[i]", "a[i - 1]", "a[3]", "c[2][5]", "c[i][3]", "c[i + j - 3 - i][i]", "i", "j",
    "n", "1", "-2" }
  local function one_of(list) return list[random(#list)] end

  local BODIES = {
    function(own, above, x, y)
      return ("d[i][j] = math.%s(%s, %s) %s %s"):format(one_of { "min", "max" }, own, above, one_of { "+", "-" }, x), y
    end,
    function(own, above, x, y)
      return ("local s = %s; if a[i] %s b[j] then s = s + %s end; d[i][j] = math.max(s, %s, %s)"):format(above,
        one_of { "==", "~=", "<", ">=" }, x, own, y)
    end,
    function(own, above, x, y)
      return ("if a[i] == b[j] and %s < %s then d[i][j] = %s else d[i][j] = math.min(%s, %s) end"):format(x, y, x, own,
        above)
    end,
    function(own, above, x, y)
      return ("local t = a[i] > b[j] and %s or %s; d[i][j] = t - %s"):format(own, above, one_of { x, y })
    end,
  }
  BODIES[5] = function(own, above, x, y)
    return ("local one, two, three = %s, %s, %s; local best = %s; if one > best then best = one end;"
      .. " if two + 1 > best and a[i] ~= b[j] then best = two end; if three < best then best = three - 1 end;"
      .. " d[i][j] = best"):format(own, above, x, y)
  end
  local REAL = {
    function(own, above, x, y) return ("d[i][j] = 0.25 * (%s + %s - %s) + 0.125 * %s"):format(own, above, x, y) end,
    function(own, above, x, y)
      return ("local cost = math.abs(%s - %s); d[i][j] = cost / 2 + math.min(%s, %s) * -0.5"):format(x, y, own, above)
    end,
  }

  local function random_nest(dtype)
    local own, above, x, y = one_of(OWN), one_of(ABOVE), one_of(OTHERS), one_of(OTHERS)
    local body = one_of(dtype == "double" and random(2) == 1 and REAL or BODIES)(own, above, x, y)
    return ("function(d, a, b, c, n, m) for _ = 1, 2 do %s %s end end end end"):format(one_of(HEADS), body)
  end

  local function compare_body(body, dtype)
    return compare(("function(d, a, b, c, n, m) for i = 4, n do for j = 4, m do %s end end end"):format(body), dtype,
      { { 30, 50 }, { 12, 9 } })
  end

  helper.on_cpu("are none where a local is a subscript of a store, or an integer is compared with a float", function()
    for _, body in ipairs { "local k = j; d[i][k] = math.min(d[i][j - 1], d[i - 1][j])",
      "local k = i; d[k][j] = math.min(d[i][j - 1], d[i - 1][j])" } do
      assert.is_false(compare_body(body, "long"))
    end
    local choice = "d[i][j] = %s and d[i][j - 1] or d[i - 1][j]"
    assert.is_false(compare_body(choice:format "a[i] > 1.5", "double"))
    assert.is_true(compare_body(choice:format "c[i][j] > 2", "double"))
  end)

  helper.on_cpu("have the one of two stores that a condition decides", function()
    local nest = "for i = 4, n do for j = 4, m do if a[i] == b[j] then d[i][j] = d[i - 1][j - 1]"
      .. " else d[i][j] = math.min(d[i - 1][j], d[i][j - 1]) + 1 end end end"
    for _, form in ipairs { "%s", "if n > 3 then %s end", "if n > 40 then d[1][1] = 2 else %s end" } do
      assert.is_true(compare(("function(d, a, b, c, n, m) %s end"):format(form:format(nest)), "long", { { 30, 50 } }))
    end
  end)

  helper.on_cpu("are two passes behind each other where they read one further on in the row before", function()
    for _, head in ipairs(HEADS) do
      local text = "function(d, a, b, c, n, m) %s d[i][j] = math.min(d[i - 1][j + 1], d[i][j - 2]) + b[j] end end end"
      assert.is_true(compare(text:format(head), "long", { { 73, 75 }, { 30, 11 }, { 11, 70 }, { 4, 60 } }))
    end
  end)

  helper.on_cpu("have the results of Lua, whatever they read", function()
    local count, forms = 0, helper.long(1000) or 30
    for _ = 1, forms do
      local dtype = one_of { "long", "double", "float" }
      local has = compare(random_nest(dtype), dtype, { { 73, 75 }, { 30, 11 }, { 11, 70 }, { 4, 60 } })
      count = count + (has and 1 or 0)
    end
    assert.is_true(count > forms // 4, ("%d of %d"):format(count, forms))
  end)

  helper.on_cpu("have integers with a minus, -0 too", function()
    for _, body in ipairs { "d[i][j] = math.max(d[i - 1][j], d[i][j - 1] - b[j], -0)",
      "d[i][j] = math.max(-b[j], d[i - 1][j - 1] - d[i][j - 1])" } do
      for _, dtype in ipairs { "long", "double" } do assert.is_true(compare_body(body, dtype), body) end
    end
  end)
end)
