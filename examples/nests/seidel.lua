-- SPDX-License-Identifier: MIT
--- Gauss-Seidel in place, five points, in steps.

return {
  name = "seidel", title = "Gauss-Seidel, 2-D, 5 points",
  parameters = { { "a", "n", "n" }, "n", "steps" },
  results = { "a" },
  sizes = { quick = { n = 60, steps = 4 }, full = { n = 500, steps = 8 } },
  run = function(a, n, steps)
    for _ = 1, steps do
      for i = 2, n - 1 do
        for j = 2, n - 1 do
          a[i][j] = 0.2 * (a[i][j] + a[i - 1][j] + a[i][j - 1] + a[i][j + 1] + a[i + 1][j])
        end
      end
    end
  end,
  c = [[
    for (long t = 0; t < steps; t++)
      for (long i = 1; i < n - 1; i++)
        for (long j = 1; j < n - 1; j++)
          a[i][j] = 0.2 * (a[i][j] + a[i - 1][j] + a[i][j - 1] + a[i][j + 1] + a[i + 1][j]);]],
}
