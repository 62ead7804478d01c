-- SPDX-License-Identifier: MIT
--- A histogram of 256 bins.

return {
  name = "histogram", title = "histogram of 256 bins",
  parameters = { { "count", "256", integers = function() return 0 end },
    { "key", "n", integers = function(_, _, random) return 1 + random() * 256 // 1 | 0 end }, "n" },
  results = { "count" },
  sizes = { quick = { n = 10000 }, full = { n = 4000000 } },
  run = function(count, key, n)
    for i = 1, n do count[key[i]] = count[key[i]] + 1 end
  end,
  c = "    for (long i = 0; i < n; i++) count[key[i] - 1]++;",
}
