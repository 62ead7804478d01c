/* SPDX-License-Identifier: MIT */
/* The product of matrices in device memory: which kernel computes it. */
#include "multiply.h"

#include <limits.h>
#include <string.h>

#include "blocks.h"
#include "operations/operand.h"
#include "panels.h"
#include "pipelined.h"
#include "operations/prebuilt.h"
#include "tensor.h"
#include "operations/tuning.h"

#define TILE 16 /* TS of gemm_tiled */

/* Rows or columns of a launch: where kernels count them along the second dimension, a group has
   eight at least. Whole blocks of any kernel. */
#define MOST_ROWS (CLC_MOSTGROUPS / 32 * 256)

/* --- naive and tiled: a launch for each matrix of a batch ---------------- */

static void multiply_plainly(lua_State *L, const char *name, const clc_Range *range,
                             const clc_Multiply *x) {
  clc_Kernel *kernel =
      clc_prebuilt(L, x->c.b->device, name, x->c.b->dtype, clc_pushtransposes(L, x));
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

/* --- fast, with the device's tuning on top of the stack ------------------- */

static void multiply_pipelined(lua_State *L, const clc_Multiply *x) {
  if (!clc_multiplypipelined(L, x, "gemm_pipelined", "")) clc_multiplyblocks(L, x);
}

/* --- which of them -------------------------------------------------------- */

typedef void (*Function)(lua_State *L, const clc_Multiply *x);

/* Kernels other than the plain ones count in int, and have something to do for each element. */
static int is_ordinary(const clc_Multiply *x) {
  return x->k > 0 && x->alpha != 0 && x->k <= INT_MAX / 2;
}

/* The fast one of a device: its table, on top of the stack, has its name. NULL: none. */
static Function find_fast(lua_State *L) {
  static const struct {
    const char *name;
    Function function;
  } known[] = {{"panels", clc_multiplypanels},
               {"blocks", clc_multiplyblocks},
               {"pipelined", multiply_pipelined}};
  Function found = NULL;
  lua_getfield(L, -1, "kernel");
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (lua_isstring(L, -1) && strcmp(lua_tostring(L, -1), known[i].name) == 0)
      found = known[i].function;
  lua_pop(L, 1);
  return found;
}

static void multiply_part(lua_State *L, clc_Multiplier multiplier, const clc_Multiply *x) {
  const int top = lua_gettop(L);
  const int can_tile = x->c.b->device->context->max_group >= TILE * TILE;
  Function function = NULL;
  const int is_fast = multiplier == CLC_FAST && is_ordinary(x);
  if (is_fast && clc_multiplytensor(L, x)) {
    lua_settop(L, top);
    return;
  }
  if (is_fast) {
    clc_pushtuning(L, x->c.b->device, "gemm", x->c.b->dtype);
    function = find_fast(L);
  }
  if (function == NULL)
    function = multiplier == CLC_NAIVE || !can_tile ? multiply_naively : multiply_tiles;
  function(L, x);
  lua_settop(L, top);
}

void clc_multiply(lua_State *L, clc_Multiplier multiplier, const clc_Multiply *x) {
  luaL_checkstack(L, 30, NULL);
  for (size_t first = 0; first < x->batch; first += CLC_MOSTGROUPS) {
    const clc_Multiply some = clc_matricesof(x, first, CLC_MOSTGROUPS);
    for (size_t i = 0; i < x->m; i += MOST_ROWS)
      for (size_t j = 0; j < x->n; j += MOST_ROWS) {
        const clc_Multiply part = clc_partof(&some, i, j, MOST_ROWS, MOST_ROWS);
        multiply_part(L, multiplier, &part);
      }
  }
}
