/* SPDX-License-Identifier: MIT */
/*
 * Nests of loops: kernels that nvcc made, which a shared object launches, and routines of cuBLAS
 * on n x n matrices, column-major, and n elements, which are queued.
 */
#pragma once

#include <dlfcn.h>

#include "cuda_memory.cuh"

/* --- routines of cuBLAS ---------------------------------------------------------- */

template <typename real>
struct Routines;

template <>
struct Routines<float> {
  static constexpr auto gemm = cublasSgemm;
  static constexpr auto symm = cublasSsymm;
  static constexpr auto syrk = cublasSsyrk;
  static constexpr auto syr2k = cublasSsyr2k;
  static constexpr auto trmm = cublasStrmm;
  static constexpr auto trsm = cublasStrsm;
  static constexpr auto gemv = cublasSgemv;
  static constexpr auto ger = cublasSger;
  static constexpr auto axpy = cublasSaxpy;
  static constexpr auto scal = cublasSscal;
};

template <>
struct Routines<double> {
  static constexpr auto gemm = cublasDgemm;
  static constexpr auto symm = cublasDsymm;
  static constexpr auto syrk = cublasDsyrk;
  static constexpr auto syr2k = cublasDsyr2k;
  static constexpr auto trmm = cublasDtrmm;
  static constexpr auto trsm = cublasDtrsm;
  static constexpr auto gemv = cublasDgemv;
  static constexpr auto ger = cublasDger;
  static constexpr auto axpy = cublasDaxpy;
  static constexpr auto scal = cublasDscal;
};

static cublasOperation_t check_operation(lua_State *L, int arg) {
  static const char *const names[] = {"N", "T", NULL};
  return luaL_checkoption(L, arg, NULL, names) == 0 ? CUBLAS_OP_N : CUBLAS_OP_T;
}

static cublasFillMode_t check_fill(lua_State *L, int arg) {
  static const char *const names[] = {"L", "U", NULL};
  return luaL_checkoption(L, arg, NULL, names) == 0 ? CUBLAS_FILL_MODE_LOWER
                                                    : CUBLAS_FILL_MODE_UPPER;
}

static cublasSideMode_t check_side(lua_State *L, int arg) {
  static const char *const names[] = {"L", "R", NULL};
  return luaL_checkoption(L, arg, NULL, names) == 0 ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
}

/* The diagonal is as stored, or of ones. */
static cublasDiagType_t check_diagonal(lua_State *L, int arg) {
  static const char *const names[] = {"N", "U", NULL};
  return luaL_checkoption(L, arg, NULL, names) == 0 ? CUBLAS_DIAG_NON_UNIT : CUBLAS_DIAG_UNIT;
}

/* What a routine of Lua's takes: dtype, n, then flags, numbers and memory. */
template <typename real>
struct Call {
  using R = Routines<real>;
  lua_State *L;
  int n;
  explicit Call(lua_State *state) : L(state), n((int)luaL_checkinteger(state, 2)) {}
  real number(int arg) const { return (real)luaL_checknumber(L, arg); }
  real *elements(int arg) const { return (real *)check_memory(L, arg); }

  /* gemm(dtype, n, operation, operation, alpha, a, b, beta, c) */
  cublasStatus_t gemm() const {
    const real alpha = number(5), beta = number(8);
    check(L, cublasSetMathMode(blas, CUBLAS_DEFAULT_MATH));
    return R::gemm(blas, check_operation(L, 3), check_operation(L, 4), n, n, n, &alpha,
                   elements(6), n, elements(7), n, &beta, elements(9), n);
  }

  /* symm(dtype, n, side, fill, alpha, a, b, beta, c) */
  cublasStatus_t symm() const {
    const real alpha = number(5), beta = number(8);
    return R::symm(blas, check_side(L, 3), check_fill(L, 4), n, n, &alpha, elements(6), n,
                   elements(7), n, &beta, elements(9), n);
  }

  /* syrk(dtype, n, fill, operation, alpha, a, beta, c) */
  cublasStatus_t syrk() const {
    const real alpha = number(5), beta = number(7);
    return R::syrk(blas, check_fill(L, 3), check_operation(L, 4), n, n, &alpha, elements(6), n,
                   &beta, elements(8), n);
  }

  /* syr2k(dtype, n, fill, operation, alpha, a, b, beta, c) */
  cublasStatus_t syr2k() const {
    const real alpha = number(5), beta = number(8);
    return R::syr2k(blas, check_fill(L, 3), check_operation(L, 4), n, n, &alpha, elements(6), n,
                    elements(7), n, &beta, elements(9), n);
  }

  /* trmm(dtype, n, side, fill, operation, diagonal, alpha, a, b): in place */
  cublasStatus_t trmm() const {
    const real alpha = number(7);
    return R::trmm(blas, check_side(L, 3), check_fill(L, 4), check_operation(L, 5),
                   check_diagonal(L, 6), n, n, &alpha, elements(8), n, elements(9), n, elements(9),
                   n);
  }

  /* trsm(dtype, n, side, fill, operation, diagonal, alpha, a, b) */
  cublasStatus_t trsm() const {
    const real alpha = number(7);
    return R::trsm(blas, check_side(L, 3), check_fill(L, 4), check_operation(L, 5),
                   check_diagonal(L, 6), n, n, &alpha, elements(8), n, elements(9), n);
  }

  /* gemv(dtype, n, operation, alpha, a, x, beta, y) */
  cublasStatus_t gemv() const {
    const real alpha = number(4), beta = number(7);
    return R::gemv(blas, check_operation(L, 3), n, n, &alpha, elements(5), n, elements(6), 1, &beta,
                   elements(8), 1);
  }

  /* ger(dtype, n, alpha, x, y, a) */
  cublasStatus_t ger() const {
    const real alpha = number(3);
    return R::ger(blas, n, n, &alpha, elements(4), 1, elements(5), 1, elements(6), n);
  }

  /* add(dtype, n, alpha, x, y) */
  cublasStatus_t add() const {
    const real alpha = number(3);
    return R::axpy(blas, n, &alpha, elements(4), 1, elements(5), 1);
  }

  /* scale(dtype, n, alpha, x, first, step) */
  cublasStatus_t scale() const {
    const real alpha = number(3);
    return R::scal(blas, n, &alpha, elements(4) + luaL_checkinteger(L, 5),
                   (int)luaL_checkinteger(L, 6));
  }
};

template <cublasStatus_t (Call<float>::*floats)() const,
          cublasStatus_t (Call<double>::*doubles)() const>
static int queue(lua_State *L) {
  check(L, is_double(L, 1) ? (Call<double>(L).*doubles)() : (Call<float>(L).*floats)());
  return 0;
}

#define QUEUE(name) queue<&Call<float>::name, &Call<double>::name>

/* queue_copy(from, to) */
static int cuda_queue_copy(lua_State *L) {
  const Memory *from = static_cast<Memory *>(luaL_checkudata(L, 1, MEMORY));
  check(L,
        cudaMemcpyAsync(check_memory(L, 2), from->bytes, from->count, cudaMemcpyDeviceToDevice));
  return 0;
}

/* seconds(f): of a call of f and the end of what it queued */
static int cuda_seconds(lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_settop(L, 1);
  const double start = now();
  lua_call(L, 0, 0);
  return push_seconds(L, start);
}

/* --- nests of loops as kernels -------------------------------------------------------- */

typedef double Nest(const long *sizes, const double *numbers, void *const *arrays);

enum { MOST = 16 }; /* sizes, numbers or arrays of a nest */

static int check_count(lua_State *L, int arg) {
  luaL_checktype(L, arg, LUA_TTABLE);
  const int count = (int)lua_rawlen(L, arg);
  luaL_argcheck(L, count <= MOST, arg, "too many");
  return count;
}

/* It stays open, as its kernels do. */
static Nest *check_nest(lua_State *L) {
  const char *path = luaL_checkstring(L, 1), *name = luaL_checkstring(L, 2);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == NULL) luaL_error(L, "%s", dlerror());
  Nest *nest = (Nest *)dlsym(library, name);
  dlclose(library);
  if (nest == NULL) luaL_error(L, "%s has no function %s", path, name);
  return nest;
}

/* nest(path, name, sizes, numbers, memory): a function of an object that nvcc made */
static int cuda_nest(lua_State *L) {
  long sizes[MOST];
  double numbers[MOST];
  void *arrays[MOST];
  Nest *nest = check_nest(L);
  for (int i = check_count(L, 3); i > 0; i--) {
    lua_rawgeti(L, 3, i);
    sizes[i - 1] = (long)luaL_checkinteger(L, -1);
    lua_pop(L, 1);
  }
  for (int i = check_count(L, 4); i > 0; i--) {
    lua_rawgeti(L, 4, i);
    numbers[i - 1] = luaL_checknumber(L, -1);
    lua_pop(L, 1);
  }
  for (int i = check_count(L, 5); i > 0; i--) {
    lua_rawgeti(L, 5, i);
    arrays[i - 1] = check_memory(L, -1);
    lua_pop(L, 1);
  }
  const double seconds = nest(sizes, numbers, arrays);
  if (seconds < 0) check(L, (cudaError_t)(int)-seconds);
  lua_pushnumber(L, seconds);
  return 1;
}
