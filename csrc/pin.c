/* SPDX-License-Identifier: MIT */
/* Pins: what C code goes on using while it allocates, whatever a finalizer releases meanwhile. */
#include "pin.h"

#define PIN "clcompute.Pin"

typedef struct {
  cl_program program;
  cl_kernel kernel;
} Pin;

static int pin_gc(lua_State *L) {
  Pin *pin = luaL_checkudata(L, 1, PIN);
  if (pin->program != NULL && !clc_isforked()) clReleaseProgram(pin->program);
  if (pin->kernel != NULL && !clc_isforked()) clReleaseKernel(pin->kernel);
  pin->program = NULL;
  pin->kernel = NULL;
  return 0;
}

static Pin *push_pin(lua_State *L) {
  luaL_checkstack(L, 5, NULL);
  Pin *pin = lua_newuserdatauv(L, sizeof *pin, 0);
  *pin = (Pin){NULL, NULL};
  luaL_setmetatable(L, PIN);
  return pin;
}

cl_program clc_pinprogram(lua_State *L, const cl_program *object) {
  Pin *pin = push_pin(L);
  if (*object == NULL) luaL_error(L, "program is released");
  clc_check(L, clRetainProgram(*object), "clRetainProgram");
  return pin->program = *object;
}

cl_kernel clc_pinkernel(lua_State *L, const cl_kernel *object) {
  Pin *pin = push_pin(L);
  if (*object == NULL) luaL_error(L, "kernel is released");
  clc_check(L, clRetainKernel(*object), "clRetainKernel");
  return pin->kernel = *object;
}

void clc_openpins(lua_State *L) {
  luaL_newmetatable(L, PIN);
  lua_pushcfunction(L, pin_gc);
  lua_setfield(L, -2, "__gc");
  lua_pop(L, 1);
}
