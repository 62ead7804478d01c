-- SPDX-License-Identifier: MIT

--- The rule of Baranov & Vlatskaya 2013 for the best group size: the smallest common multiple of the preferred
-- multiple and the cores of a compute unit that exceeds the cores of the device.

local group_rule = {}

-- Cores (lanes of single precision) of a compute unit, by a pattern of the vendor and one of the device's name, the
-- first that fits. OpenCL cannot be asked. From the vendors' descriptions of their architectures.
local CORES = {
  { "NVIDIA", "Quadro RTX", 64 }, { "NVIDIA", "TITAN RTX", 64 }, { "NVIDIA", "RTX 20", 64 }, -- Turing
  { "NVIDIA", "GTX 16", 64 }, { "NVIDIA", "T4$", 64 },
  { "NVIDIA", "TITAN V", 64 }, { "NVIDIA", "V100", 64 }, -- Volta
  { "NVIDIA", "P100", 64 }, { "NVIDIA", "A100", 64 }, { "NVIDIA", "A30$", 64 },
  { "NVIDIA", "[BH][12]00", 128 }, { "NVIDIA", "RTX", 128 }, { "NVIDIA", "L4", 128 }, -- Blackwell, Hopper, Ada, Ampere
  { "NVIDIA", "A[1246]0?$", 128 }, { "NVIDIA", "A16$", 128 },
  { "NVIDIA", "TITAN Xp?", 128 }, { "NVIDIA", "GTX 10", 128 }, { "NVIDIA", "GTX 9", 128 }, -- Pascal, Maxwell
  { "NVIDIA", "GTX 75", 128 },
  { "NVIDIA", "GTX TITAN", 192 }, { "NVIDIA", "GTX [67]", 192 }, { "NVIDIA", "K[1248]0", 192 }, -- Kepler
  { "NVIDIA", "GTX 4[678]0", 32 }, { "NVIDIA", "GTX 5[789]0", 32 }, { "NVIDIA", "GT[XS]? ?[45]%d%d", 48 }, -- Fermi
  { "NVIDIA", "Quadro FX", 8 }, -- Tesla
  { "Advanced Micro", "", 64 }, { "AMD", "", 64 }, -- GCN, RDNA
}

--- Cores of a compute unit of a device: a unit of a CPU is one.
-- @tparam Device device
-- @treturn ?integer nil where the table does not know it
function group_rule.cores(device)
  if device.type == "cpu" then return 1 end
  for _, row in ipairs(CORES) do
    if device.vendor:find(row[1], 1, true) and device.name:find(row[2]) then return row[3] end
  end
end

local function greatest_common_divisor(a, b)
  while b ~= 0 do a, b = b, a % b end
  return a
end

--- The rule itself.
-- @tparam integer multiple preferred multiple of the group size
-- @tparam integer cores of a compute unit
-- @tparam integer units
-- @treturn integer
function group_rule.group(multiple, cores, units)
  local common = multiple // greatest_common_divisor(multiple, cores) * cores
  return (cores * units // common + 1) * common
end

--- What the rule says for a device.
-- @tparam Device device
-- @tparam[opt] integer cores of a compute unit, where the caller knows better
-- @treturn table {multiple=, units=, cores=, total=, group=, limit= of the device, reason= why it does not carry over}
function group_rule.of(device, cores)
  cores = cores or group_rule.cores(device)
  local found = { multiple = device.group_multiple, units = device.compute_units, cores = cores,
    limit = device.max_group_size }
  if not cores then
    found.reason = "the cores of a compute unit are not known: tell them by cores="
    return found
  end
  found.total = cores * found.units
  found.group = group_rule.group(found.multiple, cores, found.units)
  if found.group > found.limit then
    found.reason = ("%d exceeds the largest group, %d: the rule does not carry over to %d cores")
      :format(found.group, found.limit, found.total)
  end
  return found
end

return group_rule
