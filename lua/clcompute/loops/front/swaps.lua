-- SPDX-License-Identifier: MIT

--- Writes loops in which two arrays change places as loops of two passes at a time, in the second of which each of the
-- two names means the other array. What follows stands twice, as it depends on the number of passes.
--
--     for t = from, to do before; a, b = b, a; after end; rest
--     local first, last = from, to
--     for t = first, last - 1, 2 do
--       before; swapped { after }
--       swapped { local t = t + 1; before; swapped { after } }
--     end
--     if first <= last and (last - first) % 2 == 0 then
--       local t = last; before; swapped { after; rest }
--     else rest end
--
-- In a `while` or `repeat`, whose end is a `break`, a local tells where the loop was left.

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
  return node.kind == "assigns" and #node.targets == 2 and #node.values == 2 and node.targets[1].kind == "name"
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
  if loop.kind == "forever" then return true end
  return loop.kind == "for" and loop.step == 1 and not loop.pace and not has(loop.body, is_break)
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

--- The names of arrays that change places in each pass of a loop, and where in its body; or nil.
local function exchange_of(self, loop)
  local at
  for i, node in ipairs(is_plain(loop) and loop.body or {}) do
    if is_exchange(node) and inlining.array_of(self, node.targets[1].name) then
      if at then return nil end
      at = i
    end
  end
  if not at then return nil end
  local one, other = loop.body[at].targets[1].name, loop.body[at].targets[2].name
  if not self:names_with(one) or not self:names_with(other) then return nil end -- as others may see them, too
  if declare_any(loop.body, { one, other }) then return nil end
  return inlining.array_of(self, other) and { one, other }, at
end

-- --- what they become --------------------------------------------------------------------------

--- A name that none in the source is: with the place of its loop.
local function made_up(name, loop)
  local at = loop.name or loop
  return { text = ("%s of %d"):format(name, loop.offset), line = at.line, column = at.column, offset = at.offset,
    finish = at.finish }
end

local function joined(list, other)
  return table.move(other, 1, #other, #list + 1, table.move(list, 1, #list, 1, {}))
end

--- Statements in which others stand before each `break` that leaves their loop.
local function before_breaks(nodes, statement)
  local list = {}
  for _, node in ipairs(nodes) do
    if node.kind == "break" then
      table.insert(list, statement)
    elseif node.kind == "if" then
      local arms = {}
      for k, arm in ipairs(node.arms) do
        arms[k] = ast.parsed("arm", { condition = arm.condition, body = before_breaks(arm.body, statement) }, arm)
      end
      local otherwise = node.otherwise and before_breaks(node.otherwise, statement)
      node = ast.parsed("if", { arms = arms, otherwise = otherwise }, node)
    elseif node.kind == "do" then
      node = ast.parsed("do", { body = before_breaks(node.body, statement) }, node)
    end
    list[#list + 1] = node
  end
  return list
end

--- What makes nodes at the place of a loop whose arrays have such names.
local function maker(loop, names)
  local make = {}
  function make.node(kind, fields) return ast.parsed(kind, fields, loop) end
  function make.name(token) return make.node("name", { name = token.text }) end
  function make.number(value) return make.node("number", { value = value }) end
  function make.binary(op, left, right) return make.node("binary", { op = op, left = left, right = right }) end
  function make.set(names_of, values) return make.node("local", { names = names_of, values = values }) end
  function make.swapped(body) return make.node("swapped", { one = names[1], other = names[2], body = body }) end
  function make.either(condition, body, otherwise)
    local arm = make.node("arm", { condition = condition, body = body })
    return make.node("if", { arms = { arm }, otherwise = otherwise })
  end
  return make
end

--- A loop over numbers, and what follows it.
local function counted(make, loop, before, after, rest)
  local first, last = made_up("first", loop), made_up("last", loop)
  local next_number = make.binary("+", make.node("name", { name = loop.name.text }), make.number(1))
  local second = joined({ make.set({ loop.name }, { next_number }) }, joined(before, { make.swapped(after) }))
  local both = { make.node("do", { body = joined(before, { make.swapped(after) }) }), make.swapped(second) }
  local is_odd = make.binary("and", make.binary("<=", make.name(first), make.name(last)),
    make.binary("==", make.binary("%", make.binary("-", make.name(last), make.name(first)), make.number(2)),
      make.number(0)))
  local single = joined({ make.set({ loop.name }, { make.name(last) }) }, joined(before, { make.swapped(after) }))
  return {
    make.set({ first, last }, { loop.from, loop.to }),
    make.node("for", { name = loop.name, from = make.name(first), step = 2, body = both,
      to = make.binary("-", make.name(last), make.number(1)) }),
    make.either(is_odd, { make.node("do", { body = single }), make.swapped(rest) }, rest),
  }
end

--- A loop that a `break` ends, and what follows it.
local function endless(make, loop, before, after, rest)
  local is_odd = made_up("is_odd", loop)
  local leaving = make.node("assign", { target = make.name(is_odd), value = make.node("boolean", { value = true }) })
  local first = joined(before, { make.swapped(before_breaks(after, leaving)) })
  local second = joined(before_breaks(before, leaving), { make.swapped(after) })
  return {
    make.set({ is_odd }, { make.node("boolean", { value = false }) }),
    make.node("forever", { word = loop.word, body = { make.node("do", { body = first }), make.swapped(second) } }),
    make.either(make.name(is_odd), { make.swapped(rest) }, rest),
  }
end

--- The statements that stand for a loop and all that follows it in the function.
-- @tparam table self of `clcompute.loops.front.names`
-- @tparam {table,...} block parsed
-- @tparam integer at
-- @treturn ?{table,...} parsed; nil where no arrays change places there
function swaps.unrolled(self, block, at)
  local loop = block[at]
  if loop.kind ~= "for" and loop.kind ~= "forever" then return nil end
  local names, place = exchange_of(self, loop)
  if not names then return nil end
  if self.exchanges >= MOST then
    self:fail(loop, "arrays change places in more than %d loops, one behind the other", MOST)
  end
  local before = table.move(loop.body, 1, place - 1, 1, {})
  local after = table.move(loop.body, place + 1, #loop.body, 1, {})
  local make = maker(loop, names)
  local rest = { make.node("rest", { body = table.move(block, at + 1, #block, 1, {}) }) }
  return (loop.kind == "for" and counted or endless)(make, loop, before, after, rest)
end

return swaps
