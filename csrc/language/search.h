/* SPDX-License-Identifier: MIT */
/* Search: what a part of a text reaches, by the functions and macros of the text (source.c). For
   this package alone. */
#ifndef CLC_SEARCH_H
#define CLC_SEARCH_H

#include "language.h"

/* A function or a macro. */
typedef struct clc_Definition {
  clc_Span name, body;
  int is_open; /* a macro used outside of bodies, which may write a function of any name; or a
                  function whose name a macro writes */
  int is_macro;
  int visited;
  size_t next; /* of those with the same hash: 1 + its place; 0: none */
} clc_Definition;

/* What of a text bars the way from a kernel to all that it calls. */
typedef struct clc_Facts {
  int unclear; /* branches of an #if open and close blocks unevenly */
  int renames; /* a function may be called by the name of its symbol */
} clc_Facts;

#define CLC_HASHES 256

typedef struct clc_Search {
  clc_Definition *definitions;
  size_t n;
  size_t first[CLC_HASHES]; /* definitions by the hashes of their names, as `next` */
  const char *const *names;
  clc_Facts facts;
  int pastes;     /* a body that was followed makes names out of words (##) */
  int calls_only; /* a function's name counts before a parenthesis alone: a variable may have it */
} clc_Search;

/* A search in a text; leaves a block on the stack. */
clc_Search clc_newsearch(lua_State *L, const char *text, const char *const *names);

/* The first of the names that a part of the text reaches by calls and macros, NULL: none. */
const char *clc_searchspan(clc_Search *s, clc_Span span, const char *const names[]);

#endif
