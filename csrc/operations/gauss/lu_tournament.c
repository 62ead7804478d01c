/* SPDX-License-Identifier: MIT */
/*
 * Elimination for GPUs: by blocks, whose panels choose their pivots in a few launches.
 *
 *          k         e         end   A block, columns k .. e - 1, goes by panels of a few columns.
 *      +---+---------+---------+     Groups of rows each choose as many rows of a panel as it has
 *      |   | \   U   |    U    | k   columns; groups of those choose among them, until one is left,
 *      |   |  +--+---+         |     which also exchanges rows within the block and makes rows of U
 *      |   |  |  |   |         |     there (lu_tournament). A launch makes the multipliers below,
 *      |   +--|L |   +---------+ e   subtracts what they give within the block, and exchanges rows
 *      |   |  |  |   |    C    |     elsewhere (lu_below). Then come the block's rows of U right of
 *      +---+--+--+---+---------+     it (lu_right), and C less the product of L and U.
 */
#include "elimination.h"

#define DOWN 32 /* DOWN and WIDE of lu_below, ACROSS of lu_right */
#define WIDE 64
#define ACROSS 32
#define LISTS "lu lists" /* a use of scratch memory */

typedef struct {
  const clc_Elimination *x;
  size_t columns, block;        /* of a panel, of a block */
  size_t rows, items;           /* entries and work-items of a group in a round */
  size_t last_rows, last_items; /* of the group of the last one */
  clc_Kernel *round, *last, *below, *right;
  clc_Buffer *lists;         /* of rows: two lists of entries, and the moves of a panel */
  size_t lists_of[2], moves; /* where they begin */
} Tournament;

static size_t or_one(size_t number) {
  return number > 0 ? number : 1;
}

/* Columns of a block of the whole matrix: half as many for `large` rows or fewer, where panels
   weigh more than products. */
static size_t block_for(const clc_LuRow *row, size_t n) {
  const size_t half = row->block / 2;
  return n <= row->large && half >= ACROSS && half % row->columns == 0 ? half : row->block;
}

/* Pushes what it consists of; the lists are at the top. */
static Tournament push_tournament(lua_State *L, const clc_Elimination *x, const clc_LuRow *row,
                                  size_t block) {
  clc_Device *d = x->w->device;
  const clc_Dtype *dtype = x->w->dtype;
  const size_t share = or_one(row->share), last_share = or_one(row->last_share);
  Tournament t = {.x = x, .columns = row->columns, .block = block, .rows = row->rows};
  t.last_rows = row->last > 0 ? row->last : t.rows;
  t.items = t.rows / share;
  t.last_items = t.last_rows / last_share;
  const clc_Macro columns = {"COLUMNS", t.columns}, warp = {"WARP", row->warp};
  t.round = clc_prebuilt(L, d, "lu_tournament", dtype,
                         clc_define(L, columns, warp, {"ROWS", t.rows}, {"SHARE", share}));
  t.last = clc_prebuilt(L, d, "lu_tournament", dtype,
                        clc_define(L, columns, warp, {"ROWS", t.last_rows}, {"SHARE", last_share},
                                   {"FINAL", 1}, {"ACROSS", block}));
  t.below = clc_prebuilt(L, d, "lu_below", dtype,
                         clc_define(L, columns, {"DOWN", DOWN}, {"WIDE", WIDE},
                                    {"ACROSS", block < WIDE ? WIDE : block}));
  t.right = clc_prebuilt(L, d, "lu_right", dtype,
                         clc_define(L, columns, {"BLOCK", t.block}, {"ACROSS", ACROSS}));
  const size_t list = clc_parts(x->n, t.rows) * t.columns;
  t.lists_of[1] = list;
  t.moves = 2 * list;
  t.lists = clc_takescratch(L, d, LISTS, clc_int, 2 * list + 4 * t.columns);
  return t;
}

/* The panel from column `first` on of a block k .. e - 1: its pivots, and all of its own rows. */
static void choose(lua_State *L, const Tournament *t, size_t first, size_t columns, size_t k,
                   size_t e) {
  const clc_Elimination *x = t->x;
  size_t count = x->n - first;
  int listed = 0, in = 0;
  while (count > t->last_rows) {
    const size_t groups = clc_parts(count, t->rows), rest = count - (groups - 1) * t->rows;
    const clc_Range range = clc_batchrange(groups, 1, 1, t->items, 1);
    clc_run(L, t->round, &range, clc_size(count), clc_size(first), clc_integer(listed),
            clc_memory(x->w), clc_size(x->ld), clc_memory(t->lists), clc_size(t->lists_of[in]),
            clc_size(t->lists_of[!in]));
    count = (groups - 1) * t->columns + (rest < t->columns ? rest : t->columns);
    listed = 1;
    in = !in;
  }
  const clc_Range one = clc_batchrange(1, 1, 1, t->last_items, 1);
  clc_run(L, t->last, &one, clc_size(count), clc_size(first), clc_integer(listed), clc_memory(x->w),
          clc_size(x->ld), clc_memory(t->lists), clc_size(t->lists_of[in]), clc_size(t->moves),
          clc_size(columns), clc_size(k), clc_size(e), clc_memory(x->pivots),
          clc_memory(x->diagonal));
}

/* What it gives to the rows below within the block, and its exchanges beside the block, where there
   are so many columns. */
static void apply(lua_State *L, const Tournament *t, size_t first, size_t columns, size_t k,
                  size_t e, size_t beside) {
  const clc_Elimination *x = t->x;
  const size_t items = DOWN / 4 * (WIDE / 4), groups = clc_parts(x->n - first - columns, DOWN),
               others = clc_parts(beside, items);
  const clc_Range range = clc_batchrange(groups + others, 1, 1, items, 1);
  if (groups + others == 0) return;
  clc_run(L, t->below, &range, clc_size(x->n), clc_size(first), clc_size(columns), clc_size(e),
          clc_memory(x->w), clc_size(x->ld), clc_size(groups), clc_memory(t->lists),
          clc_size(t->moves), clc_size(k), clc_size(e));
}

/* A block, columns k .. e - 1, and its exchanges beside it. */
static void factor_block(lua_State *L, const Tournament *t, size_t k, size_t e, size_t beside) {
  for (size_t first = k; first < e; first += t->columns) {
    const size_t columns = e - first < t->columns ? e - first : t->columns;
    choose(L, t, first, columns, k, e);
    apply(L, t, first, columns, k, e, beside);
  }
}

/* Rows of U in columns e .. end - 1, of the block that is left of them. */
static void make_rows(lua_State *L, const Tournament *t, size_t k, size_t e, size_t end) {
  const clc_Elimination *x = t->x;
  const clc_Range range = clc_batchrange(clc_parts(end - e, ACROSS), 1, 1, t->block, 1);
  clc_run(L, t->right, &range, clc_size(k), clc_memory(x->w), clc_size(x->ld), clc_size(e),
          clc_size(end));
}

/* What the whole block k .. e - 1 gives to the columns right of it. */
static void finish(lua_State *L, const Tournament *t, size_t k, size_t e) {
  const clc_Elimination *x = t->x;
  make_rows(L, t, k, e, x->n);
  clc_subtractproduct(L, x, e, x->n, k, e, e, x->n);
}

void clc_eliminatetournament(lua_State *L, const clc_Elimination *x, const clc_LuRow *row) {
  const int top = lua_gettop(L);
  if (x->n == 0) return;
  luaL_checkstack(L, 30, NULL);
  const Tournament t = push_tournament(L, x, row, block_for(row, x->n));
  for (size_t k = 0; k < x->n; k += t.block) {
    const size_t e = x->n - k < t.block ? x->n : k + t.block;
    factor_block(L, &t, k, e, k + x->n - e);
    if (e < x->n) finish(L, &t, k, e);
  }
  clc_givescratch(L, LISTS);
  lua_settop(L, top);
}

int clc_panelistournament(const clc_LuRow *row, size_t columns) {
  return row->rows > 0 && columns <= row->block;
}

void clc_eliminatetournamentpanel(lua_State *L, const clc_Elimination *x, size_t columns,
                                  const clc_LuRow *row) {
  const int top = lua_gettop(L);
  luaL_checkstack(L, 30, NULL);
  const Tournament t = push_tournament(L, x, row, row->block);
  factor_block(L, &t, 0, columns, 0);
  clc_givescratch(L, LISTS);
  lua_settop(L, top);
}

void clc_solvetournamentrows(lua_State *L, const clc_Elimination *x, size_t end,
                             const clc_LuRow *row) {
  const int top = lua_gettop(L);
  luaL_checkstack(L, 30, NULL);
  const Tournament t = push_tournament(L, x, row, row->block);
  make_rows(L, &t, 0, t.block, end);
  clc_givescratch(L, LISTS);
  lua_settop(L, top);
}
