/* SPDX-License-Identifier: MIT */
/***
saxpy: out <- alpha * x + y.
@module clcompute
*/
#include "saxpy.h"

#include "args.h"
#include "operand.h"
#include "prebuilt.h"

#define GROUP 256 /* any from 64 on fills the vectors of a CPU and the warps of a GPU */

void clc_saxpy(lua_State *L, lua_Number alpha, clc_Buffer *x, clc_Buffer *y, clc_Buffer *out) {
  if (out->count == 0) return;
  clc_Kernel *k = clc_prebuilt(L, out->device, "saxpy", out->dtype, "");
  const clc_Range range = clc_padded1(out->count, GROUP);
  clc_setarguments(L, k, "inbibibi", (lua_Integer)out->count, alpha, x, (lua_Integer)x->offset, y,
                   (lua_Integer)y->offset, out, (lua_Integer)out->offset);
  clc_launch(L, k, &range, NULL);
  lua_pop(L, 1);
}

static int is_same(const clc_Buffer *a, const clc_Buffer *b) {
  return a->mem == b->mem && a->offset == b->offset;
}

/* Pushes the option, which may be nil. */
static clc_Buffer *check_out(lua_State *L, int arg, const clc_Buffer *x, clc_Buffer *y) {
  static const char *const keys[] = {"out", NULL};
  clc_checkoptions(L, arg, keys);
  clc_Buffer *out = clc_pushbufferoption(L, arg, "out", x);
  if (out == NULL) out = y;
  clc_checkshapeof(L, arg, "out", out, &x->shape);
  /* Element by element in place is fine; shifted, items would read what others wrote. */
  if (clc_overlap(out, x) && !is_same(out, x))
    luaL_error(L, "saxpy: the result overlaps x, shifted");
  if (clc_overlap(out, y) && !is_same(out, y))
    luaL_error(L, "saxpy: the result overlaps y, shifted");
  return out;
}

/***
y <- alpha * x + y, or with `out` (a buffer of the same shape) out <- alpha * x + y
(Borisov 2015, listing 1). Queued.
@function saxpy
@tparam number alpha
@tparam Buffer x float or double
@tparam Buffer y same dtype, shape and device
@tparam[opt] table options `out`
@treturn Buffer y, or out
*/
static int op_saxpy(lua_State *L) {
  const lua_Number alpha = luaL_checknumber(L, 1);
  clc_Buffer *x = clc_checkreal(L, 2);
  clc_Buffer *y = clc_checklike(L, 3, x);
  lua_settop(L, 4);
  clc_checkshapeof(L, 3, NULL, y, &x->shape);
  clc_Buffer *out = check_out(L, 4, x, y);
  clc_saxpy(L, alpha, x, y, out);
  lua_settop(L, lua_isnil(L, 5) ? 3 : 5);
  return 1;
}

void clc_opensaxpy(lua_State *L) {
  static const luaL_Reg functions[] = {{"saxpy", op_saxpy}, {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
