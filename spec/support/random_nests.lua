-- SPDX-License-Identifier: MIT
--- Random functions of loops, valid for loops.compile: what they compute has no meaning, only one right result.
--
-- They take two matrices and a vector of floats, a matrix and a vector of integers, a float, an integer and n. Loop
-- variables stay between 3 and n + 2 and arrays have n + 4 elements in each dimension. Around them and in their blocks
-- are functions of one expression, which call each other and read numbers around.

local random_expressions = require "spec.support.random_expressions"

local random_nests = {}

random_nests.PARAMETERS = "a, b, v, p, q, x, k, n"

local MOST_STATEMENTS = 40

local pick, chance = random_expressions.pick, random_expressions.chance
local element, leaf, expression = random_expressions.element, random_expressions.leaf, random_expressions.expression
local condition, affine_condition = random_expressions.condition, random_expressions.affine_condition

-- --- statements ---------------------------------------------------------------------------

local function add(state, text, ...)
  state.lines[#state.lines + 1] = ("  "):rep(state.depth) .. text:format(...)
end

local block

local function store(state)
  local type = pick { "float", "float", "int" }
  add(state, "%s = %s", element(state, type), expression(state, type, 2))
end

--- An element of a vector that all passes of inner loops change.
local function update(state)
  local array, type = table.unpack(pick { { "v", "float" }, { "q", "int" } })
  local place = ("%s[%s]"):format(array, state.loops[1] or "3")
  add(state, "%s = %s %s %s", place, place, pick { "+", "-", "*" }, expression(state, type, 1))
end

local function define(state)
  local type = pick { "float", "int" }
  state.count = state.count + 1
  local name = "t" .. state.count
  add(state, "local %s = %s", name, expression(state, type, 2))
  table.insert(state.locals[type], name)
end

--- A function of one expression of its parameters and of what is in scope.
local function define_function(state)
  local f = { type = pick { "int", "float" }, parameters = {} }
  local inner, names = { functions = state.functions, loops = state.loops, locals = {},
    has_arrays = state.has_arrays }, {}
  for type, list in pairs(state.locals) do inner.locals[type] = table.move(list, 1, #list, 1, {}) end
  for i = 1, math.random(0, 3) do
    f.parameters[i] = pick { "int", "float" }
    names[i] = "u" .. i
    for _ = 1, 2 do table.insert(inner.locals[f.parameters[i]], names[i]) end
  end
  state.count = state.count + 1
  f.name = "f" .. state.count
  add(state, pick { "local function %s(%s) return %s end", "local %s = function(%s) return %s end" }, f.name,
    table.concat(names, ", "), expression(inner, f.type, 2))
  state.functions[#state.functions + 1] = f
end

local function define_and_store(state)
  define_function(state)
  store(state)
end

local function assign(state)
  local type = pick { "float", "int" }
  if #state.locals[type] == 0 then return define(state) end
  add(state, "%s = %s", pick(state.locals[type]), expression(state, type, 2))
end

--- Bounds that are the least or the greatest of some, beside another loop's variable or without one.
local function clipped_range(outer)
  local near = outer and not chance(3) and outer or "k % 3 + 3"
  return pick { { near, "math.min(%s + 2, n + 2)", 1 }, { "math.max(%s - 1, 3)", "n + 2", 1 },
    { "math.max(3, %s - 2)", "math.min(n + 3, %s + 2) - 1", 1 }, { "math.max(3, %s)", "math.min(n, %s + 4)", 2 },
    { "4", "math.min(%s + 3, n + 2, 2 * n - 1)", 3 }, { "math.min(n + 2, %s + 1)", "math.max(%s - 2, 3)", -1 },
    { "n + 2", "math.max(%s, 4, n - 3)", -2 }, { "math.max(%s, 4)", "math.max(n, 5)", 1 },
    { "3", "math.max(5, math.min(%s + 3, n))", 1 } }, near
end

local function range(state)
  local outer = #state.loops > 0 and pick(state.loops)
  if chance(4) then
    local limits, near = clipped_range(outer)
    local function text(limit) return (limit:gsub("%%s", { ["%s"] = near })) end
    return { text(limits[1]), text(limits[2]), limits[3] }
  end
  return pick { { "3", "n + 2", 1 }, { "3", "n + 2", 1 }, { "4", "n", 2 }, { "n + 2", "3", -1 }, { "n + 1", "4", -3 },
    outer and { outer, "n + 2", 1 } or { "3", "n", 1 }, outer and { "3", outer, 1 } or { "5", "n", 1 },
    outer and { outer, "3", -2 } or { "n", "n + 2", 1 } }
end

local function loop(state)
  local limits = range(state)
  local name = "i" .. #state.loops + 1
  add(state, "for %s = %s, %s%s do", name, limits[1], limits[2], limits[3] ~= 1 and ", " .. limits[3] or "")
  table.insert(state.loops, name)
  block(state, chance(2) and 1 or math.random(1, 3))
  table.remove(state.loops)
  add(state, "end")
end

local function branch(state)
  add(state, "if %s then", condition(state, 1))
  block(state, math.random(2))
  if chance(3) then
    add(state, "elseif %s then", condition(state, 1))
    block(state, 1)
  end
  if chance(2) then
    add(state, "else")
    block(state, 1)
  end
  add(state, "end")
end

local function affine_branch(state)
  add(state, "if %s then", affine_condition(state))
  block(state, 1)
  add(state, "end")
end

--- A local that a condition may change before it is stored.
local function conditional(state)
  local type = pick { "int", "float" }
  state.count = state.count + 1
  local name = "t" .. state.count
  add(state, "local %s = %s", name, leaf(state, type))
  add(state, "if %s then %s = %s end", condition(state, 1), name, expression(state, type, 1))
  table.insert(state.locals[type], name)
  add(state, "%s = %s", element(state, type), name)
end

--- Statements in a scope of their own.
function block(state, count)
  state.depth = state.depth + 1
  local floats, integers, functions = #state.locals.float, #state.locals.int, #state.functions
  for _ = 1, math.min(count, state.left) do
    state.left = state.left - 1
    local is_deep = #state.loops >= state.deepest
    if #state.loops == 0 and chance(5) then
      branch(state)
    elseif not is_deep and (#state.loops == 0 or chance(2)) then
      loop(state)
    elseif chance(6) then
      branch(state)
    elseif chance(6) and #state.loops > 0 then
      affine_branch(state)
    else
      pick { store, store, store, update, define, assign, conditional, define_and_store }(state)
    end
  end
  for i = #state.locals.float, floats + 1, -1 do state.locals.float[i] = nil end
  for i = #state.locals.int, integers + 1, -1 do state.locals.int[i] = nil end
  for i = #state.functions, functions + 1, -1 do state.functions[i] = nil end
  state.depth = state.depth - 1
end

--- Functions and numbers around: no array or parameter is in scope there.
local function around(state)
  add(state, "local x, k, c = %.3f, %d, %.3f", math.random() * 4, math.random(-9, 9), math.random() * 4)
  add(state, "local function at(u, w) return (u + w) // 2 end")
  for _ = 1, math.random(0, 2) do define_function(state) end
end

--- The text of a chunk that returns a function, by math.random.
-- @treturn string
function random_nests.text()
  local state = { lines = {}, loops = {}, locals = { float = {}, int = {} }, functions = {}, count = 0, depth = 0,
    deepest = math.random(1, 4), has_arrays = false, left = MOST_STATEMENTS }
  around(state)
  add(state, "return function(%s)", random_nests.PARAMETERS)
  state.has_arrays = true
  block(state, math.random(1, 3))
  add(state, "end")
  return table.concat(state.lines, "\n")
end

local function nested(shape, element_of, depth)
  depth = depth or 1
  local list = {}
  for i = 1, shape[depth] do list[i] = depth == #shape and element_of() or nested(shape, element_of, depth + 1) end
  return list
end

--- Arguments for one of them.
-- @tparam integer n
-- @string text its source: a `k` that bounds a loop is below 2^53, as the library asks
-- @treturn table
function random_nests.arguments(n, text)
  local m = n + 4
  local function float() return chance(20) and pick { 0.0, -0.0, 1 / 0, 0 / 0, 1e300 } or math.random() * 8 - 4 end
  local function integer()
    return chance(20) and pick { math.maxinteger, math.mininteger, 0 } or math.random(-20, 20)
  end
  local values = { nested({ m, m }, float), nested({ m, m }, float), nested({ m }, float), nested({ m, m }, integer),
    nested({ m }, integer), math.random() * 3, chance(8) and integer() or math.random(-5, 5), n }
  if text:find("k % 3 + 3", 1, true) then values[7] = values[7] % 100 end
  return values
end

return random_nests
