/* SPDX-License-Identifier: MIT */
/* Elements of a buffer as text for a glance. */
#include "buffer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SHOWN 6 /* rows, and elements of each */

typedef char Cell[32]; /* an element as text */

/* What is shown of a buffer, as a matrix whose rows are those of the last dimension. */
typedef struct {
  size_t rows, cols; /* there are */
  size_t shown_rows, shown_cols;
  size_t matrix; /* rows of one matrix, of which more dimensions have several */
} Glance;

static Glance glance_at(const clc_Buffer *b) {
  const int n = b->shape.n;
  Glance g = {1, b->shape.dim[n - 1], 0, 0, 1};
  if (n > 1) {
    g.rows = g.cols == 0 ? 0 : b->count / g.cols;
    g.matrix = b->shape.dim[n - 2];
  }
  g.shown_rows = clc_smaller(g.rows, SHOWN);
  g.shown_cols = clc_smaller(g.cols, SHOWN);
  return g;
}

/* Floating types in 6 digits; the sign of a NaN says nothing. */
static void format_element(lua_State *L, const clc_Dtype *dtype, const void *element, Cell cell) {
  dtype->push(L, element);
  if (dtype->floating && isnan(lua_tonumber(L, -1)))
    strcpy(cell, "nan");
  else if (dtype->floating)
    snprintf(cell, sizeof(Cell), "%.6g", (double)lua_tonumber(L, -1));
  else
    snprintf(cell, sizeof(Cell), "%s", lua_tostring(L, -1));
  lua_pop(L, 1);
}

/* Reads and formats the shown elements, packed row by row. */
static void read_cells(lua_State *L, clc_Buffer *b, const Glance *g, Cell *cells) {
  const size_t n = g->shown_rows * g->shown_cols, size = b->dtype->size;
  char *elements = lua_newuserdatauv(L, n * size, 0);
  if (n > 0)
    clc_readbox(L, &(clc_Box){.buffer = b, .row = g->cols},
                &(clc_Extent){1, g->shown_rows, g->shown_cols}, elements);
  for (size_t i = 0; i < n; i++) format_element(L, b->dtype, elements + i * size, cells[i]);
  lua_pop(L, 1);
}

static void add_row(luaL_Buffer *text, const Glance *g, const Cell *row, const int *widths) {
  char padded[sizeof(Cell)];
  for (size_t i = 0; i < g->shown_cols; i++) {
    if (i > 0) luaL_addchar(text, ',');
    snprintf(padded, sizeof padded, "%*s", widths[i], row[i]);
    luaL_addchar(text, ' ');
    luaL_addstring(text, padded);
  }
  if (g->shown_cols < g->cols) luaL_addstring(text, ", ...");
}

/* The characters of the widest cell of each column. */
static void measure(const Glance *g, Cell *cells, int *widths) {
  for (size_t i = 0; i < g->shown_cols; i++) {
    widths[i] = 0;
    for (size_t r = 0; r < g->shown_rows; r++) {
      const int width = (int)strlen(cells[r * g->shown_cols + i]);
      if (width > widths[i]) widths[i] = width;
    }
  }
}

static void push_rows(lua_State *L, const clc_Buffer *b, const Glance *g, Cell *cells) {
  int widths[SHOWN];
  luaL_Buffer text;
  luaL_buffinit(L, &text);
  measure(g, cells, widths);
  for (size_t r = 0; r < g->shown_rows; r++) {
    if (b->shape.n > 1) luaL_addstring(&text, r > 0 && r % g->matrix == 0 ? "\n\n " : "\n ");
    add_row(&text, g, cells + r * g->shown_cols, widths);
  }
  if (g->shown_rows < g->rows) luaL_addstring(&text, "\n  ...");
  luaL_pushresult(&text);
}

void clc_pushelements(lua_State *L, int idx) {
  clc_Buffer *b = clc_checkbuffer(L, idx);
  const Glance g = glance_at(b);
  Cell cells[SHOWN * SHOWN];
  clc_usedevice(L, b->device);
  clc_settle(L, b->device);
  const clc_Flight *f = &b->device->flight;
  const clc_Failure *failure = clc_untoldfailure(f);
  if (failure != NULL) { /* left for the next call that may raise */
    lua_pushfstring(L, " (%s failed)", failure->what);
    return;
  }
  read_cells(L, b, &g, cells);
  push_rows(L, b, &g, cells);
}
