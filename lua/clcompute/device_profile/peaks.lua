-- SPDX-License-Identifier: MIT

--- The most that the device does: the peaks of `clcompute.bench`, of every dtype.
-- @module clcompute.device_profile.peaks

local peak_bandwidth = require "clcompute.bench.peak_bandwidth"
local peak_flops = require "clcompute.bench.peak_flops"

local DTYPES = { "float", "double", "half", "int" }
local SHARE = 4 -- times the seconds of a point: a peak is the best of several runs

local peaks = {}

--- Why a dtype has no peak on a device, or nil.
local function lack(device, dtype)
  if dtype ~= "double" and dtype ~= "half" or device["has_" .. dtype] then return nil end
  return ("no %s on this device"):format(dtype)
end

--- A row of a rate, which f returns.
local function rate_row(lab, name, unit, f)
  local why = lack(lab.device, name)
  if why then return { name = name, params = {}, unit = unit, status = "unsupported", reason = why } end
  return lab:try({ name = name }, function()
    return { name = name, params = {}, device = lab.device.name, value = f(), unit = unit, checked = true,
      status = "ok" }
  end)
end

--- The rates by name of those rows that were measured.
function peaks.rates(rows)
  local rates = {}
  for _, row in ipairs(rows) do
    if row.status == "ok" and row.value > 0 then rates[row.name] = row.value end
  end
  return rates
end

--- What the rates say, in words.
function peaks.read(flops, bytes_per_second)
  local sentences = {}
  if flops.float and flops.double then
    sentences[1] = ("Double does %.2g times as many operations a second as float."):format(flops.double / flops.float)
  end
  if flops.float and bytes_per_second then
    sentences[#sentences + 1] = ("While it moves a byte to or from memory, the device has time for %.3g operations of "
      .. "float: algorithms that do fewer are bound by memory."):format(flops.float / bytes_per_second)
  end
  if #sentences == 0 then sentences[1] = "Too little could be measured to say anything." end
  return sentences
end

local function section(title, rows, unit, ytitle, reading)
  return {
    title = title, rows = rows, reading = reading,
    columns = { { key = "name" }, { key = "value", title = ytitle } },
    chart = { kind = "bar", x = "name", y = "value", yunit = unit, ytitle = ytitle },
  }
end

local function measure(lab)
  local operations, seconds = {}, SHARE * lab.seconds
  for i, dtype in ipairs(DTYPES) do
    operations[i] = rate_row(lab, dtype, "FLOP/s", function() return peak_flops(lab.device, dtype, seconds) end)
  end
  local bytes = { rate_row(lab, "copy", "B/s", function() return (peak_bandwidth(lab.device, seconds)) end) }
  local flops, rates = peaks.rates(operations), peaks.rates(bytes)
  local sections = {
    section("multiply-adds", operations, "FLOP/s", "operations a second",
      { "A multiply-add counts as two operations; those of int are of integers, and no FLOP." }),
    section("memory", bytes, "B/s", "bytes a second", peaks.read(flops, rates.copy)),
  }
  if not (flops.float and rates.copy) then return sections end
  return sections, { flops = flops, peak = { flops = flops.float, bytes_per_second = rates.copy, dtype = "float" } }
end

peaks.name = "peaks"
peaks.title = "Peaks"
peaks.teaches = "Each lane of a compute unit can finish a multiply-add a cycle, of double fewer; the memory moves far "
  .. "fewer numbers in that time (source 4, introduction and 1.6)."
peaks.measure = measure

return peaks
