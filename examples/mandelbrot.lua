-- SPDX-License-Identifier: MIT
--- The Mandelbrot set by cl.map, in the terminal, and nearer and nearer on a page.
-- Usage: mandelbrot.lua [page.html]

local cl = require "clcompute"
local out = cl.device():empty("float", 480, 640)

-- How many steps until z leaves a circle, made smooth by how far it went; 0 within the set.
local ESCAPE = [[
  float escape(float x, float y) {
    float a = x, b = y;
    for (int n = 1; n <= 200; n++) {
      const float r = a * a + b * b, next = a * a - b * b + x;
      if (r > 256) return log(n + 2 - log2(log2(r)));
      b = 2 * a * b + y;
      a = next;
    }
    return 0;
  }]]

local function picture(x, y, width)
  cl.map("escape(x + width * (i % 640 - 320.f) / 640, y + width * (i / 640 - 240.f) / 640)",
    { x = x, y = y, width = width }, { out = out, preamble = ESCAPE })
  return cl.picture(out, { title = ("The Mandelbrot set around %g%+gi, %g wide"):format(x, y, width) })
end

local whole = picture(-0.6, 0, 3.2)
print(whole)
if arg[1] then io.open(arg[1], "w"):write(whole:html(picture(-0.75, 0.1, 0.2), picture(-0.748, 0.1, 0.01))):close() end
