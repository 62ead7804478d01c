-- SPDX-License-Identifier: MIT
--- How steep a picture is at each point.

return {
  name = "sobel", title = "Sobel filter",
  parameters = { { "a", "n", "n" }, { "b", "n", "n" }, "n" },
  results = { "b" },
  sizes = { quick = { n = 60 }, full = { n = 1000 } },
  run = function(a, b, n)
    for i = 2, n - 1 do
      for j = 2, n - 1 do
        local x = a[i - 1][j + 1] + 2 * a[i][j + 1] + a[i + 1][j + 1] - a[i - 1][j - 1] - 2 * a[i][j - 1]
          - a[i + 1][j - 1]
        local y = a[i + 1][j - 1] + 2 * a[i + 1][j] + a[i + 1][j + 1] - a[i - 1][j - 1] - 2 * a[i - 1][j]
          - a[i - 1][j + 1]
        b[i][j] = math.sqrt(x * x + y * y)
      end
    end
  end,
  c = [[
#pragma omp parallel for // threads: i, j
    for (long i = 1; i < n - 1; i++)
      for (long j = 1; j < n - 1; j++) {
        const real x = a[i - 1][j + 1] + 2 * a[i][j + 1] + a[i + 1][j + 1] - a[i - 1][j - 1] - 2 * a[i][j - 1]
                       - a[i + 1][j - 1];
        const real y = a[i + 1][j - 1] + 2 * a[i + 1][j] + a[i + 1][j + 1] - a[i - 1][j - 1] - 2 * a[i - 1][j]
                       - a[i - 1][j + 1];
        b[i][j] = sqrt(x * x + y * y);
      }]],
}
