-- SPDX-License-Identifier: MIT

--- Statements of the tree as lines of OpenCL C, each with its line in Lua.
--
-- An output is `{ depth=, context= }` to which lines are added: `context` is that of
-- clcompute.loops.generation.c_expression, with the `origin` of the text; `has_indices`: all its integers are those of
-- clcompute.loops.generation.indices.

local ast = require("clcompute.loops.tree").ast
local bounds = require("clcompute.loops.tree").loop_bounds
local c_expression = require "clcompute.loops.generation.c_expression"
local extrema = require "clcompute.loops.generation.extrema"
local faults = require "clcompute.loops.generation.faults"
local lane_steps = require "clcompute.loops.generation.lane_steps"
local lua_text = require("clcompute.loops.tree").lua_text
local range_checks = require "clcompute.loops.generation.range_checks"
local sharing = require "clcompute.loops.generation.sharing"
local strided_loops = require "clcompute.loops.generation.strided_loops"
local vector_loops = require "clcompute.loops.generation.vector_loops"
local walk = require("clcompute.loops.tree").walk

local c_statements = {}

local COMMENT_COLUMN = 60

local C_TYPE = { int = "long", bool = "int" }

--- The C type of what is "int", "float" or "bool".
function c_statements.type(type, context)
  return C_TYPE[type] or context.real
end

-- --- lines --------------------------------------------------------------------------------

--- The source text of a node in one line; of a loop or an `if` its head.
local function source_of(node, origin)
  local text = origin.text:sub(node.offset, node.finish)
  if node.word == "repeat" then text = "repeat" end
  if node.kind == "for" then text = text:match "^(.-%f[%w]do)%f[^%w]" or text end
  if node.kind == "if" then text = text:match "^(.-%f[%w]then)%f[^%w]" or text end
  return (text:gsub("%-%-[^\n]*", ""):gsub("%s+", " "):gsub("[\\?]+", " "))
end

--- Adds a line; what it was in Lua, if it was there, stands beside it where there is room, else above.
function c_statements.add(output, text, node)
  if output.has_indices then text = text:gsub("%f[%w_]long%f[^%w_]", "INDEX") end
  local indent = ("  "):rep(output.depth)
  local line = indent .. text
  local comment = node and node.line and ("// %d: %s"):format(node.line, source_of(node, output.context.origin))
  if comment and #line < COMMENT_COLUMN then
    line = line .. (" "):rep(COMMENT_COLUMN - #line) .. comment
  elseif comment then
    output[#output + 1] = indent .. comment
  end
  output[#output + 1] = line
end

-- --- statements ---------------------------------------------------------------------------

local add, changed = c_statements.add, ast.changed

--- Adds a block, whose head is a text and whose lines `print` adds.
function c_statements.block(output, head, print, node)
  add(output, head .. "{", node)
  output.depth = output.depth + 1
  print()
  output.depth = output.depth - 1
  add(output, "}")
end

local STATEMENTS = {}
local TOOLS = { add = add, block = c_statements.block } -- and `body`, `store`

--- Adds statements, one level further in; one that is a key of `output.instead` as the other one that is there.
function c_statements.body(nodes, output)
  output.depth = output.depth + 1
  for _, node in ipairs(nodes) do
    STATEMENTS[node.kind](output.instead and output.instead[node] or node, output)
  end
  output.depth = output.depth - 1
end

TOOLS.body = c_statements.body

--- A value as it is stored in an element of a dtype: rounded, or its low bits.
function c_statements.stored(value, dtype, context)
  local is_float = ast.is_float(dtype)
  local text = c_expression.text(value, context, is_float and "float" or nil)
  local own = is_float and context.real or "long"
  if dtype == own then return text end
  return ("(%s)(%s)"):format(dtype, text)
end

--- Adds what ends a work-item that met a fault; where others wait for it, it goes on.
function c_statements.stop(output, ...)
  local context = output.context
  local function may_fail(node)
    return faults.is_one(node, context.known) and not (context.ends_at_once and node.kind == "index")
  end
  if not output.has_barriers and walk.find({ ... }, may_fail) then add(output, output.stop or "STOP") end
end

local stop = c_statements.stop

--- A loop that only a `break` ends.
local function print_endless(node, output)
  c_statements.block(output, "for (;;) ", function()
    if output.has_barriers and output.has_faults then add(output, "if (fault.site) break;") end
    output.depth = output.depth - 1
    c_statements.body(node.body, output)
    output.depth = output.depth + 1
  end, node)
end

--- A loop whose bounds may be any integers; its passes are counted.
-- @string step as text
local function print_counted(node, step, output)
  local id, context = node.variable.id, output.context
  context.helpers.pass_count, context.counted[node.variable] = true, true
  add(output, ("for (long %s = %s, %s_left = pass_count(%s, %s, %s); %s_left != 0; %s_left--, %s += %s) {"):format(id,
    c_expression.plain(node.from, context), id, id, c_expression.plain(node.to, context), step, id, id, id, step), node)
  c_statements.body(node.body, output)
  add(output, "}")
end

--- Whether the bounds of a loop are no sums of a call's numbers, which are small, and of such loops' variables.
local function is_counted(node, context)
  if node.irregular ~= nil and not bounds.are_sums(node) then return true end
  return walk.find({ node.from, node.to }, function(part) return context.counted[part.variable] end) ~= nil
end

--- The last pass of a loop that has one, as text, and the condition that it has.
local function last_pass(node, from, to, step, context)
  if not node.pace and math.abs(node.step) == 1 then
    return to, ("%s %s %s"):format(from, node.step > 0 and "<=" or ">=", to)
  end
  context.helpers.last_pass = true
  return ("last_pass(%s, %s, %s)"):format(from, to, step), ("pass_count(%s, %s, %s) != 0"):format(from, to, step)
end

--- Looks at the subscripts of a loop's first and last pass. Where work-items wait for each other they all go on, and
-- each pass looks at its own.
local function print_range_checks(node, step, output)
  local list, context = range_checks.of(node), output.context
  for _, check in ipairs(list) do
    context.known[check.node] = context.known[check.node] or {}
    context.known[check.node][check.dimension] = nil -- beside this loop it may have been
  end
  if #list == 0 or output.has_barriers then return end
  local from = c_expression.plain(node.from, context)
  local last, condition = last_pass(node, from, c_expression.plain(node.to, context), step, context)
  c_statements.block(output, ("if (%s) "):format(condition), function()
    for _, pass in ipairs { from, last } do
      c_statements.block(output, "", function()
        add(output, ("const long %s = %s;"):format(node.variable.id, pass))
        for _, check in ipairs(list) do
          add(output, c_expression.inside(check.node, check.dimension, context) .. ";")
        end
      end)
    end
    if not context.ends_at_once then add(output, output.stop or "STOP") end
  end)
  for _, check in ipairs(list) do context.known[check.node][check.dimension] = true end
end

--- A strip of a lane, with the places of its locals.
local function print_strip(node, output)
  local context, strip, names = output.context, node.variable.id, {}
  output.depth = output.depth + 1
  for _, variable in ipairs(node.places) do
    add(output, ("%s %s[%d];"):format(c_statements.type(variable.type, context), variable.id, node.step))
    names[variable] = ("%s[%s - %s]"):format(variable.id, strip:gsub("_strip$", ""), strip)
  end
  output.depth = output.depth - 1
  output.context = setmetatable({ names = setmetatable(names, { __index = context.names }) }, { __index = context })
  c_statements.body(node.body, output)
  output.context = context
end

local FEW = 32 -- passes, as written

--- Whether a loop has so few passes that LLVM had better unroll it: vectors of a width that it is given leave most of
-- them over, and take up to three times as long.
local function has_few_passes(node)
  local from, to = node.from, node.to
  return from.kind == "number" and to.kind == "number" and (to.value - from.value) // node.step < FEW - 1
end

local MOST_REPEATED = 4 -- statements of a pass

--- Adds a hint before a loop of short passes that may end the work-item, which LLVM does not unroll unasked: there the
-- jumps from pass to pass take as long as the rest.
function c_statements.hint_at_checks(nodes, output)
  local context, count = output.context, 0
  if not context.ends_at_once or not faults.are_in(nodes, context.known) then return end
  walk.nodes(nodes, function(part)
    if part.kind == "for" then count = count + MOST_REPEATED end
    if part.kind == "assign" or part.kind == "local" then count = count + 1 end
  end)
  if count > MOST_REPEATED then return end
  context.helpers.REPEATED = true
  add(output, "REPEATED")
end

--- A loop whose step data decide.
local function print_paced(node, output)
  c_statements.block(output, "", function()
    local context, step = output.context, node.variable.id .. "_step"
    context.helpers.nonzero = true
    add(output, ("const long %s = nonzero(%s, %d, &fault);"):format(step, c_expression.text(node.pace, context),
      faults.number(context, { what = "step", node = node })))
    stop(output, node)
    print_range_checks(node, step, output)
    c_statements.hint_at_checks(node.body, output)
    print_counted(node, step, output)
  end)
end

--- A loop that counts up or down to its last pass.
local function print_plain(node, output)
  local id, last, step, context = node.variable.id, node.variable.id .. "_last", node.step, output.context
  local increment = step == 1 and id .. "++" or step == -1 and id .. "--"
    or ("%s %s %d"):format(id, step > 0 and "+=" or "-=", math.abs(step))
  add(output, ("for (long %s = %s, %s = %s; %s %s %s; %s) {"):format(id, c_expression.plain(node.from, context), last,
    c_expression.plain(node.to, context), id, step > 0 and "<=" or ">=", last, increment), node)
  if node.places then print_strip(node, output) else c_statements.body(node.body, output) end
  add(output, "}")
end

local function print_for(node, output)
  if node.pace then return print_paced(node, output) end
  local context, step = output.context, ("%d"):format(node.step)
  if not node.is_common then print_range_checks(node, step, output) end
  if node.word then return print_endless(node, output) end
  if not is_counted(node, context) and vector_loops.is_one(node) then return vector_loops.print(node, output, TOOLS) end
  if node.is_independent then
    local vectors = node.has_all and "MANY_VECTORS" or "VECTORS"
    local hint = node.is_plain and not has_few_passes(node) and vectors or "INDEPENDENT"
    context.helpers[hint] = true
    add(output, hint)
  else
    c_statements.hint_at_checks(node.body, output)
  end
  if is_counted(node, context) then return print_counted(node, step, output) end
  print_plain(node, output)
end

--- The last pass of a loop before the condition changes at which it is cut, as text; `low` and `high` are its first
-- and last pass. The limit is made as small as these before anything is added to it.
local function last_before(node, low, high, context)
  local cut, plus, minus = node.cut, "", ""
  if cut.lead.kind ~= "name" then
    local names = setmetatable({ [node.variable] = "0" }, { __index = context.names })
    local rest = c_expression.plain(cut.lead, setmetatable({ names = names }, { __index = context }))
    plus, minus = (" + (%s)"):format(rest), (" - (%s)"):format(rest)
  end
  local function clipped(least, most)
    local limit = c_expression.extremum("max_int", c_expression.text(cut.limit, context), least .. plus, context)
    return c_expression.extremum("min_int", limit, most .. plus, context) .. minus
  end
  if cut.op == ">" or cut.op == "<=" then return clipped(low .. " - 1", high) end
  return clipped(low, high .. " + 1") .. " - 1"
end

--- A loop with other bounds, which are texts.
local function between(loop, from, to)
  return changed(loop, { from = ast.node("text", { text = from, type = "int" }),
    to = ast.node("text", { text = to, type = "int" }) })
end

--- A loop in two parts, as `clcompute.loops.generation.cutting` has found them.
local function print_cut(node, output)
  local id, cut, context = node.variable.id, node.cut, output.context
  local from, to = c_expression.plain(node.from, context), c_expression.plain(node.to, context)
  local low, high, last = id .. "_low", id .. "_high", id .. "_before"
  c_statements.block(output, ("if (%s <= %s) "):format(from, to), function()
    add(output, ("const long %s = %s, %s = %s;"):format(low, from, high, to), node)
    add(output, ("const long %s = %s;"):format(last, last_before(node, low, high, context)), cut.condition)
    for _, part in ipairs { { cut.before, low, last }, { cut.from, last .. " + 1", high } } do
      local loop, first, final = table.unpack(part)
      STATEMENTS["for"](between(loop, first, final), output)
    end
  end)
end

-- A loop. What all its passes read stands before it, and is not read where there is no pass.
STATEMENTS["for"] = function(node, output)
  if node.cut then return print_cut(node, output) end
  if node.row_lanes then return lane_steps.print(node, output, TOOLS) end
  local found = not output.context.is_wide and extrema.of(node, output.context.real)
  local tools = { add = add, block = c_statements.block,
    passes = function(from, to) print_for(between(node, from, to), output) end }
  if found then return extrema.print(node, found, output, tools) end
  if node.is_strided and strided_loops.print(node, output, tools) then return end
  if not node.common or #node.common == 0 then return print_for(node, output) end
  local context = output.context
  c_statements.block(output, ("if (%s %s %s) "):format(c_expression.plain(node.from, context),
    node.step > 0 and "<=" or ">=", c_expression.plain(node.to, context)), function()
    for _, common in ipairs(node.common) do
      local type = common.variable.type
      add(output, ("const %s %s = %s;"):format(c_statements.type(type, context), common.variable.id,
        c_expression.text(common.value, context, type)))
    end
    print_for(node, output)
  end)
end

-- A local; one that has a place elsewhere is given its value there.
STATEMENTS["local"] = function(node, output)
  local type, context = node.variable.type, output.context
  local place = c_expression.name(node.variable, context)
  local declared = place == node.variable.id and c_statements.type(type, context) .. " " or ""
  add(output, ("%s%s = %s;"):format(declared, place, c_expression.text(node.value, context, type)), node)
  stop(output, node.value)
end

function STATEMENTS.shared(node, output) sharing.print_loop(node, output, TOOLS) end

function STATEMENTS.alone(node, output) sharing.print_alone(node, output, TOOLS) end

function STATEMENTS.meeting(_, output) output.print_meeting() end

STATEMENTS["break"] = function(_, output) add(output, "break;") end

--- What reads a target's element from its place, which is looked at once; nil where the value does not read it, or may
-- fail otherwise: what fails first is what Lua comes to first.
local function at_place(target, value, context)
  local element, text = target.array.element, lua_text.expression(target)
  local own = target.type == "int" and "long" or context.real
  local function is_it(node) return node.array == target.array and lua_text.expression(node) == text end
  local reads, may_fail = false, false
  walk.node(value, function(node)
    if is_it(node) then
      reads = true
      return false
    end
    may_fail = may_fail or faults.is_one(node, context.known)
  end)
  if not reads or may_fail then return nil end
  return setmetatable({ access = function(node)
    if is_it(node) then return element == own and "(*place)" or ("((%s)*place)"):format(own) end
    return context.access and context.access(node)
  end }, { __index = context })
end

--- Adds an assignment to an element where it, or the value, may fail: nothing is stored then.
local function store_checked(target, value, output, node)
  local context, element = output.context, target.array.element
  local function add_place()
    add(output, ("global %s *const place = &%s;"):format(element, c_expression.element(target, context)))
  end
  local function add_value(own)
    add(output, ("const %s value = %s;"):format(element, c_statements.stored(value, element, own)))
  end
  c_statements.block(output, "", function()
    local own = at_place(target, value, context)
    if own then add_place() end
    add_value(own or context)
    if not own then add_place() end
    stop(output, target, value)
    add(output, output.has_barriers and "if (!fault.site) *place = value;" or "*place = value;")
  end, node)
end

--- Adds the assignment of a value to a local or an element; `node` is the statement in Lua.
function c_statements.store(target, value, output, node)
  local context = output.context
  if target.kind == "index" and faults.are_in({ target, value }, context.known) then
    store_checked(target, value, output, node)
  elseif target.kind == "index" then
    add(output, ("%s = %s;"):format(c_expression.element(target, context),
      c_statements.stored(value, target.array.element, context)), node)
  else
    add(output, ("%s = %s;"):format(c_expression.name(target.variable, context),
      c_expression.text(value, context, target.variable.type)), node)
    stop(output, value)
  end
end

TOOLS.store = c_statements.store

--- Adds a sum to an element in one step.
local function add_atomically(node, output)
  local context, target, element = output.context, node.target, node.target.array.element
  c_statements.block(output, "", function()
    add(output, ("const %s value = %s;"):format(element, c_statements.stored(node.atomic, element, context)))
    add(output, ("volatile global %s *const place = &%s;"):format(element, c_expression.element(target, context)))
    stop(output, target, node.atomic)
    local is_long = element == "long" or element == "ulong"
    context.helpers.int64 = context.helpers.int64 or is_long or nil
    add(output, is_long and "atom_add(place, value);" or "atomic_add(place, value);")
  end, node)
end

--- An assignment, or what a kernel has in its place.
function STATEMENTS.assign(node, output)
  local print = output.printers and output.printers[node]
  if print then return print() end
  if node.atomic then return add_atomically(node, output) end
  c_statements.store(node.target, node.value, output, node)
end

--- An `if` whose conditions may fail: each is evaluated before it is asked.
local function print_checked_if(node, output, first)
  local arm = node.arms[first]
  c_statements.block(output, "", function()
    add(output, ("const int holds = %s;"):format(c_expression.condition(arm.condition, output.context)))
    stop(output, arm.condition)
    add(output, "if (holds) {")
    c_statements.body(arm.body, output)
    if node.arms[first + 1] or node.otherwise then
      add(output, "} else {")
      if node.arms[first + 1] then
        output.depth = output.depth + 1
        print_checked_if(node, output, first + 1)
        output.depth = output.depth - 1
      else
        c_statements.body(node.otherwise, output)
      end
    end
    add(output, "}")
  end, first == 1 and node or nil)
end

local function may_fail(node)
  for _, arm in ipairs(node.arms) do
    if faults.are_in { arm.condition } then return true end
  end
  return false
end

STATEMENTS["do"] = function(node, output)
  add(output, "{")
  c_statements.body(node.body, output)
  add(output, "}")
end

STATEMENTS["if"] = function(node, output)
  if may_fail(node) then return print_checked_if(node, output, 1) end
  for i, arm in ipairs(node.arms) do
    local condition = c_expression.condition(arm.condition, output.context)
    add(output, ("%sif (%s) {"):format(i > 1 and "} else " or "", condition), i == 1 and node or nil)
    c_statements.body(arm.body, output)
  end
  if node.otherwise then
    add(output, "} else {")
    c_statements.body(node.otherwise, output)
  end
  add(output, "}")
end

return c_statements
