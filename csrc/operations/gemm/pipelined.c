/* SPDX-License-Identifier: MIT */
/* The product for GPUs that copy to local memory while they compute (kernels/gemm_pipelined.cl and
   gemm_tensor.cl). */
#include "pipelined.h"

#include "operations/prebuilt.h"
#include "buffer/buffer.h"
#include "operations/tuning.h"

#define SIDE 32 /* SIDE and ROWS of gemm_pack */
#define ROWS 8

/* What a work-group and a work-item of the kernel own, and how many slices are in work. */
typedef struct {
  size_t bm, bn, bk, tm, tn, stages;
} Shape;

/* What the blocks of a shape take, relative to other shapes: a multiprocessor works at its full
   rate on as many groups as it holds at a time, on few at that of each alone. The shape's table is
   on top. */
static double cost_of(lua_State *L, const Shape *s, const clc_Multiply *x, size_t units) {
  const size_t held = (size_t)clc_tuned(L, "held");
  const double full = clc_tuned(L, "full"), alone = clc_tuned(L, "alone");
  const size_t groups = x->batch * clc_parts(x->m, s->bm) * clc_parts(x->n, s->bn);
  const size_t share = clc_parts(groups, units), last = share % held;
  const double rate = (double)last * alone < full ? (double)last * alone : full;
  const double rest = last > 0 ? (double)last / rate : 0;
  return (double)(s->bm * s->bn) * ((double)(share - last) / full + rest);
}

/* The cheapest shape of the list in the table on top of the stack. */
static Shape choose_shape(lua_State *L, const clc_Multiply *x) {
  Shape best = {0};
  double least = 0;
  const int top = lua_gettop(L);
  const size_t units = (size_t)clc_tuned(L, "units");
  lua_getfield(L, -1, "shapes");
  for (lua_Integer i = 1; lua_rawgeti(L, top + 1, i) == LUA_TTABLE; i++) {
    const Shape shape = {(size_t)clc_tuned(L, "bm"), (size_t)clc_tuned(L, "bn"),
                         (size_t)clc_tuned(L, "bk"), (size_t)clc_tuned(L, "tm"),
                         (size_t)clc_tuned(L, "tn"), (size_t)clc_tuned(L, "stages")};
    const double cost = cost_of(L, &shape, x, units);
    if (i == 1 || cost < least) {
      best = shape;
      least = cost;
    }
    lua_settop(L, top + 1);
  }
  lua_settop(L, top);
  return best;
}

/* One side of a product: an operand, the m or n elements of C along it, and the same in whole
 * blocks. */
typedef struct {
  const clc_Matrix *stored;
  const char *use; /* of scratch memory */
  int is_k_first;  /* it is stored k x m or k x n */
  size_t length, padded;
} Side;

static Side side_of_a(const clc_Multiply *x, const Shape *s) {
  return (Side){&x->a, "gemm a", x->transa, x->m, clc_roundup(x->m, s->bm)};
}

static Side side_of_b(const clc_Multiply *x, const Shape *s) {
  return (Side){&x->b, "gemm b", !x->transb, x->n, clc_roundup(x->n, s->bn)};
}

/* Whether the kernel can read an operand where it lies, without a transpose or zeros around it. */
static int is_ready(const Side *side, const clc_Multiply *x, size_t k) {
  return side->is_k_first && clc_isquad(side->stored) && side->length == side->padded && x->k == k;
}

/* Matrices of an operand that are packed: one, if it is the same for all of a batch. */
static size_t count_of(const Side *side, const clc_Multiply *x) {
  return side->stored->stride > 0 ? x->batch : 1;
}

/* Kernels and scratch memory of a product: got before anything is launched, as a finalizer that
   multiplies would use the same memory. */
typedef struct {
  clc_Kernel *copy, *transpose, *multiply;
  clc_Buffer *a, *b; /* NULL: the operand is read where it lies */
} Means;

static clc_Buffer *get_memory(lua_State *L, const Side *side, const clc_Multiply *x, size_t k,
                              size_t length) {
  if (is_ready(side, x, k)) return NULL;
  return clc_pushscratch(L, side->stored->b->device, side->use, side->stored->b->dtype,
                         count_of(side, x) * k * length);
}

/* An operand in scratch memory, k first, with zeros around it. */
static clc_Matrix pack(lua_State *L, const Side *side, const clc_Multiply *x, size_t k,
                       const Means *means, clc_Buffer *to) {
  const clc_Matrix *from = side->stored;
  const size_t count = count_of(side, x), elements = k * side->padded;
  clc_Kernel *kernel = side->is_k_first ? means->copy : means->transpose;
  const clc_Range range =
      clc_batchrange(clc_parts(side->padded, SIDE), clc_parts(k, SIDE), count, SIDE, ROWS);
  clc_setarguments(L, kernel, "iiiibiiib", (lua_Integer)x->k, (lua_Integer)side->length,
                   (lua_Integer)k, (lua_Integer)side->padded, from->b, (lua_Integer)from->offset,
                   (lua_Integer)from->ld, (lua_Integer)from->stride, to);
  clc_launch(L, kernel, &range, NULL);
  return (clc_Matrix){to, 0, k, side->padded, side->padded, count > 1 ? elements : 0};
}

static clc_Kernel *get_kernel(lua_State *L, const Shape *s, const clc_Multiply *x,
                              const char *kernel, const char *defines) {
  const char *all = lua_pushfstring(
      L,
      "%s#define BM %d\n#define BN %d\n#define BK %d\n#define TM %d\n#define TN %d\n"
      "#define STAGES %d\n#define WIDE %d\n",
      defines, (int)s->bm, (int)s->bn, (int)s->bk, (int)s->tm, (int)s->tn, (int)s->stages,
      clc_isquad(&x->c));
  return clc_prebuilt(L, x->c.b->device, kernel, x->c.b->dtype, all);
}

static void launch(lua_State *L, clc_Kernel *kernel, const Shape *s, const clc_Multiply *x,
                   const clc_Matrix *a, const clc_Matrix *b) {
  const size_t items = s->bm / s->tm * (s->bn / s->tn);
  const size_t groups = clc_parts(x->m, s->bm) * clc_parts(x->n, s->bn);
  const clc_Range range = clc_batchrange(groups, 1, x->batch, items, 1);
  clc_setarguments(L, kernel, "iiinbiiibiiinbiii", (lua_Integer)x->m, (lua_Integer)x->n,
                   (lua_Integer)clc_parts(x->k, s->bk), x->alpha, a->b, (lua_Integer)a->offset,
                   (lua_Integer)a->ld, (lua_Integer)a->stride, b->b, (lua_Integer)b->offset,
                   (lua_Integer)b->ld, (lua_Integer)b->stride, x->beta, x->c.b,
                   (lua_Integer)x->c.offset, (lua_Integer)x->c.ld, (lua_Integer)x->c.stride);
  clc_launch(L, kernel, &range, NULL);
}

/* Whole blocks of a side that go at once, so that what is packed fits the scratch memory; 0: none.
 */
static size_t part_of(const Side *side, const clc_Multiply *x, size_t k, size_t block) {
  const size_t limit = clc_scratchlimit(side->stored->b->device, side->stored->b->dtype);
  if (is_ready(side, x, k)) return side->padded;
  return limit / (count_of(side, x) * k * block) * block;
}

/* The products of some columns of C, by as many rows at a time as there is memory for. */
static void multiply_rows(lua_State *L, const Shape *s, const clc_Multiply *x, size_t k, size_t m,
                          const Means *means) {
  const Side other = side_of_b(x, s);
  const clc_Matrix b = means->b == NULL ? x->b : pack(L, &other, x, k, means, means->b);
  for (size_t i = 0; i < x->m; i += m) {
    const clc_Multiply part = clc_partof(x, i, 0, m, x->n);
    const Side one = side_of_a(&part, s);
    const clc_Matrix a = means->a == NULL ? part.a : pack(L, &one, &part, k, means, means->a);
    launch(L, means->multiply, s, &part, &a, &b);
  }
}

static size_t smaller(size_t a, size_t b) {
  return a < b ? a : b;
}

int clc_multiplypipelined(lua_State *L, const clc_Multiply *x, const char *kernel,
                          const char *defines) {
  const Shape s = choose_shape(L, x);
  const Side one = side_of_a(x, &s), other = side_of_b(x, &s);
  const size_t k = clc_roundup(x->k, s.bk);
  const size_t m = part_of(&one, x, k, s.bm), n = part_of(&other, x, k, s.bn);
  const double work = (double)x->batch * (double)x->m * (double)x->n * (double)x->k;
  if (m == 0 || n == 0 || work < clc_tuned(L, "least") || clc_parts(k, SIDE) > CLC_MOSTGROUPS)
    return 0;
  clc_Device *d = x->c.b->device;
  Means means;
  means.copy = clc_prebuilt(L, d, "gemm_pack", x->c.b->dtype, "");
  means.transpose = clc_prebuilt(L, d, "gemm_pack", x->c.b->dtype, "#define TRANSPOSE 1\n");
  means.multiply = get_kernel(L, &s, x, kernel, defines);
  means.a = get_memory(L, &one, x, k, smaller(m, one.padded));
  means.b = get_memory(L, &other, x, k, smaller(n, other.padded));
  for (size_t j = 0; j < x->n; j += n) {
    const clc_Multiply part = clc_partof(x, 0, j, x->m, n);
    multiply_rows(L, &s, &part, k, m, &means);
  }
  return 1;
}
