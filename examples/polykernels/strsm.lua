-- SPDX-License-Identifier: MIT
--- Triangular solve with many right-hand sides, the division inside the innermost loop.

return {
  name = "strsm", title = "Triangular solve with `if`",
  parameters = { { "a", "n", "n", dominant = true }, { "b", "n", "n" }, "n" },
  results = { "b" },
  sizes = { quick = { n = 64 }, full = { n = 400 } },
  run = function(a, b, n)
    for i = 1, n do
      for j = 1, n do
        for k = i + 1, n do
          if k == i + 1 then b[j][i] = b[j][i] / a[i][i] end
          b[j][k] = b[j][k] - a[i][k] * b[j][i]
        end
      end
    end
  end,
  c = [[
    for (long i = 0; i < n; i++)
#pragma omp parallel for
      for (long j = 0; j < n; j++)
        for (long k = i + 1; k < n; k++) {
          if (k == i + 1) b[j][i] = b[j][i] / a[i][i];
          b[j][k] = b[j][k] - a[i][k] * b[j][i];
        }]],
  cuda = [[
    for (long i = 0; i < n - 1; i++) {
      // threads: j
      for (long j = 0; j < n; j++) b[j][i] = b[j][i] / a[i][i];
      // threads: j, k
      for (long j = 0; j < n; j++)
        for (long k = i + 1; k < n; k++) b[j][k] = b[j][k] - a[i][k] * b[j][i];
    }]],
}
