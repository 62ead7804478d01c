-- SPDX-License-Identifier: MIT

--- Transfers between the host's memory and the device's, by their size: copied by the driver, and mapped into the
-- host's address space.
-- @module clcompute.device_profile.transfers

local curve = require "clcompute.device_profile.curve"
local format = require("clcompute.base").format
local internal = require "clcompute.core.internal"

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

local transfers = {}

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

local function measure(lab)
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
transfers.measure = measure

return transfers
