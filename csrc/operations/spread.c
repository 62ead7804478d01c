/* SPDX-License-Identifier: MIT */
/* Spreads: how an elementwise operation is spread over a device. */
#include "spread.h"

#include "tuning.h"

#define READ 1 /* where a row keeps what was read of it */

/* Reads the row at the top. */
static clc_Spread *read_row(lua_State *L) {
  clc_Spread *s = lua_newuserdatauv(L, sizeof *s, 0);
  lua_insert(L, -2);
  lua_getfield(L, -1, "kernel");
  s->kernel = luaL_checkstring(L, -1); /* the row keeps it */
  lua_pop(L, 1);
  s->group = (size_t)clc_tuned(L, "group");
  s->lanes = (size_t)clc_tuned(L, "lanes");
  s->granule = (size_t)clc_tuned(L, "granule");
  s->least = (size_t)clc_tuned(L, "least");
  s->most = (size_t)clc_tuned(L, "per_unit") * (size_t)clc_tuned(L, "units");
  s->ahead = (size_t)clc_tuned(L, "ahead");
  lua_insert(L, -2);
  lua_rawseti(L, -2, READ);
  return s;
}

const clc_Spread *clc_pushspread(lua_State *L, const clc_Device *d, const char *operation) {
  clc_pushtuning(L, d, operation, clc_float); /* it moves elements, whatever they are */
  lua_rawgeti(L, -1, READ);
  const clc_Spread *s = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return s != NULL ? s : read_row(L);
}

static size_t divide_up(size_t a, size_t b) {
  return (a + b - 1) / b;
}

clc_Share clc_share(const clc_Spread *s, size_t n) {
  clc_Share share = {s->lanes, 0, 0};
  if (s->granule > 0) {
    const size_t chunk = divide_up(n, s->most);
    share.chunk = divide_up(chunk > s->least ? chunk : s->least, s->granule) * s->granule;
  }
  share.workers = divide_up(n, share.chunk);
  share.items = s->granule > 0 ? share.workers * s->group : share.workers;
  return share;
}
