-- SPDX-License-Identifier: MIT
--- A symmetric rank-2k update of the upper triangle, the summing loop outermost.

return {
  name = "ssyr2k", title = "Symmetric rank-2k update",
  parameters = { { "a", "n", "n" }, { "b", "n", "n" }, { "c", "n", "n" }, "n" },
  results = { "c" },
  sizes = { quick = { n = 128 }, full = { n = 400 } },
  run = function(a, b, c, n)
    for i = 1, n do
      for j = 1, n do
        for k = j, n do c[j][k] = c[j][k] + a[i][j] * b[i][k] + b[i][j] * a[i][k] end
      end
    end
  end,
  c = [[
    for (long i = 0; i < n; i++)
#pragma omp parallel for schedule(dynamic, 16)
      for (long j = 0; j < n; j++)
        for (long k = j; k < n; k++) c[j][k] = c[j][k] + a[i][j] * b[i][k] + b[i][j] * a[i][k];]],
  cuda = [[
    // threads: j, k
    for (long j = 0; j < n; j++)
      for (long k = j; k < n; k++) {
        real s = c[j][k];
        for (long i = 0; i < n; i++) s = s + a[i][j] * b[i][k] + b[i][j] * a[i][k];
        c[j][k] = s;
      }]],
}
