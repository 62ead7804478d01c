-- SPDX-License-Identifier: MIT
--- A matrix with two rank-one updates, and products of it with two vectors.

return {
  name = "gemver", title = "Vector products, rank-2 update",
  parameters = { { "A", "n", "n" }, { "B", "n", "n" }, { "u1", "n" }, { "v1", "n" }, { "u2", "n" }, { "v2", "n" },
    { "x", "n" }, { "y", "n" }, { "z", "n" }, { "w", "n" }, { "alpha", value = 1.5 }, { "beta", value = 0.75 }, "n" },
  results = { "B", "x", "w" },
  sizes = { quick = { n = 128 }, full = { n = 2000 } },
  run = function(A, B, u1, v1, u2, v2, x, y, z, w, alpha, beta, n)
    for i = 1, n do
      for j = 1, n do B[i][j] = A[i][j] + u1[i] * v1[j] + u2[i] * v2[j] end
    end
    for i = 1, n do
      for j = 1, n do x[i] = x[i] + beta * B[j][i] * y[j] end
    end
    for i = 1, n do x[i] = x[i] + z[i] end
    for i = 1, n do
      for j = 1, n do w[i] = w[i] + alpha * B[i][j] * x[j] end
    end
  end,
  c = [[
#pragma omp parallel for
    for (long i = 0; i < n; i++)
      for (long j = 0; j < n; j++) B[i][j] = A[i][j] + u1[i] * v1[j] + u2[i] * v2[j];
#pragma omp parallel for
    for (long i = 0; i < n; i++)
      for (long j = 0; j < n; j++) x[i] = x[i] + beta * B[j][i] * y[j];
    for (long i = 0; i < n; i++) x[i] = x[i] + z[i];
#pragma omp parallel for
    for (long i = 0; i < n; i++)
      for (long j = 0; j < n; j++) w[i] = w[i] + alpha * B[i][j] * x[j];]],
  cuda = [[
    // threads: i, j
    for (long i = 0; i < n; i++)
      for (long j = 0; j < n; j++) B[i][j] = A[i][j] + u1[i] * v1[j] + u2[i] * v2[j];
    // threads: i
    for (long i = 0; i < n; i++) {
      real s = x[i];
      for (long j = 0; j < n; j++) s = s + beta * B[j][i] * y[j];
      x[i] = s + z[i];
    }
    // threads: i
    for (long i = 0; i < n; i++) {
      real s = w[i];
      for (long j = 0; j < n; j++) s = s + alpha * B[i][j] * x[j];
      w[i] = s;
    }]],
}
