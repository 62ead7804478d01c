/* SPDX-License-Identifier: MIT */
/* Handles: the objects a script holds, and the list of all that are alive. */
#define _POSIX_C_SOURCE 200809L
#include "base.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#define BOX_MARK UINT64_C(0x636c636f6d707574) /* "clcomput": this userdata is ours */

typedef struct {
  clc_Handle list; /* sentinel of the ring of live handles */
  int closing;     /* its finalizer ran: the state is going away, and the nodes are gone */
} State;

typedef struct {
  uint64_t mark;
  const State *state;
  clc_Handle *node; /* NULL once collected */
} Box;

static const char state_key = 0;  /* its address is the key in the registry */
static const char values_key = 0; /* registry, weak keys: box -> list of values */

/* --- the process ------------------------------------------------------- */

/* The variables of the process, and about it: asking the kernel for its id at every use
   would cost a launch more than all else the library does for it. */
static atomic_int used; /* OpenCL was called, here or in a process that this one was forked from */
static int forked;      /* it was in such a process; drivers do not survive that */

static void note_fork(void) {
  forked = used;
}

__attribute__((constructor)) static void watch_process(void) {
  pthread_atfork(NULL, NULL, note_fork);
}

int clc_isforked(void) {
  return forked;
}

void clc_checkfork(lua_State *L) {
  atomic_store_explicit(&used, 1, memory_order_relaxed); /* by any thread */
  if (forked)
    luaL_error(L,
               "OpenCL was used before fork(): start a new process instead, drivers do not "
               "survive a fork");
}

/* --- nodes ------------------------------------------------------------- */

static void unlink_node(clc_Handle *h) {
  h->prev->next = h->next;
  h->next->prev = h->prev;
}

static void free_node(lua_State *L, clc_Handle *h) {
  void *ud;
  lua_Alloc alloc = lua_getallocf(L, &ud);
  clc_release(h);
  unlink_node(h);
  alloc(ud, h, h->size, 0);
}

static clc_Handle *new_node(lua_State *L, size_t size) {
  void *ud;
  lua_Alloc alloc = lua_getallocf(L, &ud);
  void *node = alloc(ud, NULL, 0, size);
  if (node == NULL) {
    lua_gc(L, LUA_GCCOLLECT);
    node = alloc(ud, NULL, 0, size);
    if (node == NULL) luaL_error(L, "not enough memory");
  }
  return memset(node, 0, size);
}

void clc_release(clc_Handle *h) {
  if (h->released) return;
  h->released = 1;
  if (!forked)
    h->type->release(h);
  else if (h->type->owns)
    clc_releaseowned(h);
}

void clc_releaseowned(clc_Handle *owner) {
  for (clc_Handle *h = owner->next; h != owner; h = h->next)
    if (h->owner == owner) {
      clc_release(h);
      h->owner = NULL;
    }
}

/* --- the state's list -------------------------------------------------- */

static State *get_state(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &state_key);
  State *state = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return state;
}

/* Made before every box, so Lua finalizes it after all of them: what is still
   in the list then has lost its finalizer. */
static int state_gc(lua_State *L) {
  State *state = lua_touserdata(L, 1);
  state->closing = 1;
  while (state->list.next != &state->list) free_node(L, state->list.next);
  return 0;
}

/* Upvalues: type, the Lua function. Checks the object as every C method does;
   the function may raise with level 3 to name the script's line. */
static int call_method(lua_State *L) {
  clc_checkhandle(L, 1, lua_touserdata(L, lua_upvalueindex(1)));
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

/* Internal: add_methods("Buffer", {save = f}) gives a type methods in Lua, since
   a script cannot reach the metatables. */
static int add_methods(lua_State *L) {
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_pushfstring(L, "clcompute.%s", luaL_checkstring(L, 1));
  luaL_argcheck(L, luaL_getmetatable(L, lua_tostring(L, -1)) == LUA_TTABLE, 1, "no such type");
  lua_getfield(L, -1, "type");
  lua_getfield(L, -2, "methods");
  for (lua_pushnil(L); lua_next(L, 2) != 0; lua_pop(L, 1)) {
    lua_pushvalue(L, -2); /* name */
    lua_pushvalue(L, -5); /* type */
    lua_pushvalue(L, -3); /* function */
    lua_pushcclosure(L, call_method, 2);
    lua_rawset(L, -5);
  }
  return 0;
}

void clc_pushweak(lua_State *L, const char *mode) {
  lua_newtable(L);
  lua_createtable(L, 0, 1);
  lua_pushstring(L, mode);
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
}

void clc_openhandles(lua_State *L) {
  static const luaL_Reg functions[] = {{"add_methods", add_methods}, {NULL, NULL}};
  clc_addinternal(L, functions);
  State *state = lua_newuserdatauv(L, sizeof *state, 0);
  memset(state, 0, sizeof *state);
  state->list.prev = state->list.next = &state->list;
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, state_gc);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &state_key);
  clc_pushweak(L, "k");
  lua_rawsetp(L, LUA_REGISTRYINDEX, &values_key);
}

clc_Handle *clc_nexthandle(lua_State *L, clc_Handle *h) {
  clc_Handle *list = &get_state(L)->list;
  clc_Handle *next = h == NULL ? list->next : h->next;
  return next == list ? NULL : next;
}

/* --- boxes ------------------------------------------------------------- */

static Box *to_box(lua_State *L, int idx) {
  if (lua_type(L, idx) != LUA_TUSERDATA || lua_rawlen(L, idx) != sizeof(Box)) return NULL;
  Box *box = lua_touserdata(L, idx);
  if (box->mark != BOX_MARK) return NULL;
  /* Made by a finalizer while the state closed, it has none of its own. */
  if (box->state->closing) box->node = NULL;
  return box;
}

static int box_gc(lua_State *L) {
  Box *box = to_box(L, 1);
  if (box != NULL && box->node != NULL) {
    free_node(L, box->node);
    box->node = NULL;
  }
  return 0;
}

/* Allocating runs finalizers, which may have closed the device. */
static void check_owner(lua_State *L, const clc_Handle *owner) {
  if (owner != NULL && owner->released) luaL_error(L, "%s is released", owner->type->name);
}

void *clc_newhandle(lua_State *L, const clc_Type *type, clc_Handle *owner, size_t extra) {
  State *state = get_state(L);
  if (state == NULL || state->closing)
    luaL_error(L, "cannot make a %s: the Lua state is closing", type->name);
  Box *box = lua_newuserdatauv(L, sizeof *box, 1);
  box->mark = BOX_MARK;
  box->state = state;
  box->node = NULL;
  lua_rawgetp(L, LUA_REGISTRYINDEX, type);
  lua_setmetatable(L, -2);
  check_owner(L, owner); /* before the owner itself could be collected */
  clc_Handle *h = new_node(L, type->size + extra);
  if (owner != NULL && owner->released) {
    void *ud;
    lua_Alloc alloc = lua_getallocf(L, &ud);
    alloc(ud, h, type->size + extra, 0);
    check_owner(L, owner);
  }
  h->type = type;
  h->size = type->size + extra;
  h->owner = owner;
  h->next = &state->list;
  h->prev = state->list.prev;
  h->prev->next = h->next->prev = h;
  return box->node = h;
}

/* --- values ------------------------------------------------------------ */

void clc_setvalue(lua_State *L, int idx, lua_Integer n) {
  idx = lua_absindex(L, idx);
  luaL_checkstack(L, 5, NULL);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &values_key);
  lua_pushvalue(L, idx);
  if (lua_rawget(L, -2) == LUA_TNIL) {
    lua_pop(L, 1);
    lua_createtable(L, 1, 0);
    lua_pushvalue(L, idx);
    lua_pushvalue(L, -2);
    lua_rawset(L, -4);
  }
  lua_rotate(L, -3, -1); /* the value last */
  lua_rawseti(L, -2, n);
  lua_pop(L, 2);
}

int clc_getvalue(lua_State *L, int idx, lua_Integer n) {
  idx = lua_absindex(L, idx);
  luaL_checkstack(L, 3, NULL);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &values_key);
  lua_pushvalue(L, idx);
  int type = lua_rawget(L, -2);
  if (type == LUA_TTABLE) {
    type = lua_rawgeti(L, -1, n);
    lua_remove(L, -2);
  }
  lua_remove(L, -2);
  return type;
}

/* --- types ------------------------------------------------------------- */

/* As luaL_testudata, but a pointer is found sooner than a name. */
static int has_metatable(lua_State *L, int idx, const clc_Type *type) {
  if (!lua_getmetatable(L, idx)) return 0;
  lua_rawgetp(L, LUA_REGISTRYINDEX, type);
  const int same = lua_rawequal(L, -1, -2);
  lua_pop(L, 2);
  return same;
}

/* Trusts neither the metatable nor the contents alone: `debug` can exchange
   the one, a foreign userdata can look like the other. */
static clc_Handle *test_node(lua_State *L, int idx, const clc_Type *type, int *mine) {
  Box *box = has_metatable(L, idx, type) ? to_box(L, idx) : NULL;
  *mine = box != NULL && (box->node == NULL || box->node->type == type);
  return *mine ? box->node : NULL;
}

void *clc_testhandle(lua_State *L, int idx, const clc_Type *type) {
  int mine;
  clc_Handle *h = test_node(L, idx, type, &mine);
  return h != NULL && !h->released ? h : NULL;
}

/* As luaL_typeerror, with the slip that is likely where the object itself is wrong. */
static void raise_type(lua_State *L, int arg, const clc_Type *type) {
  const int is_named = !clc_isobject(L, arg) && luaL_getmetafield(L, arg, "__name") == LUA_TSTRING;
  const char *got = is_named ? lua_tostring(L, -1) : clc_typename(L, arg);
  clc_argerror(L, arg, "%s expected, got %s%s", type->name, got,
               arg == 1 && clc_inmethod(L) ? "; a method is called with a colon" : "");
}

void *clc_tohandle(lua_State *L, int arg, const clc_Type *type) {
  int mine;
  clc_Handle *h = test_node(L, arg, type, &mine);
  if (!mine) raise_type(L, arg, type);
  return h;
}

void *clc_checkhandle(lua_State *L, int arg, const clc_Type *type) {
  clc_Handle *h = clc_tohandle(L, arg, type);
  if (h == NULL || h->released) {
    lua_pushfstring(L, "%s is released", type->name);
    luaL_argerror(L, arg, lua_tostring(L, -1));
  }
  return h;
}

/* Upvalue: type. */
static int box_close(lua_State *L) {
  clc_Handle *h = clc_tohandle(L, 1, lua_touserdata(L, lua_upvalueindex(1)));
  if (h != NULL) clc_release(h);
  lua_settop(L, 1);
  return 1;
}

static int box_release(lua_State *L) {
  clc_checkcount(L, "release", 0, 1);
  return box_close(L);
}

/* --- metatables -------------------------------------------------------- */

/* Pushes what may be meant by the key at index 2, in words, or "". Upvalues as below. */
static const char *push_suggestion(lua_State *L, const clc_Type *type) {
  if (clc_getinternal(L, "suggestion") != LUA_TFUNCTION) return "";
  lua_pushvalue(L, 2);
  lua_pushstring(L, type->name);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_pushvalue(L, lua_upvalueindex(4));
  lua_call(L, 4, 1);
  return lua_tostring(L, -1);
}

static const char *article(const clc_Type *type) {
  return strchr("aei", *type->name) != NULL ? "an" : "a";
}

/* Upvalues: methods, type, field, names of fields. A method, else a field, else an error. */
static int box_index(lua_State *L) {
  lua_settop(L, 2);
  lua_pushvalue(L, 2);
  if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) return 1;
  lua_settop(L, 2);
  const clc_Type *type = lua_touserdata(L, lua_upvalueindex(2));
  lua_CFunction field = lua_tocfunction(L, lua_upvalueindex(3));
  int mine;
  clc_Handle *h = test_node(L, 1, type, &mine);
  if (!mine) return luaL_typeerror(L, 1, type->name);
  if (h == NULL || h->released) return luaL_error(L, "%s is released", type->name);
  if (field(L)) return 1;
  return luaL_error(L, "%s %s has no field '%s'%s", article(type), type->name,
                    luaL_tolstring(L, 2, NULL), push_suggestion(L, type));
}

/* Upvalues: type, show. Never raises. */
static int box_tostring(lua_State *L) {
  const clc_Type *type = lua_touserdata(L, lua_upvalueindex(1));
  lua_settop(L, 1);
  if (clc_testhandle(L, 1, type) == NULL) {
    lua_pushfstring(L, "%s (released)", type->name);
    return 1;
  }
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_insert(L, 1);
  if (lua_pcall(L, 1, 1, 0) != LUA_OK) {
    const char *message = luaL_tolstring(L, -1, NULL);
    if (strstr(message, "interrupted!") != NULL) return lua_error(L); /* Ctrl-C, not a fault */
    lua_pushfstring(L, "%s (%s)", type->name, message);
  }
  return 1;
}

static int box_newindex(lua_State *L) {
  const clc_Type *type = lua_touserdata(L, lua_upvalueindex(1));
  return luaL_error(L, "cannot set field '%s' of %s %s", luaL_tolstring(L, 2, NULL), article(type),
                    type->name);
}

/* Pushes the metatable of a type, which frees its boxes. */
static void new_metatable(lua_State *L, const clc_Type *type) {
  luaL_newmetatable(L, type->tname);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, type);
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_pushcfunction(L, box_gc);
  lua_setfield(L, -2, "__gc");
}

void clc_openhidden(lua_State *L, const clc_Type *type) {
  new_metatable(L, type);
  lua_pop(L, 1);
}

void clc_opentype(lua_State *L, const clc_Type *type, lua_CFunction field, const char *fields,
                  lua_CFunction show, const clc_Function *methods, const luaL_Reg *metamethods) {
  new_metatable(L, type);
  lua_pushlightuserdata(L, (void *)type);
  lua_pushcfunction(L, show);
  lua_pushcclosure(L, box_tostring, 2);
  lua_setfield(L, -2, "__tostring");
  lua_pushlightuserdata(L, (void *)type);
  lua_pushcclosure(L, box_newindex, 1);
  lua_setfield(L, -2, "__newindex");
  lua_newtable(L);
  clc_setmethods(L, methods);
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, "methods");
  lua_pushlightuserdata(L, (void *)type);
  lua_setfield(L, -3, "type");
  lua_pushlightuserdata(L, (void *)type);
  lua_pushcfunction(L, field);
  lua_pushstring(L, fields);
  lua_pushcclosure(L, box_index, 4);
  lua_setfield(L, -2, "__index");
  luaL_setfuncs(L, metamethods, 0);
  lua_pop(L, 1);
}

void clc_addrelease(lua_State *L, const clc_Type *type) {
  luaL_getmetatable(L, type->tname);
  lua_pushlightuserdata(L, (void *)type);
  lua_pushcclosure(L, box_close, 1);
  lua_setfield(L, -2, "__close");
  lua_getfield(L, -1, "methods");
  lua_pushlightuserdata(L, (void *)type);
  lua_pushcclosure(L, box_release, 1);
  lua_setfield(L, -2, "release");
  lua_pop(L, 2);
}

void clc_addmethods(lua_State *L, const clc_Type *type, const clc_Function *methods) {
  luaL_getmetatable(L, type->tname);
  lua_getfield(L, -1, "methods");
  clc_setmethods(L, methods);
  lua_pop(L, 2);
}
