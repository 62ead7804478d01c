-- SPDX-License-Identifier: MIT

--- The most that the device does: the peaks of `clcompute.bench`, of every dtype.

local bench = require "clcompute.bench"
local format = require("clcompute.base").format

local DTYPES = { "float", "double", "half", "int" }
local COPY = "copy or update"
local SHARE = 4 -- times the seconds of a point: a peak is the best of several runs

local peaks = {}

--- Why a dtype has no peak on a device, or nil.
local function lack(device, dtype)
  if dtype ~= "double" and dtype ~= "half" or device["has_" .. dtype] then return nil end
  return ("no %s on this device"):format(dtype)
end

--- A row of a rate, which f returns, and perhaps the bytes of a buffer.
local function rate_row(lab, name, unit, f)
  local why = lack(lab.device, name)
  if why then return { name = name, params = {}, unit = unit, status = "unsupported", reason = why } end
  return lab:try({ name = name }, function()
    local rate, bytes = f()
    return { name = name, params = { bytes = bytes }, device = lab.device.name, value = rate, unit = unit,
      checked = true, status = "ok" }
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

local function section(title, how, rows, unit, ytitle, reading)
  return {
    title = title, how = how, rows = rows, reading = reading,
    columns = { { key = "name" }, { key = "value", title = ytitle } },
    chart = { kind = "bar", x = "name", y = "value", yunit = unit, ytitle = ytitle },
  }
end

local function operations_section(rows)
  return section("multiply-adds", "Each work-item replaces a dozen vectors x by a x + b again and again; none waits "
    .. "for another. A multiply-add counts as two operations. Shown is the best of several runs: a peak is what the "
    .. "device can do, where all other times of the profile are medians.", rows, "OP/s", "operations a second",
    { "The operations of float, double and half are FLOP, those of int are of integers." })
end

local function memory_section(rows, reading)
  local made = section("memory", "A kernel copies a buffer of the size in the table to another, or changes the signs "
    .. "of one in place; what is read and what is written counts. Shown is the faster of the two, in the best of "
    .. "several runs.", rows, "B/s", "bytes a second", reading)
  table.insert(made.columns, 2, { key = "params.bytes", title = "buffer", format = format.size, align = "right" })
  return made
end

local function measure(lab)
  local operations, seconds = {}, SHARE * lab.seconds
  for i, dtype in ipairs(DTYPES) do
    operations[i] = rate_row(lab, dtype, "OP/s", function()
      return bench.peak(lab.device, { dtype = dtype, only = "flops", seconds = seconds }).flops
    end)
  end
  local moved = rate_row(lab, COPY, "B/s", function()
    local peak = bench.peak(lab.device, { only = "bytes_per_second", seconds = seconds })
    return peak.bytes_per_second, peak.buffer
  end)
  local flops, bytes_per_second = peaks.rates(operations), peaks.rates({ moved })[COPY]
  local sections = { operations_section(operations), memory_section({ moved }, peaks.read(flops, bytes_per_second)) }
  if not (flops.float and bytes_per_second) then return sections end
  return sections, { flops = flops, peak_buffer = moved.params.bytes,
    peak = { flops = flops.float, bytes_per_second = bytes_per_second, dtype = "float" } }
end

peaks.name = "peaks"
peaks.title = "Peaks"
peaks.teaches = "Each lane of a compute unit can finish a multiply-add a cycle, of double fewer; the memory moves far "
  .. "fewer numbers in that time (source 4, introduction and 1.6)."
peaks.measure = measure

return peaks
