/* SPDX-License-Identifier: MIT */
/* One analysis by isl: a context with a budget, and what went wrong in words. */
#ifndef CLC_POLY_ANALYSIS_H
#define CLC_POLY_ANALYSIS_H

#include <isl/map.h>
#include <isl/set.h>
#include <lauxlib.h>
#include <lua.h>

/*
 * Between clc_begin and clc_end nothing of Lua may be called: an error would jump over isl's
 * objects. So all strings are read before, results are kept in clc_Texts or other Lua memory,
 * and pushed after. isl's functions take NULL for "failed before" and return it.
 */
typedef struct {
  isl_ctx *ctx;
  enum isl_error error;
  char message[400];
} clc_Analysis;

/* The budget is a number of isl's operations; 0 stands for no limit. */
void clc_begin(clc_Analysis *a, unsigned long budget);

/* The set or map that a string describes; NULL where isl does not understand it. */
isl_set *clc_toset(clc_Analysis *a, const char *text);
isl_map *clc_tomap(clc_Analysis *a, const char *text);

/* States a failure of our own; the first one counts. */
void clc_fail(clc_Analysis *a, const char *message);

/* States that the analysis is beyond what is supported, which is no mistake of the caller. */
void clc_giveup(clc_Analysis *a, const char *message);

/* Whether to go on: nothing has failed so far. */
int clc_isfine(clc_Analysis *a);

/* Frees the context; all objects must have been freed. Returns 0 where all went well. Where the
   budget was exceeded or clc_giveup called, pushes nil and a message, and returns 2. All else is
   raised. */
int clc_end(lua_State *L, clc_Analysis *a);

/* Strings that isl made, freed by the collector. */
typedef struct {
  size_t n;
  char *text[];
} clc_Texts;

/* Pushes room for n strings, all NULL. */
clc_Texts *clc_newtexts(lua_State *L, size_t n);

/* Pushes a string, or nil for NULL, as field `key` of the table on top. */
void clc_settext(lua_State *L, const char *key, const char *text);

void clc_openanalysis(lua_State *L);

#endif
