/* SPDX-License-Identifier: MIT */
/* The product of floats for the tensor cores of NVIDIA's Hopper (kernels/gemm_warpgroups.cl). */
#include "product.h"

#include <stdint.h>

#define TILE_ROWS 64 /* of A, for each warpgroup, and of a group of gemm_pack_tiles, */
#define PACKERS 256  /* which has so many work-items */
#define DEPTH 32     /* of a tile */

/* What a work-group owns, and of how many products of parts of elements a product consists. */
typedef struct {
  size_t warpgroups, bn, stages, band;
  size_t tile; /* nanoseconds of a block for each tile of k */
  size_t products;
} Shape;

static const clc_Field fields[] = {{"warpgroups", offsetof(Shape, warpgroups), "WARPGROUPS"},
                                   {"bn", offsetof(Shape, bn), "BN"},
                                   {"stages", offsetof(Shape, stages), "STAGES"},
                                   {"band", offsetof(Shape, band), "BAND"},
                                   {"tile", offsetof(Shape, tile), NULL},
                                   {NULL, 0, NULL}};

/* The shape of the list in the row on top of the stack with which the multiprocessor that has the
   most blocks ends first. */
static Shape choose_shape(lua_State *L, const clc_Multiply *x, size_t products) {
  Shape best = {.products = products};
  size_t least = SIZE_MAX;
  const int top = lua_gettop(L);
  const size_t units = x->c.b->device->context->compute_units;
  lua_getfield(L, -1, "shapes");
  for (lua_Integer i = 1; lua_rawgeti(L, top + 1, i) == LUA_TTABLE; i++) {
    Shape s = {.products = products};
    clc_readrow(L, fields, &s);
    lua_settop(L, top + 1);
    const size_t down = clc_parts(x->m, s.warpgroups * TILE_ROWS), across = clc_parts(x->n, s.bn);
    const size_t time = clc_parts(x->batch * down * across, units) * s.tile;
    if (time >= least) continue;
    least = time;
    best = s;
  }
  lua_settop(L, top);
  return best;
}

/* One side of a product: an operand, and how it is packed. */
typedef struct {
  const clc_Matrix *stored;
  const char *use;      /* of scratch memory */
  size_t length, block; /* elements of C along it, and of a block */
  size_t parts;         /* of its elements */
} Side;

static Side side_of_a(const clc_Multiply *x, const Shape *s) {
  return (Side){.stored = &x->a,
                .use = "gemm tiles of a",
                .length = x->m,
                .block = s->warpgroups * TILE_ROWS,
                .parts = 1};
}

static Side side_of_b(const clc_Multiply *x, const Shape *s) {
  return (Side){.stored = &x->b,
                .use = "gemm tiles of b",
                .length = x->n,
                .block = s->bn,
                .parts = s->products == 3 ? 2 : 1};
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
  clc_Kernel *pack, *multiply;
  clc_Buffer *a, *b;
} Means;

static clc_Kernel *get_pack(lua_State *L, const Shape *s, const clc_Multiply *x) {
  return clc_tailored(L, x->c.b->device, "gemm_pack_tiles", x->c.b->dtype, NULL, NULL,
                      {"BN", s->bn}, {"PARTS", s->products == 3 ? 2 : 1}, {"ALONG_A", !x->transa},
                      {"ALONG_B", x->transb != 0}, {"WIDE_A", clc_isquad(&x->a) != 0},
                      {"WIDE_B", clc_isquad(&x->b) != 0});
}

static clc_Kernel *get_multiply(lua_State *L, const Shape *s, const clc_Multiply *x) {
  return clc_tailored(L, x->c.b->device, "gemm_warpgroups", x->c.b->dtype, fields, s,
                      {"PRODUCTS", s->products}, {"WIDE", clc_isquad(&x->c) != 0});
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

/* Squares of an operand along m or n. */
static size_t squares_of(const Side *side) {
  return clc_roundup(side->length, side->block) / TILE_ROWS;
}

/* Packs A, and B with it unless that is there. */
static void pack(lua_State *L, const Shape *s, const clc_Multiply *x, const Means *means,
                 int has_b) {
  const Side a = side_of_a(x, s), b = side_of_b(x, s);
  const size_t depths = clc_parts(x->k, DEPTH), squares = squares_of(&a);
  const size_t all = squares + (has_b ? 0 : squares_of(&b));
  const size_t of_a = count_of(&a, x), of_b = count_of(&b, x);
  const clc_Range range = clc_batchrange(depths, all, of_a > of_b ? of_a : of_b, PACKERS, 1);
  clc_run(L, means->pack, &range, clc_size(x->m), clc_size(x->n), clc_size(x->k), clc_size(depths),
          clc_size(squares), clc_matrices(&x->a), clc_memory(means->a),
          clc_size(packed_size(&a, x->m, x->k)), clc_matrices(&x->b), clc_memory(means->b),
          clc_size(packed_size(&b, x->n, x->k)));
}

static void multiply(lua_State *L, const Shape *s, const clc_Multiply *x, const Means *means) {
  const Side a = side_of_a(x, s), b = side_of_b(x, s);
  const size_t groups = clc_parts(x->m, a.block) * clc_parts(x->n, b.block);
  const clc_Range range = clc_batchrange(groups, 1, x->batch, 2 * TILE_ROWS * s->warpgroups, 1);
  const size_t a1 = x->a.stride > 0 ? packed_size(&a, x->m, x->k) : 0;
  const size_t b1 = x->b.stride > 0 ? packed_size(&b, x->n, x->k) : 0;
  clc_run(L, means->multiply, &range, clc_size(x->m), clc_size(x->n), clc_size(x->k),
          clc_size(clc_parts(x->k, DEPTH)), clc_number(x->alpha), clc_memory(means->a),
          clc_size(a1), clc_memory(means->b), clc_size(b1), clc_memory(x->a.b),
          clc_size(x->a.offset), clc_size(x->transa ? 1 : x->a.ld),
          clc_size(x->transa ? x->a.ld : 1), clc_size(x->a.stride), clc_memory(x->b.b),
          clc_size(x->b.offset), clc_size(x->transb ? x->b.ld : 1),
          clc_size(x->transb ? 1 : x->b.ld), clc_size(x->b.stride), clc_number(x->beta),
          clc_matrices(&x->c));
}

int clc_multiplywarpgroups(lua_State *L, const clc_Multiply *x, size_t products) {
  const Shape s = choose_shape(L, x, products);
  const Side a = side_of_a(x, &s), b = side_of_b(x, &s);
  const size_t m = part_of(&a, x), n = part_of(&b, x);
  if (m == 0 || n == 0) return 0;
  Means means;
  means.pack = get_pack(L, &s, x);
  means.multiply = get_multiply(L, &s, x);
  means.a = get_memory(L, &a, x, m);
  means.b = get_memory(L, &b, x, n);
  for (size_t j = 0; j < x->n; j += n) {
    const clc_Multiply columns = clc_partof(x, 0, j, x->m, n);
    for (size_t i = 0; i < x->m; i += m) {
      const clc_Multiply part = clc_partof(&columns, i, 0, m, columns.n);
      pack(L, &s, &part, &means, i > 0);
      multiply(L, &s, &part, &means);
    }
  }
  return 1;
}
