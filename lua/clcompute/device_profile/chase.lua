-- SPDX-License-Identifier: MIT

--- Loads that wait for each other (kernels/probe_chase.cl), with as many groups, registers and as much local memory as
-- an experiment wants: what is measured is how well others hide the wait.
-- @module clcompute.device_profile.chase

local cl = require "clcompute"
local format = require("clcompute.base").format

local Chase = {}
Chase.__index = Chase

-- Of the number of elements: 64 MiB exceed most caches of a core, 256 MiB those of a GPU.
local CPU_BITS, GPU_BITS, QUICK_BITS = 24, 26, 10
local GROUP = 64
local STRIDE = 7919 -- elements, odd, between the starts of neighbouring groups
local ADVANCE = 0x9e3779b1 -- elements between the starts of launches: odd, and far
local FACTOR, SUMMAND = 1664525, 1013904223 -- of kernels/probe_table.cl
local MASK = 0xffffffff

--- Work-items of a group: on a processor one, since each would walk by itself, the others what it left in the cache.
local function group_of(device)
  return device.type == "cpu" and 1 or math.min(GROUP, device.max_group_size)
end

--- @tparam table lab
-- @tparam integer groups the most that a launch will have
function Chase.new(lab, groups)
  local device = lab.device
  local bits = lab:choose(device.type == "cpu" and CPU_BITS or GPU_BITS, QUICK_BITS)
  while 4 << bits > math.min(device.max_allocation, device.global_memory // 16) do bits = bits - 1 end
  local self = setmetatable({ lab = lab, group = group_of(device), first = 0 }, Chase)
  self.mask = (1 << bits) - 1
  self.next = device:empty("uint", 1 << bits)
  self.out = device:empty("uint", groups * self.group)
  lab:kernel "probe_table"({ global = { 1 << bits }, group = { math.min(GROUP, device.max_group_size) } }, self.mask,
    1, self.next)
  return self
end

--- How its launches walk, in words.
-- @treturn string
function Chase:how()
  return ("Each group of %d walks through a table of %s, all its work-items the same way: x = next[x], so that each "
    .. "load waits for the one before."):format(self.group, format.size(4 * (self.mask + 1)))
end

function Chase.__close(self)
  self.next:release()
  self.out:release()
end

--- What a work-item computes, step for step.
local function walk(self, item, loops, registers)
  local x, r = self.first + item // self.group * STRIDE & self.mask, {}
  for j = 0, registers - 1 do r[j] = j end
  for _ = 1, loops do
    for j = 0, registers - 1 do
      x = (FACTOR * x + SUMMAND) & self.mask
      r[j] = r[j] + x & MASK
    end
  end
  local sum = 0
  for j = 0, registers - 1 do sum = sum * 3 + r[j] & MASK end
  return sum * 3 + x & MASK
end

--- The first and the last item of a launch; those between walk no other way than these two kinds.
local function check(self, items, loops, registers)
  for _, item in ipairs { 0, items - 1 } do
    local found, right = self.out:get(item + 1), walk(self, item, loops, registers)
    if found ~= right then return false, ("element %d is %d, not %d"):format(item + 1, found, right) end
  end
  return true
end

--- A function launch(loops), which walks that many times `registers` steps.
-- @tparam table how `groups`; `registers` (8) that an item keeps; `scratch`, elements of local memory of a group (as
--  many as it has items)
function Chase:launcher(how)
  local range = { global = { how.groups * self.group }, group = { self.group } }
  local scratch = cl.scratch("uint", how.scratch or self.group)
  return function(loops)
    local kernel = self.lab:kernel("probe_chase", { REGISTERS = how.registers or 8 })
    self.first = self.first + ADVANCE & self.mask
    return kernel(range, loops, self.first, self.group, STRIDE, self.mask, self.next, self.out, scratch)
  end
end

--- A launch as the lab's `times` takes it; its operations are the steps of its groups.
-- @tparam table how as above, with `name`, `params` and `loops`
function Chase:point(how)
  local registers, launch = how.registers or 8, self:launcher(how)
  return {
    name = how.name, params = how.params, operations = how.groups * how.loops * registers,
    launch = function() return launch(how.loops) end,
    check = function() return check(self, how.groups * self.group, how.loops, registers) end,
  }
end

return Chase
