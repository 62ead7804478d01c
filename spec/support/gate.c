/* SPDX-License-Identifier: MIT */
/* Another library's command in a queue, which ends when the script says so. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <lauxlib.h>
#include <lua.h>

/* close(queue, context) --> gate: what is queued later waits for it. */
static int gate_close(lua_State *L) {
  cl_command_queue queue = lua_touserdata(L, 1);
  cl_int code;
  cl_event gate = clCreateUserEvent(lua_touserdata(L, 2), &code);
  if (code == CL_SUCCESS) code = clEnqueueBarrierWithWaitList(queue, 1, &gate, NULL);
  if (code != CL_SUCCESS) return luaL_error(L, "gate: %d", (int)code);
  lua_pushlightuserdata(L, gate);
  return 1;
}

static int gate_open(lua_State *L) {
  cl_event gate = lua_touserdata(L, 1);
  clSetUserEventStatus(gate, CL_COMPLETE);
  clReleaseEvent(gate);
  return 0;
}

int luaopen_gate(lua_State *L) {
  static const luaL_Reg functions[] = {{"close", gate_close}, {"open", gate_open}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
