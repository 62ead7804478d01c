/* SPDX-License-Identifier: MIT */
/* Tall panels: what groups factor of a matrix that lies with several devices. */
#include "elimination.h"
#include "gauss.h"
#include "lu.h"

/* panel_room(buffer, rows, columns) --> rows and elements of a row that `panel` needs, zero behind
   the panel's own */
static int panel_room(lua_State *L) {
  const clc_Buffer *like = clc_checkreal(L, 1);
  const lua_Integer rows = luaL_checkinteger(L, 2), columns = luaL_checkinteger(L, 3);
  luaL_argcheck(L, columns > 0 && rows >= columns, 3, "at most as many columns as rows expected");
  lua_pushinteger(L, (lua_Integer)clc_paddedrows((size_t)rows));
  lua_pushinteger(L, (lua_Integer)clc_paddedrow((size_t)columns, like->dtype));
  return 2;
}

/* panel(w, rows, columns, pivots, diagonal): queues the elimination with partial pivoting of the
   first columns of w, which has that room. Row k was exchanged with row pivots[k], from 0. */
static int panel(lua_State *L) {
  clc_Buffer *w = clc_checkreal(L, 1);
  const size_t rows = (size_t)luaL_checkinteger(L, 2), columns = (size_t)luaL_checkinteger(L, 3);
  const clc_Elimination x = {.w = w,
                             .n = rows,
                             .ld = w->shape.dim[1],
                             .pivots = clc_checkbuffer(L, 4),
                             .diagonal = clc_checklike(L, 5, w)};
  luaL_argcheck(L,
                w->shape.n == 2 && w->shape.dim[0] >= clc_paddedrows(rows) && rows >= columns &&
                    x.ld >= clc_paddedrows(columns) && w->offset == 0,
                1, "no room of panel_room");
  luaL_argcheck(L, x.pivots->dtype == clc_int && x.pivots->count >= columns, 4, "too few places");
  luaL_argcheck(L, x.diagonal->count >= columns, 5, "too few places");
  const clc_LuRow row = clc_getlurow(L, w);
  (clc_panelistournament(&row, columns) ? clc_eliminatetournamentpanel : clc_eliminatepanel)(
      L, &x, columns, &row);
  return 0;
}

/* has_panel_rows(buffer, rows, columns) --> whether panel_rows serves a panel of so many columns,
   and so many columns right of it. */
static int has_panel_rows(lua_State *L) {
  const clc_LuRow row = clc_getlurow(L, clc_checkreal(L, 1));
  const lua_Integer rows = luaL_checkinteger(L, 2), columns = luaL_checkinteger(L, 3);
  lua_pushboolean(L, row.rows > 0 && (size_t)rows == row.block && columns > 0 && columns % 4 == 0);
  return 1;
}

/* panel_rows(w): rows of U, of a matrix of as many rows as a panel has columns, which has the
   panel's own rows in its first columns: solves with their unit lower triangle. */
static int panel_rows(lua_State *L) {
  clc_Buffer *w = clc_checkreal(L, 1);
  const clc_LuRow row = clc_getlurow(L, w);
  const size_t rows = w->shape.dim[0], end = w->shape.dim[1];
  luaL_argcheck(L,
                w->shape.n == 2 && row.rows > 0 && rows == row.block && end > rows &&
                    end % 4 == 0 && w->offset == 0,
                1, "has_panel_rows says no");
  clc_solvetournamentrows(L, &(clc_Elimination){.w = w, .n = rows, .ld = end}, end, &row);
  return 0;
}

/* substitute(w, n, is_lower, is_transposed, x): solves T X = B in place, with a triangle of w,
   which has the room of panel_room for n x n. */
static int substitute(lua_State *L) {
  clc_Buffer *w = clc_checkreal(L, 1);
  const size_t n = (size_t)luaL_checkinteger(L, 2);
  clc_Buffer *x = clc_checklike(L, 5, w);
  luaL_argcheck(L,
                w->shape.n == 2 && w->shape.dim[0] >= clc_paddedrows(n) &&
                    w->shape.dim[1] >= clc_paddedrow(n, w->dtype) && w->offset == 0,
                1, "no room of panel_room");
  luaL_argcheck(L, x->shape.n == 2 && x->shape.dim[0] == n && x->offset == 0, 5, "n rows expected");
  clc_substitute(L, w, n, lua_toboolean(L, 3), lua_toboolean(L, 4), x->shape.dim[1], x);
  return 0;
}

void clc_openpanels(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"panel", panel},           {"panel_room", panel_room}, {"has_panel_rows", has_panel_rows},
      {"panel_rows", panel_rows}, {"substitute", substitute}, {NULL, NULL}};
  clc_addinternal(L, functions);
}
