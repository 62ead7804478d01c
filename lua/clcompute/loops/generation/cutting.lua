-- SPDX-License-Identifier: MIT

--- Cuts a loop in two where a condition in it holds from one pass on, or up to one: neither has the condition then, so
-- that compilers make vectors of both, and what is read under it is looked at once (`range_checks`).
--
--     for j = 1, n do b[j] = a[j]; if j > w[i] then b[j] = a[j - w[i]] end end
--     for j = 1, math.min(n, w[i]) do b[j] = a[j] end
--     for j = math.max(1, w[i] + 1), n do b[j] = a[j]; b[j] = a[j - w[i]] end

local affine = require("clcompute.loops.tree").affine
local faults = require "clcompute.loops.generation.faults"
local walk = require("clcompute.loops.tree").walk

local cutting = {}

local SWAPPED = { ["<"] = ">", [">"] = "<", ["<="] = ">=", [">="] = "<=" }

--- The only `if` in a body, which stands in no other statement, and its place; nil where there is another one.
local function only_condition(body)
  local at, count = nil, 0
  for i, node in ipairs(body) do at = node.kind == "if" and at == nil and i or at end
  walk.nodes(body, function(part)
    if part.kind == "if" or part.kind == "for" then count = count + 1 end
  end)
  return count == 1 and body[at] or nil, at
end

--- The statements of a body with others in place of one.
local function with(body, at, others)
  local list = table.move(body, 1, at - 1, 1, {})
  table.move(others, 1, #others, #list + 1, list)
  return table.move(body, at + 1, #body, #list + 1, list)
end

--- Where a condition changes: `lead`, a sum that grows by one from pass to pass, is compared by `op` with `limit`,
-- which is the same in all of them. nil where the condition is not like this.
local function comparison_of(condition, loop)
  local op, lead, limit = condition.op, condition.left, condition.right
  if not SWAPPED[op] or lead.type ~= "int" or limit.type ~= "int" or faults.are_in { condition } then return nil end
  local changes = affine.changes(loop.body)
  if affine.multiple(lead, loop.variable) ~= 1 then op, lead, limit = SWAPPED[op], limit, lead end
  if affine.multiple(lead, loop.variable) ~= 1 or affine.slope(lead, loop.variable, changes) ~= 1
    or affine.slope(limit, loop.variable, changes) ~= 0 then return nil end
  return { op = op, lead = lead, limit = limit, condition = condition }
end

--- The two parts of an innermost loop.
-- @tparam table loop a `for` node
-- @treturn ?table `before` and `from`, the bodies of the passes before the condition changes and from there on; the
-- `condition`; `op`, `lead` and `limit`: it changes where `lead`, which is the loop's variable and what else is added,
-- gets beyond `limit`, or reaches it (`op` is "<" or ">="). nil where the loop cannot be cut
function cutting.of(loop)
  if loop.step ~= 1 or loop.irregular then return nil end
  local node, at = only_condition(loop.body)
  if not node or #node.arms ~= 1 then return nil end
  local cut = comparison_of(node.arms[1].condition, loop)
  if not cut then return nil end
  local holds, fails = with(loop.body, at, node.arms[1].body), with(loop.body, at, node.otherwise or {})
  local is_late = cut.op == ">" or cut.op == ">="
  cut.before, cut.from = is_late and fails or holds, is_late and holds or fails
  return cut
end

return cutting
