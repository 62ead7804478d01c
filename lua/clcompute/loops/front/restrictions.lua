-- SPDX-License-Identifier: MIT

--- What the subset asks of a function beyond its grammar. One variable is one thing: an array with the same number of
-- subscripts everywhere, or a number; only locals are assigned. Where bounds of loops and subscripts are affine, the
-- variables that they need must be integers in each call (`is_index`); others are computed with (`is_operand`).

local affine = require("clcompute.loops.tree").affine
local failure = require("clcompute.loops.tree").failure
local lua_text = require("clcompute.loops.tree").lua_text
local walk = require("clcompute.loops.tree").walk

local restrictions = {}

-- --- one variable, one thing ---------------------------------------------------------------

local function subscripts(count)
  return count == 1 and "1 subscript" or count .. " subscripts"
end

local function mark_array(origin, variable, node)
  local name = variable.name
  if variable.role == "loop" then
    failure.raise(origin, node, ("'%s' is a loop variable, not an array"):format(name))
  elseif variable.role == "local" then
    failure.raise(origin, node, ("'%s' is a local, not an array: index the parameter itself"):format(name))
  elseif variable.number then
    failure.raise(origin, node, ("'%s' is used as an array here, but as a number in line %d")
      :format(name, variable.number.line))
  end
  variable.role = "array"
  variable.use = variable.use or node
end

local function check_dimension(origin, variable, node)
  local longest = variable.longest
  if variable.rank and longest and longest.dimension > variable.rank then
    failure.raise(origin, node, ("'%s' has %s, but a length of dimension %d is taken in line %d"):format(variable.name,
      subscripts(variable.rank), longest.dimension, longest.line))
  end
end

--- Notes that a variable is indexed with so many subscripts.
function restrictions.index(origin, variable, node, count)
  mark_array(origin, variable, node)
  if variable.rank and variable.rank ~= count then
    failure.raise(origin, node, ("'%s' has %s here, but %s in line %d"):format(variable.name, subscripts(count),
      subscripts(variable.rank), variable.indexed.line))
  end
  variable.rank, variable.indexed = count, variable.indexed or node
  check_dimension(origin, variable, node)
end

--- Notes that the length of a dimension is taken.
function restrictions.length(origin, variable, node, dimension)
  mark_array(origin, variable, node)
  if not variable.longest or variable.longest.dimension < dimension then
    variable.longest = { dimension = dimension, line = node.line }
  end
  check_dimension(origin, variable, node)
end

--- Notes that a variable is read as a number.
function restrictions.number(origin, variable, node)
  if variable.role == "array" then
    failure.raise(origin, node, ("'%s' is used as a number here, but as an array in line %d")
      :format(variable.name, variable.use.line))
  end
  variable.number = variable.number or node
end

local KEPT = { parameter = "a parameter", capture = "an upvalue", loop = "a loop variable", array = "an array" }

--- Notes an assignment to a variable.
function restrictions.assign(origin, variable, node)
  local kept = KEPT[variable.role]
  if kept then
    failure.raise(origin, node, ("'%s' is %s and cannot be assigned: use a local"):format(variable.name, kept))
  end
  variable.assigned = variable.assigned or node
end

-- --- bounds and subscripts -----------------------------------------------------------------

local function mark(form)
  affine.each_term(form, function(term)
    if term.variable then term.variable.is_index = true end
  end)
end

--- The loop variable that stands first in a node, outside of `except`.
local function loop_variable(node, except)
  local found
  walk.node(node, function(inner)
    if inner == except then return false end
    if inner.kind == "name" and inner.variable.role == "loop" then found = found or inner.variable.name end
  end)
  return found
end

local ACCEPTED = "; where an array is written it must be a sum of integers and integer multiples of loop variables, "
  .. "integer arguments, lengths and their // and % by literals, unless the element is updated or exchanged: "
  .. "%s[k] = %s[k] + e"

--- An expression, or what the local that it is stands for.
local function meant(node)
  while node.kind == "name" and node.variable.role == "local" and not node.variable.assigned do
    node = node.variable.definition
  end
  return node
end

--- The part of a subscript that is at fault, also within what locals stand for.
local function cause_of(at)
  local inner = meant(at)
  while inner ~= at do
    at = select(3, affine.of(inner)) or inner
    inner = meant(at)
  end
  return at
end

--- What to write instead; for `A[i * n + k]`, where a matrix is meant, its element.
local function remedy(index, subscript, at)
  local name, cause = index.array.name, cause_of(at)
  if cause.kind ~= "binary" or cause.op ~= "*" then return (ACCEPTED:gsub("%%s", name)) end
  if #index.subscripts > 1 then return ("; give '%s' a subscript for each factor (reshape it)"):format(name) end
  local row, column = loop_variable(cause), loop_variable(meant(subscript), cause)
  local way = row and column and ("write %s[%s][%s]"):format(name, row, column) or "write a subscript for each"
  return ("; make '%s' a matrix (reshape it) and %s"):format(name, way)
end

local function mark_index(node)
  for _, list in ipairs { node.subscripts, node.in_rows or {}, node.array.pitches or {} } do
    for _, subscript in ipairs(list) do
      local form = affine.of(subscript)
      if form then mark(form) end
    end
  end
end

--- Whether a value is computed from the element that gets it: where that is left, Lua computes with nil.
local function is_update(assign)
  local text = lua_text.expression(assign.target)
  return walk.find({ assign.value }, function(part)
    return part.kind == "index" and part.array == assign.target.array and lua_text.expression(part) == text
  end) ~= nil
end

--- Refuses `a[#a + 1] = e`: a length is a number of the call.
local function check_growth(origin, node, dimension, form)
  local array, term = node.target.array, form.terms[1]
  if #form.terms == 1 and term.array == array and term.dimension == dimension and term.coefficient == 1
    and form.constant > 0 then
    failure.raise(origin, node.target, ("'%s' would get longer here, and an array keeps its length in a call: "
      .. "give it all its elements before, and store where loop variables say"):format(array.name))
  end
end

--- Where an element is written is a sum of the call's numbers and loop variables, unless it is updated or exchanged, or
-- it is so in the rows of a flat array; returns whether that is why it is accepted.
local function check_target(origin, node)
  local target, in_rows = node.target, node.target.in_rows
  for dimension, subscript in ipairs(in_rows or target.subscripts) do
    local form, reason, at = affine.of(subscript)
    if form and not in_rows then check_growth(origin, node, dimension, form) end
    if not form and not node.is_exchanged and not is_update(node) then
      failure.raise(origin, at, ("a subscript of '%s' is not affine: %s%s"):format(target.array.name, reason,
        remedy(target, subscript, at)))
    end
  end
  return in_rows ~= nil and not affine.of(target.subscripts[1]) and not node.is_exchanged and not is_update(node)
end

local function mark_bound(node)
  for _, name in ipairs { "min", "max" } do
    for _, form in ipairs(affine.forms(node, name) or {}) do mark(form) end
  end
end

local function check_node(tree, node)
  if node.kind == "for" and not node.word then
    mark_bound(node.from)
    mark_bound(node.to)
  elseif node.kind == "index" then
    mark_index(node)
  elseif node.kind == "assign" and node.target.kind == "index" then
    tree.needs_rows = check_target(tree.origin, node) or tree.needs_rows
  end
end

-- Operators to which 4 and 4.0 are the same.
local TAKES_EITHER = { ["/"] = true, ["<"] = true, ["<="] = true, [">"] = true, [">="] = true, ["=="] = true,
  ["~="] = true }

--- Marks the variables with which something is computed (`is_operand`), other than bounds and subscripts: there it is
-- not the same whether they are integers or floats.
local function mark_operands(nodes)
  walk.nodes(nodes, function(node)
    if node.kind == "name" then
      node.variable.is_operand = true
    elseif node.kind == "for" then -- a loop that begins with a float is one of floats
      mark_operands { node.from, node.pace }
      mark_operands(node.body)
    elseif TAKES_EITHER[node.op] then
      for _, side in ipairs { node.left, node.right } do
        if side.kind ~= "name" then mark_operands { side } end
      end
    end
    return not (node.kind == "for" or node.kind == "index" or node.kind == "length" or TAKES_EITHER[node.op])
  end)
end

--- Raises a failure unless a tree keeps to what the analysis can describe and Lua can run.
-- @tparam table tree of `clcompute.loops.front.resolve`
-- @treturn table the tree
function restrictions.check(tree)
  walk.nodes(tree.body, function(node) check_node(tree, node) end)
  mark_operands(tree.body)
  local loaded, message = lua_text.load("return " .. lua_text.whole(tree), "text")
  if not loaded then
    failure.raise(tree.origin, tree, "too large with all calls put in place: " .. message:gsub("^text:%d+: ", ""))
  end
  return tree
end

return restrictions
