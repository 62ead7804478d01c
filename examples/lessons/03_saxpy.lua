-- SPDX-License-Identifier: MIT
--- Lesson 3: buffers, and what they cost. Typed numbers in the device's memory, the ways there and back, and saxpy
-- (source 1, listing 1), which computes so little that it is as fast as the memory.

local bench = require "clcompute.bench"
local cl = require "clcompute"
local sequential = require "clcompute.sequential"
local device = cl.device()

-- A buffer is typed: a float has 24 bits of precision, whatever Lua's numbers have.
local v = device:buffer { 0.1, 0.2, 0.3 }
print(("v is a %s buffer of %d, %d bytes; 0.1 became %.12f"):format(v.dtype, #v, v.bytes, v[1]))
assert(v[1] == string.unpack("f", string.pack("f", 0.1)))

-- What does not fit is refused before it does harm.
local ok, message = pcall(device.buffer, device, { 1, 2.5 }, "int")
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

local function show(row)
  if row.status ~= "ok" or row.checked == false then error(row.reason or row.name .. " is wrong") end
  print(("%-28s %8.3f ms %8.2f GB/s"):format(row.name, row.value * 1e3, row.gbs))
end

local function measure(name, bytes, fn, checked)
  show(bench.measure(fn, { name = name, device = device, bytes = bytes, check = checked, seconds = 0.2, peak = false }))
end

print "\na million elements                 time       rate"
measure("a kernel of one's own", 12 * n, function() program.saxpy1(n, alpha, x, y, out) end, check)
measure("cl.saxpy", 12 * n, function() cl.saxpy(alpha, x, y, { out = out }) end, check)
measure("to the device: write", 4 * n, function() x:write(packed_x) end)
measure("to the host: string", 4 * n, function() return out:string() end)
print "saxpy does two operations for twelve bytes: the way to the data costs more than the work on them."
