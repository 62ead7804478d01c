-- SPDX-License-Identifier: MIT

--- Smallest and largest values that an innermost loop looks for, as vectors: each lane keeps what it has met, and the
-- lanes are compared behind the loop.
--
--     for k = i, j do local sum = c[i][k] + c[k + 1][j]; if sum < least then least = sum end end
--
-- Lua's comparisons leave NaN out, so the order in which numbers are compared makes no difference but which zero is
-- kept of 0.0 and -0.0. Where it is a zero, the loop goes pass by pass again.

local affine = require("clcompute.loops.tree").affine
local c_expression = require "clcompute.loops.generation.c_expression"
local lua_text = require("clcompute.loops.tree").lua_text
local vector_arithmetic = require "clcompute.loops.generation.vector_arithmetic"
local walk = require("clcompute.loops.tree").walk

local extrema = {}

local LANES = 8
local MASK = { double = "long", float = "int" }
local MIRRORED = { ["<"] = ">", [">"] = "<", ["<="] = ">=", [">="] = "<=" }
local CALLS = { min = ">", max = "<" } -- how the number that is kept stands to the one that takes its place

-- --- which loops ------------------------------------------------------------------------------

local function is_name(node, variable)
  return node.kind == "name" and (variable == nil or node.variable == variable)
end

--- `if e < m then m = e end`: m, e, and how m stands to e where e takes its place.
local function of_condition(node)
  local assign = #node.arms == 1 and not node.otherwise and #node.arms[1].body == 1 and node.arms[1].body[1]
  local condition = node.arms[1].condition
  if not assign or assign.kind ~= "assign" or not is_name(assign.target) then return nil end
  if not MIRRORED[condition.op] then return nil end
  local op, kept, value = condition.op, condition.left, condition.right
  if not is_name(kept, assign.target.variable) then op, kept, value = MIRRORED[op], value, kept end
  if not is_name(kept, assign.target.variable) then return nil end
  if lua_text.expression(value) ~= lua_text.expression(assign.value) then return nil end
  return { variable = assign.target.variable, value = value, op = op }
end

--- `m = math.max(m, e)`: the same.
local function of_call(node)
  local value = node.value
  if value.kind ~= "call" or not CALLS[value.name] or #value.arguments ~= 2 then return nil end
  if not is_name(node.target) or not is_name(value.arguments[1], node.target.variable) then return nil end
  return { variable = node.target.variable, value = value.arguments[2], op = CALLS[value.name] }
end

--- Whether an expression is arithmetic of floats at places that are sums, none of them a variable's.
local function is_plain(node, real, variable)
  return node.type == "float" and vector_arithmetic.is_in(node, real) and not walk.mentions(node, variable)
    and not walk.find({ node }, function(part)
      if part.kind ~= "index" then return false end
      for _, subscript in ipairs(part.subscripts) do
        if not affine.of(subscript) then return true end
      end
      return false
    end)
end

--- What a loop looks for.
-- @tparam table loop a `for` node
-- @string real the type of floats in C
-- @treturn ?table `variable`, the local that has it; `value`, what it is compared with, and `op`, how it stands to that
-- where it becomes it; `locals`, statements before. nil where the loop does anything else
function extrema.of(loop, real)
  if loop.parallel or loop.irregular or loop.step ~= 1 then return nil end
  local last, locals = loop.body[#loop.body], table.move(loop.body, 1, #loop.body - 1, 1, {})
  local found = last.kind == "if" and of_condition(last) or last.kind == "assign" and of_call(last) or nil
  if not found or found.variable.type ~= "float" or not is_plain(found.value, real, found.variable) then return nil end
  for _, node in ipairs(locals) do
    if node.kind ~= "local" or node.variable == found.variable or not is_plain(node.value, real, found.variable) then
      return nil
    end
  end
  found.locals = locals
  return found
end

-- --- in C -------------------------------------------------------------------------------------

--- The context in which elements are vectors along a loop.
local function in_vectors(loop, context)
  local variable = loop.variable
  local function access(node)
    local stride = affine.stride(node, variable)
    if stride == 1 then return ("vload%d(0, &%s)"):format(LANES, c_expression.element(node, context)) end
    if stride == 0 then return nil end
    local texts = {}
    for lane = 0, LANES - 1 do
      local names = setmetatable({ [variable] = ("(%s + %d)"):format(variable.id, lane) }, { __index = context.names })
      texts[lane + 1] = c_expression.element(node, setmetatable({ names = names }, { __index = context }))
    end
    return ("(%s%d)(%s)"):format(context.real, LANES, table.concat(texts, ", "))
  end
  return setmetatable({ access = access }, { __index = context })
end

--- The text that keeps one or the other of two vectors, lane by lane.
local function kept_of(one, other, lanes, found, real)
  return ("select(%s, %s, (%s%d)(%s %s %s))"):format(one, other, MASK[real], lanes, one, found.op, other)
end

--- The lines of the vectors' loop.
local function print_vectors(loop, found, output, add)
  local real = output.context.real
  local wide, vector = in_vectors(loop, output.context), real .. LANES
  add(output, ("const long %s = %s_next;"):format(loop.variable.id, loop.variable.id))
  for _, node in ipairs(found.locals) do
    add(output, ("const %s %s = %s;"):format(vector, node.variable.id, c_expression.text(node.value, wide, "float")),
      node)
  end
  add(output, ("const %s value = %s;"):format(vector, c_expression.text(found.value, wide, "float")))
  add(output, ("kept = %s;"):format(kept_of("kept", "value", LANES, found, real)))
end

--- Prints the loop.
-- @tparam table loop
-- @tparam table found what `extrema.of` found in it
-- @tparam table output of `clcompute.loops.generation.c_statements`
-- @tparam table statements `add` and `block` of that, and `passes`, which prints the loop pass by pass from one text to
-- another
function extrema.print(loop, found, output, statements)
  local context, id, add = output.context, loop.variable.id, statements.add
  local real, place = context.real, c_expression.name(found.variable, context)
  local function in_loop(text) return (text:gsub("#", id):gsub("@", place)) end
  statements.block(output, "", function()
    add(output, in_loop("long #_next = %s;"):format(c_expression.plain(loop.from, context)), loop)
    add(output, in_loop("const long #_to = %s;"):format(c_expression.plain(loop.to, context)))
    statements.block(output, in_loop("if (#_next + %d <= #_to) "):format(LANES - 1), function()
      add(output, in_loop("const long #_from = #_next;"))
      add(output, in_loop("const %s before = @;"):format(real))
      add(output, ("%s%d kept = before;"):format(real, LANES))
      statements.block(output, in_loop("for (; #_next + %d <= #_to; #_next += %d) "):format(LANES - 1, LANES),
        function() print_vectors(loop, found, output, add) end)
      add(output, ("const %s4 of4 = %s;"):format(real, kept_of("kept.lo", "kept.hi", 4, found, real)))
      add(output, ("const %s2 of2 = %s;"):format(real, kept_of("of4.lo", "of4.hi", 2, found, real)))
      add(output, in_loop("@ = of2.x %s of2.y ? of2.y : of2.x;"):format(found.op))
      statements.block(output, in_loop("if (@ == 0) "), function() -- which zero is it
        add(output, in_loop("@ = before;"))
        add(output, in_loop("#_next = #_from;"))
      end)
    end)
    statements.passes(id .. "_next", id .. "_to")
  end)
end

return extrema
