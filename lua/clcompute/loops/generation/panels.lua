-- SPDX-License-Identifier: MIT

--- Packs what lies apart along the columns of a tile in registers into panels: a slice of the loop within the tile at a
-- time is copied to where columns are neighbours, and all rows of a block read it there (Goto and van de Geijn 2008).
--
--     for i do for j do for k do c[i][j] = c[i][j] + a[i][k] * b[j][k] end end end
--     for j in strips do for k in slices do
--       panel[k][j] = b[j][k]
--       for i do for k in the slice do c[i][j] = c[i][j] + a[i][k] * panel[k][j] end end
--     end end

local affine = require("clcompute.loops.tree").affine
local c_expression = require "clcompute.loops.generation.c_expression"
local c_statements = require "clcompute.loops.generation.c_statements"
local lua_text = require("clcompute.loops.tree").lua_text
local walk = require("clcompute.loops.tree").walk

local panels = {}

-- Bytes of all panels of a work-item: of slices, which stay in the cache; and where one slice must have all passes, as
-- more than sums is done.
local SLICE, WHOLE = 1 << 15, 1 << 16
local MOST = 4 -- panels

local add = c_statements.add

--- Whether an element may be copied before the rows of a block go on: nothing here writes its array, and it is the same
-- in all rows.
local function may_be_packed(node, rows, is_written)
  return not node.checked and not is_written[node.array] and not walk.find(node.subscripts, function(part)
    local variable = part.kind == "name" and part.variable
    return part.kind == "index" or variable and (variable == rows.variable or variable.role == "local")
  end)
end

--- The loop in a body, whose bounds are the same in all of a tile; nil where there are others.
local function loop_of(body, rows, columns)
  local found
  for _, node in ipairs(body) do
    if node.kind == "for" and (found or walk.depth(node) > 1 or walk.is_bounded_by(node, rows.variable)
      or walk.is_bounded_by(node, columns.variable)) then return nil end
    found = node.kind == "for" and node or found
  end
  return found
end

--- What is to be packed.
-- @tparam table rows the `for` node of a tile's rows
-- @tparam table columns that of its columns
-- @tparam {table,...} body of these
-- @treturn ?table `{ node=, text=, id= }`, one for each element that jumps; `is_whole`: one slice must have all passes.
-- nil: what jumps cannot be packed
function panels.of(rows, columns, body)
  local loop = loop_of(body, rows, columns)
  if not loop then return nil end
  local list, is_known, is_written, is_possible = { is_whole = #body > 1 }, {}, {}, true
  walk.nodes(body, function(part)
    if part.kind == "assign" and part.target.array then is_written[part.target.array] = true end
  end)
  for _, node in ipairs(body) do
    walk.node(node, function(part)
      if part.kind ~= "index" or affine.stride(part, columns.variable) then return end
      local text = lua_text.expression(part)
      is_possible = is_possible and node == loop and may_be_packed(part, rows, is_written)
      if is_known[text] then return end
      local id = ("%s_panel%d"):format(part.array.id, #list + 1)
      list[#list + 1], is_known[text] = { node = part, text = text, id = id }, true
    end)
  end
  return is_possible and #list > 0 and #list <= MOST and list or nil
end

-- --- in C -----------------------------------------------------------------------------------

local function width_of(tile) return tile.last_column + 1 end

--- The most passes of a slice.
local function passes_of(tile)
  local row = #tile.panels * width_of(tile) * (tile.real == "double" and 8 or 4)
  return (tile.panels.is_whole and WHOLE or SLICE) // row
end

--- The variable that has the first pass of a slice.
local function slice_of(tile) return tile.loops[1].variable.id .. "_slice" end

--- The array of each panel.
function panels.declare(tile, output)
  for _, panel in ipairs(tile.panels) do
    add(output, ("%s %s[%d];"):format(tile.real, panel.id, passes_of(tile) * width_of(tile)))
  end
end

--- Where a vector of an element is in its panel, in a macro for column c; nil: it is not packed.
function panels.element(tile, node)
  local text = lua_text.expression(node)
  for _, panel in ipairs(tile.panels or {}) do
    if panel.text == text then
      return ("%s[(%s - %s) * %d + c * %d]"):format(panel.id, tile.loops[1].variable.id, slice_of(tile), width_of(tile),
        tile.width)
    end
  end
end

--- Where the passes of a slice begin and end.
function panels.ends(tile, context)
  local to, slice = c_expression.plain(tile.loops[1].to, context), slice_of(tile)
  return slice, c_expression.extremum("min_int", to, ("%s + %d"):format(slice, passes_of(tile) - 1), context)
end

--- Opens the loop over slices; returns how many loops that are.
function panels.open(tile, output)
  local loop, context, slice = tile.loops[1], output.context, slice_of(tile)
  local from, to = c_expression.plain(loop.from, context), c_expression.plain(loop.to, context)
  if tile.panels.is_whole then
    add(output, ("const long %s = %s;"):format(slice, from), loop)
  else
    add(output, (("for (long # = %s; # <= %s; # += %d) {"):format(from, to, passes_of(tile)):gsub("#", slice)), loop)
    output.depth = output.depth + 1
  end
  add(output, "int is_packed = 0;")
  return tile.panels.is_whole and 0 or 1
end

--- The condition under which all passes are in slices; nil: they always are.
function panels.condition(tile, context)
  return tile.panels.is_whole and ("%s - %s < %d"):format(c_expression.plain(tile.loops[1].to, context),
    slice_of(tile), passes_of(tile)) or nil
end

--- The condition under which a slice is the first one.
function panels.is_first(tile, context)
  return ("%s == %s"):format(slice_of(tile), c_expression.plain(tile.loops[1].from, context))
end

--- Prints what packs a slice, once all columns of a strip are there.
function panels.print(tile, output)
  local columns, id = tile.columns.variable.id, tile.loops[1].variable.id
  local first, last = panels.ends(tile, output.context)
  c_statements.block(output, "if (!is_packed) ", function()
    for _, panel in ipairs(tile.panels) do
      c_statements.block(output, ("for (long # = #_base; # <= #_base + %d; #++) "):format(tile.last_column):gsub("#",
        columns), function()
        add(output, ("for (long %s = %s, %s_last = %s; %s <= %s_last; %s++)"):format(id, first, id, last, id, id, id))
        add(output, ("  %s[(%s - %s) * %d + %s - %s_base] = %s;"):format(panel.id, id, first, width_of(tile), columns,
          columns, c_expression.element(panel.node, output.context)))
      end)
    end
    add(output, "is_packed = 1;")
  end)
end

return panels
