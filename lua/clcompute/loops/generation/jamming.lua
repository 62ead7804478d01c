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

local affine = require("clcompute.loops.tree").affine
local ast = require("clcompute.loops.tree").ast
local bounds = require("clcompute.loops.tree").loop_bounds
local dependences = require("clcompute.loops.analysis").dependences
local isl_text = require("clcompute.loops.analysis").isl_text
local scops = require("clcompute.loops.analysis").scop
local walk = require("clcompute.loops.tree").walk

local jamming = {}

-- --- whether it is right -------------------------------------------------------------------
--
-- Passes of the loop within that were done one pass of the sequential loop after the other are each done for all of
-- them then, before the next one begins (unroll and jam, Allen and Cocke 1972).

local BUDGET = 1000000 -- isl's operations for a nest

--- Whether a proof about accesses is one about the chain: its loops are the scop's, no copies of what was written out,
-- and none within them was written out: copies of statements share nodes, and a read would stand for all of them.
local function are_of_chain(accesses, chain)
  local is_in_chain = {}
  for _, loop in ipairs(chain) do is_in_chain[loop.variable] = true end
  for _, access in ipairs(accesses) do
    local is_within = false
    for _, around in ipairs(access.statement.loops) do
      is_within = is_within or around.variable == chain[1].variable
      if is_within and not is_in_chain[around.variable] then return false end
    end
  end
  return #accesses > 0
end

--- That one pass of a loop is less than so many before another one.
local function is_shortly_before(loop, passes)
  local low, high = loop.variable.id .. "_earlier", loop.variable.id
  if loop.step < 0 then low, high = high, low end
  return ("%s < %s and %s <= %s + %d"):format(low, high, high, low, (passes - 1) * math.abs(loop.step))
end

--- That some of loops are in another pass; nil of no loops.
local function is_elsewhere(loops)
  local formulas = {}
  for i, loop in ipairs(loops) do formulas[i] = ("%s_earlier != %s"):format(loop.variable.id, loop.variable.id) end
  return #formulas > 0 and table.concat(formulas, " or ") or nil
end

--- When the order of two accesses, of an earlier and a later pass, is not kept; nil: it always is. What is read before
-- the lane must not have been written there by a pass that is jammed; who overwrites it comes after it, unless the
-- loops between the sequential one and the lane are in another pass.
local function is_reordered(from, to, chain, early)
  if early[to.node] then return "true" end
  local last = early[from.node] and #chain - 1 or #chain
  return is_elsewhere(table.move(chain, 2, last, 1, {}))
end

--- The pairs of accesses that may not touch the same element, each with what it would be.
local function pairs_of(scop, chain, accesses, early, passes)
  local list, ids, names, has = {}, {}, {}, {}
  for i, loop in ipairs(chain) do ids[i], names[i] = loop.variable.id, loop.variable.id .. "_earlier" end
  local order = is_shortly_before(chain[1], passes)
  local function add(from, to)
    local reordered = is_reordered(from, to, chain, early)
    if not reordered then return end
    local one = isl_text.renamed(isl_text.access(scop, from, #from.statement.loops), ids, "_earlier")
    local other = isl_text.access(scop, to, #to.statement.loops, { order, reordered }, names)
    if has[one .. other] then return end
    has[one .. other] = true
    list[#list + 1] = { one = one, other = other, array = from.variable, from = from, to = to,
      kind = not from.write and "anti" or to.write and "output" or "flow" }
  end
  for _, from in ipairs(accesses) do
    for _, to in ipairs(accesses) do
      if from.variable == to.variable and (from.write or to.write) then add(from, to) end
    end
  end
  return list
end

--- The reads that come before the lane for all passes, as they do not depend on it: nodes as keys. Where a node is no
-- longer the scop's, all reads of its array.
local function early_of(lane, accesses)
  local early, is_known = {}, {}
  for _, access in ipairs(accesses) do is_known[access.node] = true end
  local function add(node)
    early[node] = true
    for _, access in ipairs(is_known[node] and {} or accesses) do
      if access.variable == node.array and not access.write then early[access.node] = true end
    end
  end
  for _, common in ipairs(lane.common) do
    for _, node in ipairs(common.nodes) do add(node) end
  end
  return early
end

local function texts_of(list)
  local texts = {}
  for i, pair in ipairs(list) do texts[i] = { one = pair.one, other = pair.other } end
  return texts
end

--- Why passes of a sequential loop may not be jammed, or nil: isl proves that no result depends on it.
-- @tparam table scop of `clcompute.loops.analysis.scop`
-- @tparam {table,...} chain the sequential loop, and those nested in it perfectly, the lane last
-- @tparam integer passes that are jammed at most
-- @treturn ?string
local function obstacle_of(scop, chain, passes)
  local accesses = scops.accesses_in(scop, chain[1])
  if not are_of_chain(accesses, chain) then return "a loop in it or around it is written out" end
  local list = pairs_of(scop, chain, accesses, early_of(chain[#chain], accesses), passes)
  local found, reason = require "clcompute.poly".overlap { pairs = texts_of(list), budget = BUDGET }
  if found == nil then return reason end
  return found and dependences.describe(scop, list[found]) or nil
end

local changed = ast.changed
local CLASSES = { loops = true, sunk = true } -- of tiles; others keep sums in registers, or have no loop within
local FASTEST = 4 -- elements that a lane grows by in a pass: what only some passes have of it is not done in vectors

-- --- which loops -----------------------------------------------------------------------------

--- Whether a lane's bounds are the same in all passes of a loop, or grow evenly and slowly.
local function is_even(lane, loop)
  if not walk.is_bounded_by(lane, loop.variable) then return true end
  local from, to = affine.multiple(lane.from, loop.variable), affine.multiple(lane.to, loop.variable)
  return lane.step == 1 and from and to and math.max(math.abs(from), math.abs(to)) * math.abs(loop.step) <= FASTEST
end

--- A sequential loop and the loops nested in it perfectly, the lane last; nil where it is not like this.
local function chain_of(node)
  if node.kind ~= "for" or node.parallel or node.irregular then return nil end
  local chain = { node }
  repeat
    node = #node.body == 1 and node.body[1] or {}
    if node.kind ~= "for" or not node.parallel or node.irregular then return nil end
    chain[#chain + 1] = node
    if node.is_plain then return is_even(node, chain[1]) and chain or nil end
  until walk.is_bounded_by(node, chain[1].variable)
end

local function is_fixed(index, variable)
  for _, subscript in ipairs(index.subscripts) do
    if affine.multiple(subscript, variable) ~= 0 then return false end
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

-- --- copies of a pass ------------------------------------------------------------------------

--- The lane in a pass of the block: its `from`, `to`, `body` and `common`.
local function pass_of(lane, loop, block, number)
  local other = { [loop.variable] = bounds.plus(bounds.name(block), number * loop.step) }
  local function at(node)
    return walk.replaced(node, function(part) return part.kind == "name" and other[part.variable] or nil end)
  end
  local function rename(variable)
    local own = changed(variable, { id = ("%s_pass%d"):format(variable.id, number) })
    other[variable] = bounds.name(own)
    return own
  end
  local pass = { from = at(lane.from), to = at(lane.to), common = {}, body = {} }
  for i, common in ipairs(lane.common) do
    pass.common[i] = { value = at(common.value), variable = rename(common.variable) }
  end
  for i, node in ipairs(lane.body) do
    local value = at(node.value)
    pass.body[i] = changed(node, node.kind == "local" and { value = value, variable = rename(node.variable) }
      or { value = value, target = at(node.target) })
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
  local function growth(node) return affine.multiple(node, loop.variable) or 0 end -- nil: it does not speak of it
  return (growth(lane.from) > 0 and last or first).from, (growth(lane.to) < 0 and last or first).to
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
    if pass.from ~= from then add_rest(pass, pass.from, bounds.plus(from, -1)) end
    if pass.to ~= to then add_rest(pass, bounds.plus(to, 1), pass.to) end
  end
  if #rest == 0 then return { changed(lane, { body = body, common = common }) } end
  local result = {}
  for i, read in ipairs(common) do
    result[i] = ast.node("local", { variable = read.variable, value = read.value }, read.value)
  end
  result[#result + 1] = changed(lane, { from = from, to = to, body = body, common = {} })
  append(result, rest)
  return result, bounds.is_reached(from, to, 1)
end

--- A sequential loop in blocks of passes.
local function jam(chain, count)
  local loop, lane = chain[1], chain[#chain]
  local block, passes = changed(loop.variable, { id = loop.variable.id .. "_block" }), {}
  for number = 0, count - 1 do passes[number + 1] = pass_of(lane, loop, block, number) end
  local first, last = bounds.name(block), bounds.plus(bounds.name(block), (count - 1) * loop.step)
  local all, has_all = together(lane, loop, passes)
  local is_whole = bounds.is_reached(last, loop.to, loop.step)
  local arm = ast.node("arm", { body = all, condition = has_all and ast.node("binary", { op = "and", type = "bool",
    left = is_whole, right = has_all }) or is_whole })
  local rest = changed(loop, { from = first, to = bounds.earliest({ last, loop.to }, loop.step), body = { lane } })
  local body = { ast.node("if", { arms = { arm }, otherwise = { rest } }) }
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
  tiles.body = walk.replaced_statements(tiles.body, function(node)
    local chain = chain_of(node)
    if not chain or not is_kept(chain) then return nil end
    local obstacle = obstacle_of(scop, chain, count)
    tiles.jams[#tiles.jams + 1] = { loop = node.variable, passes = count, obstacle = obstacle }
    return not obstacle and jam(chain, count) or nil
  end)
end

return jamming
