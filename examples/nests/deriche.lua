-- SPDX-License-Identifier: MIT
--- Edges of a picture, by recursive filters along its rows and columns, both ways.

return {
  name = "deriche", title = "edge detection by Deriche",
  parameters = { { "a", "n", "n" }, { "b", "n", "n" }, { "u", "n", "n" }, { "v", "n", "n" }, "n" },
  results = { "b" },
  sizes = { quick = { n = 50 }, full = { n = 500 } },
  run = function(a, b, u, v, n)
    local k, a1, a2, b1, b2 = 0.25, 0.1875, 0.125, 1.5, -0.5625
    for i = 1, n do
      local y1, y2, x1 = 0.0, 0.0, 0.0
      for j = 1, n do
        u[i][j] = k * a[i][j] + a1 * x1 + b1 * y1 + b2 * y2
        x1 = a[i][j]
        y2 = y1
        y1 = u[i][j]
      end
    end
    for i = 1, n do
      local y1, y2, x1, x2 = 0.0, 0.0, 0.0, 0.0
      for j = n, 1, -1 do
        v[i][j] = a2 * x1 + a1 * x2 + b1 * y1 + b2 * y2
        x2 = x1
        x1 = a[i][j]
        y2 = y1
        y1 = v[i][j]
      end
    end
    for i = 1, n do
      for j = 1, n do b[i][j] = u[i][j] + v[i][j] end
    end
    for j = 1, n do
      local y1, y2, x1 = 0.0, 0.0, 0.0
      for i = 1, n do
        u[i][j] = k * b[i][j] + a1 * x1 + b1 * y1 + b2 * y2
        x1 = b[i][j]
        y2 = y1
        y1 = u[i][j]
      end
    end
    for j = 1, n do
      local y1, y2, x1, x2 = 0.0, 0.0, 0.0, 0.0
      for i = n, 1, -1 do
        v[i][j] = a2 * x1 + a1 * x2 + b1 * y1 + b2 * y2
        x2 = x1
        x1 = b[i][j]
        y2 = y1
        y1 = v[i][j]
      end
    end
    for i = 1, n do
      for j = 1, n do b[i][j] = u[i][j] + v[i][j] end
    end
  end,
  c = [[
    const real k = 0.25, a1 = 0.1875, a2 = 0.125, b1 = 1.5, b2 = -0.5625;
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
      real y1 = 0, y2 = 0, x1 = 0;
      for (long j = 0; j < n; j++) {
        u[i][j] = k * a[i][j] + a1 * x1 + b1 * y1 + b2 * y2;
        x1 = a[i][j];
        y2 = y1;
        y1 = u[i][j];
      }
    }
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
      real y1 = 0, y2 = 0, x1 = 0, x2 = 0;
      for (long j = n - 1; j >= 0; j--) {
        v[i][j] = a2 * x1 + a1 * x2 + b1 * y1 + b2 * y2;
        x2 = x1;
        x1 = a[i][j];
        y2 = y1;
        y1 = v[i][j];
      }
    }
#pragma omp parallel for // threads: i, j
    for (long i = 0; i < n; i++)
      for (long j = 0; j < n; j++) b[i][j] = u[i][j] + v[i][j];
#pragma omp parallel for
    for (long j = 0; j < n; j++) {
      real y1 = 0, y2 = 0, x1 = 0;
      for (long i = 0; i < n; i++) {
        u[i][j] = k * b[i][j] + a1 * x1 + b1 * y1 + b2 * y2;
        x1 = b[i][j];
        y2 = y1;
        y1 = u[i][j];
      }
    }
#pragma omp parallel for
    for (long j = 0; j < n; j++) {
      real y1 = 0, y2 = 0, x1 = 0, x2 = 0;
      for (long i = n - 1; i >= 0; i--) {
        v[i][j] = a2 * x1 + a1 * x2 + b1 * y1 + b2 * y2;
        x2 = x1;
        x1 = b[i][j];
        y2 = y1;
        y1 = v[i][j];
      }
    }
#pragma omp parallel for // threads: i, j
    for (long i = 0; i < n; i++)
      for (long j = 0; j < n; j++) b[i][j] = u[i][j] + v[i][j];]],
}
