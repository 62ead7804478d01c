-- SPDX-License-Identifier: MIT
--- The factor of Cholesky of a symmetric matrix, in its lower triangle.

return {
  name = "cholesky", title = "Cholesky",
  parameters = { { "a", "n", "n", dominant = true }, "n" },
  results = { "a" },
  sizes = { quick = { n = 60 }, full = { n = 500 } },
  run = function(a, n)
    for i = 1, n do
      for j = 1, i - 1 do
        for k = 1, j - 1 do a[i][j] = a[i][j] - a[i][k] * a[j][k] end
        a[i][j] = a[i][j] / a[j][j]
      end
      for k = 1, i - 1 do a[i][i] = a[i][i] - a[i][k] * a[i][k] end
      a[i][i] = math.sqrt(a[i][i])
    end
  end,
  c = [[
    for (long i = 0; i < n; i++) {
      for (long j = 0; j < i; j++) {
        for (long k = 0; k < j; k++) a[i][j] = a[i][j] - a[i][k] * a[j][k];
        a[i][j] = a[i][j] / a[j][j];
      }
      for (long k = 0; k < i; k++) a[i][i] = a[i][i] - a[i][k] * a[i][k];
      a[i][i] = sqrt(a[i][i]);
    }]],
  cuda = [[
    for (long k = 0; k < n; k++) {
      a[k][k] = sqrt(a[k][k]);
      // threads: i
      for (long i = k + 1; i < n; i++) a[i][k] = a[i][k] / a[k][k];
      // threads: i, j
      for (long i = k + 1; i < n; i++)
        for (long j = k + 1; j <= i; j++) a[i][j] = a[i][j] - a[i][k] * a[j][k];
    }]],
}
