-- SPDX-License-Identifier: MIT
--- Many systems of three diagonals, one in a row, by the method of Thomas.

return {
  name = "tridiagonal", title = "tridiagonal systems",
  parameters = { { "a", "n", "n", low = 0.1, high = 1 }, { "b", "n", "n", low = 3, high = 4 },
    { "c", "n", "n", low = 0.1, high = 1 }, { "d", "n", "n" }, "n" },
  results = { "c", "d" },
  sizes = { quick = { n = 40 }, full = { n = 600 } },
  run = function(a, b, c, d, n)
    for i = 1, n do
      c[i][1] = c[i][1] / b[i][1]
      d[i][1] = d[i][1] / b[i][1]
      for j = 2, n do
        local pivot = b[i][j] - a[i][j] * c[i][j - 1]
        c[i][j] = c[i][j] / pivot
        d[i][j] = (d[i][j] - a[i][j] * d[i][j - 1]) / pivot
      end
      for j = n - 1, 1, -1 do d[i][j] = d[i][j] - c[i][j] * d[i][j + 1] end
    end
  end,
  c = [[
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
      c[i][0] = c[i][0] / b[i][0];
      d[i][0] = d[i][0] / b[i][0];
      for (long j = 1; j < n; j++) {
        const real pivot = b[i][j] - a[i][j] * c[i][j - 1];
        c[i][j] = c[i][j] / pivot;
        d[i][j] = (d[i][j] - a[i][j] * d[i][j - 1]) / pivot;
      }
      for (long j = n - 2; j >= 0; j--) d[i][j] = d[i][j] - c[i][j] * d[i][j + 1];
    }]],
}
