-- SPDX-License-Identifier: MIT
--- Jacobi's method in one dimension, three points.

return {
  name = "jac", title = "Jacobi, 1-D, 3 points",
  parameters = { { "a", "n" }, { "b", "n" }, "n", "steps" },
  results = { "a", "b" },
  sizes = { quick = { n = 2000, steps = 20 }, full = { n = 200000, steps = 100 } },
  run = function(a, b, n, steps)
    for _ = 1, steps do
      for i = 2, n - 1 do b[i] = 0.33333 * (a[i - 1] + a[i] + a[i + 1]) end
      for i = 2, n - 1 do a[i] = b[i] end
    end
  end,
  c = [[
    for (long t = 0; t < steps; t++) {
#pragma omp parallel for
      for (long i = 1; i < n - 1; i++) b[i] = 0.33333 * (a[i - 1] + a[i] + a[i + 1]);
#pragma omp parallel for
      for (long i = 1; i < n - 1; i++) a[i] = b[i];
    }]],
}
