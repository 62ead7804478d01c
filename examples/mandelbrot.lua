-- SPDX-License-Identifier: MIT
--- The Mandelbrot set by cl.map, in the terminal and as a picture.
-- Usage: mandelbrot.lua [file.png]

local cl = require "clcompute"
local device = cl.device()

local ROWS, COLUMNS = 480, 640

-- How many steps until z leaves a circle, made smooth by how far it went; 0 within the set.
local ESCAPE = [[
  float escape(int row, int column) {
    const float x = -2.2f + 3.2f * column / COLUMNS, y = -1.2f + 2.4f * row / ROWS;
    float a = x, b = y;
    for (int n = 1; n <= 200; n++) {
      const float r = a * a + b * b, next = a * a - b * b + x;
      if (r > 256) return log(n + 2 - log2(log2(r)));
      b = 2 * a * b + y;
      a = next;
    }
    return 0;
  }]]

local steps = cl.map("escape(i / COLUMNS, i % COLUMNS)", {}, {
  out = device:empty("float", ROWS, COLUMNS),
  preamble = ("#define ROWS %d\n#define COLUMNS %d\n"):format(ROWS, COLUMNS) .. ESCAPE,
})
print(cl.picture(steps))
if arg[1] then steps:save(arg[1]) end
