-- SPDX-License-Identifier: MIT
--- A symmetric rank-k update of the upper triangle, the summing loop outermost.

return {
  name = "ssyrk", title = "Symmetric rank-k update",
  parameters = { { "a", "n", "n" }, { "c", "n", "n" }, "n" },
  results = { "c" },
  sizes = { quick = { n = 64 }, full = { n = 400 } },
  run = function(a, c, n)
    for i = 1, n do
      for j = 1, n do
        for k = j, n do c[j][k] = c[j][k] + a[i][j] * a[i][k] end
      end
    end
  end,
  c = [[
    for (long i = 0; i < n; i++)
#pragma omp parallel for schedule(dynamic, 16)
      for (long j = 0; j < n; j++)
        for (long k = j; k < n; k++) c[j][k] = c[j][k] + a[i][j] * a[i][k];]],
  cuda = [[
    // threads: j, k
    for (long j = 0; j < n; j++)
      for (long k = j; k < n; k++) {
        real s = c[j][k];
        for (long i = 0; i < n; i++) s = s + a[i][j] * a[i][k];
        c[j][k] = s;
      }]],
}
