-- SPDX-License-Identifier: MIT
--- A Toeplitz system by the recursion of Levinson and Durbin.

return {
  name = "durbin", title = "Toeplitz system",
  parameters = { { "r", "n", low = -0.01, high = 0.01 }, { "y", "n" }, { "z", "n" }, "n" },
  results = { "y" },
  sizes = { quick = { n = 120 }, full = { n = 2000 } },
  run = function(r, y, z, n)
    y[1] = -r[1]
    local beta, alpha = 1.0, -r[1]
    for k = 2, n do
      beta = (1 - alpha * alpha) * beta
      local s = 0.0
      for i = 1, k - 1 do s = s + r[k - i] * y[i] end
      alpha = -(r[k] + s) / beta
      for i = 1, k - 1 do z[i] = y[i] + alpha * y[k - i] end
      for i = 1, k - 1 do y[i] = z[i] end
      y[k] = alpha
    end
  end,
  c = [[
    y[0] = -r[0];
    real beta = 1, alpha = -r[0];
    for (long k = 1; k < n; k++) {
      beta = (1 - alpha * alpha) * beta;
      real s = 0;
      for (long i = 0; i < k; i++) s = s + r[k - i - 1] * y[i];
      alpha = -(r[k] + s) / beta;
      for (long i = 0; i < k; i++) z[i] = y[i] + alpha * y[k - i - 1];
      for (long i = 0; i < k; i++) y[i] = z[i];
      y[k] = alpha;
    }]],
}
