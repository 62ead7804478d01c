/* SPDX-License-Identifier: MIT */
/* The analyses of loop nests by isl, and what they share: a context with a budget, the argument,
   and Lua expressions. */
#ifndef CLC_POLY_H
#define CLC_POLY_H

#include <isl/aff.h>
#include <isl/map.h>
#include <isl/set.h>
#include <lauxlib.h>
#include <lua.h>

/* --- one analysis: a context with a budget, and what went wrong in words (analysis.c) --- */

#define CLC_PARTS 32

/* A part of a string. */
typedef struct {
  const char *start;
  size_t length;
} clc_Span;

/* A condition on the tuple of a string's beginning, and its set. */
typedef struct {
  clc_Span domain, conjunct;
  isl_set *set;
} clc_Part;

/*
 * Between clc_begin and clc_end nothing of Lua may be called: an error would jump over isl's
 * objects. So all strings are read before, results are kept in clc_Texts or other Lua memory,
 * and pushed after. isl's functions take NULL for "failed before" and return it.
 */
typedef struct {
  isl_ctx *ctx;
  int parts;
  clc_Part part[CLC_PARTS]; /* that were read (reading.c) */
  enum isl_error error;
  char message[400];
} clc_Analysis;

/* The budget is a number of isl's operations; 0 stands for no limit. */
void clc_begin(clc_Analysis *a, unsigned long budget);

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

/* --- sets and maps from strings (reading.c) --- */

/* The set or map that a string describes; NULL where isl does not understand it. */
isl_set *clc_toset(clc_Analysis *a, const char *text);
isl_map *clc_tomap(clc_Analysis *a, const char *text);

/* --- its argument: one table of strings, numbers and lists of such tables (input.c) --- */

/* Begins with argument 1 alone, a table whose keys are all in the NULL-terminated list. It stands
   on top of the stack; what is read from it stays alive until the call ends. */
void clc_checkinput(lua_State *L, const char *const keys[]);

/* A field of the table on top. */
const char *clc_checktext(lua_State *L, const char *key);
const char *clc_opttext(lua_State *L, const char *key); /* NULL where there is none */
lua_Integer clc_checknumber(lua_State *L, const char *key, lua_Integer min, lua_Integer max);
int clc_toflag(lua_State *L, const char *key);
unsigned long clc_optbudget(lua_State *L);

/* Pushes a list of the table on top, and returns its length. */
size_t clc_checklist(lua_State *L, const char *key);

/* Pushes row i (from 0) of the list on top: a table with keys of the NULL-terminated list. */
void clc_checkrow(lua_State *L, size_t i, const char *const keys[]);

/* --- conditions and values over parameters, written as Lua expressions (expression.c) --- */

/*
 * Both return a string to be freed, or NULL after a failure. The names in it are the parameters
 * of the set, and `max` and `min`, which stand for math.max and math.min. The context is what is
 * known of the parameters.
 */

/* The condition under which the parameters lie in a parameter set; NULL too where they never do
   within the context. */
char *clc_tocondition(clc_Analysis *a, isl_set *context, __isl_take isl_set *set);

/* A value, wherever it is defined. */
char *clc_tovalue(clc_Analysis *a, isl_set *context, __isl_take isl_pw_aff *value);

/* --- the functions of the module, a file each ------------------------------------- */

/* Which loops carry a dependence, and between which accesses. */
int clc_dependences(lua_State *L);

/* When accesses leave their array, and how far they go. */
int clc_extremes(lua_State *L);

/* Whether elements are touched by two sets of accesses. */
int clc_overlap(lua_State *L);

/* When a nest of loops needs what an array held before it. */
int clc_uncovered(lua_State *L);

/* An order of a sequential nest's passes in which many run side by side. */
int clc_wavefront(lua_State *L);

#endif
