-- SPDX-License-Identifier: MIT

--- Loops that store at `(i + k) % n`, as rotations do, and have n passes: two loops in their place, up to where the
-- remainder begins anew and from there. In each the remainder is a sum, so that their passes may be parallel. The
-- remainder of the first pass is a number that is computed before the call.
--
--     for i = 1, n do y[(i + k) % n + 1] = x[i] end
--
--     for i = 1, n - first do y[first + i - 1 + 1] = x[i] end       with first = (1 + k) % n
--     for i = 1 + n - first, n do y[first + i - 1 - n + 1] = x[i] end

local affine = require("clcompute.loops.tree").affine
local ast = require("clcompute.loops.tree").ast
local clone = require("clcompute.loops.tree").clone
local lua_text = require("clcompute.loops.tree").lua_text
local walk = require("clcompute.loops.tree").walk

local rotations = {}

local function binary(op, left, right, at)
  return ast.node("binary", { op = op, left = left, right = right }, at)
end

local function copy(node) return ast.copies { node }[1] end

--- Whether an expression is a remainder that counts on in each pass of a loop, and begins anew once in all of them.
local function counts(node, loop)
  if node.op ~= "%" or node.kind ~= "binary" or affine.multiple(node.left, loop.variable) ~= 1 then return false end
  local passes = binary("-", loop.to, loop.from)
  return affine.distance(node.right, passes) == 1
end

--- The remainder by which elements are stored in a loop; nil where there is none, or there are several, or where it
-- tells that a table which the function makes begins at 0: of two loops none would.
local function remainder_of(loop, tables)
  local found, text
  local is_made = walk.set(tables or {})
  walk.nodes(loop.body, function(node)
    local target = node.kind == "assign" and node.target.kind == "index" and node.target
    for _, subscript in ipairs(target and target.subscripts or {}) do
      local remainder = walk.find({ subscript }, function(part) return counts(part, loop) end)
      local own = remainder and (remainder ~= subscript or not is_made[target.array]) and lua_text.expression(remainder)
      found, text = found or remainder, remainder and (not own or text and own ~= text) and "several" or own or text
    end
  end)
  return text ~= "several" and found or nil
end

--- Whether a loop fills a table, or makes one or rows of one: then it says how long that is.
local function is_needed(loop, tables)
  for _, array in ipairs(tables or {}) do
    local is_filled = array.filled == loop or array.early == loop or array.appended and array.appended.loop == loop
    if is_filled or array.cursor or walk.set(array.loops)[loop] then return true end
    if walk.find(array.rows, function(part) return part.variable == loop.variable end) then return true end
  end
  return false
end

local function can_split(loop, tables)
  return loop.step == 1 and not loop.pace and not loop.word and clone.can(loop.body) and not is_needed(loop, tables)
end

--- One of the two loops; `value` makes the sum that the remainder is, of the loop's variable.
local function piece(loop, remainder, bounds, value, rename)
  local own = clone.statements({ loop }, {}, rename)[1]
  own.from, own.to = bounds[1], bounds[2]
  local name = ast.node("name", { variable = own.variable }, remainder)
  local others = { [loop.variable] = name }
  local text = lua_text.expression(walk.replaced(remainder, function(part)
    return part.kind == "name" and others[part.variable] or nil
  end))
  walk.nodes(own.body, function(node)
    if node.op == "%" and lua_text.expression(node) == text then ast.become(node, value(name)) end
  end)
  return own
end

--- The loops in place of one; nil where it stays.
-- @tparam table loop
-- @tparam ?{table,...} tables that the function makes
-- @tparam function computed gives the name of a remainder that is computed before the call, if the one of the last
-- pass is not of a smaller number, as where integers wrap; or nil
-- @tparam function rename gives the id of a variable of a copy
-- @treturn ?{table,table}
function rotations.split(loop, tables, computed, rename)
  local remainder = can_split(loop, tables) and remainder_of(loop, tables)
  if not remainder then return nil end
  local function at(value)
    return walk.replaced(copy(remainder), function(part) return part.variable == loop.variable and value or nil end)
  end
  local first = computed(at(loop.from), at(loop.to))
  if not first then return nil end
  local n, from = remainder.right, loop.from
  local cut = binary("-", binary("+", copy(from), copy(n), from), first, from)
  local one = ast.node("number", { value = 1 }, from)
  local function sum(name) return binary("+", copy(first), binary("-", name, copy(from), name), name) end
  local function before(name) return binary("-", sum(name), copy(n), name) end
  return { piece(loop, remainder, { from, binary("-", copy(cut), one, from) }, sum, rename),
    piece(loop, remainder, { cut, loop.to }, before, rename) }
end

return rotations
