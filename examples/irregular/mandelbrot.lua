-- SPDX-License-Identifier: MIT
--- The Mandelbrot set: how many steps each point takes to leave a circle, at most 100.

return {
  name = "mandelbrot", title = "Mandelbrot set",
  parameters = { { "image", "n", "n", integers = function() return 0 end }, "n" },
  results = { "image" },
  sizes = { quick = { n = 60 }, full = { n = 600 } },
  run = function(image, n)
    for i = 1, n do
      for j = 1, n do
        local cx, cy = 3.0 * j / n - 2.25, 3.0 * i / n - 1.5
        local x, y, steps = 0.0, 0.0, 0
        while steps < 100 and x * x + y * y < 4 do
          x, y = x * x - y * y + cx, 2 * x * y + cy
          steps = steps + 1
        end
        image[i][j] = steps
      end
    end
  end,
  c = [[
#pragma omp parallel for schedule(dynamic) // threads: i, j
    for (long i = 1; i <= n; i++)
      for (long j = 1; j <= n; j++) {
        const real cx = 3.0 * j / n - 2.25, cy = 3.0 * i / n - 1.5;
        real x = 0, y = 0;
        long steps = 0;
        while (steps < 100 && x * x + y * y < 4) {
          const real next = x * x - y * y + cx;
          y = 2 * x * y + cy;
          x = next;
          steps++;
        }
        image[i - 1][j - 1] = steps;
      }]],
}
