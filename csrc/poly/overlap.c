/* SPDX-License-Identifier: MIT */
/* Whether elements are touched by two sets of accesses. */
#include "poly.h"

typedef struct {
  const char *one, *other;
} Pair;

/* For some parameters some element is in both ranges. */
static int overlaps(clc_Analysis *a, const Pair *pair) {
  isl_set *one = isl_map_range(clc_tomap(a, pair->one));
  isl_set *other = isl_map_range(clc_tomap(a, pair->other));
  isl_set *both = isl_set_intersect(one, other);
  const isl_bool is_empty = isl_set_is_empty(both);
  isl_set_free(both);
  return is_empty == isl_bool_false;
}

static Pair *read_pairs(lua_State *L, size_t *n) {
  static const char *const keys[] = {"one", "other", NULL};
  *n = clc_checklist(L, "pairs");
  Pair *pair = lua_newuserdatauv(L, *n * sizeof *pair, 0);
  lua_pushvalue(L, -2);
  for (size_t i = 0; i < *n; i++) {
    clc_checkrow(L, i, keys);
    pair[i].one = clc_checktext(L, "one");
    pair[i].other = clc_checktext(L, "other");
    lua_pop(L, 1);
  }
  return pair;
}

int clc_overlap(lua_State *L) {
  static const char *const keys[] = {"budget", "pairs", NULL};
  clc_Analysis a;
  size_t n, found = 0;
  clc_checkinput(L, keys);
  const unsigned long budget = clc_optbudget(L);
  const Pair *pair = read_pairs(L, &n);
  clc_begin(&a, budget);
  for (size_t i = 0; found == 0 && i < n && clc_isfine(&a); i++)
    if (overlaps(&a, &pair[i])) found = i + 1;
  const int failed = clc_end(L, &a);
  if (failed) return failed;
  if (found == 0)
    lua_pushboolean(L, 0);
  else
    lua_pushinteger(L, (lua_Integer)found);
  return 1;
}
