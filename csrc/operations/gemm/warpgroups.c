/* SPDX-License-Identifier: MIT */
/* The product of floats for the tensor cores of NVIDIA's Hopper (kernels/gemm_warpgroups.cl). */
#include "warpgroups.h"

#include "operations/prebuilt.h"
#include "buffer/buffer.h"
#include "operations/tuning.h"

#define TILE_ROWS 64 /* of A, for each warpgroup */
#define DEPTH 32     /* of a tile; DEPTH and ROWS of gemm_pack_tiles */
#define ROWS 8

/* What a work-group owns, and how the operands are packed. */
typedef struct {
  int warpgroups, bn, stages, band, products;
} Shape;

/* The first of the list in the table on top of the stack. */
static Shape get_shape(lua_State *L, int products) {
  lua_getfield(L, -1, "shapes");
  lua_rawgeti(L, -1, 1);
  const Shape shape = {clc_tuned(L, "warpgroups"), clc_tuned(L, "bn"), clc_tuned(L, "stages"),
                       clc_tuned(L, "band"), products};
  lua_pop(L, 2);
  return shape;
}

/* One side of a product: an operand, how far its elements are apart along m or n and along k, and
   how it is packed. */
typedef struct {
  const clc_Matrix *stored;
  const char *use; /* of scratch memory */
  size_t along, deep;
  size_t length, block; /* elements of C along it, and of a block */
  size_t tile, parts;   /* rows of a tile, and how often it is there */
  int is_fragments, is_paired, is_rounded;
} Side;

static Side side_of_a(const clc_Multiply *x, const Shape *s) {
  const int is_split = s->products == 3; /* in registers */
  return (Side){.stored = &x->a,
                .use = "gemm tiles of a",
                .along = x->transa ? 1 : x->a.ld,
                .deep = x->transa ? x->a.ld : 1,
                .length = x->m,
                .block = (size_t)s->warpgroups * TILE_ROWS,
                .tile = TILE_ROWS,
                .parts = 1,
                .is_fragments = is_split,
                .is_rounded = !is_split};
}

static Side side_of_b(const clc_Multiply *x, const Shape *s) {
  return (Side){.stored = &x->b,
                .use = "gemm tiles of b",
                .along = x->transb ? x->b.ld : 1,
                .deep = x->transb ? 1 : x->b.ld,
                .length = x->n,
                .block = (size_t)s->bn,
                .tile = (size_t)s->bn,
                .parts = s->products == 3 ? 2 : 1,
                .is_paired = 1,
                .is_rounded = 1};
}

/* Elements of a matrix of so many packed ones, in whole tiles. */
static size_t packed_size(const Side *side, size_t length, size_t k) {
  return clc_roundup(length, side->block) * clc_roundup(k, DEPTH) * side->parts;
}

/* Matrices of an operand that are packed: one, if it is the same for all of a batch. */
static size_t count_of(const Side *side, const clc_Multiply *x) {
  return side->stored->stride > 0 ? x->batch : 1;
}

/* Kernels and scratch memory of a product: got before anything is launched, as a finalizer that
   multiplies would use the same memory. */
typedef struct {
  clc_Kernel *pack_a, *pack_b, *multiply;
  clc_Buffer *a, *b;
} Means;

static clc_Kernel *get_pack(lua_State *L, const Side *side, const clc_Multiply *x) {
  const char *defines =
      lua_pushfstring(L,
                      "#define SIDE %d\n#define FRAGMENTS %d\n#define PAIRED %d\n#define PARTS %d\n"
                      "#define ROUND %d\n#define ALONG %d\n",
                      (int)side->tile, side->is_fragments, side->is_paired, (int)side->parts,
                      side->is_rounded, side->deep == 1);
  return clc_prebuilt(L, x->c.b->device, "gemm_pack_tiles", x->c.b->dtype, defines);
}

static clc_Kernel *get_multiply(lua_State *L, const Shape *s, const clc_Multiply *x) {
  const char *defines =
      lua_pushfstring(L,
                      "#define WARPGROUPS %d\n#define BN %d\n#define STAGES %d\n"
                      "#define BAND %d\n#define PRODUCTS %d\n#define WIDE %d\n",
                      s->warpgroups, s->bn, s->stages, s->band, s->products, clc_isquad(&x->c));
  return clc_prebuilt(L, x->c.b->device, "gemm_warpgroups", x->c.b->dtype, defines);
}

static clc_Buffer *get_memory(lua_State *L, const Side *side, const clc_Multiply *x, size_t most) {
  const size_t length = side->length < most ? side->length : most;
  return clc_pushscratch(L, side->stored->b->device, side->use, side->stored->b->dtype,
                         count_of(side, x) * packed_size(side, length, x->k));
}

/* Rows or columns of C that go at once, so that what is packed fits the scratch memory; 0: none. */
static size_t part_of(const Side *side, const clc_Multiply *x) {
  const size_t limit = clc_scratchlimit(side->stored->b->device, side->stored->b->dtype);
  return limit / (count_of(side, x) * packed_size(side, side->block, x->k)) * side->block;
}

static void pack(lua_State *L, clc_Kernel *kernel, const Side *side, const clc_Multiply *x,
                 const clc_Buffer *to) {
  const clc_Matrix *from = side->stored;
  const size_t depths = clc_parts(x->k, DEPTH);
  const clc_Range range = clc_batchrange(depths, clc_roundup(side->length, side->block) / DEPTH,
                                         count_of(side, x), DEPTH, ROWS);
  clc_setarguments(L, kernel, "iiibiiiibi", (lua_Integer)side->length, (lua_Integer)x->k,
                   (lua_Integer)depths, from->b, (lua_Integer)from->offset,
                   (lua_Integer)side->along, (lua_Integer)side->deep, (lua_Integer)from->stride, to,
                   (lua_Integer)packed_size(side, side->length, x->k));
  clc_launch(L, kernel, &range, NULL);
}

static void multiply(lua_State *L, const Shape *s, const clc_Multiply *x, const Means *means) {
  const Side a = side_of_a(x, s), b = side_of_b(x, s);
  const size_t groups = clc_parts(x->m, a.block) * clc_parts(x->n, b.block);
  const clc_Range range =
      clc_batchrange(groups, 1, x->batch, 2 * TILE_ROWS * (size_t)s->warpgroups, 1);
  const size_t a1 = x->a.stride > 0 ? packed_size(&a, x->m, x->k) : 0;
  const size_t b1 = x->b.stride > 0 ? packed_size(&b, x->n, x->k) : 0;
  clc_setarguments(L, means->multiply, "iiiinbibibiiiibiiiinbiii", (lua_Integer)x->m,
                   (lua_Integer)x->n, (lua_Integer)x->k, (lua_Integer)clc_parts(x->k, DEPTH),
                   x->alpha, means->a, (lua_Integer)a1, means->b, (lua_Integer)b1, x->a.b,
                   (lua_Integer)x->a.offset, (lua_Integer)a.along, (lua_Integer)a.deep,
                   (lua_Integer)x->a.stride, x->b.b, (lua_Integer)x->b.offset, (lua_Integer)b.along,
                   (lua_Integer)b.deep, (lua_Integer)x->b.stride, x->beta, x->c.b,
                   (lua_Integer)x->c.offset, (lua_Integer)x->c.ld, (lua_Integer)x->c.stride);
  clc_launch(L, means->multiply, &range, NULL);
}

static int is_large(lua_State *L, const clc_Multiply *x) {
  const double work = (double)x->batch * (double)x->m * (double)x->n * (double)x->k;
  return work >= clc_tuned(L, "least");
}

int clc_multiplywarpgroups(lua_State *L, const clc_Multiply *x, int products) {
  if (!is_large(L, x)) return 0;
  const Shape s = get_shape(L, products);
  const Side a = side_of_a(x, &s), b = side_of_b(x, &s);
  const size_t m = part_of(&a, x), n = part_of(&b, x);
  if (m == 0 || n == 0) return 0;
  Means means;
  means.pack_a = get_pack(L, &a, x);
  means.pack_b = get_pack(L, &b, x);
  means.multiply = get_multiply(L, &s, x);
  means.a = get_memory(L, &a, x, m);
  means.b = get_memory(L, &b, x, n);
  for (size_t j = 0; j < x->n; j += n) {
    const clc_Multiply columns = clc_partof(x, 0, j, x->m, n);
    const Side one = side_of_b(&columns, &s);
    pack(L, means.pack_b, &one, &columns, means.b);
    for (size_t i = 0; i < x->m; i += m) {
      const clc_Multiply part = clc_partof(&columns, i, 0, m, columns.n);
      const Side other = side_of_a(&part, &s);
      pack(L, means.pack_a, &other, &part, means.a);
      multiply(L, &s, &part, &means);
    }
  }
  return 1;
}
