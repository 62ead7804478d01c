-- SPDX-License-Identifier: MIT

--- Writes loops at whose end two arrays change places as loops of two passes at a time, in the second of which each of
-- the two names means the other array. What follows stands twice, as it depends on the number of passes.
--
--     for t = from, to do smooth(a, b); a, b = b, a end; rest
--     local first, last = from, to
--     for t = first, last - 1, 2 do smooth(a, b); swapped { local t = t + 1; smooth(a, b) } end
--     if first <= last and (last - first) % 2 == 0 then local t = last; smooth(a, b); swapped { rest } else rest end

local ast = require("clcompute.loops.tree").ast
local inlining = require "clcompute.loops.front.inlining"

local swaps = {}

local MOST = 2 -- loops one behind the other: what follows each stands twice

-- --- which loops -------------------------------------------------------------------------------

local function is_name(parsed, text)
  return parsed.kind == "name" and parsed.name == text
end

--- Whether a statement exchanges two names.
local function is_exchange(node)
  return node.kind == "assigns" and #node.targets == 2 and node.targets[1].kind == "name"
    and node.targets[2].kind == "name" and is_name(node.values[1], node.targets[2].name)
    and is_name(node.values[2], node.targets[1].name)
end

--- Whether a parsed node has one in it of which a test holds, outside of loops.
local function has(node, test)
  if test(node) then return true end
  for _, part in pairs(node) do
    local is_in_loop = type(part) == "table" and (part.kind == "for" or part.kind == "each" or part.kind == "forever")
    if type(part) == "table" and not is_in_loop and has(part, test) then return true end
  end
  return false
end

local function is_break(node) return node.kind == "break" end

--- Whether a bound may be no integer, or one of the largest: then other passes are the last ones.
local function is_fraction(node)
  return node.op == "/" or node.op == "^" or node.kind == "field" or math.type(node.value) == "float"
end

--- Whether the passes of a loop can be told two by two.
local function is_plain(loop)
  return loop.step == 1 and not loop.pace and not has(loop.body, is_break)
    and not has({ loop.from, loop.to }, is_fraction)
end

--- Whether statements declare one of some names anew.
local function declare_any(nodes, names)
  for _, node in ipairs(nodes) do
    for _, token in ipairs(node.kind == "local" and node.names or {}) do
      if token.text == names[1] or token.text == names[2] then return true end
    end
    if node.kind == "define" and (node.name == names[1] or node.name == names[2]) then return true end
  end
  return false
end

--- The names of arrays that change places at the end of a loop, or nil.
local function names_of(self, loop)
  local last = loop.kind == "for" and loop.body[#loop.body]
  if not last or not is_exchange(last) or not is_plain(loop) then return nil end
  local one, other = last.targets[1].name, last.targets[2].name
  if not self:names_with(one) or not self:names_with(other) then return nil end -- as others may see them, too
  if declare_any(loop.body, { one, other }) then return nil end
  return inlining.array_of(self, one) and inlining.array_of(self, other) and { one, other } or nil
end

-- --- what they become --------------------------------------------------------------------------

--- A name that none in the source is: with the place of its loop.
local function bound(name, loop)
  local at = loop.name
  return { text = ("%s of %d"):format(name, loop.offset), line = at.line, column = at.column, offset = at.offset,
    finish = at.finish }
end

local function swapped(names, body, at)
  return ast.parsed("swapped", { one = names[1], other = names[2], body = body }, at)
end

--- The body of a loop in a pass of which the number is an expression.
local function pass(loop, value, body)
  local list = { ast.parsed("local", { names = { loop.name }, values = { value } }, loop) }
  return table.move(body, 1, #body, 2, list)
end

--- The statements that stand for a loop and all that follows it in the function.
-- @tparam table self of `clcompute.loops.front.denotations`
-- @tparam {table,...} block parsed
-- @tparam integer at
-- @treturn ?{table,...} parsed; nil where no arrays change places there
function swaps.unrolled(self, block, at)
  local loop = block[at]
  local names = names_of(self, loop)
  if not names then return nil end
  if self.exchanges >= MOST then
    self:fail(loop, "arrays change places at the ends of more than %d loops, one behind the other", MOST)
  end
  local function node(kind, fields) return ast.parsed(kind, fields, loop) end
  local function number(value) return node("number", { value = value }) end
  local function binary(op, left, right) return node("binary", { op = op, left = left, right = right }) end
  local first_token, last_token = bound("first", loop), bound("last", loop)
  local function first() return node("name", { name = first_token.text }) end
  local function last() return node("name", { name = last_token.text }) end
  local body = table.move(loop.body, 1, #loop.body - 1, 1, {})
  local rest = table.move(block, at + 1, #block, 1, {})
  local second = pass(loop, binary("+", node("name", { name = loop.name.text }), number(1)), body)
  local both = { node("do", { body = body }), swapped(names, second, loop) }
  local is_odd = binary("and", binary("<=", first(), last()),
    binary("==", binary("%", binary("-", last(), first()), number(2)), number(0)))
  rest = { node("rest", { body = rest }) }
  local final = { node("do", { body = pass(loop, last(), body) }), swapped(names, rest, loop) }
  return {
    node("local", { names = { first_token, last_token }, values = { loop.from, loop.to } }),
    node("for", { name = loop.name, from = first(), to = binary("-", last(), number(1)), step = 2, body = both }),
    node("if", { arms = { node("arm", { condition = is_odd, body = final }) }, otherwise = rest }),
  }
end

return swaps
