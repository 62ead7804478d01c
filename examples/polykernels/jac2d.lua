-- SPDX-License-Identifier: MIT
--- Jacobi's method in two dimensions, five points.

return {
  name = "jac2d", title = "Jacobi, 2-D, 5 points",
  parameters = { { "a", "n", "n" }, { "b", "n", "n" }, "n", "steps" },
  results = { "a", "b" },
  sizes = { quick = { n = 64, steps = 10 }, full = { n = 512, steps = 100 } },
  run = function(a, b, n, steps)
    for _ = 1, steps do
      for i = 2, n - 1 do
        for j = 2, n - 1 do
          b[i][j] = 0.2 * (a[i][j] + a[i][j - 1] + a[i][j + 1] + a[i + 1][j] + a[i - 1][j])
        end
      end
      for i = 2, n - 1 do
        for j = 2, n - 1 do a[i][j] = b[i][j] end
      end
    end
  end,
  c = [[
    for (long t = 0; t < steps; t++) {
#pragma omp parallel for // threads: i, j
      for (long i = 1; i < n - 1; i++)
        for (long j = 1; j < n - 1; j++)
          b[i][j] = 0.2 * (a[i][j] + a[i][j - 1] + a[i][j + 1] + a[i + 1][j] + a[i - 1][j]);
#pragma omp parallel for // threads: i, j
      for (long i = 1; i < n - 1; i++)
        for (long j = 1; j < n - 1; j++) a[i][j] = b[i][j];
    }]],
}
