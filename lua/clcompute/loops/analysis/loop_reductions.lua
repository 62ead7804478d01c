-- SPDX-License-Identifier: MIT

--- Finds reductions: statements `x = x op e` with op one of + * min max (or `x - e`), whose x is the same element or
-- local in all passes of a loop and is touched by nothing else there. Where these are all that keeps a loop from being
-- parallel, its passes may be shared out, each share with an x of its own, which are put together afterwards.

local affine = require("clcompute.loops.tree").affine
local ast = require("clcompute.loops.tree").ast
local dependences = require "clcompute.loops.analysis.dependences"
local lua_text = require("clcompute.loops.tree").lua_text
local walk = require("clcompute.loops.tree").walk

local loop_reductions = {}

-- --- minima and maxima ---------------------------------------------------------------------
--
-- Comparisons that keep the smaller or larger of two numbers are written as math.min and math.max: `if e > x then x = e
-- end`, `x = e > x and e or x`. Lua's functions are defined by these comparisons, so results are the same, NaN and both
-- zeros too. `>=` is left alone: of two zeros it may keep the other one.

local function is_same(node, other)
  return lua_text.expression(node) == lua_text.expression(other)
end

--- The call that gives `chosen` where the condition holds, else `other`, which is one of its sides; nil where the
-- condition compares other things.
local function call_of(condition, chosen, other)
  local less, more = condition.left, condition.right
  if condition.op ~= "<" and condition.op ~= ">" then return nil end
  if condition.op == ">" then less, more = more, less end
  local kept, name = less, "max" -- other < chosen
  if is_same(other, more) then kept, name = more, "min" end
  local taken = kept == less and more or less
  if not is_same(other, kept) or not is_same(chosen, taken) or kept.type ~= taken.type then return nil end
  return ast.node("call", { name = name, arguments = { kept, taken }, type = kept.type }, condition)
end

--- `if e > x then x = e end` as an assignment.
local function of_if(node)
  local arm, assign = node.arms[1], node.arms[1].body[1]
  if #node.arms > 1 or node.otherwise or #arm.body ~= 1 or assign.kind ~= "assign" then return nil end
  local value = call_of(arm.condition, assign.value, assign.target)
  return value and ast.node("assign", { target = assign.target, value = value }, node)
end

--- The value of `condition and chosen or other` as a call.
local function of_choice(value)
  local choice = value.op == "or" and value.left
  if not choice or choice.op ~= "and" then return nil end
  return call_of(choice.left, choice.right, value.right)
end

local function rewrite_block(nodes)
  for i, node in ipairs(nodes) do
    if node.kind == "if" then nodes[i] = of_if(node) or node end
    if node.kind == "assign" then node.value = of_choice(node.value) or node.value end
  end
end

--- Rewrites the statements of a tree that are such comparisons.
-- @tparam table tree of `clcompute.loops.front.types`
function loop_reductions.normalise(tree)
  rewrite_block(tree.body)
  walk.nodes(tree.body, function(node)
    if node.kind == "for" then rewrite_block(node.body) end
    if node.kind ~= "if" then return end
    for _, arm in ipairs(node.arms) do rewrite_block(arm.body) end
    if node.otherwise then rewrite_block(node.otherwise) end
  end)
end

-- --- the form of a statement --------------------------------------------------------------

local BINARY = { ["+"] = "sum", ["-"] = "sum", ["*"] = "product" }
local CALL = { min = "min", max = "max" }

--- What a node does with its operands, if that is one of the operations.
local function operation_of(node)
  if node.kind == "binary" then return BINARY[node.op] end
  if node.kind == "call" and #node.arguments > 1 then return CALL[node.name] end
end

--- Adds the operands of an operation that may be put together in any order, those that are subtracted as `negative`.
local function add_operands(node, operation, list)
  if operation_of(node) ~= operation then
    list[#list + 1] = { node = node }
  elseif node.kind == "call" then
    for _, argument in ipairs(node.arguments) do add_operands(argument, operation, list) end
  else
    add_operands(node.left, operation, list)
    if node.op == "-" then
      list[#list + 1] = { node = node.right, negative = true }
    else
      add_operands(node.right, operation, list)
    end
  end
end

local NARROW = { char = true, uchar = true, short = true, ushort = true, int = true, uint = true }

--- Whether all that is put together fits the elements of x: the smaller of two integers is another one where one of
-- them was cut to its low bits before. Sums and products are the same.
local function fits(operands, target, operation)
  local element = target.array and target.array.element
  if not NARROW[element] or operation == "sum" or operation == "product" then return true end
  for _, operand in ipairs(operands) do
    if operand.node.kind ~= "index" or operand.node.array.element ~= element then return false end
  end
  return true
end

--- How often a node stands in an expression: where a function was put in place of its call, it may be more than once.
local function count_of(node, expression)
  local count = 0
  walk.node(expression, function(part)
    if part == node then count = count + 1 end
  end)
  return count
end

local function others_of(operands, occurrence)
  local others = {}
  for _, operand in ipairs(operands) do
    if operand.node ~= occurrence then others[#others + 1] = operand.node end
  end
  return others
end

--- Whether a function is given x before all else: then it leaves out NaN, as of two numbers that cannot be compared it
-- takes the first.
local function is_first(node, occurrence)
  while node.kind == "call" do node = node.arguments[1] end
  return node == occurrence
end

-- --- in any order -------------------------------------------------------------------------

local HAS_SIGNS = { ["+"] = true, ["*"] = true, ["/"] = true } -- whose operands' signs are that of the result
local OF_ARGUMENTS = { sqrt = true, min = true, max = true } -- the same of functions

local is_at_least_zero

--- An expression, or that of a local which keeps its first value.
local function value_of(node)
  local variable = node.kind == "name" and node.variable
  local is_same_always = variable and variable.role == "local" and not variable.assigned
  return is_same_always and variable.definition or node
end

--- By the kind of a float: whether it is surely 0.0 or more, or NaN.
local AT_LEAST_ZERO = {
  number = function(node) return node.value > 0 or node.value == 0 and 1 / node.value > 0 end,
  binary = function(node)
    if node.op == "*" and is_same(node.left, node.right) then return true end
    if node.op == "^" then return node.right.kind == "number" and node.right.value % 2 == 0 end
    return HAS_SIGNS[node.op] and is_at_least_zero(node.left) and is_at_least_zero(node.right)
  end,
  call = function(node)
    if node.name == "abs" or node.name == "exp" then return true end
    for _, argument in ipairs(OF_ARGUMENTS[node.name] and node.arguments or {}) do
      if not is_at_least_zero(argument) then return false end
    end
    return OF_ARGUMENTS[node.name]
  end,
}

function is_at_least_zero(node)
  node = value_of(node)
  local is = AT_LEAST_ZERO[node.kind]
  return is ~= nil and (node.type == "float" or node.kind == "number") and is(node) or false
end

--- Whether a number is surely not -0.0: sums are where one of two is not.
local function is_never_minus_zero(node)
  node = value_of(node)
  if node.type == "int" or is_at_least_zero(node) then return true end
  if node.kind == "number" then return node.value ~= 0 end
  if node.kind ~= "binary" then return false end
  return node.op == "+" and (is_never_minus_zero(node.left) or is_never_minus_zero(node.right))
    or node.op == "-" and is_never_minus_zero(node.left)
end

--- Whether a reduction has Lua's result in any order: integers go round, and of floats the smallest and largest are
-- the same but for zeros, of which the first one stays, and for NaN, which math.min and math.max leave out behind x.
-- A number below 0 may be -0.0 in an element of fewer bits.
local function is_orderless(reduction)
  local array = reduction.target.array
  if reduction.target.type == "int" then return true end
  if not (CALL[reduction.operation] and reduction.is_first) then return false end
  local is_right = array and array.element ~= "double" and is_at_least_zero or is_never_minus_zero
  for _, other in ipairs(reduction.others) do
    if other.type ~= "int" and not is_right(other) then return false end
  end
  return true
end

--- Whether the order of some reductions matters to their results.
function loop_reductions.have_order(list)
  for _, reduction in ipairs(list) do
    if reduction.has_order then return true end
  end
  return false
end

--- The statement as `mark` returns it, or nil where it is no reduction.
local function reduction_of(statement)
  local node = statement.node
  local operation = node.kind == "assign" and operation_of(node.value)
  if not operation or node.target.checked then return nil end
  local operands, occurrence = {}, nil
  add_operands(node.value, operation, operands)
  for _, operand in ipairs(operands) do
    if not operand.negative and is_same(operand.node, node.target) then occurrence = occurrence or operand.node end
  end
  if not occurrence or count_of(occurrence, node.value) > 1 then return nil end
  if not fits(operands, node.target, operation) then return nil end
  local reduction = { operation = operation, node = node, target = node.target, occurrence = occurrence,
    others = others_of(operands, occurrence), is_first = is_first(node.value, occurrence) }
  reduction.has_order = not is_orderless(reduction)
  return reduction
end

-- --- x in a loop --------------------------------------------------------------------------

--- The loops from one on inwards that are around a statement, as keys; nil where it is not one of them.
local function loops_within(loop, statement)
  local within
  for _, around in ipairs(statement.loops) do
    if around == loop then within = {} end
    if within then within[around] = true end
  end
  return within
end

local function is_declared_within(variable, within)
  for _, loop in ipairs(variable.loops) do
    if within[loop] then return true end
  end
  return false
end

--- Whether x is one and the same in all passes of some loops.
local function is_invariant(target, within)
  return not walk.find({ target }, function(part)
    local variable = part.kind == "name" and part.variable
    return variable and (within[variable.loop] or variable.role == "local" and is_declared_within(variable, within))
  end)
end

--- Whether two elements of an array are never the same: subscripts differ by an integer other than 0.
local function are_disjoint(one, other)
  if one.kind ~= "index" then return false end
  for d, subscript in ipairs(one.subscripts) do
    local distance = affine.distance(subscript, other.subscripts[d])
    if distance and distance ~= 0 then return true end
  end
  return false
end

local function is_own(access, reduction)
  return access.node == reduction.target or access.node == reduction.occurrence
end

--- Whether nothing else in a loop touches x; `is_apart` tells of other elements whose subscripts do not.
local function is_alone(scop, loop, reduction, is_apart)
  local target, is_known = reduction.target, true
  local variable, text = target.array or target.variable, lua_text.expression(target)
  for _, statement in ipairs(scop.statements) do
    for _, access in ipairs(loops_within(loop, statement) and statement.accesses or {}) do
      if access.variable == variable and not is_own(access, reduction) and not are_disjoint(access.node, target) then
        if not is_apart or lua_text.expression(access.node) == text then return false end
        is_known = false
      end
    end
  end
  return is_known or is_apart(scop, loop, target)
end

--- The statements of a loop whose x is one and the same in all passes, and that alone touch it.
-- @tparam table scop
-- @tparam table loop
-- @tparam function form of a statement; returns a table with its `target` and `occurrence`, or nil
-- @tparam ?function is_apart of `scop`, `loop` and a target: whether other elements that are named in the loop are
-- others; without it subscripts must tell
-- @treturn {table,...} what `form` returned
-- @treturn table the nodes of these accesses as keys
function loop_reductions.candidates(scop, loop, form, is_apart)
  local list, own = {}, {}
  for _, statement in ipairs(scop.statements) do
    local within = loops_within(loop, statement)
    local reduction = within and form(statement)
    if reduction and is_invariant(reduction.target, within) and is_alone(scop, loop, reduction, is_apart) then
      list[#list + 1] = reduction
      own[reduction.target], own[reduction.occurrence] = true, true
    end
  end
  return list, own
end

--- The reductions that alone keep a loop from being parallel, or nil: a list of `{ operation=, node=, target=,
-- occurrence=, others=, is_first=, has_order= }`, where `operation` is "sum", "product", "min" or "max", `node` the
-- assignment, `target` its x, `occurrence` the x of its right side, `others` what is put together with it, `is_first`
-- whether math.min or math.max has it first, and `has_order` whether its result depends on the order.
-- @tparam table scop of `clcompute.loops.analysis.scop`, whose loops have `parallel`
-- @tparam table loop
-- @tparam ?boolean keeps_order whether only those count that have the same result in any order
-- @tparam ?integer budget in isl's operations
function loop_reductions.of(scop, loop, keeps_order, budget)
  if loop.parallel or loop.irregular then return nil end
  local list, own = loop_reductions.candidates(scop, loop, function(statement)
    local reduction = reduction_of(statement)
    return reduction and not (keeps_order and reduction.has_order) and reduction or nil
  end)
  return #list > 0 and not dependences.is_carried(scop, loop, own, budget) and list or nil
end

--- Gives each loop its `reductions`.
function loop_reductions.mark(scop, budget)
  for _, loop in ipairs(scop.loops) do loop.reductions = loop_reductions.of(scop, loop, false, budget) end
end

--- The same of those that have one result in any order, but for loops in pipelines and wavefronts, which are marked.
function loop_reductions.mark_orderless(scop)
  local is_taken = {}
  walk.nodes(scop.tree.body, function(node)
    if node.kind ~= "for" or not (node.behind or node.wavefront) then return end
    walk.node(node, function(part) is_taken[part] = true end)
  end)
  for _, loop in ipairs(scop.loops) do
    loop.reductions = not is_taken[loop] and loop_reductions.of(scop, loop, true) or nil
  end
end

local NAMES = { sum = "sum", product = "product", min = "minimum", max = "maximum" }

--- Reductions in words: "sum in s (line 10), maximum in y[1] (line 11)".
function loop_reductions.describe(scop, list)
  local texts = {}
  for i, reduction in ipairs(list) do
    texts[i] = ("%s in %s (line %d)"):format(NAMES[reduction.operation],
      dependences.source_of(scop, reduction.target), reduction.node.line)
  end
  return table.concat(texts, ", ")
end

return loop_reductions
