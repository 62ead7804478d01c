-- SPDX-License-Identifier: MIT
--- The product of a sparse matrix in rows (CSR) and a vector: 16 elements in a row.

local IN_ROW <const> = 16

return {
  name = "spmv", title = "sparse matrix times vector, CSR",
  parameters = { { "y", "n" }, { "row", "n + 1", integers = function(i) return (i - 1) * IN_ROW + 1 end },
    { "col", "16 * n", integers = function(_, n, random) return 1 + random() * n // 1 | 0 end }, { "val", "16 * n" },
    { "x", "n" }, "n" },
  results = { "y" },
  sizes = { quick = { n = 2000 }, full = { n = 200000 } },
  run = function(y, row, col, val, x, n)
    for i = 1, n do
      local s = 0.0
      for k = row[i], row[i + 1] - 1 do s = s + val[k] * x[col[k]] end
      y[i] = s
    end
  end,
  c = [[
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
      real s = 0;
      for (long k = row[i] - 1; k < row[i + 1] - 1; k++) s = s + val[k] * x[col[k] - 1];
      y[i] = s;
    }]],
}
