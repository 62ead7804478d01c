-- SPDX-License-Identifier: MIT

--- Tiles in registers as OpenCL C: ROWS x COLUMNS vectors of sums, each a variable of its own, as an array might stay
-- in memory. What is left at the edges of a block goes pass by pass.
-- @module clcompute.loops.generation.register_kernels

local c_expression = require "clcompute.loops.generation.c_expression"
local c_statements = require "clcompute.loops.generation.c_statements"
local sizes = require "clcompute.loops.generation.tile_sizes"
local strides = require "clcompute.loops.generation.strides"
local walk = require "clcompute.loops.walk"

local register_kernels = {}

local add = c_statements.add

--- The elements of a vector register, for floats of a type.
local function vector_of(tile, context)
  return tile.columns and sizes.vector_bytes // (context.real == "double" and 8 or 4) or 1
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

--- How one vector of the tile, in a row and a column, sees names and elements.
local function vector_context(tile, context, row, column)
  local names = setmetatable({}, { __index = context.names })
  for _, variable in ipairs(tile.locals) do names[variable] = ("%s_%d_%d"):format(variable.id, row, column) end
  local own
  local function access(node)
    local accumulator = tile.accumulator_of[node.array]
    if accumulator then return ("%s_%d_%d"):format(accumulator.id, row, column) end
    if not tile.columns or strides.of(node, tile.columns.variable) == 0 then return nil end
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
  local register = tile.accumulator_of[target.array] and context.access(target)
  if register then return ("%s = %s;"):format(register, value) end
  return store_text(tile, value, c_expression.element(target, context))
end

--- The place of a vector: the variables of its row and column.
local function place_text(tile, row, column)
  local text = ("const long %s = %s_base + %d;"):format(tile.rows.variable.id, tile.rows.variable.id, row)
  if not tile.columns then return text end
  local id = tile.columns.variable.id
  return ("%s const long %s = %s_base + %d;"):format(text, id, id, column * tile.width)
end

--- A statement for the vectors of some rows.
local function print_vectors(tile, node, output, rows)
  for row = rows.first, rows.last do
    for column = 0, tile.column_count - 1 do
      local context = vector_context(tile, output.context, row, column)
      add(output, ("{ %s %s }"):format(place_text(tile, row, column), statement_text(tile, node, context)),
        row == rows.first and column == 0 and node or nil)
    end
  end
end

-- --- loops within a tile ---------------------------------------------------------------------

--- A bound as it is in a row: its variable is that of the tile's base, and so many more.
local function bound_in(tile, bound, row, context)
  local id = tile.rows.variable.id
  local names = setmetatable({ [tile.rows.variable] = row == 0 and id .. "_base" or ("(%s_base + %d)"):format(id, row) },
    { __index = context.names })
  return c_expression.plain(bound, setmetatable({ names = names }, { __index = context }))
end

local function extremum(name, left, right, context)
  context.helpers[name] = true
  return ("%s(%s, %s)"):format(name, left, right)
end

local function print_loop(tile, loop, from, to, rows, output)
  local id = loop.variable.id
  add(output, ("for (long %s = %s, %s_last = %s; %s <= %s_last; %s++) {"):format(id, from, id, to, id, id, id), loop)
  output.depth = output.depth + 1
  for _, node in ipairs(loop.body) do print_vectors(tile, node, output, rows) end
  output.depth = output.depth - 1
  add(output, "}")
end

--- A loop whose bounds are the same in all rows, or those of its passes that all rows have, with what single rows have
-- beyond them before and after.
local function print_inner(tile, loop, output)
  local context, last, id = output.context, tile.row_count - 1, loop.variable.id
  local all, variable = { first = 0, last = last }, tile.rows.variable
  local has_head, has_tail = strides.mentions(loop.from, variable), strides.mentions(loop.to, variable)
  local from, to = bound_in(tile, loop.from, 0, context), bound_in(tile, loop.to, 0, context)
  if not has_head and not has_tail then return print_loop(tile, loop, from, to, all, output) end
  if has_head then from = extremum("max_int", from, bound_in(tile, loop.from, last, context), context) end
  if has_tail then to = extremum("min_int", to, bound_in(tile, loop.to, last, context), context) end
  add(output, ("const long %s_all = %s, %s_all_end = %s;"):format(id, from, id, to))
  for row = 0, has_head and last or -1 do
    print_loop(tile, loop, bound_in(tile, loop.from, row, context), extremum("min_int",
      bound_in(tile, loop.to, row, context), id .. "_all - 1", context), { first = row, last = row }, output)
  end
  print_loop(tile, loop, id .. "_all", id .. "_all_end", all, output)
  for row = 0, has_tail and last or -1 do
    print_loop(tile, loop, extremum("max_int", extremum("max_int", bound_in(tile, loop.from, row, context),
      id .. "_all", context), id .. "_all_end + 1", context), bound_in(tile, loop.to, row, context),
      { first = row, last = row }, output)
  end
end

-- --- a tile ----------------------------------------------------------------------------------

local function each_vector(tile, visit)
  for row = 0, tile.row_count - 1 do
    for column = 0, tile.column_count - 1 do visit(row, column) end
  end
end

--- The variables of a tile.
local function print_declarations(tile, output)
  local function declare(id)
    for row = 0, tile.row_count - 1 do
      local list = {}
      for column = 0, tile.column_count - 1 do list[#list + 1] = ("%s_%d_%d"):format(id, row, column) end
      add(output, ("%s %s;"):format(vector_type(tile), table.concat(list, ", ")))
    end
  end
  for _, variable in ipairs(tile.locals) do declare(variable.id) end
  for _, accumulator in ipairs(tile.accumulators) do declare(accumulator.id) end
end

--- The elements of each vector that stay in registers: into them, or back.
local function print_elements(tile, output, transfer)
  each_vector(tile, function(row, column)
    for _, accumulator in ipairs(tile.accumulators) do
      local element = c_expression.element(accumulator.node, output.context)
      local text = transfer(accumulator, ("%s_%d_%d"):format(accumulator.id, row, column), element)
      if text then add(output, ("{ %s %s }"):format(place_text(tile, row, column), text)) end
    end
  end)
end

local function print_tile(tile, output)
  print_declarations(tile, output)
  print_elements(tile, output, function(accumulator, register, element)
    return accumulator.is_loaded and ("%s = %s;"):format(register, load_text(tile, element)) or nil
  end)
  for _, node in ipairs(tile.body) do
    if node.kind == "for" then
      add(output, "{")
      output.depth = output.depth + 1
      print_inner(tile, node, output)
      output.depth = output.depth - 1
      add(output, "}")
    else
      print_vectors(tile, node, output, { first = 0, last = tile.row_count - 1 })
    end
  end
  print_elements(tile, output, function(_, register, element) return store_text(tile, register, element) end)
end

-- --- a block ---------------------------------------------------------------------------------

--- The conditions under which the loops of a tile have passes in all its rows. Where one has none, Lua may not touch
-- the elements that stay in registers.
local function add_passes(tile, texts, context)
  for _, loop in ipairs(#tile.accumulators > 0 and tile.loops or {}) do
    for _, row in ipairs { 0, tile.row_count - 1 } do
      texts[#texts + 1] = ("%s <= %s"):format(bound_in(tile, loop.from, row, context),
        bound_in(tile, loop.to, row, context))
    end
  end
end

--- The condition under which all columns of a tile are there in all its rows.
local function columns_there(tile, context)
  local texts, columns, width = {}, tile.columns, tile.column_count * tile.width
  if not columns then return texts end
  local id = columns.variable.id
  local function add_for(row)
    texts[#texts + 1] = ("%s <= %s_base"):format(bound_in(tile, columns.from, row, context), id)
    texts[#texts + 1] = ("%s_base + %d <= %s"):format(id, width - 1, bound_in(tile, columns.to, row, context))
  end
  add_for(0)
  local variable = tile.rows.variable
  if strides.mentions(columns.from, variable) or strides.mentions(columns.to, variable) then
    add_for(tile.row_count - 1)
  end
  texts[#texts + 1] = ("%s_base + %d <= %s_end"):format(id, width - 1, id)
  return texts
end

--- The tile of a nest with its sizes.
local function tile_of(tiles, context)
  local registers, size = tiles.registers, sizes[tiles.class].registers
  local tile = setmetatable({ real = context.real, row_count = size.rows, column_count = size.columns,
    locals = locals_of(registers.body), accumulator_of = {} }, { __index = registers })
  tile.width = vector_of(tile, context)
  for _, accumulator in ipairs(tile.accumulators) do
    accumulator.id = accumulator.array.id .. "_sum"
    tile.accumulator_of[accumulator.array] = accumulator
  end
  return tile
end

--- Opens a loop over the bases of tiles: to the text of its last base and back.
local function open_bases(node, from, to, step, output)
  local id = node.variable.id
  add(output, ("for (long %s_base = %s, %s_top = %s; %s_base <= %s_top; %s_base += %d) {"):format(id, from, id, to, id,
    id, id, step), node)
  output.depth = output.depth + 1
end

local function close(output, text)
  output.depth = output.depth - 1
  add(output, text or "}")
end

--- Prints a block: strips of columns, in which rows come one after the other, so that what they share of a strip stays
-- in the cache.
-- @tparam table tiles of `clcompute.loops.generation.tiling`
-- @tparam table output
-- @tparam function ends of a loop: where it begins and ends in the block
-- @tparam function print_passes of the tiles, the output, the first of the loops, and ends: pass by pass
function register_kernels.print(tiles, output, ends, print_passes)
  local context = output.context
  local tile, depth = tile_of(tiles, context), 0
  local rows, columns = tile.rows, tile.columns
  local row_from, row_to = ends(rows)
  row_from = extremum("max_int", c_expression.plain(rows.from, context), row_from, context)
  row_to = extremum("min_int", c_expression.plain(rows.to, context), row_to, context)
  for _, node in ipairs(tiles.order) do
    if node == rows or node == columns then break end
    local from, to = ends(node)
    add(output, ("for (long %s = %s, %s_last = %s; %s <= %s_last; %s++) {"):format(node.variable.id,
      extremum("max_int", c_expression.plain(node.from, context), from, context), node.variable.id,
      extremum("min_int", c_expression.plain(node.to, context), to, context), node.variable.id, node.variable.id,
      node.variable.id), node)
    output.depth, depth = output.depth + 1, depth + 1
  end
  if columns then
    local from, to = ends(columns)
    open_bases(columns, from, to, tile.column_count * tile.width, output)
  end
  open_bases(rows, row_from, row_to, tile.row_count, output)
  local row_id = rows.variable.id
  local there = columns_there(tile, context)
  table.insert(there, 1, ("%s_base + %d <= %s_top"):format(row_id, tile.row_count - 1, row_id))
  add_passes(tile, there, context)
  add(output, ("if (%s) {"):format(table.concat(there, " && ")))
  output.depth = output.depth + 1
  print_tile(tile, output)
  close(output, "} else {")
  output.depth = output.depth + 1
  local first = #tiles.order - (columns and 1 or 0)
  print_passes(tiles, output, first, function(node)
    local id = node.variable.id
    local count = node == rows and tile.row_count or tile.column_count * tile.width
    local limit = node == rows and id .. "_top" or id .. "_end"
    return id .. "_base", extremum("min_int", ("%s_base + %d"):format(id, count - 1), limit, context)
  end)
  close(output)
  close(output)
  if columns then close(output) end
  for _ = 1, depth do close(output) end
end

return register_kernels
