-- SPDX-License-Identifier: MIT
--- Two products of matrices, one with the other's result.

return {
  name = "mm2", title = "D = alpha A B C + beta D",
  parameters = { { "a", "n", "n" }, { "b", "n", "n" }, { "c", "n", "n" }, { "d", "n", "n" },
    { "e", "n", "n" }, { "alpha", value = 1.5 }, { "beta", value = 1.25 }, "n" },
  results = { "d", "e" },
  sizes = { quick = { n = 40 }, full = { n = 250 } },
  run = function(a, b, c, d, e, alpha, beta, n)
    for i = 1, n do
      for j = 1, n do
        e[i][j] = 0.0
        for k = 1, n do e[i][j] = e[i][j] + alpha * a[i][k] * b[k][j] end
      end
    end
    for i = 1, n do
      for j = 1, n do
        d[i][j] = d[i][j] * beta
        for k = 1, n do d[i][j] = d[i][j] + e[i][k] * c[k][j] end
      end
    end
  end,
  c = [[
#pragma omp parallel for
    for (long i = 0; i < n; i++)
      for (long j = 0; j < n; j++) {
        e[i][j] = 0;
        for (long k = 0; k < n; k++) e[i][j] = e[i][j] + alpha * a[i][k] * b[k][j];
      }
#pragma omp parallel for
    for (long i = 0; i < n; i++)
      for (long j = 0; j < n; j++) {
        d[i][j] = d[i][j] * beta;
        for (long k = 0; k < n; k++) d[i][j] = d[i][j] + e[i][k] * c[k][j];
      }]],
  cuda = [[
    // threads: i, j
    for (long i = 0; i < n; i++)
      for (long j = 0; j < n; j++) {
        real s = 0;
        for (long k = 0; k < n; k++) s = s + alpha * a[i][k] * b[k][j];
        e[i][j] = s;
      }
    // threads: i, j
    for (long i = 0; i < n; i++)
      for (long j = 0; j < n; j++) {
        real s = d[i][j] * beta;
        for (long k = 0; k < n; k++) s = s + e[i][k] * c[k][j];
        d[i][j] = s;
      }]],
}
