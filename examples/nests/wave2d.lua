-- SPDX-License-Identifier: MIT
--- Waves on a square, from two earlier times to the next.

return {
  name = "wave2d", title = "waves, 2-D",
  parameters = { { "a", "n", "n" }, { "b", "n", "n" }, { "c", "n", "n" }, "n", "steps" },
  results = { "a", "b" },
  sizes = { quick = { n = 40, steps = 3 }, full = { n = 400, steps = 20 } },
  run = function(a, b, c, n, steps)
    for _ = 1, steps do
      for i = 2, n - 1 do
        for j = 2, n - 1 do
          c[i][j] = 2 * b[i][j] - a[i][j]
            + 0.25 * (b[i - 1][j] + b[i + 1][j] + b[i][j - 1] + b[i][j + 1] - 4 * b[i][j])
        end
      end
      for i = 2, n - 1 do
        for j = 2, n - 1 do
          a[i][j] = b[i][j]
          b[i][j] = c[i][j]
        end
      end
    end
  end,
  c = [[
    for (long t = 0; t < steps; t++) {
#pragma omp parallel for // threads: i, j
      for (long i = 1; i < n - 1; i++)
        for (long j = 1; j < n - 1; j++)
          c[i][j] = 2 * b[i][j] - a[i][j]
                    + 0.25 * (b[i - 1][j] + b[i + 1][j] + b[i][j - 1] + b[i][j + 1] - 4 * b[i][j]);
#pragma omp parallel for // threads: i, j
      for (long i = 1; i < n - 1; i++)
        for (long j = 1; j < n - 1; j++) {
          a[i][j] = b[i][j];
          b[i][j] = c[i][j];
        }
    }]],
}
