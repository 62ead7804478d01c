-- SPDX-License-Identifier: MIT
--- Random functions whose loops wait for each other, with sums in their passes that work-items of a group may share.
--
-- They take a matrix and three vectors of floats, a matrix and a vector of integers, and n.

local list_of = require("spec.support.random_reductions").list_of

local random_tasks = {}

local function pick(list) return list[math.random(#list)] end

local BOUNDS = { "1, i - 1", "i + 1, n", "1, n", "n, i + 1, -1", "1, n, 2", "2, i", "5, 3", "1, n // 2" }

local TERMS = { "a[i][j]", "a[i][j] * y[j]", "a[j][i] * x[j]", "y[j] * 0.5", "x[j] * a[i][j]", "y[j] - x[j]",
  "math.abs(a[i][j])", "0.25 * j" }

local SUMS = { "s = s - T", "s = s + T; r = r * 0.5 + T", "z[i] = z[i] + T", "s = math.max(s, T)", "k = k + q[j] * j",
  "k = k + p[i][j]; s = s * T + 1", "z[i] = z[i] - T; s = s + T", "local d = T; s = s + d * d; a[i][j] = d * 0.5",
  "m = m * 0.5 + T", "x[i] = T - x[i]" }

local OTHERS = { "y[i] = s", "y[i] = s / (a[i][i] + 3.0)", "x[i] = y[i] * 0.5 + s", "z[i] = r + s", "q[i] = k % 97",
  "m = s + m * 0.5", "s = s + y[i]", "s = z[1] - r", "if s > 0.0 then s = s * 0.5 end",
  "if x[i] > 0.0 then z[i] = s end", "for l = 1, 3 do y[i] = y[i] * 0.5 + x[l] end",
  "for l = 1, n do z[l] = z[l] + 0.125 * s end", "for l = 1, n do x[l] = x[l] * 0.5 + y[i] end",
  "local d = y[1] * s; z[i] = d", "y[1] = y[1] + s", "local t = x[i]; for l = 1, n do y[l] = y[l] + t end",
  "k = k + 1", "p[i][1] = k % 11", "for l = i, n do a[l][i] = a[l][i] * 0.5 + m end",
  "for l = 1, 3 do s = math.sqrt(math.abs(s)) + x[l] end; x[i] = s" }

local function sum()
  return (("for j = %s do %s end"):format(pick(BOUNDS), pick(SUMS)):gsub("T", function() return pick(TERMS) end))
end

--- The lines of a loop whose passes have sums in them; `m` may be a local from before it.
local function add_loop(lines, has_m)
  local function add(...) lines[#lines + 1] = ("    %s"):format((...):format(select(2, ...))) end
  lines[#lines + 1] = ("  for i = %s do"):format(pick { "1, n", "n, 1, -1", "2, n", "1, n, 2" })
  add("local s, r, k = %s, 1.0, %s", pick { "x[i]", "y[i]", "0.5", "a[i][i]" }, pick { "3", "q[i]" })
  if not has_m then add "local m = z[i]" end
  for _ = 1, math.random(2) do
    if math.random(3) == 1 then lines[#lines + 1] = "    " .. pick(OTHERS) end
    lines[#lines + 1] = "    " .. sum()
    for _ = 1, math.random(0, 2) do lines[#lines + 1] = "    " .. pick(OTHERS) end
  end
  add "z[i] = z[i] * 0.5 + s * 0.25 + r * 0.125; q[i] = q[i] + k"
  if math.random(2) == 1 then add "y[i] = m" end
  lines[#lines + 1] = "  end"
end

--- A function's text.
function random_tasks.text()
  local lines, has_m = { "function(a, x, y, z, p, q, n)" }, math.random(2) == 1
  if has_m then lines[2] = "  local m = x[1]" end
  for _ = 1, math.random(2) do add_loop(lines, has_m) end
  lines[#lines + 1] = "end"
  return table.concat(lines, "\n")
end

--- Values for the parameters.
-- @tparam integer n
-- @tparam function float gives elements
function random_tasks.arguments(n, float)
  local function integer() return math.random(-99, 99) end
  local function matrix(element) return list_of(n, function() return list_of(n, element) end) end
  return { matrix(float), list_of(math.max(n, 3), float), list_of(n, float), list_of(n, float), matrix(integer),
    list_of(n, integer), n }
end

return random_tasks
