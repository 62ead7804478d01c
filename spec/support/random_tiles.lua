-- SPDX-License-Identifier: MIT
--- Random functions of what tiles are for, valid for loops.compile: nests of two to four loops, of which some give the
-- subscripts of the elements that are computed, with sums in inner loops, statements before and after, conditions.
--
-- They take two matrices a and b that are mostly read, two matrices c and d, two vectors u and v and an array w of
-- three dimensions that are mostly written, a matrix p and a vector q of integers, a float x, an integer m from 3 to 5,
-- and n. Loop variables are 3, or between 3 and n + 2, and arrays have n + 5 elements in each dimension.

local random_expressions = require "spec.support.random_expressions"

local random_tiles = {}

random_tiles.PARAMETERS = "a, b, c, d, u, v, w, p, q, x, m, n"

local RANKS = { a = 2, b = 2, c = 2, d = 2, u = 1, v = 1, w = 3, p = 2, q = 1 }

local pick, chance = random_expressions.pick, random_expressions.chance

local function add(state, text, ...)
  state.lines[#state.lines + 1] = ("  "):rep(state.depth) .. text:format(...)
end

local function nested(state, f, ...)
  state.depth = state.depth + 1
  f(state, ...)
  state.depth = state.depth - 1
end

-- --- elements and sums -----------------------------------------------------------------------

local function subscript(variable)
  if chance(8) then return pick { "n + 5 - %s", "%s // 2 + 1", "%s %% 3 + 1" }:format(variable) end
  return chance(4) and variable .. pick { " + 1", " - 1", " + 2", " - 2" } or variable
end

local function element(name, variables)
  local text = name
  for d = 1, RANKS[name] do text = ("%s[%s]"):format(text, subscript(variables[d])) end
  return text
end

local function shuffled(list)
  local copy = table.move(list, 1, #list, 1, {})
  for i = #copy, 2, -1 do
    local j = math.random(i)
    copy[i], copy[j] = copy[j], copy[i]
  end
  return copy
end

--- An element that is read: of an array that nothing writes in most places.
local function read(state)
  local name = not state.is_tame and chance(6) and pick { "c", "d", "u", "v", "w" } or pick { "a", "a", "b", "b", "v" }
  if not state.is_plain and chance(8) then name = pick { "p", "q" } end
  local variables = shuffled(state.loops)
  while #variables < RANKS[name] do variables[#variables + 1] = pick(state.loops) end
  return element(name, variables)
end

local function operand(state)
  if chance(5) then return pick { "x", "0.5", "2", "1.25", state.is_plain and "x" or pick(state.loops) } end
  if #state.locals > 0 and chance(4) then return pick(state.locals) end
  return read(state)
end

local function term(state)
  if not state.is_plain and chance(8) then
    return pick { "math.max(%s, %s)", "(%s > 0 and x or %s)", "math.abs(%s * %s)" }:format(read(state), operand(state))
  end
  return pick { "%s * %s", "%s * %s", "%s * %s", "(%s - %s)", "-%s * %s", "%s / 4 + %s" }:format(operand(state),
    read(state))
end

--- Adds to a local or an element.
local function step(state, sum)
  if not state.is_plain and chance(12) then
    add(state, "%s = math.min(%s, %s)", sum, sum, term(state))
  else
    add(state, pick { "%s = %s + %s", "%s = %s + %s", "%s = %s - %s", "%s = %s * 0.5 + %s" }, sum, sum, term(state))
  end
end

--- Adds an element to a sum.
local function step_by(state, sum, text)
  add(state, "%s = %s + %s * %s", sum, sum, text, operand(state))
end

-- --- loops -------------------------------------------------------------------------------------

local PLAIN = { { "3", "n + 2" }, { "3", "n + 2" }, { "3", "n + 2" }, { "4", "n" }, { "m", "n + 1" },
  { "low", "high" }, { "3", "3" } }
local STEPPED = { { "n + 2", "3", -1 }, { "n + 2", "3", -1 }, { "3", "n + 2", 2 }, { "n + 1", "4", -3 },
  { "high", "low", -2 }, { "m", "n", 3 } }
local BOUND = { { "%s", "n + 2" }, { "3", "%s" }, { "%s + 1", "n + 2" }, { "3", "%s - 1" }, { "%s", "high" },
  { "n + 5 - %s", "n + 2" }, { "3", "n + 5 - %s" }, { "%s", "n + 5 - %s" }, { "%s", "%s" }, { "low", "%s - 2" } }
local STRANGE = { { "%s // 2 + 2", "n + 2" }, { "3", "%s // 2 + 2" }, { "%s %% 3 + 3", "n + 2" },
  { "3", "n - %s %% 2" }, { "%s", "3", -1 }, { "n + 2", "%s", -1 }, { "%s", "n + 2", 2 }, { "%s", "3", -2 } }
local CLIPPED = { { "%s", "math.min(%s + 3, n + 2)" }, { "math.max(%s - 2, 3)", "n + 2" },
  { "math.max(m, %s - 1)", "math.min(%s + 1, high)" }, { "3", "math.min(n + 5 - %s, %s)" },
  { "math.max(low, %s)", "math.min(n + 3, %s + 4) - 1" }, { "math.max(3, m - 1)", "math.min(high, n)" },
  { "math.min(%s + 2, n + 2)", "math.max(3, %s - 2)", -1 }, { "%s", "math.max(m, n)" } }

local function range(state)
  if #state.loops == 0 or chance(2) then return pick(not state.is_tame and chance(3) and STEPPED or PLAIN) end
  return pick(not state.is_tame and chance(4) and STRANGE or chance(5) and CLIPPED or BOUND)
end

--- A loop whose body `f` adds.
local function loop(state, name, f, ...)
  local limits, around = range(state), #state.loops > 0 and pick(state.loops)
  local function text(limit) return around and limit:gsub("%%([s%%])", { s = around, ["%"] = "%" }) or limit end
  add(state, "for %s = %s, %s%s do", name, text(limits[1]), text(limits[2]), limits[3] and ", " .. limits[3] or "")
  table.insert(state.loops, name)
  nested(state, f, ...)
  table.remove(state.loops)
  add(state, "end")
end

--- Statements, under a condition now and then.
local function guarded(state, f, ...)
  if state.is_tame or not chance(6) then return f(state, ...) end
  local data = state.is_plain and {} or { "p[3][4] > 0", read(state) .. " > x" }
  add(state, "if %s then", pick { "x > 1", pick(state.loops) .. " > m",
    pick(state.loops) .. " ~= " .. pick(state.loops), table.unpack(data) })
  nested(state, f, ...)
  if chance(3) then
    add(state, "else")
    nested(state, f, ...)
  end
  add(state, "end")
end

--- A loop of few passes, whose variable is a distance from an element.
local function window(state, sum)
  state.count = state.count + 1
  local name, variables = "o" .. state.count, shuffled(state.loops)
  while #variables < 2 do variables[#variables + 1] = pick(state.loops) end
  add(state, "for %s = %s do", name, pick { "-1, 1", "-2, 2, 2", "1, -1, -1", "0, 0" })
  nested(state, step_by, sum, ("a[%s + %s][%s]"):format(variables[1], name, variables[2]))
  add(state, "end")
end

local function inner_loop(state, sum)
  if chance(6) then return window(state, sum) end
  state.count = state.count + 1
  loop(state, "k" .. state.count, function()
    if chance(5) then
      state.count = state.count + 1
      add(state, "local t%d = %s", state.count, term(state))
      table.insert(state.locals, "t" .. state.count)
      guarded(state, step, sum)
      table.remove(state.locals)
    elseif not state.is_tame and chance(6) then
      inner_loop(state, sum)
    else
      guarded(state, step, sum)
    end
  end)
end

--- The element that the passes of a nest compute, and its array: its subscripts are some of the loops' variables.
local function target_of(state, is_float)
  local variables = chance(3) and shuffled(state.loops) or state.loops
  local count = math.min(#variables, chance(4) and math.random(3) or pick { 2, 3 })
  if chance(3) then variables = table.move(variables, #variables - count + 1, #variables, 1, {}) end
  local name = pick(({ { "u", "v" }, { "c", "c", "c", "d" }, { "w" } })[count])
  if not (state.is_plain or is_float) and count < 3 and chance(10) then name = count == 1 and "q" or "p" end
  local text = ("%s[%s]"):format(name, table.concat(variables, "][", 1, count))
  return not state.is_tame and chance(6) and element(name, variables) or text, name
end

local function store(state, target)
  add(state, "%s = %s", target, term(state))
end

local function sum_in_local(state, target)
  state.count = state.count + 1
  local sum = "s" .. state.count
  add(state, "local %s = %s", sum, pick { "0.0", "0.5", "x", read(state), target .. " * 1.0" })
  for _ = 1, chance(3) and 2 or 1 do guarded(state, inner_loop, sum) end
  table.insert(state.locals, sum)
  if chance(4) then
    state.count = state.count + 1
    local half = "t" .. state.count
    add(state, "local %s = %s * 0.5", half, sum)
    guarded(state, inner_loop, sum)
    table.insert(state.locals, half)
  end
  add(state, pick { "%s = %s", "%s = %s", "%s = %s * 2", "%s = %s + %s" }, target, sum, target)
  if chance(4) then store(state, (target_of(state, true))) end
end

local function sum_in_element(state, target)
  if chance(3) then store(state, target) end
  for _ = 1, chance(3) and 2 or 1 do guarded(state, inner_loop, target) end
  if chance(4) then step(state, target) end
end

local function body(state)
  local target, name = target_of(state)
  local is_integer = name == "p" or name == "q"
  local locals = #state.locals
  if is_integer then
    add(state, "%s = %s + %s * 3 - %s", target, target, pick { "p[3][4]", "q[m]", "m" }, pick(state.loops))
  elseif chance(4) then
    guarded(state, step, target)
  elseif chance(2) then
    sum_in_local(state, target)
  else
    sum_in_element(state, target)
  end
  for i = #state.locals, locals + 1, -1 do state.locals[i] = nil end
end

local NAMES = { "h", "i", "j", "l" }

local function nest(state, depth)
  if depth == 0 then return body(state) end
  loop(state, NAMES[#state.loops + 1], nest, depth - 1)
end

--- The text of a function, by math.random.
-- @tparam ?boolean is_plain whether it is arithmetic of floats alone
-- @tparam ?boolean is_repeated whether all is in a loop, the variable of which is in subscripts now and then
-- @treturn string
function random_tiles.text(is_plain, is_repeated)
  local state = { lines = {}, loops = {}, locals = {}, depth = 1, count = 0, is_plain = is_plain or chance(2),
    is_tame = chance(2) }
  add(state, "local low, high = n // 4 + 3, n + 1")
  if is_repeated and chance(2) then
    loop(state, "g", nest, pick { 1, 2, 2, 3 })
  else
    is_repeated = is_repeated or chance(6)
    if is_repeated then add(state, "for _ = 1, 2 do") end
    for _ = 1, chance(3) and 2 or 1 do nest(state, pick { 1, 2, 2, 2, 3, 3, 3, 4 }) end
    if is_repeated then add(state, "end") end
  end
  return ("return function(%s)\n%s\nend"):format(random_tiles.PARAMETERS, table.concat(state.lines, "\n"))
end

local function array(rank, size, element_of)
  local list = {}
  for i = 1, size do list[i] = rank == 1 and element_of() or array(rank - 1, size, element_of) end
  return list
end

--- Arguments for one of them; c is a now and then.
-- @tparam integer n
-- @treturn table
function random_tiles.arguments(n)
  local function float() return chance(40) and pick { 0.0, -0.0 } or math.random() * 4 - 2 end
  local function integer() return math.random(-9, 9) end
  local list = {}
  for i, name in ipairs { "a", "b", "c", "d", "u", "v", "w", "p", "q" } do
    list[i] = array(RANKS[name], n + 5, i > 7 and integer or float)
  end
  if chance(8) then list[3] = list[pick { 1, 4 }] end
  table.move({ math.random() * 2, math.random(3, 5), n }, 1, 3, #list + 1, list)
  return list
end

return random_tiles
