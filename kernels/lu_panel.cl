/* SPDX-License-Identifier: MIT */
/*
 * lu_panel: LU factors with partial pivoting of a panel of columns, for a core of a CPU
 *
 *     for (k = first; k < first + columns; k++) {
 *       p = the first row from k on with the largest |W[p][k]|;
 *       pivots[k] = p;  diagonal[k] = W[p][k];
 *       for (each column j of the panel) swap(W[k][j], W[p][j]);
 *       for (i = k + 1; i < n; i++) {
 *         W[i][k] /= W[k][k];
 *         for (j = k + 1; j < first + columns; j++) W[i][j] -= W[i][k] * W[k][j];
 *       }
 *     }
 *
 * A pivot that is zero leaves its column, which is zero, as it is. W has n rows, ld elements
 * apart; rows and columns reach up to the next multiple of 2 * V, where they are zero, and `first`
 * is such a multiple.
 *
 * The panel is copied to `packed`, column by column, ldp elements apart (at least its rows,
 * rounded up so): then vectors hold elements of a column, and search, division and update take V
 * rows at once. It goes by strips of V columns. Within a strip a column is not touched before it
 * is its turn; then all that is left of it in the strip is subtracted at once (left-looking). What
 * is right of a strip gets its update when the strip is done: tiles of 2 * V rows and 4 columns,
 * in registers.
 *
 * One work-item.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#ifndef V
#define V 16 /* elements of a vector register: 4, 8 or 16 */
#endif

#include "clcompute/vector.h"

__constant REAL LANES[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/* x in the lanes behind k, else y. */
INLINE VECTOR behind(const int k, const VECTOR x, const VECTOR y) {
  return LOAD(0, LANES) > (VECTOR)k ? x : y;
}

/* --- between rows and columns ---------------------------------------------- */

/* One round of a transpose: four of them, for V 16, turn rows of vectors into columns. */
#define ROUND(to, from)                              \
  UNROLL for (int i = 0; i < V / 2; i++) {           \
    to[2 * i].even = from[i].lo;                     \
    to[2 * i].odd = from[i + V / 2].lo;              \
    to[2 * i + 1].even = from[i].hi;                 \
    to[2 * i + 1].odd = from[i + V / 2].hi;          \
  }

/* V x V elements, transposed. */
INLINE void transpose(__global const REAL *from, const size_t ld, __global REAL *to,
                      const size_t step) {
  VECTOR x[V], y[V];
  UNROLL for (int i = 0; i < V; i++) x[i] = LOAD(0, from + i * ld);
  ROUND(y, x)
  ROUND(x, y)
  if (V >= 8) { ROUND(y, x) }
  if (V == 16) { ROUND(x, y) }
  UNROLL for (int i = 0; i < V; i++) STORE(V == 8 ? y[i] : x[i], 0, to + i * step);
}

/* --- a column of a strip ----------------------------------------------------- */

/* A strip: V columns and the rows from that of its first diagonal element on. */
typedef struct {
  __global REAL *x; /* that element */
  size_t ldp;
  int rows;
} Strip;

/* The largest magnitude so far, in each lane, and its row. */
typedef struct {
  VECTOR most, at;
} Search;

/*
 * N vectors of column c from row r on: subtracts what the columns before give, with their elements
 * u[k] in the rows of the triangle. The multipliers of the column before are made here, since they
 * are read here: it is divided by its pivot.
 */
#define DEFINE_REDUCE(N)                                                                       \
  INLINE void reduce_##N(const Strip s, const int c, const int r, const REAL *u,               \
                         const REAL pivot, Search *search) {                                   \
    __global REAL *own = s.x + c * s.ldp + r;                                                  \
    VECTOR x[N];                                                                               \
    UNROLL for (int i = 0; i < N; i++) x[i] = LOAD(i, own);                                    \
    for (int k = 0; k < c - 1; k++) {                                                          \
      __global const REAL *l = s.x + k * s.ldp + r;                                            \
      UNROLL for (int i = 0; i < N; i++) x[i] = fma(LOAD(i, l), (VECTOR)(-u[k]), x[i]);        \
    }                                                                                          \
    if (c > 0) {                                                                               \
      __global REAL *l = own - s.ldp;                                                          \
      UNROLL for (int i = 0; i < N; i++) {                                                     \
        const VECTOR multiplier = LOAD(i, l) / pivot;                                          \
        STORE(multiplier, i, l);                                                               \
        x[i] = fma(multiplier, (VECTOR)(-u[c - 1]), x[i]);                                     \
      }                                                                                        \
    }                                                                                          \
    UNROLL for (int i = 0; i < N; i++) {                                                       \
      STORE(x[i], i, own);                                                                     \
      const VECTOR size = fabs(x[i]);                                                          \
      search->at = size > search->most ? (VECTOR)(r + i * V) : search->at;                     \
      search->most = size > search->most ? size : search->most;                                \
    }                                                                                          \
  }

DEFINE_REDUCE(1)
DEFINE_REDUCE(4)

/* The rows of the triangle at the top of a strip, in column c: its elements of U, which u gets
   too, and from row c on what is left of the others. */
INLINE void reduce_top(const Strip s, const int c, REAL *u) {
  __global REAL *own = s.x + c * s.ldp;
  VECTOR x = LOAD(0, own);
  for (int k = 0; k < c; k++) {
    STORE(x, 0, u);
    x = fma(behind(k, LOAD(0, s.x + k * s.ldp), 0), (VECTOR)(-u[k]), x);
  }
  STORE(x, 0, u);
  STORE(x, 0, own);
}

/* The first row, from c on, with the largest magnitude; c where there is none. */
INLINE int find_pivot(const Strip s, const int c, const REAL *u, const Search search) {
  REAL most[V], at[V];
  REAL largest = fabs(u[c]);
  int row = c;
  for (int i = c + 1; i < V; i++)
    if (fabs(u[i]) > largest) {
      largest = fabs(u[i]);
      row = i;
    }
  STORE(search.most, 0, most);
  STORE(search.at + LOAD(0, LANES), 0, at);
  for (int i = 0; i < V; i++)
    if (most[i] > largest || (most[i] == largest && (int)at[i] < row)) {
      largest = most[i];
      row = (int)at[i];
    }
  return row;
}

/* The rows of column c below the triangle become multipliers, where no other column follows. */
INLINE void divide_column(const Strip s, const int c, const REAL pivot) {
  __global REAL *l = s.x + c * s.ldp;
  for (int r = V; r < s.rows; r += V) STORE(LOAD(0, l + r) / pivot, 0, l + r);
}

/* --- what is right of a strip ------------------------------------------------- */

/* N columns from x on: the rows beside the triangle become those of U. */
#define DEFINE_SOLVE(N)                                                                   \
  INLINE void solve_##N(const Strip s, __global REAL *x) {                                \
    VECTOR u[N];                                                                          \
    UNROLL for (int j = 0; j < N; j++) u[j] = LOAD(0, x + j * s.ldp);                     \
    for (int k = 0; k < V - 1; k++) {                                                     \
      const VECTOR l = behind(k, LOAD(0, s.x + k * s.ldp), 0);                            \
      UNROLL for (int j = 0; j < N; j++) {                                                \
        STORE(u[j], 0, x + j * s.ldp);                                                    \
        u[j] = fma(l, (VECTOR)(-x[j * s.ldp + k]), u[j]);                                 \
      }                                                                                   \
    }                                                                                     \
    UNROLL for (int j = 0; j < N; j++) STORE(u[j], 0, x + j * s.ldp);                     \
  }

DEFINE_SOLVE(4)

/* N vectors of rows, from r on, of 4 columns from x on: less multipliers times U. */
#define DEFINE_UPDATE(N)                                                                     \
  INLINE void update_##N(const Strip s, const int r, __global REAL *x) {                     \
    VECTOR a[4 * N];                                                                         \
    UNROLL for (int j = 0; j < 4; j++)                                                       \
      UNROLL for (int i = 0; i < N; i++) a[N * j + i] = LOAD(i, x + j * s.ldp + r);          \
    for (int k = 0; k < V; k++) {                                                            \
      VECTOR l[N];                                                                           \
      UNROLL for (int i = 0; i < N; i++) l[i] = LOAD(i, s.x + k * s.ldp + r);                \
      UNROLL for (int j = 0; j < 4; j++) {                                                   \
        const VECTOR u = (VECTOR)(-x[j * s.ldp + k]);                                        \
        UNROLL for (int i = 0; i < N; i++) a[N * j + i] = fma(l[i], u, a[N * j + i]);        \
      }                                                                                      \
    }                                                                                        \
    UNROLL for (int j = 0; j < 4; j++)                                                       \
      UNROLL for (int i = 0; i < N; i++) STORE(a[N * j + i], i, x + j * s.ldp + r);          \
  }

DEFINE_UPDATE(1)
DEFINE_UPDATE(2)

INLINE void update_right(const Strip s, const int columns) {
  __global REAL *right = s.x + V * s.ldp;
  int r = V;
  for (int j = 0; j < columns; j += 4) solve_4(s, right + j * s.ldp);
  for (; r + 2 * V <= s.rows; r += 2 * V)
    for (int j = 0; j < columns; j += 4) update_2(s, r, right + j * s.ldp);
  for (; r < s.rows; r += V)
    for (int j = 0; j < columns; j += 4) update_1(s, r, right + j * s.ldp);
}

/* --- the panel ------------------------------------------------------------------ */

INLINE void swap_rows(__global REAL *x, const size_t ldp, const int columns, const int i,
                      const int p) {
  for (int j = 0; j < columns; j++) {
    const REAL upper = x[j * ldp + i];
    x[j * ldp + i] = x[j * ldp + p];
    x[j * ldp + p] = upper;
  }
}

__attribute__((reqd_work_group_size(1, 1, 1))) __kernel void lu_panel(
    const ulong n, const ulong first, const int columns, __global REAL *w, const ulong ld,
    __global REAL *packed, const ulong ldp, __global int *pivots, __global REAL *diagonal) {
  const int there = (int)(n - first);
  const int rows = (there + 2 * V - 1) / (2 * V) * (2 * V), all = (columns + V - 1) / V * V;
  w += first * ld + first;
  for (int r = 0; r < rows; r += V)
    for (int c = 0; c < all; c += V) transpose(w + r * ld + c, ld, packed + c * ldp + r, ldp);
  for (int c0 = 0; c0 < columns; c0 += V) {
    const Strip s = {packed + c0 * ldp + c0, ldp, rows - c0};
    const int width = min(V, columns - c0);
    REAL u[V], pivot = 1;
    for (int c = 0; c < width; c++) {
      Search search = {-1, 0};
      int r = V;
      reduce_top(s, c, u);
      for (; r + 4 * V <= s.rows; r += 4 * V) reduce_4(s, c, r, u, pivot, &search);
      for (; r < s.rows; r += V) reduce_1(s, c, r, u, pivot, &search);
      int p = find_pivot(s, c, u, search);
      if (p >= there - c0) p = c; /* nothing but NaN, and the zeros behind the last row */
      if (p != c) swap_rows(packed, ldp, all, c0 + c, c0 + p);
      __global REAL *own = s.x + c * ldp;
      pivots[first + c0 + c] = (int)first + c0 + p;
      diagonal[first + c0 + c] = own[c];
      pivot = own[c] == 0 ? 1 : own[c];
      STORE(behind(c, LOAD(0, own) / pivot, LOAD(0, own)), 0, own);
    }
    divide_column(s, width - 1, pivot);
    if (c0 + V < all) update_right(s, all - c0 - V);
  }
  for (int r = 0; r < rows; r += V)
    for (int c = 0; c < all; c += V) transpose(packed + c * ldp + r, ldp, w + r * ld + c, ld);
}
