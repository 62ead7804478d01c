/* SPDX-License-Identifier: MIT */
/*
 * lu_tournament: a round in which groups of rows choose the pivots of a panel of columns
 *
 *     for each ROWS of the `count` entries, which are rows of W:
 *       copy their elements of the panel;
 *       for (k = 0; k < COLUMNS; k++) {
 *         p = the first entry not chosen with the largest |element k|;
 *         chosen[k] = p;
 *         for (each entry i not chosen) {
 *           l = element k of i / element k of p;
 *           for (j = k + 1; j < COLUMNS; j++) element j of i -= l * element j of p;
 *         }
 *       }
 *
 * Entries are the rows from `first` on, or with `listed` those of the list at lists + in. Each group adds those it
 * chose to the list at lists + out, COLUMNS of them or all it has. What holds for a column of all its entries, say that it is
 * zero when its turn comes, holds for those chosen (Grigori, Demmel & Xiang 2011, CALU).
 *
 * FINAL 1: the last round, of one group, whose choice is that of the panel. pivots[k] and diagonal[k] get it
 * for the first `columns` columns. Rows are exchanged within the columns begin .. end - 1, the triangles of the
 * panel's own rows are written, and right of the panel those rows become rows of U:
 *
 *     for (k = first; k < first + columns; k++)
 *       for (j = begin; j < end; j++) swap(W[k][j], W[pivots[k]][j]);
 *     for (i = first; i < first + columns; i++)
 *       for (k = first; k < i; k++) W[i][j] -= W[i][k] * W[k][j], for each j from first + columns on;
 *
 * What the exchanges amount to is left at lists + out: 2 * COLUMNS rows to write, or -1, then the rows they had been.
 *
 * A work-item an entry, whose elements are in registers; they move up by one in each step, so that the steps are the
 * same code. WARP 32: of NVIDIA's warps, each finds its largest element in registers (PTX); a step has one barrier. A
 * pivot that is zero leaves its column as it is. Rows of W are ld apart, and are zero up to the next multiple of 4
 * columns.
 * Global size: ROWS for each group; local size ROWS.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#ifndef COLUMNS
#define COLUMNS 4 /* of the panel, a multiple of 4 */
#endif
#ifndef ROWS
#define ROWS 16 /* entries of a group, a multiple of WARP, and at least 2 * COLUMNS */
#endif
#ifndef WARP
#define WARP 1 /* 32: floats of NVIDIA's GPUs from compute capability 8.0 on; else 1 */
#endif
#ifndef FINAL
#define FINAL 0 /* 1: the last round */
#endif
#ifndef ACROSS
#define ACROSS 16 /* end - begin at most; 2 * COLUMNS * ACROSS is a multiple of ROWS */
#endif

#include "clcompute/vector.h"
#define KEY_float uint
#define KEY_double ulong
#define KEY JOIN(KEY_, REAL)
#define AS_KEY JOIN(as_, KEY)
#define HELD (2 * COLUMNS * ACROSS / ROWS) /* elements a work-item holds while rows are exchanged */
#define STRIDE (COLUMNS + 4)
#define HALF (COLUMNS / 8 * 4) /* steps before only the other elements are left */

/* Magnitudes as integers of the same order, above 0, which is for entries that are none. */
INLINE KEY key_of(const REAL x) {
  return AS_KEY(fabs(x)) + 1;
}

/* --- the largest key of the group, and the row it is in --------------------------- */

#if WARP == 32
#define WARPS (ROWS / WARP)

INLINE uint largest_of_warp(const uint key) {
  uint largest;
  asm volatile("redux.sync.max.u32 %0, %1, 0xffffffff;" : "=r"(largest) : "r"(key));
  return largest;
}

/* The lowest lane in which a condition holds: it does in one at least. */
INLINE uint first_of_warp(const int holds) {
  uint lanes;
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
               : "=r"(lanes)
               : "r"(holds));
  return 31 - clz(lanes & -lanes);
}

typedef struct {
  uint largest[2][WARPS]; /* of each warp; by turns, so that one barrier a step is enough */
  REAL rows[2][WARPS][COLUMNS] __attribute__((aligned(16)));
} Board;

INLINE __local const REAL *elect(__local Board *board, const int turn, const int t, const uint key,
                                 const REAL *x, const int width, int *is_chosen) {
  const uint warp = t / WARP, lane = t % WARP;
  const uint largest = largest_of_warp(key), mine = first_of_warp(key == largest);
  if (lane == mine) {
    board->largest[turn][warp] = largest;
    UNROLL for (int j = 0; j < width; j += 4)
      *(__local QUAD *)&board->rows[turn][warp][j] = (QUAD)(x[j], x[j + 1], x[j + 2], x[j + 3]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint other = lane < WARPS ? board->largest[turn][lane] : 0;
  const uint winner = first_of_warp(other == largest_of_warp(other));
  *is_chosen = key != 0 && warp == winner && lane == mine;
  return board->rows[turn][winner];
}
#else
#define SIDE 32 /* work-items that search first */

typedef struct {
  KEY keys[ROWS], largest[SIDE];
  int places[SIDE];
  REAL row[COLUMNS] __attribute__((aligned(32)));
} Board;

/* Other items may still read the row of the step before when `keys` is written, not when the row is. */
INLINE __local const REAL *elect(__local Board *board, const int turn, const int t, const KEY key,
                                 const REAL *x, const int width, int *is_chosen) {
  board->keys[t] = key;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t < SIDE) {
    KEY largest = 0;
    int place = 0;
    for (int i = t; i < ROWS; i += SIDE)
      if (board->keys[i] > largest) {
        largest = board->keys[i];
        place = i;
      }
    board->largest[t] = largest;
    board->places[t] = place;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  KEY largest = 0;
  int place = 0;
  for (int i = 0; i < min(SIDE, ROWS); i++) {
    const KEY one = board->largest[i];
    if (one > largest || (one == largest && board->places[i] < place)) {
      largest = one;
      place = board->places[i];
    }
  }
  if (t == place)
    UNROLL for (int j = 0; j < width; j++) board->row[j] = x[j];
  *is_chosen = key != 0 && t == place;
  barrier(CLK_LOCAL_MEM_FENCE);
  return board->row;
}
#endif

/* --- the panel's choice, written down ---------------------------------------------- */

#if FINAL
typedef struct {
  REAL lower[COLUMNS * STRIDE] __attribute__((aligned(32))); /* as solve_column takes it */
  REAL top[COLUMNS * COLUMNS], diagonal[COLUMNS]; /* the panel's own rows when done */
  int chosen[COLUMNS]; /* rows */
  int pivots[COLUMNS];
  int is_chosen[COLUMNS]; /* of those that were at the top before */
  int to[2 * COLUMNS], from[2 * COLUMNS];
} Choice;

/* The exchanges that bring the chosen rows to the top one by one: a row that was there may have moved before it is
   its turn. */
INLINE void find_pivots(__local Choice *choice, const int first, const int columns) {
  for (int k = 0; k < columns; k++) {
    int place = choice->chosen[k];
    if (place < first + columns) choice->is_chosen[place - first] = 1;
    while (place < first + k) place = choice->pivots[place - first];
    choice->pivots[k] = place;
  }
}

/* Where row k of the top comes from, and where the row that was there goes. */
INLINE void find_moves(__local Choice *choice, const int first, const int columns, const int k) {
  int place = first + k;
  choice->to[k] = choice->to[COLUMNS + k] = -1;
  choice->from[k] = choice->from[COLUMNS + k] = first;
  if (k >= columns) return;
  choice->to[k] = place;
  choice->from[k] = choice->chosen[k];
  choice->from[COLUMNS + k] = place;
  if (choice->is_chosen[k]) return;
  while (place < first + columns) place = choice->pivots[place - first];
  choice->to[COLUMNS + k] = place;
}

INLINE void exchange(__local const Choice *choice, const int t, const ulong begin, const ulong end,
                     __global REAL *w, const ulong ld) {
  REAL held[HELD];
  UNROLL for (int i = 0; i < HELD; i++) {
    const ulong column = begin + (i * ROWS + t) % ACROSS;
    held[i] = column < end ? w[choice->from[(i * ROWS + t) / ACROSS] * ld + column] : 0;
  }
  barrier(CLK_GLOBAL_MEM_FENCE);
  UNROLL for (int i = 0; i < HELD; i++) {
    const int to = choice->to[(i * ROWS + t) / ACROSS];
    const ulong column = begin + (i * ROWS + t) % ACROSS;
    if (column < end && to >= 0) w[to * ld + column] = held[i];
  }
}

/* A column of the top's rows beside the panel, with the unit lower triangle, whose column k lies from
   triangle + k * STRIDE on, zeros behind it. What is done moves to the end. */
INLINE void solve_column(__local const REAL *triangle, __global REAL *w, const ulong ld) {
  REAL y[COLUMNS];
  UNROLL for (int i = 0; i < COLUMNS; i++) y[i] = w[i * ld];
  for (int k = 0; k < COLUMNS; k++, triangle += STRIDE) {
    const REAL done = y[0];
    UNROLL for (int i = 0; i < COLUMNS; i += 4) {
      const QUAD l = *(__local const QUAD *)&triangle[i];
      if (i > 0) y[i - 1] = fma(-l.s0, done, y[i]);
      y[i] = fma(-l.s1, done, y[i + 1]);
      y[i + 1] = fma(-l.s2, done, y[i + 2]);
      y[i + 2] = fma(-l.s3, done, y[i + 3]);
    }
    y[COLUMNS - 1] = done;
  }
  UNROLL for (int i = 1; i < COLUMNS; i++) w[i * ld] = y[i];
}
#endif

/* --- one step -------------------------------------------------------------------------- */

/* An entry. */
typedef struct {
  REAL x[COLUMNS]; /* from column k on in step k, then zeros */
  int place;       /* chosen in that step; -1: not yet; -2: there is none */
} Entry;

/* Step k, in which `width` elements are not zero. Returns the entry's multiplier. */
INLINE REAL eliminate(__local Board *board, const int k, const int t, const int width, Entry *e) {
  int is_chosen;
  const KEY key = e->place == -1 ? key_of(e->x[0]) : 0;
  __local const REAL *p = elect(board, k & 1, t, key, e->x, width, &is_chosen);
  if (is_chosen) e->place = k;
  if (e->place != -1) return 0;
  const REAL pivot = p[0], l = pivot != 0 ? e->x[0] / pivot : 0;
  UNROLL for (int j = 0; j < width; j += 4) {
    const QUAD q = *(__local const QUAD *)&p[j];
    if (j > 0) e->x[j - 1] = fma(-l, q.s0, e->x[j]);
    e->x[j] = fma(-l, q.s1, e->x[j + 1]);
    e->x[j + 1] = fma(-l, q.s2, e->x[j + 2]);
    e->x[j + 2] = fma(-l, q.s3, e->x[j + 3]);
  }
  e->x[width - 1] = 0;
  return l;
}

/* --- the round ------------------------------------------------------------------------ */

__kernel __attribute__((reqd_work_group_size(ROWS, 1, 1))) void lu_tournament(
    const ulong count, const ulong first, const int listed, __global REAL *w, const ulong ld,
    __global int *lists, const ulong in, const ulong out
#if FINAL
    , const int columns, const ulong begin, const ulong end, __global int *pivots,
    __global REAL *diagonal
#endif
) {
  __local Board board;
  const int t = (int)get_local_id(0);
  const ulong entry = get_global_id(0);
  Entry e = {.place = entry < count ? -1 : -2};
  int row = 0;
  UNROLL for (int j = 0; j < COLUMNS; j++) e.x[j] = 0;
  if (e.place == -1) {
    row = listed ? lists[in + entry] : (int)(first + entry);
    __global const REAL *from = w + row * ld + first;
    UNROLL for (int j = 0; j < COLUMNS; j += 4) {
      const QUAD q = vload4(0, from + j);
      e.x[j] = q.s0, e.x[j + 1] = q.s1, e.x[j + 2] = q.s2, e.x[j + 3] = q.s3;
    }
  }
#if FINAL
  REAL multipliers[COLUMNS];
#define KEEP multipliers[k] =
#else
#define KEEP
#endif
  int k = 0;
  for (; k < HALF; k++) KEEP eliminate(&board, k, t, COLUMNS, &e);
  for (; k < COLUMNS; k++) KEEP eliminate(&board, k, t, COLUMNS - HALF, &e);
#if FINAL
  __local Choice choice;
  if (t < COLUMNS) choice.is_chosen[t] = 0;
  for (int i = t; i < COLUMNS * STRIDE; i += ROWS) choice.lower[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (e.place >= 0 && e.place < columns) {
    choice.chosen[e.place] = row;
    choice.diagonal[e.place] = e.x[0];
    for (int j = 0; j < e.place; j++) {
      choice.lower[j * STRIDE + e.place - j] = multipliers[j];
      choice.top[e.place * COLUMNS + j] = multipliers[j];
    }
    UNROLL for (int j = 0; j < COLUMNS; j++)
      if (e.place + j < COLUMNS) choice.top[e.place * COLUMNS + e.place + j] = e.x[j];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t == 0) find_pivots(&choice, (int)first, columns);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t < COLUMNS) {
    find_moves(&choice, (int)first, columns, t);
    if (t < columns) {
      pivots[first + t] = choice.pivots[t];
      diagonal[first + t] = choice.diagonal[t];
    }
    lists[out + t] = choice.to[t];
    lists[out + COLUMNS + t] = choice.to[COLUMNS + t];
    lists[out + 2 * COLUMNS + t] = choice.from[t];
    lists[out + 3 * COLUMNS + t] = choice.from[COLUMNS + t];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  exchange(&choice, t, begin, end, w, ld);
  barrier(CLK_GLOBAL_MEM_FENCE);
  w += first * ld + first;
  for (int i = t; i < COLUMNS * COLUMNS; i += ROWS)
    if (i / COLUMNS < columns && i % COLUMNS < columns)
      w[i / COLUMNS * ld + i % COLUMNS] = choice.top[i];
  for (ulong j = columns + t; first + j < end; j += ROWS) solve_column(choice.lower, w + j, ld);
#else
  if (e.place >= 0) lists[out + get_group_id(0) * COLUMNS + e.place] = row;
#endif
}
