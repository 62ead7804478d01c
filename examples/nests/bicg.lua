-- SPDX-License-Identifier: MIT
--- A matrix and its transpose times a vector each.

return {
  name = "bicg", title = "matrix and transpose times vectors",
  parameters = { { "a", "n", "n" }, { "s", "n" }, { "q", "n" }, { "p", "n" }, { "r", "n" }, "n" },
  results = { "s", "q" },
  sizes = { quick = { n = 100 }, full = { n = 1300 } },
  run = function(a, s, q, p, r, n)
    for i = 1, n do s[i] = 0.0 end
    for i = 1, n do
      q[i] = 0.0
      for j = 1, n do
        s[j] = s[j] + r[i] * a[i][j]
        q[i] = q[i] + a[i][j] * p[j]
      end
    end
  end,
  c = [[
    for (long i = 0; i < n; i++) s[i] = 0;
    for (long i = 0; i < n; i++) {
      q[i] = 0;
      for (long j = 0; j < n; j++) {
        s[j] = s[j] + r[i] * a[i][j];
        q[i] = q[i] + a[i][j] * p[j];
      }
    }]],
  cuda = [[
    // threads: j
    for (long j = 0; j < n; j++) {
      real t = 0;
      for (long i = 0; i < n; i++) t = t + r[i] * a[i][j];
      s[j] = t;
    }
    // threads: i
    for (long i = 0; i < n; i++) {
      real t = 0;
      for (long j = 0; j < n; j++) t = t + a[i][j] * p[j];
      q[i] = t;
    }]],
}
