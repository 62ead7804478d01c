-- SPDX-License-Identifier: MIT
--- A cube filtered by 3 x 3 x 3 weights.

return {
  name = "conv3d", title = "convolution, 3-D",
  parameters = { { "a", "n", "n", "n" }, { "w", "3", "3", "3" }, { "b", "n", "n", "n" }, "n" },
  results = { "b" },
  sizes = { quick = { n = 16 }, full = { n = 80 } },
  run = function(a, w, b, n)
    for i = 2, n - 1 do
      for j = 2, n - 1 do
        for k = 2, n - 1 do
          local s = 0.0
          for p = 1, 3 do
            for q = 1, 3 do
              for r = 1, 3 do s = s + w[p][q][r] * a[i + p - 2][j + q - 2][k + r - 2] end
            end
          end
          b[i][j][k] = s
        end
      end
    end
  end,
  c = [[
#pragma omp parallel for // threads: i, j, k
    for (long i = 1; i < n - 1; i++)
      for (long j = 1; j < n - 1; j++)
        for (long k = 1; k < n - 1; k++) {
          real s = 0;
          for (long p = 0; p < 3; p++)
            for (long q = 0; q < 3; q++)
              for (long r = 0; r < 3; r++) s = s + w[p][q][r] * a[i + p - 1][j + q - 1][k + r - 1];
          b[i][j][k] = s;
        }]],
}
