/* SPDX-License-Identifier: MIT */
/*
 * lu_walk: what comes between the solves that estimate the 1-norm of an inverse
 *
 *     turn 0, with A^-1 of two vectors in columns `first` and first + 1 of X (lu_start):
 *       most[0] = the norm of the first, or the second's by that of its vector, if it is larger;
 *       v = the signs of that column, times unit;
 *     turn 1, with A^-T of those signs in v, in the order of the factors:
 *       v = unit in the place of its largest element, of equal ones the first of A's, else 0;
 *     turn 2, with A^-1 of that vector in v:
 *       most[0] = the larger of most[0] and its norm;
 *
 * Where an element was NaN most[0] is infinite. X has first + 2 columns.
 * One work-group of GROUP work-items.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#ifndef GROUP
#define GROUP 16 /* work-items, a power of two */
#endif

typedef struct {
  REAL sums[GROUP], others[GROUP];
  REAL largest[GROUP];
  int places[GROUP], rows[GROUP];
} Survey;

/* Leaves sums, and the largest with the least row, at the front. */
static inline void survey(__local Survey *s, const int t) {
  for (int half_way = GROUP / 2; half_way > 0; half_way /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < half_way) {
      const int other = t + half_way;
      s->sums[t] += s->sums[other];
      s->others[t] += s->others[other];
      if (s->largest[other] > s->largest[t] ||
          (s->largest[other] == s->largest[t] && s->rows[other] < s->rows[t])) {
        s->largest[t] = s->largest[other];
        s->places[t] = s->places[other];
        s->rows[t] = s->rows[other];
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void lu_walk(
    const ulong n, const REAL unit, const int turn, const ulong first, __global const REAL *x,
    __global const int *order, __global REAL *v, __global REAL *most) {
  __local Survey found;
  const int t = (int)get_local_id(0);
  const ulong ld = first + 2;
  REAL sum = 0, other = 0, largest = -1;
  int place = 0, row = INT_MAX;
  x += first;
  for (ulong i = t; i < n; i += GROUP) {
    const REAL size = fabs(turn == 0 ? x[i * ld] : v[i]);
    sum += size;
    if (turn == 0) other += fabs(x[i * ld + 1]);
    if (size > largest || (size == largest && order[i] < row)) {
      largest = size;
      place = (int)i;
      row = order[i];
    }
  }
  found.sums[t] = sum;
  found.others[t] = other;
  found.largest[t] = largest;
  found.places[t] = place;
  found.rows[t] = row;
  survey(&found, t);
  sum = found.sums[0];
  other = found.others[0] * 2 / (3 * (REAL)n);
  place = found.places[0];
  if (turn == 0) {
    const int is_other = isnan(other) || other > sum;
    for (ulong i = t; i < n; i += GROUP) v[i] = x[i * ld + is_other] < 0 ? -unit : unit;
    sum = is_other ? other : sum;
  } else if (turn == 1) {
    for (ulong i = t; i < n; i += GROUP) v[i] = (int)i == place ? unit : 0;
    sum = 0;
  }
  if (t == 0) {
    const REAL before = turn == 0 ? 0 : most[0];
    most[0] = isnan(sum) ? INFINITY : fmax(before, sum);
  }
}
