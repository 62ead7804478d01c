-- SPDX-License-Identifier: MIT
--- The lines of loop nests in the table of peers: sizes, and how fast each must be and is meant to be: data.
--
-- A line is a table of `row`, one of the 19 PolyKernels; `n` and `steps`, of which C takes some 10 to 300 ms; and what
-- `clcompute.peers.limits` tells. `lua`: the sizes for Lua, where those of the line would take it a minute.
-- @module clcompute.suite.peers.nests

local nests = {}

-- As many times as fast as C in floats on two cores. No loop of gs, sor and trisolv_if is parallel in its order: they
-- run in Lua, and a few rounds are enough.
local ROWS = {
  { row = "jac", n = 1000000, steps = 100, must = 1.3, goal = 1.8 },
  { row = "jac2d", n = 1024, steps = 100, must = 1.3, goal = 1.8 },
  { row = "adi", n = 1024, steps = 10, must = 1.0, goal = 1.5 },
  { row = "fdtd1d", n = 1000000, steps = 100, must = 1.3, goal = 1.8 },
  { row = "fdtd2d", n = 1024, steps = 50, must = 1.3, goal = 1.8 },
  { row = "gs", n = 512, steps = 10, rounds = 3 },
  { row = "gemver", n = 2500, must = 1.5, goal = 3.0 },
  { row = "lud", n = 1024, must = 1.0, goal = 1.8 },
  { row = "lud", n = 2048, rounds = 5, must = 1.5, goal = 1.8 },
  { row = "mmm", n = 700, must = 10, goal = 40 },
  { row = "mvt", n = 3000, must = 1.5, goal = 3.0 },
  { row = "sor", n = 1500, rounds = 3 },
  { row = "ssymm", n = 500, must = 1.5, goal = 3.0 },
  { row = "ssyr2k", n = 1000, must = 1.2, goal = 3.0 },
  { row = "ssyrk", n = 1024, must = 1.8, goal = 3.0 },
  { row = "strmm", n = 1000, must = 1.5, goal = 2.5 },
  { row = "strsm", n = 700, must = 1.3, goal = 2.0 },
  { row = "tmm", n = 700, must = 4, goal = 15 },
  { row = "trisolv_if", n = 2000, rounds = 3 },
  { row = "trisolv", n = 700, must = 4, goal = 10 },
}

local LUA_N = 400 -- of the matrix product, for a second or two

-- Single rows against others than C in the same order. Where Lua has less to do the ratio is that of the times of an
-- inner iteration.
local OTHERS = {
  { row = "mmm", n = 1024, against = "gcc, ikj, OpenMP", rounds = 5, must = 2, goal = 2 },
  { row = "mmm", n = 1024, against = "Lua", lua = { n = LUA_N }, share = (1024 / LUA_N) ^ 3, rounds = 3, must = 800,
    goal = 800 },
  { row = "jac2d", n = 1024, steps = 100, against = "Lua", lua = { n = 1024, steps = 20 }, share = 5, rounds = 3,
    must = 80, goal = 150 },
  { row = "mmm", n = 512, against = "tiles" },
  { row = "jac2d", n = 1024, steps = 50, against = "tiles" },
}

local QUICK = 3 -- n and steps of a quick line are divided by it; by more, launches are all that is measured

local function divided(sizes, divisor)
  return sizes and { n = sizes.n // divisor, steps = sizes.steps and math.max(sizes.steps // divisor, 1) }
end

local function text_of(sizes)
  return sizes.n .. (sizes.steps and " x " .. sizes.steps or "")
end

--- A line on a part of its sizes.
local function line_of(given, divisor)
  local line, lua = divided(given, divisor), divided(given.lua, divisor)
  for _, key in ipairs { "row", "rounds", "against", "share" } do line[key] = given[key] end
  line.lua = lua
  line.label = ("%s %s%s"):format(line.row, text_of(line), lua and ", Lua " .. text_of(lua) or "")
  return line
end

--- Lines with their quick ones, which have no limits.
local function lines_of(list, is_limited)
  local lines = {}
  for i, given in ipairs(list) do
    lines[i] = line_of(given, 1)
    lines[i].quick = line_of(given, QUICK)
    if is_limited then lines[i].must, lines[i].goal = given.must, given.goal end
  end
  return lines
end

--- The lines against C of one type.
-- @tparam string dtype limits are for floats
-- @treturn table
function nests.lines(dtype)
  return lines_of(ROWS, dtype == "float")
end

-- The lines against others.
nests.OTHERS = lines_of(OTHERS, true)

return nests
