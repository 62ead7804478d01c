-- SPDX-License-Identifier: MIT
--- Lesson 5: ranges and remainders. Source 3's example: 800 x 600 work-items in groups of 16 x 16, and 600 is no
-- multiple of 16. The three answers are an error, a range rounded up, and a launch of the rest by itself.
--
-- Three functions are described wrongly in source 3. get_num_groups is the number of groups; get_local_size the size
-- of the group that asks, so that of the remainder in a remainder; get_enqueued_local_size the size of all the others.

local cl = require "clcompute"
local device = cl.device()

local WIDTH, HEIGHT, GROUP = 800, 600, 16

local program = device:program [[
  // Writes the height of its group at its pixel, and counts the work-items that have none.
  kernel void guarded(const int width, const int height, global uchar *pixels, global int *counts) {
    const int x = get_global_id(0), y = get_global_id(1);
    if (x == 0 && y == 0) {
      counts[1] = get_num_groups(0);
      counts[2] = get_num_groups(1);
    }
    if (x >= width || y >= height) {
      atomic_inc(counts);
      return;
    }
    pixels[y * width + x] = get_local_size(1);
  }

  // The same without a guard: it must not run beyond the picture.
  kernel void exact(const int width, global uchar *pixels) {
    pixels[get_global_id(1) * width + get_global_id(0)] = get_local_size(1);
  }
]]

local function range(remainder)
  return { global = { WIDTH, HEIGHT }, group = { GROUP, GROUP }, remainder = remainder }
end

--- How many pixels have each height of group.
local function tally(pixels)
  local count = {}
  for byte in pixels:string():gmatch "." do count[byte:byte()] = (count[byte:byte()] or 0) + 1 end
  return count
end

-- 1. The rule of OpenCL 1.x: the group divides the range. Nothing is launched.
local pixels = device:zeros("uchar", HEIGHT, WIDTH)
local ok, message = pcall(program.exact, range(nil), WIDTH, pixels)
assert(not ok and tally(pixels)[0] == WIDTH * HEIGHT)
print("error: " .. message)

-- 2. Rounded up to 800 x 608: work-items without a pixel must go home, which a kernel with a barrier may not let them.
local counts = device:zeros("int", 3)
program.guarded(range "pad", WIDTH, HEIGHT, pixels, counts)
local outside, across, down = table.unpack(counts:read())
print(("pad:   %d x %d groups, which are %d x %d work-items; %d of them had no pixel"):format(across, down,
  across * GROUP, down * GROUP, outside))
assert(across == 50 and down == 38 and outside == 800 * 8 and tally(pixels)[16] == WIDTH * HEIGHT)

-- 3. Split: 800 x 592 in groups of 16 x 16, then 800 x 8 in groups of 16 x 8, which source 3 calls the remainder
-- work-groups. OpenCL 2.0 can do it in one launch; the library does it everywhere, in two.
pixels:fill(0)
program.exact(range "split", WIDTH, pixels)
local count = tally(pixels)
print(("split: %d pixels by groups of 16 x 16, %d by groups of 16 x 8"):format(count[16], count[8]))
assert(count[16] == 800 * 592 and count[8] == 800 * 8)

-- What each work-item is told of its place, in a range small enough to print: 10 work-items in groups of 4.
local rows = cl.trace_range({ global = 10, group = 4, remainder = "split" }, { device = device })
print("\n10 work-items in groups of 4, split:\n" .. tostring(rows))
assert(#rows == 10 and rows[8].local_size[1] == 4 and rows[9].local_size[1] == 2)

-- The same in one launch, where the device has remainder work-groups of its own.
local native
native, rows = pcall(cl.trace_range, { global = 10, group = 4, remainder = "native" }, { device = device })
if native then
  local last = rows[10]
  print(("native: get_num_groups %d, get_local_size of the last %d, get_enqueued_local_size %d"):format(
    last.num_groups[1], last.local_size[1], last.enqueued_local_size[1]))
  assert(last.num_groups[1] == 3 and last.local_size[1] == 2 and last.enqueued_local_size[1] == 4)
else
  print "native: this device has no remainder work-groups"
end
