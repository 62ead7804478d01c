-- SPDX-License-Identifier: MIT

--- Tiles in registers as OpenCL C: rows and columns of vectors of sums, each a variable of its own, as an array might
-- stay in memory. What is done for the vector in row r and column c is a macro. Which nests have them is in
-- `clcompute.loops.generation.register_nests`.

local affine = require("clcompute.loops.tree").affine
local c_expression = require "clcompute.loops.generation.c_expression"
local c_statements = require "clcompute.loops.generation.c_statements"
local local_slices = require "clcompute.loops.generation.local_slices"
local options = require("clcompute.base").options
local panels = require "clcompute.loops.generation.panels"
local walk = require("clcompute.loops.tree").walk

local register_tile = {}

local add, extremum = c_statements.add, c_expression.extremum

--- The elements of a vector, and how far it is from one to the next: on a GPU the neighbours of an element are those
-- of other work-items.
local function widths_of(tiles)
  if tiles.is_wide then return 1, tiles.size.group end
  local width = tiles.registers.columns and tiles.size.vector or 1
  return width, width
end

-- --- vectors ---------------------------------------------------------------------------------

local function vector_type(tile)
  return tile.width > 1 and tile.real .. tile.width or tile.real
end

local function load_text(tile, element)
  return tile.width > 1 and ("vload%d(0, &%s)"):format(tile.width, element) or element
end

local function store_text(tile, value, element)
  if tile.width == 1 then return ("%s = %s;"):format(element, value) end
  return ("vstore%d(%s, 0, &%s);"):format(tile.width, value, element)
end

--- The locals of a body.
local function locals_of(body)
  local list = {}
  walk.nodes(body, function(part)
    if part.kind == "local" then list[#list + 1] = part.variable end
  end)
  return list
end

--- What a variable of a tile is called in a macro of row r and column c.
local function register_name(id)
  return id .. "_##r##_##c"
end

--- How names and elements are seen in such a macro; `slices`, if given, are those whose passes it is for.
local function vector_context(tile, context, slices)
  local names = setmetatable({}, { __index = context.names })
  for _, variable in ipairs(tile.locals) do names[variable] = register_name(variable.id) end
  local own
  local function access(node)
    local accumulator = tile.accumulator_of[node.array]
    if accumulator then return register_name(accumulator.id) end
    local in_slice = slices and local_slices.element(slices, tile, node)
    if in_slice then return in_slice end
    local packed = panels.element(tile, node)
    if packed then return load_text(tile, packed) end
    if not tile.columns or affine.stride(node, tile.columns.variable) == 0 then return nil end
    return load_text(tile, c_expression.element(node, own))
  end
  own = setmetatable({ names = names, access = access }, { __index = context })
  return own
end

--- A statement for one vector.
local function statement_text(tile, node, context)
  local value = c_expression.text(node.value, context, "float")
  if tile.width > 1 then value = ("(%s)(%s)"):format(vector_type(tile), value) end
  if node.kind == "local" then return ("%s = %s;"):format(c_expression.name(node.variable, context), value) end
  local target = node.target
  if target.kind == "name" then return ("%s = %s;"):format(c_expression.name(target.variable, context), value) end
  local register = not tile.mirrors[node] and tile.accumulator_of[target.array] and context.access(target)
  if register then return ("%s = %s;"):format(register, value) end
  return store_text(tile, value, c_expression.element(target, context))
end

--- The text of a place in a loop that a clamped tile may leave: the nearest one that there is.
function register_tile.clamped(node, place)
  return ("clamp(%s, %s_low, %s_high)"):format(place, node.variable.id, node.variable.id)
end

--- Where a macro's row or column is, as far as it is there or not.
local function raw_place(tile, node)
  return node.variable.id .. "_base + " .. (node == tile.rows and "r" or ("c * %d"):format(tile.distance))
end

--- The place of a vector: the variables of its row and column.
local function place_text(tile)
  local texts = {}
  for i, node in ipairs { tile.rows, tile.columns } do
    local place = raw_place(tile, node)
    texts[i] = ("const long %s = %s;"):format(node.variable.id,
      tile.is_clamped and register_tile.clamped(node, place) or place)
  end
  return table.concat(texts, " ")
end

--- The condition that a row has a pass of one of some loops.
local function has_passes(loops, context)
  local texts = {}
  for i, loop in ipairs(loops) do
    texts[i] = ("%s <= %s"):format(c_expression.plain(loop.from, context), c_expression.plain(loop.to, context))
  end
  return ("(%s)"):format(table.concat(texts, " || "))
end

--- A context in which rows and columns are called by their places, which may not be there.
local function raw_context(tile, context)
  local names = setmetatable({}, { __index = context.names })
  for _, node in ipairs { tile.rows, tile.columns } do
    names[node.variable] = ("(%s)"):format(raw_place(tile, node))
  end
  return setmetatable({ names = names }, { __index = context })
end

--- The conditions that the vector of a clamped tile is there, and a context for more of them. Behind the loops they are
-- in other words than before: where both sides of a barrier asked the same, kernels of POCL 3.1 wrote over the heap.
local function vector_conditions(tile, context, is_behind)
  local columns, conditions = tile.columns, {}
  local own = is_behind and raw_context(tile, context) or context
  for i, node in ipairs { tile.rows, columns } do
    local id, raw = node.variable.id, raw_place(tile, node)
    conditions[i] = is_behind and ("%s_low <= %s && %s <= %s_high"):format(id, raw, raw, id)
      or ("%s == %s"):format(id, raw)
  end
  if walk.is_bounded_by(columns, tile.rows.variable) then
    local id = c_expression.name(columns.variable, own)
    conditions[3] = ("%s <= %s && %s <= %s"):format(c_expression.plain(columns.from, own), id, id,
      c_expression.plain(columns.to, own))
  end
  return conditions, own
end

--- The place of a vector, and in a clamped tile the condition that it is there; if `loops` are given, that the row has
-- a pass of one of them.
local function place_if_there(tile, context, is_behind, loops)
  if not tile.is_clamped then return place_text(tile) end
  local conditions, own = vector_conditions(tile, context, is_behind)
  conditions[#conditions + 1] = loops and has_passes(loops, own)
  return ("%s if (%s)"):format(place_text(tile), table.concat(conditions, " && "))
end

--- Defines what is done for row r and column c of a tile; returns the macro's name.
local function define(text, output)
  local context = output.context.program
  context.steps = (context.steps or 0) + 1
  local name = ("STEP_%d"):format(context.steps)
  add(output, ("#define %s(r, c) %s"):format(name, text))
  return name
end

--- Defines a statement of a loop within, under a condition if there is one.
local function define_statement(tile, node, output, slices, condition)
  local text = statement_text(tile, node, vector_context(tile, output.context, slices))
  if condition then text = ("if (%s) %s"):format(condition, text) end
  return define(("{ %s %s }"):format(place_text(tile), text), output)
end

--- Defines a statement before such loops, or behind them.
local function define_outer(tile, node, output, is_behind)
  local text = statement_text(tile, node, vector_context(tile, output.context))
  return define(("{ %s %s }"):format(place_if_there(tile, output.context, is_behind), text), output)
end

--- A macro for all vectors, or for the vectors of a row.
local function print_vectors(tile, name, output, node, row)
  local shape = ("%dx%d"):format(tile.row_count, tile.column_count)
  add(output, row and ("ROW_%s(%s, %d)"):format(shape, name, row) or ("TILE_%s(%s)"):format(shape, name), node)
end

-- --- loops within a tile ---------------------------------------------------------------------

--- A bound with texts in place of some variables.
local function bound_at(bound, texts, context)
  local names = setmetatable(texts, { __index = context.names })
  return c_expression.plain(bound, setmetatable({ names = names }, { __index = context }))
end

--- The place of a row: that of the tile's base, and so many more.
local function row_place(tile, row)
  local first = tile.rows.variable.id .. tile.base
  return row == 0 and first or ("(%s + %d)"):format(first, row)
end

--- A bound as it is in a row of a tile.
function register_tile.bound_in(tile, bound, row, context)
  return bound_at(bound, { [tile.rows.variable] = row_place(tile, row) }, context)
end

--- The least ("min_int") or the greatest ("max_int") that a bound is where loops are at one place or another.
-- @string name
-- @tparam table bound
-- @tparam {table,...} sides `{ variable, one, other }`
-- @tparam table context
-- @tparam ?table at texts for variables
function register_tile.extreme(name, bound, sides, context, at)
  at = at or {}
  if #sides == 0 then return bound_at(bound, options.merge(at), context) end
  local variable, one, other = table.unpack(sides[1])
  local others = table.move(sides, 2, #sides, 1, {})
  one = register_tile.extreme(name, bound, others, context, options.merge(at, { [variable] = one }))
  other = register_tile.extreme(name, bound, others, context, options.merge(at, { [variable] = other }))
  return one == other and one or extremum(name, one, other, context)
end

--- The same in all rows of a tile.
function register_tile.extreme_in(tile, name, bound, context)
  local rows = { tile.rows.variable, row_place(tile, 0), row_place(tile, tile.row_count - 1) }
  return register_tile.extreme(name, bound, { rows }, context)
end

local function print_loop(tile, loop, names, from, to, row, output)
  local id = loop.variable.id
  local head = ("for (long %s = %s, %s_last = %s; %s <= %s_last; %s++) "):format(id, from, id, to, id, id, id)
  c_statements.block(output, head, function()
    for i, node in ipairs(loop.body) do print_vectors(tile, names[i], output, node, row) end
  end, loop)
end

--- The first and the last row or column of a group: in a clamped tile those that are there.
local function side_of_group(tile, node)
  local id, count = node.variable.id .. "_group", node == tile.rows and tile.slices.rows or tile.slices.columns
  local side = { node.variable, id, ("(%s + %d)"):format(id, count - 1) }
  for i = 2, tile.is_clamped and #side or 0 do side[i] = register_tile.clamped(node, side[i]) end
  return side
end

--- The condition that a row of a clamped tile has columns; nil where all have.
local function row_condition(tile, context)
  local is_needed = tile.is_clamped and walk.is_bounded_by(tile.columns, tile.rows.variable)
  return is_needed and has_passes({ tile.columns }, context) or nil
end

--- The condition that one of the group's rows has a column: then the one with most columns has it; nil where all have.
local function column_condition(tile, context)
  if not tile.is_clamped or not walk.is_bounded_by(tile.columns, tile.rows.variable) then return nil end
  local place = side_of_group(tile, tile.rows)[local_slices.growth(tile, tile.columns) > 0 and 3 or 2]
  local names = setmetatable({ [tile.rows.variable] = place }, { __index = context.names })
  return local_slices.is_pass(tile.columns, setmetatable({ names = names }, { __index = context }))
end

--- The conditions under which a pass of a slanted loop is one of a row or a column: those that go with the row hold
-- wherever its column is, and those with the column in whichever row.
local function conditions_of_side(tile, loop, side, context)
  local id, other = loop.variable.id, side == tile.rows and tile.columns or tile.rows
  local others, texts = { side_of_group(tile, other) }, {}
  if walk.mentions(loop.from, side.variable) then
    texts[1] = ("%s <= %s"):format(register_tile.extreme("min_int", loop.from, others, context), id)
  end
  local goes = walk.mentions(loop.to, side.variable)
  local last = goes and register_tile.extreme("max_int", loop.to, others, context) or id .. "_last"
  texts[#texts + 1] = ("%s <= %s"):format(id, last)
  return texts
end

--- Where a loop that is in slices begins and ends; of a slanted one in all rows and columns of the group together, and
-- in each.
local function bounds_of_group(tile, loop, context)
  local sides = { side_of_group(tile, tile.rows), side_of_group(tile, tile.columns) }
  local function either(name, bound) return register_tile.extreme(name, bound, sides, context) end
  local function conditions(side)
    local texts = tile.slices.slanted[loop] and conditions_of_side(tile, loop, side, context) or {}
    texts[#texts + 1] = (side == tile.rows and row_condition or column_condition)(tile, context)
    return texts
  end
  return { from = either("min_int", loop.from), to = either("max_int", loop.to),
    all_from = either("max_int", loop.from), all_to = either("min_int", loop.to),
    clamped = tile.is_clamped and register_tile.clamped, conditions = conditions }
end

--- The condition under which a row and a column have a pass of a loop that is in slices; nil where all have.
local function guard_of(tile, loop, context)
  local texts = { tile.slices.slanted[loop] and local_slices.is_pass(loop, context) or nil }
  texts[#texts + 1] = row_condition(tile, context)
  return #texts > 0 and table.concat(texts, " && ") or nil
end

--- A loop by slices in local memory.
local function print_sliced(tile, loop, output)
  local slices, in_slice, other = tile.slices, {}, {} -- what is no slice, or what a row or column may be without
  local condition = guard_of(tile, loop, output.context)
  for i, node in ipairs(loop.body) do
    in_slice[i] = define_statement(tile, node, output, slices)
    other[i] = define_statement(tile, node, output, slices.slanted[loop] and slices, condition)
  end
  local bounds = bounds_of_group(tile, loop, output.context)
  local_slices.print_loop(slices, loop, bounds, output, function(is_slice, is_guarded)
    local names = is_slice and not is_guarded and in_slice or other
    for i, node in ipairs(loop.body) do print_vectors(tile, names[i], output, node) end
  end)
end

--- A loop whose bounds are the same in all rows, or those of its passes that all rows have, with what single rows have
-- beyond them before and after.
local function print_inner(tile, loop, output)
  if tile.slices and tile.slices.by_loop[loop] then return print_sliced(tile, loop, output) end
  local context, last, id, names = output.context, tile.row_count - 1, loop.variable.id, {}
  for i, node in ipairs(loop.body) do names[i] = define_statement(tile, node, output) end
  local function from(row) return register_tile.bound_in(tile, loop.from, row, context) end
  local function to(row) return register_tile.bound_in(tile, loop.to, row, context) end
  if tile.panels then
    local first, final = panels.ends(tile, context)
    return print_loop(tile, loop, names, first, final, nil, output)
  end
  local has_head = walk.mentions(loop.from, tile.rows.variable)
  local has_tail = walk.mentions(loop.to, tile.rows.variable)
  if not has_head and not has_tail then return print_loop(tile, loop, names, from(0), to(0), nil, output) end
  local all, all_end = id .. "_all", id .. "_all_end"
  add(output, ("const long %s = %s, %s = %s;"):format(
    all, has_head and extremum("max_int", from(0), from(last), context) or from(0),
    all_end, has_tail and extremum("min_int", to(0), to(last), context) or to(0)))
  for row = 0, has_head and last or -1 do
    print_loop(tile, loop, names, from(row), extremum("min_int", to(row), all .. " - 1", context), row, output)
  end
  print_loop(tile, loop, names, all, all_end, nil, output)
  for row = 0, has_tail and last or -1 do
    local first = extremum("max_int", extremum("max_int", from(row), all, context), all_end .. " + 1", context)
    print_loop(tile, loop, names, first, to(row), row, output)
  end
end

-- --- a tile ----------------------------------------------------------------------------------

--- The variables of a tile; in a clamped one those of what is not there have a value, too.
local function print_declarations(tile, output)
  local function declare(id)
    local text = ("%s %s%s;"):format(vector_type(tile), register_name(id), tile.is_clamped and " = 0" or "")
    print_vectors(tile, define(text, output), output)
  end
  for _, variable in ipairs(tile.locals) do declare(variable.id) end
  for _, accumulator in ipairs(tile.accumulators) do declare(accumulator.id) end
end

--- The elements of each vector that stay in registers: into them, or back.
local function print_elements(tile, output, is_behind, transfer)
  for _, accumulator in ipairs(tile.accumulators) do
    local element = c_expression.element(accumulator.node, output.context)
    local text = transfer(accumulator, register_name(accumulator.id), element)
    local place = text and place_if_there(tile, output.context, is_behind, accumulator.slanted)
    if text then print_vectors(tile, define(("{ %s %s }"):format(place, text), output), output) end
  end
end

--- Prints a tile, whose first row and column are at `<variable>_base`.
-- @tparam table tile of `register_tile.sized`
-- @tparam table output
function register_tile.print(tile, output)
  if tile.panels then panels.print(tile, output) end
  print_declarations(tile, output)
  local is_behind = false
  print_elements(tile, output, is_behind, function(accumulator, register, element)
    return accumulator.is_loaded and ("%s = %s;"):format(register, load_text(tile, element)) or nil
  end)
  for _, node in ipairs(tile.body) do
    if node.kind == "for" then
      c_statements.block(output, "", function() print_inner(tile, node, output) end)
      is_behind = true
    else
      print_vectors(tile, define_outer(tile, node, output, is_behind), output, node)
    end
  end
  print_elements(tile, output, is_behind, function(_, register, element) return store_text(tile, register, element) end)
end

-- --- the tile's sizes ------------------------------------------------------------------------

--- The tile of a nest with its sizes.
-- @tparam table tiles of `clcompute.loops.generation.tiling`, with `registers`
-- @tparam table context of `clcompute.loops.generation.c_expression`
-- @treturn table what `clcompute.loops.generation.register_nests` found, `row_count`, `column_count`, `last_column`
-- (how far the last element of a row is from the first), `distance` (from one vector to the next), `base` (what the
-- names of its first row and column end with)
function register_tile.sized(tiles, context)
  local registers, size = tiles.registers, tiles.size
  local tile = setmetatable({ real = context.real, row_count = size.rows_at_once, column_count = size.columns_at_once,
    base = "_base", locals = locals_of(registers.body), accumulator_of = {}, is_wide = tiles.is_wide },
    { __index = registers })
  tile.width, tile.distance = widths_of(tiles)
  tile.last_column = (tile.column_count - 1) * tile.distance + tile.width - 1
  for _, accumulator in ipairs(tile.accumulators) do
    accumulator.id = accumulator.array.id .. "_sum"
    tile.accumulator_of[accumulator.array] = accumulator
  end
  return tile
end

--- The sizes of tiles in registers that a nest's kernels have.
local function sizes_of(nest)
  local tiles = nest.tiles
  if not tiles or not tiles.registers then return {} end
  return { tiles.size, tiles.small and tiles.small.size }
end

--- The macros that do something for each vector of a row, and of a tile, for all shapes that kernels have.
function register_tile.head(nests)
  local texts, is_there = {}, {}
  local function add_shape(size)
    local shape = ("%dx%d"):format(size.rows_at_once, size.columns_at_once)
    if is_there[shape] then return end
    is_there[shape] = true
    local columns, rows = {}, {}
    for column = 0, size.columns_at_once - 1 do columns[#columns + 1] = ("F(r, %d)"):format(column) end
    for row = 0, size.rows_at_once - 1 do rows[#rows + 1] = ("ROW_%s(F, %d)"):format(shape, row) end
    texts[#texts + 1] = ("#define ROW_%s(F, r) %s\n"):format(shape, table.concat(columns, " "))
    texts[#texts + 1] = ("#define TILE_%s(F) %s\n"):format(shape, table.concat(rows, " "))
  end
  for _, nest in ipairs(nests) do
    for _, size in ipairs(sizes_of(nest)) do add_shape(size) end
  end
  return table.concat(texts)
end

return register_tile
