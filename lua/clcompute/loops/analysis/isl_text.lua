-- SPDX-License-Identifier: MIT

--- Affine forms, conditions, sets and maps as isl reads them. A set or map can be seen from within its outer loops,
-- whose variables are parameters then. A condition that is not affine, and so depends on data, is approximated: from
-- above by a necessary condition, from below by a sufficient one.

local affine = require("clcompute.loops.tree").affine
local ast = require("clcompute.loops.tree").ast
local bounds = require("clcompute.loops.tree").loop_bounds
local size_of = ast.size

local isl_text = {}

local form_text

--- What a term is a multiple of.
local function unknown_text(term)
  if term.variable then return term.variable.id end
  if term.array then return size_of(term.array, term.dimension) end
  return ("floor((%s) / %d)"):format(form_text(term.quotient), term.divisor)
end

local function multiple(term)
  if term.coefficient == 1 then return unknown_text(term) end
  return ("%d * %s"):format(term.coefficient, unknown_text(term))
end

function form_text(form)
  local parts = {}
  for i, term in ipairs(form.terms) do parts[i] = multiple(term) end
  if form.constant ~= 0 or #parts == 0 then parts[#parts + 1] = tostring(form.constant) end
  return (table.concat(parts, " + "):gsub("%+ %-", "- "))
end

--- A form of `clcompute.loops.tree.affine`.
isl_text.form = form_text

--- An expression in isl's words, or nil where it is not affine in integers.
-- @tparam table node with a type
-- @tparam ?integer offset what is added to it
-- @treturn ?string
function isl_text.affine(node, offset)
  local form = node.type == "int" and affine.of(node)
  return form and form_text { constant = form.constant + (offset or 0), terms = form.terms } or nil
end

-- --- conditions ----------------------------------------------------------------------------

local COMPARISONS = { ["=="] = "=", ["~="] = "!=", ["<"] = "<", ["<="] = "<=", [">"] = ">", [">="] = ">=" }

--- One side of a comparison, or nil where it is not affine, or not in Lua's integers, which wrap round.
local function side(node)
  local form = node.type == "int" and affine.of(node)
  return form and not affine.may_wrap(form) and form_text(form) or nil
end

--- `left op right`, or nil where that is no affine comparison.
local function comparison(node)
  local op = node.kind == "binary" and COMPARISONS[node.op] or nil
  local left = op and side(node.left)
  local right = left and side(node.right)
  return right and ("%s %s %s"):format(left, op, right)
end

--- What stands for a leaf that is not affine is "true" from above, "false" from below; `not` exchanges them.
local function approximate(node, unknown, opposite)
  if ast.is_number(node) then return "true" end
  if node.kind == "boolean" then return tostring(node.value) end
  if node.kind == "unary" and node.op == "not" then
    return ("not (%s)"):format(approximate(node.operand, opposite, unknown))
  end
  if node.op == "and" or node.op == "or" then
    return ("(%s) %s (%s)"):format(approximate(node.left, unknown, opposite), node.op,
      approximate(node.right, unknown, opposite))
  end
  return comparison(node) or unknown
end

--- A formula that holds whenever the condition does.
function isl_text.necessary(node)
  return approximate(node, "true", "false")
end

--- A formula under which the condition holds for certain.
function isl_text.sufficient(node)
  return approximate(node, "false", "true")
end

--- A formula that holds whenever the condition does not.
function isl_text.necessary_not(node)
  return ("not (%s)"):format(isl_text.sufficient(node))
end

--- Whether the formulas say exactly what the condition does.
function isl_text.is_exact(node)
  if ast.is_number(node) or node.kind == "boolean" then return true end
  if node.kind == "unary" and node.op == "not" then return isl_text.is_exact(node.operand) end
  if node.op == "and" or node.op == "or" then return isl_text.is_exact(node.left) and isl_text.is_exact(node.right) end
  return comparison(node) ~= nil
end

--- Whether the formulas say nothing of a condition: data alone decide.
function isl_text.is_unknown(node)
  if ast.is_number(node) or node.kind == "boolean" then return false end
  if node.kind == "unary" and node.op == "not" then return isl_text.is_unknown(node.operand) end
  if node.op == "and" or node.op == "or" then
    return isl_text.is_unknown(node.left) and isl_text.is_unknown(node.right)
  end
  return comparison(node) == nil
end

--- The name of a subscript that may be any, no parameter's.
function isl_text.any(dimension)
  return "any" .. dimension
end

--- That a loop's variable is not beyond any of some forms; nil where there are none.
local function within(forms, op, variable)
  if not forms then return nil end
  local formulas = {}
  for i, form in ipairs(forms) do formulas[i] = ("%s %s %s"):format(variable, op, form_text(form)) end
  return table.concat(formulas, " and ")
end

--- The values that a loop's variable takes; at an end that data decide, any.
-- @tparam table loop a `for` node
-- @treturn string
function isl_text.range(loop)
  if loop.pace and loop.is_open then return "true" end
  local variable, is_up, firsts, formulas = loop.variable.id, loop.step > 0, bounds.firsts(loop), {}
  formulas[1] = within(firsts, is_up and ">=" or "<=", variable)
  formulas[#formulas + 1] = within(bounds.lasts(loop), is_up and "<=" or ">=", variable)
  if math.abs(loop.step) > 1 and bounds.are_sums(loop) then
    formulas[#formulas + 1] = ("(%s - (%s)) mod %d = 0"):format(variable, form_text(firsts[1]), math.abs(loop.step))
  end
  return #formulas > 0 and table.concat(formulas, " and ") or "true"
end

-- --- sets and maps -------------------------------------------------------------------------

--- The integers that a call fixes, by their names in isl: numbers, and sizes of arrays.
-- @tparam table tree
-- @treturn table name to `{ variable= }`, or `{ variable=, dimension= }` for a size
function isl_text.parameters(tree)
  local names = {}
  local function add(variable)
    if variable.rank then
      for d = variable.pitches and 0 or 1, variable.rank do
        names[size_of(variable, d)] = { variable = variable, dimension = d }
        if variable.pitches and d > 1 then names[ast.last(variable, d)] = { variable = variable, dimension = d } end
      end
    elseif variable.type == "int" then
      names[variable.id] = { variable = variable }
    end
  end
  for _, variable in ipairs(tree.parameters) do add(variable) end
  for _, variable in ipairs(tree.captures) do add(variable) end
  for _, variable in ipairs(tree.scratch or {}) do
    if variable.is_made then add(variable) end
  end
  return names
end

--- The names of a text that are parameters, in their order; `extra` is a set of further ones.
local function used(scop, text, extra)
  local names, seen = {}, {}
  for name in text:gmatch "[%a_][%w_]*" do
    if not seen[name] and (scop.parameters[name] or extra[name]) then names[#names + 1] = name end
    seen[name] = true
  end
  return names
end

--- The numbers of a call, not the sizes, that domains and accesses speak of.
-- @tparam table scop whose statements and accesses have their texts
-- @treturn {string,...} names in isl
function isl_text.numbers(scop)
  local texts, numbers = {}, {}
  for _, statement in ipairs(scop.statements) do
    texts[#texts + 1] = statement.domain
    for _, access in ipairs(statement.accesses) do texts[#texts + 1] = access.map end
  end
  for _, name in ipairs(used(scop, table.concat(texts, " "), {})) do
    if not scop.parameters[name].dimension then numbers[#numbers + 1] = name end
  end
  return numbers
end

local function with_parameters(scop, text, extra)
  local names = used(scop, text, extra or {})
  return #names == 0 and text or ("[%s] -> %s"):format(table.concat(names, ", "), text)
end

--- A statement seen from within so many loops: its tuple, and the variables that are parameters now.
local function tuple(statement, outer)
  local inner, parameters = {}, {}
  for i, loop in ipairs(statement.loops) do
    if i > outer then inner[#inner + 1] = loop.variable.id else parameters[loop.variable.id] = true end
  end
  return ("%s[%s]"):format(statement.name, table.concat(inner, ", ")), parameters
end

local function all_of(...)
  local formulas = {}
  for _, list in ipairs { ... } do
    for _, text in ipairs(list) do formulas[#formulas + 1] = ("(%s)"):format(text) end
  end
  return #formulas == 0 and "true" or table.concat(formulas, " and ")
end

--- How many loops stand around a loop, or nil where a statement is not in it.
function isl_text.outer(statement, loop)
  for d, other in ipairs(statement.loops) do
    if other == loop then return d - 1 end
  end
end

--- The iterations in which a statement runs.
-- @tparam table scop
-- @tparam table statement
-- @tparam integer outer number of loops from outside whose variables are parameters
function isl_text.domain(scop, statement, outer)
  local name, parameters = tuple(statement, outer)
  return with_parameters(scop, ("{ %s : %s }"):format(name, all_of(statement.constraints)), parameters)
end

--- The elements that an access touches, restricted to the domain of its statement.
-- @tparam table scop
-- @tparam table access
-- @tparam integer outer number of loops from outside whose variables are parameters
-- @tparam ?{string,...} formulas of what else is to hold there
-- @tparam ?{string,...} names of further parameters that they speak of
function isl_text.access(scop, access, outer, formulas, names)
  local name, parameters = tuple(access.statement, outer)
  for _, further in ipairs(names or {}) do parameters[further] = true end
  return with_parameters(scop, ("{ %s -> %s[%s] : %s }"):format(name, access.variable.id,
    table.concat(access.subscripts, ", "), all_of(access.statement.constraints, access.guard, formulas or {})),
    parameters)
end

--- A text in which names have a suffix.
-- @string text
-- @tparam {string,...} names
-- @string suffix
function isl_text.renamed(text, names, suffix)
  for _, name in ipairs(names) do text = text:gsub("%f[%w_]" .. name .. "%f[^%w_]", name .. suffix) end
  return text
end

--- One subscript of an access in all iterations that it happens in: a map to a single integer.
-- @tparam table scop
-- @tparam table access
-- @tparam integer dimension
-- @tparam ?{string,...} formulas of what else is to hold there
function isl_text.subscript(scop, access, dimension, formulas)
  return with_parameters(scop, ("{ %s -> [%s] : %s }"):format(tuple(access.statement, 0), access.subscripts[dimension],
    all_of(access.statement.constraints, access.guard, formulas or {})))
end

--- A subscript in all passes of some loops, whatever else holds.
function isl_text.subscript_in(scop, subscript, loops)
  local names, formulas = {}, {}
  for i, loop in ipairs(loops) do names[i], formulas[i] = loop.variable.id, isl_text.range(loop) end
  local form = affine.of(subscript)
  return with_parameters(scop, ("{ R[%s] -> [%s] : %s }"):format(table.concat(names, ", "),
    form_text { constant = form.constant - scop.base, terms = form.terms }, all_of(formulas)))
end

--- When a statement runs: position, loop variable, position, ..., position, filled up with zeros.
function isl_text.schedule(scop, statement, outer)
  local name, parameters = tuple(statement, outer)
  local times = {}
  for d = outer + 1, scop.depth + 1 do
    local loop = statement.loops[d]
    times[#times + 1] = tostring(statement.places[d] or 0)
    if d <= scop.depth then times[#times + 1] = loop and (loop.step < 0 and "-" or "") .. loop.variable.id or "0" end
  end
  return with_parameters(scop, ("{ %s -> [%s] }"):format(name, table.concat(times, ", ")), parameters)
end

--- All elements of an array.
function isl_text.extent(scop, array)
  local names, formulas = {}, {}
  for d = 1, array.rank do
    names[d] = "x" .. d
    formulas[d] = ("0 <= x%d < %s"):format(d, size_of(array, d))
  end
  return with_parameters(scop, ("{ %s[%s] : %s }"):format(array.id, table.concat(names, ", "),
    table.concat(formulas, " and ")))
end

--- The integers before the first subscript of a dimension ("below"), or behind its last one ("above").
function isl_text.outside(scop, array, dimension, where)
  local limit = where == "below" and "x < 0" or "x >= " .. size_of(array, dimension)
  return with_parameters(scop, ("{ [x] : %s }"):format(limit))
end

--- Where a loop has no pass, although the loops around it run: a map of one element.
-- @tparam table scop
-- @tparam table loop whose bounds are single sums
-- @tparam {table,...} around outermost first
function isl_text.without_pass(scop, loop, around)
  local formulas, running = { ("%s %s %s"):format(isl_text.affine(loop.from), loop.step > 0 and ">" or "<",
    isl_text.affine(loop.to)) }, {}
  for _, other in ipairs(around) do
    formulas[#formulas + 1] = isl_text.range(other)
    running[other.variable.id] = true
  end
  return with_parameters(scop, ("{ S[] -> pass[] : %s }"):format(all_of(formulas)), running)
end

--- That an access is in the last row of a flat array, whose dimensions before one are at their last place: data may
-- say that they are.
-- @tparam table access
-- @tparam integer dimension
-- @treturn {string,...} formulas
function isl_text.in_last(access, dimension)
  local formulas = {}
  for d = 1, dimension - 1 do
    local last = d == 1 and size_of(access.variable, 1) or ast.last(access.variable, d)
    local is_data = access.node.checked and access.node.checked[d]
    formulas[d] = is_data and "true" or ("%s = %s - 1"):format(access.subscripts[d], last)
  end
  return formulas
end

--- The places of a dimension that the last row does not have.
function isl_text.behind_last(scop, array, dimension)
  return with_parameters(scop, ("{ [x] : x >= %s }"):format(ast.last(array, dimension)))
end

--- What holds for the parameters of a text: no size is negative, and the loops whose variables are parameters run.
-- @tparam table scop
-- @string text
-- @tparam ?{table,...} loops outermost first
function isl_text.context(scop, text, loops)
  local formulas, running = {}, {}
  for _, name in ipairs(used(scop, text, {})) do
    if scop.parameters[name].dimension then formulas[#formulas + 1] = ("%s >= 0"):format(name) end
  end
  for _, loop in ipairs(loops or {}) do
    formulas[#formulas + 1] = isl_text.range(loop)
    running[loop.variable.id] = true
  end
  return with_parameters(scop, ("{ : %s }"):format(all_of(formulas)), running)
end

return isl_text
