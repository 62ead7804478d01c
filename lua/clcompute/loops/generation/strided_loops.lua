-- SPDX-License-Identifier: MIT

--- Loops of processors that store every other element: as many passes at a time as vectors have lanes.
--
--     for j = 2 + i % 2, n - 1, 2 do a[i][j] = 0.25 * (a[i][j - 1] + a[i][j + 1]) end
--
-- Two vectors are read for one. What is stored goes element by element, as other work-items may write what lies
-- between. LLVM goes pass by pass there, which took twice as long on AVX-512. Where both of two neighbours are stored,
-- as of complex numbers, its vectors are better.

local affine = require("clcompute.loops.tree").affine
local c_expression = require "clcompute.loops.generation.c_expression"
local vector_arithmetic = require "clcompute.loops.generation.vector_arithmetic"
local walk = require("clcompute.loops.tree").walk

local strided_loops = {}

local LANES = 8

--- By how many elements an index moves from pass to pass; nil where that is no number.
local function distance_of(node, loop)
  local pace = affine.pace(node, loop.variable)
  return pace and pace * loop.step
end

--- The type of the floats that a loop computes with.
local function real_of(loop)
  local last = loop.body[#loop.body]
  return last and last.kind == "assign" and last.target.array and last.target.array.element
end

--- Whether a statement is arithmetic of floats for an element or a local of its own.
local function is_plain(node, real)
  local target = node.target
  if node.kind == "assign" then
    if target.kind ~= "index" or target.checked or target.array.element ~= real then return false end
  elseif node.kind ~= "local" or node.variable.type ~= "float" then
    return false
  end
  return vector_arithmetic.is_in(node.value, real)
end

--- Whether an array is stored to once in each pass, in every other element.
local function has_gaps(loop)
  local stores, has = {}, false
  for _, node in ipairs(loop.body) do
    local array = node.target and node.target.array
    if array and distance_of(node.target, loop) == 2 then stores[array] = (stores[array] or 0) + 1 end
  end
  for _, count in pairs(stores) do has = has or count == 1 end
  return has
end

--- Whether a loop is one.
-- @tparam table loop an innermost `for` node
function strided_loops.is_one(loop)
  if not loop.parallel or loop.irregular or loop.pace or loop.word or loop.step < 1 then return false end
  local real = real_of(loop)
  for _, node in ipairs(loop.body) do
    if not is_plain(node, real) then return false end
  end
  return has_gaps(loop) and not walk.find(loop.body, function(part)
    local distance = part.kind == "index" and distance_of(part, loop)
    return part.kind == "index" and not (distance and distance >= 0 and distance <= 2)
  end)
end

--- The context in which elements are vectors along a loop.
local function in_vectors(loop, context)
  local function access(node)
    local distance = distance_of(node, loop)
    if distance == 0 then return nil end
    local place = "&" .. c_expression.element(node, context)
    if distance == 1 then return ("vload%d(0, %s)"):format(LANES, place) end
    context.helpers.EVERY_OTHER = true
    return ("(%s%d)EVERY_OTHER(%s)"):format(context.real, LANES, place)
  end
  return setmetatable({ access = access }, { __index = context })
end

local function print_statement(node, loop, output, tools)
  local context = output.context
  local value = c_expression.text(node.value, in_vectors(loop, context), "float")
  local function define(name)
    tools.add(output, ("const %s%d %s = %s;"):format(context.real, LANES, name, value), node)
  end
  if node.kind == "local" then return define(node.variable.id) end
  local place = c_expression.element(node.target, context)
  tools.block(output, "", function()
    define "value"
    if distance_of(node.target, loop) == 1 then
      tools.add(output, ("vstore%d(value, 0, &%s);"):format(LANES, place))
    else
      context.helpers.EVERY_OTHER = true
      tools.add(output, ("STORE_EVERY_OTHER(value, &%s);"):format(place))
    end
  end)
end

--- Prints a loop, unless its floats are of another type than the kernel's.
-- @tparam table loop
-- @tparam table output of `clcompute.loops.generation.c_statements`
-- @tparam table tools `add` and `block` of that, and `passes`, which prints the loop pass by pass from one text to
-- another
-- @treturn boolean whether it did
function strided_loops.print(loop, output, tools)
  local context, id, reach = output.context, loop.variable.id, (LANES - 1) * loop.step
  if context.is_wide or context.real ~= real_of(loop) then return false end
  local function in_loop(text, ...) return (text:gsub("#", id):format(...)) end
  tools.block(output, "", function()
    tools.add(output, in_loop("long #_next = %s;", c_expression.plain(loop.from, context)), loop)
    tools.add(output, in_loop("const long #_to = %s;", c_expression.plain(loop.to, context)))
    tools.block(output, in_loop("for (; #_next + %d <= #_to; #_next += %d) ", reach, reach + loop.step), function()
      tools.add(output, in_loop "const long # = #_next;")
      for _, node in ipairs(loop.body) do print_statement(node, loop, output, tools) end
    end)
    tools.passes(id .. "_next", id .. "_to")
  end)
  return true
end

return strided_loops
