-- SPDX-License-Identifier: MIT
--- A system of equations by LU decomposition, without pivoting.

return {
  name = "ludcmp", title = "LU and solution",
  parameters = { { "a", "n", "n", dominant = true }, { "b", "n" }, { "x", "n" }, { "y", "n" }, "n" },
  results = { "a", "x", "y" },
  sizes = { quick = { n = 60 }, full = { n = 500 } },
  run = function(a, b, x, y, n)
    for i = 1, n do
      for j = 1, i - 1 do
        local w = a[i][j]
        for k = 1, j - 1 do w = w - a[i][k] * a[k][j] end
        a[i][j] = w / a[j][j]
      end
      for j = i, n do
        local w = a[i][j]
        for k = 1, i - 1 do w = w - a[i][k] * a[k][j] end
        a[i][j] = w
      end
    end
    for i = 1, n do
      local w = b[i]
      for j = 1, i - 1 do w = w - a[i][j] * y[j] end
      y[i] = w
    end
    for i = n, 1, -1 do
      local w = y[i]
      for j = i + 1, n do w = w - a[i][j] * x[j] end
      x[i] = w / a[i][i]
    end
  end,
  c = [[
    for (long i = 0; i < n; i++) {
      for (long j = 0; j < i; j++) {
        real w = a[i][j];
        for (long k = 0; k < j; k++) w = w - a[i][k] * a[k][j];
        a[i][j] = w / a[j][j];
      }
#pragma omp parallel for
      for (long j = i; j < n; j++) {
        real w = a[i][j];
        for (long k = 0; k < i; k++) w = w - a[i][k] * a[k][j];
        a[i][j] = w;
      }
    }
    for (long i = 0; i < n; i++) {
      real w = b[i];
      for (long j = 0; j < i; j++) w = w - a[i][j] * y[j];
      y[i] = w;
    }
    for (long i = n - 1; i >= 0; i--) {
      real w = y[i];
      for (long j = i + 1; j < n; j++) w = w - a[i][j] * x[j];
      x[i] = w / a[i][i];
    }]],
  cuda = [[
    for (long k = 0; k < n; k++) {
      // threads: i
      for (long i = k + 1; i < n; i++) a[i][k] = a[i][k] / a[k][k];
      // threads: i, j
      for (long i = k + 1; i < n; i++)
        for (long j = k + 1; j < n; j++) a[i][j] = a[i][j] - a[i][k] * a[k][j];
    }
    // threads: i
    for (long i = 0; i < n; i++) y[i] = b[i];
    for (long j = 0; j < n; j++) {
      // threads: i
      for (long i = j + 1; i < n; i++) y[i] = y[i] - a[i][j] * y[j];
    }
    for (long i = n - 1; i >= 0; i--) {
      real w = y[i];
      for (long j = i + 1; j < n; j++) w = w - a[i][j] * x[j];
      x[i] = w / a[i][i];
    }]],
}
