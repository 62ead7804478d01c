/* SPDX-License-Identifier: MIT */
/* The C core: it opens one package after the other. */
#include "base/base.h"
#include "buffer/buffer.h"
#include "device/device.h"
#include "files/files.h"
#include "image/image.h"
#include "kernel/kernel.h"
#include "operations/gauss/gauss.h"
#include "operations/gemm/gemm.h"
#include "operations/operations.h"
#include "program/program.h"
#include "worker/worker.h"

__attribute__((visibility("default"))) int luaopen_clcompute_core(lua_State *L);

static const char core_key = 0; /* registry: the module */

/* Once a state: objects of an earlier opening must find the same lists. */
int luaopen_clcompute_core(lua_State *L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &core_key) == LUA_TTABLE) return 1;
  clc_preparepocl(0);
  lua_newtable(L);
  clc_openallocator(L);
  clc_openhandles(L);
  clc_openinterrupts(L);
  clc_openterminal(L);
  clc_opennotices(L);
  clc_opendtypes(L);
  clc_openfiles(L);
  clc_openbehind(L);
  clc_opendevices(L);
  clc_openbuffers(L);
  clc_openimages(L);
  clc_openkernels(L);
  clc_openprograms(L);
  clc_openoperations(L);
  clc_opengemm(L);
  clc_opengauss(L);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &core_key);
  return 1;
}
