/* SPDX-License-Identifier: MIT */
/* The product for the cores of a CPU: packed panels and register tiles (kernels/gemm_panels.cl). */
#include "product.h"

enum { PACK = 1, MULTIPLY = 2, PACKED = 4, IN_PLACE = 8 }; /* steps of gemm_panels */

#define EDGE 4             /* rows of its tiles for what is left */
#define BLOCKS_A_CORE 4    /* blocks of C that each core gets at least, where there are so many */
#define PACKED_COLUMNS 256 /* that a work-item packs, about */
#define IN_PLACE_SHARE 16  /* A is read where it lies up to this part of `direct` */

/* How gemm_panels goes through a product: numbers of the row, fitted to the product. */
typedef struct {
  size_t vector, rows; /* of a register tile: elements of a vector, and rows */
  size_t mc, nc, kc;   /* a block of C, and the depth of a step */
  size_t direct;       /* elements of B that are read where they lie */
  size_t block;        /* elements of A that a work-item packs at once, at most */
  size_t width;        /* of a panel of B */
  int steps;           /* of the launch that multiplies */
} Panels;

static const clc_Field fields[] = {{"vector", offsetof(Panels, vector), "V"},
                                   {"rows", offsetof(Panels, rows), "ROWS"},
                                   {"mc", offsetof(Panels, mc), NULL},
                                   {"nc", offsetof(Panels, nc), NULL},
                                   {"kc", offsetof(Panels, kc), NULL},
                                   {"direct", offsetof(Panels, direct), NULL},
                                   {NULL, 0, NULL}};

/* Halves the blocks of C until every core has some: first along m, where that costs nothing. */
static void share_out(Panels *p, const clc_Multiply *x, size_t cores) {
  const size_t wanted = BLOCKS_A_CORE * cores;
  while (x->batch * clc_parts(x->m, p->mc) * clc_parts(x->n, p->nc) < wanted) {
    if (p->mc > p->rows)
      p->mc = clc_roundup(p->mc / 2, p->rows);
    else if (p->nc > p->width)
      p->nc = clc_roundup(p->nc / 2, p->width);
    else
      break;
  }
}

/* The same where one block of rows has them all: along n alone. */
static void share_columns(Panels *p, const clc_Multiply *x, size_t cores) {
  while (x->batch * clc_parts(x->n, p->nc) < BLOCKS_A_CORE * cores && p->nc > p->width)
    p->nc = clc_roundup(p->nc / 2, p->width);
}

/* A pure function of the row, which is on top of the stack, and the product. */
static Panels plan_panels(lua_State *L, const clc_Multiply *x) {
  const size_t cores = x->c.b->device->context->compute_units;
  Panels p;
  clc_readrow(L, fields, &p);
  p.width = 2 * p.vector;
  p.block = (p.mc + EDGE) * p.kc + p.vector;
  p.kc = clc_parts(x->k, clc_parts(x->k, p.kc)); /* steps of about the same depth */
  if (x->m < p.mc) p.mc = clc_roundup(x->m, p.rows);
  if (x->n < p.nc) p.nc = clc_roundup(x->n, p.width);
  if (!x->transb && x->n >= p.width && x->k * x->n <= p.direct) {
    p.steps =
        !x->transa && x->m * x->k <= p.direct / IN_PLACE_SHARE ? MULTIPLY | IN_PLACE : MULTIPLY;
    share_out(&p, x, cores);
  } else if (x->m <= p.mc) {
    p.steps = PACK | MULTIPLY;
    if (p.nc > PACKED_COLUMNS) p.nc = clc_roundup(PACKED_COLUMNS, p.width);
    share_columns(&p, x, cores);
  } else {
    p.steps = MULTIPLY | PACKED;
    share_out(&p, x, cores);
  }
  return p;
}

static void run_panels(lua_State *L, clc_Kernel *kernel, const Panels *p, int steps, size_t nc,
                       const clc_Range *range, const clc_Multiply *x, clc_Buffer *packed) {
  clc_run(L, kernel, range, clc_integer(steps), clc_size(x->m), clc_size(x->n), clc_size(x->k),
          clc_size(p->mc), clc_size(nc), clc_size(p->kc), clc_number(x->alpha), clc_matrices(&x->a),
          clc_integer(x->transa), clc_matrices(&x->b), clc_integer(x->transb), clc_memory(packed),
          clc_number(x->beta), clc_matrices(&x->c));
}

/* Elements of scratch memory for n columns of B. */
static size_t packed_elements(const Panels *p, const clc_Multiply *x, size_t n) {
  if (!(p->steps & (PACK | PACKED))) return 0;
  return x->batch * clc_roundup(n, p->width) * (p->steps & PACK ? p->kc : x->k);
}

/* Packs all of B, in work-items of their own, where many will read it. */
static void pack(lua_State *L, clc_Kernel *kernel, const Panels *p, const clc_Multiply *x,
                 clc_Buffer *packed) {
  const size_t nc = clc_roundup(PACKED_COLUMNS, p->width);
  const clc_Range range =
      clc_batchrange(clc_parts(x->n, nc), clc_parts(x->k, p->kc), x->batch, 1, 1);
  run_panels(L, kernel, p, PACK, nc, &range, x, packed);
}

static void multiply_columns(lua_State *L, clc_Kernel *kernel, const Panels *p,
                             const clc_Multiply *x) {
  const size_t elements = packed_elements(p, x, x->n);
  clc_Buffer *packed =
      elements > 0 ? clc_pushscratch(L, x->c.b->device, "gemm", x->c.b->dtype, elements) : x->c.b;
  if (p->steps & PACKED) pack(L, kernel, p, x, packed);
  const clc_Range range =
      clc_batchrange(clc_parts(x->n, p->nc), clc_parts(x->m, p->mc), x->batch, 1, 1);
  run_panels(L, kernel, p, p->steps, p->nc, &range, x, packed);
  if (elements > 0) lua_pop(L, 1);
}

/* Columns of B whose panels fit the scratch memory; all of them, as a rule. */
static size_t columns_at_once(const Panels *p, const clc_Multiply *x) {
  const size_t limit = clc_scratchlimit(x->c.b->device, x->c.b->dtype);
  if (packed_elements(p, x, x->n) <= limit) return x->n;
  const size_t panels = limit / packed_elements(p, x, 1);
  return panels > 1 ? panels * p->width : p->width;
}

void clc_multiplypanels(lua_State *L, const clc_Multiply *x) {
  const Panels p = plan_panels(L, x);
  const char *defines = clc_definerow(L, fields, &p, {"BLOCK", p.block});
  clc_Kernel *kernel = clc_prebuilt(L, x->c.b->device, "gemm_panels", x->c.b->dtype, defines);
  const size_t step = columns_at_once(&p, x);
  for (size_t j = 0; j < x->n; j += step) {
    const clc_Multiply slab = clc_partof(x, 0, j, x->m, step);
    multiply_columns(L, kernel, &p, &slab);
  }
}
