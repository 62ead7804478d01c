/* SPDX-License-Identifier: MIT */
/* The product for the cores of a CPU: packed panels and register tiles (kernels/gemm_panels.cl). */
#include "panels.h"

#include "operations/prebuilt.h"
#include "buffer/buffer.h"
#include "operations/tuning.h"

enum { PACK = 1, MULTIPLY = 2, PACKED = 4, IN_PLACE = 8 }; /* steps of gemm_panels */

#define EDGE 4             /* rows of its tiles for what is left */
#define BLOCKS_A_CORE 4    /* blocks of C that each core gets at least, where there are so many */
#define PACKED_COLUMNS 256 /* that a work-item packs, about */
#define IN_PLACE_SHARE 16  /* A is read where it lies up to this part of `direct` */

/* How gemm_panels goes through a product. */
typedef struct {
  size_t vector, rows, block; /* V, ROWS, BLOCK of the kernel */
  size_t mc, nc, kc;          /* a block of C, and the depth of a step */
  size_t width;               /* of a panel of B */
  int steps;                  /* of the launch that multiplies */
} Panels;

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

/* A pure function of the device's numbers (the table on top of the stack) and the product. */
static Panels plan_panels(lua_State *L, const clc_Multiply *x) {
  Panels p;
  const size_t cores = (size_t)clc_tuned(L, "units"), mc = (size_t)clc_tuned(L, "mc"),
               nc = (size_t)clc_tuned(L, "nc"), kc = (size_t)clc_tuned(L, "kc"),
               direct = (size_t)clc_tuned(L, "direct");
  p.vector = (size_t)clc_tuned(L, "vector");
  p.rows = (size_t)clc_tuned(L, "rows");
  p.width = 2 * p.vector;
  p.block = (mc + EDGE) * kc + p.vector;
  p.kc = clc_parts(x->k, clc_parts(x->k, kc)); /* steps of about the same depth */
  p.mc = x->m < mc ? clc_roundup(x->m, p.rows) : mc;
  p.nc = x->n < nc ? clc_roundup(x->n, p.width) : nc;
  if (!x->transb && x->n >= p.width && x->k * x->n <= direct) {
    p.steps = !x->transa && x->m * x->k <= direct / IN_PLACE_SHARE ? MULTIPLY | IN_PLACE : MULTIPLY;
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

static void launch_panels(lua_State *L, clc_Kernel *kernel, const Panels *p, int steps, size_t nc,
                          const clc_Range *range, const clc_Multiply *x, clc_Buffer *packed) {
  clc_setarguments(L, kernel, "iiiiiiinbiiiibiiiibnbiii", (lua_Integer)steps, (lua_Integer)x->m,
                   (lua_Integer)x->n, (lua_Integer)x->k, (lua_Integer)p->mc, (lua_Integer)nc,
                   (lua_Integer)p->kc, x->alpha, x->a.b, (lua_Integer)x->a.offset,
                   (lua_Integer)x->a.ld, (lua_Integer)x->a.stride, (lua_Integer)x->transa, x->b.b,
                   (lua_Integer)x->b.offset, (lua_Integer)x->b.ld, (lua_Integer)x->b.stride,
                   (lua_Integer)x->transb, packed, x->beta, x->c.b, (lua_Integer)x->c.offset,
                   (lua_Integer)x->c.ld, (lua_Integer)x->c.stride);
  clc_launch(L, kernel, range, NULL);
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
  launch_panels(L, kernel, p, PACK, nc, &range, x, packed);
}

static void multiply_columns(lua_State *L, clc_Kernel *kernel, const Panels *p,
                             const clc_Multiply *x) {
  const size_t elements = packed_elements(p, x, x->n);
  clc_Buffer *packed =
      elements > 0 ? clc_pushscratch(L, x->c.b->device, "gemm", x->c.b->dtype, elements) : x->c.b;
  if (p->steps & PACKED) pack(L, kernel, p, x, packed);
  const clc_Range range =
      clc_batchrange(clc_parts(x->n, p->nc), clc_parts(x->m, p->mc), x->batch, 1, 1);
  launch_panels(L, kernel, p, p->steps, p->nc, &range, x, packed);
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
  const char *defines = lua_pushfstring(L, "#define V %d\n#define ROWS %d\n#define BLOCK %d\n",
                                        (int)p.vector, (int)p.rows, (int)p.block);
  clc_Kernel *kernel = clc_prebuilt(L, x->c.b->device, "gemm_panels", x->c.b->dtype, defines);
  const size_t step = columns_at_once(&p, x);
  for (size_t j = 0; j < x->n; j += step) {
    clc_Multiply slab = *x;
    slab.n = x->n - j < step ? x->n - j : step;
    slab.b.offset += x->transb ? j * x->b.ld : j;
    slab.c.offset += j;
    multiply_columns(L, kernel, &p, &slab);
  }
}
