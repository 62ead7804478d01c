/* SPDX-License-Identifier: MIT */
/*
 * The analyses of loop nests, by the integer set library (isl): sets and maps go in as isl's own
 * strings, tables and Lua expressions come out. Each call has a budget of isl's operations,
 * 3,000,000 unless `budget` says otherwise; a call that exceeds it, or meets numbers too large
 * for it, returns nil and a message, all other failures are errors. The module stands for
 * itself: it needs neither OpenCL nor the rest of clcompute. `make` builds it where isl is
 * (Debian: libisl-dev); it is a rock of its own.
 */
#include "poly.h"

#include <isl/version.h>

#include "base/base.h"

__attribute__((visibility("default"))) int luaopen_clcompute_poly(lua_State *L);

static int poly_version(lua_State *L) {
  const char *text = isl_version();
  const char *end = text;
  while (*end != '\0' && *end != '\n') end++;
  lua_pushlstring(L, text, (size_t)(end - text));
  return 1;
}

int luaopen_clcompute_poly(lua_State *L) {
  static const clc_Function functions[] = {{"dependences", clc_dependences, 1},
                                           {"extremes", clc_extremes, 1},
                                           {"overlap", clc_overlap, 1},
                                           {"uncovered", clc_uncovered, 1},
                                           {"version", poly_version, 0},
                                           {"wavefront", clc_wavefront, 1},
                                           {NULL, NULL, 0}};
  clc_openanalysis(L);
  lua_newtable(L);
  clc_setfunctions(L, functions);
  return 1;
}
