-- SPDX-License-Identifier: MIT
--- Each point becomes the mean of 5 x 5.

return {
  name = "box_blur", title = "box blur, 5 x 5",
  parameters = { { "a", "n", "n" }, { "b", "n", "n" }, "n" },
  results = { "b" },
  sizes = { quick = { n = 60 }, full = { n = 600 } },
  run = function(a, b, n)
    for i = 3, n - 2 do
      for j = 3, n - 2 do
        local s = 0.0
        for p = -2, 2 do
          for q = -2, 2 do s = s + a[i + p][j + q] end
        end
        b[i][j] = s / 25
      end
    end
  end,
  c = [[
#pragma omp parallel for // threads: i, j
    for (long i = 2; i < n - 2; i++)
      for (long j = 2; j < n - 2; j++) {
        real s = 0;
        for (long p = -2; p <= 2; p++)
          for (long q = -2; q <= 2; q++) s = s + a[i + p][j + q];
        b[i][j] = s / 25;
      }]],
}
