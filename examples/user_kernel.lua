-- SPDX-License-Identifier: MIT
--- A kernel of your own in two dimensions: the Mandelbrot set, as text.

local cl = require "clcompute"
local device = cl.device()

local program = device:program([[
  // One work-item a point: how many steps until z leaves the circle of radius 2.
  kernel void mandelbrot(global int *steps, float2 corner, float2 spacing) {
    const int column = get_global_id(0), row = get_global_id(1);
    const float2 c = corner + (float2)(column, row) * spacing;
    float2 z = 0;
    int n = 0;
    while (n < LIMIT && dot(z, z) <= 4) {
      z = (float2)(z.x * z.x - z.y * z.y, 2 * z.x * z.y) + c;
      n++;
    }
    steps[row * COLUMNS + column] = n;
  }
]], { name = "mandelbrot.cl", defines = { LIMIT = 200, COLUMNS = 78 } })

local rows, columns = 24, 78
local steps = device:zeros("int", rows, columns)

-- The range is {columns, rows}: dimension 0 first. The work-group is the library's choice.
program.mandelbrot({ columns, rows }, steps, { -2.2, -1.2 }, { 3.2 / columns, 2.4 / rows })

for _, row in ipairs(steps:read()) do
  local line = {}
  for column, n in ipairs(row) do
    line[column] = n == 200 and "#" or n > 12 and "+" or n > 5 and "." or " "
  end
  print(table.concat(line))
end
