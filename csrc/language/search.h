/* SPDX-License-Identifier: MIT */
/* Search: what a part of a text reaches, by the functions and macros of the text. For this package
 * alone: source.c. */
#ifndef CLC_SEARCH_H
#define CLC_SEARCH_H

#include "language.h"

/* A function or a macro. */
typedef struct clc_Definition {
  clc_Span name, body;
  int visited;
} clc_Definition;

typedef struct clc_Search {
  clc_Definition *definitions;
  size_t n;
  const char *const *names;
  int unclear; /* bodies or calls were not all followed */
  int pastes;  /* one that was followed makes names out of words (##) */
} clc_Search;

/* A search in a text; leaves a block on the stack. */
clc_Search clc_newsearch(lua_State *L, const char *text, const char *const *names);

/* The first of the names that a part of the text reaches, NULL: none. */
const char *clc_searchspan(clc_Search *s, clc_Span span, const char *const names[]);

#endif
