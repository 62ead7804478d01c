/* SPDX-License-Identifier: MIT */
/* saxpy: out <- alpha * x + y. */
#include "operations.h"
#include "spread.h"

/* The operands, as the kernels of map take them: kernels/clcompute/elementwise.h. */
#define OPERANDS                                                             \
  "#define PARAMETERS NUMBER(REAL, alpha) BUFFER(REAL, x) BUFFER(REAL, y)\n" \
  "#define LOADS ELEMENT(REAL, x) ELEMENT(REAL, y)\n"                        \
  "#define FETCH PREFETCH(x, sizeof(REAL)) PREFETCH(y, sizeof(REAL))\n"      \
  "#define VECTORS ELEMENTS_4(REAL, x) ELEMENTS_4(REAL, y)\n"                \
  "#define LANE_LOADS LANE_ELEMENT(REAL, x) LANE_ELEMENT(REAL, y)\n"         \
  "#define EXPRESSION arg_alpha * arg_x + arg_y\n"

/* Pushes the kernel that does so many elements at a time, which the row at `idx` keeps. */
static clc_Kernel *push_kernel(lua_State *L, clc_Device *d, int idx, const clc_Spread *s,
                               const clc_Dtype *dtype, size_t lanes) {
  const lua_Integer key = (lua_Integer)(lanes * dtype->size);
  lua_getfield(L, idx, CLC_KERNELS);
  if (lua_rawgeti(L, -1, key) == LUA_TUSERDATA) return clc_checkhandle(L, -1, &clc_kerneltype);
  lua_pop(L, 1);
  clc_define(L, {"LANES", lanes}, {"AHEAD", s->ahead});
  const char *macros = lua_pushfstring(L, "%s%s", lua_tostring(L, -1), OPERANDS);
  clc_Kernel *k = clc_prebuilt(L, d, s->kernel, dtype, macros);
  clc_showkernel(k, "saxpy");
  lua_pushvalue(L, -1);
  lua_rawseti(L, -5, key);
  return k;
}

void clc_saxpy(lua_State *L, lua_Number alpha, clc_Buffer *x, clc_Buffer *y, clc_Buffer *out) {
  const int top = lua_gettop(L);
  if (out->count == 0) return;
  const clc_Spread *s = clc_pushspread(L, out->device, "saxpy");
  const int in_chunks = s->granule > 0;
  /* Without chunks, vectors are read where all begin on one. */
  const size_t lanes =
      in_chunks || (x->offset | y->offset | out->offset) % s->lanes == 0 ? s->lanes : 1;
  const clc_Share share = clc_share(s, out->count);
  const size_t items = in_chunks ? share.items : clc_parts(out->count, lanes);
  const clc_Range range = clc_padded1(items, s->group);
  clc_Kernel *k = push_kernel(L, out->device, top + 1, s, out->dtype, lanes);
  if (in_chunks)
    clc_run(L, k, &range, clc_size(out->count), clc_size(share.chunk), clc_elements(out),
            clc_number(alpha), clc_elements(x), clc_elements(y));
  else
    clc_run(L, k, &range, clc_size(out->count), clc_elements(out), clc_number(alpha),
            clc_elements(x), clc_elements(y));
  lua_settop(L, top);
}

/* Pushes the option, which may be nil. */
static clc_Buffer *check_out(lua_State *L, int arg, const clc_Buffer *x, clc_Buffer *y) {
  static const char *const keys[] = {"out", NULL};
  clc_checkoptions(L, arg, keys);
  clc_Buffer *out = clc_pushbufferoption(L, arg, "out", x);
  if (out == NULL) out = clc_checktarget(L, arg - 1); /* y */
  clc_checkshapeof(L, arg, "out", out, &x->shape);
  clc_checkresult(L, "saxpy", out, x, "x");
  clc_checkresult(L, "saxpy", out, y, "y");
  return out;
}

static int op_saxpy(lua_State *L) {
  if (clc_isspread(L, 2)) return clc_callspread(L, "saxpy");
  const lua_Number alpha = luaL_checknumber(L, 1);
  clc_Buffer *x = clc_checkreal(L, 2);
  char element[sizeof(cl_ulong)];
  clc_checkelement(L, 1, x->dtype, element);
  clc_Buffer *y = clc_checklike(L, 3, x);
  lua_settop(L, 4);
  clc_checkshapeof(L, 3, NULL, y, &x->shape);
  clc_Buffer *out = check_out(L, 4, x, y);
  clc_saxpy(L, alpha, x, y, out);
  lua_settop(L, lua_isnil(L, 5) ? 3 : 5);
  return 1;
}

void clc_opensaxpy(lua_State *L) {
  static const clc_Function functions[] = {{"saxpy", op_saxpy, 4}, {NULL, NULL, 0}};
  clc_setfunctions(L, functions);
}
