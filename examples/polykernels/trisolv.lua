-- SPDX-License-Identifier: MIT
--- Triangular solve with many right-hand sides, a column of B each.

return {
  name = "trisolv", title = "Triangular solve, many right sides",
  parameters = { { "L", "n", "n", dominant = true }, { "B", "n", "n" }, "n" },
  results = { "B" },
  sizes = { quick = { n = 64 }, full = { n = 400 } },
  run = function(L, B, n)
    for i = 1, n do
      for j = 1, n do
        for k = 1, j - 1 do B[j][i] = B[j][i] - L[j][k] * B[k][i] end
        B[j][i] = B[j][i] / L[j][j]
      end
    end
  end,
  c = [[
#pragma omp parallel for
    for (long i = 0; i < n; i++)
      for (long j = 0; j < n; j++) {
        for (long k = 0; k < j; k++) B[j][i] = B[j][i] - L[j][k] * B[k][i];
        B[j][i] = B[j][i] / L[j][j];
      }]],
  cuda = [[
    // threads: i
    for (long i = 0; i < n; i++)
      for (long j = 0; j < n; j++) {
        real s = B[j][i];
        for (long k = 0; k < j; k++) s = s - L[j][k] * B[k][i];
        B[j][i] = s / L[j][j];
      }]],
}
