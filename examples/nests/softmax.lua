-- SPDX-License-Identifier: MIT
--- Rows become shares of one, by the exponents of their elements.

return {
  name = "softmax", title = "softmax",
  parameters = { { "x", "n", "n" }, { "y", "n", "n" }, "n" },
  results = { "y" },
  sizes = { quick = { n = 40 }, full = { n = 400 } },
  has_transcendental = true,
  run = function(x, y, n)
    for i = 1, n do
      local most = x[i][1]
      for j = 2, n do most = math.max(most, x[i][j]) end
      local sum = 0.0
      for j = 1, n do
        y[i][j] = math.exp(x[i][j] - most)
        sum = sum + y[i][j]
      end
      for j = 1, n do y[i][j] = y[i][j] / sum end
    end
  end,
  c = [[
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
      real most = x[i][0];
      for (long j = 1; j < n; j++) most = most < x[i][j] ? x[i][j] : most;
      real sum = 0;
      for (long j = 0; j < n; j++) {
        y[i][j] = exp(x[i][j] - most);
        sum = sum + y[i][j];
      }
      for (long j = 0; j < n; j++) y[i][j] = y[i][j] / sum;
    }]],
}
