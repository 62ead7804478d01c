-- SPDX-License-Identifier: MIT
--- The accelerations of bodies that attract each other.

return {
  name = "nbody", title = "n-body",
  parameters = { { "x", "n" }, { "y", "n" }, { "z", "n" }, { "mass", "n", low = 0.1, high = 1 },
    { "ax", "n" }, { "ay", "n" }, { "az", "n" }, "n" },
  results = { "ax", "ay", "az" },
  sizes = { quick = { n = 100 }, full = { n = 1200 } },
  run = function(x, y, z, mass, ax, ay, az, n)
    for i = 1, n do
      local sx, sy, sz = 0.0, 0.0, 0.0
      for j = 1, n do
        local dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
        local r2 = dx * dx + dy * dy + dz * dz + 0.01
        local f = mass[j] / (r2 * math.sqrt(r2))
        sx = sx + f * dx
        sy = sy + f * dy
        sz = sz + f * dz
      end
      ax[i], ay[i], az[i] = sx, sy, sz
    end
  end,
  c = [[
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
      real sx = 0, sy = 0, sz = 0;
      for (long j = 0; j < n; j++) {
        const real dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
        const real r2 = dx * dx + dy * dy + dz * dz + 0.01;
        const real f = mass[j] / (r2 * sqrt(r2));
        sx = sx + f * dx;
        sy = sy + f * dy;
        sz = sz + f * dz;
      }
      ax[i] = sx;
      ay[i] = sy;
      az[i] = sz;
    }]],
}
