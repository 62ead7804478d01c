/* SPDX-License-Identifier: MIT */
/* One analysis by isl: a context with a budget, and what went wrong in words. */
#include "poly.h"

#include <isl/ast_build.h> /* its options */
#include <isl/options.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXTS "clcompute.poly.Texts"

void clc_begin(clc_Analysis *a, unsigned long budget) {
  memset(a, 0, sizeof *a);
  a->ctx = isl_ctx_alloc();
  if (a->ctx == NULL) {
    a->error = isl_error_alloc;
    return;
  }
  isl_options_set_on_error(a->ctx, ISL_ON_ERROR_CONTINUE);
  /* Where isl 0.25 writes a floored quotient as a remainder, it can lose a parameter of it. */
  isl_options_set_ast_build_prefer_pdiv(a->ctx, 0);
  isl_ctx_set_max_operations(a->ctx, budget);
}

int clc_isfine(clc_Analysis *a) {
  if (a->ctx == NULL || a->error != isl_error_none) return 0;
  a->error = isl_ctx_last_error(a->ctx);
  if (a->error == isl_error_none) return 1;
  const char *words = isl_ctx_last_error_msg(a->ctx);
  if (a->error == isl_error_quota)
    snprintf(a->message, sizeof a->message, "%s",
             "the analysis takes more operations than its budget allows");
  else
    snprintf(a->message, sizeof a->message, "isl: %s", words != NULL ? words : "unknown error");
  return 0;
}

static void fail_as(clc_Analysis *a, enum isl_error error, const char *message) {
  if (!clc_isfine(a)) return;
  a->error = error;
  snprintf(a->message, sizeof a->message, "%s", message);
}

void clc_fail(clc_Analysis *a, const char *message) {
  fail_as(a, isl_error_unknown, message);
}

void clc_giveup(clc_Analysis *a, const char *message) {
  fail_as(a, isl_error_quota, message);
}

int clc_end(lua_State *L, clc_Analysis *a) {
  clc_isfine(a);
  for (int i = 0; i < a->parts; i++) isl_set_free(a->part[i].set);
  if (a->ctx != NULL) {
    isl_ctx_reset_error(a->ctx);
    isl_options_set_on_error(a->ctx, ISL_ON_ERROR_WARN); /* it says so when objects are left */
    isl_ctx_free(a->ctx);
  }
  switch (a->error) {
    case isl_error_none: return 0;
    case isl_error_quota:
      lua_pushnil(L);
      lua_pushstring(L, a->message);
      return 2;
    case isl_error_alloc: return luaL_error(L, "not enough memory");
    default: return luaL_error(L, "%s", a->message);
  }
}

clc_Texts *clc_newtexts(lua_State *L, size_t n) {
  clc_Texts *texts = lua_newuserdatauv(L, sizeof *texts + n * sizeof texts->text[0], 0);
  texts->n = n;
  for (size_t i = 0; i < n; i++) texts->text[i] = NULL;
  luaL_setmetatable(L, TEXTS);
  return texts;
}

static int texts_gc(lua_State *L) {
  clc_Texts *texts = luaL_checkudata(L, 1, TEXTS);
  for (size_t i = 0; i < texts->n; i++) {
    free(texts->text[i]);
    texts->text[i] = NULL;
  }
  return 0;
}

void clc_settext(lua_State *L, const char *key, const char *text) {
  lua_pushstring(L, text);
  lua_setfield(L, -2, key);
}

void clc_openanalysis(lua_State *L) {
  luaL_newmetatable(L, TEXTS);
  lua_pushcfunction(L, texts_gc);
  lua_setfield(L, -2, "__gc");
  lua_pop(L, 1);
}
