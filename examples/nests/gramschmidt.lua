-- SPDX-License-Identifier: MIT
--- An orthogonal basis of a matrix' columns, by the method of Gram and Schmidt.

return {
  name = "gramschmidt", title = "Gram-Schmidt",
  parameters = { { "a", "n", "n", dominant = true }, { "r", "n", "n" }, { "q", "n", "n" }, "n" },
  results = { "a", "r", "q" },
  sizes = { quick = { n = 40 }, full = { n = 200 } },
  run = function(a, r, q, n)
    for k = 1, n do
      local s = 0.0
      for i = 1, n do s = s + a[i][k] * a[i][k] end
      r[k][k] = math.sqrt(s)
      for i = 1, n do q[i][k] = a[i][k] / r[k][k] end
      for j = k + 1, n do
        r[k][j] = 0.0
        for i = 1, n do r[k][j] = r[k][j] + q[i][k] * a[i][j] end
        for i = 1, n do a[i][j] = a[i][j] - q[i][k] * r[k][j] end
      end
    end
  end,
  c = [[
    for (long k = 0; k < n; k++) {
      real s = 0;
      for (long i = 0; i < n; i++) s = s + a[i][k] * a[i][k];
      r[k][k] = sqrt(s);
      for (long i = 0; i < n; i++) q[i][k] = a[i][k] / r[k][k];
#pragma omp parallel for
      for (long j = k + 1; j < n; j++) {
        r[k][j] = 0;
        for (long i = 0; i < n; i++) r[k][j] = r[k][j] + q[i][k] * a[i][j];
        for (long i = 0; i < n; i++) a[i][j] = a[i][j] - q[i][k] * r[k][j];
      }
    }]],
  cuda = [[
    for (long k = 0; k < n; k++) {
      {
        real s = 0;
        for (long i = 0; i < n; i++) s = s + a[i][k] * a[i][k];
        r[k][k] = sqrt(s);
      }
      // threads: i
      for (long i = 0; i < n; i++) q[i][k] = a[i][k] / r[k][k];
      // threads: j
      for (long j = k + 1; j < n; j++) {
        real s = 0;
        for (long i = 0; i < n; i++) s = s + q[i][k] * a[i][j];
        r[k][j] = s;
        for (long i = 0; i < n; i++) a[i][j] = a[i][j] - q[i][k] * s;
      }
    }]],
}
