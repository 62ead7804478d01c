/* SPDX-License-Identifier: MIT */
/*
 * Deferred buffers: expressions are computed when something asks for their elements, and before
 * something else writes to memory that they are computed from.
 */
#include "term.h"

static const char boxes_key = 0; /* registry, weak values: buffer -> its object */

void clc_enddeferral(clc_Buffer *b) {
  *b->deferred = b->next_deferred;
  if (b->next_deferred != NULL) b->next_deferred->deferred = b->deferred;
  clc_dropterm(b->term);
  b->term = NULL;
}

/* Gives a buffer, and its term for what else is made of it, the memory of another one. */
static void adopt(lua_State *L, clc_Buffer *b, clc_Buffer *of) {
  clc_check(L, clc_sharememory(b, of), "clRetainMemObject");
  b->offset = of->offset;
  b->poison = of->poison;
  const cl_int code = b->term->refs > 1 ? clc_becomeleaf(b->term, b, b->device) : CL_SUCCESS;
  clc_enddeferral(b);
  clc_check(L, code, "clRetainMemObject");
}

/* The term whose elements are computed: a copy, since a finalizer may meanwhile release the buffer
   that waits, or its device, or compute it or a part of it, whose term is then memory. */
typedef struct {
  clc_Handle h;
  clc_Term *term;
} Keeper;

static void keeper_release(clc_Handle *h) {
  clc_dropterm(((Keeper *)h)->term);
}

static const clc_Type keeper_type = {
    "expression", "clcompute.Expression", sizeof(Keeper), keeper_release, 0, NULL};

/* What a buffer waits for: NULL where it waits no more. */
static Keeper *push_keeper(lua_State *L, const clc_Buffer *b) {
  Keeper *keeper = clc_newhandle(L, &keeper_type, NULL, 0);
  if (b->term != NULL) clc_copyterm(L, b->term, &keeper->term);
  return keeper;
}

static void check_kept(lua_State *L, const clc_Buffer *b) {
  if (b->h.released) luaL_error(L, "buffer is released");
}

void clc_compute(lua_State *L, clc_Buffer *b) {
  const int top = lua_gettop(L);
  if (b->term == NULL) return;
  luaL_checkstack(L, 10, NULL);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &boxes_key);
  lua_rawgetp(L, -1, b); /* keeps it */
  clc_pushdevice(L, b->device);
  Keeper *keeper = push_keeper(L, b);
  clc_Buffer *out = clc_newguarded(L, b->device, b->dtype, &b->shape);
  /* What runs meanwhile may compute it too. */
  if (b->term != NULL) clc_evaluate(L, keeper->term, &b->shape, lua_gettop(L));
  clc_release(&keeper->h);
  check_kept(L, b);
  if (b->device->context->queues > 1) { /* others do not wait for this one */
    clc_settle(L, b->device);
    check_kept(L, b);
  }
  if (b->term != NULL) adopt(L, b, out);
  clc_release(&out->h);
  lua_settop(L, top);
}

/* An expression that waits, of this memory (NULL: any). */
static clc_Buffer *find_deferred(const clc_Context *c, cl_mem mem) {
  clc_Buffer *b = c->deferred;
  while (b != NULL && mem != NULL && !clc_usesmemory(b->term, mem)) b = b->next_deferred;
  return b;
}

static void compute_deferred(lua_State *L, clc_Context *c, cl_mem mem) {
  clc_Buffer *b;
  while ((b = find_deferred(c, mem)) != NULL) {
    luaL_checkstack(L, 5, NULL);
    clc_pushdevice(L, b->device); /* keeps it */
    lua_rawgetp(L, LUA_REGISTRYINDEX, &boxes_key);
    if (lua_rawgetp(L, -1, b) == LUA_TNIL)
      clc_release(&b->h); /* nobody has it any more, but a finalizer for a while */
    else
      clc_compute(L, b);
    lua_pop(L, 3);
  }
}

void clc_begindeferral(clc_Buffer *b) {
  clc_Context *c = b->device->context;
  b->next_deferred = c->deferred;
  b->deferred = &c->deferred;
  if (c->deferred != NULL) c->deferred->deferred = &b->next_deferred;
  c->deferred = b;
  c->compute = compute_deferred;
}

void clc_keepdeferred(lua_State *L, const clc_Buffer *made) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &boxes_key);
  lua_pushvalue(L, -2);
  lua_rawsetp(L, -2, made);
  lua_pop(L, 1);
}

static int buffer_eval(lua_State *L) {
  clc_checkbuffer(L, 1);
  return 1;
}

/* expression(buffer) --> dtype, elements, device, text, how many buffers and what else
   clc_pushexpression pushes, of one that waits and whose operands lie as its elements do: for who
   computes these without storing them. nil where that does not pay: who asks twice is to have them
   stored; nor for half, whose stored elements have fewer digits. */
static int expression(lua_State *L) {
  clc_Buffer *b = clc_testhandle(L, 1, &clc_buffertype);
  if (b == NULL) return 0; /* released */
  const int is_half = b->dtype->floating && b->dtype->size < clc_float->size;
  if (b->term == NULL || b->is_reduced || is_half) return 0;
  b->is_reduced = 1;
  Keeper *keeper = push_keeper(L, b);
  if (keeper->term == NULL) return 0;
  lua_pushstring(L, b->dtype->name);
  lua_pushinteger(L, (lua_Integer)b->count);
  clc_pushdevice(L, b->device);
  const int text = lua_gettop(L) + 1, n = clc_pushexpression(L, keeper->term, &b->shape);
  clc_release(&keeper->h);
  if (!lua_isnil(L, text + 1)) return 0;
  lua_remove(L, text + 1);
  return 3 + n - 1;
}

/* is_deferred(buffer) --> whether nothing has computed the elements yet. */
static int is_deferred(lua_State *L) {
  const clc_Buffer *b = clc_testhandle(L, 1, &clc_buffertype);
  lua_pushboolean(L, b != NULL && b->term != NULL);
  return 1;
}

void clc_opendeferred(lua_State *L) {
  static const luaL_Reg internal[] = {
      {"expression", expression}, {"is_deferred", is_deferred}, {NULL, NULL}};
  static const clc_Function methods[] = {{"eval", buffer_eval, 0}, {NULL, NULL, 0}};
  clc_addmethods(L, &clc_buffertype, methods);
  clc_openhidden(L, &keeper_type);
  clc_addinternal(L, internal);
  clc_pushweak(L, "v");
  lua_rawsetp(L, LUA_REGISTRYINDEX, &boxes_key);
}
