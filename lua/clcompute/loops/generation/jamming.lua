-- SPDX-License-Identifier: MIT

--- Jams passes of sequential loops into one of the lane within them: elements that each pass updates are loaded and
-- stored once for all of them.
--
--     for i do for j do                            -- the sequential loop, loops of the block or none
--       for k = 1, i - 1 do b[j][k] = b[j][k] + a[i][k] * b[j][i] end    -- the lane
--     for i_block, in steps of 2 do for j do
--       if i_block + 1 <= n and 1 <= i_block - 1 then
--         s0 = b[j][i_block]; s1 = b[j][i_block + 1]
--         for k = 1, i_block - 1 do b[j][k] = b[j][k] + a[i_block][k] * s0; b[j][k] = b[j][k] + ... * s1 end
--         for k = i_block, i_block do b[j][k] = b[j][k] + a[i_block + 1][k] * s1 end   -- what the others do not have
--       else for i = i_block, min(i_block + 1, n) do ... end end
-- @module clcompute.loops.generation.jamming

local analysis = require "clcompute.loops.analysis.jamming"
local rewrite = require "clcompute.loops.tree.rewrite"
local strides = require "clcompute.loops.tree.strides"

local jamming = {}

local changed = rewrite.changed
local CLASSES = { loops = true, sunk = true } -- of tiles; others keep sums in registers, or have no loop within
local FASTEST = 4 -- elements that a lane grows by in a pass: what only some passes have of it is not done in vectors

-- --- which loops -----------------------------------------------------------------------------

--- Whether a lane's bounds are the same in all passes of a loop, or grow evenly and slowly.
local function is_even(lane, loop)
  if not strides.is_bounded_by(lane, loop.variable) then return true end
  local from, to = strides.multiple(lane.from, loop.variable), strides.multiple(lane.to, loop.variable)
  return lane.step == 1 and from and to and math.max(math.abs(from), math.abs(to)) * math.abs(loop.step) <= FASTEST
end

--- A sequential loop and the loops nested in it perfectly, the lane last; nil where it is not like this.
local function chain_of(node)
  if node.kind ~= "for" or node.parallel then return nil end
  local chain = { node }
  repeat
    node = #node.body == 1 and node.body[1] or {}
    if node.kind ~= "for" or not node.parallel then return nil end
    chain[#chain + 1] = node
    if node.is_plain then return is_even(node, chain[1]) and chain or nil end
  until strides.is_bounded_by(node, chain[1].variable)
end

local function is_fixed(index, variable)
  for _, subscript in ipairs(index.subscripts) do
    if strides.multiple(subscript, variable) ~= 0 then return false end
  end
  return true
end

--- Whether some element that a lane assigns is the same in all passes of the sequential loop.
local function is_kept(chain)
  local is_own = {}
  for _, node in ipairs(chain[#chain].body) do
    local target = node.target
    if node.kind == "local" then is_own[node.variable] = true end
    if target and target.array and is_fixed(target, chain[1].variable) then return true end
    if target and not target.array and not is_own[target.variable] then return true end
  end
  return false
end

--- The reads that are done before a lane, which stand in its `common`.
local function early_of(lane)
  local early = {}
  for _, common in ipairs(lane.common) do
    for node in pairs(common.nodes) do early[node] = true end
  end
  return early
end

-- --- nodes -----------------------------------------------------------------------------------

local function name_of(variable)
  return { kind = "name", type = variable.type, variable = variable }
end

local function plus(node, value)
  if value == 0 then return node end
  local number = { kind = "number", type = "int", value = value }
  return { kind = "binary", op = "+", type = "int", left = node, right = number }
end

local function binary(op, left, right)
  return { kind = "binary", op = op, type = "bool", left = left, right = right }
end

--- Whether one bound is not beyond another one, in the direction of a loop.
local function is_reached(left, right, step)
  return binary(step > 0 and "<=" or ">=", rewrite.bound(left), rewrite.bound(right))
end

--- Of two values of a loop's variable the one that comes first.
local function earlier(left, right, step)
  return { kind = "call", name = step > 0 and "min" or "max", type = "int",
    arguments = { rewrite.bound(left), rewrite.bound(right) } }
end

-- --- copies of a pass ------------------------------------------------------------------------

--- The lane in a pass of the block: its `from`, `to`, `body` and `common`.
local function pass_of(lane, loop, block, number)
  local other = { [loop.variable] = plus(name_of(block), number * loop.step) }
  local function at(node)
    return rewrite.expression(node, function(part) return part.kind == "name" and other[part.variable] or nil end)
  end
  local function rename(variable)
    local own = changed(variable, { id = ("%s_pass%d"):format(variable.id, number) })
    other[variable] = name_of(own)
    return own
  end
  local pass = { from = at(lane.from), to = at(lane.to), common = {}, body = {} }
  for i, common in ipairs(lane.common) do
    pass.common[i] = { value = at(common.value), variable = rename(common.variable) }
  end
  for i, node in ipairs(lane.body) do
    local value = at(node.value)
    pass.body[i] = changed(node, { value = value, variable = node.kind == "local" and rename(node.variable),
      target = node.kind == "assign" and at(node.target) })
  end
  return pass
end

local function append(list, other)
  table.move(other, 1, #other, #list + 1, list)
end

--- What all passes of a block have of the lane: its first and last pass.
local function shared_range(lane, loop, passes)
  local first, last = passes[1], passes[#passes]
  if loop.step < 0 then first, last = last, first end
  return (strides.multiple(lane.from, loop.variable) > 0 and last or first).from,
    (strides.multiple(lane.to, loop.variable) < 0 and last or first).to
end

--- The lane for all passes of a block at once. Where its bounds grow, what only some passes have of it comes after
-- that, pass by pass; then there is a condition under which all of them have some of it.
local function together(lane, loop, passes)
  local from, to = shared_range(lane, loop, passes)
  local body, common, rest = {}, {}, {}
  local function add_rest(pass, first, last)
    rest[#rest + 1] = changed(lane, { from = first, to = last, body = pass.body, common = {},
      is_independent = false })
  end
  for _, pass in ipairs(passes) do
    append(body, pass.body)
    append(common, pass.common)
    if pass.from ~= from then add_rest(pass, pass.from, plus(from, -1)) end
    if pass.to ~= to then add_rest(pass, plus(to, 1), pass.to) end
  end
  if #rest == 0 then return { changed(lane, { body = body, common = common }) } end
  local result = {}
  for i, read in ipairs(common) do
    result[i] = changed(read.value, { kind = "local", variable = read.variable, value = read.value })
  end
  result[#result + 1] = changed(lane, { from = from, to = to, body = body, common = {} })
  append(result, rest)
  return result, is_reached(from, to, 1)
end

--- A sequential loop in blocks of passes.
local function jam(chain, count)
  local loop, lane = chain[1], chain[#chain]
  local block, passes = changed(loop.variable, { id = loop.variable.id .. "_block" }), {}
  for number = 0, count - 1 do passes[number + 1] = pass_of(lane, loop, block, number) end
  local first, last = name_of(block), plus(name_of(block), (count - 1) * loop.step)
  local all, has_all = together(lane, loop, passes)
  local is_whole = is_reached(last, loop.to, loop.step)
  local body = { { kind = "if",
    arms = { { condition = has_all and binary("and", is_whole, has_all) or is_whole, body = all } },
    otherwise = { changed(loop, { from = first, to = earlier(last, loop.to, loop.step), body = { lane } }) } } }
  for i = #chain - 1, 2, -1 do body = { changed(chain[i], { body = body }) } end
  return changed(loop, { variable = block, step = count * loop.step, body = body })
end

--- Jams the passes of a nest's sequential loops where that is right and spares loads and stores.
-- @tparam table tiles of `clcompute.loops.generation.tiling`; their `body` becomes another one, and they get `jams`:
-- a list of `loop`, the variable of a sequential loop, with `passes`, or the `obstacle` why it goes pass by pass
-- @tparam table scop of `clcompute.loops.analysis.scop`
-- @tparam integer count of passes; 1: none are jammed
function jamming.apply(tiles, scop, count)
  tiles.jams = {}
  if count == 1 or not CLASSES[tiles.class] then return end
  tiles.body = rewrite.statements(tiles.body, function(node)
    local chain = chain_of(node)
    if not chain or not is_kept(chain) then return nil end
    local obstacle = analysis.obstacle(scop, chain, early_of(chain[#chain]), count)
    tiles.jams[#tiles.jams + 1] = { loop = node.variable, passes = count, obstacle = obstacle }
    return not obstacle and jam(chain, count) or nil
  end)
end

return jamming
