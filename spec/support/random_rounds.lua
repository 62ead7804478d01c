-- SPDX-License-Identifier: MIT
--- Random functions of what rounds are for, valid for loops.compile: a sequential loop around one to four nests, each
-- over a vector or the rows of a matrix, which read their neighbours, or the row of the pass; now and then a nest
-- computes one row only, has a condition, or reaches too far for it, or is one for each colour of a chess board.
--
-- They take the arguments of `spec.support.random_tiles`, of which n is to be at least 4.

local random_expressions = require "spec.support.random_expressions"
local random_tiles = require "spec.support.random_tiles"

local random_rounds = {}

local pick, chance = random_expressions.pick, random_expressions.chance

local VECTORS, MATRICES = { "u", "v" }, { "c", "d" }

local function near(name, reach)
  local offset = math.random(-reach, reach)
  if offset == 0 then return name end
  return ("%s %s %d"):format(name, offset < 0 and "-" or "+", math.abs(offset))
end

--- The array that is written, of which any element is read now and then, or the other one.
local function other(state, names)
  if chance(10) then state.written = nil end
  return pick(names)
end

--- A value of a pass of a vector's nest.
local function vector_term(state)
  if state.is_front and chance(3) then return pick { "u[t]", "v[t]", "a[t][i]" } end
  if chance(8) then return pick { "x", "0.5", "u[4]", "a[i][4]", "b[3][i]", state.is_plain and "x" or "q[3]" } end
  local name = other(state, VECTORS)
  return ("%s[%s]"):format(name, name == state.written and "i" or near("i", state.reach))
end

--- A value of a pass of a matrix's nest.
local function matrix_term(state)
  if state.is_front and chance(2) then return pick { "c[t][j]", "c[i][t]", "d[t][j]", "d[i][t]", "c[t][t]" } end
  if chance(8) then return pick { "x", "0.5", "a[i][j]", "b[j][i]", "v[i]", "u[j]", "c[4][j]" } end
  local name = other(state, MATRICES)
  if name == state.written then return name .. "[i][j]" end
  return ("%s[%s][%s]"):format(name, near("i", state.reach), near("j", 2))
end

local function value(state, term)
  local text = term(state)
  for _ = 1, math.random(0, 3) do text = ("%s %s %s"):format(text, pick { "+", "-", "+ 0.25 *" }, term(state)) end
  if not state.is_plain and chance(6) then return ("math.max(%s, %s)"):format(text, term(state)) end
  return ("0.375 * (%s)"):format(text)
end

local function bounds(state, name)
  if state.is_front and not chance(5) then
    return name == "i" and "t + 1, n + 2" or pick { "t + 1, n + 2", "3, n + 2" }
  end
  return pick { "3, n + 2", "3, n + 2", "4, n", "m, n + 1" }
end

--- A statement, perhaps under a condition, perhaps of the old value as well.
local function store(state, target, term)
  local text = value(state, term)
  if chance(3) then text = ("%s - 0.5 * (%s)"):format(target, text) end
  local line = ("%s = %s"):format(target, text)
  return not state.is_plain and chance(6) and ("if %s > x then %s end"):format(term(state), line) or line
end

local function vector_nest(state)
  state.written = pick(VECTORS)
  local target = state.written .. (chance(8) and "[i + 1]" or "[i]")
  return ("for i = %s do %s end"):format(bounds(state, "i"), store(state, target, vector_term))
end

local function row_nest(state)
  local row = state.is_front and "t" or pick { "3", "t", "n", "t + 1" }
  state.written = pick(MATRICES)
  return ("for j = %s do %s[%s][j] = %s end"):format(bounds(state, "j"), state.written, row,
    (value(state, matrix_term):gsub("%f[%w]i%f[^%w]", row)))
end

local function matrix_nest(state)
  local first, second = "i", "j"
  if chance(5) then first, second = "j", "i" end
  state.written = pick(MATRICES)
  return ("for %s = %s do for %s = %s do %s end end"):format(first, bounds(state, first), second,
    bounds(state, second), store(state, state.written .. "[i][j]", matrix_term))
end

--- A nest for each colour, which reads the other one, perhaps also its own.
local function chess_board(state)
  local terms = {}
  for i = 1, math.random(2, 4) do
    local offset = chance(12) and 0 or 1
    local i_text, j_text = "i", "j"
    if chance(2) then
      i_text = ("i %s %d"):format(pick { "-", "+" }, offset)
    else
      j_text = ("j %s %d"):format(pick { "-", "+" }, offset)
    end
    terms[i] = ("c[%s][%s]"):format(i_text, j_text)
  end
  return ("for colour = %s do for i = %s do for j = 3 + (i + colour) %% 2, n + 1, 2 do c[i][j] = 0.25 * (%s) end "
    .. "end end"):format(pick { "0, 1", "1, 0, -1", "0, 3", "0, 8" }, bounds(state, "i"), table.concat(terms, " + "))
end

--- The text of a function, by math.random.
-- @tparam ?boolean is_plain whether it is arithmetic of floats alone
-- @treturn string
function random_rounds.text(is_plain)
  local state = { is_front = chance(3), reach = pick { 0, 1, 1, 1, 2 }, is_plain = is_plain }
  state.reach = state.is_front and 0 or state.reach
  local lines, is_vector = {}, chance(2)
  if not state.is_front and chance(6) then lines[1] = "    " .. chess_board(state) end
  for i = #lines + 1, #lines == 1 and 1 or math.random(1, 4) do
    local nest = is_vector and vector_nest or chance(4) and row_nest or matrix_nest
    lines[i] = "    " .. nest(state)
  end
  return ("return function(%s)\n  for t = %s do\n%s\n  end\nend"):format(random_tiles.PARAMETERS,
    state.is_front and "3, n + 1" or pick { "3, n + 1", "3, m" }, table.concat(lines, "\n"))
end

random_rounds.arguments = random_tiles.arguments

return random_rounds
