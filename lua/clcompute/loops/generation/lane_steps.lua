-- SPDX-License-Identifier: MIT

--- A loop whose lanes are rows (`clcompute.loops.generation.row_lanes`) in OpenCL C: eight steps at a time.

local bounds = require("clcompute.loops.tree").loop_bounds
local c_expression = require "clcompute.loops.generation.c_expression"
local row_lanes = require "clcompute.loops.generation.row_lanes"
local size_of = require("clcompute.loops.tree").ast.size
local walk = require("clcompute.loops.tree").walk

local lane_steps = {}

local ROWS = row_lanes.rows

local function vector_of(type, context) return (type == "int" and "long" or context.real) .. ROWS end

-- --- numbers of lanes -------------------------------------------------------------------------

--- What stands for a number in a lane; `pass` is the first lane's, a node.
local function in_lane(node, lane, pass, parts)
  local loops = parts.loops
  return walk.replaced(node, function(part)
    if part.kind ~= "name" then return nil end
    if part.variable == loops.row then return bounds.plus(part, lane) end
    return part.variable == loops.pass and bounds.plus(pass, -loops.behind * lane) or nil
  end)
end

--- The first lane's pass in a step.
local function pass_of(step, parts) return bounds.plus(bounds.name(parts.loops.pass), step) end

--- What each lane reads, as a vector. The last lane reads nothing where that is there for the next one alone.
local function gathered(node, pass, parts, is_handed_on)
  local list = {}
  for lane = 0, ROWS - 1 do
    list[lane + 1] = is_handed_on and lane == ROWS - 1 and "0"
      or c_expression.text(in_lane(node, lane, pass, parts), parts.context)
  end
  return ("(%s)(%s)"):format(vector_of(node.type, parts.context), table.concat(list, ", "))
end

--- A vector whose first lane reads an element, and the others have what those before had.
local function handed_on(node, step, name, parts)
  local first = c_expression.text(in_lane(node, 0, pass_of(step, parts), parts), parts.context)
  return ("(%s)(%s, %s.s0123, %s.s456)"):format(vector_of(node.type, parts.context), first, name, name)
end

--- What the lanes have stored so many passes before a step.
local function stored_before(step, ago, parts)
  if step >= ago then return ("%s_done%d"):format(parts.id, step - ago) end
  return ("%s_kept%d"):format(parts.id, ago - step)
end

--- What an element that all rows read passes after each other is in a step: another lane read it so many steps before.
local function along_at(node, step, parts)
  return ("%s_%d"):format(parts.reads[node].name, step % parts.loops.behind)
end

-- --- what is there before the first step ------------------------------------------------------

--- Gives the reads of a kind names, those of one element the same, and returns one of each.
local function named(kind, body, parts)
  local list, known = {}, {}
  walk.nodes(body, function(node)
    local read = parts.reads[node]
    if not read or read.kind ~= kind then return end
    local text = c_expression.text(node, parts.context)
    if not known[text] then list[#list + 1] = node end
    known[text] = known[text] or ("%s_%s%d"):format(parts.id, kind, #list)
    read.name = known[text]
  end)
  return list
end

--- For how many passes what rows store is kept, and for how many each row itself needs that.
local function passes_kept(reads)
  local most, own = 0, 0
  for _, read in pairs(reads) do
    most = math.max(most, read.ago or 0)
    if read.kind == "kept" then own = math.max(own, read.ago) end
  end
  return most, own
end

--- Declares that; `from` is the pass of the first step, a node.
local function declare(parts, body, from, output, tools)
  local function define(node, name, value)
    tools.add(output, ("%s %s = %s;"):format(vector_of(node.type, parts.context), name, value))
  end
  local function before(ago) return bounds.plus(from, -ago) end
  for _, node in ipairs(named("fixed", body, parts)) do
    define(node, parts.reads[node].name, gathered(node, from, parts))
  end
  for _, node in ipairs(parts.along) do
    for step = 0, parts.loops.behind - 1 do
      define(node, along_at(node, step, parts), gathered(node, before(parts.loops.behind - step), parts, true))
    end
  end
  local most, own = passes_kept(parts.reads)
  for ago = 1, most do
    define(parts.target, stored_before(0, ago, parts), gathered(parts.target, before(ago), parts, ago > own))
  end
  return most
end

-- --- a step -----------------------------------------------------------------------------------

--- The numbers from 0 in the lanes, each so many further on.
local function numbers(distance)
  local list = {}
  for lane = 0, ROWS - 1 do list[lane + 1] = lane * distance end
  return ("(long%d)(%s)"):format(ROWS, table.concat(list, ", "))
end

local ACCESS = {
  common = function() end,
  fixed = function(node, _, parts) return parts.reads[node].name end,
  along = along_at,
  kept = function(node, step, parts) return stored_before(step, parts.reads[node].ago, parts) end,
  above = function(node, step, parts)
    return handed_on(node, step, stored_before(step, parts.reads[node].ago, parts), parts)
  end,
  gathered = function(node, step, parts) return gathered(node, pass_of(step, parts), parts) end,
}

--- The context of a step, in which numbers are vectors.
local function of_step(step, parts)
  local loops, context = parts.loops, parts.context
  local names = { [loops.row] = ("(%s + %s)"):format(loops.row.id, numbers(1)),
    [loops.pass] = ("(%s - %s)"):format(c_expression.plain(pass_of(step, parts), context), numbers(loops.behind)) }
  return setmetatable({ plural = "s", names = setmetatable(names, { __index = context.names }),
    access = function(node) return ACCESS[parts.reads[node].kind](node, step, parts) end }, { __index = context })
end

--- The C type of a local: conditions are vectors of the width of what they compare.
local function local_type(variable, parts)
  if variable.type ~= "bool" then return vector_of(variable.type, parts.context) end
  local is_wide = parts.types[variable] == "int" or parts.context.real == "double"
  return (is_wide and "long" or "int") .. ROWS
end

--- Prints a step; what its lanes store has a name of its own.
local function print_step(step, parts, body, output, tools)
  local context = of_step(step, parts)
  for _, node in ipairs(parts.along) do
    local name = along_at(node, step, parts)
    tools.add(output, ("%s = %s;"):format(name, handed_on(node, step, name, parts)))
  end
  for _, node in ipairs(body) do
    local variable = node.variable or node.target.variable
    local type = variable and variable.type or node.target.type
    local value = type == "bool" and c_expression.condition(node.value, context)
      or c_expression.text(node.value, context, type)
    local name = variable and variable.id or stored_before(step + 1, 1, parts)
    local declared = node.kind == "local" and local_type(variable, parts) .. " " or ""
    tools.add(output, ("%s%s = %s;"):format(declared, name, value), node)
  end
end

-- --- the loop ---------------------------------------------------------------------------------

--- Prints how the lanes of all steps are stored: each row's elements lie side by side.
local function print_stores(parts, output, tools)
  local target, sizes, done = parts.target, {}, {}
  for d = parts.dimension + 1, #target.subscripts do sizes[#sizes + 1] = size_of(target.array, d) end
  for step = 0, ROWS - 1 do done[step + 1] = stored_before(step + 1, 1, parts) end
  local name = target.type == "int" and "store_ints" or "store_reals"
  parts.context.helpers[name] = true
  tools.add(output, ("%s(%s, &%s, %s - %d);"):format(name, table.concat(done, ", "),
    c_expression.element(target, parts.context), table.concat(sizes, " * "), parts.loops.behind))
end

--- Prints a loop whose passes are as many as eight times a number.
-- @tparam table node a `for` node with `row_lanes`, what `clcompute.loops.generation.row_lanes` is asked of its body
-- @tparam table output of `clcompute.loops.generation.c_statements`
-- @tparam table tools `add` and `block` of that
function lane_steps.print(node, output, tools)
  local context, body, id = output.context, node.body, node.variable.id
  local parts = row_lanes.of(body, node.row_lanes, context.real)
  parts.context, parts.id = context, id
  parts.along = named("along", body, parts)
  tools.block(output, "", function()
    local kept, type = declare(parts, body, node.from, output, tools), vector_of(parts.target.type, context)
    tools.block(output, ("for (long %s = %s; %s <= %s; %s += %d) "):format(id,
      c_expression.plain(node.from, context), id, c_expression.plain(node.to, context), id, ROWS), function()
      for step = 0, ROWS - 1 do
        tools.add(output, ("%s %s;"):format(type, stored_before(step + 1, 1, parts)))
        tools.block(output, "", function() print_step(step, parts, body, output, tools) end)
      end
      print_stores(parts, output, tools)
      for ago = 1, kept do
        tools.add(output, ("%s = %s;"):format(stored_before(0, ago, parts), stored_before(ROWS, ago, parts)))
      end
    end, node)
  end)
end

return lane_steps
