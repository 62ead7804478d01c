/* SPDX-License-Identifier: MIT */
/* What groups ask of ferries: rectangles of matrices that go to other devices, several at once. */
#include "ferry.h"

void clc_getpair(lua_State *L, int table, const char *key, size_t pair[2]) {
  lua_getfield(L, table, key);
  for (int k = 0; k < 2; k++) {
    lua_rawgeti(L, -1, k + 1);
    pair[k] = (size_t)lua_tointeger(L, -1);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

clc_Box clc_getbox(lua_State *L, int table, const char *buffer, const char *place) {
  size_t at[2];
  lua_getfield(L, table, buffer);
  clc_Buffer *b = clc_checkbuffer(L, -1);
  lua_pop(L, 1);
  clc_getpair(L, table, place, at);
  const size_t row = b->shape.dim[1];
  return (clc_Box){.buffer = b, .first = (at[0] - 1) * row + at[1] - 1, .row = row};
}

/* carry(moves[, is_ready]) --> what is under way, or nil: rectangles of matrices, each {source=,
   at=, target=, to_at=, size=}, none of which reads what another one writes. The caller has checked
   them. `is_ready`: await_free was called for all devices when targets were free; then all that
   goes to another context does so by a ferry, as a transfer that blocks would wait for what is
   queued. */
static int carry(lua_State *L) {
  const int count = (int)luaL_len(L, 1), is_ready = lua_toboolean(L, 2);
  lua_settop(L, 2);
  clc_Passage *list = lua_newuserdatauv(L, (size_t)(count + 1) * sizeof *list, 0);
  int n = 0;
  for (int i = 1; i <= count; i++) {
    size_t size[2];
    lua_rawgeti(L, 1, i);
    const int move = lua_gettop(L);
    clc_getpair(L, move, "size", size);
    clc_Passage p = {clc_getbox(L, move, "source", "at"),
                     clc_getbox(L, move, "target", "to_at"),
                     {1, size[0], size[1]}};
    lua_pop(L, 1);
    if (is_ready ? clc_isapart(&p) : clc_mustferry(&p))
      list[n++] = p;
    else
      clc_copybox(L, &p.from, &p.to, &p.e);
  }
  if (n == 0) return 0;
  clc_beginferry(L, list, n, is_ready);
  lua_pushvalue(L, 1);
  clc_setvalue(L, -2, 1); /* keeps the buffers */
  return 1;
}

/* arrive(what is under way): what is queued from now on comes after it. */
static int arrive(lua_State *L) {
  clc_completeferry(L, clc_checkhandle(L, 1, &clc_ferrytype));
  return 0;
}

/* await_free(device): what arrives there from now on does so behind what is queued until now. */
static int await_free(lua_State *L) {
  clc_Port *p = clc_pushport(L, clc_checkdevice(L, 1));
  clc_waitfordevice(L, p->device, p->in);
  return 0;
}

void clc_openferries(lua_State *L) {
  static const luaL_Reg internal[] = {
      {"carry", carry}, {"arrive", arrive}, {"await_free", await_free}, {NULL, NULL}};
  clc_openhidden(L, &clc_ferrytype);
  clc_addinternal(L, internal);
  clc_openports(L);
  clc_openmail(L);
}
