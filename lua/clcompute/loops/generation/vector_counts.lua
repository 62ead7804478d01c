-- SPDX-License-Identifier: MIT

--- How many vectors an innermost loop has at once: where each number waits for many operations, one vector after the
-- other leaves a processor waiting, which looks only so many instructions ahead. More of them leave more passes over.
--
--     for j do s = 0; for q = -12, 12 do s = s + a[j + q] end; b[j] = s end     four vectors, with sums side by side

local lua_text = require("clcompute.loops.tree").lua_text

local vector_counts = {}

local LONG = 16 -- operations one after the other
local MOST = 64 -- operations for which registers hold what four vectors need

-- Operations, by their time beside that of an addition.
local CALLS = { exp = 16, log = 16, sqrt = 4, min = 1, max = 1, abs = 1 }
local OTHER_CALL, OPERATORS = 4, { ["/"] = 3, ["//"] = 4, ["%"] = 4, ["^"] = 16 }

--- The operations of an expression that wait for each other; adds all of them to `state.count`.
local function waits(node, state)
  local longest, own, parts = 0, 0, {}
  if node.kind == "name" then return state.depth_of[node.variable] or 0 end
  if node.kind == "index" then return state.depth_of[lua_text.expression(node)] or 0 end
  if node.kind == "binary" then own, parts = OPERATORS[node.op] or 1, { node.left, node.right } end
  if node.kind == "unary" then own, parts = 1, { node.operand } end
  if node.kind == "call" then own, parts = CALLS[node.name] or OTHER_CALL, node.arguments end
  for _, part in ipairs(parts) do longest = math.max(longest, waits(part, state)) end
  state.count = state.count + own
  return longest + own
end

--- The number of vectors.
-- @tparam {table,...} body of a loop: locals and assignments
-- @treturn integer
-- @treturn integer the operations of a pass
function vector_counts.of(body)
  local state, deepest = { count = 0, depth_of = {} }, 0
  for _, node in ipairs(body) do
    local depth, target = waits(node.value, state), node.target or node
    deepest = math.max(deepest, depth)
    state.depth_of[target.kind == "index" and lua_text.expression(target) or target.variable] = depth
  end
  return deepest < LONG and 1 or state.count <= MOST and 4 or 2, state.count
end

return vector_counts
