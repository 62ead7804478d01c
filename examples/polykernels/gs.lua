-- SPDX-License-Identifier: MIT
--- Gauss-Seidel in place, nine points: no loop is parallel in this order.

return {
  name = "gs", title = "Gauss-Seidel, 2-D, 9 points",
  parameters = { { "a", "n", "n" }, "n", "steps" },
  results = { "a" },
  sizes = { quick = { n = 64, steps = 10 }, full = { n = 512, steps = 50 } },
  run = function(a, n, steps)
    for _ = 1, steps do
      for i = 2, n - 1 do
        for j = 2, n - 1 do
          a[i][j] = (a[i - 1][j - 1] + a[i - 1][j] + a[i - 1][j + 1] + a[i][j - 1] + a[i][j] + a[i][j + 1]
            + a[i + 1][j - 1] + a[i + 1][j] + a[i + 1][j + 1]) / 9.0
        end
      end
    end
  end,
  c = [[
    for (long t = 0; t < steps; t++)
      for (long i = 1; i < n - 1; i++)
        for (long j = 1; j < n - 1; j++)
          a[i][j] = (a[i - 1][j - 1] + a[i - 1][j] + a[i - 1][j + 1] + a[i][j - 1] + a[i][j] + a[i][j + 1]
                     + a[i + 1][j - 1] + a[i + 1][j] + a[i + 1][j + 1]) / 9.0;]],
}
