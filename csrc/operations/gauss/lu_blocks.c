/* SPDX-License-Identifier: MIT */
/*
 * Elimination with partial pivoting: column by column, or by blocks, so that most of it is a
 * product of matrices.
 *
 *          k   e          end      A panel, columns k .. e - 1, is factored by itself. Its
 *      +---+---+-----------+       exchanges of rows are repeated beside it, left and right; what
 *      |   | \ |     U     |  k    is right of it in its own rows becomes rows of U; from all
 *      |   +---+-----------+  e    below, C, the product of L and U is subtracted.
 *      |   | L |     C     |
 *      |   |   |           |       In two levels: in a large matrix the panels are wide, so that C
 *      +---+---+-----------+       is read and written seldom, and are factored the same way, by
 *                                  narrow panels, within their own columns.
 */
#include "elimination.h"

#define MULTIPLE 32  /* of rows and columns: the widest two vectors */
#define CONFLICT 512 /* bytes: rows that lie a multiple apart share few places of a cache */
#define LEVELS 2

size_t clc_paddedrows(size_t n) {
  return clc_roundup(n, MULTIPLE);
}

size_t clc_paddedrow(size_t n, const clc_Dtype *dtype) {
  const size_t columns = clc_paddedrows(n);
  return columns * dtype->size % CONFLICT == 0 ? columns + MULTIPLE : columns;
}

/* --- column by column --------------------------------------------------------- */

typedef struct {
  clc_Kernel *pivot, *swap, *update;
} Kernels;

/* Pushes the three, so that they stay. */
static Kernels push_kernels(lua_State *L, clc_Device *d, const clc_Dtype *dtype) {
  Kernels k;
  const char *defines = clc_define(L, {"GROUP", clc_tasksize(d)});
  k.pivot = clc_prebuilt(L, d, "lu_pivot", dtype, defines);
  k.swap = clc_prebuilt(L, d, "lu_swap", dtype, "");
  k.update = clc_prebuilt(L, d, "lu_update", dtype, "");
  return k;
}

static void eliminate_column(lua_State *L, const Kernels *kernels, const clc_Elimination *x,
                             size_t k, size_t first, size_t end) {
  const clc_Device *d = x->w->device;
  const size_t group = clc_tasksize(d), below = x->n - k - 1;
  const clc_Value n = clc_size(x->n), ld = clc_size(x->ld), column = clc_size(k),
                  w = clc_memory(x->w), pivots = clc_memory(x->pivots),
                  diagonal = clc_memory(x->diagonal);
  const clc_Range one = clc_padded1(group, group), line = clc_padded1(end - first + below, group),
                  square = clc_covermatrix(d, below, end - k - 1);
  clc_run(L, kernels->pivot, &one, n, column, w, ld, pivots, diagonal);
  clc_run(L, kernels->swap, &line, n, column, clc_size(first), clc_size(end), w, ld, pivots,
          diagonal);
  clc_run(L, kernels->update, &square, n, column, clc_size(end), w, ld);
}

/* Columns first .. end - 1 from row `first` on. Rows are exchanged, and updated, within these
   columns. */
static void eliminate_columns(lua_State *L, const clc_Elimination *x, size_t first, size_t end) {
  const int top = lua_gettop(L);
  const Kernels kernels = push_kernels(L, x->w->device, x->w->dtype);
  for (size_t k = first; k < end; k++) eliminate_column(L, &kernels, x, k, first, end);
  lua_settop(L, top);
}

void clc_eliminatecolumns(lua_State *L, const clc_Elimination *x) {
  eliminate_columns(L, x, 0, x->n);
}

/* --- by blocks ---------------------------------------------------------------- */

typedef struct {
  const clc_Elimination *x;
  size_t widths[LEVELS]; /* of panels */
  size_t vector, group;  /* V of lu_rows and lu_panel; work-items of a group of lu_rows */
  clc_Kernel *panel;     /* lu_panel, or NULL: column by column */
  clc_Kernel *rows;      /* lu_rows; NULL: one panel is all there is */
  clc_Buffer *packed;    /* for lu_panel, whose columns are ldp elements apart there */
  size_t ldp;
} Blocks;

/* Pushes what it consists of. A pure function of the device's numbers and the matrix. */
static Blocks push_blocks(lua_State *L, const clc_Elimination *x, const clc_LuRow *row) {
  clc_Device *d = x->w->device;
  Blocks b = {.x = x, .vector = row->vector, .group = row->group};
  b.widths[1] = row->columns;
  b.widths[0] = x->n > row->large ? row->block : x->n;
  const char *defines = clc_define(L, {"V", b.vector});
  if (x->n > b.widths[1]) b.rows = clc_prebuilt(L, d, "lu_rows", x->w->dtype, defines);
  if (b.vector > 1) {
    b.panel = clc_prebuilt(L, d, "lu_panel", x->w->dtype, defines);
    b.ldp = clc_paddedrow(x->n, x->w->dtype);
    b.packed = clc_pushscratch(L, d, "lu", x->w->dtype, b.ldp * clc_paddedrows(b.widths[1]));
  }
  return b;
}

static void factor_panel(lua_State *L, const Blocks *b, size_t first, size_t end) {
  const clc_Elimination *x = b->x;
  const clc_Range one = clc_padded1(1, 1);
  if (b->panel == NULL) {
    eliminate_columns(L, x, first, end);
    return;
  }
  clc_run(L, b->panel, &one, clc_size(x->n), clc_size(first), clc_size(end - first),
          clc_memory(x->w), clc_size(x->ld), clc_memory(b->packed), clc_size(b->ldp),
          clc_memory(x->pivots), clc_memory(x->diagonal));
}

/* Rows s .. t - 1 beside a panel, from column e to `end`: `exchanges` of rows, also from column
   `first` to s, and rows of U. */
static void solve_rows(lua_State *L, const Blocks *b, size_t exchanges, size_t s, size_t t,
                       size_t first, size_t e, size_t end) {
  const clc_Elimination *x = b->x;
  const size_t width = 2 * b->vector, left = exchanges > 0 ? (s - first) / width : 0,
               right = clc_parts(end - e, width);
  if (left + right == 0) return;
  const clc_Range range = clc_padded1(left + right, b->group);
  clc_run(L, b->rows, &range, clc_size(s), clc_size(exchanges), clc_size(t - s), clc_memory(x->w),
          clc_size(x->ld), clc_memory(x->pivots), clc_memory(x->w), clc_size(x->ld),
          clc_size(first), clc_size(left), clc_size(e), clc_size(end));
}

static clc_Matrix part(const clc_Elimination *x, size_t row, size_t column, size_t rows,
                       size_t columns) {
  return (clc_Matrix){x->w, row * x->ld + column, rows, columns, x->ld, 0};
}

void clc_subtractproduct(lua_State *L, const clc_Elimination *x, size_t i0, size_t i1, size_t k,
                         size_t s, size_t e, size_t end) {
  const clc_Multiply product = {.batch = 1,
                                .m = i1 - i0,
                                .n = end - e,
                                .k = s - k,
                                .alpha = -1,
                                .beta = 1,
                                .a = part(x, i0, k, i1 - i0, s - k),
                                .b = part(x, k, e, s - k, end - e),
                                .c = part(x, i0, e, i1 - i0, end - e)};
  clc_multiply(L, CLC_FAST, &product);
}

/* Beside the panel k .. e - 1: exchanges, and rows of U, as many at a time as a narrow panel has
   columns; what those above give to the next ones is a product too. */
static void finish_rows(lua_State *L, const Blocks *b, size_t first, size_t k, size_t e,
                        size_t end) {
  const size_t step = b->widths[LEVELS - 1];
  for (size_t s = k; s < e && (s == k || e < end); s += step) {
    const size_t t = e - s < step ? e : s + step;
    if (s > k) clc_subtractproduct(L, b->x, s, t, k, s, e, end);
    solve_rows(L, b, s == k ? e - k : 0, s, t, first, e, end);
  }
}

/* Columns first .. end - 1, from row `first` on, by panels of a level. */
static void eliminate(lua_State *L, const Blocks *b, int level, size_t first, size_t end) {
  if (level == LEVELS) {
    factor_panel(L, b, first, end);
    return;
  }
  const size_t width = b->widths[level];
  for (size_t k = first; k < end; k += width) {
    const size_t e = end - k < width ? end : k + width;
    eliminate(L, b, level + 1, k, e);
    finish_rows(L, b, first, k, e, end);
    clc_subtractproduct(L, b->x, e, b->x->n, k, e, e, end);
  }
}

void clc_eliminateblocks(lua_State *L, const clc_Elimination *x, const clc_LuRow *row) {
  const int top = lua_gettop(L);
  if (x->n == 0) return;
  luaL_checkstack(L, 30, NULL);
  const Blocks b = push_blocks(L, x, row);
  eliminate(L, &b, 0, 0, x->n);
  lua_settop(L, top);
}

void clc_eliminatepanel(lua_State *L, const clc_Elimination *x, size_t columns,
                        const clc_LuRow *row) {
  const int top = lua_gettop(L);
  luaL_checkstack(L, 30, NULL);
  const Blocks b = push_blocks(L, x, row);
  eliminate(L, &b, 1, 0, columns);
  lua_settop(L, top);
}
