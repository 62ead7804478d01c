-- SPDX-License-Identifier: MIT
--- Alternating directions implicit: in each step a sweep along the rows, then one along the columns.

return {
  name = "adi", title = "Alternating directions implicit",
  parameters = { { "x", "n", "n" }, { "a", "n", "n", low = 0, high = 0.01 }, { "b", "n", "n", low = 1, high = 2 },
    "n", "steps" },
  results = { "x", "b" },
  sizes = { quick = { n = 64, steps = 4 }, full = { n = 512, steps = 20 } },
  run = function(x, a, b, n, steps)
    for _ = 1, steps do
      for i = 1, n do
        for j = 2, n do
          x[i][j] = x[i][j] - x[i][j - 1] * a[i][j] / b[i][j - 1]
          b[i][j] = b[i][j] - a[i][j] * a[i][j] / b[i][j - 1]
        end
      end
      for i = 2, n do
        for j = 1, n do
          x[i][j] = x[i][j] - x[i - 1][j] * a[i][j] / b[i - 1][j]
          b[i][j] = b[i][j] - a[i][j] * a[i][j] / b[i - 1][j]
        end
      end
    end
  end,
  c = [[
    for (long t = 0; t < steps; t++) {
#pragma omp parallel for
      for (long i = 0; i < n; i++)
        for (long j = 1; j < n; j++) {
          x[i][j] = x[i][j] - x[i][j - 1] * a[i][j] / b[i][j - 1];
          b[i][j] = b[i][j] - a[i][j] * a[i][j] / b[i][j - 1];
        }
      for (long i = 1; i < n; i++)
#pragma omp parallel for
        for (long j = 0; j < n; j++) {
          x[i][j] = x[i][j] - x[i - 1][j] * a[i][j] / b[i - 1][j];
          b[i][j] = b[i][j] - a[i][j] * a[i][j] / b[i - 1][j];
        }
    }]],
  cuda = [[
    for (long t = 0; t < steps; t++) {
      // threads: i
      for (long i = 0; i < n; i++)
        for (long j = 1; j < n; j++) {
          x[i][j] = x[i][j] - x[i][j - 1] * a[i][j] / b[i][j - 1];
          b[i][j] = b[i][j] - a[i][j] * a[i][j] / b[i][j - 1];
        }
      // threads: j
      for (long j = 0; j < n; j++)
        for (long i = 1; i < n; i++) {
          x[i][j] = x[i][j] - x[i - 1][j] * a[i][j] / b[i - 1][j];
          b[i][j] = b[i][j] - a[i][j] * a[i][j] / b[i - 1][j];
        }
    }]],
}
