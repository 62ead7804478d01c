-- SPDX-License-Identifier: MIT

--- Banks of local memory: reads whose addresses fall into one bank are served one after the other. The number of
-- banks is read off the time over the stride between neighbouring work-items.

local TableReads = require "clcompute.device_profile.table_reads"
local curve = require "clcompute.device_profile.curve"
local statistics = require("clcompute.base").statistics

local MOST_STRIDE = 65
local SOME_STRIDES = { 1, 2, 4, 8, 16, 32, 33, 64 }
local QUICK_STRIDES = { 1, 2, 32 }
local OTHER_TYPES = { "float2", "float4", "uchar", "short" }
local SHARE = 1 / 8 -- of the time of a point: there are many, and conflicts make them take several times as long

-- More than 64 cannot be seen by strides up to 65.
local CANDIDATES = { 4, 8, 16, 32, 64 }
local LEAST_POINTS = 32
local UNEXPLAINED = 0.1 -- at most, of the variation, by a law that is taken for true,
local CLEARLY = 0.5     -- and of what the next best leaves
local AS_MUCH = 0.75 -- of what a float costs: a narrow type that is not cheaper
local SERIAL, HALF_SERIAL = 2, 1.3 -- times as long with all reads in one bank, and in two

local function gcd(a, b)
  while b ~= 0 do a, b = b, a % b end
  return a
end

local bank_conflicts = {}

--- The median of the points whose strides meet a bank so many times, or nil.
local function median_at(points, banks, times)
  local values = {}
  for _, point in ipairs(points) do
    if point.x > 0 and gcd(point.x, banks) == times then values[#values + 1] = point.y end
  end
  return values[1] and statistics.median(values)
end

--- Whether the cost rises up to the stride of so many banks, so that no single slow point passes for a conflict.
local function is_serial(points, banks)
  local odd, half, all = median_at(points, banks, 1), median_at(points, banks, banks // 2),
    median_at(points, banks, banks)
  return odd and half and all and half >= HALF_SERIAL * odd and all >= math.max(SERIAL * odd, half)
end

--- The number of banks, by the law that reads of stride s cost a + b gcd(s, banks).
-- @tparam table rows of float reads, over `params.stride`
-- @treturn ?integer nil where no such law is clear
function bank_conflicts.banks(rows)
  local points = {}
  for _, point in ipairs(curve.of(rows, "params.stride")) do
    if point.x > 0 then points[#points + 1] = point end
  end
  if #points < LEAST_POINTS then return nil end
  local best, next_best = curve.law(points, CANDIDATES, gcd)
  if best.b <= 0 or best.unexplained > UNEXPLAINED or best.unexplained > CLEARLY * next_best then return nil end
  return is_serial(points, best.candidate) and best.candidate or nil
end

--- What the strides say, in words: beside the median of odd strides, which are free of conflicts.
-- @tparam table rows of float reads
-- @tparam boolean is_memory whether local memory is a piece of the global one
-- @treturn table sentences
function bank_conflicts.read_strides(rows, is_memory)
  local points, banks = curve.of(rows, "params.stride"), bank_conflicts.banks(rows)
  local odd, broadcast, worst = median_at(points, 2, 1), curve.at(points, 0), curve.highest(points)
  if not odd or #points < 3 then return { curve.TOO_FEW } end
  local sentences = {}
  if banks then
    sentences[1] = ("A stride of %d or its multiples takes %.1f times the median of the odd ones, and the time of "
      .. "all strides s follows the greatest common divisor of s and %d: so there are %d banks of 4 bytes%s. Odd "
      .. "strides are free of conflicts.")
      :format(banks, median_at(points, banks, banks) / odd, banks, banks,
        banks == CANDIDATES[#CANDIDATES] and ", or more, which strides up to 65 cannot tell" or "")
  else
    sentences[1] = ("No banks are visible: the slowest stride, %d, takes %.2f times the median of the odd ones, and "
      .. "the times follow no greatest common divisor with a number of banks."):format(worst.x, worst.y / odd)
    if is_memory then
      sentences[1] = sentences[1] .. " The driver says that local memory is ordinary memory here: it comes from the "
        .. "caches of a core."
    end
  end
  if broadcast then
    sentences[2] = ("When all work-items read one address, that takes %.2f times that median%s."):format(
      broadcast / odd, banks and broadcast < SERIAL * odd
        and ": one read is handed to all, although all are of one bank" or "")
  end
  return sentences
end

--- What reads of each type cost with stride 1, in words.
-- @tparam table rows of all types, over `params.stride`, with `each`
-- @tparam ?integer banks
-- @treturn table sentences
function bank_conflicts.read_types(rows, banks)
  local each, parts = {}, {}
  for _, row in ipairs(rows) do
    if row.params.stride == 1 and curve.time(row) then each[row.params.type] = row.each end
  end
  if not each.float then return { "Reads of float could not be measured, to which the others would be compared." } end
  for _, name in ipairs(OTHER_TYPES) do
    if each[name] then parts[#parts + 1] = ("of %s %.2f"):format(name, each[name] / each.float) end
  end
  if #parts == 0 then return { "No other type could be measured." } end
  local sentences = { ("With stride 1 a read of float counts as 1, %s."):format(table.concat(parts, ", ")) }
  if not banks then
    sentences[2] = "As no banks are visible, that is what the compiler and the caches make of each type."
  elseif each.uchar then
    sentences[2] = each.uchar > AS_MUCH * each.float
      and "A byte costs as much as four: read wider types, and take them apart in registers."
      or "A byte costs less than four here."
  end
  return sentences
end

--- Rows of one type over strides.
local function sweep(lab, type, strides)
  local rows = {}
  local failed = lab:try({ name = type, params = { type = type } }, function()
    local reads <close> = TableReads.new(lab, type, "local")
    reads:fit_size()
    for i, stride in ipairs(strides) do
      rows[i] = reads:row(("%s, stride %d"):format(type, stride), { type = type, stride = stride }, stride)
    end
  end)
  rows[#rows + 1] = failed
  return rows
end

local function all_strides()
  local strides = {}
  for stride = 0, MOST_STRIDE do strides[#strides + 1] = stride end
  return strides
end

local function section(title, how, rows, reading)
  return curve.section {
    title = title, how = how, rows = rows, reading = reading, x = "params.stride", series = "params.type",
    series_title = "type", xtitle = "stride between neighbours, elements", y = "each", ytitle = "time of a read",
    yunit = "s",
  }
end

local function measure(whole_lab)
  local lab = whole_lab:brief(SHARE)
  local floats = sweep(lab, "float", lab:choose(all_strides(), QUICK_STRIDES))
  local types = {}
  for _, row in ipairs(floats) do
    for _, stride in ipairs(SOME_STRIDES) do
      if row.params.stride == stride then types[#types + 1] = row end
    end
  end
  for _, type in ipairs(OTHER_TYPES) do
    local rows = sweep(lab, type, lab:choose(SOME_STRIDES, QUICK_STRIDES))
    table.move(rows, 1, #rows, #types + 1, types)
  end
  local banks = bank_conflicts.banks(floats)
  local is_memory = lab.device.local_memory_type == "global"
  return {
    section("float, every stride", TableReads.how(lab) .. " Work-item i of a group begins at entry i times the "
      .. "stride; with stride 0 all read the same.", floats, bank_conflicts.read_strides(floats, is_memory)),
    section("wide and narrow types", "The same, of a table of as many bytes: a read is one of the type, of float4 16 "
      .. "bytes at once, of uchar one.", types, bank_conflicts.read_types(types, banks)),
  }, { banks = banks }
end

bank_conflicts.name = "bank_conflicts"
bank_conflicts.title = "Banks of local memory"
bank_conflicts.teaches = "Local memory is dealt out to banks, word by word, and each serves one request in a cycle: "
  .. "reads of several addresses in one bank wait for each other, those of one address are answered together, and a "
  .. "byte or a short costs as much as four bytes (source 4, 4.7)."
bank_conflicts.measure = measure

return bank_conflicts
