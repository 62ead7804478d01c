-- SPDX-License-Identifier: MIT

--- What each pass of a sequential loop reads as the pass before it stored it: a local has it, as compilers do not know
-- that nothing else has been stored there.
--
--     for j = 2, n do a[i][j] = (a[i][j - 1] + b[j]) / 2 end
--     kept = a[i][1]; for j = 2, n do a[i][j] = (kept + b[j]) / 2; kept = a[i][j] end
--     for k = 1, n do c[i][j] = c[i][j] + a[i][k] * b[k][j] end
--     kept = c[i][j]; for k = 1, n do c[i][j] = kept + a[i][k] * b[k][j]; kept = c[i][j] end

local affine = require("clcompute.loops.tree").affine
local ast = require("clcompute.loops.tree").ast
local bounds = require("clcompute.loops.tree").loop_bounds
local faults = require "clcompute.loops.generation.faults"
local walk = require("clcompute.loops.tree").walk

local keeping = {}

local changed = ast.changed

--- Whether an element is the one that an assignment's target was in the pass before.
local function is_before(node, target, loop)
  if node.kind ~= "index" or node.array ~= target.array then return false end
  for d, subscript in ipairs(target.subscripts) do
    local multiple = affine.multiple(subscript, loop.variable)
    if not multiple or affine.distance(node.subscripts[d], subscript) ~= -multiple * loop.step then return false end
  end
  return true
end

local function is_plain(node) return node.kind == "assign" or node.kind == "local" end

--- The assignments of a loop's body that are the only ones to their arrays, by their place.
local function stores_of(loop)
  local count_of, list = {}, {}
  walk.nodes(loop.body, function(part)
    if part.kind == "assign" and part.target.array then
      count_of[part.target.array] = (count_of[part.target.array] or 0) + 1
    end
  end)
  for i, node in ipairs(loop.body) do
    local target = node.kind == "assign" and node.target
    if target and target.array and not target.checked and count_of[target.array] == 1 then
      list[#list + 1] = { place = i, target = target }
    end
  end
  return list
end

--- Whether an element's place is told by a local of the loop, which is not there before it.
local function has_own(node, own)
  return walk.find(node.subscripts, function(part) return part.kind == "name" and own[part.variable] ~= nil end) ~= nil
end

--- A statement with a name in place of what the pass before stored; also such a read. What is read under a condition
-- may not be there.
local function with_name(node, store, loop, name, own)
  local read
  local value = walk.replaced(node.value, function(part)
    if part.op == "and" or part.op == "or" then return part end
    if not is_before(part, store.target, loop) or has_own(part, own) then return nil end
    read = part
    return name
  end)
  return read and changed(node, { value = value }) or node, read
end

--- The body of a loop with locals in place of such elements, and the statements that declare these. What is read after
-- it was stored in the same pass is left as it is.
-- @tparam table loop a `for` node
-- @treturn {table,...} the body
-- @treturn {table,...} before the loop, if it has a pass
function keeping.of(loop)
  local body, locals, own = table.move(loop.body, 1, #loop.body, 1, {}), {}, {}
  for _, node in ipairs(body) do
    if node.kind == "local" then own[node.variable] = true end
  end
  for _, store in ipairs(stores_of(loop)) do
    local name, read = ast.made_up(("%s_kept%d"):format(loop.variable.id, #locals + 1), store.target.type), nil
    for i = 1, store.place do
      local found
      if is_plain(body[i]) then body[i], found = with_name(body[i], store, loop, name, own) end
      read = read or found
    end
    if read then
      locals[#locals + 1] = ast.node("local", { variable = name.variable, value = walk.replaced(read, function(part)
        return part.kind == "name" and part.variable == loop.variable and loop.from or nil
      end) })
      body[#body + 1] = ast.node("assign", { target = name, value = store.target })
    end
  end
  return body, locals
end

--- A loop behind such statements, where it has a pass.
function keeping.behind(locals, loop)
  if #locals == 0 then return loop end
  local body = table.move(locals, 1, #locals, 1, {})
  body[#body + 1] = loop
  return ast.node("if", { arms = { ast.node("arm", { body = body,
    condition = bounds.is_reached(loop.from, loop.to, loop.step) }) } })
end

--- An innermost loop with such locals, or the loop.
function keeping.apply(loop)
  if loop.kind ~= "for" or loop.parallel or loop.irregular or walk.depth(loop) > 1 or faults.are_in { loop }
    or walk.breaks_out(loop.body) then return loop end
  local body, locals = keeping.of(loop)
  return #locals == 0 and loop or keeping.behind(locals, ast.changed(loop, { body = body }))
end

return keeping
