/* SPDX-License-Identifier: MIT */
/* The product of matrices in device memory. */
#include "multiply.h"

#include <limits.h>
#include <string.h>

#include "operand.h"
#include "prebuilt.h"
#include "scratch.h"
#include "tuning.h"

#define TILE 16 /* TS of gemm_tiled */

static size_t parts(size_t n, size_t part) {
  return (n + part - 1) / part;
}

static size_t round_up(size_t n, size_t multiple) {
  return parts(n, multiple) * multiple;
}

static const char *push_transposes(lua_State *L, const clc_Multiply *x) {
  return lua_pushfstring(L, "#define TRANSA %d\n#define TRANSB %d\n", x->transa, x->transb);
}

/* --- naive and tiled: a launch for each matrix of a batch ---------------- */

static void multiply_plainly(lua_State *L, const char *name, const clc_Range *range,
                             const clc_Multiply *x) {
  clc_Kernel *kernel = clc_prebuilt(L, x->c.b->device, name, x->c.b->dtype, push_transposes(L, x));
  /* With nothing to multiply there may be no memory to pass, and none is read. */
  const size_t k = x->alpha == 0 ? 0 : x->k;
  clc_Buffer *a = k > 0 ? x->a.b : x->c.b, *b = k > 0 ? x->b.b : x->c.b;
  for (size_t i = 0; i < x->batch; i++) {
    clc_setarguments(L, kernel, "iiinbiibiinbii", (lua_Integer)x->m, (lua_Integer)x->n,
                     (lua_Integer)k, x->alpha, a, (lua_Integer)(x->a.offset + i * x->a.stride),
                     (lua_Integer)x->a.ld, b, (lua_Integer)(x->b.offset + i * x->b.stride),
                     (lua_Integer)x->b.ld, x->beta, x->c.b,
                     (lua_Integer)(x->c.offset + i * x->c.stride), (lua_Integer)x->c.ld);
    clc_launch(L, kernel, range, NULL);
  }
}

static void multiply_naively(lua_State *L, const clc_Multiply *x) {
  const clc_Range range = clc_covermatrix(x->c.b->device, x->m, x->n);
  multiply_plainly(L, "gemm_naive", &range, x);
}

static void multiply_tiles(lua_State *L, const clc_Multiply *x) {
  const clc_Range range = clc_padded2(x->n, x->m, TILE, TILE);
  multiply_plainly(L, "gemm_tiled", &range, x);
}

static clc_Range batch_range(size_t nx, size_t ny, size_t nz, size_t gx, size_t gy) {
  return (clc_Range){3, {nx * gx, ny * gy, nz}, {gx, gy, 1}, {0, 0, 0}, CLC_GIVEN, CLC_ERROR, 1};
}

/* --- panels: for the cores of a CPU -------------------------------------- */

enum { PACK = 1, MULTIPLY = 2, PACKED = 4 }; /* steps of gemm_panels */

#define EDGE 4             /* rows of its tiles for what is left */
#define BLOCKS_A_CORE 4    /* blocks of C that each core gets at least, where there are so many */
#define PACKED_COLUMNS 256 /* that a work-item packs, about */

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
  while (x->batch * parts(x->m, p->mc) * parts(x->n, p->nc) < wanted) {
    if (p->mc > p->rows)
      p->mc = round_up(p->mc / 2, p->rows);
    else if (p->nc > p->width)
      p->nc = round_up(p->nc / 2, p->width);
    else
      break;
  }
}

/* The same where one block of rows has them all: along n alone. */
static void share_columns(Panels *p, const clc_Multiply *x, size_t cores) {
  while (x->batch * parts(x->n, p->nc) < BLOCKS_A_CORE * cores && p->nc > p->width)
    p->nc = round_up(p->nc / 2, p->width);
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
  p.kc = parts(x->k, parts(x->k, kc)); /* steps of about the same depth */
  p.mc = x->m < mc ? round_up(x->m, p.rows) : mc;
  p.nc = x->n < nc ? round_up(x->n, p.width) : nc;
  if (!x->transb && x->n >= p.width && x->k * x->n <= direct) {
    p.steps = MULTIPLY;
    share_out(&p, x, cores);
  } else if (x->m <= p.mc) {
    p.steps = PACK | MULTIPLY;
    if (p.nc > PACKED_COLUMNS) p.nc = round_up(PACKED_COLUMNS, p.width);
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
  if (p->steps == MULTIPLY) return 0;
  return x->batch * round_up(n, p->width) * (p->steps & PACK ? p->kc : x->k);
}

/* Packs all of B, in work-items of their own, where many will read it. */
static void pack(lua_State *L, clc_Kernel *kernel, const Panels *p, const clc_Multiply *x,
                 clc_Buffer *packed) {
  const size_t nc = round_up(PACKED_COLUMNS, p->width);
  const clc_Range range = batch_range(parts(x->n, nc), parts(x->k, p->kc), x->batch, 1, 1);
  launch_panels(L, kernel, p, PACK, nc, &range, x, packed);
}

static void multiply_columns(lua_State *L, clc_Kernel *kernel, const Panels *p,
                             const clc_Multiply *x) {
  const size_t elements = packed_elements(p, x, x->n);
  clc_Buffer *packed =
      elements > 0 ? clc_pushscratch(L, x->c.b->device, "gemm", x->c.b->dtype, elements) : x->c.b;
  if (p->steps & PACKED) pack(L, kernel, p, x, packed);
  const clc_Range range = batch_range(parts(x->n, p->nc), parts(x->m, p->mc), x->batch, 1, 1);
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

static void multiply_panels(lua_State *L, const clc_Multiply *x) {
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

/* --- blocks: for the multiprocessors of a GPU ----------------------------- */

/* Whether a matrix's rows can be read four elements at a time. */
static int is_aligned(const clc_Matrix *x) {
  return x->offset % 4 == 0 && x->ld % 4 == 0 && x->stride % 4 == 0;
}

/* What a work-group and a work-item of gemm_blocks own. */
typedef struct {
  int bm, bn, bk, tm, tn;
} Blocks;

/* The largest blocks that keep most multiprocessors busy, from the list in the table on top of the
   stack: the last ones where none are small enough. */
static Blocks choose_blocks(lua_State *L, const clc_Multiply *x) {
  Blocks blocks = {0};
  const size_t units = (size_t)clc_tuned(L, "units");
  lua_getfield(L, -1, "blocks");
  for (lua_Integer i = 1; lua_rawgeti(L, -1, i) == LUA_TTABLE; i++) {
    blocks = (Blocks){clc_tuned(L, "bm"), clc_tuned(L, "bn"), clc_tuned(L, "bk"),
                      clc_tuned(L, "tm"), clc_tuned(L, "tn")};
    lua_pop(L, 1);
    if (x->batch * parts(x->m, (size_t)blocks.bm) * parts(x->n, (size_t)blocks.bn) >= units * 3 / 4)
      break;
  }
  lua_settop(L, lua_gettop(L) - (lua_isnil(L, -1) ? 2 : 1));
  return blocks;
}

static void multiply_blocks(lua_State *L, const clc_Multiply *x) {
  const Blocks s = choose_blocks(L, x);
  const char *defines = lua_pushfstring(
      L,
      "%s#define BM %d\n#define BN %d\n#define BK %d\n#define TM %d\n#define TN %d\n"
      "#define ALIGNED %d\n",
      push_transposes(L, x), s.bm, s.bn, s.bk, s.tm, s.tn, is_aligned(&x->a) && is_aligned(&x->b));
  clc_Kernel *kernel = clc_prebuilt(L, x->c.b->device, "gemm_blocks", x->c.b->dtype, defines);
  const clc_Range range = batch_range(parts(x->n, (size_t)s.bn), parts(x->m, (size_t)s.bm),
                                      x->batch, (size_t)(s.bn / s.tn), (size_t)(s.bm / s.tm));
  clc_setarguments(L, kernel, "iiinbiiibiiinbiii", (lua_Integer)x->m, (lua_Integer)x->n,
                   (lua_Integer)x->k, x->alpha, x->a.b, (lua_Integer)x->a.offset,
                   (lua_Integer)x->a.ld, (lua_Integer)x->a.stride, x->b.b, (lua_Integer)x->b.offset,
                   (lua_Integer)x->b.ld, (lua_Integer)x->b.stride, x->beta, x->c.b,
                   (lua_Integer)x->c.offset, (lua_Integer)x->c.ld, (lua_Integer)x->c.stride);
  clc_launch(L, kernel, &range, NULL);
}

/* --- which of them -------------------------------------------------------- */

typedef void (*Function)(lua_State *L, const clc_Multiply *x);

/* The fast one of a device: its table, on top of the stack, has its name. NULL: none. */
static Function find_fast(lua_State *L, const clc_Multiply *x) {
  static const struct {
    const char *name;
    Function function;
  } known[] = {{"panels", multiply_panels}, {"blocks", multiply_blocks}};
  Function found = NULL;
  if (x->k == 0 || x->alpha == 0 || x->m > INT_MAX / 2 || x->n > INT_MAX / 2 || x->k > INT_MAX / 2)
    return NULL;
  lua_getfield(L, -1, "kernel");
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (lua_isstring(L, -1) && strcmp(lua_tostring(L, -1), known[i].name) == 0)
      found = known[i].function;
  lua_pop(L, 1);
  return found;
}

void clc_multiply(lua_State *L, clc_Multiplier multiplier, const clc_Multiply *x) {
  if (x->batch == 0 || x->m == 0 || x->n == 0) return;
  luaL_checkstack(L, 30, NULL);
  const int top = lua_gettop(L);
  const int can_tile = x->c.b->device->max_group >= TILE * TILE;
  Function function = NULL;
  if (multiplier == CLC_FAST) {
    clc_pushtuning(L, x->c.b->device, "gemm", x->c.b->dtype);
    function = find_fast(L, x);
  }
  if (function == NULL)
    function = multiplier == CLC_NAIVE || !can_tile ? multiply_naively : multiply_tiles;
  function(L, x);
  lua_settop(L, top);
}
