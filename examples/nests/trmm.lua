-- SPDX-License-Identifier: MIT
--- A triangular matrix, transposed, times another, in place.

return {
  name = "trmm", title = "triangular matrix product",
  parameters = { { "a", "n", "n" }, { "b", "n", "n" }, { "alpha", value = 1.5 }, "n" },
  results = { "b" },
  sizes = { quick = { n = 50 }, full = { n = 300 } },
  run = function(a, b, alpha, n)
    for i = 1, n do
      for j = 1, n do
        for k = i + 1, n do b[i][j] = b[i][j] + a[k][i] * b[k][j] end
        b[i][j] = alpha * b[i][j]
      end
    end
  end,
  c = [[
    for (long i = 0; i < n; i++)
#pragma omp parallel for
      for (long j = 0; j < n; j++) {
        for (long k = i + 1; k < n; k++) b[i][j] = b[i][j] + a[k][i] * b[k][j];
        b[i][j] = alpha * b[i][j];
      }]],
  cuda = [[
    real product[n][n];
    // threads: i, j
    for (long i = 0; i < n; i++)
      for (long j = 0; j < n; j++) {
        real s = b[i][j];
        for (long k = i + 1; k < n; k++) s = s + a[k][i] * b[k][j];
        product[i][j] = alpha * s;
      }
    // threads: i, j
    for (long i = 0; i < n; i++)
      for (long j = 0; j < n; j++) b[i][j] = product[i][j];]],
}
