-- SPDX-License-Identifier: MIT
--- A matrix times a triangular one, in place.

return {
  name = "strmm", title = "Triangular matrix product, in place",
  parameters = { { "a", "n", "n" }, { "b", "n", "n" }, "n" },
  results = { "b" },
  sizes = { quick = { n = 64 }, full = { n = 400 } },
  run = function(a, b, n)
    for i = 2, n do
      for j = 1, n do
        for k = 1, i - 1 do b[j][k] = b[j][k] + a[i][k] * b[j][i] end
      end
    end
  end,
  c = [[
    for (long i = 1; i < n; i++)
#pragma omp parallel for
      for (long j = 0; j < n; j++)
        for (long k = 0; k < i; k++) b[j][k] = b[j][k] + a[i][k] * b[j][i];]],
  cuda = [[
    real product[n][n];
    // threads: j, k
    for (long j = 0; j < n; j++)
      for (long k = 0; k < n; k++) {
        real s = b[j][k];
        for (long i = k + 1; i < n; i++) s = s + a[i][k] * b[j][i];
        product[j][k] = s;
      }
    // threads: j, k
    for (long j = 0; j < n; j++)
      for (long k = 0; k < n; k++) b[j][k] = product[j][k];]],
}
