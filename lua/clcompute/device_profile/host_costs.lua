-- SPDX-License-Identifier: MIT

--- What the host waits for, by its own clock: a launch, a transfer, a compile. Three experiments.

local curve = require "clcompute.device_profile.curve"
local format = require("clcompute.base").format
local internal = require "clcompute.core.internal"

local launch, transfers, compile = {}, {}, {}

-- --- launches: waited for each time, or many in the queue and then one wait ------------

local COUNTS = { 1, 2, 4, 8, 16, 32, 64, 128, 256 }
local QUICK_COUNTS = { 1, 4 }

local SAVES = 1.5 -- a wait is worth saving where a launch with it takes half as long again

--- What the time of a launch over the launches before a wait says, in words.
function launch.read(rows)
  local points = curve.of(rows, "params.launches", "each")
  if #points < 2 then return { curve.TOO_FEW } end
  local first, last = points[1], points[#points]
  local measured = ("A launch that is waited for takes %s; of %d in the queue each takes %s."):format(
    curve.seconds_text(first.y), last.x, curve.seconds_text(last.y))
  if first.y < SAVES * last.y then
    return { measured, "Waiting costs little here: what a launch takes is its own." }
  end
  return { measured, ("Waiting only at the end saves %.0f %%; work that takes much less than a launch should be put "
    .. "into one."):format(100 * (1 - last.y / first.y)) }
end

function launch.measure(lab)
  local device, kernel = lab.device, lab:kernel "probe_nothing"
  local out <close> = device:zeros("uint", 1)
  local group = math.min(64, device.max_group_size)
  local range, list = { global = { group }, group = { group } }, {}
  for i, count in ipairs(lab:choose(COUNTS, QUICK_COUNTS)) do
    list[i] = {
      name = ("%d launches, one wait"):format(count), params = { launches = count }, operations = count,
      run = function()
        for value = 1, count do kernel(range, value, out) end
        device:wait()
      end,
      check = function() return out[1] == count end,
    }
  end
  local rows = lab:walls(list)
  local points = curve.of(rows, "params.launches", "each")
  local found = #points > 1 and { launch_waited = points[1].y, launch_queued = points[#points].y } or nil
  return { curve.section {
    rows = rows, x = "params.launches", xtitle = "launches before a wait", y = "each", ytitle = "time of a launch",
    yunit = "s", xlog = 2, ylog = 10, reading = launch.read(rows),
    how = ("A kernel of one group of %d that stores one number is launched so many times and then waited for, by the "
      .. "host's clock."):format(group),
  } }, found
end

launch.name = "launch"
launch.title = "What a launch costs"
launch.teaches = "The scheduler works off the index space of a kernel before what follows is begun: each launch has a "
  .. "beginning and an end of its own, however little it does (source 4, 1.3)."

-- --- transfers: copied by the driver, and mapped into the host's address space -----------

local WORD = 4 -- bytes
local SIZES, QUICK_SIZES = { 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24 }, { 1 << 12 }
local SHARE = 16 -- of the memory, at most
local HALF = 0.5 -- of the best rate: from there on a transfer is worth its call

-- How bytes travel, as functions of a buffer and what it holds or shall hold.
local WAYS = {
  { name = "to the device, copied", move = function(buffer, bytes)
    buffer:write(bytes)
    buffer.device:wait()
  end },
  { name = "to the device, mapped", move = function(buffer, bytes) internal.write_mapped(buffer, bytes) end },
  { name = "to the host, copied", reads = true, move = function(buffer) return buffer:string() end },
  { name = "to the host, mapped", reads = true, move = function(buffer) return internal.read_mapped(buffer) end },
}

--- What the curve of one way says: the best rate, the smallest size that reaches half of it, the time of the smallest.
-- @tparam table rows of one way, over `params.bytes`, with `rate`
-- @treturn ?table `bytes_per_second`, `half`, `seconds`; nil where nothing was measured
function transfers.summary(rows)
  local rates = curve.of(rows, "params.bytes", "rate")
  local best = curve.highest(rates)
  if not best then return nil end
  return { bytes_per_second = best.y, half = curve.arrival(rates, HALF), seconds = curve.time(rates[1].row) }
end

--- What the curves say, in words.
-- @tparam table rows of all ways
-- @tparam boolean is_unified whether host and device share their memory, by the driver's word
-- @treturn table sentences
function transfers.read(rows, is_unified)
  local sentences = {}
  for _, way in ipairs(WAYS) do
    local found = transfers.summary(curve.only(rows, "params.way", way.name))
    sentences[#sentences + 1] = found and ("%s: up to %s, half of it from %s on; the smallest takes %s."):format(
      way.name:gsub("^%l", string.upper), format.engineering(found.bytes_per_second, "B/s"),
      format.size(found.half), format.engineering(found.seconds, "s"))
      or way.name:gsub("^%l", string.upper) .. ": could not be measured."
  end
  if is_unified then
    sentences[#sentences + 1] = "Host and device share their memory here: nothing travels but from memory to memory."
  end
  return sentences
end

local function row_of(lab, way, buffer, bytes)
  local result
  if way.reads then buffer:write(bytes) else buffer:fill(0) end -- what does not travel shall not be there already
  local row = lab:wall {
    name = ("%s, %s"):format(way.name, format.size(#bytes)), params = { way = way.name, bytes = #bytes },
    bytes = #bytes,
    run = function() result = way.move(buffer, bytes) end,
    check = function()
      local arrived = way.reads and result or buffer:string()
      return arrived == bytes, "other bytes arrived"
    end,
  }
  local time = curve.time(row)
  row.rate = time and #bytes / time
  return row
end

function transfers.measure(lab)
  local rows, device = {}, lab.device
  local most = math.min(device.max_allocation, device.global_memory // SHARE)
  for _, size in ipairs(lab:choose(SIZES, QUICK_SIZES)) do
    if size <= most then
      local buffer <close> = lab:random_words(size // WORD)
      local bytes = buffer:string()
      for _, way in ipairs(WAYS) do rows[#rows + 1] = row_of(lab, way, buffer, bytes) end
    end
  end
  local found = {}
  for _, way in ipairs(WAYS) do
    local summary = transfers.summary(curve.only(rows, "params.way", way.name))
    found[way.name] = summary and summary.bytes_per_second
  end
  return { {
    how = "By the host's clock, from and into strings of Lua: a string that is read is made anew, which is part of the "
      .. "time. Mapped is to map the buffer, copy its bytes there or from there, and unmap it, on ordinary buffers; "
      .. "scripts have no mapped memory, so clcompute does this for the measurement alone.",
    rows = rows, reading = transfers.read(rows, device.unified_memory),
    columns = { { key = "params.way", title = "way" },
      { key = "params.bytes", title = "size", format = format.size, align = "right" },
      { key = "value", title = "transfer" }, { key = { "q1", "q3" }, title = "quartiles" },
      { key = "rate", title = "bytes a second", unit = "B/s" } },
    chart = { kind = "line", x = "params.bytes", y = "rate", series = "params.way", xlog = 2, ylog = 10, yunit = "B/s",
      xtitle = "size, bytes", ytitle = "bytes a second" },
  } }, { transfers = found }
end

transfers.name = "transfers"
transfers.title = "Transfers between host and device"
transfers.teaches = "Code of the host can neither read nor write local memory (source 4, 4.7): what it gives to "
  .. "kernels travels to global memory, and what they give back from there."

-- --- compiling: a text never seen before, and one from the caches ------------------------

local STATEMENTS, QUICK_STATEMENTS = { 1, 10, 100 }, { 1, 4 }
local RUNS = 2 -- a compile takes long, and what was built stays in the cache folder
local KEPT = 1.5 -- times that a compile must take longer than a text from the caches
local SHIFT = 15
local MASK = 0xffffffff

local unseen = 0

--- A constant that no program had before: of the clock, and a count.
local function new_seed()
  unseen = unseen + 1
  return (os.time() << 12 | unseen & 0xfff) & MASK
end

--- A kernel of so many statements, none of which a compiler can leave out or join with the next.
local function source(statements, seed)
  local lines = { "__kernel void mix(__global uint *out) {", ("  uint x = get_global_id(0) + %du;"):format(seed) }
  for i = 1, statements do lines[#lines + 1] = ("  x = (x ^ (x >> %d)) * %du;"):format(SHIFT, 2 * i + 1) end
  lines[#lines + 1] = "  out[get_global_id(0)] = x;\n}"
  return table.concat(lines, "\n")
end

--- What its first work-item computes.
local function expected(statements, seed)
  local x = seed
  for i = 1, statements do x = (x ~ x >> SHIFT) * (2 * i + 1) & MASK end
  return x
end

--- The points of a series, "never seen" or "from the caches".
local function points_of(rows, series)
  return curve.of(curve.only(rows, "series", series), "params.statements")
end

--- What the two curves say, in words.
function compile.read(rows)
  local cold, warm = points_of(rows, "never seen"), points_of(rows, "from the caches")
  if #cold < 2 or #warm < 2 then return { curve.TOO_FEW } end
  local most = cold[#cold]
  local again = curve.at(warm, most.x)
  local sentences = { ("A program of one statement that was never seen takes %s up to its first result, one of %d "
    .. "statements %s."):format(curve.seconds_text(cold[1].y), most.x, curve.seconds_text(most.y)) }
  if again then
    sentences[2] = ("A text that was built before takes %s: %s."):format(curve.seconds_text(again),
      most.y > KEPT * again and "what was compiled is kept"
      or "little of it is kept, or compiling is not what takes the time")
  end
  return sentences
end

--- Builds, launches once and waits.
local function build_and_run(device, text, out)
  device:program(text).mix(1, out):wait()
end

local function point(lab, statements, series, out)
  local kept, seed = new_seed(), nil
  return {
    name = ("%d statements, %s"):format(statements, series), params = { statements = statements },
    run = function()
      seed = series == "never seen" and new_seed() or kept
      build_and_run(lab.device, source(statements, seed), out)
    end,
    check = function() return out[1] == expected(statements, seed) end,
  }
end

function compile.measure(lab)
  local out <close> = lab.device:zeros("uint", 1)
  local list, series = {}, {}
  for _, statements in ipairs(lab:choose(STATEMENTS, QUICK_STATEMENTS)) do
    for _, name in ipairs { "never seen", "from the caches" } do
      list[#list + 1], series[#series + 1] = point(lab, statements, name, out), name
    end
  end
  local rows = lab:walls(list, RUNS)
  for i, row in ipairs(rows) do row.series = series[i] end
  return { curve.section {
    how = ("A kernel of so many statements is built, launched with one work-item and waited for, by the host's clock, "
      .. "%d times. A text never seen has another constant each time; the other is the same each time."):format(RUNS),
    rows = rows, x = "params.statements", xtitle = "statements", ytitle = "build and first launch", yunit = "s",
    series = "series", series_title = "text", xlog = 10, ylog = 10, reading = compile.read(rows),
  } }
end

compile.name = "compile"
compile.title = "What compiling costs"
compile.teaches = "A kernel is a program that is compiled for the device it runs on (source 4, 1.7.1), when it is "
  .. "built; this library and most drivers keep what they compiled."

return { launch = launch, transfers = transfers, compile = compile }
