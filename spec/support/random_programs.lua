-- SPDX-License-Identifier: MIT
--- Random functions of the Lua that people write, valid for loops.compile: loops that end where data say so, elements
-- that are looked up through others, several values at once, jumps, functions of statements, numbers that are returned.
--
-- They take a matrix and two vectors of floats, two vectors of integers that are subscripts, one of counts, a float, an
-- integer above 0 and n. Subscripts are within n + 4, now and then beyond: then Lua raises an error. Every loop ends.

local random_programs = {}

random_programs.PARAMETERS = "m, x, y, at, to, h, c, s, n"

local MOST_STATEMENTS = 25

local function pick(list) return list[math.random(#list)] end
local function chance(n) return math.random(n) == 1 end

local function add(state, text, ...)
  state.lines[#state.lines + 1] = ("  "):rep(state.depth) .. text:format(...)
end

-- --- expressions --------------------------------------------------------------------------

--- A subscript that is within arrays: a loop's variable, or what data say.
local function place(state)
  local loop = #state.loops > 0 and pick(state.loops) or "2"
  return pick { loop, loop, loop .. " + 1", "at[" .. loop .. "]", "to[at[" .. loop .. "]]",
    ("(at[%s] + to[%s]) // 2"):format(loop, loop), ("%s %% s + 1"):format(loop), ("at[%s] & 3 | 1"):format(loop),
    #state.integers > 0 and pick(state.integers) .. " % n + 1" or loop }
end

local function integer(state, depth)
  if depth > 0 and chance(2) then
    return ("(%s %s %s)"):format(integer(state, depth - 1), pick { "+", "-", "*", "&", "|", "~" },
      integer(state, depth - 1))
  end
  if depth > 0 and chance(5) then return ("(%s %s s)"):format(integer(state, 0), pick { "//", "%" }) end
  if chance(6) then return "math.floor(c * 3)" end
  return pick { "h[" .. place(state) .. "]", "at[" .. place(state) .. "]", tostring(math.random(-3, 9)), "s",
    #state.loops > 0 and pick(state.loops) or "n", #state.integers > 0 and pick(state.integers) or "1" }
end

local function float(state, depth)
  if depth > 0 and chance(2) then
    return ("(%s %s %s)"):format(float(state, depth - 1), pick { "+", "-", "*", "/" }, float(state, depth - 1))
  end
  if depth > 0 and chance(6) then -- behind 'and' no function of statements may be called
    local may_call = state.may_call
    state.may_call = false
    local text = ("(%s > %s and %s or %s)"):format(float(state, 0), float(state, 0), float(state, 0), float(state, 0))
    state.may_call = may_call
    return text
  end
  if state.functions and #state.functions > 0 and state.may_call and chance(6) then
    return ("%s(%s)"):format(pick(state.functions), float(state, 0))
  end
  return pick { "x[" .. place(state) .. "]", state.has_table and "u[" .. place(state) .. "]" or "x[1]",
    "y[" .. place(state) .. "]", "c", "0.5",
    ("m[%s][%s]"):format(place(state), place(state)), #state.floats > 0 and pick(state.floats) or "c" }
end

local function condition(state)
  if chance(4) then return ("%s %s %s"):format(integer(state, 1), pick { "<", "==", "~=" }, integer(state, 0)) end
  local text = ("%s %s %s"):format(float(state, 0), pick { "<", ">", "<=" }, float(state, 0))
  return chance(4) and ("%s %s %s > 0"):format(text, pick { "and", "or" }, integer(state, 0)) or text
end

-- --- statements ---------------------------------------------------------------------------

local block

local function target(state)
  local loop = #state.loops > 0 and pick(state.loops) or "1"
  if chance(4) then loop = place(state) end
  return pick { "y[" .. loop .. "]", "x[" .. loop .. "]", ("m[%s][%s]"):format(loop, pick { loop, "2" }) }
end

local function with_calls(state, f, ...)
  state.may_call = true
  local text = f(state, ...)
  state.may_call = false
  return text
end

local function store(state)
  add(state, "%s = %s", target(state), with_calls(state, float, 2))
end

local function store_integer(state)
  local where = chance(4) and place(state) or #state.loops > 0 and pick(state.loops) or "1"
  add(state, "h[%s] = %s", where, integer(state, 2))
end

local function update(state)
  if chance(2) then
    local where = place(state)
    add(state, "h[%s] = h[%s] + %s", where, where, integer(state, 1))
  else
    local where, array = place(state), state.has_table and chance(3) and "u" or "y"
    add(state, "%s[%s] = %s[%s] %s %s", array, where, array, where, pick { "+", "*", "-" }, float(state, 1))
  end
end

local function swap(state)
  if chance(3) then
    local one, other = place(state), place(state)
    add(state, "y[%s], y[%s] = y[%s], y[%s]", one, other, other, one)
  elseif chance(2) or #state.floats < 2 then
    add(state, "%s, %s = %s, %s", target(state), target(state), float(state, 1), float(state, 1))
  else
    add(state, "%s, %s = %s, %s", state.floats[1], state.floats[#state.floats], float(state, 1), float(state, 1))
  end
end

local function name(state, prefix)
  state.count = state.count + 1
  return prefix .. state.count
end

local function define(state)
  if chance(2) then
    local id = name(state, "t")
    add(state, "local %s = %s", id, chance(4) and pick { "0", "1" } or with_calls(state, float, 1))
    table.insert(state.floats, id)
  else
    local id, other = name(state, "k"), name(state, "t")
    add(state, "local %s, %s = %s, %s", id, other, integer(state, 1), float(state, 1))
    table.insert(state.integers, id)
    table.insert(state.floats, other)
  end
end

--- What a function returns that gives two floats: several targets, locals; where it changes nothing also one number,
-- and the arguments of another function.
local function take_pair(state)
  if #state.pairs == 0 then return define(state) end
  local chosen, id, other = pick(state.pairs), name(state, "t"), name(state, "t")
  local call = ("%s(%s)"):format(chosen.id, float(state, 1))
  local way = math.random(chosen.changes and 3 or 5)
  if way == 1 then return add(state, "%s, %s = %s", target(state), target(state), call) end
  if way == 2 and #state.floats > 1 then
    return add(state, "%s, %s = %s", state.floats[1], state.floats[#state.floats], call)
  end
  if way == 4 then return add(state, "%s = (%s) + %s", target(state), call, float(state, 1)) end
  if way == 5 then
    add(state, "local %s, %s = both(%s), %s", id, other, call, call)
  else
    add(state, "local %s, %s, _ = %s, %s", id, other, pick { "both_sum", "y[2]", "x[1]", float(state, 1) }, call)
    if chance(2) then add(state, "%s = %s - %s", target(state), id, other) end
  end
  table.insert(state.floats, id)
  table.insert(state.floats, other)
end

local function assign(state)
  local list = pick { "integers", "floats" }
  if #state[list] == 0 then return define(state) end
  add(state, "%s = %s", pick(state[list]), list == "integers" and integer(state, 1) or with_calls(state, float, 1))
end

local function branch(state)
  add(state, "if %s then", condition(state))
  block(state, 1)
  if chance(3) then
    add(state, "else")
    block(state, 1)
  end
  add(state, "end")
end

--- A loop's body, with a jump to its end or out of it now and then.
local function body(state, is_data)
  local leaves = state.leaves
  local label = chance(4) and name(state, "next") or nil
  block(state, math.random(2), function()
    if label then add(state, "if %s then goto %s end", condition(state), label) end
  end, function()
    if is_data or chance(6) then add(state, "if %s then break end", condition(state)) end
    if label then add(state, "::%s::", label) end
  end)
  state.leaves = leaves
end

--- Whether two arrays may change places at the end of a loop that begins with a line.
local function may_exchange(state, range, first)
  if state.has_exchange or state.depth ~= 1 or range:find "/" or range:find ",.*," then return false end
  for i = first, #state.lines do
    if state.lines[i]:find "break" or state.lines[i]:find "goto" then return false end
  end
  state.has_exchange = chance(3) -- once: what follows stands twice
  return state.has_exchange
end

local function for_loop(state)
  local id, first = name(state, "i"), #state.lines
  local outer = #state.loops > 0 and pick(state.loops) or "3"
  local range = pick { "1, n", "1, n", "2, n + 2", "n, 1, -1", "1, n, s", "2, at[" .. outer .. "]",
    "at[" .. outer .. "], to[" .. outer .. "] + 1", "1, n / 2", "s, n, s + 1", "1, math.min(n, s + 2)" }
  add(state, "for %s = %s do", id, range)
  table.insert(state.loops, id)
  body(state)
  table.remove(state.loops)
  if may_exchange(state, range, first) then add(state, "  x[1], y[1] = y[1], x[1] x, y = y, x") end
  add(state, "end")
end

local function each_loop(state)
  local id, value = name(state, "i"), name(state, "t")
  add(state, "for %s, %s in ipairs(x) do", id, value)
  add(state, "  if %s > n then break end", id)
  table.insert(state.loops, id)
  table.insert(state.floats, value)
  body(state)
  table.remove(state.loops)
  table.remove(state.floats)
  add(state, "end")
end

local function data_loop(state)
  local counter = name(state, "w")
  add(state, "local %s = 0", counter)
  local is_while = chance(2)
  local head = is_while and "while %s < %s and (%s) do" or "repeat"
  add(state, head, counter, pick { "5", "s", "at[2]" }, condition(state))
  add(state, "  %s = %s + 1", counter, counter)
  block(state, math.random(2), nil, function()
    if chance(4) then add(state, "if %s then break end", condition(state)) end
  end)
  if is_while then return add(state, "end") end
  add(state, "until %s > %s or %s", counter, pick { "4", "s" }, condition(state))
end

--- A local that gets its value behind its declaration, in each of two ways.
local function define_later(state)
  local id = name(state, "t")
  add(state, "local %s", id)
  add(state, "if %s then %s = %s else", condition(state), id, float(state, 1))
  block(state, 1)
  add(state, "  %s = %s", id, float(state, 1))
  add(state, "end")
  table.insert(state.floats, id)
end

--- A table of each pass, filled and read.
local function define_table(state)
  local id, inner, sum = name(state, "r"), name(state, "i"), name(state, "t")
  add(state, "local %s, %s = {}, 0.0", id, sum)
  add(state, "for %s = 1, s do %s[%s] = %s end", inner, id, inner, float(state, 1))
  add(state, "for %s = 1, s do %s = %s + %s[s - %s + 1] end", inner, sum, sum, id, inner)
  table.insert(state.floats, sum)
end

local STATEMENTS = { store, store, store, store_integer, update, update, swap, define, define_later, define_table,
  assign, branch, take_pair }

--- Statements in a scope of their own.
function block(state, count, first, last)
  state.depth = state.depth + 1
  local floats, integers = #state.floats, #state.integers
  if first then first() end
  for _ = 1, math.min(count, state.left) do
    state.left = state.left - 1
    local is_deep = #state.loops + state.whiles >= state.deepest
    if not is_deep and (#state.loops == 0 or chance(3)) then
      pick { for_loop, for_loop, for_loop, each_loop }(state)
    elseif not is_deep and chance(4) then
      state.whiles = state.whiles + 1
      data_loop(state)
      state.whiles = state.whiles - 1
    else
      pick(STATEMENTS)(state)
    end
  end
  for i = #state.floats, floats + 1, -1 do state.floats[i] = nil end
  for i = #state.integers, integers + 1, -1 do state.integers[i] = nil end
  if last then last() end
  state.depth = state.depth - 1
end

--- A local function of statements, of a float, that returns one.
local function define_function(state)
  local id = name(state, "f")
  add(state, "local function %s(u)", id)
  add(state, pick { "  if u > c then return c - u end", "  u = u * 0.5", "  local v = u + c u = v - u * c",
    "  for q = 1, s do if x[q] > u then return x[q] end end", "  while u > 1 and u < 1e9 do u = u / 2 end" })
  add(state, "  return %s", pick { "u + c", "u > 0 and u or -u", "u * u" })
  add(state, "end")
  table.insert(state.functions, id)
end

--- A local function of a float that returns two, and may store or change what others see.
local function define_pair(state)
  local id, changes = name(state, "g"), chance(2)
  add(state, "local function %s(u)", id)
  add(state, changes and pick { "  y[2] = u", "  both_sum = both_sum + u", "  if u > c then x[1] = u return u, c end" }
    or pick { "  if u > c then return u, c - u end", "  u = u * 0.5", "  if u < c then return both_pair(u) end",
      "  for q = 1, s do if x[q] > u then return x[q], q * u end end" })
  add(state, "  return %s", pick { "u + c, u - c", "both_pair(u)", "u, y[2]", "both_sum, both_sum - u", "u, 2.0 // u" })
  add(state, "end")
  table.insert(state.pairs, { id = id, changes = changes })
end

--- The text of a chunk that returns a function, by math.random.
-- @treturn string
function random_programs.text()
  local state = { lines = {}, loops = {}, floats = {}, integers = {}, functions = {}, pairs = {}, count = 0,
    depth = 0, whiles = 0, deepest = math.random(1, 3), left = MOST_STATEMENTS }
  add(state, "return function(%s)", random_programs.PARAMETERS)
  for _ = 1, math.random(0, 2) do define_function(state) end
  if chance(2) then
    add(state, "  local both_sum = 0.5")
    add(state, "  local function both(p, q) return p * q - both_sum end")
    add(state, "  local function both_pair(u) return u - both_sum, u * 2 end")
    for _ = 1, math.random(2) do define_pair(state) end
  end
  local is_number = chance(3)
  if chance(2) then
    local first = math.random(0, 1)
    add(state, "  local u = {}")
    add(state, "  for q = %d, n + 4 do u[q] = %s end", first, pick { "c * q", "x[1] + q", "q" })
    add(state, "  u[1] = 0.5")
    state.has_table = first == 1 and not is_number and "returned" or "kept"
  end
  if is_number then add(state, "  local sum = %s", pick { "0.0", "0" }) end
  if is_number then table.insert(state.floats, "sum") end
  block(state, math.random(1, 3))
  if is_number then add(state, "  if s == 3 then return c end return sum") end
  if state.has_table == "returned" then add(state, "  return u") end
  add(state, "end")
  return table.concat(state.lines, "\n")
end

local function vector(count, element)
  local list = {}
  for i = 1, count do list[i] = element(i) end
  return list
end

--- Arguments for one of them.
-- @tparam integer n
-- @tparam boolean is_wild whether subscripts in arrays may be beyond arrays
-- @treturn table
function random_programs.arguments(n, is_wild)
  local size = n + 4
  local function real() return chance(25) and pick { 0.0, -0.0, 1 / 0, 0 / 0 } or math.random() * 8 - 4 end
  local function index()
    if is_wild and chance(40) then return pick { 0, -1, size + 1, math.maxinteger, math.mininteger } end
    return math.random(size)
  end
  return { vector(size, function() return vector(size, real) end), vector(size, real), vector(size, real),
    vector(size, index), vector(size, index), vector(size, function() return math.random(-9, 9) end),
    math.random() * 3, math.random(4), n }
end

return random_programs
