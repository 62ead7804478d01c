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
 * A work-item has SHARE entries, whose elements are in registers; they move up by one in each step, so that the steps
 * are the same code, and in the last round multipliers follow them. What an item reads of the pivot's row serves all of its
 * entries. WARP 32: of NVIDIA's warps, each finds its largest element in registers (PTX); a step has one barrier. A
 * pivot that is zero leaves its column as it is. Rows of W are ld apart, and are zero up to the next multiple of 4
 * columns.
 * Global size: ROWS / SHARE for each group; local size ROWS / SHARE.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#ifndef COLUMNS
#define COLUMNS 4 /* of the panel, a multiple of 4 */
#endif
#ifndef ROWS
#define ROWS 16 /* entries of a group, a multiple of SHARE * WARP, and at least 2 * COLUMNS */
#endif
#ifndef SHARE
#define SHARE 1 /* entries of a work-item; ROWS / SHARE is at least COLUMNS */
#endif
#ifndef WARP
#define WARP 1 /* 32: NVIDIA's GPUs from compute capability 8.0 on; else 1 */
#endif
#ifndef FINAL
#define FINAL 0 /* 1: the last round */
#endif
#ifndef ACROSS
#define ACROSS 16 /* end - begin at most; 2 * COLUMNS * ACROSS is a multiple of ROWS / SHARE */
#endif

#include "clcompute/triangle.h"
#define KEY_float uint
#define KEY_double ulong
#define KEY JOIN(KEY_, REAL)
#define AS_KEY JOIN(as_, KEY)
#define PAIR JOIN(REAL, 2)
#define ITEMS (ROWS / SHARE)
#define HELD (2 * COLUMNS * ACROSS / ITEMS) /* elements a work-item holds while rows are exchanged */
#define STRIDE (COLUMNS + 4)
#define HALF (COLUMNS / 8 * 4) /* steps before only the other elements are left */

/* F(i) for each element of an entry, F(r) for each entry of an item, as text: an array that is indexed by loops may not
   come into registers. */
#define EACH_ELEMENT(F) JOIN(REPEAT_, COLUMNS)(F, 0)
#define EACH_ENTRY(F) JOIN(REPEAT_, SHARE)(F, 0)

/* An entry. */
typedef struct {
  REAL x[COLUMNS]; /* from column k on in step k, then zeros, in the last round multipliers */
  int place;       /* chosen in that step; -1: not yet; -2: there is none */
} Entry;

/* An item's candidate for a pivot, and what it is to be divided by: the inverse in two factors. */
typedef struct {
  KEY key; /* 0: none */
  int own; /* which of the item's entries */
  REAL pivot;
  PAIR inverse;
} Candidate;

/* Magnitudes as integers of the same order, above 0, which is for entries that are none. */
INLINE KEY key_of(const REAL x) {
  return AS_KEY(fabs(x)) + 1;
}

/* Of x that is no more than SCALE makes of it. On NVIDIA's GPUs without a branch, so that it is found while the warp
   elects; doubles begin with 20 digits. */
INLINE REAL inverse_of(const REAL x) {
#if WARP == 1
  return 1 / x;
#elif JOIN(IS_, REAL)
  float y;
  asm volatile("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  double y;
  asm volatile(
      "{ .reg .f64 y, e, m; rcp.approx.ftz.f64 y, %1; neg.f64 m, %1;"
      " fma.rn.f64 e, m, y, 0d3FF0000000000000; fma.rn.f64 y, y, e, y;"
      " fma.rn.f64 e, m, y, 0d3FF0000000000000; fma.rn.f64 %0, y, e, y; }"
      : "=d"(y)
      : "d"(x));
  return y;
#endif
}

/* The first of those with the larger key. */
INLINE void compare(const Entry *e, const int r, Candidate *c) {
  const KEY key = e->place == -1 ? key_of(e->x[0]) : 0;
  if (key <= c->key) return;
  c->key = key;
  c->own = r;
  c->pivot = e->x[0];
}

/* Results by pointers: of a function that returns a struct, clang 14 makes an intrinsic that Oclgrind lacks. */
INLINE void find_candidate(const Entry *e, Candidate *c) {
  c->key = 0;
  c->own = 0;
  c->pivot = 0;
#define COMPARE(r) compare(&e[r], r, c);
  EACH_ENTRY(COMPARE)
  const REAL scale = SCALE(fabs(c->pivot)), inverse = inverse_of(c->pivot * scale);
  c->inverse = (PAIR)(c->pivot != 0 ? inverse : 0, scale);
}

/* An entry's row, of which `left` elements are not multipliers, zeros behind them. */
INLINE void show(const Entry *e, const int width, const int left, __local REAL *row) {
#define SHOW(j) \
  if ((j) < width) row[j] = !FINAL || (j) < left ? e->x[j] : 0;
  EACH_ELEMENT(SHOW)
}

/* --- the largest key of the group, and the row it is in --------------------------- */

/* What the group sees of an election. */
typedef struct {
  __local const REAL *row;
  PAIR inverse;
  int is_chosen; /* this item's candidate */
} Pivot;

#if WARP == 32
#define WARPS (ITEMS / WARP)
#define FEW 4 /* warps of which an item finds the winner by itself */

INLINE uint largest_of_warp(const uint key) {
  uint largest;
  asm volatile("redux.sync.max.u32 %0, %1, 0xffffffff;" : "=r"(largest) : "r"(key));
  return largest;
}

/* The lanes in which a condition holds. */
INLINE uint lanes_of_warp(const int holds) {
  uint lanes;
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
               : "=r"(lanes)
               : "r"(holds));
  return lanes;
}

/* The lowest lane with the largest key. Doubles are told by their high words, and seldom by their low ones. */
INLINE uint winner_of_warp(const KEY key) {
#if JOIN(IS_, REAL)
  const uint lanes = lanes_of_warp(key == largest_of_warp(key));
#else
  const uint high = (uint)(key >> 32);
  const int is_high = high == largest_of_warp(high);
  uint lanes = lanes_of_warp(is_high);
  if ((lanes & (lanes - 1)) != 0) { /* in all of the warp's lanes, or in none */
    const uint low = is_high ? (uint)key : 0, lowest = largest_of_warp(low);
    lanes = lanes_of_warp(is_high && low == lowest);
  }
#endif
  return 31 - clz(lanes & -lanes);
}

typedef struct {
  KEY largest[2][WARPS] __attribute__((aligned(32))); /* of each warp; by turns, so that one barrier a step is enough */
  PAIR inverses[2][WARPS];
  REAL rows[2][WARPS][COLUMNS] __attribute__((aligned(32)));
} Board;

INLINE uint winner_of_group(__local const KEY *largest, const uint lane) {
  if (WARPS > FEW) return winner_of_warp(lane < WARPS ? largest[lane] : 0);
  uint winner = 0;
  UNROLL for (uint i = 1; i < WARPS && i < FEW; i++)
    if (largest[i] > largest[winner]) winner = i;
  return winner;
}

INLINE void elect(__local Board *board, const int k, const int t, const Candidate *c,
                  const Entry *e, const int width, Pivot *p) {
  const int turn = k & 1;
  const uint warp = t / WARP, lane = t % WARP, mine = winner_of_warp(c->key);
  if (lane == mine) {
    board->largest[turn][warp] = c->key;
    board->inverses[turn][warp] = c->inverse;
#define SHOW_OWN(r) \
  if (c->own == r) { \
    show(&e[r], width, COLUMNS - k, board->rows[turn][warp]); \
    asm volatile("// entry %0" : : "n"(r)); /* lest branches become one, of an array in memory */ \
  }
    EACH_ENTRY(SHOW_OWN)
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint winner = winner_of_group(board->largest[turn], lane);
  p->row = board->rows[turn][winner];
  p->inverse = board->inverses[turn][winner];
  p->is_chosen = c->key != 0 && warp == winner && lane == mine;
}
#else
#define SIDE_BY_SIDE 32 /* work-items that search first */

typedef struct {
  KEY keys[ITEMS], largest[SIDE_BY_SIDE];
  int places[SIDE_BY_SIDE];
  PAIR inverse;
  REAL row[COLUMNS] __attribute__((aligned(32)));
} Board;

/* Other items may still read the row of the step before when `keys` is written, not when the row is. */
INLINE void elect(__local Board *board, const int k, const int t, const Candidate *c,
                  const Entry *e, const int width, Pivot *p) {
  board->keys[t] = c->key;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t < SIDE_BY_SIDE) {
    KEY largest = 0;
    int place = 0;
    for (int i = t; i < ITEMS; i += SIDE_BY_SIDE)
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
  for (int i = 0; i < min(SIDE_BY_SIDE, ITEMS); i++) {
    const KEY one = board->largest[i];
    if (one > largest || (one == largest && board->places[i] < place)) {
      largest = one;
      place = board->places[i];
    }
  }
  if (t == place) {
    board->inverse = c->inverse;
#define SHOW_OWN(r) \
  if (c->own == r) show(&e[r], width, COLUMNS - k, board->row);
    EACH_ENTRY(SHOW_OWN)
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  p->row = board->row;
  p->inverse = board->inverse;
  p->is_chosen = c->key != 0 && t == place;
}
#endif

/* --- the panel's choice, written down ---------------------------------------------- */

#if FINAL
typedef struct {
  REAL lower[COLUMNS * STRIDE] __attribute__((aligned(32))); /* as solve_column takes it */
  REAL top[COLUMNS * COLUMNS], diagonal[COLUMNS]; /* the panel's own rows when done */
  int chosen[COLUMNS]; /* rows */
  int pivots[COLUMNS];
  int is_chosen[COLUMNS], has_moved; /* of those that were at the top before; whether one is */
  int to[2 * COLUMNS], from[2 * COLUMNS];
} Choice;

/* The exchanges that bring the chosen rows to the top one by one: a row that was there may have moved before it is
   its turn. Others, most of them, are known at once, and the items of the panel's rows note them first. */
INLINE void find_pivot(__local Choice *choice, const int first, const int columns, const int k) {
  const int place = choice->chosen[k];
  choice->pivots[k] = place;
  if (place >= first + columns) return;
  choice->is_chosen[place - first] = 1;
  choice->has_moved = 1;
}

INLINE void follow_moved(__local Choice *choice, const int first, const int columns) {
  for (int k = 0; k < columns; k++) {
    int place = choice->pivots[k];
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
    const ulong column = begin + (i * ITEMS + t) % ACROSS;
    held[i] = column < end ? w[choice->from[(i * ITEMS + t) / ACROSS] * ld + column] : 0;
  }
  barrier(CLK_GLOBAL_MEM_FENCE);
  UNROLL for (int i = 0; i < HELD; i++) {
    const int to = choice->to[(i * ITEMS + t) / ACROSS];
    const ulong column = begin + (i * ITEMS + t) % ACROSS;
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

INLINE void subtract(const REAL l, const REAL *q, const int width, Entry *e) {
  if (FINAL && e->place != -1) return; /* of those chosen before, other rounds know the row */
#define SUBTRACT(j) \
  if ((j) > 0 && (j) < width) e->x[(j) - 1] = fma(-l, q[j], e->x[j]);
  EACH_ELEMENT(SUBTRACT)
  e->x[width - 1] = FINAL ? l : 0;
}

/* Step k, in which `width` elements are not zero. */
INLINE void eliminate(__local Board *board, const int k, const int t, const int width, Entry *e) {
  Candidate c;
  Pivot p;
  find_candidate(e, &c);
  elect(board, k, t, &c, e, width, &p);
  REAL q[COLUMNS], l[SHARE];
#define READ(j) \
  if ((j) % 4 == 0 && (j) < width) { \
    const QUAD four = *(__local const QUAD *)&p.row[j]; \
    q[j] = four.s0, q[(j) + 1] = four.s1, q[(j) + 2] = four.s2, q[(j) + 3] = four.s3; \
  }
  EACH_ELEMENT(READ)
#define MULTIPLIER(r) \
  if (p.is_chosen && c.own == r) e[r].place = k; \
  l[r] = e[r].x[0] * p.inverse.s0 * p.inverse.s1;
  EACH_ENTRY(MULTIPLIER)
#define SUBTRACT_FROM(r) subtract(l[r], q, width, &e[r]);
  EACH_ENTRY(SUBTRACT_FROM)
}

/* --- the round ------------------------------------------------------------------------ */

/* The column of element j of an entry that was chosen in step k. */
INLINE int column_of(const int k, const int j) {
  if (j < COLUMNS - k) return k + j;
  if (k < HALF) return j - (COLUMNS - k);
  return j < COLUMNS - HALF ? j - (COLUMNS - k) + HALF : j - (COLUMNS - HALF);
}

#if FINAL
INLINE void write_element(__local Choice *choice, const int k, const int column, const REAL x) {
  choice->top[k * COLUMNS + column] = x;
  if (column < k) choice->lower[column * STRIDE + k - column] = x;
}

INLINE void write_down(__local Choice *choice, const Entry *e, const int row) {
  const int k = e->place;
  choice->chosen[k] = row;
  choice->diagonal[k] = e->x[0];
#define WRITE_DOWN(j) write_element(choice, k, column_of(k, j), e->x[j]);
  EACH_ELEMENT(WRITE_DOWN)
}
#endif

INLINE void find(Entry *e, int *row, const ulong entry, const ulong count, const ulong first,
                 __global const int *list) {
  e->place = entry < count ? -1 : -2;
  *row = entry >= count ? 0 : list ? list[entry] : (int)(first + entry);
}

INLINE void load(Entry *e, __global const REAL *from) {
#define LOAD_ELEMENT(j) \
  if ((j) % 4 == 0) { \
    const QUAD four = e->place == -1 ? *(__global const QUAD *)&from[j] : (QUAD)(0); \
    e->x[j] = four.s0, e->x[(j) + 1] = four.s1, e->x[(j) + 2] = four.s2, e->x[(j) + 3] = four.s3; \
  }
  EACH_ELEMENT(LOAD_ELEMENT)
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void lu_tournament(
    const ulong count, const ulong first, const int listed, __global REAL *w, const ulong ld,
    __global int *lists, const ulong in, const ulong out
#if FINAL
    , const int columns, const ulong begin, const ulong end, __global int *pivots,
    __global REAL *diagonal
#endif
) {
  __local Board board;
  const int t = (int)get_local_id(0);
  Entry e[SHARE];
  int rows[SHARE];
#define FIND(r) find(&e[r], &rows[r], get_global_id(0) * SHARE + (r), count, first, listed ? lists + in : 0);
#define LOAD_ENTRY(r) load(&e[r], w + rows[r] * ld + first);
  EACH_ENTRY(FIND)
  EACH_ENTRY(LOAD_ENTRY)
  int k = 0;
  for (; k < HALF; k++) eliminate(&board, k, t, COLUMNS, e);
  for (; k < COLUMNS; k++) eliminate(&board, k, t, COLUMNS - HALF, e);
#if FINAL
  __local Choice choice;
  if (t < COLUMNS) choice.is_chosen[t] = 0;
  if (t == 0) choice.has_moved = 0;
  for (int i = t; i < COLUMNS * STRIDE; i += ITEMS) choice.lower[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
#define WRITE_ENTRY(r) \
  if (e[r].place >= 0 && e[r].place < columns) write_down(&choice, &e[r], rows[r]);
  EACH_ENTRY(WRITE_ENTRY)
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t < columns) find_pivot(&choice, (int)first, columns, t);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t == 0 && choice.has_moved) follow_moved(&choice, (int)first, columns);
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
  for (int i = t; i < COLUMNS * COLUMNS; i += ITEMS)
    if (i / COLUMNS < columns && i % COLUMNS < columns)
      w[i / COLUMNS * ld + i % COLUMNS] = choice.top[i];
  for (ulong j = columns + t; first + j < end; j += ITEMS) solve_column(choice.lower, w + j, ld);
#else
#define PUT_UP(r) \
  if (e[r].place >= 0) lists[out + get_group_id(0) * COLUMNS + e[r].place] = rows[r];
  EACH_ENTRY(PUT_UP)
#endif
}
