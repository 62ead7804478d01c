-- SPDX-License-Identifier: MIT
--- A step of k-means: points go to the nearest of 16 centres, which become the means of theirs.

return {
  name = "kmeans", title = "k-means",
  parameters = { { "x", "n", "4" }, { "centre", "16", "4" }, { "total", "16", "4" },
    { "size", "16", integers = function() return 0 end }, { "nearest", "n", integers = function() return 1 end }, "n" },
  results = { "centre", "size", "nearest" },
  sizes = { quick = { n = 2000 }, full = { n = 100000 } },
  run = function(x, centre, total, size, nearest, n)
    for i = 1, n do
      local least, best = 1e30, 1
      for c = 1, 16 do
        local distance = 0.0
        for k = 1, 4 do
          local d = x[i][k] - centre[c][k]
          distance = distance + d * d
        end
        if distance < least then least, best = distance, c end
      end
      nearest[i] = best
    end
    for c = 1, 16 do
      size[c] = 0
      for k = 1, 4 do total[c][k] = 0.0 end
    end
    for i = 1, n do
      local c = nearest[i]
      size[c] = size[c] + 1
      for k = 1, 4 do total[c][k] = total[c][k] + x[i][k] end
    end
    for c = 1, 16 do
      if size[c] > 0 then
        for k = 1, 4 do centre[c][k] = total[c][k] / size[c] end
      end
    end
  end,
  c = [[
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
      real least = 1e30;
      long best = 1;
      for (long c = 0; c < 16; c++) {
        real distance = 0;
        for (long k = 0; k < 4; k++) {
          const real d = x[i][k] - centre[c][k];
          distance = distance + d * d;
        }
        if (distance < least) {
          least = distance;
          best = c + 1;
        }
      }
      nearest[i] = best;
    }
    for (long c = 0; c < 16; c++) {
      size[c] = 0;
      for (long k = 0; k < 4; k++) total[c][k] = 0;
    }
    for (long i = 0; i < n; i++) {
      const long c = nearest[i] - 1;
      size[c] = size[c] + 1;
      for (long k = 0; k < 4; k++) total[c][k] = total[c][k] + x[i][k];
    }
    for (long c = 0; c < 16; c++)
      if (size[c] > 0)
        for (long k = 0; k < 4; k++) centre[c][k] = total[c][k] / size[c];]],
  cuda = [[
    // threads: i
    for (long i = 0; i < n; i++) {
      real least = 1e30;
      long best = 1;
      for (long c = 0; c < 16; c++) {
        real distance = 0;
        for (long k = 0; k < 4; k++) {
          const real d = x[i][k] - centre[c][k];
          distance = distance + d * d;
        }
        if (distance < least) {
          least = distance;
          best = c + 1;
        }
      }
      nearest[i] = best;
    }
    // threads: c, k
    for (long c = 0; c < 16; c++)
      for (long k = 0; k < 4; k++) {
        real s = 0;
        long count = 0;
        for (long i = 0; i < n; i++)
          if (nearest[i] == c + 1) {
            s = s + x[i][k];
            count++;
          }
        total[c][k] = s;
        if (k == 0) size[c] = count;
        if (count > 0) centre[c][k] = s / count;
      }]],
}
