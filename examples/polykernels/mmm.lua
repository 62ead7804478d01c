-- SPDX-License-Identifier: MIT
--- The product of two matrices.

return {
  name = "mmm", title = "Matrix product",
  parameters = { { "A", "n", "n" }, { "B", "n", "n" }, { "C", "n", "n" }, "n" },
  results = { "C" },
  sizes = { quick = { n = 128 }, full = { n = 400 } },
  run = function(A, B, C, n)
    for i = 1, n do
      for j = 1, n do
        local s = 0.0
        for k = 1, n do s = s + A[i][k] * B[k][j] end
        C[i][j] = s
      end
    end
  end,
  c = [[
#pragma omp parallel for // threads: i, j
    for (long i = 0; i < n; i++)
      for (long j = 0; j < n; j++) {
        real s = 0.0;
        for (long k = 0; k < n; k++) s = s + A[i][k] * B[k][j];
        C[i][j] = s;
      }]],
}
