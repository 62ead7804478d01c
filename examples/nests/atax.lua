-- SPDX-License-Identifier: MIT
--- A matrix times a vector, and its transpose times the result.

return {
  name = "atax", title = "transpose of A times A x",
  parameters = { { "a", "n", "n" }, { "x", "n" }, { "y", "n" }, "n" },
  results = { "y" },
  sizes = { quick = { n = 100 }, full = { n = 1300 } },
  run = function(a, x, y, n)
    for i = 1, n do y[i] = 0.0 end
    for i = 1, n do
      local s = 0.0
      for j = 1, n do s = s + a[i][j] * x[j] end
      for j = 1, n do y[j] = y[j] + a[i][j] * s end
    end
  end,
  c = [[
    for (long i = 0; i < n; i++) y[i] = 0;
    for (long i = 0; i < n; i++) {
      real s = 0;
      for (long j = 0; j < n; j++) s = s + a[i][j] * x[j];
      for (long j = 0; j < n; j++) y[j] = y[j] + a[i][j] * s;
    }]],
  cuda = [[
    real t[n];
    // threads: i
    for (long i = 0; i < n; i++) {
      real s = 0;
      for (long j = 0; j < n; j++) s = s + a[i][j] * x[j];
      t[i] = s;
    }
    // threads: j
    for (long j = 0; j < n; j++) {
      real s = 0;
      for (long i = 0; i < n; i++) s = s + a[i][j] * t[i];
      y[j] = s;
    }]],
}
