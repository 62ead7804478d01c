-- SPDX-License-Identifier: MIT
--- A matrix times a vector, and its transpose times another.

return {
  name = "mvt", title = "Matrix-vector product and transpose",
  parameters = { { "a", "n", "n" }, { "x1", "n" }, { "x2", "n" }, { "y1", "n" }, { "y2", "n" }, "n" },
  results = { "x1", "x2" },
  sizes = { quick = { n = 128 }, full = { n = 2000 } },
  run = function(a, x1, x2, y1, y2, n)
    for i = 1, n do
      for j = 1, n do x1[i] = x1[i] + a[i][j] * y1[j] end
    end
    for i = 1, n do
      for j = 1, n do x2[i] = x2[i] + a[j][i] * y2[j] end
    end
  end,
  c = [[
#pragma omp parallel for
    for (long i = 0; i < n; i++)
      for (long j = 0; j < n; j++) x1[i] = x1[i] + a[i][j] * y1[j];
#pragma omp parallel for
    for (long i = 0; i < n; i++)
      for (long j = 0; j < n; j++) x2[i] = x2[i] + a[j][i] * y2[j];]],
  cuda = [[
    // threads: i
    for (long i = 0; i < n; i++) {
      real s = x1[i];
      for (long j = 0; j < n; j++) s = s + a[i][j] * y1[j];
      x1[i] = s;
    }
    // threads: i
    for (long i = 0; i < n; i++) {
      real s = x2[i];
      for (long j = 0; j < n; j++) s = s + a[j][i] * y2[j];
      x2[i] = s;
    }]],
}
