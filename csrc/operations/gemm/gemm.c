/* SPDX-License-Identifier: MIT */
/* gemm: C <- alpha * op(A) * op(B) + beta * C. */
#include "gemm.h"

#include "operations/operations.h"

/* --- shapes ------------------------------------------------------------ */

/* The extent an option names, or -1. */
static lua_Integer extent(lua_State *L, const char *key) {
  return clc_integeroption(L, 3, key, 0, -1);
}

/* The rows or columns (dim 0, 1) of the matrices of an operand with two or three dimensions. */
static size_t extent_of(const clc_Buffer *b, int dim) {
  return b->shape.dim[b->shape.n - 2 + dim];
}

/* m, n, k: the option, else what a two-dimensional operand says along `dim`. */
static size_t find_extent(lua_State *L, const char *key, const clc_Buffer *b, int dim,
                          const char *name) {
  const lua_Integer given = extent(L, key);
  if (given >= 0) return (size_t)given;
  if (b->shape.n != 2 && b->shape.n != 3)
    luaL_error(L,
               "gemm: %s has %d dimension%s: option '%s' must say what part of it is meant, or "
               "%s:reshape(rows, cols) make it a matrix%s",
               name, b->shape.n, b->shape.n == 1 ? "" : "s", key, name,
               b->shape.n == 1 ? "; cl.matmul(a, b) takes vectors" : "");
  return extent_of(b, dim);
}

static clc_Matrix make_matrix(lua_State *L, clc_Buffer *b, const char *name, size_t rows,
                              size_t cols, const char *ld_key) {
  clc_Matrix x = {b, b->offset, rows, cols, 0, 0};
  const lua_Integer ld = extent(L, ld_key);
  if (b->shape.n == 3) {
    x.ld = cols;
    x.stride = rows * cols;
    return x;
  }
  x.ld = ld >= 0 ? (size_t)ld : b->shape.n == 2 ? b->shape.dim[1] : cols;
  if (x.ld < cols)
    luaL_error(L, "gemm: %s: rows of %I elements need '%s' of at least as much, got %I", name,
               (LUAI_UACINT)cols, ld_key, (LUAI_UACINT)x.ld);
  size_t last; /* elements up to the end of the last row */
  if (rows > 0 && cols > 0 &&
      (__builtin_mul_overflow(rows - 1, x.ld, &last) || __builtin_add_overflow(last, cols, &last) ||
       last > b->count))
    luaL_error(L, "gemm: %s: %Ix%I with rows %I apart does not fit its %I elements", name,
               (LUAI_UACINT)rows, (LUAI_UACINT)cols, (LUAI_UACINT)x.ld, (LUAI_UACINT)b->count);
  return x;
}

/* How many products there are: one, or as many as a three-dimensional operand has matrices. */
static size_t check_batch(lua_State *L, const clc_Buffer *a, const clc_Buffer *b) {
  static const char *const parts[] = {"m", "n", "k", "lda", "ldb", "ldc", NULL};
  if (a->shape.n != 3 && b->shape.n != 3) return 1;
  for (const char *const *key = parts; *key != NULL; key++)
    if (extent(L, *key) >= 0)
      clc_optionerror(L, 3, *key, "does not go with a batch (a or b has three dimensions)");
  const clc_Buffer *one = a->shape.n == 3 ? a : b, *other = one == a ? b : a;
  if (other->shape.n == 3 && other->shape.dim[0] != one->shape.dim[0])
    luaL_error(L, "gemm: batches differ: a is %s, b is %s", clc_pushshape(L, &a->shape),
               clc_pushshape(L, &b->shape));
  return one->shape.dim[0];
}

static void check_inner(lua_State *L, const clc_Buffer *a, const clc_Buffer *b, int transa,
                        int transb) {
  if (a->shape.n < 2 || a->shape.n > 3 || b->shape.n < 2 || b->shape.n > 3) return;
  if (extent(L, "k") >= 0) return;
  if (extent_of(a, !transa) != extent_of(b, transb))
    luaL_error(L, "gemm: inner dimensions differ: a is %s%s, b is %s%s",
               clc_pushshape(L, &a->shape), transa ? " transposed" : "",
               clc_pushshape(L, &b->shape), transb ? " transposed" : "");
}

/* Pushes the option, or a new buffer. */
static clc_Buffer *find_result(lua_State *L, const clc_Buffer *a, const clc_Shape *shape,
                               lua_Number beta) {
  clc_Buffer *c = clc_pushbufferoption(L, 3, "c", a);
  if (c == NULL && beta != 0) luaL_error(L, "gemm: beta other than 0 needs option 'c'");
  if (c == NULL) {
    lua_pop(L, 1);
    return clc_newguarded(L, a->device, a->dtype, shape);
  }
  const int is_part = extent(L, "m") >= 0 || extent(L, "n") >= 0;
  if (!is_part || c->shape.n == 3) clc_checkshapeof(L, 3, "c", c, shape);
  return c;
}

/* Two matrices may lie side by side in one with the same distance from row to row. */
static int share_elements(clc_Matrix x, clc_Matrix y) {
  if (!clc_overlap(x.b, y.b)) return 0;
  const clc_Matrix first = x.offset < y.offset ? x : y, second = x.offset < y.offset ? y : x;
  const size_t ld = x.ld, away = second.offset - first.offset;
  const size_t row = away / ld, col = away % ld; /* of the second, counted from the first's */
  if (x.stride > 0 || y.stride > 0 || ld != y.ld || col + second.cols > ld) return 1;
  return row < first.rows && col < first.cols;
}

static void check_aliasing(lua_State *L, clc_Matrix a, clc_Matrix b, clc_Matrix c) {
  if (c.rows == 0 || c.cols == 0) return;
  if (share_elements(c, a) || share_elements(c, b))
    clc_optionerror(L, 3, "c", "must not overlap a or b");
}

static int op_gemm(lua_State *L) {
  if (clc_isspread(L, 1)) return clc_callspread(L, "gemm");
  static const char *const multipliers[] = {"naive", "tiled", "fast", NULL};
  static const char *const precisions[] = {"float", "float-tensor", "tf32", NULL};
  static const char *const keys[] = {"c", "alpha", "beta", "transa", "transb", "m",         "n",
                                     "k", "lda",   "ldb",  "ldc",    "kernel", "precision", NULL};
  clc_Buffer *a = clc_checkreal(L, 1);
  clc_Buffer *b = clc_checklike(L, 2, a);
  lua_settop(L, 3);
  luaL_checkstack(L, 40, NULL);
  clc_checkoptions(L, 3, keys);
  const lua_Number alpha = clc_elementoption(L, 3, "alpha", a->dtype, 1);
  const lua_Number beta = clc_elementoption(L, 3, "beta", a->dtype, 0);
  const int transa = clc_booleanoption(L, 3, "transa", 0);
  const int transb = clc_booleanoption(L, 3, "transb", 0);
  check_inner(L, a, b, transa, transb);
  clc_Multiply x = {.alpha = alpha, .beta = beta, .transa = transa, .transb = transb};
  x.batch = check_batch(L, a, b);
  x.m = find_extent(L, "m", a, transa, "a");
  x.n = find_extent(L, "n", b, !transb, "b");
  x.k = find_extent(L, "k", a, !transa, "a");
  const clc_Multiplier multiplier =
      (clc_Multiplier)clc_enumoption(L, 3, "kernel", multipliers, CLC_FAST);
  x.waits = clc_pushoption(L, 3, "kernel") != LUA_TNIL; /* what is asked for by name is compared */
  lua_pop(L, 1);
  x.precision = (clc_Precision)clc_enumoption(L, 3, "precision", precisions, CLC_FLOAT);
  x.a = transa ? make_matrix(L, a, "a", x.k, x.m, "lda") : make_matrix(L, a, "a", x.m, x.k, "lda");
  x.b = transb ? make_matrix(L, b, "b", x.n, x.k, "ldb") : make_matrix(L, b, "b", x.k, x.n, "ldb");
  const int is_batch = a->shape.n == 3 || b->shape.n == 3;
  const clc_Shape shape =
      is_batch ? (clc_Shape){3, {x.batch, x.m, x.n}} : (clc_Shape){2, {x.m, x.n}};
  clc_Buffer *c = find_result(L, a, &shape, beta);
  x.c = make_matrix(L, c, "c", x.m, x.n, "ldc");
  check_aliasing(L, x.a, x.b, x.c);
  clc_multiply(L, multiplier, &x);
  return 1;
}

void clc_opengemm(lua_State *L) {
  static const clc_Function functions[] = {{"gemm", op_gemm, 3}, {NULL, NULL, 0}};
  clc_setfunctions(L, functions);
}
