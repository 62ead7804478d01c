/* SPDX-License-Identifier: MIT */
/***
The C core: it only opens one chapter after the other.
@module clcompute
*/
#include "buffer/buffer.h"
#include "kernel/check.h"
#include "buffer/create.h"
#include "device/discover.h"
#include "operations/enqueue.h"
#include "device/event.h"
#include "operations/gauss/factors.h"
#include "operations/gauss/gauss.h"
#include "operations/gemm/gemm.h"
#include "files/kernel_folder.h"
#include "buffer/live.h"
#include "buffer/mapped.h"
#include "files/new_file.h"
#include "files/plain_file.h"
#include "files/text_file.h"
#include "kernel/plan.h"
#include "device/pocl.h"
#include "operations/prebuilt.h"
#include "device/profile.h"
#include "buffer/raw.h"
#include "operations/saxpy.h"
#include "program/struct_size.h"
#include "operations/tuning.h"
#include "program/work_group.h"

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
  clc_opentextfiles(L);
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
