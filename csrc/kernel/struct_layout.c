/* SPDX-License-Identifier: MIT */
/* The layout of structs, which OpenCL C fixes: each member at a multiple of its own size. And the
   sizes of enumerations, which it does not. */
#include "kernel.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define DEEPEST 8 /* structs in structs */

typedef struct {
  size_t size, align;
} Layout;

static int lay_out(lua_State *L, const char *text, const char *type, int depth, Layout *layout);

/* The layout of a type; returns 0 where it is not known. */
static int read_type(lua_State *L, const char *text, clc_Span words, int depth, Layout *layout) {
  char type[CLC_NAME];
  int width;
  if (words.end == words.start) return 0;
  clc_shorten(type, lua_pushlstring(L, words.start, (size_t)(words.end - words.start)));
  lua_pop(L, 1);
  const clc_Dtype *dtype = clc_resolvetype(L, text, type, &width);
  if (dtype == NULL) return lay_out(L, text, type, depth + 1, layout);
  layout->size = layout->align = (size_t)(width == 3 ? 4 : width) * dtype->size;
  return 1;
}

/* Reads `[n]...` at the token t; *n: elements. Returns 0 for anything but numbers. */
static int read_extents(const char **p, const char *end, clc_Span *t, size_t *n) {
  for (*n = 1; *t->start == '[';) {
    if (!clc_nexttoken(p, end, t) || !isdigit((unsigned char)*t->start)) return 0;
    char *rest;
    const unsigned long extent = strtoul(t->start, &rest, 10);
    if (rest != t->end || extent == 0 || extent > 1 << 16 || *t->start == '0') return 0;
    *n *= extent;
    if (!clc_nexttoken(p, end, t) || *t->start != ']' || !clc_nexttoken(p, end, t)) return 0;
  }
  return 1;
}

static void add(Layout *sum, const Layout *member, size_t n) {
  sum->size = (sum->size + member->align - 1) / member->align * member->align + n * member->size;
  if (member->align > sum->align) sum->align = member->align;
}

/* Reads `type a, b[n], ...;` */
static int read_member(lua_State *L, const char *text, const char **p, clc_Span *t, const char *end,
                       int depth, Layout *sum) {
  clc_Span type = {t->start, t->start}, word = *t;
  Layout member;
  size_t n;
  int words = 0;
  for (; clc_isword(*t); words++) {
    if (clc_ismacro(text, *t)) return 0;
    type.end = words > 0 ? word.end : type.start; /* the last word is the name */
    word = *t;
    if (!clc_nexttoken(p, end, t)) return 0;
  }
  if (words < 2 || !read_type(L, text, type, depth, &member)) return 0;
  while (read_extents(p, end, t, &n)) {
    add(sum, &member, n);
    if (*t->start == ';') return 1;
    if (*t->start != ',' || !clc_nexttoken(p, end, t) || !clc_isword(*t) || clc_ismacro(text, *t) ||
        !clc_nexttoken(p, end, t))
      return 0;
  }
  return 0;
}

static int lay_out(lua_State *L, const char *text, const char *type, int depth, Layout *layout) {
  const clc_Span body = clc_structbody(text, clc_pushtype(L, text, type));
  const char *p = body.start;
  clc_Span t;
  lua_pop(L, 1);
  *layout = (Layout){0, 1};
  if (p == NULL || depth > DEEPEST) return 0;
  while (clc_nexttoken(&p, body.end, &t))
    if (!read_member(L, text, &p, &t, body.end, depth, layout)) return 0;
  layout->size = (layout->size + layout->align - 1) / layout->align * layout->align;
  return layout->size > 0;
}

size_t clc_structsize(lua_State *L, const char *text, const char *type) {
  Layout layout;
  return lay_out(L, text, type, 0, &layout) ? layout.size : 0;
}

/* --- enumerations -------------------------------------------------------- */

/* Whether a number is far from the ends of an int. */
static int is_small(clc_Span number) {
  const size_t length = (size_t)(number.end - number.start);
  return length <= 8 && strspn(number.start, "0123456789abcdefABCDEFxX") >= length;
}

static int may_be_int(const char *text, clc_Span t) {
  if (clc_isword(t)) return !clc_ismacro(text, t);
  return isdigit((unsigned char)*t.start) ? is_small(t) : strchr(",=-", *t.start) != NULL;
}

/* Reads the enumerators behind `{`. Returns whether they are names, small numbers and names of
   others, with nothing behind them that may change their type. */
static int has_ints(const char *text, const char **p, const char *end) {
  clc_Span t;
  while (clc_nexttoken(p, end, &t) && *t.start != '}')
    if (!may_be_int(text, t)) return 0;
  return clc_nexttoken(p, end, &t) && !clc_isthe(t, "__attribute__");
}

/* Whether what stands behind `enum` is one of ints, or declares none. A macro may end with it. */
static int is_of_ints(const char *text, const char **p, const char *end) {
  const char *line = clc_lineend(*p);
  clc_Span t;
  if (!clc_nexttoken(p, line, &t) || clc_isthe(t, "__attribute__")) return 0;
  if (clc_isword(t) && !clc_nexttoken(p, end, &t)) return 0;
  if (*t.start == '{') return has_ints(text, p, end);
  return clc_isword(t) || strchr("*,;()", *t.start) != NULL;
}

size_t clc_enumsize(const char *text) {
  const char *p = text, *end = text + strlen(text);
  clc_Span t;
  while (clc_nexttoken(&p, end, &t))
    if (clc_isthe(t, "enum") && !is_of_ints(text, &p, end)) return 0;
  return sizeof(cl_int);
}
