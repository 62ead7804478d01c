/* SPDX-License-Identifier: MIT */
/* Ranges: what a script asks for. Messages count dimensions from 0, as get_global_id does. */
#include "kernel.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

#define RANGE "clcompute.Range"

static const char *const keys[] = {"global", "group", "offset", "remainder", NULL};
static const char *const remainders[] = {"error", "split", "pad", "native", NULL};

static int has_key(lua_State *L, int idx, const char *key) {
  lua_pushstring(L, key);
  const int found = lua_rawget(L, idx) != LUA_TNIL;
  lua_pop(L, 1);
  return found;
}

/* A list is the value of a vector. */
static int is_range(lua_State *L, int idx) {
  return lua_type(L, idx) == LUA_TTABLE && !clc_isobject(L, idx) && lua_rawlen(L, idx) == 0;
}

const char *clc_rangehint(lua_State *L, int idx, const char *name) {
  for (const char *const *key = keys; *key != NULL; key++)
    if (name != NULL ? strcmp(name, *key) == 0 : is_range(L, idx) && has_key(L, idx, *key))
      return lua_pushfstring(L, "; %s belongs to the range: k({global = n, group = m}, ...)", *key);
  return "";
}

/* --- reading ----------------------------------------------------------- */

/* A list of `dims` sizes at the top of the stack, or one integer for one
   dimension; dims 0: as many as there are, which is returned. */
static cl_uint read_sizes(lua_State *L, int arg, const char *key, lua_Integer min, cl_uint dims,
                          size_t sizes[3]) {
  cl_uint n = 1;
  const int list = lua_istable(L, -1);
  if (list) {
    const size_t length = lua_rawlen(L, -1);
    if (length < 1 || length > 3)
      clc_optionerror(L, arg, key, "1 to 3 dimensions expected, got %I", (LUAI_UACINT)length);
    n = (cl_uint)length;
  }
  if (dims != 0 && n != dims)
    clc_optionerror(L, arg, key, "%d dimension%s expected, got %d", (int)dims, dims == 1 ? "" : "s",
                    (int)n);
  for (cl_uint i = 0; i < n; i++) {
    int ok;
    if (list)
      lua_rawgeti(L, -1, (lua_Integer)i + 1);
    else
      lua_pushvalue(L, -1);
    const lua_Integer size = lua_tointegerx(L, -1, &ok);
    if (!ok || lua_type(L, -1) != LUA_TNUMBER)
      clc_optionerror(L, arg, key, "dimension %d: integer expected, got %s", (int)i,
                      lua_istable(L, -1) ? "table; { global = {...}, group = {...} } has two lists"
                                         : luaL_tolstring(L, -1, NULL));
    if (size < min || size > INT_MAX)
      clc_optionerror(L, arg, key, "dimension %d: %I is outside %I .. %I", (int)i,
                      (LUAI_UACINT)size, (LUAI_UACINT)min, (LUAI_UACINT)INT_MAX);
    sizes[i] = (size_t)size;
    lua_pop(L, 1);
  }
  return n;
}

static void read_group(lua_State *L, int arg, clc_Range *r) {
  const int type = clc_pushoption(L, arg, "group");
  if (type == LUA_TSTRING && strcmp(lua_tostring(L, -1), "driver") == 0) {
    r->choice = CLC_DRIVER;
  } else if (type == LUA_TSTRING) {
    clc_optionerror(L, arg, "group", "sizes or \"driver\" expected, got \"%s\"",
                    lua_tostring(L, -1));
  } else if (type != LUA_TNIL) {
    read_sizes(L, arg, "group", 1, r->dims, r->group);
    r->choice = CLC_GIVEN;
  }
  lua_pop(L, 1);
}

static void read_record(lua_State *L, int arg, clc_Range *r) {
  if (clc_pushoption(L, arg, "local") != LUA_TNIL)
    clc_argerror(L, arg, "no option 'local'; write group = {...}");
  lua_pop(L, 1);
  clc_checkoptions(L, arg, keys);
  if (clc_pushoption(L, arg, "global") == LUA_TNIL)
    clc_argerror(L, arg, "range expected: n, {nx, ny} or {global=}, got a table without sizes");
  r->dims = read_sizes(L, arg, "global", 0, 0, r->global);
  lua_pop(L, 1);
  read_group(L, arg, r);
  if (clc_pushoption(L, arg, "offset") != LUA_TNIL)
    read_sizes(L, arg, "offset", 0, r->dims, r->offset);
  lua_pop(L, 1);
  r->remainder = (clc_Remainder)clc_enumoption(L, arg, "remainder", remainders, CLC_ERROR);
}

/* {64, group=16} is neither form: its group would be lost. */
static void check_list(lua_State *L, int arg) {
  lua_pushnil(L);
  while (lua_next(L, arg)) {
    if (lua_type(L, -2) != LUA_TNUMBER)
      clc_argerror(L, arg, "a list of sizes takes no '%s'; use {global={...}, ...}",
                   luaL_tolstring(L, -2, NULL));
    lua_pop(L, 1);
  }
}

static clc_Range read_range(lua_State *L, int arg) {
  clc_Range r = {1, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, CLC_AUTO, CLC_ERROR, 0};
  if (lua_istable(L, arg) && lua_rawlen(L, arg) == 0) {
    read_record(L, arg, &r);
    return r;
  }
  if (lua_isuserdata(L, arg))
    clc_argerror(L, arg,
                 "range expected first: n, {nx, ny} or {global=}; a kernel is called "
                 "with a dot, p.name(range, ...)");
  luaL_argexpected(L, lua_type(L, arg) == LUA_TNUMBER || lua_istable(L, arg), arg,
                   "range: n, {nx, ny} or {global=}");
  if (lua_istable(L, arg)) check_list(L, arg);
  lua_pushvalue(L, arg);
  r.dims = read_sizes(L, arg, "global", 0, 0, r.global);
  lua_pop(L, 1);
  return r;
}

/* --- prepared ranges --------------------------------------------------------- */

#define RANGE_MARK UINT64_C(0x72616e6765000000) /* this userdata is one */

typedef struct {
  uint64_t mark; /* a metatable alone can be set by `debug` */
  clc_Range range;
} Prepared;

static Prepared *test_prepared(lua_State *L, int idx) {
  Prepared *p = luaL_testudata(L, idx, RANGE);
  return p != NULL && lua_rawlen(L, idx) == sizeof *p && p->mark == RANGE_MARK ? p : NULL;
}

clc_Range clc_checkrange(lua_State *L, int arg) {
  const Prepared *p = test_prepared(L, arg);
  return p != NULL ? p->range : read_range(L, arg);
}

/* Raises what every launch would. */
static void check_remainder(lua_State *L, int arg, const clc_Range *r) {
  if (r->choice != CLC_GIVEN || r->remainder != CLC_ERROR || clc_isempty(r)) return;
  for (cl_uint i = 0; i < r->dims; i++)
    if (r->global[i] % r->group[i] != 0)
      clc_argerror(L, arg, CLC_NOMULTIPLE, (LUAI_UACINT)r->global[i], (LUAI_UACINT)r->group[i],
                   (int)i);
}

/* cl.range(range) */
static int clc_range(lua_State *L) {
  const clc_Range range = clc_checkrange(L, 1);
  check_remainder(L, 1, &range);
  Prepared *p = lua_newuserdatauv(L, sizeof *p, 0);
  *p = (Prepared){RANGE_MARK, range};
  luaL_setmetatable(L, RANGE);
  return 1;
}

/* cover(range, group, n, ...): sets a prepared range, which nobody else may have, to whole groups
   over n work-items of each dimension; `group` is their size in dimension 0. A table for each
   launch would take longer, to make and to read. */
int clc_coverrange(lua_State *L) {
  Prepared *p = test_prepared(L, 1);
  luaL_argexpected(L, p != NULL, 1, "prepared range");
  clc_Range *r = &p->range;
  const lua_Integer first = luaL_checkinteger(L, 2);
  luaL_argcheck(L, first > 0 && first <= INT_MAX, 2, "no size of a group");
  r->group[0] = (size_t)first;
  for (cl_uint i = 0; i < r->dims; i++) {
    const lua_Integer n = luaL_checkinteger(L, (int)i + 3), group = (lua_Integer)r->group[i];
    if (n < 0 || n > INT_MAX - group)
      luaL_error(L, "dimension %d: %I work-items are outside 0 .. %d", (int)i, (LUAI_UACINT)n,
                 INT_MAX);
    r->global[i] = (size_t)((n + group - 1) / group * group);
  }
  lua_settop(L, 1);
  return 1;
}

static int range_field(lua_State *L) {
  const Prepared *p = test_prepared(L, 1);
  const char *key = lua_tostring(L, 2);
  if (p == NULL || key == NULL) return 0;
  const clc_Range *r = &p->range;
  if (strcmp(key, "global") == 0)
    clc_pushextents(L, (int)r->dims, r->global);
  else if (strcmp(key, "offset") == 0)
    clc_pushextents(L, (int)r->dims, r->offset);
  else if (strcmp(key, "remainder") == 0)
    lua_pushstring(L, remainders[r->remainder]);
  else if (strcmp(key, "group") == 0 && r->choice == CLC_GIVEN)
    clc_pushextents(L, (int)r->dims, r->group);
  else if (strcmp(key, "group") == 0 && r->choice == CLC_DRIVER)
    lua_pushliteral(L, "driver");
  else if (strcmp(key, "group") == 0)
    lua_pushnil(L);
  else
    return luaL_error(L, "a range has no field '%s'", key);
  return 1;
}

static int range_assign(lua_State *L) {
  return luaL_error(L, "a range cannot be changed ('%s')", luaL_tolstring(L, 2, NULL));
}

static int range_show(lua_State *L) {
  const Prepared *p = test_prepared(L, 1);
  if (p == NULL) return luaL_typeerror(L, 1, "range");
  const clc_Range *r = &p->range;
  lua_pushliteral(L, "range ");
  clc_pushsizes(L, r->dims, r->global);
  if (r->choice == CLC_GIVEN) {
    lua_pushliteral(L, ", group ");
    clc_pushsizes(L, r->dims, r->group);
  } else {
    lua_pushstring(L, r->choice == CLC_DRIVER ? ", group \"driver\"" : "");
    lua_pushliteral(L, "");
  }
  lua_pushstring(L, r->offset[0] + r->offset[1] + r->offset[2] > 0 ? ", offset " : "");
  if (lua_rawlen(L, -1) > 0)
    clc_pushsizes(L, r->dims, r->offset);
  else
    lua_pushliteral(L, "");
  lua_pushfstring(L, r->remainder == CLC_ERROR ? "" : ", remainder \"%s\"",
                  remainders[r->remainder]);
  lua_concat(L, 7);
  return 1;
}

int clc_isempty(const clc_Range *r) {
  for (cl_uint i = 0; i < r->dims; i++)
    if (r->global[i] == 0) return 1;
  return 0;
}

const char *clc_pushsizes(lua_State *L, cl_uint dims, const size_t sizes[3]) {
  lua_pushfstring(L, "%I", (LUAI_UACINT)sizes[0]);
  for (cl_uint i = 1; i < dims; i++) {
    lua_pushfstring(L, "x%I", (LUAI_UACINT)sizes[i]);
    lua_concat(L, 2);
  }
  return lua_tostring(L, -1);
}

void clc_openranges(lua_State *L) {
  static const clc_Function functions[] = {{"range", clc_range, 1}, {NULL, NULL, 0}};
  static const luaL_Reg metamethods[] = {{"__index", range_field},
                                         {"__newindex", range_assign},
                                         {"__tostring", range_show},
                                         {NULL, NULL}};
  luaL_newmetatable(L, RANGE);
  luaL_setfuncs(L, metamethods, 0);
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_pop(L, 1);
  clc_setfunctions(L, functions);
}
