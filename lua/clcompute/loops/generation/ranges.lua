-- SPDX-License-Identifier: MIT

--- The range of a kernel nest: some of its parallel loops (its band), each of which has a dimension of the range.

local trip_counts = require("clcompute.loops.analysis").trip_counts
local walk = require("clcompute.loops.tree").walk

local ranges = {}

local MOST_DIMENSIONS = 3

-- A parallel loop of few passes leaves most of a wide device (no processor) idle: then reductions of many passes in it
-- are shared out, one after the other, at the cost of two launches each.
local FEW, MANY = 8, 1 << 14
-- Where a loop sums where data say, and a loop in it has so many times as many passes: then launches for each pass,
-- whose loop is shared out, take less time than a work-item for each. A parallel loop is one launch, sums where data
-- say are some, and the host waits for a reduction: on an H200 both took equally long at 20, 130 to 250, 700 to 1100.
local PARALLEL, SUMS, REDUCTION = 32, 256, 1024

-- Work-groups by number of dimensions. On a processor they are the same whatever the range, because POCL compiles a
-- kernel again for each size; what they are too large by, the kernel leaves out.
local GROUPS = { { 64 }, { 64, 4 }, { 32, 4, 2 } }

--- Whether all reductions of a loop are among some.
local function are_among(reductions, list)
  local is_there = {}
  for _, reduction in ipairs(list) do is_there[reduction.node] = true end
  for _, reduction in ipairs(reductions) do
    if not is_there[reduction.node] then return false end
  end
  return true
end

--- Whether a loop within a nest can be shared out with the nest's first loop.
local function belongs(node, first)
  if node.kind ~= "for" or node.irregular then return false end
  if node.parallel then return true end
  if first.scattered or first.logged then return node.scattered ~= nil or node.logged ~= nil end
  return not first.parallel and node.reductions and are_among(node.reductions, first.reductions)
end

--- The loops nested in each other with nothing in between that are shared out, the outermost first, and the largest
-- count of each. A loop whose largest count is not known ends the band; those that reduce have no dimension to share.
function ranges.band_of(node)
  local band, most = { node }, node.parallel and math.huge or MOST_DIMENSIONS
  local counts = trip_counts.counts(band)
  while #node.body == 1 and #band < most and belongs(node.body[1], band[1]) do
    node = node.body[1]
    band[#band + 1] = node
    local further = trip_counts.counts(band)
    if not further then
      band[#band] = nil
      break
    end
    counts = further
  end
  return band, counts
end

--- Whether an expression grows or shrinks by 1 when a variable grows by 1.
local function is_unit(node, variable)
  if node.kind == "name" then return node.variable == variable end
  if node.kind == "unary" and node.op == "-" then return is_unit(node.operand, variable) end
  if node.kind == "binary" and (node.op == "+" or node.op == "-") then
    return is_unit(node.left, variable) ~= is_unit(node.right, variable)
  end
  return false
end

--- How many accesses in a nest go through memory one by one as a loop goes on.
local function unit_accesses(node, loop)
  local count, variable = 0, loop.variable
  walk.node(node, function(part)
    if part.kind ~= "index" then return end
    local last = #part.subscripts
    for dimension = 1, last - 1 do
      if walk.mentions(part.subscripts[dimension], variable) then return end
    end
    if is_unit(part.subscripts[last], variable) then count = count + 1 end
  end)
  return count
end

--- Which loop's iterations are neighbours: the one with most accesses of unit stride, of equals the innermost.
local function neighbours(band)
  local best, most = #band, -1
  for i = #band, 1, -1 do
    local count = unit_accesses(band[1], band[i])
    if count > most then best, most = i, count end
  end
  return best
end

--- Band loops to dimensions: dimension 0 to the neighbours, then from the innermost outwards; what is beyond the third
-- dimension shares it.
local function places_of(band)
  local places, best = {}, neighbours(band)
  places[band[best]] = { dimension = 0 }
  local dimension, outermost = 1, nil
  for i = #band, 1, -1 do
    if i ~= best then
      places[band[i]] = { dimension = math.min(dimension, MOST_DIMENSIONS - 1), shared = #band > MOST_DIMENSIONS
        and dimension >= MOST_DIMENSIONS - 1 }
      outermost = band[i]
      dimension = dimension + 1
    end
  end
  if outermost then places[outermost].outermost = true end
  return places
end

--- Whether a loop that is sequential but for its reductions is to become a nest that reduces: not where a loop in it is
-- parallel, as that gives work-items without any sums to put together.
function ranges.reduces(node)
  if node.parallel or not node.reductions then return false end
  local band, is_shared, has_parallel = ranges.band_of(node), {}, false
  for _, loop in ipairs(band) do is_shared[loop] = true end
  walk.nodes(band[#band].body, function(part)
    if part.kind == "for" and part.parallel and not is_shared[part] then has_parallel = true end
  end)
  return not has_parallel
end

--- Whether a loop sums in elements of which data say where they are.
local function sums_where_data_say(node)
  if node.scattered or node.logged then return true end
  return walk.find(node.body, function(part) return part.atomic ~= nil end) ~= nil
end

--- Whether all loops among statements of the host can be shared out: none is left to it, or to one work-item.
local function are_nests(nodes)
  for _, node in ipairs(nodes) do
    local is_loop = node.kind == "for"
    if is_loop and not (node.parallel or node.scattered or node.logged or ranges.reduces(node)) then return false end
    for _, body in ipairs(is_loop and {} or walk.bodies(node)) do
      if not are_nests(body) then return false end
    end
  end
  return true
end

--- How many times as many passes as the loop around it a loop must have, so that it is shared out instead; nil where
-- that is not for sums of which data say where they are.
local function times_of(node, has_sums, is_wide)
  if node.kind ~= "for" then return nil end
  if node.parallel then return has_sums and PARALLEL or nil end
  if is_wide and (node.scattered or node.logged) then return SUMS end
  return has_sums and ranges.reduces(node) and REDUCTION or nil
end

--- When a loop had better stay on the host, because it has few passes and a loop in it can be shared out.
-- @tparam table node its `for` node, which is parallel or sums where data say
-- @tparam boolean is_wide whether the device needs many work-items
-- @treturn ?table `condition`, a Lua expression of a call's numbers and of `wide`, and `words`, the same in words;
-- `node`, the loop in it. nil: never
function ranges.few_passes(node, is_wide)
  if #ranges.band_of(node) > 1 then return nil end
  local has_sums = sums_where_data_say(node)
  for _, inner in ipairs(node.body) do
    local times = times_of(inner, has_sums, is_wide)
    local may_be = times or not has_sums and inner.kind == "for" and ranges.reduces(inner)
    local counts = may_be and trip_counts.counts { node, inner }
    if counts and times and (math.tointeger(counts[2]) or times) >= times then
      return are_nests(node.body) and { node = inner,
        condition = ("wide and %d * %s <= %s"):format(times, counts[1], counts[2]),
        words = ("on a GPU %s has %d times as many passes as %s"):format(inner.variable.name, times,
          node.variable.name) } or nil
    elseif counts and not times then
      return { node = inner, condition = ("wide and %s <= %d and %s >= %d"):format(counts[1], FEW, counts[2], MANY),
        words = ("on a GPU %s has at most %d passes and %s %d or more"):format(node.variable.name, FEW,
          inner.variable.name, MANY) }
    end
  end
end

--- Notes at the loops of a nest that are reductions their `place`: they are "shared" out, or stay in one "work-item".
local function place_reductions(kernel)
  walk.node(kernel.node, function(part)
    if part.kind == "for" and part.reductions then part.place = kernel.mapping[part] and "shared" or "work-item" end
  end)
end

--- Adds to a kernel nest its `band`, `counts`, `mapping` and `group`; one that is neither parallel nor a reduction nor
-- in wavefronts or pipelines has no band.
function ranges.add_mapping(kernel)
  if kernel.wavefront then
    kernel.band, kernel.counts = kernel.wavefront.band, trip_counts.counts(kernel.wavefront.band)
  elseif kernel.behind then
    kernel.band = { kernel.node, kernel.node.body[1] }
    kernel.counts = trip_counts.counts(kernel.band)
  elseif kernel.node.parallel or kernel.accumulators or kernel.scattered or kernel.logged then
    kernel.band, kernel.counts = ranges.band_of(kernel.node)
  else
    kernel.band, kernel.counts, kernel.mapping, kernel.group = {}, {}, {}, { 1 }
    return
  end
  kernel.mapping = places_of(kernel.band)
  kernel.group = GROUPS[math.min(#kernel.band, MOST_DIMENSIONS)]
  place_reductions(kernel)
end

return ranges
