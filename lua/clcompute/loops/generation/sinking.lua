-- SPDX-License-Identifier: MIT

--- Moves a parallel loop inwards, to be the innermost one everywhere in its body. Its passes do not depend on each
-- other, so each statement of the body may do all of them before the next statement begins, and each loop of the body
-- before its next pass.
--
--     for j do local s = 0; for k do s = s + a[k] * b[k][j] end; c[j] = s end
--     for j do s[j] = 0 end; for k do for j do s[j] = s[j] + a[k] * b[k][j] end end; for j do c[j] = s[j] end

local affine = require("clcompute.loops.tree").affine
local ast = require("clcompute.loops.tree").ast
local walk = require("clcompute.loops.tree").walk

local sinking = {}

--- Whether a bound or condition is the same in all passes: no local can be in it, being another one in each.
local function is_invariant(node, variable, is_local)
  return not walk.find({ node }, function(part)
    return part.kind == "index" or part.kind == "name" and (part.variable == variable or is_local[part.variable])
  end)
end

local sink_list

--- A statement that has a loop in it, with the moved loop within that; nil where it cannot be.
local function sink_around(node, state)
  local variable = state.loop.variable
  if node.kind == "for" then
    if node.irregular then return nil end
    if not is_invariant(node.from, variable, state.is_local) or not is_invariant(node.to, variable, state.is_local) then
      return nil
    end
    local body = sink_list(node.body, state)
    return body and ast.changed(node, { body = body, is_lane = false })
  end
  if node.kind ~= "if" then return nil end
  local arms = {}
  for i, arm in ipairs(node.arms) do
    local body = is_invariant(arm.condition, variable, state.is_local) and sink_list(arm.body, state)
    if not body then return nil end
    arms[i] = ast.changed(arm, { body = body })
  end
  local otherwise = node.otherwise and sink_list(node.otherwise, state)
  if node.otherwise and not otherwise then return nil end
  return ast.changed(node, { arms = arms, otherwise = otherwise })
end

--- Adds the moved loop over statements that it goes around as they are.
local function add_group(group, state, result)
  if #group == 0 then return end
  local loop = ast.changed(state.loop, { body = table.move(group, 1, #group, 1, {}), is_lane = true })
  result[#result + 1] = loop
  for i in ipairs(group) do group[i] = nil end
end

--- Adds a loop of `clcompute.loops.generation.masking` with the moved loop in it, and what is left of it.
local function add_masked(node, state, result)
  local lanes = node.lanes
  local body = table.move(lanes.first, 1, #lanes.first, 1, {})
  body[#body + 1] = ast.changed(state.loop, { body = lanes.all, is_lane = true })
  body[#body + 1] = ast.changed(state.loop, { body = lanes.each, is_lane = true, parallel = false })
  result[#result + 1] = ast.changed(node, { body = table.move(lanes.last, 1, #lanes.last, #body + 1, body) })
  result[#result + 1] = ast.changed(state.loop, { body = lanes.rest, is_lane = true })
end

function sink_list(nodes, state)
  local result, group = {}, {}
  for _, node in ipairs(nodes) do
    if node.lanes then
      add_group(group, state, result)
      add_masked(node, state, result)
    elseif walk.depth(node) > state.keeps then
      add_group(group, state, result)
      local around = sink_around(node, state)
      if not around then return nil end
      result[#result + 1] = around
    else
      group[#group + 1] = node
    end
  end
  add_group(group, state, result)
  return result
end

--- The locals that are used in another loop than the one that declares them.
local function crossing(result)
  local home, is_crossing, list = {}, {}, {}
  local function visit(nodes, loop)
    walk.nodes(nodes, function(part)
      if part.kind == "for" and part.is_lane then
        visit(part.body, part)
        return false
      end
      if part.kind == "local" then home[part.variable] = loop end
      if part.kind == "name" and home[part.variable] and home[part.variable] ~= loop
        and not is_crossing[part.variable] then
        is_crossing[part.variable] = true
        list[#list + 1] = part.variable
      end
    end)
  end
  visit(result, nil)
  return list
end

local function locals_of(nodes)
  local is_local = {}
  walk.nodes(nodes, function(part)
    if part.kind == "local" then is_local[part.variable] = true end
  end)
  return is_local
end

local function sink(loop, body, keeps)
  return sink_list(body, { loop = loop, is_local = locals_of(body), keeps = keeps })
end

--- The body of a parallel loop with the loop moved inwards, to be the innermost one.
-- @tparam table loop a `for` node whose `body` it is
-- @tparam {table,...} body
-- @tparam ?{table,...} before statements before it, which may read elements that lie apart
-- @treturn ?{table,...} statements, in which the loop has `is_lane`; nil where a loop or condition in the body depends
-- on the pass, or an access would jump
-- @treturn ?{table,...} the locals of the body that need a place for each pass
function sinking.sink(loop, body, before)
  local rest = affine.units(body, loop.variable) and sink(loop, body, 0)
  if not rest then return nil end
  local result = sink(loop, before or {}, 0)
  table.move(rest, 1, #rest, #result + 1, result)
  return result, crossing(result)
end

--- Whether all passes of a loop read an element that no pass has for itself.
local function has_common(loop, body)
  return walk.find(body, function(part)
    return part.kind == "index" and not walk.mentions(part, loop.variable)
  end) ~= nil
end

--- The same with the loop around the innermost ones, which then meet again what they share in all its passes.
-- @treturn ?{table,...} nil also where they share nothing, a local would need a place for each pass, or nothing would
-- be moved
function sinking.sink_around(loop, body)
  local is_deep = false
  for _, node in ipairs(body) do is_deep = is_deep or walk.depth(node) > 1 end
  local result = is_deep and has_common(loop, body) and sink(loop, body, 1)
  return result and #crossing(result) == 0 and result or nil
end

return sinking
