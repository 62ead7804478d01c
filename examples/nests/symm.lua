-- SPDX-License-Identifier: MIT
--- A symmetric matrix, of which the lower triangle is read, times another.

return {
  name = "symm", title = "symmetric matrix product",
  parameters = { { "a", "n", "n" }, { "b", "n", "n" }, { "c", "n", "n" },
    { "alpha", value = 1.5 }, { "beta", value = 1.25 }, "n" },
  results = { "c" },
  sizes = { quick = { n = 50 }, full = { n = 300 } },
  run = function(a, b, c, alpha, beta, n)
    for i = 1, n do
      for j = 1, n do
        local s = 0.0
        for k = 1, i - 1 do
          c[k][j] = c[k][j] + alpha * b[i][j] * a[i][k]
          s = s + b[k][j] * a[i][k]
        end
        c[i][j] = beta * c[i][j] + alpha * b[i][j] * a[i][i] + alpha * s
      end
    end
  end,
  c = [[
    for (long i = 0; i < n; i++)
#pragma omp parallel for
      for (long j = 0; j < n; j++) {
        real s = 0;
        for (long k = 0; k < i; k++) {
          c[k][j] = c[k][j] + alpha * b[i][j] * a[i][k];
          s = s + b[k][j] * a[i][k];
        }
        c[i][j] = beta * c[i][j] + alpha * b[i][j] * a[i][i] + alpha * s;
      }]],
  cuda = [[
    // threads: i, j
    for (long i = 0; i < n; i++)
      for (long j = 0; j < n; j++) {
        real s = 0;
        for (long k = 0; k < i; k++) s = s + b[k][j] * a[i][k];
        s = beta * c[i][j] + alpha * b[i][j] * a[i][i] + alpha * s;
        for (long k = i + 1; k < n; k++) s = s + alpha * b[k][j] * a[k][i];
        c[i][j] = s;
      }]],
}
