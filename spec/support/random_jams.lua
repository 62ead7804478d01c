-- SPDX-License-Identifier: MIT
--- Random functions of what jams are for, valid for loops.compile: a parallel loop h, in it a sequential one over i,
-- a loop over j or none, and a loop over k that may be vectors. All of it updates an array w at places near each other,
-- so that passes of i often depend on each other.
--
-- They take w, of three dimensions, h first, a matrix a, a vector u, a number x, the number m of passes of h, and n.
-- Loop variables stay between 3 and n + 6; there are 3 n + 12 elements in each dimension.

local random_expressions = require "spec.support.random_expressions"

local random_jams = {}

local pick, chance = random_expressions.pick, random_expressions.chance

local OFFSETS = { "", "", "", " - 1", " + 1", " - 2", " + 2" }
local SEQUENTIAL = { "3, n + 2", "3, n + 2", "3, n + 2", "n + 2, 3, -1", "4, n + 2, 2", "n + 2, 3, -3" }
local WHOLE = { "3, n + 2", "3, math.min(n + 2, 2 * n)", "4, n", "n + 2, 3, -1", "4, n + 2, 2" }
local BESIDE = { "3, i - 1", "3, i - 1", "3, i - 2", "i + 1, n + 2", "i + 1, n + 2", "i + 2, n + 2", "i + 1, i + 4" }
local UNEVEN = { "3, i", "i, n + 2", "3, n + 5 - i", "n + 5 - i, n + 2", "i, n + 5 - i", "3, 2 * i - n", "i, 2 * i - 3",
  "3, i // 2 + 2", "i, n + 2, 2", "math.max(3, i - 2), math.min(i + 2, n + 2)" }

local function near(name)
  return name .. pick(OFFSETS)
end

local function number()
  return pick { "a[i][k]", "a[%s][%s]", "a[%s][k] * u[k]", "u[i]", "x", "u[k] * i" }:format(near "i", near "k")
end

--- An assignment that changes an element by a read.
local function statement(target, read)
  return pick { "%s = %s + %s * %s", "%s = %s - %s * %s", "%s = %s * 0.5 + %s * %s", "%s = (%s - %s) * %s" }:format(
    target, target, read, number())
end

-- What passes of i have to do with each other: a range of k, and statements.
local WAYS = {
  -- nothing, or the same element
  function(row)
    return pick(chance(2) and WHOLE or UNEVEN), { statement(row .. "[k]", number()) }
  end,
  -- an element of the row that the passes of k leave alone, or another row's
  function(row)
    local other = row:find "j" and chance(3) and "w[h][" .. near "j" .. "]" or row
    return pick(BESIDE), { statement(row .. "[k]", ("%s[%s]"):format(other, near "i")) }
  end,
  -- a row for each pass, which others read
  function()
    return pick(WHOLE), { statement("w[h][n + 9][k]", ("w[h][%s][%s]"):format(near "i", near "k")),
      statement("w[h][i][k]", number()) }
  end,
  -- a row for each pass beside the column of the next one
  function(row)
    local first = statement(row .. "[k]", ("w[h][%s][%s]"):format(near "i", chance(2) and "k" or "n + 9"))
    return pick(BESIDE), { first, statement(("w[h][%s][k]"):format(near "i"), number()) }
  end,
  -- one element after the other, in a row of its own
  function(row)
    return pick(WHOLE), { statement(row .. "[k]", "w[h][n + 9][k - i + n]"),
      statement("w[h][n + 9][k" .. pick { "", " + i", " - i + n", " - i + n + 1" } .. "]", number()) }
  end,
  -- one element, which every pass of i may read
  function(row) return pick { "5, 5", "i, i" }, { statement(row .. "[k]", row .. "[m + 2]") } end,
  -- one row after the other
  function(row)
    if not row:find "j" then return pick(WHOLE), { statement(row .. "[k]", "x") } end
    local other = pick { "w[h][i + j + n][k]", "w[h][j - i + 2 * n + 2][k]", "w[h][j + n + 2][k + i]" }
    return pick(WHOLE), { statement(row .. "[k]", other), statement(other, number()) }
  end,
}

--- Statements, or a loop of few passes that has them: what is written out.
local function repeated(body, how_rarely)
  return chance(how_rarely) and "for _ = 1, 2 do " .. body .. " end" or body
end

--- The text of a function, by math.random.
function random_jams.text()
  local has_j = chance(2)
  local row = has_j and "w[h][j]" or "w[h][n + 8]"
  local lane, body = pick(WAYS)(row)
  if chance(3) and body[2] then body[1], body[2] = body[2], body[1] end
  if chance(4) then
    local sum = row .. "[k]"
    table.insert(body, 1, "local t = " .. number())
    body[#body + 1] = ("%s = %s * t"):format(sum, sum)
  end
  local nest = ("for k = %s do\n  %s\nend"):format(lane, repeated(table.concat(body, "\n  "), 8))
  if has_j then nest = "for j = 3, n + 2 do " .. nest .. " end" end
  nest = repeated(("for i = %s do %s end"):format(pick(SEQUENTIAL), nest), 8)
  return ("return function(w, a, u, x, m, n)\nfor h = 1, m do %s end\nend"):format(nest)
end

--- Arguments for one of them.
function random_jams.arguments(m, n)
  local function float() return chance(40) and pick { 0.0, -0.0 } or math.random() * 4 - 2 end
  local function array(rank)
    local list = {}
    for i = 1, 3 * n + 12 do list[i] = rank == 1 and float() or array(rank - 1) end
    return list
  end
  local w = {}
  for h = 1, m do w[h] = array(2) end
  return { w, array(2), array(1), math.random() * 2, m, n }
end

return random_jams
