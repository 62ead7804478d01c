/* SPDX-License-Identifier: MIT */
/***
The C core: it only opens one chapter after the other.
@module clcompute
*/
#include "buffer.h"
#include "check.h"
#include "create.h"
#include "discover.h"
#include "enqueue.h"
#include "event.h"
#include "factors.h"
#include "gauss.h"
#include "gemm.h"
#include "kernelfolder.h"
#include "live.h"
#include "mapped.h"
#include "newfile.h"
#include "plainfile.h"
#include "plan.h"
#include "pocl.h"
#include "prebuilt.h"
#include "profile.h"
#include "raw.h"
#include "saxpy.h"
#include "structsize.h"
#include "tuning.h"
#include "workgroup.h"

__attribute__((visibility("default"))) int luaopen_clcompute_core(lua_State *L);

static const char core_key = 0; /* registry: the module */

/* Once a state: objects of an earlier opening must find the same lists. */
int luaopen_clcompute_core(lua_State *L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &core_key) == LUA_TTABLE) return 1;
  clc_pinpocl();
  lua_newtable(L);
  clc_openhandles(L);
  clc_opencounters(L);
  clc_opendevices(L);
  clc_opendiscovery(L);
  clc_openevents(L);
  clc_openbuffers(L);
  clc_opencreate(L);
  clc_openlive(L);
  clc_openmapped(L);
  clc_opennewfiles(L);
  clc_openplainfiles(L);
  clc_openraw(L);
  clc_openprofile(L);
  clc_openkernelfolder(L);
  clc_openworkgroup(L);
  clc_opensignatures(L);
  clc_openchecks(L);
  clc_openkernels(L);
  clc_openplan(L);
  clc_openenqueue(L);
  clc_openstructsizes(L);
  clc_openprograms(L);
  clc_openprebuilt(L);
  clc_opentuning(L);
  clc_opensaxpy(L);
  clc_opengemm(L);
  clc_opengauss(L);
  clc_openfactors(L);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &core_key);
  return 1;
}
