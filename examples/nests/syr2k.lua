-- SPDX-License-Identifier: MIT
--- A symmetric matrix and two products of rectangular ones, in its lower triangle.

return {
  name = "syr2k", title = "symmetric rank-2k update",
  parameters = { { "a", "n", "n" }, { "b", "n", "n" }, { "c", "n", "n" },
    { "alpha", value = 1.5 }, { "beta", value = 1.25 }, "n" },
  results = { "c" },
  sizes = { quick = { n = 50 }, full = { n = 300 } },
  run = function(a, b, c, alpha, beta, n)
    for i = 1, n do
      for j = 1, i do c[i][j] = c[i][j] * beta end
      for k = 1, n do
        for j = 1, i do c[i][j] = c[i][j] + a[j][k] * alpha * b[i][k] + b[j][k] * alpha * a[i][k] end
      end
    end
  end,
  c = [[
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
      for (long j = 0; j <= i; j++) c[i][j] = c[i][j] * beta;
      for (long k = 0; k < n; k++)
        for (long j = 0; j <= i; j++) c[i][j] = c[i][j] + a[j][k] * alpha * b[i][k] + b[j][k] * alpha * a[i][k];
    }]],
  cuda = [[
    // threads: i, j
    for (long i = 0; i < n; i++)
      for (long j = 0; j <= i; j++) {
        real s = c[i][j] * beta;
        for (long k = 0; k < n; k++) s = s + a[j][k] * alpha * b[i][k] + b[j][k] * alpha * a[i][k];
        c[i][j] = s;
      }]],
}
