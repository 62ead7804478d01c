-- SPDX-License-Identifier: MIT
--- Random functions whose locals begin as integers and are given floats later, in some ways through them or in all.
--
-- They take a vector of floats, one of integers, one to store in, n, an integer and a float; all loops end.

local random_mixtures = {}

local function pick(list) return list[math.random(#list)] end
local function chance(n) return math.random(n) == 1 end

local function add(state, text, ...)
  state.lines[#state.lines + 1] = ("  "):rep(state.depth) .. text:format(...)
end

-- --- expressions --------------------------------------------------------------------------------

local LARGE = { "1073741825", "4398046511105", "562949953421311", "(k * 262143 - 1)" } -- their sums go beyond 2^53

local function leaf(state)
  local loop = pick(state.loops)
  if chance(30) then return pick(LARGE) end
  return pick { pick(state.locals), pick(state.locals), pick(state.locals), ("x[%s]"):format(loop),
    ("x[%s]"):format(loop), tostring(math.random(0, 3)), "0.5", loop, pick { "k", "c", ("h[%s]"):format(loop) } }
end

local expression

local function condition(state)
  return ("%s %s %s"):format(expression(state, 1), pick { "<", ">", "<=", ">=", "==", "~=" }, leaf(state))
end

function expression(state, depth)
  if depth == 0 or chance(4) then return leaf(state) end
  local one, other, name = expression(state, depth - 1), expression(state, depth - 1), pick(state.locals)
  return pick { ("(%s + %s)"):format(one, other), ("(%s + %s)"):format(one, other), ("(%s - %s)"):format(one, other),
    ("(%s - %s)"):format(one, other), ("%s * %s"):format(one, other), ("%s * %s"):format(one, other),
    ("%s * x[%s]"):format(one, pick(state.loops)), ("%s * %s"):format(name, name), ("(%s) / (%s)"):format(one, other),
    ("(%s) // %d"):format(one, pick { -1, 1, 2, 3 }), ("(%s) %% %d"):format(one, pick { -2, 1, 2, 3 }),
    ("(%s + x[i]) // (%s)"):format(one, name), ("-(%s)"):format(one), ("math.abs(%s)"):format(one),
    ("math.max(%s, %s)"):format(one, other), ("math.min(%s, %s)"):format(one, other),
    ("math.fmod(%s, %s)"):format(one, pick { "2", "3", name }), ("(%s) ^ 2"):format(one),
    ("(%s and %s or %s)"):format(condition(state), one, other) }
end

-- --- statements ---------------------------------------------------------------------------------

local block

local function assign(state)
  if chance(4) then
    add(state, "%s, %s = %s, %s", state.locals[1], state.locals[2], expression(state, 2), expression(state, 2))
  else
    local name = pick(state.locals)
    add(state, "%s = %s", name, chance(3) and ("%s + %s"):format(name, expression(state, 1)) or expression(state, 2))
  end
end

local function branch(state)
  if chance(4) then
    local name, value = pick(state.locals), leaf(state)
    return add(state, "if %s > %s then %s = %s end", value, name, name, value)
  end
  add(state, "if %s then", condition(state))
  block(state, 1)
  if chance(2) then
    add(state, "else")
    block(state, 1)
  end
  add(state, "end")
end

local function loop(state)
  if #state.loops > 2 then return assign(state) end
  state.count = state.count + 1
  local name = pick { "j", "w" } .. state.count
  local is_for, is_while = name:find "j" ~= nil, chance(2)
  if not is_for then add(state, "local %s = 0", name) end
  add(state, is_for and "for %s = %s do" or is_while and "while %s < %s and (%s) do" or "repeat", name,
    is_for and pick { "1, n", "1, 3", "n, 1, -1", "1, k" } or "4", condition(state))
  if is_for then table.insert(state.loops, name) else add(state, "  %s = %s + 1", name, name) end
  block(state, math.random(2))
  if chance(4) then add(state, "  if %s then break end", condition(state)) end
  if is_for then table.remove(state.loops) end
  add(state, "%s", not is_for and not is_while and ("until %s > 3 or %s"):format(name, condition(state)) or "end")
end

local STATEMENTS = { assign, assign, assign, branch, loop }

function block(state, count)
  state.depth = state.depth + 1
  for _ = 1, count do pick(STATEMENTS)(state) end
  state.depth = state.depth - 1
end

-- --- functions ----------------------------------------------------------------------------------

local function define(state, count)
  local names, values = {}, {}
  for i = 1, count do
    state.count = state.count + 1
    names[i], values[i] = "v" .. state.count, pick { "0", "0", "0", "1", "2", "-1", "k", "0.0" }
    if chance(20) then values[i] = pick { "4503599627370495", "-9007199254740992" } end
    table.insert(state.locals, 1, names[i])
  end
  add(state, "local %s = %s", table.concat(names, ", "), table.concat(values, ", "))
end

--- The text of a chunk that returns a function, by math.random.
-- @treturn string
function random_mixtures.text()
  local state = { lines = {}, depth = 1, locals = {}, loops = { "i" }, count = 0 }
  local makes = chance(3) -- a table of its own
  add(state, "local %s = %s", "all", pick { "0", "1", "0.0" })
  if makes then add(state, "local out = {}") end
  add(state, "for i = 1, n do")
  state.depth = 2
  define(state, 2)
  block(state, math.random(3))
  add(state, "out[i] = %s", expression(state, 1))
  if chance(3) then add(state, "all = all + %s", expression(state, 1)) end
  add(state, "end")
  return ("return function(x, h, %s, n, k, c)\n%s\n  return %s\nend"):format(makes and "_" or "out",
    table.concat(state.lines, "\n"), makes and "all, out" or "all")
end

--- Arguments for one of them.
-- @tparam integer n
-- @treturn table
function random_mixtures.arguments(n)
  local special = { 0.0, -0.0, 1.0, -1.0, 2.0, 1 / 0, 0 / 0 }
  local function real() return chance(5) and pick(special) or math.random() * 4 - 2 end
  local x, h, out = {}, {}, {}
  for i = 1, n + 4 do x[i], h[i], out[i] = real(), math.random(-3, 3), 0.0 end
  return { x, h, out, n, math.random(-1, 4), real() }
end

return random_mixtures
