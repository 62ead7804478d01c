/* SPDX-License-Identifier: MIT */
/*
 * Waves in a basin of shallow water: the conservation laws of height and momentum, with local
 * Lax-Friedrichs fluxes. After LeVeque, Finite Volume Methods for Hyperbolic Problems, 2002,
 * sections 12.5 (the flux) and 13.1 (the equations). A cell is (h, hu, hv, 0). What leaves a cell
 * enters its neighbour, and nothing passes the walls: the mass stays.
 */
#define GRAVITY 9.81f
#define TILE 8 /* cells along the side of a work-group */

/* The flux through a side of two cells, whose normal is the x axis. */
static float4 flux(const float4 left, const float4 right) {
  const float u = left.y / left.x, v = right.y / right.x;
  const float fastest = fmax(fabs(u) + sqrt(GRAVITY * left.x), fabs(v) + sqrt(GRAVITY * right.x));
  const float4 of_left =
      (float4)(left.y, left.y * u + GRAVITY / 2 * left.x * left.x, left.z * u, 0);
  const float4 of_right =
      (float4)(right.y, right.y * v + GRAVITY / 2 * right.x * right.x, right.z * v, 0);
  return 0.5f * (of_left + of_right) - 0.5f * fastest * (right - left);
}

/* The same along the y axis: the momenta change places. */
static float4 flux_y(const float4 below, const float4 above) {
  return flux(below.xzyw, above.xzyw).xzyw;
}

/* The cell at a place, where walls mirror what is before them. */
static float4 cell_at(global const float4 *cells, const int2 size, const int2 at) {
  const int2 inside = clamp(at, (int2)0, size - 1);
  float4 cell = cells[inside.y * size.x + inside.x];
  if (at.x != inside.x) cell.y = -cell.y;
  if (at.y != inside.y) cell.z = -cell.z;
  return cell;
}

/* One work-item a cell, the range rounded up to whole groups: a group loads its cells and a border
   of one. */
kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void flow(const int2 size,
                                                                      const float ratio,
                                                                      global const float4 *now,
                                                                      global float4 *next) {
  local float4 tile[TILE + 2][TILE + 2];
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  const int2 corner = (int2)(get_group_id(0), get_group_id(1)) * TILE - 1;
  for (int k = get_local_id(1) * TILE + get_local_id(0); k < (TILE + 2) * (TILE + 2);
       k += TILE * TILE) {
    const int2 place = (int2)(k % (TILE + 2), k / (TILE + 2));
    tile[place.y][place.x] = cell_at(now, size, corner + place);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (at.x >= size.x || at.y >= size.y) return;
  const int x = get_local_id(0) + 1, y = get_local_id(1) + 1;
  const float4 cell = tile[y][x];
  const float4 leaves = flux(cell, tile[y][x + 1]) - flux(tile[y][x - 1], cell) +
                        flux_y(cell, tile[y + 1][x]) - flux_y(tile[y - 1][x], cell);
  next[at.y * size.x + at.x] = cell - ratio * leaves;
}
