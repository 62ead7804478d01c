-- SPDX-License-Identifier: MIT
--- The covariances between the columns of a matrix.

return {
  name = "covariance", title = "covariance",
  parameters = { { "x", "n", "n" }, { "cov", "n", "n" }, { "mean", "n" }, "n" },
  results = { "cov" },
  sizes = { quick = { n = 50 }, full = { n = 300 } },
  run = function(x, cov, mean, n)
    for j = 1, n do
      mean[j] = 0.0
      for i = 1, n do mean[j] = mean[j] + x[i][j] end
      mean[j] = mean[j] / n
    end
    for i = 1, n do
      for j = 1, n do x[i][j] = x[i][j] - mean[j] end
    end
    for i = 1, n do
      for j = i, n do
        cov[i][j] = 0.0
        for k = 1, n do cov[i][j] = cov[i][j] + x[k][i] * x[k][j] end
        cov[i][j] = cov[i][j] / (n - 1)
        cov[j][i] = cov[i][j]
      end
    end
  end,
  c = [[
#pragma omp parallel for
    for (long j = 0; j < n; j++) {
      mean[j] = 0;
      for (long i = 0; i < n; i++) mean[j] = mean[j] + x[i][j];
      mean[j] = mean[j] / n;
    }
#pragma omp parallel for
    for (long i = 0; i < n; i++)
      for (long j = 0; j < n; j++) x[i][j] = x[i][j] - mean[j];
#pragma omp parallel for schedule(dynamic)
    for (long i = 0; i < n; i++)
      for (long j = i; j < n; j++) {
        cov[i][j] = 0;
        for (long k = 0; k < n; k++) cov[i][j] = cov[i][j] + x[k][i] * x[k][j];
        cov[i][j] = cov[i][j] / (n - 1);
        cov[j][i] = cov[i][j];
      }]],
  cuda = [[
    // threads: j
    for (long j = 0; j < n; j++) {
      real s = 0;
      for (long i = 0; i < n; i++) s = s + x[i][j];
      mean[j] = s / n;
    }
    // threads: i, j
    for (long i = 0; i < n; i++)
      for (long j = 0; j < n; j++) x[i][j] = x[i][j] - mean[j];
    // threads: i, j
    for (long i = 0; i < n; i++)
      for (long j = i; j < n; j++) {
        real s = 0;
        for (long k = 0; k < n; k++) s = s + x[k][i] * x[k][j];
        s = s / (n - 1);
        cov[i][j] = s;
        cov[j][i] = s;
      }]],
}
