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

-- Passes of a slice, so that panels stay in the first level cache; and in all panels together where one slice must have
-- all passes, as more than sums is done: 64 KiB of a work-item's memory.
local PASSES, ALL = 256, 1024
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
-- @treturn ?table `{ node=, text=, id= }`, one for each element that jumps, and `passes` of a slice; `has_all`: one
-- slice must have all. nil: what jumps cannot be packed
function panels.of(rows, columns, body)
  local loop = loop_of(body, rows, columns)
  if not loop then return nil end
  local list, is_known, is_written, is_possible = { passes = PASSES }, {}, {}, true
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
  if not is_possible or #list == 0 or #list > MOST then return nil end
  if #body > 1 then list.passes, list.has_all = ALL // #list, true end
  return list
end

-- --- in C -----------------------------------------------------------------------------------

local function width_of(tile) return tile.last_column + 1 end

--- The array of each panel.
function panels.declare(tile, output)
  for _, panel in ipairs(tile.panels) do
    add(output, ("%s %s[%d];"):format(tile.real, panel.id, tile.panels.passes * width_of(tile)))
  end
end

--- Where a vector of an element is in its panel, in a macro for column c; nil: it is not packed.
function panels.element(tile, node)
  local text = lua_text.expression(node)
  for _, panel in ipairs(tile.panels or {}) do
    local id = tile.loops[1].variable.id
    if panel.text == text then
      return ("%s[(%s - %s_slice) * %d + c * %d]"):format(panel.id, id, id, width_of(tile), tile.width)
    end
  end
end

--- Where the passes of a slice begin and end.
function panels.ends(tile, context)
  local loop = tile.loops[1]
  local slice = loop.variable.id .. "_slice"
  return slice, c_expression.extremum("min_int", c_expression.plain(loop.to, context),
    ("%s + %d"):format(slice, tile.panels.passes - 1), context)
end

--- Opens the loop over slices; returns how many loops that are.
function panels.open(tile, output)
  local loop, context = tile.loops[1], output.context
  local from, to = c_expression.plain(loop.from, context), c_expression.plain(loop.to, context)
  local id = loop.variable.id .. "_slice"
  if tile.panels.has_all then
    add(output, ("const long %s = %s;"):format(id, from), loop)
  else
    add(output, ("for (long %s = %s; %s <= %s; %s += %d) {"):format(id, from, id, to, id, tile.panels.passes), loop)
    output.depth = output.depth + 1
  end
  add(output, "int is_packed = 0;")
  return tile.panels.has_all and 0 or 1
end

--- The condition under which all passes are in slices; nil: they always are.
function panels.condition(tile, context)
  local loop, id = tile.loops[1], tile.loops[1].variable.id
  return tile.panels.has_all and ("%s - %s_slice < %d"):format(c_expression.plain(loop.to, context), id,
    tile.panels.passes) or nil
end

--- The condition under which a slice is the first one.
function panels.is_first(tile, context)
  local loop = tile.loops[1]
  return ("%s_slice == %s"):format(loop.variable.id, c_expression.plain(loop.from, context))
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
