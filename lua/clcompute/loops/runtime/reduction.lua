-- SPDX-License-Identifier: MIT

--- A nest that reduces on one device: its kernels, the memory for the parts that its groups leave, and how many groups
-- there are. That depends on the device and the passes of the loops alone, so results are the same at every call.
-- @module clcompute.loops.runtime.reduction

local reduction = {}

local Reduction = {}
Reduction.__index = Reduction

local GROUPS_PER_UNIT = 4 -- more than units, as a triangle's groups have more and less to do
local MOST_LANES = 256

--- How a device reduces: one work-item in a group on a processor, where each barrier costs a loop over the group.
-- @tparam Device device
-- @tparam integer accumulators the most that a nest has: each needs local memory
-- @treturn table `lanes`, the work-items of a group, and `groups`, the most of these
function reduction.shape(device, accumulators)
  local groups = GROUPS_PER_UNIT * device.compute_units
  if device.type == "cpu" then return { lanes = 1, groups = groups } end
  local lanes = MOST_LANES
  while lanes > 1 and (lanes > device.max_group_size or 8 * lanes * accumulators > device.local_memory // 2) do
    lanes = lanes // 2
  end
  return { lanes = lanes, groups = groups }
end

--- The options of the build that go with a shape.
function reduction.options(shape)
  return (" -DLANES=%d"):format(shape.lanes)
end

--- A nest on a device.
-- @tparam table nest with `accumulators` and `has_result`
-- @tparam Program program with its kernels
-- @tparam Device device
-- @tparam table shape
-- @string real the dtype of floats, "float" or "double"
-- @treturn table `kernel`; `result`, the second one, or nil, and `single`, its range; `parts`, a buffer for each
-- accumulator
function reduction.new(nest, program, device, shape, real)
  local parts = {}
  for i, accumulator in ipairs(nest.accumulators) do
    parts[i] = device:empty(accumulator.type == "int" and "long" or real, shape.groups)
  end
  return setmetatable({ kernel = program:kernel(nest.name), parts = parts, shape = shape,
    result = nest.has_result and program:kernel(nest.name .. "_result") or nil,
    single = { global = { shape.lanes }, group = { shape.lanes } } }, Reduction)
end

--- Shares passes out to groups: a group for each pass of the outer dimensions as long as there are groups, and what is
-- left of them in dimension 0.
-- @tparam {integer,...} counts passes by dimension, dimension 0 first, all above 0
-- @treturn table the range of the launch
-- @treturn integer how many groups there are
function Reduction:share(counts)
  local lanes, left = self.shape.lanes, self.shape.groups
  local global, group, parts = {}, {}, 1
  for d = #counts, 1, -1 do
    local most = d == 1 and -(-counts[d] // lanes) or counts[d]
    local groups = math.min(most, left)
    left, parts, group[d] = left // groups, parts * groups, d == 1 and lanes or 1
    global[d] = groups * group[d]
  end
  return { global = global, group = group }, parts
end

--- What the groups found, in their order.
-- @tparam integer number of the accumulator
-- @tparam integer count of groups
-- @treturn {number,...}
function Reduction:found(number, count)
  return self.parts[number]:view(1, count):read()
end

return reduction
