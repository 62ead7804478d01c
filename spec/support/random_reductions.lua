-- SPDX-License-Identifier: MIT
--- Random functions that reduce: sums, products, minima and maxima in nests of loops, and what only looks like them.
--
-- They take a matrix and two vectors of floats, a matrix and a vector of integers, and n. Floats are eighths of small
-- size and factors change signs alone, so that every order of additions gives the same number: what is
-- computed can be compared for equality. Where Lua's order is kept they may be any.

local random_reductions = {}

random_reductions.PARAMETERS = "a, v, w, p, q, n"

local function pick(list) return list[math.random(#list)] end

local function chance(one_in) return math.random(one_in) == 1 end

local function header(loops)
  local outer = loops[#loops] or "1"
  return pick { "1, n", "1, n", "2, n - 1", "n, 1, -1", "1, n, 3", "n, 2, -2", outer .. ", n",
    "1, " .. (loops[#loops] or "n"),
    outer .. " + 1, n", "3, 2" }
end

local function subscript(loops)
  return pick { pick(loops), pick(loops), "n + 1 - " .. pick(loops) }
end

local function float(loops)
  return pick { ("v[%s]"):format(subscript(loops)), ("a[%s][%s]"):format(subscript(loops), subscript(loops)),
    ("v[%s] * a[%s][%s]"):format(subscript(loops), subscript(loops), subscript(loops)), "0.5 * " .. pick(loops) }
end

-- A sum of loop variables alone LLVM computes at once, in integers of 65 bits, which Oclgrind 21.10 does not know.
local function integer(loops)
  return pick { ("q[%s]"):format(subscript(loops)), ("p[%s][%s]"):format(subscript(loops), subscript(loops)),
    ("q[%s] * p[%s][%s]"):format(subscript(loops), subscript(loops), subscript(loops)),
    ("(%s %% 3) * q[%s]"):format(pick(loops), subscript(loops)) }
end

--- `x = x op e`.
local function reduction(x, operation, e)
  if operation == "sum" then
    local form = math.random(4)
    return form == 1 and ("%s = %s + %s"):format(x, e, x) or form == 2 and ("%s = %s - %s"):format(x, x, e)
      or ("%s = %s + %s"):format(x, x, e)
  elseif operation == "product" then
    return ("%s = %s * %s"):format(x, x, e)
  elseif chance(3) then
    local op = operation == "max" and ">" or "<"
    return pick { ("if %s %s %s then %s = %s end"):format(e, op, x, x, e),
      ("%s = %s %s %s and %s or %s"):format(x, e, op, x, e, x) }
  end
  return chance(3) and ("%s = math.%s(%s, %s)"):format(x, operation, e, x)
    or ("%s = math.%s(%s, %s)"):format(x, operation, x, e)
end

--- What must not be taken for a reduction.
local function trap(x, e, loops)
  return pick { ("%s = %s - %s"):format(x, e, x), ("%s = %s + %s * 0.0"):format(x, x, x),
    ("%s = %s + %s; w[%s] = %s"):format(x, x, e, pick(loops), x), ("%s = %s + %s; %s = -%s"):format(x, x, e, x, x) }
end

local Generator = {}
Generator.__index = Generator

function Generator:emit(depth, text)
  self.lines[#self.lines + 1] = ("  "):rep(depth + 1) .. text
end

function Generator:statement(loops, depth)
  local variable = pick(self.variables)
  local e = (variable.type == "int" and integer or float)(loops)
  local text = reduction(variable.name, variable.operation, variable.operation == "product" and variable.factor or e)
  local is_trap = variable.type == "float" and variable.operation == "sum" and chance(12)
  if is_trap then text = trap(variable.name, e, loops) end
  if chance(4) then text = ("if %s > %s then %s end"):format(integer(loops), pick(loops), text) end
  if chance(8) then text = ("w[%s] = %s"):format(pick(loops), float(loops)) end
  self:emit(depth, text)
end

function Generator:loop(loops, depth)
  self.count = self.count + 1
  local inner = table.move(loops, 1, #loops, 1, {})
  inner[#inner + 1] = "i" .. self.count
  self:emit(depth, ("for i%d = %s do"):format(self.count, header(loops)))
  local is_nested = depth < 2 and not chance(3)
  if is_nested then self:loop(inner, depth + 1) end
  if not is_nested or chance(4) then self:statement(inner, depth + 1) end
  if chance(4) then self:statement(inner, depth + 1) end
  self:emit(depth, "end")
end

--- Where a function reduces to: locals with initial values, and elements of arrays.
local function variables()
  local list = {}
  for i = 1, math.random(3) do
    local type = pick { "int", "float" }
    local operation = pick { "sum", "sum", "product", "min", "max" }
    local is_local = chance(2)
    list[i] = { type = type, operation = operation, is_local = is_local,
      name = is_local and "s" .. i or ("%s[n + %d]"):format(type == "int" and "q" or "v", i),
      factor = type == "int" and "3" or pick { "-1.0", "-1" },
      initial = type == "int" and tostring(math.random(-9, 9)) or ("%.3f"):format(math.random(-9, 9) / 8) }
  end
  return list
end

--- A function's text.
function random_reductions.text()
  local self = setmetatable({ lines = {}, count = 0, variables = variables() }, Generator)
  for _, variable in ipairs(self.variables) do
    if variable.is_local then self:emit(0, ("local %s = %s"):format(variable.name, variable.initial)) end
  end
  for _ = 1, math.random(2) do self:loop({}, 0) end
  for i, variable in ipairs(self.variables) do
    if variable.is_local then
      self:emit(0, ("%s[n + %d] = %s"):format(variable.type == "int" and "q" or "w", 3 + i, variable.name))
    end
  end
  return ("function(%s)\n%s\nend"):format(random_reductions.PARAMETERS, table.concat(self.lines, "\n"))
end

-- --- passes of a loop that is parallel ------------------------------------------------------------

-- Statements that only have the right result in Lua's order.
local ORDERED = { "s = s * 0.5 + %s", "s = v[j] - s", "w[i] = w[i] + v[j] * %s - 1", "m = (m - %s) / 2 + v[j]",
  "s = %s + s; m = m * v[j]", "k = k * 3 - p[i][j]", "a[i][j] = a[i][j] * 0.5; w[i] = v[j] - w[i] + a[i][j]",
  "s = math.max(s, v[j]) - %s", "local t = %s; s = s + t * t; k = k + 1", "s = s + v[j] - %s + v[i] * m" }

--- A loop in a pass whose work-items may share it, or which only looks like that; `i` is the pass.
local function shared_loop(number, is_ordered)
  local e = pick { "a[i][j]", "a[j][i]", "v[j]", "a[i][j] * v[j]", "a[n + 1 - j][i] * 0.5", "v[i] - v[j]", "s" }
  local bounds = pick { "1, n", "1, n", "2, n", "n, 1, -1", "1, i", "i + 1, n", "1, n, 2", "3, 2" }
  local body = pick { "s = s + " .. e, "s = s + " .. e, "m = math.max(m, " .. e .. ")", "if %s < m then m = %s end",
    "w[i] = w[i] + " .. e, "w[i] = w[i] - v[j]", "k = k + p[i][j]", "k = k + p[j][i] * j",
    "a[i][j] = v[j] + s", "a[j][i] = m - v[j]", "a[i][j] = s; s = s + v[j]", "s = s + v[j]; k = k + j",
    "local t = " .. e .. "; a[i][j] = t; m = math.min(m, t)", "p[i][j] = k" }
  if is_ordered and chance(2) then body = pick(ORDERED) end
  body = body:gsub("%%s", (e:gsub("%%", "%%%%")))
  if chance(5) then body = ("for l = 1, %s do s = s + p[j][l] end"):format(pick { "n", "j", "3" }) end
  return ("for j%d = %s do %s end"):format(number, bounds, (body:gsub("%f[%w]j%f[%W]", "j" .. number)))
end

--- A statement of a pass.
local function single()
  return pick { "w[i] = s", "w[i] = m + s", "q[i] = k", "s = s * 2.0", "if s > m then s = m end", "m = w[i]",
    "if k > 3 then w[i] = s; q[i] = k end", "if m > s then s = m; w[i] = 1.0 end", "local d%d = a[i][1]; s = s - d%d",
    "a[i][1] = s", "s = a[1][i] + s", "w[i] = w[i] + 1.0", "k = k + 2" }
end

--- The text of a function in whose passes loops may be shared by the work-items of a group.
-- @tparam ?boolean is_ordered whether Lua's order matters
function random_reductions.passes(is_ordered)
  local lines = { ("function(%s)"):format(random_reductions.PARAMETERS),
    ("  for i = %s do"):format(pick { "1, n", "1, n", "2, n - 1", "n, 1, -1", "1, n, 2" }),
    "    local s, m, k = 0.5, -1.0, 7" }
  local count = math.random(4)
  for number = 1, count do
    if chance(2) then lines[#lines + 1] = "    " .. single():gsub("%%d", number) end
    lines[#lines + 1] = "    " .. shared_loop(number, is_ordered)
  end
  for _ = 1, math.random(0, 2) do lines[#lines + 1] = "    " .. single():gsub("%%d", "9") end
  lines[#lines + 1] = "    w[i] = w[i] + s - m; q[i] = q[i] + k\n  end\nend"
  return table.concat(lines, "\n")
end

-- --- values ---------------------------------------------------------------------------------------

--- A list of so many elements, each of which a function gives.
function random_reductions.list_of(count, element)
  local list = {}
  for i = 1, count do list[i] = element() end
  return list
end

local list_of = random_reductions.list_of

--- Values for the parameters.
-- @tparam integer n
-- @tparam ?function float_of gives elements; eighths unless given
function random_reductions.arguments(n, float_of)
  local size = n + 6
  local function eighth() return math.random(-16, 16) / 8 end
  local function number() return math.random(-99, 99) end
  local element = float_of or eighth
  return { list_of(size, function() return list_of(size, element) end), list_of(size, element), list_of(size, element),
    list_of(size, function() return list_of(size, number) end), list_of(size, number), n }
end

return random_reductions
