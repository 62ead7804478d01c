/* SPDX-License-Identifier: MIT */
/***
The C core: it only opens one chapter after the other.
@module clcompute
*/
#include "buffer.h"
#include "create.h"
#include "event.h"
#include "gauss.h"
#include "gemm.h"
#include "live.h"
#include "prebuilt.h"
#include "saxpy.h"

__attribute__((visibility("default"))) int luaopen_clcompute_core(lua_State *L);

int luaopen_clcompute_core(lua_State *L) {
  lua_newtable(L);
  clc_openhandles(L);
  clc_opendevices(L);
  clc_openevents(L);
  clc_openbuffers(L);
  clc_opencreate(L);
  clc_openlive(L);
  clc_opensignatures(L);
  clc_openkernels(L);
  clc_openprograms(L);
  clc_openprebuilt(L);
  clc_opensaxpy(L);
  clc_opengemm(L);
  clc_opengauss(L);
  return 1;
}
