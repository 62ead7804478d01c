-- SPDX-License-Identifier: MIT
--- Lesson 1: hello, device. Which platforms and devices there are, a first kernel, and the words for the parts of a
-- device: with the numbers of the Radeon HD 5870 that source 4 describes, and of the device at hand.
-- (docs/lessons.md has the whole course and its sources.)

local cl = require "clcompute"
local report = require "clcompute.report"

for _, platform in ipairs(cl.platforms()) do
  print(("platform %s, %s"):format(platform.name, platform.version))
  for _, device in ipairs(platform.devices) do print("  device " .. tostring(device)) end
end

-- The best one, or the one that $CLCOMPUTE_DEVICE names.
local device = cl.device()
print("\nthis lesson runs on " .. device.name .. "\n")

-- 64 work-items run this text, each with another number.
local program = device:program [[
  kernel void hello(global int *squares) {
    const int i = get_global_id(0);
    squares[i] = i * i;
  }
]]
local squares = device:zeros("int", 64)
program.hello(64, squares)
for i, value in ipairs(squares:read()) do assert(value == (i - 1) ^ 2, "wrong square") end
print(("64 work-items squared their numbers: %s ... %d\n"):format(table.concat(squares:read(1, 5), " "), squares[64]))

-- --- the glossary's numbers -------------------------------------------------------------

local UNITS, STREAM_CORES, ELEMENTS = 20, 16, 5 -- source 4: of the HD 5870, of a unit, of a stream core (VLIW)
local CYCLES, WAVEFRONT = 4, 64 -- a stream core takes one instruction of a wavefront in so many cycles
local BANKS, BANK_BYTES, BANK_DEPTH, LDS_KIB = 32, 4, 256, 32
assert(STREAM_CORES * CYCLES == WAVEFRONT and BANKS * BANK_BYTES * BANK_DEPTH == LDS_KIB * 1024)

local UNTOLD = "OpenCL does not tell"

--- The preferred multiple of a group: a GPU's wavefront or warp; a CPU's driver says how many items it likes to take
-- at once.
local multiple = ("%d (preferred multiple of a group)"):format(device.group_multiple)

local rows = {
  { "compute units (NVIDIA: SMs)", UNITS, device.compute_units },
  { "stream cores of a unit", STREAM_CORES, UNTOLD },
  { "processing elements of a stream core (VLIW)", ELEMENTS, UNTOLD },
  { "processing elements in all", UNITS * STREAM_CORES * ELEMENTS, UNTOLD },
  { "lanes of a wavefront (warp)", WAVEFRONT, multiple },
  { "local memory (LDS), KiB", LDS_KIB, device.local_memory // 1024 },
  { "its banks, of 4 bytes each", BANKS, UNTOLD },
  { "largest work-group", "–", device.max_group_size },
  { "global memory, MiB", "–", device.global_memory >> 20 },
  { "clock, MHz", "–", device.clock_mhz },
  { "floats of its favourite vector", "–", device.vector_width_float },
}
for i, row in ipairs(rows) do rows[i] = { word = row[1], hd5870 = tostring(row[2]), here = tostring(row[3]) } end

print(report.text({ rows = rows, columns = { { key = "word", title = "part" },
  { key = "hd5870", title = "HD 5870", align = "right" }, { key = "here", title = "here", align = "right" } } }))
print("What OpenCL does not tell can be measured: lessons 10 and 11 begin.")
