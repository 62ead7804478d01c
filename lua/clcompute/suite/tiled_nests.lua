-- SPDX-License-Identifier: MIT
--- Nests as a generator for GPUs writes them (PPCG is one): an element a work-item, tiles in local memory; by hand.
--
-- By name of the row, a function of a device, buffers of floats as the row's function takes them, and its sizes, that
-- returns a function which queues the nest.
-- @module clcompute.suite.tiled_nests

local tiled_nests = {}

local TILE = 16 -- edge of a work-group

local MMM = [[
  kernel void mmm(global const float *a, global const float *b, global float *c, int n) {
    local float a_tile[TILE][TILE], b_tile[TILE][TILE];
    const int row = get_global_id(1), column = get_global_id(0);
    const int y = get_local_id(1), x = get_local_id(0);
    float sum = 0;
    for (int first = 0; first < n; first += TILE) {
      a_tile[y][x] = row < n && first + x < n ? a[row * n + first + x] : 0;
      b_tile[y][x] = column < n && first + y < n ? b[(first + y) * n + column] : 0;
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int k = 0; k < TILE; k++) sum += a_tile[y][k] * b_tile[k][x];
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < n && column < n) c[row * n + column] = sum;
  }
]]

local JAC2D = [[
  /* A tile with the elements around it; the inner points are its work-items'. */
  kernel void average(global const float *a, global float *b, int n) {
    local float tile[TILE + 2][TILE + 2];
    const int top = get_group_id(1) * TILE, left = get_group_id(0) * TILE;
    const int y = get_local_id(1), x = get_local_id(0);
    for (int i = y * TILE + x; i < (TILE + 2) * (TILE + 2); i += TILE * TILE) {
      const int row = top + i / (TILE + 2), column = left + i % (TILE + 2);
      tile[i / (TILE + 2)][i % (TILE + 2)] = row < n && column < n ? a[row * n + column] : 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const int row = top + y + 1, column = left + x + 1;
    if (row < n - 1 && column < n - 1)
      b[row * n + column] = 0.2f * (tile[y + 1][x + 1] + tile[y + 1][x] + tile[y + 1][x + 2]
                                    + tile[y + 2][x + 1] + tile[y][x + 1]);
  }

  kernel void move(global float *a, global const float *b, int n) {
    const int row = get_global_id(1) + 1, column = get_global_id(0) + 1;
    if (row < n - 1 && column < n - 1) a[row * n + column] = b[row * n + column];
  }
]]

local function build(device, source)
  return device:program(source, { defines = { TILE = TILE } })
end

--- Groups of TILE x TILE that cover extent x extent.
local function square(extent)
  local size = (extent + TILE - 1) // TILE * TILE
  return { global = { size, size }, group = { TILE, TILE } }
end

function tiled_nests.mmm(device, buffers, n)
  local program, range = build(device, MMM), square(n)
  local a, b, c = table.unpack(buffers)
  return function() program.mmm(range, a, b, c, n) end
end

function tiled_nests.jac2d(device, buffers, n, steps)
  local program, range = build(device, JAC2D), square(n - 2)
  local a, b = table.unpack(buffers)
  return function()
    for _ = 1, steps do
      program.average(range, a, b, n)
      program.move(range, a, b, n)
    end
  end
end

return tiled_nests
