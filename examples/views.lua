-- SPDX-License-Identifier: MIT
--- Views: rows of a matrix as buffers, other shapes of the same memory, and where a view may start.

local cl = require "clcompute"
local device = cl.device()

local matrix = device:buffer({ { 1, 2, 3, 4 }, { 5, 6, 7, 8 }, { 9, 10, 11, 12 } }, "float")

-- Nothing is copied: what is written to a view is written to the matrix.
matrix[2]:fill(0)
matrix:view(3, 3):write { { -1, -2, -3, -4 } }
print("rows 2 and 3 through views: ", table.concat(matrix:reshape(12):read(), " "))
assert(matrix:get(2, 4) == 0 and matrix:get(3, 1) == -1)

-- Another shape of the same elements.
local cube = matrix:reshape(3, 2, 2)
assert(cube:get(3, 2, 1) == matrix:get(3, 3))
print("as 3 x 2 x 2: ", cube)

-- The library's own operations take a view wherever it starts.
cl.saxpy(10, matrix[1], matrix[2])
print("row 2 <- 10 row 1 + row 2: ", table.concat(matrix[2]:read(), " "))

-- A kernel of your own gets a pointer to the view, and OpenCL lets that start only every d.align bytes.
local program = device:program [[
  kernel void negate(global float *v) { v[get_global_id(0)] *= -1; }
]]
local rows = device.align // 4 -- floats from one place to the next
print(("a view may start every %d bytes, which are %d floats"):format(device.align, rows))

local ok, message = pcall(program.negate, 4, matrix[2])
if ok then
  print("here a row of 16 bytes is aligned")
else
  print(message)
end

-- So: give the rows of what kernels shall take a length that is a multiple of d.align (with unused
-- elements at their end), or pass the whole buffer and the first element's index.
local padded = device:zeros("float", 3, rows)
for i = 1, 3 do padded[i]:write(matrix[i]:string()) end
program.negate(4, padded[2])
print("row 2 negated: ", table.concat(padded[2]:view(1, 4):read(), " "))
assert(padded:get(2, 4) == -matrix:get(2, 4) and padded:get(3, 1) == matrix:get(3, 1))
