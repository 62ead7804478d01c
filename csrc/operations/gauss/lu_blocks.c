/* SPDX-License-Identifier: MIT */
/*
 * Elimination with partial pivoting, by blocks, so that most of it is a product of matrices.
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
#include "lu_blocks.h"

#include "operations/gemm/multiply.h"
#include "operations/operand.h"
#include "operations/prebuilt.h"
#include "buffer/buffer.h"
#include "operations/tuning.h"

#define MULTIPLE 32  /* of rows and columns: the widest two vectors */
#define CONFLICT 512 /* bytes: rows that lie a multiple apart share few places of a cache */
#define LEVELS 2

size_t clc_paddedrows(size_t n) {
  return (n + MULTIPLE - 1) / MULTIPLE * MULTIPLE;
}

size_t clc_paddedrow(size_t n, const clc_Dtype *dtype) {
  const size_t columns = clc_paddedrows(n);
  return columns * dtype->size % CONFLICT == 0 ? columns + MULTIPLE : columns;
}

typedef struct {
  const clc_Elimination *x;
  size_t widths[LEVELS]; /* of panels */
  size_t vector, group;  /* V of lu_rows and lu_panel; work-items of a group of lu_rows */
  clc_Kernel *panel;     /* lu_panel, or NULL: column by column */
  clc_Kernel *rows;      /* lu_rows */
  clc_Buffer *packed;    /* for lu_panel */
} Blocks;

/* Pushes what it consists of. A pure function of the device's numbers and the matrix. */
static Blocks push_blocks(lua_State *L, const clc_Elimination *x) {
  clc_Device *d = x->w->device;
  Blocks b = {.x = x};
  clc_pushtuning(L, d, "lu", x->w->dtype);
  b.vector = (size_t)clc_tuned(L, "vector");
  b.group = (size_t)clc_tuned(L, "group");
  b.widths[1] = (size_t)clc_tuned(L, "columns");
  b.widths[0] = x->n > (size_t)clc_tuned(L, "large") ? (size_t)clc_tuned(L, "block") : x->n;
  const char *defines = lua_pushfstring(L, "#define V %d\n", (int)b.vector);
  b.rows = clc_prebuilt(L, d, "lu_rows", x->w->dtype, defines);
  if (b.vector > 1) {
    b.panel = clc_prebuilt(L, d, "lu_panel", x->w->dtype, defines);
    b.packed = clc_pushscratch(L, d, "lu", x->w->dtype, x->ld * clc_paddedrows(b.widths[1]));
  }
  return b;
}

static void factor_panel(lua_State *L, const Blocks *b, size_t first, size_t end) {
  const clc_Elimination *x = b->x;
  const clc_Range one = clc_padded1(1, 1);
  if (b->panel == NULL) {
    clc_eliminatecolumns(L, x, first, end);
    return;
  }
  clc_setarguments(L, b->panel, "iiibibibb", (lua_Integer)x->n, (lua_Integer)first,
                   (lua_Integer)(end - first), x->w, (lua_Integer)x->ld, b->packed,
                   (lua_Integer)x->ld, x->pivots, x->diagonal);
  clc_launch(L, b->panel, &one, NULL);
}

/* Rows s .. t - 1 beside a panel, from column e to `end`: `exchanges` of rows, also from column
   `first` to s, and rows of U. */
static void solve_rows(lua_State *L, const Blocks *b, size_t exchanges, size_t s, size_t t,
                       size_t first, size_t e, size_t end) {
  const clc_Elimination *x = b->x;
  const size_t width = 2 * b->vector, left = exchanges > 0 ? (s - first) / width : 0,
               right = (end - e + width - 1) / width;
  if (left + right == 0) return;
  const clc_Range range = clc_padded1(left + right, b->group);
  clc_setarguments(L, b->rows, "iiibibbiiiii", (lua_Integer)s, (lua_Integer)exchanges,
                   (lua_Integer)(t - s), x->w, (lua_Integer)x->ld, x->pivots, x->w,
                   (lua_Integer)x->ld, (lua_Integer)first, (lua_Integer)left, (lua_Integer)e,
                   (lua_Integer)end);
  clc_launch(L, b->rows, &range, NULL);
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

void clc_eliminateblocks(lua_State *L, const clc_Elimination *x) {
  const int top = lua_gettop(L);
  if (x->n == 0) return;
  luaL_checkstack(L, 30, NULL);
  const Blocks b = push_blocks(L, x);
  eliminate(L, &b, 0, 0, x->n);
  lua_settop(L, top);
}
