/* SPDX-License-Identifier: MIT */
/* Spreads: how an elementwise operation is spread over a device. */
#include "spread.h"

#include "operand.h"
#include "schedule.h"

#define READ 1 /* where a row keeps what was read of it */

static const clc_Field fields[] = {{"group", offsetof(clc_Spread, group), NULL},
                                   {"lanes", offsetof(clc_Spread, lanes), NULL},
                                   {"granule", offsetof(clc_Spread, granule), NULL},
                                   {"least", offsetof(clc_Spread, least), NULL},
                                   {"per_unit", offsetof(clc_Spread, most), NULL},
                                   {"ahead", offsetof(clc_Spread, ahead), NULL},
                                   {NULL, 0, NULL}};

/* Reads the row at the top. */
static clc_Spread *read_row(lua_State *L, const clc_Device *d) {
  clc_Spread *s = lua_newuserdatauv(L, sizeof *s, 0);
  lua_insert(L, -2);
  s->kernel = clc_rowkernel(L);
  clc_readrow(L, fields, s);
  s->most *= d->context->compute_units;
  lua_insert(L, -2);
  lua_rawseti(L, -2, READ);
  lua_newtable(L);
  lua_setfield(L, -2, CLC_KERNELS);
  return s;
}

const clc_Spread *clc_pushspread(lua_State *L, const clc_Device *d, const char *operation) {
  clc_pushrow(L, d, operation, clc_float); /* it moves elements, whatever they are */
  lua_rawgeti(L, -1, READ);
  const clc_Spread *s = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return s != NULL ? s : read_row(L, d);
}

clc_Share clc_share(const clc_Spread *s, size_t n) {
  clc_Share share = {s->lanes, 0, 0};
  if (s->granule > 0) {
    const size_t chunk = clc_parts(n, s->most);
    share.chunk = clc_roundup(chunk > s->least ? chunk : s->least, s->granule);
  }
  share.workers = clc_parts(n, share.chunk);
  share.items = s->granule > 0 ? share.workers * s->group : share.workers;
  return share;
}
