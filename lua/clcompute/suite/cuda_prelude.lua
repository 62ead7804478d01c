-- SPDX-License-Identifier: MIT
--- What the kernels of nests in CUDA C++ share.

local cuda_prelude = {}

-- Arrays, time and errors; it stands after what launches.
cuda_prelude.ARRAYS = [[
#include <algorithm>
#include <ctime>

/* a[i][j] of arrays whose extents are known when they are called. */
template <typename T>
struct Matrix {
  T *data;
  int columns;
  __host__ __device__ T *operator[](int i) const { return data + (long)i * columns; }
};

template <typename T>
struct Cube {
  T *data;
  int rows, columns;
  __host__ __device__ Matrix<T> operator[](int i) const {
    return Matrix<T>{data + (long)i * rows * columns, columns};
  }
};

struct Scratch {
  void *bytes;
  size_t count;
};

static void *reserve(Scratch &s, size_t count) {
  if (s.count >= count) return s.bytes;
  cudaFree(s.bytes);
  s.count = cudaMalloc(&s.bytes, count) == cudaSuccess ? count : 0;
  if (s.count == 0) s.bytes = NULL;
  return s.bytes;
}

static double clock_now() {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Waits: the seconds since the start, or an error's number below 0. */
static double finish(double start) {
  cudaError_t code = cudaGetLastError();
  if (code == cudaSuccess) code = cudaDeviceSynchronize();
  return code == cudaSuccess ? clock_now() - start : -(double)code;
}
]]

-- How kernels are launched.
cuda_prelude.LAUNCH = [[
/* As many blocks as cover the threads. */
template <typename... Parameters, typename... Arguments>
static void launch(void (*kernel)(Parameters...), int x, int y, int z, dim3 block, Arguments... arguments) {
  if (x <= 0 || y <= 0 || z <= 0) return;
  const dim3 grid((x + block.x - 1) / block.x, (y + block.y - 1) / block.y, (z + block.z - 1) / block.z);
  kernel<<<grid, block>>>(static_cast<Parameters>(arguments)...);
}
]]

return cuda_prelude
