-- SPDX-License-Identifier: MIT
--- The sum of two products of a matrix and a vector.

return {
  name = "gesummv", title = "sum of two matrix-vector products",
  parameters = { { "a", "n", "n" }, { "b", "n", "n" }, { "x", "n" }, { "y", "n" },
    { "alpha", value = 1.5 }, { "beta", value = 1.25 }, "n" },
  results = { "y" },
  sizes = { quick = { n = 100 }, full = { n = 1200 } },
  run = function(a, b, x, y, alpha, beta, n)
    for i = 1, n do
      local s, t = 0.0, 0.0
      for j = 1, n do
        s = s + a[i][j] * x[j]
        t = t + b[i][j] * x[j]
      end
      y[i] = alpha * s + beta * t
    end
  end,
  c = [[
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
      real s = 0, t = 0;
      for (long j = 0; j < n; j++) {
        s = s + a[i][j] * x[j];
        t = t + b[i][j] * x[j];
      }
      y[i] = alpha * s + beta * t;
    }]],
}
