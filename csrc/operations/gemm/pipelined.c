/* SPDX-License-Identifier: MIT */
/* The product for GPUs that copy to local memory while they compute: on their common cores, or on
   tensor cores (kernels/gemm_pipelined.cl, kernels/gemm_tensor.cl). */
#include "product.h"

#define SIDE 32 /* of a square that a work-group of gemm_pack moves, */
#define ROWS 8  /* and its work-items along one side */

/* What a work-group and a work-item of the kernel own, and how many slices are in work; the groups
   that a multiprocessor holds at a time, and its rate with one of them and with all. */
typedef struct {
  size_t bm, bn, bk, tm, tn, stages;
  size_t held, alone, full;
} Shape;

static const clc_Field fields[] = {
    {"bm", offsetof(Shape, bm), "BM"},     {"bn", offsetof(Shape, bn), "BN"},
    {"bk", offsetof(Shape, bk), "BK"},     {"tm", offsetof(Shape, tm), "TM"},
    {"tn", offsetof(Shape, tn), "TN"},     {"stages", offsetof(Shape, stages), "STAGES"},
    {"held", offsetof(Shape, held), NULL}, {"alone", offsetof(Shape, alone), NULL},
    {"full", offsetof(Shape, full), NULL}, {NULL, 0, NULL}};

/* What the blocks of a shape take, relative to other shapes: a multiprocessor works at its full
   rate on as many groups as it holds at a time, on few at that of each alone. */
static double cost_of(const Shape *s, const clc_Multiply *x) {
  const double full = (double)s->full, alone = (double)s->alone;
  const size_t groups = x->batch * clc_parts(x->m, s->bm) * clc_parts(x->n, s->bn);
  const size_t share = clc_parts(groups, x->c.b->device->context->compute_units),
               last = share % s->held;
  const double rate = (double)last * alone < full ? (double)last * alone : full;
  const double rest = last > 0 ? (double)last / rate : 0;
  return (double)(s->bm * s->bn) * ((double)(share - last) / full + rest);
}

/* The cheapest shape of the list in the row on top of the stack. */
static Shape choose_shape(lua_State *L, const clc_Multiply *x) {
  Shape best = {0}, shape;
  double least = 0;
  const int top = lua_gettop(L);
  lua_getfield(L, -1, "shapes");
  for (lua_Integer i = 1; lua_rawgeti(L, top + 1, i) == LUA_TTABLE; i++) {
    clc_readrow(L, fields, &shape);
    const double cost = cost_of(&shape, x);
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
   blocks. */
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
  clc_run(L, kernel, &range, clc_size(x->k), clc_size(side->length), clc_size(k),
          clc_size(side->padded), clc_matrices(from), clc_memory(to));
  return (clc_Matrix){to, 0, k, side->padded, side->padded, count > 1 ? elements : 0};
}

static void multiply(lua_State *L, clc_Kernel *kernel, const Shape *s, const clc_Multiply *x,
                     const clc_Matrix *a, const clc_Matrix *b) {
  const size_t items = s->bm / s->tm * (s->bn / s->tn);
  const size_t groups = clc_parts(x->m, s->bm) * clc_parts(x->n, s->bn);
  const clc_Range range = clc_batchrange(groups, 1, x->batch, items, 1);
  clc_run(L, kernel, &range, clc_size(x->m), clc_size(x->n), clc_size(clc_parts(x->k, s->bk)),
          clc_number(x->alpha), clc_matrices(a), clc_matrices(b), clc_number(x->beta),
          clc_matrices(&x->c));
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
    multiply(L, means->multiply, s, &part, &a, &b);
  }
}

static size_t smaller(size_t a, size_t b) {
  return a < b ? a : b;
}

/* By a kernel with the arguments of gemm_pipelined, where what is packed has room. */
static int multiply_by(lua_State *L, const char *kernel, size_t products, const clc_Multiply *x) {
  const Shape s = choose_shape(L, x);
  const Side one = side_of_a(x, &s), other = side_of_b(x, &s);
  const size_t k = clc_roundup(x->k, s.bk);
  const size_t m = part_of(&one, x, k, s.bm), n = part_of(&other, x, k, s.bn);
  if (m == 0 || n == 0 || clc_parts(k, SIDE) > CLC_MOSTGROUPS) return 0;
  clc_Device *d = x->c.b->device;
  Means means;
  const clc_Macro side = {"SIDE", SIDE}, rows = {"ROWS", ROWS};
  means.copy = clc_prebuilt(L, d, "gemm_pack", x->c.b->dtype, clc_define(L, side, rows));
  means.transpose =
      clc_prebuilt(L, d, "gemm_pack", x->c.b->dtype, clc_define(L, side, rows, {"TRANSPOSE", 1}));
  means.multiply = clc_prebuilt(
      L, d, kernel, x->c.b->dtype,
      clc_definerow(L, fields, &s, {"WIDE", clc_isquad(&x->c) != 0}, {"PRODUCTS", products}));
  means.a = get_memory(L, &one, x, k, smaller(m, one.padded));
  means.b = get_memory(L, &other, x, k, smaller(n, other.padded));
  for (size_t j = 0; j < x->n; j += n) {
    const clc_Multiply part = clc_partof(x, 0, j, x->m, n);
    multiply_rows(L, &s, &part, k, m, &means);
  }
  return 1;
}

int clc_multiplypipelined(lua_State *L, const clc_Multiply *x) {
  static const clc_Field least[] = {{"least", 0, NULL}, {NULL, 0, NULL}};
  size_t work;
  clc_readrow(L, least, &work);
  return clc_work(x) >= (double)work && multiply_by(L, "gemm_pipelined", 0, x);
}

int clc_multiplytensor(lua_State *L, const clc_Multiply *x, size_t products) {
  return multiply_by(L, "gemm_tensor", products, x);
}
