/* SPDX-License-Identifier: MIT */
/* Schedules: the numbers with which an operation runs on a device. */
#include "schedule.h"

#define MOST (1 << 30) /* a kernel may count in int */

/* In the registry: the answers of Lua's tuning_of(device, operation, dtype), by device and by
   "operation dtype". */
#define KNOWN "clcompute.tuning.known"

/* Pushes the answers for a device, an empty table the first time. */
static void push_known(lua_State *L, const clc_Device *d) {
  lua_getfield(L, LUA_REGISTRYINDEX, KNOWN);
  clc_pushdevice(L, d);
  lua_pushvalue(L, -1);
  if (lua_rawget(L, -3) == LUA_TNIL) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_insert(L, -2);
    lua_pushvalue(L, -2);
    lua_rawset(L, -4);
    lua_remove(L, -2);
    return;
  }
  lua_replace(L, -3);
  lua_pop(L, 1);
}

#define NO_WORK (-1.0) /* the row is wanted whatever it takes */

static void ask(lua_State *L, const clc_Device *d, const char *operation, const clc_Dtype *dtype,
                double work) {
  clc_getinternal(L, "tuning_of");
  clc_pushdevice(L, d);
  lua_pushstring(L, operation);
  lua_pushstring(L, dtype->name);
  if (work >= 0) lua_pushnumber(L, work);
  lua_call(L, work >= 0 ? 4 : 3, 1);
}

/* Whether the row at the top is to be kept. */
static int is_final(lua_State *L) {
  const int for_now = lua_getfield(L, -1, "is_for_now") != LUA_TNIL;
  lua_pop(L, 1);
  return !for_now;
}

void clc_pushrow(lua_State *L, const clc_Device *d, const char *operation, const clc_Dtype *dtype) {
  clc_pushrowfor(L, d, operation, dtype, NO_WORK);
}

void clc_pushrowfor(lua_State *L, const clc_Device *d, const char *operation,
                    const clc_Dtype *dtype, double work) {
  luaL_checkstack(L, 10, NULL);
  clc_checkfork(L); /* what a device says of itself is asked of its driver */
  push_known(L, d);
  const char *key = lua_pushfstring(L, "%s %s", operation, dtype->name);
  if (lua_getfield(L, -2, key) == LUA_TNIL) {
    lua_pop(L, 1);
    ask(L, d, operation, dtype, work);
    if (is_final(L)) {
      lua_pushvalue(L, -1);
      lua_setfield(L, -4, key);
    }
  }
  lua_replace(L, -3);
  lua_pop(L, 1);
}

const char *clc_rowkernel(lua_State *L) {
  const char *kernel = lua_getfield(L, -1, "kernel") == LUA_TSTRING ? lua_tostring(L, -1) : "";
  lua_pop(L, 1); /* the row keeps it */
  return kernel;
}

static size_t read_number(lua_State *L, const char *name) {
  int is_number;
  lua_getfield(L, -1, name);
  const lua_Integer value = lua_tointegerx(L, -1, &is_number);
  if (!is_number || value < 0 || value > MOST)
    luaL_error(L, "tuning: number expected for '%s', got %s", name, luaL_tolstring(L, -1, NULL));
  lua_pop(L, 1);
  return (size_t)value;
}

void clc_readrow(lua_State *L, const clc_Field *fields, void *to) {
  for (const clc_Field *f = fields; f->name != NULL; f++)
    *(size_t *)((char *)to + f->offset) = read_number(L, f->name);
}

/* By hand, as a small product takes little longer than a few calls of snprintf. */
static void add_macro(luaL_Buffer *b, const char *name, size_t value) {
  char digits[21], *first = digits + sizeof digits;
  do *--first = (char)('0' + value % 10);
  while ((value /= 10) > 0);
  luaL_addstring(b, "#define ");
  luaL_addstring(b, name);
  luaL_addchar(b, ' ');
  luaL_addlstring(b, first, (size_t)(digits + sizeof digits - first));
  luaL_addchar(b, '\n');
}

const char *clc_pushmacros(lua_State *L, const clc_Field *fields, const void *row,
                           const clc_Macro *macros) {
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  for (const clc_Field *f = fields; f != NULL && f->name != NULL; f++)
    if (f->macro != NULL) add_macro(&b, f->macro, *(const size_t *)((const char *)row + f->offset));
  for (const clc_Macro *m = macros; m->name != NULL; m++) add_macro(&b, m->name, m->value);
  luaL_pushresult(&b);
  return lua_tostring(L, -1);
}

/* Forgets all answers: devices may be weak keys, for no answer refers to one. */
static int forget_tuning(lua_State *L) {
  lua_newtable(L);
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "k");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
  lua_setfield(L, LUA_REGISTRYINDEX, KNOWN);
  return 0;
}

void clc_openschedules(lua_State *L) {
  static const luaL_Reg functions[] = {{"forget_tuning", forget_tuning}, {NULL, NULL}};
  clc_addinternal(L, functions);
  forget_tuning(L);
}
