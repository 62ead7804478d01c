-- SPDX-License-Identifier: MIT
--- LU decomposition in place, without pivoting; the upper factor has ones on its diagonal.

return {
  name = "lud", title = "LU decomposition",
  parameters = { { "a", "n", "n", dominant = true }, "n" },
  results = { "a" },
  sizes = { quick = { n = 64 }, full = { n = 400 } },
  run = function(a, n)
    for k = 1, n do
      for j = k + 1, n do a[k][j] = a[k][j] / a[k][k] end
      for i = k + 1, n do
        for j = k + 1, n do a[i][j] = a[i][j] - a[i][k] * a[k][j] end
      end
    end
  end,
  c = [[
    for (long k = 0; k < n; k++) {
      // threads: j
      for (long j = k + 1; j < n; j++) a[k][j] = a[k][j] / a[k][k];
#pragma omp parallel for // threads: i, j
      for (long i = k + 1; i < n; i++)
        for (long j = k + 1; j < n; j++) a[i][j] = a[i][j] - a[i][k] * a[k][j];
    }]],
}
