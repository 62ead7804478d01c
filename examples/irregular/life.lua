-- SPDX-License-Identifier: MIT
--- A step of Conway's game of life, with conditions.

return {
  name = "life", title = "game of life",
  parameters = { { "now", "n", "n", integers = function(_, _, random) return random() * 2 // 1 | 0 end },
    { "next", "n", "n", integers = function() return 0 end }, "n" },
  results = { "next" },
  sizes = { quick = { n = 100 }, full = { n = 2000 } },
  run = function(now, next, n)
    for i = 2, n - 1 do
      for j = 2, n - 1 do
        local around = now[i - 1][j - 1] + now[i - 1][j] + now[i - 1][j + 1] + now[i][j - 1] + now[i][j + 1]
          + now[i + 1][j - 1] + now[i + 1][j] + now[i + 1][j + 1]
        if around == 3 then
          next[i][j] = 1
        elseif around == 2 then
          next[i][j] = now[i][j]
        else
          next[i][j] = 0
        end
      end
    end
  end,
  c = [[
#pragma omp parallel for // threads: i, j
    for (long i = 1; i < n - 1; i++)
      for (long j = 1; j < n - 1; j++) {
        const long around = now[i - 1][j - 1] + now[i - 1][j] + now[i - 1][j + 1] + now[i][j - 1] + now[i][j + 1]
                            + now[i + 1][j - 1] + now[i + 1][j] + now[i + 1][j + 1];
        next[i][j] = around == 3 ? 1 : around == 2 ? now[i][j] : 0;
      }]],
}
