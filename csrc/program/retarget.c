/* SPDX-License-Identifier: MIT */
/* Retargeting: programs with instructions that the OpenCL compiler does not know. */
#include "build.h"

#include <string.h>

#define MARK "//@sm_90a "
#define COMPILED ".target sm_90," /* what the compiler says; it goes on with a mode of textures */
#define WANTED ".target sm_90a,"

int clc_wantstarget(const char *text) {
  return strstr(text, MARK) != NULL;
}

int clc_retarget(lua_State *L, const clc_Device *d, const char *options, clc_Code *code) {
  const cl_program *program = &code->program;
  const int top = lua_gettop(L);
  const char *names = clc_testkernelnames(L, program);
  const int is_known = names != NULL && clc_pushdeclarations(L, program, names) != NULL;
  if (!is_known || !clc_pushbinary(L, program) || strstr(lua_tostring(L, -1), COMPILED) == NULL) {
    lua_settop(L, top);
    return 0;
  }
  const char *text = luaL_gsub(L, lua_tostring(L, -1), COMPILED, WANTED);
  text = luaL_gsub(L, text, MARK, "");
  if (*program == NULL) luaL_error(L, "program is released"); /* by a finalizer */
  clReleaseProgram(*program);
  code->program = NULL;
  clc_buildbinary(d, text, strlen(text), options, code);
  if (*program == NULL) luaL_error(L, "the driver refuses instructions for sm_90a");
  lua_pushvalue(L, top + 2); /* the declarations */
  lua_replace(L, top + 1);
  lua_settop(L, top + 1);
  return 1;
}
