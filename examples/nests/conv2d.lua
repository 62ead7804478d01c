-- SPDX-License-Identifier: MIT
--- A picture filtered by 5 x 5 weights.

return {
  name = "conv2d", title = "convolution, 2-D",
  parameters = { { "a", "n", "n" }, { "w", "5", "5" }, { "b", "n", "n" }, "n" },
  results = { "b" },
  sizes = { quick = { n = 60 }, full = { n = 600 } },
  run = function(a, w, b, n)
    for i = 3, n - 2 do
      for j = 3, n - 2 do
        local s = 0.0
        for p = -2, 2 do
          for q = -2, 2 do s = s + w[p + 3][q + 3] * a[i + p][j + q] end
        end
        b[i][j] = s
      end
    end
  end,
  c = [[
#pragma omp parallel for // threads: i, j
    for (long i = 2; i < n - 2; i++)
      for (long j = 2; j < n - 2; j++) {
        real s = 0;
        for (long p = -2; p <= 2; p++)
          for (long q = -2; q <= 2; q++) s = s + w[p + 2][q + 2] * a[i + p][j + q];
        b[i][j] = s;
      }]],
}
