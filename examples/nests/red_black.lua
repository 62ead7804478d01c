-- SPDX-License-Identifier: MIT
--- Relaxation of the points of one colour of a chess board, then of the other.

return {
  name = "red_black", title = "red-black relaxation",
  parameters = { { "a", "n", "n" }, "n", "steps" },
  results = { "a" },
  sizes = { quick = { n = 40, steps = 3 }, full = { n = 500, steps = 10 } },
  run = function(a, n, steps)
    for _ = 1, steps do
      for colour = 0, 1 do
        for i = 2, n - 1 do
          for j = 2 + (i + colour) % 2, n - 1, 2 do
            a[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1])
          end
        end
      end
    end
  end,
  c = [[
    for (long t = 0; t < steps; t++)
      for (long colour = 0; colour < 2; colour++)
#pragma omp parallel for
        for (long i = 1; i < n - 1; i++)
          for (long j = 1 + (i + 1 + colour) % 2; j < n - 1; j += 2)
            a[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);]],
  cuda = [[
    for (long t = 0; t < steps; t++)
      for (long colour = 0; colour < 2; colour++)
        // threads: i, p
        for (long i = 1; i < n - 1; i++)
          for (long p = 0; p < n / 2; p++) {
            const int j = 1 + (i + 1 + colour) % 2 + 2 * p;
            if (j < n - 1) a[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
          }]],
}
