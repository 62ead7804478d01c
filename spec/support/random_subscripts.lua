-- SPDX-License-Identifier: MIT
--- Random functions whose subscripts and bounds say what they mean in a roundabout way, valid for loops.compile: terms
-- that cancel out, products by 0, remainders by 1, loops that count down, locals for subscripts. What they compute has
-- no meaning, only one right result.
--
-- They take three matrices and two vectors of floats, of which several may be one array, a float x and n. Loop
-- variables stay between 3 and n + 2 and arrays have n + 4 elements in each dimension.

local random_expressions = require "spec.support.random_expressions"

local random_subscripts = {}

random_subscripts.PARAMETERS = "a, b, c, u, v, x, n"

local RANKS = { a = 2, b = 2, c = 2, u = 1, v = 1 }

local pick, chance = random_expressions.pick, random_expressions.chance

local function add(state, text, ...)
  state.lines[#state.lines + 1] = ("  "):rep(state.depth) .. text:format(...)
end

-- --- integers ----------------------------------------------------------------------------------

--- An expression of a loop variable or n that is 0.
local function zero(state)
  local name, other = pick { pick(state.names), "n" }, pick(state.names)
  return pick {
    ("%s - %s"):format(name, name), ("0 * %s"):format(name), ("%s %% 1"):format(name),
    ("2 * %s - %s - %s"):format(name, name, name), ("(%s - %s) // 3"):format(name, name),
    ("%s - (%s + %s) + %s"):format(name, other, name, other), ("-%s + %s"):format(name, name),
    ("%s // 1 - %s"):format(name, name), ("3 * (%s - %s) - (%s - %s) * 3"):format(name, other, name, other),
    ("100000 * 100000 - 10000000000 + %s - %s"):format(name, name),
    ("(%s ~ 6) - (%s | 6) + (%s & 6)"):format(name, name, name), ("~%s + %s + 1"):format(name, name),
    ("(%s & 0)"):format(name), ("(%s << 2) - 4 * %s"):format(name, name),
    ("(%s | 6) - (%s & ~6) - 6"):format(name, name),
  }
end

--- A text with the value of an expression.
local function roundabout(state, text)
  if #state.names == 0 or not chance(3) then return text end
  local nothing = zero(state)
  return pick { "%s + " .. text, text .. " + (%s)", text .. " - (%s)", "%s - (%s) + " .. text }
    :gsub("%%s", (nothing:gsub("%%", "%%%%")))
end

local function subscript(state, name)
  local text = pick { "%s", "%s", "%s", "%s + 1", "%s - 1", "n + 5 - %s", "-%s + (n + 5)", "%s // 2 + 1",
    "(%s & 3) + 1", "(%s | 1) - 1", "(%s ~ 1) - 1", "n + 5 + ~%s + 1" }:format(name)
  return roundabout(state, text)
end

local function element(state, array)
  local text = array
  for _ = 1, RANKS[array] do
    local name = #state.names > 0 and not chance(9) and pick(state.names) or "3"
    text = ("%s[%s]"):format(text, subscript(state, name))
  end
  return text
end

-- --- statements --------------------------------------------------------------------------------

local function read(state)
  if chance(6) then return pick { "x", "0.5", "1.25" } end
  return element(state, pick { "a", "b", "c", "u", "v" })
end

local function value(state)
  return pick { "%s * %s", "%s + %s", "%s - %s", "%s + 0.5 * %s" }:format(read(state), read(state))
end

local block

local function store(state)
  local target = element(state, pick(state.targets))
  if chance(2) then return add(state, "%s = %s + %s", target, target, value(state)) end
  add(state, "%s = %s", target, value(state))
end

--- A loop whose sum is stored, as products are.
local function sum(state)
  local name = "k" .. #state.names
  add(state, "local s%d = %s", #state.names, read(state))
  add(state, "for %s = 3, %s do", name, roundabout(state, "n + 2"))
  state.depth = state.depth + 1
  table.insert(state.names, name)
  add(state, "s%d = s%d + %s * %s", #state.names - 1, #state.names - 1, read(state), read(state))
  table.remove(state.names)
  state.depth = state.depth - 1
  add(state, "end")
  add(state, "%s = s%d", element(state, pick(state.targets)), #state.names)
end

local function define(state)
  state.count = state.count + 1
  local name = "t" .. state.count
  add(state, "local %s = %s", name, roundabout(state, pick(state.names)))
  table.insert(state.names, name)
  store(state)
  table.remove(state.names)
end

local function loop(state)
  local from, to, step = table.unpack(pick { { "3", "n + 2", "" }, { "3", "n + 2", "" }, { "3", "n + 2", "" },
    { "n + 2", "3", ", -1" }, { "n + 1", "4", ", -2" }, { "4", "n + 1", ", 3" } })
  local name = "i" .. #state.names + 1
  add(state, "for %s = %s, %s%s do", name, roundabout(state, from), roundabout(state, to), step)
  table.insert(state.names, name)
  block(state)
  table.remove(state.names)
  add(state, "end")
end

function block(state)
  state.depth = state.depth + 1
  if #state.names < state.deepest then
    loop(state)
    if chance(4) and #state.names > 0 then store(state) end
  else
    pick { store, store, sum, sum, define }(state)
    if chance(3) then store(state) end
  end
  state.depth = state.depth - 1
end

--- The text of a chunk that returns a function, by math.random.
-- @treturn string
function random_subscripts.text()
  local state = { lines = {}, names = {}, count = 0, depth = 0, deepest = math.random(1, 3),
    targets = pick { { "c" }, { "c", "v" }, { "a", "c" }, { "c", "u", "v" } } }
  add(state, "return function(%s)", random_subscripts.PARAMETERS)
  for _ = 1, math.random(2) do block(state) end
  add(state, "end")
  return table.concat(state.lines, "\n")
end

local function vector(m)
  local list = {}
  for i = 1, m do list[i] = math.random() * 8 - 4 end
  return list
end

local function matrix(rows, columns)
  local list = {}
  for i = 1, rows do list[i] = vector(columns) end
  return list
end

--- Arguments for one of them.
-- @tparam integer n
-- @treturn table
function random_subscripts.arguments(n)
  local m = n + 4
  local a, u = matrix(m, m), vector(m)
  local b = chance(4) and a or matrix(m, m)
  return { a, b, chance(4) and b or matrix(m, m), u, chance(4) and u or vector(m), math.random() * 3, n }
end

--- Arguments that are parts of one matrix, three of whole rows and two rows, which may overlap.
-- @tparam integer n
-- @treturn table the rows of the matrix
-- @treturn function of a matrix and of what gives its rows from one to another: the arguments
function random_subscripts.parts(n)
  local m = n + 4
  local count = 3 * m
  local function place() return chance(3) and math.random(0, count - m) or m * math.random(0, 2) end
  local a, b, c, u, v, x = place(), place(), place(), math.random(count), math.random(count), math.random() * 3
  return matrix(count, m), function(whole, view)
    return { view(whole, a + 1, a + m), view(whole, b + 1, b + m), view(whole, c + 1, c + m), whole[u], whole[v], x, n }
  end
end

return random_subscripts
