-- SPDX-License-Identifier: MIT
--- The product of a triangular matrix and a matrix, upper triangle of the result.

return {
  name = "tmm", title = "Triangular matrix product",
  parameters = { { "a", "n", "n" }, { "b", "n", "n" }, { "c", "n", "n" }, "n" },
  results = { "c" },
  sizes = { quick = { n = 128 }, full = { n = 400 } },
  run = function(a, b, c, n)
    for i = 1, n do
      for j = i, n do
        for k = i, n do c[i][j] = c[i][j] + a[i][k] * b[k][j] end
      end
    end
  end,
  c = [[
#pragma omp parallel for schedule(dynamic, 16)
    for (long i = 0; i < n; i++)
      for (long j = i; j < n; j++)
        for (long k = i; k < n; k++) c[i][j] = c[i][j] + a[i][k] * b[k][j];]],
  cuda = [[
    // threads: i, j
    for (long i = 0; i < n; i++)
      for (long j = i; j < n; j++) {
        real s = c[i][j];
        for (long k = i; k < n; k++) s = s + a[i][k] * b[k][j];
        c[i][j] = s;
      }]],
}
