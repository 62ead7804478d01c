-- SPDX-License-Identifier: MIT
--- Each point becomes the largest of 3 x 3.

return {
  name = "dilate", title = "dilation, 3 x 3",
  parameters = { { "a", "n", "n" }, { "b", "n", "n" }, "n" },
  results = { "b" },
  sizes = { quick = { n = 60 }, full = { n = 1000 } },
  run = function(a, b, n)
    for i = 2, n - 1 do
      for j = 2, n - 1 do
        local most = a[i][j]
        for p = -1, 1 do
          for q = -1, 1 do most = math.max(most, a[i + p][j + q]) end
        end
        b[i][j] = most
      end
    end
  end,
  c = [[
#pragma omp parallel for // threads: i, j
    for (long i = 1; i < n - 1; i++)
      for (long j = 1; j < n - 1; j++) {
        real most = a[i][j];
        for (long p = -1; p <= 1; p++)
          for (long q = -1; q <= 1; q++) most = most < a[i + p][j + q] ? a[i + p][j + q] : most;
        b[i][j] = most;
      }]],
}
