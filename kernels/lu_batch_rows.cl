/* SPDX-License-Identifier: MIT */
/*
 * lu_batch_rows: LU factors with partial pivoting of many small matrices, as lu_batch, for GPUs
 *
 *     for each matrix A, n x n, and its copy W:
 *       facts[0] = the largest sum of magnitudes of a column of A;
 *       for (k = 0; k < n; k++) {
 *         p = the first row from k on with the largest |W[p][k]|;
 *         pivots[k] = p;  diagonal[k] = W[p][k];
 *         for (j = 0; j < n; j++) swap(W[k][j], W[p][j]);
 *         for (i = k + 1; i < n; i++) {
 *           W[i][k] /= W[k][k];
 *           for (j = k + 1; j < n; j++) W[i][j] -= W[i][k] * W[k][j];
 *         }
 *       }
 *       facts[1] = 1 + the first k whose diagonal[k] is zero or not finite, or 0;
 *       order[i] = the row of A that has become row i of W;
 *       if (facts[0] is not finite || facts[1] != 0) *fault = 1;
 *
 * A pivot that is zero leaves its column as it is. a0 elements lie before the first matrix.
 *
 *              first
 *      +------+-----+---------+   Columns go by panels of COLUMNS. Of a panel a work-item has a row in
 *      |      |  \  |    U    |   registers, and rows stay where they are: an exchange is one of their
 *      |      +-----+---------+   places, which become true when the panel is written. Then a work-item
 *      |      |     |         |   has a column of the rest: its rows of U in registers, from which, with
 *      |      |  L  |    C    |   L in local memory, comes what is subtracted from C.
 *      |      |     |         |
 *      +------+-----+---------+
 *
 * One work-group of ROWS work-items a matrix.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#ifndef ROWS
#define ROWS 32 /* work-items, at least n: a power of two from 32 on */
#endif
#ifndef COLUMNS
#define COLUMNS 8 /* of a panel: 8 or 16 */
#endif
#ifndef BLOCKED
#define BLOCKED 1 /* 0: n is COLUMNS at most */
#endif
#ifndef WARP
#define WARP 1 /* 32: NVIDIA's GPUs from compute capability 8.0 on; else 1 */
#endif

#include "clcompute/vector.h"
#define STRIDE (COLUMNS + 4)
#define DOWN (ROWS / COLUMNS)
#define REPEAT(F) JOIN(REPEAT_, COLUMNS)(F, 0)
#define TOGETHER barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

#include "clcompute/elect.h"

/* What a group shares. */
typedef struct {
  REAL panel[ROWS * STRIDE] __attribute__((aligned(32)));   /* by places */
  REAL lower[COLUMNS * STRIDE] __attribute__((aligned(32))); /* its triangle, transposed */
  Board board;
  int from[ROWS]; /* the row that has come to a place in this panel */
  REAL sums[ROWS];
  int fault;
} Shared;

/* A row of a panel. */
typedef struct {
  REAL x[COLUMNS]; /* from the first column on of the four that are eliminated, then zeros */
  int place;
  int is_left; /* it may still be chosen */
} Row;

/* --- a panel ------------------------------------------------------------------ */

/* Column k of the four from `first` on. */
INLINE void eliminate(__local Board *board, __global int *pivots, const int first, const int k,
                      const int t, Row *row) {
  const KEY key = row->is_left ? key_of(row->x[k]) : 0;
  int chosen;
  __local const REAL *p = elect(board, k & 1, t, key, row->place, row->x, COLUMNS, &chosen);
  if (!row->is_left) return;
  if (row->place == chosen) {
    row->is_left = 0;
    row->place = first + k;
    pivots[first + k] = chosen;
    return;
  }
  if (row->place == first + k) row->place = chosen;
  const REAL pivot = p[k], l = pivot != 0 ? row->x[k] / pivot : 0;
  row->x[k] = l;
  UNROLL for (int j = 0; j < COLUMNS; j += 4) {
    const QUAD q = *(__local const QUAD *)&p[j];
    if (j > k) row->x[j] = fma(-l, q.s0, row->x[j]);
    if (j + 1 > k) row->x[j + 1] = fma(-l, q.s1, row->x[j + 1]);
    if (j + 2 > k) row->x[j + 2] = fma(-l, q.s2, row->x[j + 2]);
    if (j + 3 > k) row->x[j + 3] = fma(-l, q.s3, row->x[j + 3]);
  }
}

/* Four columns; what is done is left at `done`, and the others move up. */
INLINE void eliminate_four(__local Board *board, __global int *pivots, const int first, const int t,
                           Row *row, __local REAL *done) {
  eliminate(board, pivots, first, 0, t, row);
  eliminate(board, pivots, first, 1, t, row);
  eliminate(board, pivots, first, 2, t, row);
  eliminate(board, pivots, first, 3, t, row);
  *(__local QUAD *)done = (QUAD)(row->x[0], row->x[1], row->x[2], row->x[3]);
  UNROLL for (int j = 4; j < COLUMNS; j++) row->x[j - 4] = row->x[j];
  UNROLL for (int j = COLUMNS - 4; j < COLUMNS; j++) row->x[j] = 0;
}

/* --- what is right of a panel --------------------------------------------------- */

#if BLOCKED
#define SOLVE(k)                                                                 \
  UNROLL for (int i = (k) / 4 * 4; i < COLUMNS; i += 4) {                        \
    const QUAD l = *(__local const QUAD *)&shared->lower[(k) * STRIDE + i];      \
    if (i > (k)) u[i] = fma(-l.s0, u[k], u[i]);                                  \
    if (i + 1 > (k)) u[i + 1] = fma(-l.s1, u[k], u[i + 1]);                      \
    if (i + 2 > (k)) u[i + 2] = fma(-l.s2, u[k], u[i + 2]);                      \
    if (i + 3 > (k)) u[i + 3] = fma(-l.s3, u[k], u[i + 3]);                      \
  }

/* The product of a row of L and a column of U. */
INLINE REAL multiply(__local const REAL *l, const REAL *u) {
  REAL sums[4] = {0, 0, 0, 0};
  UNROLL for (int k = 0; k < COLUMNS; k += 4) {
    const QUAD q = *(__local const QUAD *)&l[k];
    sums[0] = fma(q.s0, u[k], sums[0]);
    sums[1] = fma(q.s1, u[k + 1], sums[1]);
    sums[2] = fma(q.s2, u[k + 2], sums[2]);
    sums[3] = fma(q.s3, u[k + 3], sums[3]);
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}
#endif

/* --- the whole ---------------------------------------------------------------------- */

__kernel __attribute__((reqd_work_group_size(ROWS, 1, 1))) void lu_batch_rows(
    const int n, __global const REAL *a, const ulong a0, __global REAL *w, __global int *pivots,
    __global int *order, __global REAL *diagonal, __global REAL *facts, __global int *fault) {
  __local Shared group;
  __local Shared *shared = &group;
  const int t = (int)get_local_id(0);
  const int across = t % COLUMNS, down = t / COLUMNS; /* in a panel, where its elements are moved */
  const size_t matrix = get_group_id(0);
  a += a0 + matrix * n * n;
  w += matrix * n * n;
  pivots += matrix * n;
  order += matrix * n;
  diagonal += matrix * n;
  facts += matrix * 2;
  __global const REAL *from = a; /* later w */
  REAL norm = 0;
  int origin = t;
  if (t == 0) shared->fault = n;
  for (int first = 0; first < n; first += COLUMNS) {
    const int columns = min(COLUMNS, n - first), next = first + COLUMNS;
    REAL sum = 0;
    for (int r = first + down; r < n; r += DOWN) {
      const REAL v = across < columns ? from[r * n + first + across] : 0;
      shared->panel[r * STRIDE + across] = v;
      sum += fabs(v);
    }
    shared->sums[t] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (first == 0 && t < columns) {
      sum = 0;
      for (int i = t; i < ROWS; i += COLUMNS) sum += shared->sums[i];
      norm = isnan(sum) ? INFINITY : sum;
    }

    const int is_own = t >= first && t < n;
    Row row = {.place = t, .is_left = is_own};
    UNROLL for (int j = 0; j < COLUMNS; j += 4) {
      const QUAD q = is_own ? *(__local const QUAD *)&shared->panel[t * STRIDE + j] : (QUAD)(0);
      row.x[j] = q.s0, row.x[j + 1] = q.s1, row.x[j + 2] = q.s2, row.x[j + 3] = q.s3;
    }
    __local REAL *done = &shared->panel[t * STRIDE];
    for (int k = 0; k < columns; k += 4) /* past the n-th column there is no row left */
      eliminate_four(&shared->board, pivots, first + k, t, &row, done + k);
    UNROLL for (int j = 0; j < COLUMNS; j += 4) {
      const QUAD q = *(__local const QUAD *)&done[j];
      row.x[j] = q.s0, row.x[j + 1] = q.s1, row.x[j + 2] = q.s2, row.x[j + 3] = q.s3;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (is_own)
      UNROLL for (int j = 0; j < COLUMNS; j += 4)
        *(__local QUAD *)&shared->panel[row.place * STRIDE + j] =
            (QUAD)(row.x[j], row.x[j + 1], row.x[j + 2], row.x[j + 3]);
    shared->from[row.place] = t;
    if (t < n) order[row.place] = origin;
    TOGETHER;

    origin = t < n ? order[t] : 0;
    for (int r = first + down; r < n; r += DOWN) {
      const REAL v = shared->panel[r * STRIDE + across];
      if (across < columns) w[r * n + first + across] = v;
      if (r < next) shared->lower[across * STRIDE + r - first] = v;
      if (r - first == across) {
        diagonal[r] = v;
        if (!(fabs(v) > 0 && fabs(v) < INFINITY)) atomic_min(&shared->fault, r);
      }
    }

#if BLOCKED
    /* Right of the panel are no more columns than work-items, whose rows are shared by `parts`. */
    const int right = n - next, span = (right + 31) / 32 * 32, parts = right > 0 ? ROWS / span : 1;
    const int j = next + (right > 0 ? t % span : t), part = right > 0 ? t / span : 0;
    const int is_there = j < n && part < parts;
    REAL u[COLUMNS];
    TOGETHER;
    sum = 0;
    if (is_there) {
      UNROLL for (int i = 0; i < COLUMNS; i++) u[i] = from[shared->from[first + i] * n + j];
      UNROLL for (int i = 0; i < COLUMNS; i++) sum += part == 0 ? fabs(u[i]) : 0;
    }
    TOGETHER;
    if (is_there) {
      REPEAT(SOLVE)
      for (int i = next + part; i < n; i += parts) {
        const REAL v = from[shared->from[i] * n + j];
        sum += fabs(v);
        w[i * n + j] = v - multiply(&shared->panel[i * STRIDE], u);
      }
    }
    shared->sums[t] = sum;
    TOGETHER;
    if (is_there && part == 0) {
      UNROLL for (int i = 0; i < COLUMNS; i++) w[(first + i) * n + j] = u[i];
      for (int i = 1; i < parts; i++) sum += shared->sums[i * span + t];
      if (first == 0 && !(sum <= norm)) norm = isnan(sum) ? INFINITY : sum;
    }

    /* Left of it rows are exchanged. */
    if (t < first) {
      UNROLL for (int i = 0; i < COLUMNS; i++)
        u[i] = i < columns ? w[shared->from[first + i] * n + t] : 0;
      for (int i = next; i < n; i++)
        if (shared->from[i] != i) w[i * n + t] = w[shared->from[i] * n + t];
      UNROLL for (int i = 0; i < COLUMNS; i++)
        if (i < columns) w[(first + i) * n + t] = u[i];
    }
    from = w;
    TOGETHER;
#endif
  }
  shared->sums[t] = norm;
  for (int half_way = ROWS / 2; half_way > 0; half_way /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < half_way) shared->sums[t] = fmax(shared->sums[t], shared->sums[t + half_way]);
  }
  if (t == 0) {
    facts[0] = shared->sums[0];
    facts[1] = shared->fault < n ? shared->fault + 1 : 0;
    if (shared->fault < n || !(shared->sums[0] < INFINITY)) *fault = 1;
  }
}
