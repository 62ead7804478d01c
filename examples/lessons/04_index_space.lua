-- SPDX-License-Identifier: MIT
--- Lesson 4: the index space. Listing 5.5 of source 3 doubles a two-dimensional array; each work-item finds its element
-- by its two numbers. (The listing as printed lost its asterisks; here they are again.)

local cl = require "clcompute"
local device = cl.device()

local program = device:program [[
  kernel void simpleKernel(global float *a, global float *b) {
    int address = get_global_id(0) + get_global_id(1) * get_global_size(0);
    b[address] = a[address] * 2;
  }

  // Who computed an element: its numbers as 10 * y + x.
  kernel void who(global int *b) {
    int address = get_global_id(0) + get_global_id(1) * get_global_size(0);
    b[address] = 10 * get_global_id(1) + get_global_id(0);
  }
]]

local rows, columns = 4, 6
local image = {}
for i = 1, rows do
  image[i] = {}
  for j = 1, columns do image[i][j] = 100 * i + j end
end

-- The range names dimension 0 first, along which elements are neighbours in memory: {columns, rows}.
local a, b = device:buffer(image), device:empty("float", rows, columns)
program.simpleKernel({ columns, rows }, a, b)
for i, row in ipairs(b:read()) do
  for j, value in ipairs(row) do assert(value == 2 * image[i][j], "wrong element") end
end
print(("%d x %d elements doubled, each by a work-item of its own"):format(rows, columns))

local function show(title, range)
  local numbers = device:empty("int", rows, columns)
  program.who(range, numbers)
  print("\n" .. title)
  for _, row in ipairs(numbers:read()) do
    local cells = {}
    for j, number in ipairs(row) do cells[j] = ("(%d,%d)"):format(number % 10, number // 10) end
    print("  " .. table.concat(cells, " "))
  end
  return numbers
end

local right = show("range {columns, rows}: who (x,y) computed each element", { columns, rows })
for i = 1, rows do
  for j = 1, columns do assert(right:get(i, j) == 10 * (i - 1) + j - 1) end
end

-- Swapped, the addresses are the same 24, so that the doubled array would still be right; but work-item (x,y) is no
-- longer at column x of row y. A kernel that looks at its neighbours would go wrong.
local swapped = show("range {rows, columns}: the same elements, other work-items", { rows, columns })
assert(swapped:get(2, 1) ~= right:get(2, 1))
