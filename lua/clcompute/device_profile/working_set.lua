-- SPDX-License-Identifier: MIT

--- The levels of memory, by the size of what is swept again and again: bytes a second, and the latency of a read.

local Stream = require "clcompute.device_profile.stream"
local chain = require "clcompute.device_profile.chain"
local curve = require "clcompute.device_profile.curve"
local format = require("clcompute.base").format

local LEAST, QUICK_MOST = 4096, 16384 -- bytes
local SLOWER = 0.8 -- of the rate of reads: writes that are said to be slower
local BETWEEN = "between"
local LEVELS = "The level of a size stands in its row; what is between two is on the way from one to the next. A size "
  .. "that was slower than a larger one is taken to be disturbed, and to be as fast as that."
local SHARE = 1 / 2 -- of the time of a point: there are many
local RUN_SHARE = 1 / 5 -- of the seconds of a point, for a launch

local working_set = {}

--- What a plateau between two sizes is called: "up to 32 KiB", "128 KiB to 1 MiB", "from 64 MiB".
local function level_text(level, least, most)
  local is_first, is_last = level.from == least, level.to == most
  if is_last and not is_first then return "from " .. format.size(level.from) end
  if is_first and not is_last then return "up to " .. format.size(level.to) end
  return ("%s to %s"):format(format.size(level.from), format.size(level.to))
end

--- The points of a curve without what disturbed them: a piece fits wherever a larger one does, so it is no slower.
-- @tparam table points with x rising; they are changed
-- @tparam function better math.max of rates, math.min of times
local function undisturbed(points, better)
  local best
  for i = #points, 1, -1 do
    best = better(points[i].y, best or points[i].y)
    points[i].y = best
  end
  return points
end

local function levels(rows, y, better, key)
  local points, named = undisturbed(curve.of(rows, "params.bytes", y), better), {}
  local list = curve.plateaus(points)
  for i, level in ipairs(list) do
    named[i] = { level = level_text(level, points[1].x, points[#points].x), from = level.from, to = level.to,
      [key] = level.value, low = level.low, high = level.high }
  end
  return named
end

--- The levels of memory that the bytes a second show.
-- @tparam table rows over `params.bytes`, with `rate`
-- @treturn table a list of { level=, from=, to=, bytes_per_second=, low=, high= }, the fastest first
function working_set.bandwidths(rows)
  return levels(rows, "rate", math.max, "bytes_per_second")
end

--- Those that the latency shows.
-- @tparam table rows over `params.bytes`, with `each`
-- @treturn table a list of { level=, from=, to=, seconds=, low=, high= }
function working_set.latencies(rows)
  return levels(rows, "each", math.min, "seconds")
end

local function list_text(list, key, unit)
  local parts = {}
  for i, level in ipairs(list) do
    parts[i] = ("%s %s"):format(level.level, curve.level_text(level[key], level.low, level.high, unit))
  end
  return table.concat(parts, ", ")
end

--- Tells each row the level of its size, or that it is between two.
local function add_levels(rows, list)
  for _, row in ipairs(rows) do
    row.level = curve.time(row) and BETWEEN or nil
    for _, level in ipairs(list) do
      local bytes = row.params.bytes
      if row.level and bytes >= level.from and bytes <= level.to then row.level = level.level end
    end
  end
end

--- What the bytes a second say, in words.
function working_set.read_bandwidth(rows)
  local list = working_set.bandwidths(rows)
  if #list == 0 then return { curve.TOO_FEW } end
  if #list == 1 then
    return { ("All sizes are read at about %s: no cache shows."):format(format.engineering(list[1].bytes_per_second,
      "B/s")) }
  end
  return { ("The curve has %d levels: %s."):format(#list, list_text(list, "bytes_per_second", "B/s")),
    LEVELS,
    ("What fits the fastest is read %.1f times as fast as what fits none."):format(list[1].bytes_per_second
      / list[#list].bytes_per_second) }
end

--- What the latency says, in words.
function working_set.read_latency(rows)
  local list = working_set.latencies(rows)
  if #list == 0 then return { curve.TOO_FEW } end
  return { ("One work-item waits for a read: %s. The places come in a scattered order, a line of the cache apart, so "
    .. "beyond the reach of the translation look-aside buffer the look-up of an address is part of it.")
    :format(list_text(list, "seconds", "s")), LEVELS }
end

--- What reads, writes and copies of the largest piece say, in words.
-- @tparam table rows named "read", "write", "copy", with `rate`
-- @tparam[opt] number peak bytes a second, of the experiment "peaks"
-- @tparam[opt] integer buffer its bytes
-- @treturn table sentences
function working_set.read_sweeps(rows, peak, buffer)
  local rate, parts = {}, {}
  for _, row in ipairs(rows) do
    if curve.time(row) then
      rate[row.name] = row.rate
      parts[#parts + 1] = ("%s %s"):format(row.name, format.engineering(row.rate, "B/s"))
    end
  end
  if #parts == 0 then return { "None could be measured." } end
  local sentences = { ("Over %s: %s; a copy is counted as its read and its write."):format(
    format.size(rows[1].params.bytes), table.concat(parts, ", ")) }
  if rate.read and rate.write and rate.write < SLOWER * rate.read then
    sentences[2] = "Writes are slower than reads, as where a line is fetched before it is written to."
  end
  if rate.copy and peak and (rate.copy < SLOWER * peak or peak < SLOWER * rate.copy) then
    sentences[#sentences + 1] = ("The peak of memory is another measurement, %s: the best of several runs over "
      .. "buffers of %s, where these are medians, and perhaps of an update in place, which fetches no line "
      .. "that it does not need.")
      :format(format.engineering(peak, "B/s"), format.size(buffer))
  end
  return sentences
end

local function add_rate(row)
  local time = curve.time(row)
  row.rate = time and row.bytes / time
  return row
end

--- Rows over sizes from `least` to `most`; launches become shorter where they would last.
local function over_sizes(lab, meter, method, least, most)
  local rows, bytes = {}, least
  while bytes <= most do
    local row = meter[method](meter, bytes)
    rows[#rows + 1] = row
    local time = curve.time(row)
    if time then meter:shorten(time, lab.seconds * RUN_SHARE) end
    bytes = 2 * bytes
  end
  return rows
end

local function section(title, how, rows, key, unit, name, reading)
  local made = curve.section {
    title = title, how = how, rows = rows, reading = reading, x = "params.bytes", xtitle = "working set, bytes",
    xlog = 2, y = key, ytitle = name, yunit = unit, ylog = 10,
  }
  made.columns[1].format, made.columns[1].align = format.size, "right"
  made.columns[#made.columns + 1] = { key = "level", title = "level" }
  return made
end

local function measure(whole_lab)
  local lab = whole_lab:brief(SHARE)
  local most = lab:choose(lab:beyond_caches(), QUICK_MOST)
  local sweeps <close> = Stream.new(lab, most)
  local least = math.max(LEAST, sweeps:least())
  sweeps:fit_size(least)
  local reads, whole = over_sizes(lab, sweeps, "read", least, most), {}
  for _, row in ipairs(reads) do add_rate(row) end
  for i, operation in ipairs { "read", "write", "copy" } do whole[i] = add_rate(sweeps:sweep(operation, most)) end
  local walks <close> = chain.links(lab, sweeps.out)
  walks:fit_size(walks:least())
  local how_latency = walks:how() -- before walks become shorter
  local latency = over_sizes(lab, walks, "row", walks:least(), most)
  local bandwidths, latencies = working_set.bandwidths(reads), working_set.latencies(latency)
  add_levels(reads, bandwidths)
  add_levels(latency, latencies)
  local peak = lab.found.peak and lab.found.peak.bytes_per_second
  local sections = {
    section("reads", sweeps:how(), reads, "rate", "B/s", "bytes a second", working_set.read_bandwidth(reads)),
    { title = "read, write and copy", rows = whole,
      reading = working_set.read_sweeps(whole, peak, lab.found.peak_buffer),
      how = ("The largest piece is swept once: its %s are read, written, or copied to another buffer."):format(
        format.size(most)),
      columns = { { key = "name" }, { key = "value", title = "launch" }, { key = { "q1", "q3" }, title = "quartiles" },
        { key = "rate", title = "bytes a second", unit = "B/s" } },
      chart = { kind = "bar", x = "name", y = "rate", yunit = "B/s", ytitle = "bytes a second" } },
    section("latency", how_latency, latency, "each", "s", "latency", working_set.read_latency(latency)),
  }
  return sections, { bandwidth = bandwidths, latency = latencies }
end

working_set.name = "working_set"
working_set.title = "Levels of memory"
working_set.teaches = "A cache watches the addresses and keeps what was used last, without being told, where local "
  .. "memory holds what the kernel puts there (source 4, 4.7)."
working_set.measure = measure

return working_set
