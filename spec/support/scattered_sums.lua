-- SPDX-License-Identifier: MIT
--- Loops that sum in elements of which data say where they are, and what they are called with.

local helper = require "spec.helper"
local random_reductions = require "spec.support.random_reductions"

local scattered_sums = {}

local list_of = random_reductions.list_of

local PLACES, COLUMNS = 5, 4 -- of the arrays that sums are in
scattered_sums.PLACES = PLACES

--- Eighths, whose sums are the same in any order.
function scattered_sums.eighth() return math.random(-64, 64) / 8 end

function scattered_sums.any() return 2 * math.random() - 1 end

--- The function that has a body.
function scattered_sums.text_of(body) return ("function(h, t, c, k, l, x, n) %s end"):format(body) end

function scattered_sums.in_loop(body) return scattered_sums.text_of(("for i = 1, n do %s end"):format(body)) end

local text_of, in_loop = scattered_sums.text_of, scattered_sums.in_loop

-- What may be shared out, with floats (or not).
scattered_sums.SUMS = {
  in_loop "h[k[i]] = h[k[i]] + x[i]",
  in_loop "h[k[i]] = x[i] * 0.5 + h[k[i]] - 0.125",
  in_loop "local j = k[i]; c[j] = c[j] + 1; for m = 1, 4 do t[j][m] = t[j][m] + x[i] * m end",
  in_loop "if x[i] > 0.0 then h[k[i]] = h[k[i]] + x[i] elseif x[i] < -4.0 then h[l[i]] = h[l[i]] - x[i] end",
  in_loop "t[k[i]][l[i]] = t[k[i]][l[i]] - x[i]",
  in_loop "for j = l[i], k[i] do h[j] = h[j] + x[i] end",
  text_of "for s = 1, 3 do for i = 1, n do h[k[i]] = h[k[i]] + x[i] * s end end",
  text_of "for i = 1, n // 8 do for j = i, n // 4 do h[k[j]] = h[k[j]] + x[i] end end",
  text_of "for i = n, 1, -2 do h[k[i]] = h[k[i]] + x[i]; c[l[i]] = c[l[i]] - i end",
  text_of [=[for y = 1, 20 do
    local d = y * 0.5
    for j = 1, n // 20 do h[k[j]] = h[k[j]] + d end
  end]=],
  text_of [=[for s = 1, 3 do
    for i = 1, n do h[k[i]] = h[k[i]] + x[i] end
    for i = 1, n do x[i] = x[i] * 0.5 end
  end]=],
  in_loop "for m = 1, l[i] do for j = m, 4 do h[j] = h[j] + x[i] end end",
  in_loop "local j = k[i]; h[j] = 2.0 - x[i] + (h[j] or 7)",
}
scattered_sums.SUMS_OF_INTEGERS = {
  in_loop "c[k[i]] = c[k[i]] + 1",
  in_loop "c[k[i]] = (c[k[i]] or 0) + 1",
  in_loop "c[k[i]] = i * i - 3 + c[k[i]]; c[l[i]] = c[l[i]] - l[i]",
  in_loop "c[(k[i] - 1) * 4 + l[i]] = c[(k[i] - 1) * 4 + l[i]] + i",
  in_loop "for j = 1, 3 do c[k[i] + j] = c[k[i] + j] + j end",
}

-- What keeps its order, although it is much the same.
scattered_sums.NO_SUMS = {
  in_loop "x[i] = h[k[i]]; h[k[i]] = h[k[i]] + 1.5",
  in_loop "h[k[i]] = h[k[i]] * 0.5 + x[i]",
  in_loop "h[k[i]] = x[i] - h[k[i]]",
  in_loop "h[k[i]] = h[k[i]] + h[k[i]]",
  in_loop "h[k[i]] = h[k[i]] + h[1]",
  in_loop "h[k[i]] = h[l[i]] + x[i]",
  in_loop "h[k[i]] = h[k[i]] + x[i]; h[l[i]] = 0.5",
  in_loop "c[c[i % 3 + 1] % 2 + 1] = c[c[i % 3 + 1] % 2 + 1] + 1",
  text_of "local s = 0.0; for i = 1, n do s = s + x[i]; h[k[i]] = h[k[i]] + s end",
  text_of [=[local function twice(v) return v + v end
    for i = 1, n do h[k[i]] = twice(h[k[i]]) end]=],
}

function scattered_sums.pick(list) return list[math.random(#list)] end

local pick = scattered_sums.pick

--- A place of an array for `i` and `m`, which its extent holds.
local function place(around)
  local keys = { "k[i]", "l[i] + 1", "(k[i] + l[i]) % 5 + 1", "i % 5 + 1", "k[n + 1 - i]" }
  local array = pick { "h", "c", "t" }
  if array ~= "t" then return ("%s[%s]"):format(array, pick(keys)) end
  return ("t[%s][%s]"):format(pick(keys), pick { "l[i]", "l[i]", around[2] or "l[i] // 2 + 1" })
end

local function update(around)
  local x = place(around)
  local e = x:find "^c" and pick { "1", "i", "k[i] * l[i]", "(i - 3)" } or pick { "x[i]", "0.5", "x[i] * 0.25", "x[1]" }
  return pick({ "%s = %s + %s", "%s = %s - %s", "%s = %s + %s - 1" }):format(x, x, e)
end

local function block(around, depth)
  local parts = {}
  for i = 1, math.random(2) do
    local way = depth > 0 and math.random(6) or 6
    if way == 1 then
      parts[i] = ("if x[i] > 0.0 then %s else %s end"):format(block(around, 0), block(around, 0))
    elseif way == 2 then
      parts[i] = ("for m = 1, %s do %s end"):format(pick { "4", "l[i]", "1" }, block({ "i", "m" }, 0))
    else
      parts[i] = update(around)
    end
  end
  return table.concat(parts, "; ")
end

--- A random loop of such sums.
function scattered_sums.random_loop()
  local inner = ("for i = %s do %s end"):format(pick { "1, n", "1, n", "n, 1, -1", "2, n, 3" }, block({ "i" }, 2))
  return text_of(math.random(4) > 1 and inner or ("for s = 1, 2 do %s end"):format(inner))
end

--- Arguments for n passes, with floats that a function makes.
function scattered_sums.values_of(n, element)
  return { list_of(PLACES, element), helper.matrix(PLACES, COLUMNS, element),
    list_of(PLACES * COLUMNS, function() return math.random(-9, 9) end),
    list_of(n, function() return math.random(PLACES) end), list_of(n, function() return math.random(COLUMNS) end),
    list_of(n, element), n }
end

return scattered_sums
