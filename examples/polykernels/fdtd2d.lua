-- SPDX-License-Identifier: MIT
--- Finite differences in the time domain, two dimensions, with a source along one side.

return {
  name = "fdtd2d", title = "Finite differences in time, 2-D",
  parameters = { { "ex", "n", "n + 1" }, { "ey", "n + 1", "n" }, { "hz", "n", "n" }, "n", "steps" },
  results = { "ex", "ey", "hz" },
  sizes = { quick = { n = 48, steps = 10 }, full = { n = 400, steps = 50 } },
  run = function(ex, ey, hz, n, steps)
    for t = 1, steps do
      for j = 1, n do ey[1][j] = t end
      for i = 2, n do
        for j = 1, n do ey[i][j] = ey[i][j] - 0.5 * (hz[i][j] - hz[i - 1][j]) end
      end
      for i = 1, n do
        for j = 2, n do ex[i][j] = ex[i][j] - 0.5 * (hz[i][j] - hz[i][j - 1]) end
      end
      for i = 1, n do
        for j = 1, n do
          hz[i][j] = hz[i][j] - 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j])
        end
      end
    end
  end,
  c = [[
    for (long t = 0; t < steps; t++) {
      // threads: j
      for (long j = 0; j < n; j++) ey[0][j] = (real)(t + 1);
#pragma omp parallel for // threads: i, j
      for (long i = 1; i < n; i++)
        for (long j = 0; j < n; j++) ey[i][j] = ey[i][j] - 0.5 * (hz[i][j] - hz[i - 1][j]);
#pragma omp parallel for // threads: i, j
      for (long i = 0; i < n; i++)
        for (long j = 1; j < n; j++) ex[i][j] = ex[i][j] - 0.5 * (hz[i][j] - hz[i][j - 1]);
#pragma omp parallel for // threads: i, j
      for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++)
          hz[i][j] = hz[i][j] - 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
    }]],
}
