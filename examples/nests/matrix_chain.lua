-- SPDX-License-Identifier: MIT
--- In which order a chain of matrices is multiplied with the least work.

return {
  name = "matrix_chain", title = "matrix chain",
  parameters = { { "edge", "n + 1", low = 1, high = 10 }, { "cost", "n", "n", low = 0, high = 0 }, "n" },
  results = { "cost" },
  sizes = { quick = { n = 50 }, full = { n = 300 } },
  run = function(edge, cost, n)
    for span = 1, n - 1 do
      for i = 1, n - span do
        local least = 1e30
        for k = i, i + span - 1 do
          local sum = cost[i][k] + cost[k + 1][i + span] + edge[i] * edge[k + 1] * edge[i + span + 1]
          if sum < least then least = sum end
        end
        cost[i][i + span] = least
      end
    end
  end,
  c = [[
    for (long span = 1; span < n; span++)
#pragma omp parallel for
      for (long i = 0; i < n - span; i++) {
        real least = 1e30;
        for (long k = i; k < i + span; k++) {
          const real sum = cost[i][k] + cost[k + 1][i + span] + edge[i] * edge[k + 1] * edge[i + span + 1];
          if (sum < least) least = sum;
        }
        cost[i][i + span] = least;
      }]],
}
