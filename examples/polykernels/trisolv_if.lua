-- SPDX-License-Identifier: MIT
--- Triangular solve with one right-hand side, the division inside the innermost loop: no loop is parallel in this
-- order.

return {
  name = "trisolv_if", title = "Triangular solve, one right side",
  parameters = { { "L", "n", "n", dominant = true }, { "x", "n" }, "n" },
  results = { "x" },
  sizes = { quick = { n = 128 }, full = { n = 2000 } },
  run = function(L, x, n)
    for i = 1, n do
      for j = 1, i do
        if j < i then
          x[i] = x[i] - L[i][j] * x[j]
        else
          x[i] = x[i] / L[i][i]
        end
      end
    end
  end,
  c = [[
    for (long i = 0; i < n; i++)
      for (long j = 0; j <= i; j++) {
        if (j < i)
          x[i] = x[i] - L[i][j] * x[j];
        else
          x[i] = x[i] / L[i][i];
      }]],
}
