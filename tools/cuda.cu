/* SPDX-License-Identifier: MIT */
/*
 * NVIDIA's libraries, beside which `make bench-peers-gpu` measures: products by cuBLAS, systems by
 * cuSOLVER and cuBLAS, arrays by CUB, nests of loops by kernels that nvcc made and by routines of
 * cuBLAS, on memory of CUDA's. Matrices are row-major, but where routines are queued. What computes
 * returns the seconds from before the call to the end of the wait; memory that it needs besides
 * is there before.
 */
#include <cub/cub.cuh>
#include <cublas_v2.h>
#include <cusolverDn.h>

#include <algorithm>

#include "cuda_memory.cuh"
#include "cuda_nests.cuh"

static cusolverDnHandle_t solver;
static char *number; /* that a call of CUB returns: 16 bytes */

static void check(lua_State *L, cusolverStatus_t code) {
  if (code != CUSOLVER_STATUS_SUCCESS) luaL_error(L, "cuSOLVER: status %d", (int)code);
}

/* open(device): the number of a device of CUDA's; the versions */
static int cuda_open(lua_State *L) {
  int runtime, products;
  check(L, cudaSetDevice((int)luaL_checkinteger(L, 1)));
  check(L, cublasCreate(&blas));
  check(L, cusolverDnCreate(&solver));
  check(L, cudaMalloc(&number, 16));
  check(L, cudaRuntimeGetVersion(&runtime));
  check(L, cublasGetVersion(blas, &products));
  lua_pushfstring(L, "runtime %d, cuBLAS %d, CUB %d", runtime, products, (int)CUB_VERSION);
  return 1;
}

/* --- cuBLAS --------------------------------------------------------------------- */

/* A row-major product is that of the operands exchanged, column-major. */
template <typename real, typename Product>
static int multiply(lua_State *L, Product product, int m, int n, int k, int batch) {
  const real one = 1, zero = 0;
  const real *a = (real *)check_memory(L, 1), *b = (real *)check_memory(L, 2);
  real *c = (real *)check_memory(L, 3);
  const double start = now();
  check(L, product(blas, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, b, n, (long long)k * n, a, k,
                   (long long)m * k, &zero, c, n, (long long)m * n, batch));
  return push_seconds(L, start);
}

/* gemm(a, b, c, m, n, k, batch, dtype, tf32) */
static int cuda_gemm(lua_State *L) {
  const int m = (int)luaL_checkinteger(L, 4), n = (int)luaL_checkinteger(L, 5);
  const int k = (int)luaL_checkinteger(L, 6), batch = (int)luaL_checkinteger(L, 7);
  check(L, cublasSetMathMode(
               blas, lua_toboolean(L, 9) ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_DEFAULT_MATH));
  return is_double(L, 8) ? multiply<double>(L, cublasDgemmStridedBatched, m, n, k, batch)
                         : multiply<float>(L, cublasSgemmStridedBatched, m, n, k, batch);
}

/* axpy(alpha, x, y, n), floats */
static int cuda_axpy(lua_State *L) {
  const float alpha = (float)luaL_checknumber(L, 1);
  const double start = now();
  check(L, cublasSaxpy_64(blas, luaL_checkinteger(L, 4), &alpha, (float *)check_memory(L, 2), 1,
                          (float *)check_memory(L, 3), 1));
  return push_seconds(L, start);
}

/* dot(x, y, n), floats: seconds and the number */
static int cuda_dot(lua_State *L) {
  float dot = 0;
  const double start = now();
  check(L, cublasSdot_64(blas, luaL_checkinteger(L, 3), (float *)check_memory(L, 1), 1,
                         (float *)check_memory(L, 2), 1, &dot));
  push_seconds(L, start);
  lua_pushnumber(L, dot);
  return 2;
}

/* --- systems: cuSOLVER, of batches cuBLAS ------------------------------------------ */

template <typename real>
struct Systems;

template <>
struct Systems<float> {
  static constexpr auto size = cusolverDnSgetrf_bufferSize;
  static constexpr auto factor = cusolverDnSgetrf;
  static constexpr auto solve = cusolverDnSgetrs;
  static constexpr auto factor_batch = cublasSgetrfBatched;
  static constexpr auto solve_batch = cublasSgetrsBatched;
};

template <>
struct Systems<double> {
  static constexpr auto size = cusolverDnDgetrf_bufferSize;
  static constexpr auto factor = cusolverDnDgetrf;
  static constexpr auto solve = cusolverDnDgetrs;
  static constexpr auto factor_batch = cublasDgetrfBatched;
  static constexpr auto solve_batch = cublasDgetrsBatched;
};

/* Queues copies of a, to be factored, and of b, to become x. */
template <typename real>
static void copy(lua_State *L, const real *a, real *factors, const real *b, real *x, size_t n,
                 size_t count) {
  check(L, cudaMemcpyAsync(factors, a, count * n * n * sizeof *a, cudaMemcpyDeviceToDevice));
  check(L, cudaMemcpyAsync(x, b, count * n * sizeof *b, cudaMemcpyDeviceToDevice));
}

/* The matrix that LAPACK sees is transposed, and so is the one it solves with. */
template <typename real>
static int solve_one(lua_State *L, const real *a, const real *b, real *x, int n) {
  using S = Systems<real>;
  int work;
  check(L, S::size(solver, n, n, NULL, n, &work));
  const size_t area = (size_t)n * n;
  real *factors = (real *)reserve(L, (area + work) * sizeof(real) + (n + 1) * sizeof(int));
  int *pivots = (int *)(factors + area + work), *info = pivots + n;
  const double start = now();
  copy(L, a, factors, b, x, n, 1);
  check(L, S::factor(solver, n, n, factors, n, factors + area, pivots, info));
  check(L, S::solve(solver, CUBLAS_OP_T, n, 1, factors, n, pivots, x, n, info));
  return push_seconds(L, start);
}

template <typename real>
static int solve_batch(lua_State *L, const real *a, const real *b, real *x, int n, int count) {
  using S = Systems<real>;
  const size_t area = (size_t)n * n, half = count * sizeof(real *);
  char *pointers = reserve(L, 2 * half + count * (area * sizeof(real) + (n + 1) * sizeof(int)));
  real *factors = (real *)(pointers + 2 * half);
  int *pivots = (int *)(factors + count * area), *infos = pivots + (size_t)count * n, info;
  real **list = (real **)lua_newuserdatauv(L, 2 * half, 0);
  for (int i = 0; i < count; i++) {
    list[i] = factors + i * area;
    list[count + i] = x + (size_t)i * n;
  }
  check(L, cudaMemcpy(pointers, list, 2 * half, cudaMemcpyHostToDevice));
  real **matrices = (real **)pointers, **sides = (real **)(pointers + half);
  const double start = now();
  copy(L, a, factors, b, x, n, count);
  check(L, S::factor_batch(blas, n, matrices, n, pivots, infos, count));
  check(L, S::solve_batch(blas, CUBLAS_OP_T, n, 1, matrices, n, pivots, sides, n, &info, count));
  return push_seconds(L, start);
}

template <typename real>
static int solve(lua_State *L) {
  const int n = (int)luaL_checkinteger(L, 4), count = (int)luaL_optinteger(L, 6, 0);
  const real *a = (real *)check_memory(L, 1), *b = (real *)check_memory(L, 2);
  real *x = (real *)check_memory(L, 3);
  return count > 0 ? solve_batch(L, a, b, x, n, count) : solve_one(L, a, b, x, n);
}

/* solve(a, b, x, n, dtype[, count]): a and b stay as they are */
static int cuda_solve(lua_State *L) {
  return is_double(L, 5) ? solve<double>(L) : solve<float>(L);
}

/* --- CUB ------------------------------------------------------------------------- */

struct IsKept {
  __device__ bool operator()(float v) const { return v > 0.5f; }
};

static const char *const operations[] = {"sum",    "argmax",  "scan",      "sort", "pairs",
                                         "unique", "compact", "histogram", NULL};
enum { SUM, ARGMAX, SCAN, SORT, PAIRS, UNIQUE, COMPACT, HISTOGRAM };

/* Sorts, then drops what equals the one before. */
static cudaError_t unique(void *temporary, size_t &bytes, unsigned *const *p, int64_t n) {
  size_t least = bytes;
  cudaError_t code = cub::DeviceRadixSort::SortKeys(temporary, least, p[0], p[1], n);
  if (code == cudaSuccess)
    code = cub::DeviceSelect::Unique(temporary, bytes, p[1], p[2], (int64_t *)number, n);
  if (temporary == NULL) bytes = std::max(bytes, least);
  return code;
}

/* Without temporary memory: how many bytes of it the operation takes. p: operands, then results. */
static cudaError_t run(int operation, void *temporary, size_t &bytes, void *const *p, int64_t n) {
  float *const *f = (float *const *)p;
  unsigned *const *u = (unsigned *const *)p;
  switch (operation) {
    case SUM: return cub::DeviceReduce::Sum(temporary, bytes, f[0], (float *)number, n);
    case ARGMAX:
      return cub::DeviceReduce::ArgMax(temporary, bytes, f[0], (float *)number + 2,
                                       (int64_t *)number, n);
    case SCAN: return cub::DeviceScan::InclusiveSum(temporary, bytes, f[0], f[1], n);
    case SORT: return cub::DeviceRadixSort::SortKeys(temporary, bytes, u[0], u[1], n);
    case PAIRS: return cub::DeviceRadixSort::SortPairs(temporary, bytes, u[0], u[2], u[1], u[3], n);
    case UNIQUE: return unique(temporary, bytes, u, n);
    case COMPACT:
      return cub::DeviceSelect::If(temporary, bytes, f[0], f[1], (int64_t *)number, n, IsKept());
    default:
      return cub::DeviceHistogram::HistogramEven(temporary, bytes, f[0], u[1], 257, 0.0f, 1.0f, n);
  }
}

static bool has_number(int operation) {
  return operation == SUM || operation == ARGMAX || operation == UNIQUE || operation == COMPACT;
}

/* cub(operation, n, memory...): seconds, and the 16 bytes of a number that was waited for */
static int cuda_cub(lua_State *L) {
  const int operation = luaL_checkoption(L, 1, NULL, operations), last = lua_gettop(L);
  const int64_t n = luaL_checkinteger(L, 2);
  void *p[4] = {NULL};
  for (int i = 3; i <= last && i < 7; i++) p[i - 3] = check_memory(L, i);
  char found[16] = "";
  size_t bytes = 0;
  check(L, run(operation, NULL, bytes, p, n));
  char *temporary = reserve(L, std::max(bytes, (size_t)1));
  const double start = now();
  check(L, run(operation, temporary, bytes, p, n));
  if (has_number(operation)) check(L, cudaMemcpy(found, number, 16, cudaMemcpyDeviceToHost));
  push_seconds(L, start);
  lua_pushlstring(L, found, sizeof found);
  return 2;
}

extern "C" __attribute__((visibility("default"))) int luaopen_cuda(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"open", cuda_open},
      {"memory", cuda_memory},
      {"string", cuda_string},
      {"gemm", cuda_gemm},
      {"axpy", cuda_axpy},
      {"dot", cuda_dot},
      {"solve", cuda_solve},
      {"cub", cuda_cub},
      {"nest", cuda_nest},
      {"seconds", cuda_seconds},
      {"queue_copy", cuda_queue_copy},
      {"queue_gemm", QUEUE(gemm)},
      {"queue_symm", QUEUE(symm)},
      {"queue_syrk", QUEUE(syrk)},
      {"queue_syr2k", QUEUE(syr2k)},
      {"queue_trmm", QUEUE(trmm)},
      {"queue_trsm", QUEUE(trsm)},
      {"queue_gemv", QUEUE(gemv)},
      {"queue_ger", QUEUE(ger)},
      {"queue_add", QUEUE(add)},
      {"queue_scale", QUEUE(scale)},
      {NULL, NULL}};
  luaL_newmetatable(L, MEMORY);
  lua_pushcfunction(L, memory_gc);
  lua_setfield(L, -2, "__gc");
  luaL_newlib(L, functions);
  return 1;
}
