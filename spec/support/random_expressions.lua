-- SPDX-License-Identifier: MIT
--- Random expressions, as text, valid for loops.compile: what they compute has no meaning, only one right result.
--
-- A state says what is in scope: `loops` (names of variables), `locals` (lists of names by type, "int" or "float"),
-- `functions` (`{ name=, type=, parameters={types} }`), `has_arrays`; beside them the numbers x, k and c always are,
-- and `at`, a function of subscripts.

local random_expressions = {}

local ARRAYS = {
  float = { { "a", 2 }, { "b", 2 }, { "v", 1 } },
  int = { { "p", 2 }, { "q", 1 } },
}

function random_expressions.pick(list) return list[math.random(#list)] end

function random_expressions.chance(one_in) return math.random(one_in) == 1 end

local pick, chance = random_expressions.pick, random_expressions.chance

-- --- subscripts ---------------------------------------------------------------------------

local function subscript(state)
  if #state.loops == 0 then return tostring(math.random(1, 3)) end
  local i, j = pick(state.loops), pick(state.loops)
  return pick {
    ("%s"):format(i), ("%s"):format(i), ("%s - %d"):format(i, math.random(1, 2)),
    ("%s + %d"):format(i, math.random(1, 2)), ("n + 5 - %s"):format(i), ("at(%s, %s)"):format(i, j),
    ("%s %% 3 + 1"):format(i), tostring(math.random(1, 3)),
  }
end

--- An element of an array of that type.
local function element(state, type)
  local array = pick(ARRAYS[type])
  local text = array[1]
  for _ = 1, array[2] do text = ("%s[%s]"):format(text, subscript(state)) end
  return text
end

-- --- expressions --------------------------------------------------------------------------

local expression

local COMPARISONS = { "<", "<=", ">", ">=", "==", "~=" }

--- A condition of loop variables and integers.
local function affine_condition(state)
  return ("%s %s %s"):format(pick(state.loops), pick(COMPARISONS), pick { "5", "n", "k", "k + 1", pick(state.loops) })
end

--- A condition of anything.
local function condition(state, depth)
  if depth > 0 and chance(3) then
    local left = #state.loops > 0 and chance(2) and affine_condition(state) or condition(state, depth - 1)
    local right = condition(state, depth - 1)
    return pick { ("(%s and %s)"):format(left, right), ("(%s or %s)"):format(right, left), ("not (%s)"):format(left) }
  end
  return ("%s %s %s"):format(expression(state, pick { "int", "float" }, depth),
    pick(COMPARISONS), expression(state, pick { "int", "float" }, depth))
end

local function leaf(state, type)
  local choices = state.has_arrays and { element(state, type), element(state, type) } or {}
  for _, name in ipairs(state.locals[type]) do choices[#choices + 1] = name end
  if type == "int" then
    choices[#choices + 1] = tostring(math.random(0, 9))
    choices[#choices + 1] = "k"
    for _, name in ipairs(state.loops) do choices[#choices + 1] = name end
  else
    choices[#choices + 1] = ("%.3f"):format(math.random() * 4)
    choices[#choices + 1] = "x"
    choices[#choices + 1] = "c"
  end
  return pick(choices)
end

local function of_integers(state, depth)
  local a, b = expression(state, "int", depth - 1), expression(state, "int", depth - 1)
  return pick {
    ("(%s + %s)"):format(a, b), ("(%s - %s)"):format(a, b), ("%s * (%s)"):format(a, b), ("-(%s)"):format(a),
    ("(%s) // %d"):format(a, math.random(1, 9)), ("(%s) %% -%d"):format(a, math.random(1, 9)),
    ("(%s & %s)"):format(a, b), ("(%s | %s)"):format(a, b), ("(%s ~ %s)"):format(a, b), ("~(%s)"):format(a),
    ("(%s << %d)"):format(a, math.random(0, 70)), ("(%s >> (%s))"):format(a, b), ("math.abs(%s)"):format(a),
    ("math.max(%s, %s)"):format(a, b), ("math.min(%s, %s)"):format(a, b), ("math.fmod(%s, 7)"):format(a),
    ("(%s and %s or %s)"):format(condition(state, depth - 1), a, b),
  }
end

local function of_floats(state, depth)
  local a, b = expression(state, pick { "float", "float", "int" }, depth - 1), expression(state, "float", depth - 1)
  return pick {
    ("(%s + %s)"):format(a, b), ("(%s - %s)"):format(b, a), ("%s * (%s)"):format(a, b), ("-(%s)"):format(b),
    ("(%s) / (%s)"):format(a, b), ("(%s) // (%s)"):format(b, a), ("(%s) %% (%s)"):format(a, b),
    ("(%s) ^ 2"):format(b), ("math.sqrt(%s)"):format(a), ("math.abs(%s)"):format(b), ("math.max(%s, %s)"):format(a, b),
    ("math.min(%s, %s)"):format(b, a), ("math.fmod(%s, %s)"):format(b, b),
    ("(%s and %s or %s)"):format(condition(state, depth - 1), a, b),
  }
end

--- A call of a function in scope that gives a type; nil where there is none.
local function call(state, type, depth)
  local functions = {}
  for _, f in ipairs(state.functions) do
    if f.type == type then functions[#functions + 1] = f end
  end
  if #functions == 0 then return nil end
  local f, arguments = pick(functions), {}
  for i, parameter in ipairs(f.parameters) do arguments[i] = expression(state, parameter, depth - 1) end
  return ("%s(%s)"):format(f.name, table.concat(arguments, ", "))
end

--- An expression of a type.
function expression(state, type, depth)
  local called = depth > 0 and chance(4) and call(state, type, depth)
  if called then return called end
  if depth <= 0 or chance(3) then return leaf(state, type) end
  return (type == "int" and of_integers or of_floats)(state, depth)
end

random_expressions.element, random_expressions.leaf, random_expressions.expression = element, leaf, expression
random_expressions.condition, random_expressions.affine_condition = condition, affine_condition

return random_expressions
