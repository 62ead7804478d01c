-- SPDX-License-Identifier: MIT
--- How a strand of bases folds: the most pairs of each part of it.

return {
  name = "nussinov", title = "Nussinov",
  parameters = { { "seq", "n", integers = function(_, _, random) return random() * 4 // 1 | 0 end },
    { "most", "n", "n", low = 0, high = 0 }, "n" },
  results = { "most" },
  sizes = { quick = { n = 60 }, full = { n = 400 } },
  run = function(seq, most, n)
    for i = n - 1, 1, -1 do
      for j = i + 1, n do
        most[i][j] = math.max(most[i][j], most[i][j - 1])
        most[i][j] = math.max(most[i][j], most[i + 1][j])
        if i < j - 1 then
          local pair = 0.0
          if seq[i] + seq[j] == 3 then pair = 1.0 end
          most[i][j] = math.max(most[i][j], most[i + 1][j - 1] + pair)
        else
          most[i][j] = math.max(most[i][j], most[i + 1][j - 1])
        end
        for k = i + 1, j - 1 do most[i][j] = math.max(most[i][j], most[i][k] + most[k + 1][j]) end
      end
    end
  end,
  c = [[
    #define MAX(x, y) ((x) < (y) ? (y) : (x))
    for (long i = n - 2; i >= 0; i--)
      for (long j = i + 1; j < n; j++) {
        most[i][j] = MAX(most[i][j], most[i][j - 1]);
        most[i][j] = MAX(most[i][j], most[i + 1][j]);
        if (i < j - 1)
          most[i][j] = MAX(most[i][j], most[i + 1][j - 1] + (seq[i] + seq[j] == 3 ? 1 : 0));
        else
          most[i][j] = MAX(most[i][j], most[i + 1][j - 1]);
        for (long k = i + 1; k < j; k++) most[i][j] = MAX(most[i][j], most[i][k] + most[k + 1][j]);
      }]],
}
