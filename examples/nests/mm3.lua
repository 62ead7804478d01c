-- SPDX-License-Identifier: MIT
--- The product of two products of matrices.

return {
  name = "mm3", title = "G = (A B) (C D)",
  parameters = { { "a", "n", "n" }, { "b", "n", "n" }, { "c", "n", "n" }, { "d", "n", "n" },
    { "e", "n", "n" }, { "f", "n", "n" }, { "g", "n", "n" }, "n" },
  results = { "e", "f", "g" },
  sizes = { quick = { n = 40 }, full = { n = 220 } },
  run = function(a, b, c, d, e, f, g, n)
    for i = 1, n do
      for j = 1, n do
        e[i][j] = 0.0
        for k = 1, n do e[i][j] = e[i][j] + a[i][k] * b[k][j] end
      end
    end
    for i = 1, n do
      for j = 1, n do
        f[i][j] = 0.0
        for k = 1, n do f[i][j] = f[i][j] + c[i][k] * d[k][j] end
      end
    end
    for i = 1, n do
      for j = 1, n do
        g[i][j] = 0.0
        for k = 1, n do g[i][j] = g[i][j] + e[i][k] * f[k][j] end
      end
    end
  end,
  c = [[
#pragma omp parallel for
    for (long i = 0; i < n; i++)
      for (long j = 0; j < n; j++) {
        e[i][j] = 0;
        for (long k = 0; k < n; k++) e[i][j] = e[i][j] + a[i][k] * b[k][j];
      }
#pragma omp parallel for
    for (long i = 0; i < n; i++)
      for (long j = 0; j < n; j++) {
        f[i][j] = 0;
        for (long k = 0; k < n; k++) f[i][j] = f[i][j] + c[i][k] * d[k][j];
      }
#pragma omp parallel for
    for (long i = 0; i < n; i++)
      for (long j = 0; j < n; j++) {
        g[i][j] = 0;
        for (long k = 0; k < n; k++) g[i][j] = g[i][j] + e[i][k] * f[k][j];
      }]],
  cuda = [[
    // threads: i, j
    for (long i = 0; i < n; i++)
      for (long j = 0; j < n; j++) {
        real s = 0;
        for (long k = 0; k < n; k++) s = s + a[i][k] * b[k][j];
        e[i][j] = s;
      }
    // threads: i, j
    for (long i = 0; i < n; i++)
      for (long j = 0; j < n; j++) {
        real s = 0;
        for (long k = 0; k < n; k++) s = s + c[i][k] * d[k][j];
        f[i][j] = s;
      }
    // threads: i, j
    for (long i = 0; i < n; i++)
      for (long j = 0; j < n; j++) {
        real s = 0;
        for (long k = 0; k < n; k++) s = s + e[i][k] * f[k][j];
        g[i][j] = s;
      }]],
}
