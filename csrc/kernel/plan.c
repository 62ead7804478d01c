/* SPDX-License-Identifier: MIT */
/* Plans: the launches of a range, for scripts that look at them. */
#include "plan.h"

static void set_sizes(lua_State *L, const char *key, cl_uint dims, const size_t sizes[3]) {
  lua_createtable(L, (int)dims, 0);
  for (cl_uint i = 0; i < dims; i++) {
    lua_pushinteger(L, (lua_Integer)sizes[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, key);
}

/* A range as a kernel takes it, that is this one launch. */
static void push_part(lua_State *L, cl_uint dims, const clc_Part *p) {
  lua_createtable(L, 0, 4);
  set_sizes(L, "global", dims, p->global);
  set_sizes(L, "offset", dims, p->offset);
  if (p->has_group) {
    set_sizes(L, "group", dims, p->group);
  } else {
    lua_pushliteral(L, "driver");
    lua_setfield(L, -2, "group");
  }
  if (clc_isnonuniform(p)) {
    lua_pushliteral(L, "native");
    lua_setfield(L, -2, "remainder");
  }
}

/* Internal: plan_range(range, kernel) returns the range as {global=, offset=} and the list of
   its launches. The kernel may ask what splitting would mislead: it is to show just that, so
   "split" is planned as for one that asks for no more than its place in the group. */
static int plan_range(lua_State *L) {
  clc_Part parts[CLC_MAXPARTS];
  const clc_Range range = clc_checkrange(L, 1);
  clc_Limits limits = ((clc_Kernel *)clc_checkhandle(L, 2, &clc_kerneltype))->limits;
  if (range.remainder == CLC_SPLIT) limits.unsplittable = NULL;
  const int n = clc_planrange(L, &range, &limits, parts);
  lua_createtable(L, 0, 2);
  set_sizes(L, "global", range.dims, range.global);
  set_sizes(L, "offset", range.dims, range.offset);
  lua_createtable(L, n, 0);
  for (int i = 0; i < n; i++) {
    push_part(L, range.dims, &parts[i]);
    lua_rawseti(L, -2, i + 1);
  }
  return 2;
}

void clc_openplan(lua_State *L) {
  static const luaL_Reg functions[] = {{"plan_range", plan_range}, {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
