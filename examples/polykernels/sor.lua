-- SPDX-License-Identifier: MIT
--- One sweep of successive over-relaxation in place, five points: no loop is parallel in this order.

return {
  name = "sor", title = "Successive over-relaxation",
  parameters = { { "a", "n", "n" }, { "omega", value = 1.25 }, "n" },
  results = { "a" },
  sizes = { quick = { n = 128 }, full = { n = 2000 } },
  run = function(a, omega, n)
    for i = 2, n - 1 do
      for j = 2, n - 1 do
        a[i][j] = (1 - omega) * a[i][j] + omega * 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1])
      end
    end
  end,
  c = [[
    for (long i = 1; i < n - 1; i++)
      for (long j = 1; j < n - 1; j++)
        a[i][j] = (1 - omega) * a[i][j] + omega * 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);]],
}
