-- SPDX-License-Identifier: MIT

--- Finds what no sum of a call's numbers tells: loops whose passes data decide, and subscripts that are looked at as
-- they are used. Bounds and steps that are no such sums become locals before their loop.

local affine = require("clcompute.loops.tree").affine
local ast = require("clcompute.loops.tree").ast
local bounds = require("clcompute.loops.tree").loop_bounds
local failure = require("clcompute.loops.tree").failure
local lua_text = require("clcompute.loops.tree").lua_text
local rotations = require "clcompute.loops.front.rotations"
local walk = require("clcompute.loops.tree").walk

local irregular = {}

local BOUNDS, STEP, END = "its bounds depend on data", "its step is a variable", "it ends where data say so"

-- --- bounds ---------------------------------------------------------------------------------

local function is_open_term(term)
  return term.variable ~= nil and term.variable.loop ~= nil and term.variable.loop.is_open
end

--- Whether data decide how far an affine form goes.
local function is_open(form)
  return affine.has_term(form, is_open_term)
end

--- A local with the value of an expression, before a loop.
local function kept(self, name, value, loop, before)
  local variable = self.variable(name, { role = "local", node = value, definition = value,
    loops = loop.variable.loops })
  before[#before + 1] = ast.node("local", { variable = variable, value = value }, value)
  return ast.node("name", { variable = variable }, value)
end

-- Operators and functions that give a float where an operand is one, and such as give one in any case.
local JOINS = walk.set { "+", "-", "*", "//", "%", "min", "max" }
local FLOATS = walk.set { "/", "^", "sqrt", "exp", "log", "sin", "cos", "tan" }

--- Whether an expression is a float, or may be one, by its operators and functions.
local function is_float(node)
  if node.kind == "number" then return math.type(node.value) == "float" end
  local variable = node.kind == "name" and node.variable
  if variable then return variable.role == "local" and not variable.assigned and is_float(variable.definition) end
  local word = node.op or node.name
  if FLOATS[word] then return true end
  for _, part in ipairs(JOINS[word] and (node.arguments or { node.left or node.operand, node.right }) or {}) do
    if is_float(part) then return true end
  end
  return false
end

--- A call of a function of math.
local function call(name, arguments, node)
  return ast.node("call", { name = name, arguments = arguments }, node)
end

--- A float as the last value of a loop of integers, rounded towards the first one, as Lua does. A loop that goes up has
-- no pass where it is NaN, for which the value before the first stands.
local function rounded_float(node, from, step)
  local before = bounds.plus(ast.copies { from }[1], step > 0 and -1 or 1)
  if step > 0 then return call("floor", { call("max", { before, node }, node) }, node) end
  return call("ceil", { call("min", { before, node }, node) }, node)
end

--- Whether a float is surely not NaN, with which a loop that goes down goes on to the least integer.
local function is_number(node)
  if node.kind ~= "binary" or node.op ~= "/" then return node.kind == "number" end
  return node.right.kind == "number" and node.right.value ~= 0 and not is_float(node.left)
end

--- `n / 2`, `2.5` and `math.sqrt(n)` as the last value of a loop: Lua rounds it.
local function rounded(node, loop)
  local step = loop.step
  if step > 0 and node.kind == "number" and math.tointeger(node.value // 1) then
    return ast.node("number", { value = math.tointeger(node.value // 1) }, node)
  end
  local divisor = node.kind == "binary" and node.op == "/" and node.right
  if divisor and step > 0 and math.type(divisor.value) == "integer" and divisor.value > 0
    and not is_float(node.left) then return ast.changed(node, { op = "//" }) end
  local may_be = not loop.pace and is_float(node) and (step > 0 or is_number(node))
  return may_be and rounded_float(node, loop.from, step) or node
end

-- What may be computed of integers before a call, beside sums: the operators that give integers.
local OF_INTEGERS = { ["+"] = true, ["-"] = true, ["*"] = true, ["//"] = true, ["%"] = true, ["&"] = true,
  ["|"] = true, ["~"] = true, ["<<"] = true, [">>"] = true }
local OF_NUMBERS = { min = true, max = true, floor = true, ceil = true, tointeger = true }

--- An expression without locals, where numbers of the call alone decide it; nil where others do.
local function of_call(node, is_rounded)
  local function is_other(part)
    local variable = part.kind == "name" and part.variable
    if variable and variable.role == "local" then return variable.assigned ~= nil end
    if variable then return variable.role ~= "parameter" and variable.role ~= "capture" end
    if part.kind == "binary" then return not OF_INTEGERS[part.op] and not (is_rounded and FLOATS[part.op]) end
    if part.kind == "call" then return not OF_NUMBERS[part.name] and not (is_rounded and part.name == "sqrt") end
    return part.kind == "index" or part.kind == "boolean" or part.op == "not"
  end
  if walk.find({ node }, is_other) then return nil end
  local is_whole = true
  local result = walk.replaced(node, function(part)
    if part.kind ~= "name" or part.variable.role ~= "local" then return nil end
    local definition = of_call(part.variable.definition, is_rounded)
    is_whole = is_whole and definition ~= nil
    return definition
  end)
  return is_whole and result or nil
end

--- The name of a number that is computed before a call: `w * h`; nil where data decide it, or it may not be.
-- `condition` makes one of the value, without which there is no such number.
local function computed(self, node, condition)
  local is_rounded = node.kind == "call" and (node.name == "floor" or node.name == "ceil")
  local value = not self.is_cautious and of_call(node, is_rounded)
  if not value then return nil end
  local text = lua_text.expression(value, { name = function(variable) return variable.name end })
  if is_rounded then value = call("tointeger", { value }, node) end
  if condition then value = condition(value) end
  local key = lua_text.expression(value)
  local variable = self.computed[key]
  if not variable then
    variable = self.variable(text, { role = "capture", loops = {}, is_capture = true, computed = value, number = node })
    self.computed[key] = variable
    table.insert(self.captures, variable)
  end
  return ast.node("name", { variable = variable }, node)
end

--- A bound of a loop; one that is no sum of a call's numbers, nor the least or greatest of some, as a number that is
-- computed before the call, or as a local.
local function bound_of(self, name, forms, loop, before)
  local number = not forms and computed(self, loop[name])
  if number then return number end
  if not forms then
    loop.irregular, loop.is_open = BOUNDS, true
    return kept(self, name, loop[name], loop, before)
  end
  for _, form in ipairs(forms) do loop.is_open = loop.is_open or is_open(form) or nil end
  return loop[name]
end

-- --- steps ----------------------------------------------------------------------------------

--- Whether an expression is above 0 (1) or below (-1) for certain; nil where that is not known. The sign of a number
-- that is written is an operator.
local function sign_of(node)
  if node.kind == "number" then return node.value > 0 and 1 or nil end
  if node.kind == "unary" and node.op == "-" then
    local sign = sign_of(node.operand)
    return sign and -sign
  end
  local loop = node.kind == "name" and node.variable.loop
  if loop and not loop.word and loop.step > 0 and not loop.pace then return sign_of(loop.from) == 1 and 1 or nil end
  local variable = node.kind == "name" and node.variable
  if variable and variable.role == "local" and not variable.assigned then return sign_of(variable.definition) end
  if node.kind == "binary" and (node.op == "*" or node.op == "+") then
    local left, right = sign_of(node.left), sign_of(node.right)
    if node.op == "*" then return left and right and left * right end
    return left == right and left or nil
  end
end

--- A step that turns out to be a number is one; others are locals.
local function set_step(self, loop, before)
  local pace = loop.pace
  local form = affine.of(pace)
  if form and #form.terms == 0 then
    if form.constant == 0 then failure.raise(self.origin, pace, "the step of a loop must not be 0") end
    loop.step, loop.pace = form.constant, nil
    return
  end
  local sign = sign_of(pace)
  loop.step, loop.irregular = sign or 1, STEP
  if not sign then loop.is_open = true end
  loop.pace = kept(self, "step", pace, loop, before)
end

-- --- loops and subscripts ---------------------------------------------------------------------

--- The end of a loop: from 1 on, `math.max(e, 0)` leaves the passes as `e` does.
local function end_of(loop)
  local is_from_first = loop.from.kind == "number" and loop.from.value > 0 and loop.step > 0 and not loop.pace
  return rounded(is_from_first and bounds.without_zero(loop.to) or loop.to, loop)
end

local function mark_loop(self, loop, before)
  if loop.word then
    loop.irregular, loop.is_broken, loop.is_open = END, true, true
    return
  end
  if loop.pace then set_step(self, loop, before) end
  loop.to = end_of(loop)
  loop.from = bound_of(self, "from", bounds.firsts(loop), loop, before)
  loop.to = bound_of(self, "to", bounds.lasts(loop), loop, before)
  if walk.breaks_out(loop.body) then loop.irregular, loop.is_broken = END, true end
end

--- What subscripts, bounds or bits depend on is an integer, or has integers.
local function mark_pointers(node)
  walk.node(node, function(part)
    if part.kind == "index" then part.array.is_pointer = true end
    local variable = part.kind == "name" and part.variable
    if not variable or variable.is_pointer then return end
    variable.is_pointer = true
    if variable.role == "local" then mark_pointers(variable.definition) end
  end)
end

--- Notes which subscripts of an element are to be looked at as they are used.
local function mark_index(node)
  for d, subscript in ipairs(node.subscripts) do
    local form = affine.of(subscript)
    if not form then mark_pointers(subscript) end
    if not form or is_open(form) then
      node.checked = node.checked or {}
      node.checked[d] = true
    end
  end
end

local OF_BITS = walk.set { "&", "|", "~", "<<", ">>" }

local function mark_expressions(nodes)
  walk.nodes(nodes, function(node)
    if node.kind == "index" then mark_index(node) end
    if OF_BITS[node.op] then mark_pointers(node) end
  end)
end

--- Marks an element where data say that is stored, unless a table gets longer there, and one of which the default is
-- left out. Where it is computed from itself, Lua computes with the nil of one that is not there, if there is no other
-- number for it.
local function mark_target(node)
  local target = node.target
  if target.kind ~= "index" or not (target.checked or target.has_default) or target.array.cursor then return end
  local text = lua_text.expression(target)
  target.is_stored = true
  walk.node(node.value, function(part)
    if part.kind ~= "index" or part.array ~= target.array or lua_text.expression(part) ~= text then return end
    part.is_stored = target.has_default
    target.is_stored = target.has_default or false
  end)
end

--- The two loops that stand for one which stores at a remainder; nil for others. The remainder of the first pass is 0
-- where there is none.
local function split(self, loop)
  local function first(value, last)
    return computed(self, value, function(own)
      local function binary(op, left, right)
        return ast.node("binary", { op = op, left = left, right = right }, value)
      end
      local zero = ast.node("number", { value = 0 }, value)
      local is_up = binary("<=", own.left, of_call(last).left)
      return binary("or", binary("and", binary("<=", own.right, zero), zero), binary("and", is_up, own))
    end)
  end
  return rotations.split(loop, self.tables, first, function(variable)
    return self.variable(variable.name, { role = variable.role, loops = {} }).id
  end)
end

local mark_list

local STATEMENTS = {
  ["for"] = function(self, node, result)
    mark_loop(self, node, result)
    if node.irregular and not bounds.firsts(node) then mark_pointers(node.from) end
    if node.irregular and not bounds.lasts(node) then mark_pointers(node.to) end
    for _, statement in ipairs(result) do mark_expressions { statement.value } end
    node.body = mark_list(self, node.body)
  end,
  ["if"] = function(self, node)
    for _, arm in ipairs(node.arms) do
      mark_expressions { arm.condition }
      arm.body = mark_list(self, arm.body)
    end
    node.otherwise = node.otherwise and mark_list(self, node.otherwise)
  end,
  ["local"] = function(_, node) mark_expressions { node.value } end,
  assign = function(_, node)
    mark_expressions { node.target, node.value }
    mark_target(node)
  end,
  ["break"] = function() end,
}

function mark_list(self, nodes)
  local result = {}
  for _, node in ipairs(nodes) do
    local pieces = node.kind == "for" and split(self, node)
    local before = pieces and mark_list(self, pieces) or {}
    if not pieces then
      STATEMENTS[node.kind](self, node, before)
      before[#before + 1] = node
    end
    table.move(before, 1, #before, #result + 1, result)
  end
  return result
end

--- Marks a tree: of loops `irregular` and `is_open`, of elements `checked`, of arrays `is_pointer`.
-- @tparam table tree of `clcompute.loops.front.resolve`
-- @tparam function variable makes one, of a name and fields
-- @tparam ?boolean is_cautious no number is computed before a call: where Lua comes to it, it may raise an error
-- @treturn table the tree
function irregular.mark(tree, variable, is_cautious)
  local self = { origin = tree.origin, variable = variable, captures = tree.captures, computed = {},
    tables = tree.scratch, is_cautious = is_cautious }
  tree.body = mark_list(self, tree.body)
  return tree
end

return irregular
