-- SPDX-License-Identifier: MIT
--- Binary search of each of many numbers in a sorted array, by a local function.

return {
  name = "search", title = "binary search",
  parameters = { { "sorted", "n", integers = function(i) return 2 * i end },
    { "wanted", "n", integers = function(_, n, random) return 1 + random() * 2 * n // 1 | 0 end },
    { "found", "n", integers = function() return 0 end }, "n" },
  results = { "found" },
  sizes = { quick = { n = 2000 }, full = { n = 500000 } },
  run = function(sorted, wanted, found, n)
    local function place_of(key)
      local low, high = 1, n
      while low < high do
        local middle = (low + high) // 2
        if sorted[middle] < key then low = middle + 1 else high = middle end
      end
      return low
    end
    for i = 1, n do found[i] = place_of(wanted[i]) end
  end,
  c = [[
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
      long low = 1, high = n;
      while (low < high) {
        const long middle = (low + high) / 2;
        if (sorted[middle - 1] < wanted[i]) low = middle + 1; else high = middle;
      }
      found[i] = low;
    }]],
}
