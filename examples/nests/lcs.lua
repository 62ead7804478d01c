-- SPDX-License-Identifier: MIT
--- The length of the longest common subsequence of two texts.

return {
  name = "lcs", title = "longest common subsequence",
  parameters = { { "a", "n", integers = function(_, _, random) return random() * 4 // 1 | 0 end },
    { "b", "n", integers = function(_, _, random) return random() * 4 // 1 | 0 end },
    { "d", "n + 1", "n + 1", integers = function() return 0 end }, "n" },
  results = { "d" },
  sizes = { quick = { n = 80 }, full = { n = 1200 } },
  run = function(a, b, d, n)
    for i = 1, n do
      for j = 1, n do
        if a[i] == b[j] then
          d[i + 1][j + 1] = d[i][j] + 1
        else
          d[i + 1][j + 1] = math.max(d[i][j + 1], d[i + 1][j])
        end
      end
    end
  end,
  c = [[
    for (long i = 0; i < n; i++)
      for (long j = 0; j < n; j++)
        d[i + 1][j + 1] = a[i] == b[j] ? d[i][j] + 1 : d[i][j + 1] > d[i + 1][j] ? d[i][j + 1] : d[i + 1][j];]],
}
