/* SPDX-License-Identifier: MIT */
/* LU factors with partial pivoting on the device, and what they tell. */
#include "lu.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "elimination.h"
#include "systems.h"

#define FACTORS "factors" /* uses of scratch memory */
#define SUMS "lu sums"
#define FAULT "lu fault"
#define FEW 8 /* sums of a column that the host adds up */

#define READ 1 /* where a row keeps what was read of it */

/* Reads the row at the top. */
static void read_row(lua_State *L, clc_LuRow *row) {
  static const clc_Field fields[] = {{"vector", offsetof(clc_LuRow, vector), NULL},
                                     {"group", offsetof(clc_LuRow, group), NULL},
                                     {"columns", offsetof(clc_LuRow, columns), NULL},
                                     {"block", offsetof(clc_LuRow, block), NULL},
                                     {"large", offsetof(clc_LuRow, large), NULL},
                                     {"few", offsetof(clc_LuRow, few), NULL},
                                     {NULL, 0, NULL}};
  /* Each one is 0 where the row does not name it. */
  static const clc_Field others[][2] = {{{"small", offsetof(clc_LuRow, small), NULL}},
                                        {{"rows", offsetof(clc_LuRow, rows), NULL}},
                                        {{"warp", offsetof(clc_LuRow, warp), NULL}},
                                        {{"share", offsetof(clc_LuRow, share), NULL}},
                                        {{"last", offsetof(clc_LuRow, last), NULL}},
                                        {{"last_share", offsetof(clc_LuRow, last_share), NULL}},
                                        {{"items", offsetof(clc_LuRow, items), NULL}}};
  clc_readrow(L, fields, row);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    const int is_named = lua_getfield(L, -1, others[i]->name) != LUA_TNIL;
    lua_pop(L, 1);
    if (is_named) clc_readrow(L, others[i], row);
  }
}

clc_LuRow clc_getlurowfor(lua_State *L, const clc_Buffer *like, double work) {
  clc_pushrowfor(L, like->device, "lu", like->dtype, work);
  lua_rawgeti(L, -1, READ);
  clc_LuRow *row = lua_touserdata(L, -1);
  lua_pop(L, 1);
  if (row == NULL) {
    row = lua_newuserdatauv(L, sizeof *row, 0);
    *row = (clc_LuRow){0};
    lua_insert(L, -2);
    read_row(L, row);
    lua_insert(L, -2);
    lua_rawseti(L, -2, READ);
  }
  const clc_LuRow found = *row;
  lua_pop(L, 1);
  return found;
}

clc_LuRow clc_getlurow(lua_State *L, const clc_Buffer *like) {
  return clc_getlurowfor(L, like, 0);
}

/* Sums of magnitudes of the columns of a matrix, by chunks of its rows: rows of a buffer, of which
   the first is the sums of all of them where there are more than a few. */
typedef struct {
  clc_Buffer *b;
  size_t chunks, n, ld;
} Sums;

/* Queues the copy of a to where it is factored; pushes the sums. */
static Sums load(lua_State *L, clc_Buffer *a, const clc_Elimination *x, const clc_LuRow *row) {
  clc_Device *d = a->device;
  const int has_vectors = row->vector > 1;
  const size_t rows = clc_paddedrows(x->n), vectors = has_vectors ? 4 : 1,
               span = has_vectors ? 1024 : 1, chunk = has_vectors ? 256 : 32;
  Sums sums = {.chunks = clc_parts(rows, chunk), .n = x->n, .ld = x->ld};
  sums.b = clc_takescratch(L, d, SUMS, a->dtype, (1 + sums.chunks) * x->ld);
  const char *defines =
      clc_define(L, {"V", row->vector}, {"VECTORS", vectors}, {"SPAN", span}, {"CHUNK", chunk});
  clc_Kernel *k = clc_prebuilt(L, d, "lu_load", a->dtype, defines);
  const clc_Range range =
      clc_padded2(clc_parts(x->ld, row->vector * vectors * span), sums.chunks, row->group, 1);
  clc_run(L, k, &range, clc_size(x->n), clc_size(rows), clc_elements(a), clc_memory(x->w),
          clc_size(x->ld), clc_memory(sums.b));
  lua_pop(L, 2);
  if (sums.chunks <= FEW) return sums;
  clc_Kernel *add = clc_prebuilt(L, d, "column_sums", a->dtype, "");
  const clc_Range line = clc_padded1(x->ld, 64);
  clc_run(L, add, &line, clc_size(sums.chunks), clc_size(x->ld), clc_memory(sums.b),
          clc_size(x->ld), clc_memory(sums.b));
  lua_pop(L, 1);
  return sums;
}

/* The largest sum of a column. */
static double largest_sum(lua_State *L, const Sums *s) {
  const int is_few = s->chunks <= FEW;
  const size_t rows = is_few ? s->chunks : 1;
  clc_Buffer *read = clc_newview(L, s->b, is_few ? s->ld : 0, &(clc_Shape){1, {rows * s->ld}});
  const double *sums = clc_pushdoubles(L, read);
  double largest = 0;
  for (size_t j = 0; j < s->n; j++) {
    double sum = 0;
    for (size_t i = 0; i < rows; i++) sum += sums[i * s->ld + j];
    if (!(sum <= largest)) largest = sum;
    if (isnan(sum)) break;
  }
  clc_release(&read->h);
  lua_pop(L, 2);
  return largest;
}

/* Pushes a table of the buffers. */
static clc_Elimination push_parts(lua_State *L, clc_Buffer *a, const clc_Lu *f) {
  clc_Device *d = a->device;
  const int together = f->is_batch || f->is_small;
  const size_t all = f->count * f->n, rows = together ? all : clc_paddedrows(f->n);
  clc_Elimination x = {.n = f->n, .ld = f->ld};
  lua_createtable(L, CLC_LUFACTS, 0);
  x.w = clc_takescratch(L, d, FACTORS, a->dtype, rows * f->ld);
  lua_rawseti(L, -2, 1);
  x.pivots = clc_newbuffer(L, d, clc_int, &(clc_Shape){1, {all}});
  lua_rawseti(L, -2, 2);
  x.diagonal = clc_newbuffer(L, d, a->dtype, &(clc_Shape){1, {all}});
  lua_rawseti(L, -2, 3);
  return x;
}

void clc_needpivots(lua_State *L, int table, clc_Lu *f) {
  const size_t all = f->count * f->n;
  if (f->pivots != NULL) return;
  int *pivots = lua_newuserdatauv(L, all * sizeof *pivots, 0);
  clc_readbuffer(L, f->exchanges, 0, all, pivots);
  lua_rawseti(L, table, CLC_LUPIVOTS);
  f->pivots = pivots;
}

void clc_needdiagonal(lua_State *L, int table, clc_Lu *f) {
  if (f->diagonal != NULL) return;
  f->diagonal = clc_pushdoubles(L, f->unread);
  lua_rawseti(L, table, 9);
}

static void factor_one(lua_State *L, clc_Buffer *a, int table, clc_Lu *f, clc_Way way,
                       const clc_Elimination *x) {
  if (f->n == 0) return;
  const clc_LuRow row = clc_getlurow(L, a);
  const Sums sums = load(L, a, x, &row);
  if (way == CLC_BYCOLUMNS)
    clc_eliminatecolumns(L, x);
  else
    (row.rows > 0 ? clc_eliminatetournament : clc_eliminateblocks)(L, x, &row);
  clc_needdiagonal(L, table, f);
  f->norms[0] = largest_sum(L, &sums);
  clc_givescratch(L, SUMS);
}

const char *clc_pushsystem(lua_State *L, const clc_Lu *f, size_t i, const char *what) {
  if (!f->is_batch) return lua_pushfstring(L, "%s: ", what);
  return lua_pushfstring(L, "%s: system %I: ", what, (LUAI_UACINT)(i + 1));
}

/* Sums of the device that are not finite have a fault in a, or are computed anew. */
static void check_norms(lua_State *L, clc_Buffer *a, const clc_Lu *f, const char *what) {
  for (size_t i = 0; i < f->count; i++) {
    if (isfinite(f->norms[i])) continue;
    const double norm = clc_checknorm1(L, a, lua_pushfstring(L, "%s: a", what));
    if (f->is_batch) luaL_error(L, "%sthe 1-norm of a overflows", clc_pushsystem(L, f, i, what));
    f->norms[i] = norm;
    lua_pop(L, 1);
  }
}

/* Zero exactly: a bound would reject systems that are merely scaled. */
static void check_diagonal(lua_State *L, const clc_Lu *f, const char *what) {
  for (size_t i = 0; i < f->count * f->n; i++) {
    const int column = (int)(i % f->n) + 1;
    if (f->diagonal[i] == 0)
      luaL_error(L, "%smatrix is singular: column %d has no pivot",
                 clc_pushsystem(L, f, i / f->n, what), column);
    if (!isfinite(f->diagonal[i]))
      luaL_error(L, "%sthe elimination overflows in column %d",
                 clc_pushsystem(L, f, i / f->n, what), column);
  }
}

clc_Buffer *clc_pushorder(lua_State *L, const clc_Lu *f) {
  const clc_Shape line = {1, {f->n}};
  cl_int *order = lua_newuserdatauv(L, f->n * sizeof *order, 0);
  for (size_t i = 0; i < f->n; i++) order[i] = (cl_int)i;
  for (size_t i = 0; i < f->n; i++) {
    const cl_int t = order[i];
    order[i] = order[f->pivots[i]];
    order[f->pivots[i]] = t;
  }
  clc_Buffer *b = clc_newbuffer(L, f->lu->device, clc_int, &line);
  clc_writebuffer(L, b, 0, f->n, order);
  lua_remove(L, -2);
  return b;
}

/* The order of a GPU's factors stays, as value 6 of the table at that index. */
static void keep_order(lua_State *L, int table, clc_Lu *f) {
  if (f->lu->device->context->is_cpu || f->n == 0) return;
  f->order = clc_pushorder(L, f);
  lua_rawseti(L, table, 6);
}

/* Room for the norms, all 0, at the top. */
static double *push_norms(lua_State *L, const clc_Lu *f) {
  double *norms = lua_newuserdatauv(L, f->count * sizeof *norms, 0);
  return memset(norms, 0, f->count * sizeof *norms);
}

/* The norms at the top become those of the factors: where the way to them raised, there are none.
 */
static void set_norms(lua_State *L, int table, clc_Lu *f, double *norms) {
  lua_rawseti(L, table, 5);
  f->norms = norms;
}

/* Reads the norms of a batch; returns whether a pivot has a fault. */
static int read_facts(lua_State *L, int table, clc_Lu *f) {
  int has_fault = 0;
  double *norms = push_norms(L, f);
  const double *numbers = clc_pushdoubles(L, f->facts);
  for (size_t i = 0; i < f->count && f->n > 0; i++) {
    norms[i] = numbers[2 * i];
    has_fault |= numbers[2 * i + 1] != 0;
  }
  lua_pop(L, 1);
  set_norms(L, table, f, norms);
  return has_fault;
}

void clc_neednorms(lua_State *L, int table, clc_Lu *f) {
  if (f->norms == NULL) read_facts(L, table, f);
}

/* How many batches were begun: one that a hook factors while another waits takes the word of both.
 */
static atomic_uint batches;

/* Whether a batch may have a fault; the word, which is read sooner than the facts, is 0 again. */
static int take_fault(lua_State *L, clc_Buffer *fault) {
  const cl_int none = 0;
  cl_int found;
  clc_readbuffer(L, fault, 0, 1, &found);
  if (found != none) clc_fillbuffer(L, fault, 0, 1, &none);
  return found != none;
}

static void factor_batch(lua_State *L, clc_Buffer *a, int table, clc_Lu *f,
                         const clc_Elimination *x, int with_norms, const char *what) {
  clc_Device *d = a->device;
  const size_t n = f->n, all = f->count * n;
  clc_Batch batch = {f->count, n, x->w, x->pivots, x->diagonal, NULL, NULL, NULL};
  if (clc_batchrows(L, a, n) > 0) {
    f->order = batch.order = clc_newbuffer(L, d, clc_int, &(clc_Shape){1, {all}});
    lua_rawseti(L, table, 6);
    batch.fault = clc_pushzeros(L, d, FAULT, clc_int, 1);
  }
  f->facts = batch.facts = clc_newbuffer(L, d, a->dtype, &(clc_Shape){1, {2 * f->count}});
  lua_rawseti(L, table, CLC_LUFACTS);
  const unsigned number = atomic_fetch_add(&batches, 1) + 1;
  if (all > 0) clc_eliminatebatch(L, a, &batch);
  if (with_norms || all == 0 || batch.fault == NULL || take_fault(L, batch.fault) ||
      atomic_load(&batches) != number) {
    const int has_fault = read_facts(L, table, f);
    check_norms(L, a, f, what);
    if (has_fault) clc_needdiagonal(L, table, f);
    if (has_fault) check_diagonal(L, f, what);
  }
  lua_settop(L, table);
}

clc_Lu clc_factor(lua_State *L, clc_Buffer *a, clc_Way way, int with_norms, const char *what) {
  clc_Lu f = {.n = a->shape.dim[a->shape.n - 1], .count = 1, .is_batch = a->shape.n == 3};
  f.is_small = way == CLC_ASBATCH && !f.is_batch;
  const int together = f.is_batch || f.is_small;
  if (f.is_batch) f.count = a->shape.dim[0];
  f.ld = together ? f.n : clc_paddedrow(f.n, a->dtype);
  const clc_Elimination x = push_parts(L, a, &f);
  const int table = lua_gettop(L);
  f.lu = x.w;
  f.exchanges = x.pivots;
  f.unread = x.diagonal;
  if (together) {
    factor_batch(L, a, table, &f, &x, with_norms, what);
  } else {
    set_norms(L, table, &f, push_norms(L, &f));
    factor_one(L, a, table, &f, way, &x);
    check_norms(L, a, &f, what);
    check_diagonal(L, &f, what);
    clc_needpivots(L, table, &f);
    clc_release(&x.diagonal->h);
    keep_order(L, table, &f);
  }
  return f;
}

void clc_dropfactors(lua_State *L, int is_shared) {
  static const lua_Integer buffers[] = {1, 2, 3, 6, CLC_LUFACTS};
  for (size_t k = 0; k < sizeof buffers / sizeof *buffers; k++) {
    const lua_Integer i = buffers[k];
    lua_rawgeti(L, -1, i);
    clc_Buffer *b = clc_testbuffer(L, -1);
    if (i == 1 && !is_shared) {
      clc_givescratch(L, FACTORS);
      continue;
    }
    if (b != NULL) clc_release(&b->h);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

double clc_determinant(const clc_Lu *f, size_t i) {
  const double *diagonal = f->diagonal + i * f->n;
  const int *pivots = f->pivots + i * f->n;
  double product = 1; /* its exponent beside it, lest a part of the product overflow */
  long exponent = 0;
  for (size_t k = 0; k < f->n; k++) {
    int e;
    product = frexp((pivots[k] == (int)k ? 1 : -1) * product * diagonal[k], &e);
    exponent += e;
  }
  if (exponent > 4096) exponent = 4096;
  if (exponent < -4096) exponent = -4096;
  return ldexp(product, (int)exponent);
}
