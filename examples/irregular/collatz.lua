-- SPDX-License-Identifier: MIT
--- How many steps numbers take to 1, by halves and 3 x + 1.

return {
  name = "collatz", title = "Collatz steps",
  parameters = { { "steps", "n", integers = function() return 0 end }, "n" },
  results = { "steps" },
  sizes = { quick = { n = 2000 }, full = { n = 200000 } },
  run = function(steps, n)
    for i = 1, n do
      local x, count = i, 0
      while x ~= 1 do
        if x % 2 == 0 then x = x // 2 else x = 3 * x + 1 end
        count = count + 1
      end
      steps[i] = count
    end
  end,
  c = [[
#pragma omp parallel for
    for (long i = 1; i <= n; i++) {
      long x = i, count = 0;
      for (; x != 1; count++) x = x % 2 == 0 ? x / 2 : 3 * x + 1;
      steps[i - 1] = count;
    }]],
}
