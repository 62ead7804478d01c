-- SPDX-License-Identifier: MIT

--- The polyhedral form of a function: for each statement the iterations in which it runs (its domain), their order (its
-- schedule) and the elements that it touches (its accesses), as strings of isl.

local ast = require("clcompute.loops.tree").ast
local isl_text = require "clcompute.loops.analysis.isl_text"
local walk = require("clcompute.loops.tree").walk

local scop = {}

-- --- accesses ------------------------------------------------------------------------------
--
-- What an expression reads: elements of arrays, and locals, which are arrays over the loops that they are declared in.
-- Each read has the condition under which it happens, because `and` and `or` do not always get to their right side.

--- The elements that a name stands for: of a local, the one of this iteration.
local function local_subscripts(variable)
  local subscripts = {}
  for i, loop in ipairs(variable.loops) do subscripts[i] = loop.variable.id end
  return subscripts
end

--- The 0-based subscripts of an array, as isl's text. Where one depends on data, it may be any.
local function array_subscripts(node, base)
  local subscripts = {}
  for i, subscript in ipairs(node.subscripts) do
    subscripts[i] = isl_text.affine(subscript, -base) or isl_text.any(i)
  end
  return subscripts
end

--- The access to an array's element or a local, or nil where a name is a constant of the call.
-- @tparam table node an index or a name
-- @tparam integer base of the arrays
-- @tparam table when `guard` (list of formulas), `certain` (boolean: it happens wherever they hold)
-- @treturn ?table `{ variable=, node=, subscripts={text}, guard=, certain=, write=false }`
local function access_of(node, base, when)
  local variable = node.kind == "index" and node.array or node.variable
  local is_array = node.kind == "index"
  if not is_array and variable.role ~= "local" then return nil end
  return { variable = variable, node = node, is_array = is_array, write = false,
    subscripts = is_array and array_subscripts(node, base) or local_subscripts(variable),
    guard = when.guard, certain = when.certain }
end

local function extended(list, item)
  local copy = table.move(list, 1, #list, 1, {})
  copy[#copy + 1] = item
  return copy
end

local collect

--- The right side of `and` comes to its turn when the left one holds, that of `or` when it does not.
local function collect_right(node, base, when, found)
  local reached = node.op == "and" and isl_text.necessary(node.left) or isl_text.necessary_not(node.left)
  collect(node.right, base, { guard = extended(when.guard, reached),
    certain = when.certain and isl_text.is_exact(node.left) }, found)
end

--- What subscripts that are not affine read.
local function collect_subscripts(node, base, when, found)
  for _, subscript in ipairs(node.checked and node.subscripts or {}) do
    if not isl_text.affine(subscript) then collect(subscript, base, when, found) end
  end
end

function collect(node, base, when, found)
  if node.kind == "name" or node.kind == "index" then
    collect_subscripts(node, base, when, found)
    found[#found + 1] = access_of(node, base, when)
  elseif node.kind == "binary" then
    collect(node.left, base, when, found)
    if node.op == "and" or node.op == "or" then
      collect_right(node, base, when, found)
    else
      collect(node.right, base, when, found)
    end
  elseif node.kind == "unary" then
    collect(node.operand, base, when, found)
  elseif node.kind == "call" then
    for _, argument in ipairs(node.arguments) do collect(argument, base, when, found) end
  end
end

--- All reads of an expression, in the order of its evaluation.
-- @tparam table node
-- @tparam integer base of the arrays
-- @tparam table when as for `of`
-- @treturn {table,...}
local function reads_of(node, base, when)
  local found = {}
  collect(node, base, when, found)
  return found
end

-- --- statements ----------------------------------------------------------------------------

--- What is known at a place of the program: the loops around it, the formulas that hold there, whether it is certainly
-- reached where they do, and `places`, where in its body each enclosing loop and the place itself stand.
local function inside(around, change)
  return setmetatable(change, { __index = around })
end

--- The next position in the body of the innermost loop.
local function next_position(around)
  around.counter.position = around.counter.position + 1
  return around.counter.position
end

local function add_statement(result, around, kind, node, list)
  local statement = { name = "S" .. #result.statements + 1, kind = kind, node = node, loops = around.loops,
    doubts = around.doubts,
    constraints = around.constraints, places = extended(around.places, next_position(around)), accesses = list }
  for _, access in ipairs(list) do access.statement = statement end
  result.statements[#result.statements + 1] = statement
  result.depth = math.max(result.depth, #around.loops)
end

local function add_store(result, around, node, target)
  local when = { guard = {}, certain = around.certain }
  local list = reads_of(node.value, result.base, when)
  collect_subscripts(target, result.base, when, list)
  local write = access_of(target, result.base, when)
  write.write = true
  list[#list + 1] = write
  add_statement(result, around, "store", node, list)
end

local visit_body

local visitors = {}

visitors["local"] = function(result, around, node)
  add_store(result, around, node, ast.node("name", { variable = node.variable }, node))
end

visitors["assign"] = function(result, around, node)
  add_store(result, around, node, node.target)
end

--- What stands in a loop of which data decide the passes may happen.
visitors["for"] = function(result, around, node)
  result.loops[#result.loops + 1] = node
  visit_body(result, inside(around, {
    loops = extended(around.loops, node), constraints = extended(around.constraints, isl_text.range(node)),
    certain = around.certain and not node.irregular,
    doubts = node.irregular and extended(around.doubts, node) or around.doubts,
    places = extended(around.places, next_position(around)), counter = { position = -1 },
  }), node.body)
end

--- The evaluation of a condition that depends on data is a statement of its own, which writes nothing.
local function add_condition(result, around, node)
  local list = reads_of(node, result.base, { guard = {}, certain = around.certain })
  if #list > 0 then add_statement(result, around, "condition", node, list) end
end

visitors["if"] = function(result, around, node)
  for _, arm in ipairs(node.arms) do
    local is_exact = isl_text.is_exact(arm.condition)
    local certain = around.certain and is_exact
    add_condition(result, around, arm.condition)
    visit_body(result, inside(around, {
      constraints = extended(around.constraints, isl_text.necessary(arm.condition)), certain = certain,
      doubts = is_exact and around.doubts or extended(around.doubts, arm) }), arm.body)
    around = inside(around, { constraints = extended(around.constraints, isl_text.necessary_not(arm.condition)),
      certain = certain, doubts = is_exact and around.doubts or extended(around.doubts, arm.body) })
  end
  if node.otherwise then visit_body(result, around, node.otherwise) end
end

visitors["break"] = function() end

function visit_body(result, around, body)
  for _, node in ipairs(body) do visitors[node.kind](result, around, node) end
end

--- Whether the call's numbers and the loops say which element a node is.
local function is_placed(node)
  for _, subscript in ipairs(node.checked and node.subscripts or {}) do
    if not isl_text.affine(subscript) then return false end
  end
  return true
end

--- Writes the strings, once the depth of the deepest statement is known.
local function write_texts(result)
  for _, statement in ipairs(result.statements) do
    statement.domain = isl_text.domain(result, statement, 0)
    statement.schedule = isl_text.schedule(result, statement, 0)
    for _, access in ipairs(statement.accesses) do
      access.must = access.write and access.certain and is_placed(access.node)
      access.map = isl_text.access(result, access, 0)
    end
  end
end

--- Of some accesses those that read, and those that store whenever the innermost part of the program runs that data
-- decide and that is around all of them; with `is_read_behind`, in any case.
function scop.sure(accesses, is_read_behind)
  local common, list = not is_read_behind and accesses[1] and accesses[1].statement.doubts or {}, {}
  for _, access in ipairs(accesses) do
    local doubts, count = access.statement.doubts, 0
    while count < #common and doubts[count + 1] == common[count + 1] do count = count + 1 end
    common = table.move(common, 1, count, 1, {})
  end
  for _, access in ipairs(accesses) do
    local is_sure = #access.statement.doubts == #common and is_placed(access.node)
    if not access.write or is_sure then list[#list + 1] = access end
  end
  return list
end

--- The accesses in a statement, and how many loops are around it.
-- @tparam table form of `extract`
-- @tparam table node
-- @treturn {table,...}
-- @treturn integer
function scop.within(form, node)
  local list, outer, is_inside = {}, 0, {}
  walk.node(node, function(part) is_inside[part] = true end)
  for _, statement in ipairs(form.statements) do
    if is_inside[statement.node] then
      outer = 0
      while statement.loops[outer + 1] and not is_inside[statement.loops[outer + 1]] do outer = outer + 1 end
      table.move(statement.accesses, 1, #statement.accesses, #list + 1, list)
    end
  end
  return list, outer
end

--- The accesses in a loop, or all of them, which may have been moved or changed in its tree since.
-- @tparam table form of `extract`
-- @tparam ?table loop
-- @treturn {table,...}
function scop.accesses_in(form, loop)
  local list = {}
  for _, statement in ipairs(form.statements) do
    local is_within = not loop
    for _, around in ipairs(statement.loops) do is_within = is_within or around.variable == loop.variable end
    if is_within then table.move(statement.accesses, 1, #statement.accesses, #list + 1, list) end
  end
  return list
end

--- Extracts the polyhedral form of a tree with types.
-- @tparam table tree of `clcompute.loops.front.types`; its `base` is that of the arrays: 0 or, unless given, 1
-- @treturn table `parameters` (name in isl to `{ variable= }`, or `{ variable=, dimension= }` for a size), `numbers`
-- (names of those that are no sizes and that the texts speak of), `loops` (all `for` nodes), `depth`, `base`,
-- `statements`: each with `name`, `kind` ("store" or "condition"), `node`, `loops`, `domain`, `schedule` (2d + 1
-- dimensions), `accesses` (`variable`, `node`, `is_array`, `write`, `must`, `certain`, `subscripts`, `map`)
function scop.extract(tree)
  local result = { tree = tree, base = tree.base or 1, loops = {}, statements = {}, depth = 0 }
  result.parameters = isl_text.parameters(tree)
  visit_body(result, { loops = {}, constraints = {}, places = {}, certain = true, doubts = {},
    counter = { position = -1 } }, tree.body)
  write_texts(result)
  result.numbers = isl_text.numbers(result)
  return result
end

return scop
