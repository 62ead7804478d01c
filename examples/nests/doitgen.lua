-- SPDX-License-Identifier: MIT
--- Each row of a cube times a matrix, by way of an array for a row.

return {
  name = "doitgen", title = "multiresolution kernel",
  parameters = { { "a", "n", "n", "n" }, { "c", "n", "n" }, { "sum", "n" }, "n" },
  results = { "a", "sum" },
  sizes = { quick = { n = 16 }, full = { n = 80 } },
  run = function(a, c, sum, n)
    for r = 1, n do
      for q = 1, n do
        for p = 1, n do
          sum[p] = 0.0
          for s = 1, n do sum[p] = sum[p] + a[r][q][s] * c[s][p] end
        end
        for p = 1, n do a[r][q][p] = sum[p] end
      end
    end
  end,
  c = [[
    for (long r = 0; r < n; r++)
      for (long q = 0; q < n; q++) {
        for (long p = 0; p < n; p++) {
          sum[p] = 0;
          for (long s = 0; s < n; s++) sum[p] = sum[p] + a[r][q][s] * c[s][p];
        }
        for (long p = 0; p < n; p++) a[r][q][p] = sum[p];
      }]],
  cuda = [[
    real product[n][n][n];
    // threads: r, q, p
    for (long r = 0; r < n; r++)
      for (long q = 0; q < n; q++)
        for (long p = 0; p < n; p++) {
          real t = 0;
          for (long s = 0; s < n; s++) t = t + a[r][q][s] * c[s][p];
          product[r][q][p] = t;
        }
    // threads: r, q, p
    for (long r = 0; r < n; r++)
      for (long q = 0; q < n; q++)
        for (long p = 0; p < n; p++) a[r][q][p] = product[r][q][p];
    // threads: p
    for (long p = 0; p < n; p++) sum[p] = a[n - 1][n - 1][p];]],
}
