-- SPDX-License-Identifier: MIT
--- The sums of the first elements of an array.

return {
  name = "prefix_sum", title = "prefix sum",
  parameters = { { "x", "n" }, { "y", "n" }, "n" },
  results = { "y" },
  sizes = { quick = { n = 20000 }, full = { n = 4000000 } },
  run = function(x, y, n)
    local s = 0.0
    for i = 1, n do
      s = s + x[i]
      y[i] = s
    end
  end,
  c = [[
    real s = 0;
    for (long i = 0; i < n; i++) {
      s = s + x[i];
      y[i] = s;
    }]],
}
