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
    failure.raise(origin, node, ("'%s' is a local with a number, and is indexed here: a name of an array or a row is "
      .. "declared alone, 'local row = a[i]'"):format(name))
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
    failure.raise(origin, node, ("'%s' has %s here, but %s in line %d: rows are copied and exchanged element by "
      .. "element"):format(variable.name, subscripts(count), subscripts(variable.rank), variable.indexed.line))
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

local KEPT = { capture = "an upvalue", loop = "a loop variable" }

--- Notes an assignment to a variable. Parameters that are assigned are locals by then, but for arrays.
function restrictions.assign(origin, variable, node)
  local kept = KEPT[variable.role]
  if variable.role == "array" or variable.role == "parameter" then
    failure.raise(origin, node, ("'%s' is an array and cannot be assigned: two change places by 'a, b = b, a' once "
      .. "in each pass of a 'for' without 'break' or of a 'while' that stands in no other loop"):format(variable.name))
  elseif kept then
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

local function mark_index(node)
  for _, list in ipairs { node.subscripts, node.in_rows or {}, node.array.pitches or {} } do
    for _, subscript in ipairs(list) do
      local form = affine.of(subscript)
      if form then mark(form) end
    end
  end
end

--- Refuses `a[#a + 1] = e`: a length is a number of the call.
local function check_target(origin, target)
  local array = target.array
  for dimension, subscript in ipairs(target.subscripts) do
    local form = affine.of(subscript)
    local term = form and #form.terms == 1 and form.terms[1]
    if term and term.array == array and term.dimension == dimension and term.coefficient == 1 and form.constant > 0 then
      failure.raise(origin, target, ("'%s' would get longer here, and an array keeps its length in a call: "
        .. "append to a table that the function makes, and return that"):format(array.name))
    end
  end
end

local function mark_bound(node)
  for _, name in ipairs { "min", "max" } do
    for _, form in ipairs(affine.forms(node, name) or {}) do mark(form) end
  end
end

local function check_node(origin, node)
  if node.kind == "for" and not node.word then
    mark_bound(node.from)
    mark_bound(node.to)
  elseif node.kind == "index" then
    mark_index(node)
  elseif node.kind == "assign" and node.target.kind == "index" then
    check_target(origin, node.target)
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
  walk.nodes(tree.body, function(node) check_node(tree.origin, node) end)
  mark_operands(tree.body)
  local loaded, message = lua_text.load("return " .. lua_text.whole(tree), "text")
  if not loaded then
    failure.raise(tree.origin, tree, "too large with all calls put in place: " .. message:gsub("^text:%d+: ", ""))
  end
  return tree
end

return restrictions
