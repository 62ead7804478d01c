/* SPDX-License-Identifier: MIT */
/* The product of matrices in device memory: which kernel computes it. */
#include "product.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#define TILE 16   /* rows and columns of a tile of gemm_tiled */
#define BUSY 2048 /* work-items of a GPU's compute unit, beside which few take as long as many */
#define LINE 64   /* work-items of a CPU's group that serves for now */

/* Rows or columns of a launch: where kernels count them along the second dimension, a group has
   eight at least. Whole blocks of any kernel. */
#define MOST_ROWS (CLC_MOSTGROUPS / 32 * 256)

#define MOST_VECTORS 16 /* of a product that is thin */

/* --- parts ---------------------------------------------------------------- */

size_t clc_unitof(const clc_Matrix *x) {
  const size_t all = x->offset | x->ld | x->stride;
  return all % 4 == 0 ? 4 : all % 2 == 0 ? 2 : 1;
}

int clc_isquad(const clc_Matrix *x) {
  return clc_unitof(x) == 4;
}

clc_Range clc_batchrange(size_t nx, size_t ny, size_t nz, size_t gx, size_t gy) {
  return (clc_Range){3, {nx * gx, ny * gy, nz}, {gx, gy, 1}, {0, 0, 0}, CLC_GIVEN, CLC_ERROR, 1};
}

double clc_work(const clc_Multiply *x) {
  return (double)x->batch * (double)x->m * (double)x->n * (double)x->k;
}

clc_Multiply clc_partof(const clc_Multiply *x, size_t i, size_t j, size_t m, size_t n) {
  clc_Multiply part = *x;
  part.m = x->m - i < m ? x->m - i : m;
  part.n = x->n - j < n ? x->n - j : n;
  part.a.offset += x->transa ? i : i * x->a.ld;
  part.b.offset += x->transb ? j * x->b.ld : j;
  part.c.offset += i * x->c.ld + j;
  return part;
}

/* The products of `count` matrices of a batch from `first` on, as far as there are. */
static clc_Multiply matrices_of(const clc_Multiply *x, size_t first, size_t count) {
  clc_Multiply part = *x;
  part.batch = x->batch - first < count ? x->batch - first : count;
  part.a.offset += first * x->a.stride;
  part.b.offset += first * x->b.stride;
  part.c.offset += first * x->c.stride;
  return part;
}

/* --- naive and tiled: a launch for each matrix of a batch ---------------- */

/* TS is of gemm_tiled alone. */
static void multiply_plainly(lua_State *L, const char *name, const clc_Range *range,
                             const clc_Multiply *x) {
  const char *defines =
      clc_define(L, {"TRANSA", x->transa != 0}, {"TRANSB", x->transb != 0}, {"TS", TILE});
  clc_Kernel *kernel = clc_prebuilt(L, x->c.b->device, name, x->c.b->dtype, defines);
  /* With nothing to multiply there may be no memory to pass, and none is read. */
  const size_t k = x->alpha == 0 ? 0 : x->k;
  clc_Matrix a = x->a, b = x->b, c = x->c;
  if (k == 0) a.b = b.b = c.b;
  for (size_t i = 0; i < x->batch; i++) {
    clc_run(L, kernel, range, clc_size(x->m), clc_size(x->n), clc_size(k), clc_number(x->alpha),
            clc_matrix(&a), clc_matrix(&b), clc_number(x->beta), clc_matrix(&c));
    a.offset += a.stride;
    b.offset += b.stride;
    c.offset += c.stride;
  }
}

static void multiply_naively(lua_State *L, const clc_Multiply *x) {
  const clc_Range range = clc_covermatrix(x->c.b->device, x->m, x->n);
  multiply_plainly(L, "gemm_naive", &range, x);
}

/* On a CPU in groups of one size, whatever the product: POCL compiles a kernel anew for each. */
static void multiply_fornow(lua_State *L, const clc_Multiply *x) {
  if (!x->c.b->device->context->is_cpu) return multiply_naively(L, x);
  const clc_Range range = clc_padded2(x->n, x->m, LINE, 1);
  multiply_plainly(L, "gemm_naive", &range, x);
}

/* Multiply-adds that take as long as this product in `multiply_fornow`: each matrix is a launch, of
   whole groups on a CPU; on a GPU few elements leave most of it idle. */
static double work_fornow(const clc_Multiply *x) {
  const clc_Context *context = x->c.b->device->context;
  const double launch = context->is_cpu ? 1 << 14 : 1 << 23,
               columns = (double)(context->is_cpu ? clc_roundup(x->n, LINE) : x->n),
               least = context->is_cpu ? 0 : (double)context->compute_units * BUSY,
               elements = fmax((double)x->m * columns, least);
  return (double)x->batch * (elements * (double)x->k + launch);
}

static void multiply_tiles(lua_State *L, const clc_Multiply *x) {
  const clc_Range range = clc_padded2(x->n, x->m, TILE, TILE);
  multiply_plainly(L, "gemm_tiled", &range, x);
}

/* --- fast: what the device's schedule says -------------------------------- */

/* Kernels other than the plain ones count in int, and have something to do for each element. */
static int is_ordinary(const clc_Multiply *x) {
  return x->k > 0 && x->alpha != 0 && x->k <= INT_MAX / 2;
}

/* A class of precision: what its row is called, and how many products of parts of elements it
   takes. */
static const struct {
  const char *operation;
  size_t products;
} classes[] = {[CLC_FLOATTENSOR] = {"gemm float-tensor", 3}, [CLC_TF32] = {"gemm tf32", 1}};

/* For which products tensor cores are: multiply-adds, and products of a sum, at least. */
typedef struct {
  size_t least, depth;
} Worth;

static int is_worth(lua_State *L, const clc_Multiply *x) {
  static const clc_Field fields[] = {{"least", offsetof(Worth, least), NULL},
                                     {"depth", offsetof(Worth, depth), NULL},
                                     {NULL, 0, NULL}};
  Worth w;
  clc_readrow(L, fields, &w);
  return x->k >= w.depth && clc_work(x) >= (double)w.least;
}

/* By tensor cores, as the row of the product's class says, which was tried on the device. Returns 0
   where another product serves the class: it asks for more than tensor cores have, the device has
   none that are right, or the product is not for them. */
static int multiply_parts(lua_State *L, const clc_Multiply *x) {
  if (x->precision == CLC_FLOAT || x->c.b->dtype != clc_float) return 0;
  clc_pushrow(L, x->c.b->device, classes[x->precision].operation, x->c.b->dtype);
  const char *kernel = clc_rowkernel(L);
  const size_t products = classes[x->precision].products;
  if (strcmp(kernel, "warpgroups") == 0)
    return is_worth(L, x) && clc_multiplywarpgroups(L, x, products);
  return strcmp(kernel, "tensor") == 0 && is_worth(L, x) && clc_multiplytensor(L, x, products);
}

static void push_row(lua_State *L, const clc_Multiply *x, double work) {
  clc_Device *d = x->c.b->device;
  if (x->waits || clc_getrecording(d) != NULL) /* a sequence keeps the kernel that it was given */
    clc_pushrow(L, d, "gemm", x->c.b->dtype);
  else
    clc_pushrowfor(L, d, "gemm", x->c.b->dtype, work);
}

/* Of few rows or columns, whatever the class: memory is what they wait for. */
static int multiply_thin(lua_State *L, const clc_Multiply *x) {
  if (x->m > MOST_VECTORS && x->n > MOST_VECTORS) return 0;
  push_row(L, x, 0); /* counted where it is computed by a plain kernel */
  return clc_multiplythin(L, x);
}

/* Returns 0 where the device has only plain kernels. */
static int multiply_fast(lua_State *L, const clc_Multiply *x) {
  push_row(L, x, work_fornow(x));
  const char *kernel = clc_rowkernel(L);
  if (strcmp(kernel, "naive") == 0)
    multiply_fornow(L, x);
  else if (strcmp(kernel, "panels") == 0)
    clc_multiplypanels(L, x);
  else if (strcmp(kernel, "pipelined") == 0)
    clc_multiplypipelined(L, x);
  else if (strcmp(kernel, "blocks") == 0)
    clc_multiplyblocks(L, x);
  else if (strcmp(kernel, "doubles") == 0) {
    if (!clc_multiplydoubles(L, x)) clc_multiplyblocks(L, x);
  } else
    return 0;
  return 1;
}

static void multiply_part(lua_State *L, clc_Multiplier multiplier, const clc_Multiply *x) {
  const int top = lua_gettop(L);
  const int can_tile = x->c.b->device->context->max_group >= TILE * TILE;
  const int is_fast = multiplier == CLC_FAST && is_ordinary(x);
  if (!(is_fast && (multiply_thin(L, x) || multiply_parts(L, x) || multiply_fast(L, x))))
    (multiplier == CLC_NAIVE || !can_tile ? multiply_naively : multiply_tiles)(L, x);
  lua_settop(L, top);
}

void clc_multiply(lua_State *L, clc_Multiplier multiplier, const clc_Multiply *x) {
  luaL_checkstack(L, 30, NULL);
  for (size_t first = 0; first < x->batch; first += CLC_MOSTGROUPS) {
    const clc_Multiply some = matrices_of(x, first, CLC_MOSTGROUPS);
    for (size_t i = 0; i < x->m; i += MOST_ROWS)
      for (size_t j = 0; j < x->n; j += MOST_ROWS) {
        const clc_Multiply part = clc_partof(&some, i, j, MOST_ROWS, MOST_ROWS);
        multiply_part(L, multiplier, &part);
      }
  }
}
