/* SPDX-License-Identifier: MIT */
/* The product for the multiprocessors of a GPU: register-blocked slices (kernels/gemm_blocks.cl).
 */
#include "blocks.h"

#include "operations/prebuilt.h"
#include "operations/tuning.h"

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
    if (x->batch * clc_parts(x->m, (size_t)blocks.bm) * clc_parts(x->n, (size_t)blocks.bn) >=
        units * 3 / 4)
      break;
  }
  lua_settop(L, lua_gettop(L) - (lua_isnil(L, -1) ? 2 : 1));
  return blocks;
}

void clc_multiplyblocks(lua_State *L, const clc_Multiply *x) {
  const Blocks s = choose_blocks(L, x);
  const char *defines = lua_pushfstring(
      L,
      "%s#define BM %d\n#define BN %d\n#define BK %d\n#define TM %d\n#define TN %d\n"
      "#define ALIGNED %d\n",
      clc_pushtransposes(L, x), s.bm, s.bn, s.bk, s.tm, s.tn,
      clc_isquad(&x->a) && clc_isquad(&x->b));
  clc_Kernel *kernel = clc_prebuilt(L, x->c.b->device, "gemm_blocks", x->c.b->dtype, defines);
  const clc_Range range =
      clc_batchrange(clc_parts(x->n, (size_t)s.bn), clc_parts(x->m, (size_t)s.bm), x->batch,
                     (size_t)(s.bn / s.tn), (size_t)(s.bm / s.tm));
  clc_setarguments(L, kernel, "iiinbiiibiiinbiii", (lua_Integer)x->m, (lua_Integer)x->n,
                   (lua_Integer)x->k, x->alpha, x->a.b, (lua_Integer)x->a.offset,
                   (lua_Integer)x->a.ld, (lua_Integer)x->a.stride, x->b.b, (lua_Integer)x->b.offset,
                   (lua_Integer)x->b.ld, (lua_Integer)x->b.stride, x->beta, x->c.b,
                   (lua_Integer)x->c.offset, (lua_Integer)x->c.ld, (lua_Integer)x->c.stride);
  clc_launch(L, kernel, &range, NULL);
}
