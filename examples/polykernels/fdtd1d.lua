-- SPDX-License-Identifier: MIT
--- Finite differences in the time domain, one dimension: the electric field from the magnetic one, and back.

return {
  name = "fdtd1d", title = "Finite differences in time, 1-D",
  parameters = { { "e", "n + 1" }, { "h", "n" }, "n", "steps" },
  results = { "e", "h" },
  sizes = { quick = { n = 2000, steps = 20 }, full = { n = 200000, steps = 100 } },
  run = function(e, h, n, steps)
    for _ = 1, steps do
      for i = 2, n do e[i] = e[i] - 0.5 * (h[i] - h[i - 1]) end
      for i = 1, n do h[i] = h[i] - 0.7 * (e[i + 1] - e[i]) end
    end
  end,
  c = [[
    for (long t = 0; t < steps; t++) {
#pragma omp parallel for
      for (long i = 1; i < n; i++) e[i] = e[i] - 0.5 * (h[i] - h[i - 1]);
#pragma omp parallel for
      for (long i = 0; i < n; i++) h[i] = h[i] - 0.7 * (e[i + 1] - e[i]);
    }]],
}
