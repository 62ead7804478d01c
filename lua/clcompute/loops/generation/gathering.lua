-- SPDX-License-Identifier: MIT

--- Lets a parallel loop be a lane although some elements that it reads lie apart in memory, where they are read again
-- and again: they are gathered before. Conditions that only choose numbers become choices, of which
-- compilers make vectors.
--
--     for i do for c do if x[i][1] * w[c] < least then least = x[i][1] * w[c] end end end
--     for i do g = x[i][1]; for c do least = g * w[c] < least and g * w[c] or least end end

local affine = require("clcompute.loops.tree").affine
local ast = require("clcompute.loops.tree").ast
local choices = require "clcompute.loops.generation.choices"
local faults = require "clcompute.loops.generation.faults"
local lua_text = require("clcompute.loops.tree").lua_text
local walk = require("clcompute.loops.tree").walk

local gathering = {}

local MOST = 8 -- elements that are gathered: each has a place for each pass
local AGAIN = 4 -- times that one of them is read where no loop reads it again and again

local changed = ast.changed

-- --- gathers ----------------------------------------------------------------------------------

--- Whether an element is the same in all passes of the loops in a body, and nothing in that writes its array.
local function is_fixed(node, inside, is_written)
  return not node.checked and not is_written[node.array] and not walk.find(node.subscripts, function(part)
    return part.kind == "index" or part.kind == "name" and inside[part.variable]
  end)
end

--- The body with locals in place of the elements that jump, what these are, and how often one is read; nil where one
-- cannot be gathered.
local function gathered(body, variable)
  local inside, is_written = {}, {}
  walk.nodes(body, function(part)
    if part.kind == "for" or part.kind == "local" then inside[part.variable] = true end
    if part.kind == "assign" and part.target.array then is_written[part.target.array] = true end
  end)
  local locals, by_text, reads, most = {}, {}, {}, 0
  local function replace(node)
    if node.kind ~= "index" or affine.stride(node, variable) or not is_fixed(node, inside, is_written) then
      return nil
    end
    local text = lua_text.expression(node)
    if not by_text[text] then
      by_text[text] = ast.made_up(("%s_%s_of%d"):format(node.array.id, variable.id, #locals + 1), node.type)
      locals[#locals + 1] = ast.node("local", { variable = by_text[text].variable, value = node }, node)
    end
    reads[text] = (reads[text] or 0) + 1
    most = math.max(most, reads[text])
    return by_text[text]
  end
  local function visit(nodes)
    local list = {}
    for i, node in ipairs(nodes) do
      if node.kind == "for" then
        list[i] = changed(node, { body = visit(node.body) })
      elseif node.kind == "if" then
        list[i] = node -- what it reads may not be there otherwise
      elseif node.kind == "assign" or node.kind == "local" then
        list[i] = changed(node, { value = walk.replaced(node.value, replace) })
      else
        list[i] = node
      end
    end
    return list
  end
  local rest = visit(body)
  return #locals > 0 and #locals <= MOST and rest or nil, locals, most
end

--- What a lane may be made of.
-- @tparam table loop a `for` node, parallel
-- @tparam {table,...} body of it
-- @treturn ?{table,...} statements that go through memory element by element as the loop goes on; nil where they do
-- not, or nothing is read again
-- @treturn {table,...} locals before them, of elements that lie apart
function gathering.of(loop, body)
  if loop.step ~= 1 or faults.are_in(body) then return nil end
  local rest, locals, reads = gathered(body, loop.variable)
  local is_again = reads >= AGAIN or walk.depth(ast.changed(loop, { body = body })) > 1
  local units = rest and is_again and affine.units(rest, loop.variable)
  if not units then return nil end
  return choices.of(rest, loop.variable.id), locals
end

--- The condition under which rows have no other elements than those that are gathered of them, in C; nil where that
-- cannot be.
-- @tparam {table,...} locals of elements that lie apart, as `of` returns them
-- @treturn ?table
function gathering.whole_rows(locals)
  local arrays, columns, texts = {}, {}, {}
  for _, node in ipairs(locals) do
    local array, last = node.value.array, node.value.subscripts[2]
    if array.rank ~= 2 or last.kind ~= "number" then return nil end
    if not columns[array] then
      arrays[#arrays + 1] = array
      columns[array] = { least = last.value, most = last.value, count = 0 }
    end
    local own = columns[array]
    own.least, own.most, own.count = math.min(own.least, last.value), math.max(own.most, last.value), own.count + 1
  end
  for i, array in ipairs(arrays) do
    local own = columns[array]
    if own.count ~= own.most - own.least + 1 then return nil end
    texts[i] = ("%s == %d"):format(ast.size(array, 2), own.count)
  end
  return ast.node("text", { text = table.concat(texts, " && "), type = "bool" })
end

return gathering
