-- SPDX-License-Identifier: MIT

--- Rows of tables that a function makes and returns. What calls give back has all rows up to the last one, in each
-- dimension as many; so the function must make these, no others, and the text must tell.

local affine = require("clcompute.loops.tree").affine
local bounds = require("clcompute.loops.tree").loop_bounds
local lua_text = require("clcompute.loops.tree").lua_text
local walk = require("clcompute.loops.tree").walk

local returned_rows = {}

local function loop_of(term) return term.variable and term.variable.loop end

--- The term of a form that is a loop's variable, if there is one.
local function loop_term(form)
  for _, term in ipairs(form.terms) do
    if loop_of(term) then return term end
  end
end

--- A form without loops: its least value; nil where it is not the only form that may be it.
local function least_of(form)
  local term = form and loop_term(form)
  while term do
    local loop, factor = loop_of(term), term.coefficient
    local at_first = (factor > 0) == (loop.step > 0)
    local ends = not loop.pace and (at_first and bounds.firsts or bounds.lasts)(loop) or {}
    if #ends ~= 1 then return nil end
    form = affine.sum(form, affine.of(bounds.name(term.variable)), -factor)
    form = form and affine.sum(form, ends[1], factor)
    term = form and loop_term(form)
  end
  return form
end

--- Whether passes leave out rows between those that they make.
local function has_strides(form)
  local term = form.terms[1]
  local loop = #form.terms == 1 and loop_of(term)
  return loop and math.abs(term.coefficient * loop.step) > 1
end

--- What tells which rows a subscript has, as a text: one number, or the passes of a loop; nil where rows are left out.
local function range_of(subscript, base)
  local form = affine.of(subscript)
  if not form or affine.has_term(form, function(term) return term.quotient end) then
    return lua_text.expression(subscript) -- a count, which is not looked at here
  end
  local term, least = loop_term(form), least_of(form)
  if has_strides(form) or not least or #least.terms > 0 then return nil end
  if not term then return form.constant end
  local loop = loop_of(term)
  return least.constant <= base and ("%s .. %s"):format(lua_text.expression(loop.from), lua_text.expression(loop.to))
end

--- Whether how many rows there are in a row is another number in each pass around.
local function is_bounded_within(subscripts, d)
  local term = loop_term(affine.of(subscripts[d]) or { terms = {} })
  return d > 1 and term and walk.find({ loop_of(term).from, loop_of(term).to }, function(part)
    return part.kind == "name" and part.variable.loop ~= nil
  end) ~= nil
end

--- Adds a row to those of its prefix, a text; false where rows are left out.
local function add(levels, row, base)
  local ranges, depth = {}, #row.subscripts
  for d, subscript in ipairs(row.subscripts) do
    local range = range_of(subscript, base)
    if not range or is_bounded_within(row.subscripts, d) then return false end
    ranges[d] = tostring(range)
  end
  local last, prefix = table.remove(ranges), table.concat(ranges, "][")
  levels[depth] = levels[depth] or {}
  levels[depth][prefix] = levels[depth][prefix] or {}
  levels[depth][prefix][last] = true
  return true
end

--- The rows of a prefix in words: how many, where numbers tell; nil where one is left out.
local function words_of(lasts, base)
  local words, count = {}, 0
  for last in pairs(lasts) do
    if math.tointeger(last) then count = count + 1 else words[#words + 1] = last end
  end
  for i = base, base + count - 1 do
    if not lasts[tostring(i)] then return nil end
  end
  table.sort(words)
  return ("%d, %s"):format(count, table.concat(words, ", "))
end

--- Whether each row of a level has as many rows in it, which are those of the next one.
local function are_even(levels, depth, base)
  local words
  for prefix, lasts in pairs(levels[depth]) do
    local own = words_of(lasts, base)
    if not own or words and words ~= own then return false end
    words = own
    for last in pairs(levels[depth + 1] and lasts or {}) do
      local name = depth == 1 and last or prefix .. "][" .. last
      if not levels[depth + 1][name] then return false end
    end
  end
  return true
end

--- Whether the rows that a function makes of a table are all up to the last one, as far as the text tells.
-- @tparam {table,...} rows
-- @tparam integer base
-- @treturn boolean
-- @treturn ?table the row that is not, or the last one
function returned_rows.are_whole(rows, base)
  local levels = {}
  for _, row in ipairs(rows) do
    if not add(levels, row, base) then return false, row end
  end
  for depth in ipairs(levels) do
    if not are_even(levels, depth, base) then return false, rows[#rows] end
  end
  return true
end

return returned_rows
