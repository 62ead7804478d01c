/* SPDX-License-Identifier: MIT */
/*
 * lu_batch_condition: estimates of the norms of inverses of many small matrices, from their LU factors
 *
 *     for each matrix A:
 *       unit = half the exponent of the largest pivot, as a power of two;
 *       x = A^-1 of an even vector, or of one that grows with changing signs, whichever is larger;
 *       most = ||A^-1||, as that vector shows it;
 *       for (step = 0; step < 4; step++) {
 *         x = A^-T of the signs of x, unless they are those of the step before, which ends it;
 *         i = the first of its largest elements, unless it is that of the step before;
 *         x = A^-1 of the i-th unit vector;
 *         if (||x|| > most) most = ||x||; else end it;
 *       }
 *       inverses[2 * matrix] = most, or infinity where an element of a solution was NaN;
 *       inverses[2 * matrix + 1] = unit;
 *
 * Norms are 1-norms, and `most` is `unit` times as large: all vectors are, lest it overflow where the condition
 * number does not. W and `order` are those of lu_batch_rows.
 * One work-group of ROWS work-items a matrix.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#ifndef ROWS
#define ROWS 32 /* work-items, at least n: a power of two from SIDE on */
#endif
#ifndef SIDE
#define SIDE 4 /* rows that are solved for in a step: 4, 8, 16 or 32 */
#endif
#define STEPS 4

#include "clcompute/strip.h"

/* What is found out of a vector, an item an element. */
typedef struct {
  REAL sums[ROWS], largest[ROWS]; /* of magnitudes */
  int places[ROWS];               /* the first with the largest */
  int differ[ROWS];               /* whether a sign does */
} Survey;

/* Leaves it at the front. */
INLINE void survey(__local Survey *s, const int t, const REAL size, const int differs) {
  s->sums[t] = size;
  s->largest[t] = size;
  s->places[t] = t;
  s->differ[t] = differs;
  for (int half_way = ROWS / 2; half_way > 0; half_way /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < half_way) {
      const int other = t + half_way;
      s->sums[t] += s->sums[other];
      s->differ[t] |= s->differ[other];
      if (s->largest[other] > s->largest[t] ||
          (s->largest[other] == s->largest[t] && s->places[other] < s->places[t])) {
        s->largest[t] = s->largest[other];
        s->places[t] = s->places[other];
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

INLINE REAL sign_of(const REAL v) {
  return v < 0 ? -1 : 1;
}

__kernel __attribute__((reqd_work_group_size(ROWS, 1, 1))) void lu_batch_condition(
    const int n, __global const REAL *w, __global const int *order, __global REAL *inverses) {
  __local Strip strip;
  __local Survey found;
  __local REAL moved[ROWS];
  const int t = (int)get_local_id(0), is_there = t < n;
  const size_t matrix = get_group_id(0);
  const int row = is_there ? order[matrix * n + t] : t;
  const REAL growth = n > 1 ? (REAL)1 / (n - 1) : 1;
  w += matrix * n * n;
  survey(&found, t, is_there ? fabs(w[t * n + t]) : 0, 0);
  const REAL largest = found.largest[0];
  const REAL unit = largest > 0 && largest < INFINITY ? ldexp((REAL)1, ilogb(largest) / 2) : 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  REAL v = is_there ? unit / n : 0, x = 0, sign = 0, most = 0;
  int vertex = -1, is_over = 0, is_done = 0;
  /* Solves: two of A, then by turns one of its transpose and one of A. */
  for (int turn = 0; turn < 2 + 2 * STEPS && !is_done; turn++) {
    const int is_transposed = turn > 1 && turn % 2 == 0;
    moved[t] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (!is_transposed) v = moved[row];
    for (int half_way = 0; half_way < 2; half_way++)
      v = substitute(&strip, n, w, half_way == 0, half_way == is_transposed, is_transposed, t, v);
    if (is_transposed) moved[row] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (is_transposed) v = moved[t];
    survey(&found, t, is_there ? fabs(v) : 0, is_there && sign_of(v) != sign);
    const REAL norm = found.sums[0] * (turn == 1 ? 2 / (3 * (REAL)n) : 1);
    const int place = found.places[0], differs = found.differ[0];
    if (is_transposed) {
      is_done = place == vertex;
      vertex = place;
      v = t == vertex ? unit : 0;
    } else {
      is_over |= isnan(norm);
      if (turn == 0 || norm > most)
        x = v;
      else
        is_done = turn > 1;
      most = turn == 0 || norm > most ? norm : most;
      is_done |= is_over || (turn > 1 && !differs);
      if (turn > 0) sign = sign_of(x);
      v = unit * (turn > 0 ? sign : (t % 2 ? -1 : 1) * (1 + t * growth));
    }
    if (!is_there) v = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) {
    inverses[2 * matrix] = is_over ? INFINITY : most;
    inverses[2 * matrix + 1] = unit;
  }
}
