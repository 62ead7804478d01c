-- SPDX-License-Identifier: MIT
--- Lesson 3: buffers, and what they cost. Typed numbers in the device's memory, the ways there and back, and saxpy
-- (source 1, listing 1), which computes so little that it is as fast as the memory.

local bench = require "clcompute.bench"
local cl = require "clcompute"
local report = require "clcompute.report"
local sequential = require "clcompute.sequential"
local device = cl.device()

-- A buffer is typed: a float has 24 bits of precision, whatever Lua's numbers have.
local v = device:buffer { 0.1, 0.2, 0.3 }
print(("v is a %s buffer of %d, %d bytes; 0.1 became %.12f"):format(v.dtype, #v, v.bytes, v[1]))
assert(v[1] == string.unpack("f", string.pack("f", 0.1)))

-- What does not fit is refused before it does harm.
local ok, message = pcall(function() return device:buffer({ 1, 2.5 }, "int") end)
assert(not ok)
print("refused: " .. message)

-- Three ways to the same 1,048,576 results: a kernel of one's own, the library's, plain loops on one core.
local n, alpha = 1 << 20, 3.0
local x, y = device:random("float", n, { seed = 1 }), device:random("float", n, { seed = 2 })
local out = device:empty("float", n)
local program = device:program [[
  kernel void saxpy1(const float alpha, global const float *x, global const float *y, global float *out) {
    const int i = get_global_id(0);
    out[i] = alpha * x[i] + y[i];
  }
]]
local packed_x, packed_y = x:string(), y:string()
local expected = sequential.saxpy(alpha, packed_x, packed_y)
local doubles = {}
for i = 1, n do doubles[i] = string.pack("d", (string.unpack("f", expected, 4 * i - 3))) end
doubles = table.concat(doubles)

--- The error as a share of its bound: multiplication and addition round once each, on either side.
local function check()
  return sequential.relative_error(out:string(), doubles) / (4 * 2.0 ^ -24)
end

--- The loops say themselves how long they took, without what it costs to pass strings to them.
local function loops()
  local result, seconds = sequential.saxpy(alpha, packed_x, packed_y)
  return seconds, result
end

-- Measured in turns, so that what slows the machine for a while slows all of them.
local rows = bench.compare({
  { name = "a kernel of one's own", device = device, bytes = 12 * n, check = check,
    fn = function() program.saxpy1(n, alpha, x, y, out) end },
  { name = "cl.saxpy", device = device, bytes = 12 * n, check = check,
    fn = function() cl.saxpy(alpha, x, y, { out = out }) end },
  { name = "plain loops on one core", device = "one core", bytes = 12 * n, timed = true, fn = loops,
    check = function(result) return result == expected end },
  { name = "x to the device: write", device = device, bytes = 4 * n, fn = function() x:write(packed_x) end },
  { name = "out to the host: string", device = device, bytes = 4 * n, fn = function() return out:string() end },
}, { seconds = 0.2, peak = false })
for _, row in ipairs(rows) do
  if row.status ~= "ok" or row.checked == false then error(row.reason or row.name .. " is wrong") end
  row.ms = row.value * 1e3
end
print("\n" .. report.text({ title = "A million elements", rows = rows, columns = { { key = "name" },
  { key = "ms", title = "time, ms" }, { key = "gbs", title = "GB/s" },
  { key = "ratio", title = "time by the first's" } } }))
print "saxpy does two operations for twelve bytes: the way to the data costs more than the work on them."
