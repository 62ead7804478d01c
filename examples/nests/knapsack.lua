-- SPDX-License-Identifier: MIT
--- What a bag of each size holds at most, of things with a weight and a value.

return {
  name = "knapsack", title = "knapsack",
  parameters = { { "weight", "300", integers = function(_, _, random) return 1 + random() * 20 // 1 | 0 end },
    { "value", "300", low = 0, high = 1 }, { "best", "301", "n", low = 0, high = 0 }, "n" },
  results = { "best" },
  sizes = { quick = { n = 60 }, full = { n = 4000 } },
  run = function(weight, value, best, n)
    for i = 1, 300 do
      for j = 1, n do
        best[i + 1][j] = best[i][j]
        if j > weight[i] then best[i + 1][j] = math.max(best[i][j], best[i][j - weight[i]] + value[i]) end
      end
    end
  end,
  c = [[
    for (long i = 0; i < 300; i++) {
      const long own = weight[i];
#pragma omp parallel for
      for (long j = 0; j < n; j++) {
        best[i + 1][j] = best[i][j];
        if (j >= own) {
          const real with = best[i][j - own] + value[i];
          best[i + 1][j] = best[i][j] < with ? with : best[i][j];
        }
      }
    }]],
  cuda = [[
    for (long i = 0; i < 300; i++) {
      // threads: j
      for (long j = 0; j < n; j++) {
        const long own = weight[i];
        real most = best[i][j];
        if (j >= own) {
          const real with = best[i][j - own] + value[i];
          most = most < with ? with : most;
        }
        best[i + 1][j] = most;
      }
    }]],
}
