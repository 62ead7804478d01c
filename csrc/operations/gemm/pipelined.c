/* SPDX-License-Identifier: MIT */
/* The product for GPUs that copy to local memory while they compute: on their common cores, or on
   tensor cores (kernels/gemm_pipelined.cl, kernels/gemm_tensor.cl). */
#include "product.h"

#include <math.h>

/* Of its time a product takes longer that copies an operand by elements: of 0 to 0.2 what chose
   about the fastest plans for 31 shapes (examples/results/gemm-odd-h200.txt). */
#define SINGLY 0.05

static const clc_Field fields[] = {
    {"bm", offsetof(clc_Tile, bm), "BM"},     {"bn", offsetof(clc_Tile, bn), "BN"},
    {"bk", offsetof(clc_Tile, bk), "BK"},     {"tm", offsetof(clc_Tile, tm), "TM"},
    {"tn", offsetof(clc_Tile, tn), "TN"},     {"stages", offsetof(clc_Tile, stages), "STAGES"},
    {"held", offsetof(clc_Tile, held), NULL}, {"alone", offsetof(clc_Tile, alone), NULL},
    {"full", offsetof(clc_Tile, full), NULL}, {NULL, 0, NULL}};

/* One side of a product: an operand, the m or n elements of C along it, and the same in whole
   blocks. */
typedef struct {
  const clc_Matrix *stored;
  const char *use; /* of scratch memory */
  int is_k_first;  /* it is stored k x m or k x n */
  int is_along;    /* it is read m x k */
  size_t length, padded;
} Side;

static Side side_of_a(const clc_Multiply *x, const clc_Plan *p) {
  return (Side){&x->a, "gemm a", x->transa, p->is_along, x->m, clc_roundup(x->m, p->shape.bm)};
}

static Side side_of_b(const clc_Multiply *x, const clc_Plan *p) {
  return (Side){&x->b, "gemm b", !x->transb, 0, x->n, clc_roundup(x->n, p->shape.bn)};
}

/* What a kernel can do with operands: take zeros for what is outside, and copy fewer elements at a
   time than four where rows do not begin on quads. */
enum { EDGES = 1, UNITS = 2 };

/* Whether the lines of an operand lie as the kernel reads them. */
static int is_straight(const Side *side, int abilities) {
  return side->is_k_first != side->is_along &&
         (clc_isquad(side->stored) || (abilities & UNITS) != 0);
}

/* Whether the kernel can read an operand where it lies: without a transpose, and without zeros
   around it unless it takes them for what is outside. */
static int is_ready(const Side *side, const clc_Multiply *x, size_t k, int abilities) {
  return is_straight(side, abilities) &&
         ((abilities & EDGES) != 0 || (side->length == side->padded && x->k == k));
}

/* How many elements it copies at a time. */
static size_t unit_of(const Side *side, const clc_Multiply *x, size_t k, int abilities) {
  return is_ready(side, x, k, abilities) ? clc_unitof(side->stored) : 4;
}

/* Of its time a product takes longer by that. */
static double loss_of(size_t unit) {
  return unit == 4 ? 0 : SINGLY / (double)unit;
}

/* Work-items of a group. */
static size_t items_of(const clc_Tile *s) {
  return s->bm / s->tm * (s->bn / s->tn) * s->ways;
}

/* Matrices of an operand that are packed: one, if it is the same for all of a batch. */
static size_t count_of(const Side *side, const clc_Multiply *x) {
  return side->stored->stride > 0 ? x->batch : 1;
}

/* Kernels and scratch memory of a product: got before anything is launched, as a finalizer that
   multiplies would use the same memory. */
typedef struct {
  clc_Kernel *pack_a, *pack_b, *multiply;
  clc_Buffer *a, *b; /* NULL: the operand is read where it lies */
  clc_Parts parts;   /* that a launch of its own adds up */
  clc_Buffer *sums, *ended;
  int abilities;
} Means;

/* Elements of k that are read: whole slices, as many for each part that a launch of its own adds
   up. */
static size_t depth_of(const clc_Plan *p, const clc_Multiply *x) {
  return p->is_once ? clc_roundup(x->k, p->shape.bk) : p->parts * p->depth;
}

/* Whether work-items copy whole lines of so many elements at once. */
static int goes_evenly(const clc_Tile *s, size_t width) {
  return items_of(s) % width == 0;
}

/* Blocks that read A as it lies have registers to copy elements; larger ones have none, and there
   packing costs less. */
static int units_of(const clc_Tile *s) {
  const int is_even = goes_evenly(s, s->bm) && goes_evenly(s, s->bn) && goes_evenly(s, s->bk);
  return s->along > 0 && is_even ? UNITS : 0;
}

/* Only a launch that is told of all of k knows its edges. */
static int edges_of(const clc_Plan *p, const clc_Multiply *x, int units) {
  const Side a = side_of_a(x, p), b = side_of_b(x, p);
  const int is_whole =
      a.length == a.padded && b.length == b.padded && x->k == clc_roundup(x->k, p->shape.bk);
  const int is_one = p->parts == 1 || p->is_once;
  return !is_whole && is_one && (is_straight(&a, units) || is_straight(&b, units)) ? EDGES : 0;
}

/* What gemm_pipelined can do for a product. */
static int abilities_of(const clc_Plan *p, const clc_Multiply *x) {
  const int units = units_of(&p->shape);
  return units | edges_of(p, x, units);
}

/* Microseconds that packing takes, and copying by pairs or elements. */
static double time_of_sides(const clc_Plan *p, const clc_Multiply *x, int abilities) {
  const Side sides[] = {side_of_a(x, p), side_of_b(x, p)};
  const size_t k = depth_of(p, x);
  double time = 0;
  if (p->is_along && !is_ready(&sides[0], x, k, abilities)) return INFINITY;
  for (int i = 0; i < 2; i++)
    if (!is_ready(&sides[i], x, k, abilities))
      time +=
          clc_timeofpacking(p, count_of(&sides[i], x) * k * sides[i].padded * x->c.b->dtype->size);
    else
      time += p->time * loss_of(unit_of(&sides[i], x, k, abilities));
  return time;
}

static double time_of_packing(const clc_Plan *p, const clc_Multiply *x) {
  return time_of_sides(p, x, abilities_of(p, x));
}

/* Tensor cores have whole blocks. */
static double time_of_whole(const clc_Plan *p, const clc_Multiply *x) {
  return time_of_sides(p, x, 0);
}

static clc_Buffer *get_memory(lua_State *L, const Side *side, const clc_Multiply *x, size_t k,
                              const Means *means, size_t length) {
  if (is_ready(side, x, k, means->abilities)) return NULL;
  return clc_pushscratch(L, side->stored->b->device, side->use, side->stored->b->dtype,
                         count_of(side, x) * k * length);
}

/* An operand in scratch memory, k first, with zeros around it. */
static clc_Matrix pack(lua_State *L, const Side *side, const clc_Multiply *x, size_t k,
                       clc_Kernel *kernel, clc_Buffer *to) {
  return clc_pack(L, kernel, side->stored, count_of(side, x), x->k, side->length,
                  (clc_Matrix){to, 0, k, side->padded, 0, 0});
}

/* Parts of k are to the kernel what matrices of a batch are. */
static clc_Matrix part_of_k(const clc_Matrix *x, const clc_Parts *parts, int is_along) {
  clc_Matrix part = *x;
  if (parts->count > 1) part.stride = parts->depth * (is_along ? 1 : x->ld);
  return part;
}

static size_t blocks_of(const clc_Plan *p, const clc_Multiply *x) {
  return clc_parts(x->m, p->shape.bm) * clc_parts(x->n, p->shape.bn);
}

/* So many times the blocks of C. */
static clc_Range range_of(const clc_Plan *p, const clc_Multiply *x, size_t times) {
  return clc_batchrange(blocks_of(p, x), 1, x->batch * times, items_of(&p->shape), 1);
}

/* With edges, or parts that the last group of a block adds up. */
static void multiply_once(lua_State *L, const Means *means, const clc_Plan *plan,
                          const clc_Multiply *x, const clc_Matrix *a, const clc_Matrix *b) {
  const size_t bk = plan->shape.bk;
  const clc_Buffer *sums = plan->is_once ? means->sums : x->c.b;
  const clc_Buffer *ended = plan->is_once ? means->ended : x->c.b;
  const clc_Range range = range_of(plan, x, plan->parts);
  clc_run(L, means->multiply, &range, clc_size(x->m), clc_size(x->n), clc_size(clc_parts(x->k, bk)),
          clc_number(x->alpha), clc_matrices(a), clc_matrices(b), clc_number(x->beta),
          clc_matrices(&x->c), clc_size(x->k), clc_size(plan->parts), clc_size(plan->depth / bk),
          clc_memory(sums), clc_memory(ended));
}

static void multiply(lua_State *L, const Means *means, const clc_Plan *plan, const clc_Multiply *x,
                     const clc_Matrix *a, const clc_Matrix *b) {
  if (plan->is_once || (means->abilities & EDGES) != 0) {
    multiply_once(L, means, plan, x, a, b);
    return;
  }
  const clc_Tile *s = &plan->shape;
  const clc_Parts *parts = &means->parts;
  const clc_Multiply y = clc_partsof(x, parts);
  const clc_Matrix ak = part_of_k(a, parts, plan->is_along), bk = part_of_k(b, parts, 0);
  const clc_Range range = range_of(plan, x, parts->count);
  clc_run(L, means->multiply, &range, clc_size(x->m), clc_size(x->n),
          clc_size(parts->depth / s->bk), clc_number(y.alpha), clc_matrices(&ak), clc_matrices(&bk),
          clc_number(y.beta), clc_matrices(&y.c));
  clc_sumparts(L, x, parts);
}

/* Whole blocks of a side that go at once, so that what is packed fits the scratch memory; 0: none.
 */
static size_t part_of(const Side *side, const clc_Multiply *x, size_t k, int abilities,
                      size_t block) {
  const size_t limit = clc_scratchlimit(side->stored->b->device, side->stored->b->dtype);
  if (is_ready(side, x, k, abilities)) return side->padded;
  return limit / (count_of(side, x) * k * block) * block;
}

/* The products of some columns of C, by as many rows at a time as there is memory for. */
static void multiply_rows(lua_State *L, const clc_Plan *plan, const clc_Multiply *x, size_t k,
                          size_t m, const Means *means) {
  const Side other = side_of_b(x, plan);
  const clc_Matrix b = means->b == NULL ? x->b : pack(L, &other, x, k, means->pack_b, means->b);
  for (size_t i = 0; i < x->m; i += m) {
    const clc_Multiply part = clc_partof(x, i, 0, m, x->n);
    const Side one = side_of_a(&part, plan);
    const clc_Matrix a =
        means->a == NULL ? part.a : pack(L, &one, &part, k, means->pack_a, means->a);
    multiply(L, means, plan, &part, &a, &b);
  }
}

/* Memory of parts that the last group of a block adds up, and counts of its groups that ended. */
static void get_sums(lua_State *L, Means *means, const clc_Plan *plan, const clc_Multiply *x) {
  clc_Device *d = x->c.b->device;
  const size_t blocks = x->batch * blocks_of(plan, x);
  means->sums = clc_pushscratch(L, d, "gemm sums", x->c.b->dtype,
                                blocks * plan->parts * plan->shape.bm * plan->shape.bn);
  means->ended = clc_pushzeros(L, d, "gemm ended", clc_int, blocks);
}

/* By a kernel with the arguments of gemm_pipelined, where what is packed has room. */
static int multiply_by(lua_State *L, const char *kernel, size_t products, const clc_Multiply *x,
                       const clc_Plan *plan) {
  const clc_Tile s = plan->shape;
  const Side one = side_of_a(x, plan), other = side_of_b(x, plan);
  const size_t k = depth_of(plan, x);
  Means means = {.abilities = products == 0 ? abilities_of(plan, x) : 0};
  const size_t m = part_of(&one, x, k, means.abilities, s.bm);
  const size_t n = part_of(&other, x, k, means.abilities, s.bn);
  if (m == 0 || n == 0 || !clc_canpack(k)) return 0;
  means.multiply = clc_tailored(
      L, x->c.b->device, kernel, x->c.b->dtype, fields, &s,
      {"WIDE", plan->parts == 1 || plan->is_once ? clc_isquad(&x->c) != 0 : x->n % 4 == 0},
      {"PRODUCTS", products}, {"ALONG", plan->is_along != 0}, {"WAYS", s.ways},
      {"ONE_LAUNCH", plan->is_once != 0}, {"EDGES", (means.abilities & EDGES) != 0},
      {"UNIT_A", unit_of(&one, x, k, means.abilities)},
      {"UNIT_B", unit_of(&other, x, k, means.abilities)});
  means.a = get_memory(L, &one, x, k, &means, clc_smaller(m, one.padded));
  means.b = get_memory(L, &other, x, k, &means, clc_smaller(n, other.padded));
  if (means.a != NULL) means.pack_a = clc_getpack(L, one.stored, !one.is_k_first);
  if (means.b != NULL) means.pack_b = clc_getpack(L, other.stored, !other.is_k_first);
  means.parts = clc_getparts(L, x, plan->is_once ? 1 : plan->parts, plan->depth);
  if (plan->is_once) get_sums(L, &means, plan, x);
  for (size_t j = 0; j < x->n; j += n) {
    const clc_Multiply part = clc_partof(x, 0, j, x->m, n);
    multiply_rows(L, plan, &part, k, m, &means);
  }
  return 1;
}

void clc_multiplypipelined(lua_State *L, const clc_Multiply *x) {
  static const clc_Field least[] = {{"least", 0, NULL}, {NULL, 0, NULL}};
  size_t work;
  clc_readrow(L, least, &work);
  const clc_Plan other = clc_planblocks(L, x);
  if (clc_work(x) >= (double)work) {
    const clc_Plan plan = clc_plan(L, x, "shapes", fields, time_of_packing);
    if (plan.time <= other.time && multiply_by(L, "gemm_pipelined", 0, x, &plan)) return;
  }
  clc_multiplyplanned(L, x, &other);
}

int clc_multiplytensor(lua_State *L, const clc_Multiply *x, size_t products) {
  const clc_Plan plan = clc_plan(L, x, "shapes", fields, time_of_whole);
  return multiply_by(L, "gemm_tensor", products, x, &plan);
}
