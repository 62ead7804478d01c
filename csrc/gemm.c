/* SPDX-License-Identifier: MIT */
/***
gemm: C <- alpha * op(A) * op(B) + beta * C.
@module clcompute
*/
#include "gemm.h"

#include "args.h"
#include "operand.h"
#include "prebuilt.h"

#define TILE 16 /* TS of gemm_tiled */

/* A matrix in a buffer: rows x cols as stored, `ld` elements from row to row. */
typedef struct {
  clc_Buffer *b;
  const char *name;
  size_t rows, cols, ld;
} Matrix;

/* --- shapes ------------------------------------------------------------ */

/* The extent an option names, or -1. */
static lua_Integer extent(lua_State *L, const char *key) {
  return clc_integeroption(L, 3, key, 0, -1);
}

/* m, n, k: the option, else what a two-dimensional operand says along `dim`. */
static size_t find_extent(lua_State *L, const char *key, const clc_Buffer *b, int dim,
                          const char *name) {
  const lua_Integer given = extent(L, key);
  if (given >= 0) return (size_t)given;
  if (b->shape.n != 2)
    luaL_error(L,
               "gemm: %s has %d dimension%s: option '%s' must say what part of it is meant, or "
               "%s:reshape(rows, cols) make it a matrix",
               name, b->shape.n, b->shape.n == 1 ? "" : "s", key, name);
  return b->shape.dim[dim];
}

static Matrix make_matrix(lua_State *L, clc_Buffer *b, const char *name, size_t rows, size_t cols,
                          const char *ld_key) {
  Matrix x = {b, name, rows, cols, 0};
  const lua_Integer ld = extent(L, ld_key);
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

static void check_inner(lua_State *L, const clc_Buffer *a, const clc_Buffer *b, int transa,
                        int transb) {
  if (a->shape.n != 2 || b->shape.n != 2 || extent(L, "k") >= 0) return;
  if (a->shape.dim[!transa] != b->shape.dim[transb])
    luaL_error(L, "gemm: inner dimensions differ: a is %s%s, b is %s%s",
               clc_pushshape(L, &a->shape), transa ? " transposed" : "",
               clc_pushshape(L, &b->shape), transb ? " transposed" : "");
}

/* Pushes the option, or a new buffer. */
static clc_Buffer *find_result(lua_State *L, const clc_Buffer *a, size_t m, size_t n,
                               lua_Number beta) {
  clc_Buffer *c = clc_pushbufferoption(L, 3, "c", a);
  const clc_Shape shape = {2, {m, n}};
  if (c == NULL && beta != 0) luaL_error(L, "gemm: beta other than 0 needs option 'c'");
  if (c == NULL) {
    lua_pop(L, 1);
    return clc_newbuffer(L, a->device, a->dtype, &shape);
  }
  if (extent(L, "m") < 0 && extent(L, "n") < 0) clc_checkshapeof(L, 3, "c", c, &shape);
  return c;
}

/* Two matrices may lie side by side in one with the same distance from row to row. */
static int share_elements(Matrix x, Matrix y) {
  if (!clc_overlap(x.b, y.b)) return 0;
  const size_t ld = x.ld;
  const size_t xi = x.b->offset / ld, xj = x.b->offset % ld;
  const size_t yi = y.b->offset / ld, yj = y.b->offset % ld;
  if (ld != y.ld || xj + x.cols > ld || yj + y.cols > ld) return 1;
  return xi < yi + y.rows && yi < xi + x.rows && xj < yj + y.cols && yj < xj + x.cols;
}

static void check_aliasing(lua_State *L, Matrix a, Matrix b, Matrix c) {
  if (c.rows == 0 || c.cols == 0) return;
  if (share_elements(c, a) || share_elements(c, b))
    clc_optionerror(L, 3, "c", "must not overlap a or b");
}

/* --- kernels ----------------------------------------------------------- */

typedef enum { NAIVE, TILED } Variant;
static const char *const variants[] = {"naive", "tiled", NULL};

/* On a CPU local memory is ordinary memory, and tiles pay only once B outgrows a
   core's cache: measured on POCL, from 256 x 256 floats on. */
static Variant choose_variant(const clc_Device *d, size_t n, size_t k) {
  if (d->max_group < TILE * TILE) return NAIVE;
  return d->is_cpu && k * n < 256 * 256 ? NAIVE : TILED;
}

static clc_Range cover(const clc_Device *d, Variant variant, size_t m, size_t n) {
  if (variant == TILED) return clc_padded2(n, m, TILE, TILE);
  return clc_covermatrix(d, m, n);
}

static void multiply(lua_State *L, Variant variant, lua_Number alpha, Matrix a, int transa,
                     Matrix b, int transb, lua_Number beta, Matrix c) {
  static const char *const names[] = {"gemm_naive", "gemm_tiled"};
  const char *defines =
      lua_pushfstring(L, "#define TRANSA %d\n#define TRANSB %d\n", transa, transb);
  clc_Device *d = c.b->device;
  clc_Kernel *kernel = clc_prebuilt(L, d, names[variant], c.b->dtype, defines);
  const clc_Range range = cover(d, variant, c.rows, c.cols);
  /* With nothing to multiply there may be no memory to pass, and none is read. */
  const size_t k = alpha == 0 ? 0 : transa ? a.rows : a.cols;
  clc_Buffer *pa = k > 0 ? a.b : c.b;
  clc_Buffer *pb = k > 0 ? b.b : c.b;
  clc_setarguments(L, kernel, "iiinbiibiinbii", (lua_Integer)c.rows, (lua_Integer)c.cols,
                   (lua_Integer)k, alpha, pa, (lua_Integer)a.b->offset, (lua_Integer)a.ld, pb,
                   (lua_Integer)b.b->offset, (lua_Integer)b.ld, beta, c.b, (lua_Integer)c.b->offset,
                   (lua_Integer)c.ld);
  clc_launch(L, kernel, &range, NULL);
  lua_pop(L, 2);
}

/***
C <- alpha * op(A) * op(B) + beta * C, where op(A) is m x k, op(B) k x n, C m x n,
row-major (Borisov 2015, listings 2 and 3). Queued.
@function gemm
@tparam Buffer a float or double: m x k, or k x m with `transa`
@tparam Buffer b same dtype and device: k x n, or n x k with `transb`
@tparam[opt] table options `c` (result; a new buffer unless given), `alpha` (1),
 `beta` (0; other values need `c`), `transa`, `transb` (false), `kernel` ("naive",
 "tiled"; default by device), and for a part of a buffer `m`, `n`, `k` and `lda`,
 `ldb`, `ldc`: elements from row to row as stored
@treturn Buffer c
@usage local c = cl.gemm(a, b, {transb = true})
*/
static int op_gemm(lua_State *L) {
  static const char *const keys[] = {"c", "alpha", "beta", "transa", "transb", "m", "n",
                                     "k", "lda",   "ldb",  "ldc",    "kernel", NULL};
  clc_Buffer *a = clc_checkreal(L, 1);
  clc_Buffer *b = clc_checklike(L, 2, a);
  lua_settop(L, 3);
  luaL_checkstack(L, 40, NULL);
  clc_checkoptions(L, 3, keys);
  const lua_Number alpha = clc_numberoption(L, 3, "alpha", 1);
  const lua_Number beta = clc_numberoption(L, 3, "beta", 0);
  const int transa = clc_booleanoption(L, 3, "transa", 0);
  const int transb = clc_booleanoption(L, 3, "transb", 0);
  check_inner(L, a, b, transa, transb);
  const size_t m = find_extent(L, "m", a, transa, "a");
  const size_t n = find_extent(L, "n", b, !transb, "b");
  const size_t k = find_extent(L, "k", a, !transa, "a");
  const Variant variant =
      (Variant)clc_enumoption(L, 3, "kernel", variants, (int)choose_variant(a->device, n, k));
  const Matrix ma =
      transa ? make_matrix(L, a, "a", k, m, "lda") : make_matrix(L, a, "a", m, k, "lda");
  const Matrix mb =
      transb ? make_matrix(L, b, "b", n, k, "ldb") : make_matrix(L, b, "b", k, n, "ldb");
  clc_Buffer *c = find_result(L, a, m, n, beta);
  const Matrix mc = make_matrix(L, c, "c", m, n, "ldc");
  check_aliasing(L, ma, mb, mc);
  if (m > 0 && n > 0) multiply(L, variant, alpha, ma, transa, mb, transb, beta, mc);
  return 1;
}

void clc_opengemm(lua_State *L) {
  static const luaL_Reg functions[] = {{"gemm", op_gemm}, {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
