-- SPDX-License-Identifier: MIT
--- A matrix times a symmetric one whose lower triangle is given.

return {
  name = "ssymm", title = "Symmetric matrix product",
  parameters = { { "a", "n", "n" }, { "b", "n", "n" }, { "c", "n", "n" }, "n" },
  results = { "c" },
  sizes = { quick = { n = 128 }, full = { n = 400 } },
  run = function(a, b, c, n)
    for i = 1, n do
      for j = 1, n do
        for k = 1, j - 2 do
          c[i][k] = c[i][k] + a[j][k] * b[i][j]
          c[i][j] = c[i][j] + a[j][k] * b[i][k]
        end
        c[i][j] = c[i][j] + a[j][j] * b[i][j]
      end
    end
  end,
  c = [[
#pragma omp parallel for
    for (long i = 0; i < n; i++)
      for (long j = 0; j < n; j++) {
        for (long k = 0; k < j - 1; k++) {
          c[i][k] = c[i][k] + a[j][k] * b[i][j];
          c[i][j] = c[i][j] + a[j][k] * b[i][k];
        }
        c[i][j] = c[i][j] + a[j][j] * b[i][j];
      }]],
  cuda = [[
    // threads: i, j
    for (long i = 0; i < n; i++)
      for (long j = 0; j < n; j++) {
        real s = c[i][j];
        for (long k = 0; k < j - 1; k++) s = s + a[j][k] * b[i][k];
        s = s + a[j][j] * b[i][j];
        for (long k = j + 2; k < n; k++) s = s + a[k][j] * b[i][k];
        c[i][j] = s;
      }]],
}
