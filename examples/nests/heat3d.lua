-- SPDX-License-Identifier: MIT
--- Heat in a cube, from one array to another and back.

return {
  name = "heat3d", title = "heat, 3-D",
  parameters = { { "a", "n", "n", "n" }, { "b", "n", "n", "n" }, "n", "steps" },
  results = { "a", "b" },
  sizes = { quick = { n = 16, steps = 3 }, full = { n = 60, steps = 20 } },
  run = function(a, b, n, steps)
    for _ = 1, steps do
      for i = 2, n - 1 do
        for j = 2, n - 1 do
          for k = 2, n - 1 do
            b[i][j][k] = 0.125 * (a[i + 1][j][k] - 2 * a[i][j][k] + a[i - 1][j][k])
              + 0.125 * (a[i][j + 1][k] - 2 * a[i][j][k] + a[i][j - 1][k])
              + 0.125 * (a[i][j][k + 1] - 2 * a[i][j][k] + a[i][j][k - 1]) + a[i][j][k]
          end
        end
      end
      for i = 2, n - 1 do
        for j = 2, n - 1 do
          for k = 2, n - 1 do
            a[i][j][k] = 0.125 * (b[i + 1][j][k] - 2 * b[i][j][k] + b[i - 1][j][k])
              + 0.125 * (b[i][j + 1][k] - 2 * b[i][j][k] + b[i][j - 1][k])
              + 0.125 * (b[i][j][k + 1] - 2 * b[i][j][k] + b[i][j][k - 1]) + b[i][j][k]
          end
        end
      end
    end
  end,
  c = [[
    for (long t = 0; t < steps; t++) {
#pragma omp parallel for // threads: i, j, k
      for (long i = 1; i < n - 1; i++)
        for (long j = 1; j < n - 1; j++)
          for (long k = 1; k < n - 1; k++)
            b[i][j][k] = 0.125 * (a[i + 1][j][k] - 2 * a[i][j][k] + a[i - 1][j][k])
                         + 0.125 * (a[i][j + 1][k] - 2 * a[i][j][k] + a[i][j - 1][k])
                         + 0.125 * (a[i][j][k + 1] - 2 * a[i][j][k] + a[i][j][k - 1]) + a[i][j][k];
#pragma omp parallel for // threads: i, j, k
      for (long i = 1; i < n - 1; i++)
        for (long j = 1; j < n - 1; j++)
          for (long k = 1; k < n - 1; k++)
            a[i][j][k] = 0.125 * (b[i + 1][j][k] - 2 * b[i][j][k] + b[i - 1][j][k])
                         + 0.125 * (b[i][j + 1][k] - 2 * b[i][j][k] + b[i][j - 1][k])
                         + 0.125 * (b[i][j][k + 1] - 2 * b[i][j][k] + b[i][j][k - 1]) + b[i][j][k];
    }]],
}
