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

--- The elements of a vector, and how far it is from one to the next: on a GPU the neighbours of an element are those
-- of other work-items.
local function widths_of(tiles, context)
  if tiles.is_wide then return 1, sizes.wide.group[1] end
  local width = tiles.lane and sizes.vector_bytes // (context.real == "double" and 8 or 4) or 1
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

--- How names and elements are seen in such a macro.
local function vector_context(tile, context)
  local names = setmetatable({}, { __index = context.names })
  for _, variable in ipairs(tile.locals) do names[variable] = register_name(variable.id) end
  local own
  local function access(node)
    local accumulator = tile.accumulator_of[node.array]
    if accumulator then return register_name(accumulator.id) end
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
local function place_text(tile)
  local id = tile.rows.variable.id
  local text = ("const long %s = %s_base + r;"):format(id, id)
  if not tile.columns then return text end
  id = tile.columns.variable.id
  return ("%s const long %s = %s_base + c * %d;"):format(text, id, id, tile.distance)
end

--- Defines what is done for row r and column c of a tile; returns the macro's name.
local function define(text, output)
  local context = output.context.program
  context.steps = (context.steps or 0) + 1
  local name = ("STEP_%d"):format(context.steps)
  add(output, ("#define %s(r, c) %s"):format(name, text))
  return name
end

--- Defines a statement.
local function define_statement(tile, node, output)
  local text = statement_text(tile, node, vector_context(tile, output.context))
  return define(("{ %s %s }"):format(place_text(tile), text), output)
end

--- A macro for all vectors, or those of a row.
local function print_vectors(tile, name, output, node, row)
  local shape = ("%dx%d"):format(tile.row_count, tile.column_count)
  add(output, row and ("ROW_%s(%s, %d)"):format(shape, name, row) or ("TILE_%s(%s)"):format(shape, name), node)
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

local function print_loop(tile, loop, names, from, to, row, output)
  local id = loop.variable.id
  add(output, ("for (long %s = %s, %s_last = %s; %s <= %s_last; %s++) {"):format(id, from, id, to, id, id, id), loop)
  output.depth = output.depth + 1
  for i, node in ipairs(loop.body) do print_vectors(tile, names[i], output, node, row) end
  output.depth = output.depth - 1
  add(output, "}")
end

--- A loop whose bounds are the same in all rows, or those of its passes that all rows have, with what single rows have
-- beyond them before and after.
local function print_inner(tile, loop, output)
  local context, last, id = output.context, tile.row_count - 1, loop.variable.id
  local variable = tile.rows.variable
  local has_head, has_tail = strides.mentions(loop.from, variable), strides.mentions(loop.to, variable)
  local from, to = bound_in(tile, loop.from, 0, context), bound_in(tile, loop.to, 0, context)
  local names = {}
  for i, node in ipairs(loop.body) do names[i] = define_statement(tile, node, output) end
  if not has_head and not has_tail then return print_loop(tile, loop, names, from, to, nil, output) end
  if has_head then from = extremum("max_int", from, bound_in(tile, loop.from, last, context), context) end
  if has_tail then to = extremum("min_int", to, bound_in(tile, loop.to, last, context), context) end
  add(output, ("const long %s_all = %s, %s_all_end = %s;"):format(id, from, id, to))
  for row = 0, has_head and last or -1 do
    print_loop(tile, loop, names, bound_in(tile, loop.from, row, context), extremum("min_int",
      bound_in(tile, loop.to, row, context), id .. "_all - 1", context), row, output)
  end
  print_loop(tile, loop, names, id .. "_all", id .. "_all_end", nil, output)
  for row = 0, has_tail and last or -1 do
    print_loop(tile, loop, names, extremum("max_int", extremum("max_int", bound_in(tile, loop.from, row, context),
      id .. "_all", context), id .. "_all_end + 1", context), bound_in(tile, loop.to, row, context),
      row, output)
  end
end

-- --- a tile ----------------------------------------------------------------------------------


--- The variables of a tile.
local function print_declarations(tile, output)
  local function declare(id)
    print_vectors(tile, define(("%s %s;"):format(vector_type(tile), register_name(id)), output), output)
  end
  for _, variable in ipairs(tile.locals) do declare(variable.id) end
  for _, accumulator in ipairs(tile.accumulators) do declare(accumulator.id) end
end

--- The elements of each vector that stay in registers: into them, or back.
local function print_elements(tile, output, transfer)
  for _, accumulator in ipairs(tile.accumulators) do
    local element = c_expression.element(accumulator.node, output.context)
    local text = transfer(accumulator, register_name(accumulator.id), element)
    if text then print_vectors(tile, define(("{ %s %s }"):format(place_text(tile), text), output), output) end
  end
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
      print_vectors(tile, define_statement(tile, node, output), output, node)
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
  local texts, columns = {}, tile.columns
  if not columns then return texts end
  local id, last = columns.variable.id, tile.last_column
  local function add_for(row)
    texts[#texts + 1] = ("%s <= %s_base"):format(bound_in(tile, columns.from, row, context), id)
    texts[#texts + 1] = ("%s_base + %d <= %s"):format(id, last, bound_in(tile, columns.to, row, context))
  end
  add_for(0)
  local variable = tile.rows.variable
  if strides.mentions(columns.from, variable) or strides.mentions(columns.to, variable) then
    add_for(tile.row_count - 1)
  end
  if not tile.is_wide then texts[#texts + 1] = ("%s_base + %d <= %s_end"):format(id, last, id) end
  return texts
end

--- The tile of a nest with its sizes.
local function tile_of(tiles, context)
  local registers, size = tiles.registers, sizes[tiles.class].registers
  local tile = setmetatable({ real = context.real, row_count = size.rows, column_count = size.columns,
    locals = locals_of(registers.body), accumulator_of = {}, is_wide = tiles.is_wide }, { __index = registers })
  tile.width, tile.distance = widths_of(tiles, context)
  tile.last_column = (tile.column_count - 1) * tile.distance + tile.width - 1
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

--- The macros that do something for each vector of a row, and of a tile, for all shapes that kernels have.
-- @tparam {table,...} nests
-- @treturn string
function register_kernels.head(nests)
  local texts, is_there = {}, {}
  for _, nest in ipairs(nests) do
    local size = nest.tiles and nest.tiles.registers and sizes[nest.tiles.class].registers
    local shape = size and ("%dx%d"):format(size.rows, size.columns)
    if size and not is_there[shape] then
      is_there[shape] = true
      local columns, rows = {}, {}
      for column = 0, size.columns - 1 do columns[#columns + 1] = ("F(r, %d)"):format(column) end
      for row = 0, size.rows - 1 do rows[#rows + 1] = ("ROW_%s(F, %d)"):format(shape, row) end
      texts[#texts + 1] = ("#define ROW_%s(F, r) %s\n"):format(shape, table.concat(columns, " "))
      texts[#texts + 1] = ("#define TILE_%s(F) %s\n"):format(shape, table.concat(rows, " "))
    end
  end
  return table.concat(texts)
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
    open_bases(columns, from, to, tile.last_column + 1, output)
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
    local last = node == rows and tile.row_count - 1 or tile.last_column
    local limit = node == rows and id .. "_top" or id .. "_end"
    return id .. "_base", extremum("min_int", ("%s_base + %d"):format(id, last), limit, context)
  end)
  close(output)
  close(output)
  if columns then close(output) end
  for _ = 1, depth do close(output) end
end

--- A loop over the passes of a work-item that are left where its tile is not whole.
local function open_rest(node, from, last, step, output)
  local id, context = node.variable.id, output.context
  add(output, ("for (long %s = %s, %s_last = %s; %s <= %s_last; %s += %d) {"):format(id, from, id,
    extremum("min_int", c_expression.plain(node.to, context), ("%s_base + %d"):format(id, last), context), id, id, id,
    step), node)
  output.depth = output.depth + 1
end

--- Prints the tile of one work-item.
-- @tparam table tiles of `clcompute.loops.generation.tiling`, `is_wide`
-- @tparam table output
function register_kernels.print_item(tiles, output)
  local context, tile = output.context, tile_of(tiles, output.context)
  local rows, columns, group = tile.rows, tile.columns, sizes.wide.group
  for _, node in ipairs(tiles.order) do
    local id = node.variable.id
    if node == rows then
      add(output, ("const long %s_base = %s_origin + (long)get_global_id(1) * %d;"):format(id, id, tile.row_count), node)
    elseif node == columns then
      add(output, ("const long %s_base = %s_origin + (long)get_group_id(0) * %d + (long)get_local_id(0);"):format(id, id,
        tile.column_count * group[1]), node)
    else
      add(output, ("const long %s = %s_origin + (long)get_global_id(2);"):format(id, id), node)
      add(output, ("if (%s < %s || %s > %s) return;"):format(id, c_expression.plain(node.from, context), id,
        c_expression.plain(node.to, context)))
    end
  end
  local row_id, column_id = rows.variable.id, columns.variable.id
  local there = columns_there(tile, context)
  table.insert(there, 1, ("%s_base + %d <= %s"):format(row_id, tile.row_count - 1, c_expression.plain(rows.to, context)))
  table.insert(there, 1, ("%s <= %s_base"):format(c_expression.plain(rows.from, context), row_id))
  add_passes(tile, there, context)
  add(output, ("if (%s) {"):format(table.concat(there, " && ")))
  output.depth = output.depth + 1
  print_tile(tile, output)
  close(output, "} else {")
  output.depth = output.depth + 1
  open_rest(rows, extremum("max_int", c_expression.plain(rows.from, context), row_id .. "_base", context),
    tile.row_count - 1, 1, output)
  open_rest(columns, column_id .. "_base", tile.last_column, tile.distance, output)
  add(output, ("if (%s < %s) continue;"):format(column_id, c_expression.plain(columns.from, context)))
  output.depth = output.depth - 1
  c_statements.body(tiles.body, output)
  output.depth = output.depth + 1
  close(output)
  close(output)
  close(output)
end

return register_kernels
