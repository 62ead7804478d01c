/* SPDX-License-Identifier: MIT */
/***
Peers to be compared with: OpenBLAS on the CPU, CLBlast on an OpenCL device. Both are opened
when asked, and nothing else of clcompute needs them.
@module clcompute.blas
@usage local blas = require "clcompute.blas"
local openblas = assert(blas.openblas{threads = 1})
local x, y = blas.array(string.pack("ff", 1, 2)), blas.array(2)
local seconds = openblas:axpy(3, x, y)
*/
#include "array.h"
#include "clblast.h"
#include "openblas.h"

__attribute__((visibility("default"))) int luaopen_clcompute_blas(lua_State *L);

int luaopen_clcompute_blas(lua_State *L) {
  lua_newtable(L);
  clc_openarrays(L);
  clc_openopenblas(L);
  clc_openclblast(L);
  return 1;
}
