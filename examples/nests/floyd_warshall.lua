-- SPDX-License-Identifier: MIT
--- The shortest paths between all places.

return {
  name = "floyd_warshall", title = "Floyd-Warshall",
  parameters = { { "path", "n", "n", low = 0, high = 1 }, "n" },
  results = { "path" },
  sizes = { quick = { n = 50 }, full = { n = 300 } },
  run = function(path, n)
    for k = 1, n do
      for i = 1, n do
        for j = 1, n do path[i][j] = math.min(path[i][j], path[i][k] + path[k][j]) end
      end
    end
  end,
  c = [[
    #define MIN(x, y) ((y) < (x) ? (y) : (x))
    for (long k = 0; k < n; k++)
#pragma omp parallel for // threads: i, j
      for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++) path[i][j] = MIN(path[i][j], path[i][k] + path[k][j]);]],
}
