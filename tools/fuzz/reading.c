/* SPDX-License-Identifier: MIT */
/* Texts of sets and maps: what the analyses read of them is what isl reads. */
#include "poly/poly.h"

#include <isl/options.h>

#include "target.h"

/* isl's reader forgets words of what it does not understand. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
  return "detect_leaks=0";
}

#define BUDGET 20000 /* isl's operations to compare two sets */

static isl_ctx *silent_context(void) {
  isl_ctx *ctx = isl_ctx_alloc();
  isl_options_set_on_error(ctx, ISL_ON_ERROR_CONTINUE);
  return ctx;
}

/* A text that only isl's reader refuses was understood wrongly; isl_bool_error stands for a
   comparison beyond its budget. */
static void compare_sets(clc_Analysis *a, const char *text) {
  isl_set *ours = clc_toset(a, text), *theirs = isl_set_read_from_str(a->ctx, text);
  if (ours != NULL && theirs == NULL) abort();
  isl_ctx_set_max_operations(a->ctx, BUDGET);
  if (ours != NULL && isl_set_is_equal(ours, theirs) == isl_bool_false) abort();
  isl_set_free(ours);
  isl_set_free(theirs);
}

static void compare_maps(clc_Analysis *a, const char *text) {
  isl_map *ours = clc_tomap(a, text), *theirs = isl_map_read_from_str(a->ctx, text);
  if (ours != NULL && theirs == NULL) abort();
  isl_ctx_set_max_operations(a->ctx, BUDGET);
  if (ours != NULL && isl_map_is_equal(ours, theirs) == isl_bool_false) abort();
  isl_map_free(ours);
  isl_map_free(theirs);
}

static void compare(void (*f)(clc_Analysis *, const char *), const char *text) {
  clc_Analysis a = {.ctx = silent_context()};
  f(&a, text);
  for (int i = 0; i < a.parts; i++) isl_set_free(a.part[i].set);
  isl_ctx_reset_error(a.ctx);
  isl_ctx_free(a.ctx);
}

/* The text of an input: its beginning, then a byte from 128 on stands for a part of many texts. */
static const char *to_text(lua_State *L, const char *input) {
  static const char *const beginnings[] = {"", "[n, m] -> { S[i, j] : ", "[n] -> { [i] -> [j] : ",
                                           "[n, m] -> { S[i, j] -> A[i + 1, j - n] : "};
  static const char *const parts[] = {
      " and ", " or ",  "not (", "e = 2i", "(i + j)", "/2)",        " mod 2",    "i >= ",
      "n > j", "(",     ")",     "((",     "))",      "+",          "-",         "*",
      "true",  "false", "i",     "j",      "n",       "m",          "i != j",    "0 <= ",
      "<= ",   " < n",  "= ",    "3i",     "A[",      "]",          " -> ",      ", ",
      " }",    " : ",   "; ",    "min(",   "floor(",  "2147483647", "exists e: "};
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  const unsigned char *c = (const unsigned char *)input;
  if (*c != '\0') luaL_addstring(&b, beginnings[*c++ % 4]);
  for (; *c != '\0'; c++) {
    if (*c < 128)
      luaL_addchar(&b, (char)*c);
    else
      luaL_addstring(&b, parts[*c % (sizeof parts / sizeof parts[0])]);
  }
  luaL_pushresult(&b);
  return lua_tostring(L, -1);
}

static int read_text(lua_State *L) {
  const char *text = to_text(L, lua_tostring(L, 1));
  compare(compare_sets, text);
  compare(compare_maps, text);
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  target_call(target_state(), read_text, data, size);
  return 0;
}
