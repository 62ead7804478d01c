/* SPDX-License-Identifier: MIT */
/*
 * OpenBLAS, a peer to be compared with on the CPU. Its headers are not needed: what is called of
 * them is declared here.
 */
#include "peers.h"

#include <limits.h>
#include <string.h>

static const char TNAME[] = "clcompute.OpenBLAS";

/* F(name, result, parameters) */
#define FUNCTIONS(F)                                                                               \
  F(cblas_sgemm, void,                                                                             \
    (int order, int transa, int transb, int m, int n, int k, float alpha, const float *a, int lda, \
     const float *b, int ldb, float beta, float *c, int ldc))                                      \
  F(cblas_dgemm, void,                                                                             \
    (int order, int transa, int transb, int m, int n, int k, double alpha, const double *a,        \
     int lda, const double *b, int ldb, double beta, double *c, int ldc))                          \
  F(cblas_saxpy, void, (int n, float alpha, const float *x, int incx, float *y, int incy))         \
  F(cblas_daxpy, void, (int n, double alpha, const double *x, int incx, double *y, int incy))      \
  F(cblas_sdot, float, (int n, const float *x, int incx, const float *y, int incy))                \
  F(cblas_ddot, double, (int n, const double *x, int incx, const double *y, int incy))             \
  F(cblas_sasum, float, (int n, const float *x, int incx))                                         \
  F(cblas_dasum, double, (int n, const double *x, int incx))                                       \
  F(sgesv_, void,                                                                                  \
    (const int *n, const int *nrhs, float *a, const int *lda, int *pivots, float *b,               \
     const int *ldb, int *info))                                                                   \
  F(dgesv_, void,                                                                                  \
    (const int *n, const int *nrhs, double *a, const int *lda, int *pivots, double *b,             \
     const int *ldb, int *info))                                                                   \
  F(openblas_get_config, char *, (void))                                                           \
  F(openblas_get_corename, char *, (void))                                                         \
  F(openblas_get_num_threads, int, (void))                                                         \
  F(openblas_set_num_threads, void, (int n))

typedef struct {
  clc_Object object;
#define FIELD(name, result, parameters) result(*name) parameters;
  FUNCTIONS(FIELD)
#undef FIELD
  int threads; /* its number is the library's, so each call sets the object's own */
} OpenBLAS;

static const clc_Symbol symbols[] = {
#define SYMBOL(name, result, parameters) {#name, offsetof(OpenBLAS, name)},
    FUNCTIONS(SYMBOL)
#undef SYMBOL
        {NULL, 0}};

static const clc_Library library = {
    "CLCOMPUTE_OPENBLAS", {"libopenblas.so.0", "libopenblas.so", NULL}, "libopenblas0", symbols};

/* --- the object -------------------------------------------------------- */

static const OpenBLAS *check_openblas(lua_State *L) {
  return clc_checkobject(L, 1, TNAME);
}

static void set_field(lua_State *L, const char *key, const char *value) {
  lua_pushstring(L, value);
  lua_setfield(L, -2, key);
}

/* The second word of "OpenBLAS 0.3.21 NO_LAPACKE ...". */
static void set_version(lua_State *L, const char *config) {
  const char *word = config + strcspn(config, " ");
  word += strspn(word, " ");
  lua_pushlstring(L, word, strcspn(word, " "));
  lua_setfield(L, -2, "version");
}

static void push_fields(lua_State *L, const OpenBLAS *o, const char *path) {
  lua_createtable(L, 0, 6);
  set_field(L, "name", "OpenBLAS");
  set_field(L, "path", path);
  set_field(L, "config", o->openblas_get_config());
  set_field(L, "core", o->openblas_get_corename());
  set_version(L, o->openblas_get_config());
  lua_pushinteger(L, o->threads);
  lua_setfield(L, -2, "threads");
}

static void use_threads(const OpenBLAS *o) {
  if (o->openblas_get_num_threads() != o->threads) o->openblas_set_num_threads(o->threads);
}

static int blas_openblas(lua_State *L) {
  static const char *const keys[] = {"threads", NULL};
  lua_settop(L, 1);
  clc_checkoptions(L, 1, keys);
  const lua_Integer threads = clc_integeroption(L, 1, "threads", 1, 0);
  if (threads > 4096) clc_optionerror(L, 1, "threads", "at most 4096 expected");
  OpenBLAS *o = lua_newuserdatauv(L, sizeof *o, 1);
  if (!clc_openlibrary(L, &library, o)) {
    lua_pushnil(L);
    lua_insert(L, -2);
    return 2;
  }
  if (threads > 0) o->openblas_set_num_threads((int)threads);
  o->threads = o->openblas_get_num_threads();
  push_fields(L, o, lua_tostring(L, -1));
  lua_setiuservalue(L, 2, 1);
  lua_settop(L, 2);
  o->object.type = TNAME;
  luaL_setmetatable(L, TNAME);
  return 1;
}

/* --- BLAS -------------------------------------------------------------- */

static int push_seconds(lua_State *L, double start) {
  lua_pushnumber(L, clc_now() - start);
  return 1;
}

static int openblas_gemm(lua_State *L) {
  const OpenBLAS *o = check_openblas(L);
  const clc_Product p = clc_checkproduct(L, 5);
  const clc_Array *a = clc_checkarray(L, 2);
  clc_checkarraylike(L, 2, a, clc_area(p.m, p.k));
  const clc_Array *b = clc_checkarraylike(L, 3, a, clc_area(p.k, p.n));
  clc_Array *c = clc_checkarraylike(L, 4, a, clc_area(p.m, p.n));
  luaL_argcheck(L, c != a && c != b, 4, "must be neither a nor b");
  const int transa = p.transa ? CLC_TRANSPOSED : CLC_ASITIS,
            transb = p.transb ? CLC_TRANSPOSED : CLC_ASITIS;
  use_threads(o);
  const double start = clc_now();
  if (a->is_double)
    o->cblas_dgemm(CLC_ROWMAJOR, transa, transb, p.m, p.n, p.k, p.alpha, a->elements, p.lda,
                   b->elements, p.ldb, p.beta, c->elements, p.ldc);
  else
    o->cblas_sgemm(CLC_ROWMAJOR, transa, transb, p.m, p.n, p.k, (float)p.alpha, a->elements, p.lda,
                   b->elements, p.ldb, (float)p.beta, c->elements, p.ldc);
  return push_seconds(L, start);
}

/* The vectors x and y, of one dtype and length, from that argument on. */
static int check_vectors(lua_State *L, int arg, clc_Array **x, clc_Array **y) {
  *x = clc_checkarray(L, arg);
  luaL_argcheck(L, (*x)->count <= INT_MAX, arg, "more elements than OpenBLAS counts");
  *y = clc_checkarraylike(L, arg + 1, *x, (*x)->count);
  return (int)(*x)->count;
}

static int openblas_axpy(lua_State *L) {
  const OpenBLAS *o = check_openblas(L);
  const double alpha = luaL_checknumber(L, 2);
  clc_Array *x, *y;
  const int n = check_vectors(L, 3, &x, &y);
  use_threads(o);
  const double start = clc_now();
  if (x->is_double)
    o->cblas_daxpy(n, alpha, x->elements, 1, y->elements, 1);
  else
    o->cblas_saxpy(n, (float)alpha, x->elements, 1, y->elements, 1);
  return push_seconds(L, start);
}

static int openblas_dot(lua_State *L) {
  const OpenBLAS *o = check_openblas(L);
  clc_Array *x, *y;
  const int n = check_vectors(L, 2, &x, &y);
  use_threads(o);
  const double start = clc_now();
  const double dot = x->is_double ? o->cblas_ddot(n, x->elements, 1, y->elements, 1)
                                  : (double)o->cblas_sdot(n, x->elements, 1, y->elements, 1);
  const double seconds = clc_now() - start;
  lua_pushnumber(L, dot);
  lua_pushnumber(L, seconds);
  return 2;
}

static int openblas_asum(lua_State *L) {
  const OpenBLAS *o = check_openblas(L);
  const clc_Array *x = clc_checkarray(L, 2);
  luaL_argcheck(L, x->count <= INT_MAX, 2, "too many elements for OpenBLAS");
  const int n = (int)x->count;
  use_threads(o);
  const double start = clc_now();
  const double sum =
      x->is_double ? o->cblas_dasum(n, x->elements, 1) : (double)o->cblas_sasum(n, x->elements, 1);
  const double seconds = clc_now() - start;
  lua_pushnumber(L, sum);
  lua_pushnumber(L, seconds);
  return 2;
}

/* --- LAPACK ------------------------------------------------------------ */

/* LAPACK's matrices are column-major. */
static void transpose(size_t rows, size_t cols, const clc_Array *from, clc_Array *to) {
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < cols; j++)
      if (from->is_double)
        ((double *)to->elements)[j * rows + i] = ((const double *)from->elements)[i * cols + j];
      else
        ((float *)to->elements)[j * rows + i] = ((const float *)from->elements)[i * cols + j];
}

/* Overwrites a with its factors and b with the solution, both column-major. */
static double solve(const OpenBLAS *o, int n, int nrhs, clc_Array *a, clc_Array *b, int *pivots,
                    int *info) {
  const int ld = n > 0 ? n : 1;
  const double start = clc_now();
  if (a->is_double)
    o->dgesv_(&n, &nrhs, a->elements, &ld, pivots, b->elements, &ld, info);
  else
    o->sgesv_(&n, &nrhs, a->elements, &ld, pivots, b->elements, &ld, info);
  return clc_now() - start;
}

static int openblas_gesv(lua_State *L) {
  const OpenBLAS *o = check_openblas(L);
  const int n = clc_checkextent(L, 5);
  const int nrhs = lua_isnoneornil(L, 6) ? 1 : clc_checkextent(L, 6);
  const clc_Array *a = clc_checkarray(L, 2);
  clc_checkarraylike(L, 2, a, clc_area(n, n));
  const clc_Array *b = clc_checkarraylike(L, 3, a, clc_area(n, nrhs));
  clc_Array *x = clc_checkarraylike(L, 4, a, clc_area(n, nrhs));
  clc_Array *factors = clc_newarray(L, a->count, a->is_double);
  clc_Array *columns = clc_newarray(L, b->count, b->is_double);
  int *pivots = lua_newuserdatauv(L, (size_t)n * sizeof *pivots, 0), info = 0;
  transpose((size_t)n, (size_t)n, a, factors);
  transpose((size_t)n, (size_t)nrhs, b, columns);
  use_threads(o);
  const double seconds = solve(o, n, nrhs, factors, columns, pivots, &info);
  if (info > 0) return luaL_error(L, "matrix is singular: no pivot in column %d", info);
  if (info < 0) return luaL_error(L, "gesv: wrong argument %d", -info);
  transpose((size_t)nrhs, (size_t)n, columns, x);
  lua_pushnumber(L, seconds);
  return 1;
}

static int openblas_tostring(lua_State *L) {
  const OpenBLAS *o = check_openblas(L);
  lua_pushfstring(L, "%s (%s, %d threads)", o->openblas_get_config(), o->openblas_get_corename(),
                  o->threads);
  return 1;
}

void clc_openopenblas(lua_State *L) {
  static const clc_Function functions[] = {{"openblas", blas_openblas, 1}, {NULL, NULL, 0}};
  static const clc_Function methods[] = {{"gemm", openblas_gemm, 7}, {"axpy", openblas_axpy, 3},
                                         {"dot", openblas_dot, 2},   {"asum", openblas_asum, 1},
                                         {"gesv", openblas_gesv, 5}, {NULL, NULL, 0}};
  static const luaL_Reg metamethods[] = {{"__tostring", openblas_tostring}, {NULL, NULL}};
  clc_openobject(L, TNAME, methods, metamethods);
  clc_setfunctions(L, functions);
}
