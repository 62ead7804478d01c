-- SPDX-License-Identifier: MIT

--- The facts of a profile on one page: what was read off the curves, and what no curve showed.

local curve = require "clcompute.device_profile.curve"
local format = require("clcompute.base").format

local NOT_VISIBLE = "not visible on this device"
local DTYPES = { "float", "double", "half", "int" }

local function flops(found)
  local words = {}
  for _, dtype in ipairs(DTYPES) do
    local rate = found.flops and found.flops[dtype]
    local unit = dtype == "int" and "OP/s" or "FLOP/s"
    if rate then words[#words + 1] = ("%s %s"):format(dtype, format.engineering(rate, unit)) end
  end
  return #words > 0 and table.concat(words, ", ") or nil
end

local function copy(found)
  if not found.peak then return nil end
  return ("%s, buffers of %s, best of several runs"):format(format.engineering(found.peak.bytes_per_second, "B/s"),
    format.size(found.peak_buffer))
end

local function levels(list, key, unit)
  local words = {}
  for i, level in ipairs(list or {}) do
    words[i] = ("%s %s"):format(level.level, curve.level_text(level[key], level.low, level.high, unit))
  end
  return #words > 0 and table.concat(words, ", ") or nil
end

local function bandwidth(found)
  return levels(found.bandwidth, "bytes_per_second", "B/s")
end

local function latency(found)
  return levels(found.latency, "seconds", "s")
end

local function transaction(found)
  return found.transaction and found.transaction .. " bytes"
end

local function transfers(found)
  local words = {}
  for way, rate in pairs(found.transfers or {}) do
    words[#words + 1] = ("%s %s"):format(way, format.engineering(rate, "B/s"))
  end
  table.sort(words)
  return #words > 0 and table.concat(words, "; ") or nil
end

local function local_memory(found)
  if found.local_is_memory == nil then return nil end
  local kind = found.local_is_memory and "ordinary memory, by the driver's word" or "a memory of its own"
  local rate = found.local_bytes_per_second
  return rate and ("%s, read at %s"):format(kind, format.engineering(rate, "B/s")) or kind
end

local function group(found)
  if not found.group then return nil end
  return found.wavefront and ("multiples of %d, from %d on"):format(found.wavefront, found.group)
    or ("from %d on"):format(found.group)
end

local function launch(found)
  if not found.launch_waited then return nil end
  return ("%s waited for, %s in a queue"):format(format.engineering(found.launch_waited, "s"),
    format.engineering(found.launch_queued, "s"))
end

-- What is told, the experiment that looks for it, and how its fact reads.
local FACTS = {
  { "operations a second", "peaks", flops },
  { "memory, copied or updated", "peaks", copy },
  { "memory, read, by level", "working_set", bandwidth },
  { "a read waited for, by level", "working_set", latency },
  { "memory moves at once", "coalescing", transaction },
  { "wavefront", "divergence", function(found) return found.wavefront and found.wavefront .. " work-items" end },
  { "banks of local memory", "bank_conflicts", function(found) return found.banks and tostring(found.banks) end },
  { "local memory", "local_memory", local_memory },
  { "good groups (saxpy)", "group_size", group },
  { "a load that is waited for", "latency_hiding", function(found)
    return found.load_latency and format.engineering(found.load_latency, "s")
  end },
  { "arithmetic binds from", "latency_hiding", function(found)
    return found.knee and ("%.0f operations for each load"):format(found.knee)
  end },
  { "a launch", "launch", launch },
  { "transfers, at best", "transfers", transfers },
}

--- The section of a report.
-- @tparam table profile
-- @treturn table
return function(profile)
  local done, rows = {}, {}
  for _, experiment in ipairs(profile.experiments) do done[experiment.name] = true end
  for _, fact in ipairs(FACTS) do
    local name, by, text = table.unpack(fact)
    if done[by] then rows[#rows + 1] = { name = name, fact = text(profile.found) or NOT_VISIBLE, by = by } end
  end
  return {
    title = "Summary", rows = rows,
    columns = { { key = "name", title = "" }, { key = "fact", title = "measured", wrap = true },
      { key = "by", title = "by the experiment" } },
  }
end
