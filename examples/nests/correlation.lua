-- SPDX-License-Identifier: MIT
--- The correlations between the columns of a matrix.

return {
  name = "correlation", title = "correlation",
  parameters = { { "x", "n", "n" }, { "corr", "n", "n" }, { "mean", "n" }, { "dev", "n" }, "n" },
  results = { "corr" },
  sizes = { quick = { n = 50 }, full = { n = 300 } },
  run = function(x, corr, mean, dev, n)
    for j = 1, n do
      mean[j] = 0.0
      for i = 1, n do mean[j] = mean[j] + x[i][j] end
      mean[j] = mean[j] / n
    end
    for j = 1, n do
      dev[j] = 0.0
      for i = 1, n do dev[j] = dev[j] + (x[i][j] - mean[j]) * (x[i][j] - mean[j]) end
      dev[j] = math.sqrt(dev[j] / n)
      if dev[j] <= 0.1 then dev[j] = 1.0 end
    end
    for i = 1, n do
      for j = 1, n do x[i][j] = (x[i][j] - mean[j]) / (math.sqrt(n) * dev[j]) end
    end
    for i = 1, n - 1 do
      corr[i][i] = 1.0
      for j = i + 1, n do
        corr[i][j] = 0.0
        for k = 1, n do corr[i][j] = corr[i][j] + x[k][i] * x[k][j] end
        corr[j][i] = corr[i][j]
      end
    end
    corr[n][n] = 1.0
  end,
  c = [[
#pragma omp parallel for
    for (long j = 0; j < n; j++) {
      mean[j] = 0;
      for (long i = 0; i < n; i++) mean[j] = mean[j] + x[i][j];
      mean[j] = mean[j] / n;
    }
#pragma omp parallel for
    for (long j = 0; j < n; j++) {
      dev[j] = 0;
      for (long i = 0; i < n; i++) dev[j] = dev[j] + (x[i][j] - mean[j]) * (x[i][j] - mean[j]);
      dev[j] = sqrt(dev[j] / n);
      if (dev[j] <= 0.1) dev[j] = 1;
    }
#pragma omp parallel for
    for (long i = 0; i < n; i++)
      for (long j = 0; j < n; j++) x[i][j] = (x[i][j] - mean[j]) / (sqrt((real)n) * dev[j]);
#pragma omp parallel for schedule(dynamic)
    for (long i = 0; i < n - 1; i++) {
      corr[i][i] = 1;
      for (long j = i + 1; j < n; j++) {
        corr[i][j] = 0;
        for (long k = 0; k < n; k++) corr[i][j] = corr[i][j] + x[k][i] * x[k][j];
        corr[j][i] = corr[i][j];
      }
    }
    corr[n - 1][n - 1] = 1;]],
  cuda = [[
    // threads: j
    for (long j = 0; j < n; j++) {
      real s = 0;
      for (long i = 0; i < n; i++) s = s + x[i][j];
      mean[j] = s / n;
    }
    // threads: j
    for (long j = 0; j < n; j++) {
      real s = 0;
      for (long i = 0; i < n; i++) s = s + (x[i][j] - mean[j]) * (x[i][j] - mean[j]);
      s = sqrt(s / n);
      dev[j] = s <= 0.1 ? 1 : s;
    }
    // threads: i, j
    for (long i = 0; i < n; i++)
      for (long j = 0; j < n; j++) x[i][j] = (x[i][j] - mean[j]) / (sqrt((real)n) * dev[j]);
    // threads: i, j
    for (long i = 0; i < n; i++)
      for (long j = i; j < n; j++) {
        real s = 0;
        for (long k = 0; k < n; k++) s = s + x[k][i] * x[k][j];
        corr[i][j] = i == j ? 1 : s;
        corr[j][i] = corr[i][j];
      }]],
}
