-- SPDX-License-Identifier: MIT

--- The affine form of an expression: an integer plus integer multiples of loop variables, of numbers that stay the same
-- during a call, of lengths, and of `e // c` where e is affine and c a positive literal. So `e % c` has one, and with a
-- literal `e & c`, `e | c`, `e ~ c` and `e << c`. A local that is never assigned again stands for its value.

local lua_text = require "clcompute.loops.tree.lua_text"
local walk = require "clcompute.loops.tree.walk"

local affine = {}

local LARGEST = 2 ^ 53 -- what a form may hold; sums of products of it are far from where integers wrap
local MOST_MULTIPLE = 1 << 9 -- of unknowns, so that no form wraps: a call checks that they are at most 2^53
local DEEPEST = 3 -- divisions within each other
local MOST_BITS = 30 -- of literals that bits are taken with

local NAMES = { name = function(variable) return variable.name end }

local function text(node)
  return lua_text.expression(node, NAMES)
end

local function refuse(node, reason, ...)
  return nil, reason:format(...), node
end

local function constant(value)
  return { constant = value, terms = {}, depth = 0 }
end

local function single(term)
  term.coefficient = 1
  return { constant = 0, terms = { term }, depth = term.quotient and term.quotient.depth + 1 or 0 }
end

local function same_unknown(one, other)
  return one.variable == other.variable and one.array == other.array and one.dimension == other.dimension
    and not one.quotient and not other.quotient
end

local function find_term(terms, like)
  for i, term in ipairs(terms) do
    if same_unknown(term, like) then return i end
  end
end

local function copy_term(term, coefficient)
  return { variable = term.variable, array = term.array, dimension = term.dimension, quotient = term.quotient,
    divisor = term.divisor, coefficient = coefficient }
end

--- one + factor * other, of a node; refused where a number gets too large.
local function combine(node, one, other, factor)
  local sum = constant(one.constant + factor * other.constant)
  sum.depth = math.max(one.depth, other.depth)
  local largest = math.abs(one.constant + 1.0 * factor * other.constant)
  for i, term in ipairs(one.terms) do sum.terms[i] = copy_term(term, term.coefficient) end
  for _, term in ipairs(other.terms) do
    local i = find_term(sum.terms, term)
    local before = i and sum.terms[i].coefficient or 0
    largest = math.max(largest, math.abs(before + 1.0 * factor * term.coefficient))
    i = i or #sum.terms + 1
    sum.terms[i] = copy_term(term, before + factor * term.coefficient)
  end
  for i = #sum.terms, 1, -1 do
    if sum.terms[i].coefficient == 0 then table.remove(sum.terms, i) end
  end
  if largest > LARGEST then return refuse(node, "its numbers are too large") end
  return sum
end

local function is_constant(form)
  return #form.terms == 0
end

local KINDS = {}

local known = setmetatable({}, { __mode = "k" }) -- variable to what its definition gave, and the `locals` in that
local met -- as keys, the locals that stand in the definition which is gone through

--- Whether a local that a definition speaks of is assigned; while a function is resolved that turns out later.
local function is_stale(entry)
  for variable in pairs(entry.locals) do
    if variable.assigned then return true end
  end
  return false
end

local function of_definition(variable)
  local entry, around = known[variable], met
  if not entry or is_stale(entry) then
    met = {}
    entry = table.pack(affine.of(variable.definition))
    entry.locals, met, known[variable] = met, around, entry
  end
  for inner in pairs(around and entry.locals or {}) do around[inner] = true end
  return entry[1], entry[2]
end

function KINDS.number(node)
  if math.type(node.value) ~= "integer" then return refuse(node, "%s is not an integer", text(node)) end
  if math.abs(node.value) > LARGEST or node.value == math.mininteger then
    return refuse(node, "%s is too large", text(node))
  end
  return constant(node.value)
end

function KINDS.name(node)
  local variable = node.variable
  if variable.role ~= "local" then return single { variable = variable } end
  if met then met[variable] = true end
  if variable.assigned then
    return refuse(node, "'%s' is assigned in line %d", variable.name, variable.assigned.line)
  end
  local form, reason = of_definition(variable)
  if form then return form end
  return refuse(node, "'%s' is not either: %s", variable.name, reason)
end

function KINDS.length(node)
  return single { array = node.array, dimension = node.dimension }
end

function KINDS.index(node)
  return refuse(node, "it depends on what is in '%s'", node.array.name)
end

function KINDS.boolean(node)
  return refuse(node, "%s is no number", text(node))
end

function KINDS.call(node)
  return refuse(node, "it calls math.%s", node.name)
end

local BEFORE_MINUS = { ["-"] = 0, ["~"] = -1 } -- `~e` is `-1 - e`

function KINDS.unary(node)
  local before = BEFORE_MINUS[node.op]
  if not before then return refuse(node, "it has '%s'", node.op) end
  local form, reason, at = affine.of(node.operand)
  if not form then return nil, reason, at end
  return combine(node, constant(before), form, -1)
end

local function sum(factor)
  return function(node, left, right) return combine(node, left, right, factor) end
end

local function product(node, left, right)
  if not is_constant(left) and not is_constant(right) then
    return refuse(node, "it multiplies %s by %s", text(node.left), text(node.right))
  end
  local factor, form = left.constant, right
  if not is_constant(left) then factor, form = right.constant, left end
  return combine(node, constant(0), form, factor)
end

--- The largest integer not above a quotient by a positive constant.
local function quotient(node, left, right)
  if not is_constant(right) or right.constant <= 0 then
    return refuse(node, "it divides by %s: only a positive integer literal is accepted", text(node.right))
  end
  if is_constant(left) then return constant(left.constant // right.constant) end
  if right.constant == 1 then return left end
  if left.depth == DEEPEST then return refuse(node, "it has more than %d divisions within each other", DEEPEST) end
  return single { quotient = left, divisor = right.constant }
end

local function remainder(node, left, right)
  local form, reason, at = quotient(node, left, right)
  if not form then return nil, reason, at end
  return combine(node, left, form, -right.constant)
end

-- --- bits: of integers that may be negative, too, whose upper bits are ones ----------------

--- Where the lowest run of ones in a number begins, how long it is, and the number without it.
local function lowest_run(bits)
  local low, count = 0, 0
  while bits >> low & 1 == 0 do low = low + 1 end
  while bits >> low + count & 1 == 1 do count = count + 1 end
  return low, count, bits & bits + (1 << low)
end

--- The bits of a form that are ones in a mask of one run of ones, a remainder of a quotient: `e & 6` is
-- `e // 2 % 4 * 2`. (isl takes seconds for two runs.)
local function masked(node, form, mask)
  if mask == 0 then return constant(0) end
  if mask < 0 then
    local others, reason, at = masked(node, form, ~mask)
    if not others then return nil, reason, at end
    return combine(node, form, others, -1)
  end
  local low, count, rest = lowest_run(mask)
  if rest ~= 0 or low + count > MOST_BITS then return refuse(node, "it has '%s' of many bits", node.op) end
  local shifted, reason, at = quotient(node, form, constant(1 << low))
  local part
  if shifted then part, reason, at = remainder(node, shifted, constant(1 << count)) end
  if not part then return nil, reason, at end
  return combine(node, constant(0), part, 1 << low)
end

--- An operator on bits, by what it makes of two literals: as a multiple of the sum of its operands and one of the bits
-- that are ones in both. `e | 1` is `e + 1 - (e & 1)`.
local function bitwise(of_literals, by_operands, by_both)
  return function(node, left, right)
    if is_constant(left) then left, right = right, left end
    if is_constant(left) then return constant(of_literals(left.constant, right.constant)) end
    if not is_constant(right) then
      return refuse(node, "it has '%s' of %s and %s: one must be an integer literal", node.op, text(node.left),
        text(node.right))
    end
    local both, reason, at = masked(node, left, right.constant)
    if not both then return nil, reason, at end
    local operands
    operands, reason, at = combine(node, left, right, 1)
    if not operands then return nil, reason, at end
    return combine(node, combine(node, constant(0), operands, by_operands), both, by_both)
  end
end

local function shifted_left(node, left, right)
  local count = is_constant(right) and right.constant or -1
  if count < 0 or count > MOST_BITS then return refuse(node, "it has '<<' by %s", text(node.right)) end
  return combine(node, constant(0), left, 1 << count)
end

--- A negative number's upper bits become zeros, so this is no quotient.
local function shifted_right(node, _, right)
  local count = is_constant(right) and right.constant or -1
  if count < 0 or count > MOST_BITS then return refuse(node, "it has '>>' by %s", text(node.right)) end
  return refuse(node, "it has '>>', which is another number where %s is negative: use '// %d'", text(node.left),
    1 << count)
end

local BINARY = { ["+"] = sum(1), ["-"] = sum(-1), ["*"] = product, ["//"] = quotient, ["%"] = remainder,
  ["&"] = bitwise(function(one, other) return one & other end, 0, 1),
  ["|"] = bitwise(function(one, other) return one | other end, 1, -1),
  ["~"] = bitwise(function(one, other) return one ~ other end, 1, -2),
  ["<<"] = shifted_left, [">>"] = shifted_right }

function KINDS.binary(node)
  local operation = BINARY[node.op]
  if node.op == "/" then return refuse(node, "'/' gives a float: use '//'") end
  if not operation then return refuse(node, "it has '%s'", node.op) end
  local left, reason, at = affine.of(node.left)
  if not left then return nil, reason, at end
  local right
  right, reason, at = affine.of(node.right)
  if not right then return nil, reason, at end
  return operation(node, left, right)
end

--- The affine form of a resolved expression: `{ constant=, terms=, depth= }`, where depth is that of divisions within
-- each other, and a term is `{ coefficient=, variable= }`, `{ coefficient=, array=, dimension= }` for a length, or
-- `{ coefficient=, quotient=form, divisor= }` for the floor of a form that is divided by an integer. Names in it must
-- be of type int.
-- @tparam table node
-- @treturn[1] table
-- @treturn[2] nil
-- @treturn[2] string why there is none
-- @treturn[2] table the node that is at fault
function affine.of(node)
  return KINDS[node.kind](node)
end

--- The forms of all arguments of a call; nil where one has none.
local function forms_of_all(nodes, name)
  local list = {}
  for _, node in ipairs(nodes) do
    local forms = affine.forms(node, name)
    if not forms then return nil end
    table.move(forms, 1, #forms, #list + 1, list)
  end
  return list
end

--- Forms to each of which another one is added, `factor` times; nil where a number gets too large.
local function each_with(node, forms, other, factor)
  local list = {}
  for i, form in ipairs(forms or {}) do
    list[i] = combine(node, form, other, factor)
    if not list[i] then return nil end
  end
  return forms and list
end

--- The affine forms that an expression is the least one of ("min"), or the greatest one ("max"): of
-- `math.min(i + 32, n) - 1` they are `i + 31` and `n - 1`; a sum is its only one.
-- @tparam table node
-- @tparam ?string name of the function of math; nil: there is to be one form
-- @treturn ?{table,...} nil where it is neither
function affine.forms(node, name)
  local form = affine.of(node)
  if form then return { form } end
  if node.kind == "call" then return node.name == name and forms_of_all(node.arguments, name) or nil end
  if node.kind == "name" then
    return not node.variable.assigned and affine.forms(node.variable.definition, name) or nil
  end
  if node.op ~= "+" and node.op ~= "-" or node.kind ~= "binary" then return nil end
  local right = affine.of(node.right)
  if right then return each_with(node, affine.forms(node.left, name), right, node.op == "+" and 1 or -1) end
  local left = node.op == "+" and affine.of(node.left)
  return left and each_with(node, affine.forms(node.right, name), left, 1)
end

--- The sum of a form and a multiple of another one; nil where a number gets too large.
function affine.sum(one, other, factor)
  return (combine(nil, one, other, factor))
end

--- How far one expression is above another, where that is always the same integer; else nil.
function affine.distance(one, other)
  local a, b = affine.of(one), affine.of(other)
  local difference = a and b and combine(one, a, b, -1)
  return difference and is_constant(difference) and difference.constant or nil
end

--- How many times what its unknowns may be, 2^53, a form may be.
local function multiple_of(form)
  local most = 0
  for _, term in ipairs(form.terms) do
    local inner = term.quotient and multiple_of(term.quotient) or 1
    if inner > MOST_MULTIPLE then return inner end
    most = most + math.abs(term.coefficient * 1.0) * math.max(1, inner / (term.divisor or 1))
  end
  return most
end

--- Whether a form may wrap round in Lua, which isl's integers do not.
function affine.may_wrap(form)
  return multiple_of(form) > MOST_MULTIPLE
end

--- Whether one of a form's terms, or of the forms within it, is accepted by `test`.
function affine.has_term(form, test)
  for _, term in ipairs(form.terms) do
    if test(term) or term.quotient and affine.has_term(term.quotient, test) then return true end
  end
  return false
end

--- Calls `visit` with each term of a form, and of the forms within it.
function affine.each_term(form, visit)
  for _, term in ipairs(form.terms) do
    visit(term)
    if term.quotient then affine.each_term(term.quotient, visit) end
  end
end

-- --- strides: how accesses go through memory as a loop goes on -----------------------------

--- The multiple of a variable in a form: 0 where it is not there, nil in a quotient.
local function coefficient_of(form, variable)
  local found = 0
  for _, term in ipairs(form.terms) do
    if term.variable == variable then found = term.coefficient end
    if term.quotient then
      local inner = coefficient_of(term.quotient, variable)
      if inner ~= 0 then return nil end
    end
  end
  return found
end

--- Which multiple of a variable an expression is, beside what does not depend on it; nil where that is not so.
function affine.multiple(node, variable)
  local form = affine.of(node)
  return form and coefficient_of(form, variable)
end

--- What differs from pass to pass of a loop, beside its variable.
-- @tparam {table,...} body of the loop
-- @treturn table as keys the variables that are declared or assigned in it, and the arrays that it writes
function affine.changes(body)
  local changes = {}
  walk.nodes(body, function(part)
    if part.kind == "local" or part.kind == "for" then changes[part.variable] = true end
    if part.kind == "assign" then changes[part.target.array or part.target.variable] = true end
  end)
  return changes
end

--- Which multiple of a loop's variable an expression is, beside what is the same in all passes although data decide it;
-- nil where that is not so.
-- @tparam table node
-- @tparam table variable
-- @tparam table changes of the loop's body
function affine.slope(node, variable, changes)
  local is_own = walk.find({ node }, function(part) return changes[part.array or part.variable] end) ~= nil
  local multiple = not is_own and affine.multiple(node, variable)
  if multiple or is_own then return multiple or nil end
  if not walk.mentions(node, variable) then return 0 end
  local sign = node.kind == "binary" and (node.op == "+" and 1 or node.op == "-" and -1)
  local left = sign and affine.slope(node.left, variable, changes)
  local right = left and affine.slope(node.right, variable, changes)
  local slope = right and left + sign * right
  return slope and math.abs(slope) <= MOST_MULTIPLE and slope or nil -- so that it cannot go round all integers
end

--- The same as `affine.pace`, with numbers that data decide where `changes` are given.
local function pace_of(node, variable, changes)
  local last = #node.subscripts
  for d, subscript in ipairs(node.subscripts) do
    local coefficient = affine.multiple(subscript, variable)
      or changes and affine.slope(subscript, variable, changes)
    if not coefficient or d < last and coefficient ~= 0 then return nil end
    if d == last then return coefficient end
  end
end

--- By how many elements of the last dimension an index moves when a variable grows by 1; nil: others change, too.
-- @tparam table node an index
-- @tparam table variable of a loop
-- @treturn ?integer
function affine.pace(node, variable) return (pace_of(node, variable)) end

--- How an index changes when a variable grows by 1: 0, not at all; 1, by one element of the last dimension; nil, by
-- anything else.
-- @tparam table node an index
-- @tparam table variable of a loop
-- @treturn ?integer
function affine.stride(node, variable)
  local pace = pace_of(node, variable)
  return (pace == 0 or pace == 1) and pace or nil
end

--- The number of accesses of a nest that go through memory element by element as a loop goes on, up or down; nil where
-- one jumps.
-- @tparam {table,...} nodes
-- @tparam table variable of the loop
-- @tparam ?boolean is_up whether none may go down
-- @treturn ?integer
function affine.units(nodes, variable, is_up)
  local units, is_regular, changes = 0, true, affine.changes(nodes)
  walk.nodes(nodes, function(part)
    if part.kind ~= "index" then return end
    local pace = pace_of(part, variable, changes)
    if pace and (is_up and 0 or -1) <= pace and pace <= 1 then
      units = units + math.abs(pace)
    else
      is_regular = false
    end
  end)
  return is_regular and units or nil
end

return affine
