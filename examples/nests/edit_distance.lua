-- SPDX-License-Identifier: MIT
--- How many letters have to change to make one text of another.

return {
  name = "edit_distance", title = "edit distance",
  parameters = { { "a", "n", integers = function(_, _, random) return random() * 4 // 1 | 0 end },
    { "b", "n", integers = function(_, _, random) return random() * 4 // 1 | 0 end },
    { "d", "n + 1", "n + 1", integers = function() return 0 end }, "n" },
  results = { "d" },
  sizes = { quick = { n = 80 }, full = { n = 1200 } },
  run = function(a, b, d, n)
    for i = 1, n + 1 do
      d[i][1] = i - 1
      d[1][i] = i - 1
    end
    for i = 1, n do
      for j = 1, n do
        local change = d[i][j]
        if a[i] ~= b[j] then change = change + 1 end
        d[i + 1][j + 1] = math.min(change, d[i][j + 1] + 1, d[i + 1][j] + 1)
      end
    end
  end,
  c = [[
    #define MIN(x, y) ((y) < (x) ? (y) : (x))
    for (long i = 0; i <= n; i++) {
      d[i][0] = i;
      d[0][i] = i;
    }
    for (long i = 0; i < n; i++)
      for (long j = 0; j < n; j++) {
        const long change = d[i][j] + (a[i] != b[j]);
        d[i + 1][j + 1] = MIN(MIN(change, d[i][j + 1] + 1), d[i + 1][j] + 1);
      }]],
}
