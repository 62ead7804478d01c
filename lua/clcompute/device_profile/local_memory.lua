-- SPDX-License-Identifier: MIT

--- Local memory beside the other places that a work-item may keep a value in: registers, and global memory behind
-- its caches.

local TableReads = require "clcompute.device_profile.table_reads"
local curve = require "clcompute.device_profile.curve"

local PLACES = {
  { name = "registers", space = "registers", stride = 1 },
  { name = "local memory", space = "local", stride = 1 },
  { name = "local memory, one address", space = "local", stride = 0 },
  { name = "global memory, cached", space = "global", stride = 1 },
  { name = "global memory, one address", space = "global", stride = 0 },
}

local SAME = 1.5 -- times: below that two places are taken to be as fast as each other

local KINDS = {
  ["local"] = "a memory of its own",
  global = "a piece of ordinary memory",
  none = "not there",
}

local local_memory = {}

--- How much faster a is than b, in words.
local function compare(a, b)
  if a >= SAME * b then return ("%.1f times as fast as"):format(a / b) end
  if b >= SAME * a then return ("%.1f times slower than"):format(b / a) end
  return "as fast as"
end

--- Bytes a second by the name of the place, of what could be measured.
local function rates(rows)
  local list = {}
  for _, row in ipairs(rows) do
    local time = curve.time(row)
    if time and row.bytes then list[row.name] = row.bytes / time end
  end
  return list
end

--- What the rates say, in words.
-- @tparam table rows
-- @tparam string kind of local memory: "local", "global" or "none"
-- @treturn table sentences
function local_memory.read(rows, kind)
  local rate = rates(rows)
  local registers, own, one = rate["registers"], rate["local memory"], rate["local memory, one address"]
  local cached = rate["global memory, cached"]
  local sentences = { ("By the driver's word local memory is %s."):format(KINDS[kind] or kind) }
  if not own then
    sentences[2] = "Its speed could not be measured."
    return sentences
  end
  if cached then
    sentences[#sentences + 1] = ("Reads of local memory are %s those of the same array in global memory, which the "
      .. "caches hold%s."):format(compare(own, cached), kind == "global" and own < SAME * cached
        and ": copying to local memory what a cache holds anyway gains nothing here" or "")
  end
  if registers and registers >= SAME * own then
    sentences[#sentences + 1] = ("The same additions of values in registers are %.1f times as fast as of those in "
      .. "local memory: registers are faster at least by that."):format(registers / own)
  elseif registers then
    sentences[#sentences + 1] = "The same additions of values in registers are no faster to speak of: here the "
      .. "additions bind, not the reads, and how much faster registers are does not show."
  end
  if one then
    sentences[#sentences + 1] = ("Reads of one address by all work-items are %s those of neighbouring addresses.")
      :format(compare(one, own))
  end
  return sentences
end

local function row_of(lab, place)
  return lab:try({ name = place.name }, function()
    local reads <close> = TableReads.new(lab, "float", place.space)
    reads:fit_size()
    return reads:row(place.name, { space = place.space, stride = place.stride }, place.stride)
  end)
end

local function measure(lab)
  local rows, kind = {}, lab.device.local_memory_type
  for i, place in ipairs(PLACES) do
    rows[i] = row_of(lab, place)
    local time = curve.time(rows[i])
    rows[i].rate = time and rows[i].bytes / time
  end
  return { {
    how = TableReads.how(lab) .. " Of registers it is the same few values again and again. The additions are the same "
      .. "in every row, and no row can be faster than they are; 'Levels of memory' reads whole vectors, with fewer "
      .. "instructions for each byte, and may be faster.",
    rows = rows, reading = local_memory.read(rows, kind),
    columns = { { key = "name", title = "place" }, { key = "rate", title = "bytes added up", unit = "B/s" },
      { key = "value", title = "launch" }, { key = { "q1", "q3" }, title = "quartiles" } },
    chart = { kind = "bar", x = "name", y = "rate", yunit = "B/s", ytitle = "bytes added up, by all work-items" },
  } }, { local_is_memory = kind == "global", local_bytes_per_second = rows[2].rate }
end

local_memory.name = "local_memory"
local_memory.title = "Local memory, caches and registers"
local_memory.teaches = "On an HD 5870 local memory has 14 times the bandwidth of global memory, and registers have six "
  .. "times that of local memory; to copy data to local memory pays where they are used again (source 4, 4.7)."
local_memory.measure = measure

return local_memory
