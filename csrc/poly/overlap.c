/* SPDX-License-Identifier: MIT */
/* Whether elements are touched by two sets of accesses. */
#include "poly.h"

/* What accesses touch: read when it is first asked for, as many pairs name the same text. */
typedef struct {
  const char *text;
  isl_set *elements;
} Range;

typedef struct {
  Range *one, *other;
  const char *when; /* parameters, or NULL: all */
} Pair;

typedef struct {
  size_t n, ranges;
  Pair *pair;
  Range *range; /* two a pair are enough */
} Pairs;

static isl_set *elements_of(clc_Analysis *a, Range *range) {
  if (range->elements == NULL) range->elements = isl_map_range(clc_tomap(a, range->text));
  return isl_set_copy(range->elements);
}

/* For some parameters some element is in both ranges. */
static int overlaps(clc_Analysis *a, const Pair *pair) {
  isl_set *one = elements_of(a, pair->one);
  isl_set *both = isl_set_intersect(one, elements_of(a, pair->other));
  if (pair->when != NULL) both = isl_set_intersect_params(both, clc_toset(a, pair->when));
  const isl_bool is_empty = isl_set_is_empty(both);
  isl_set_free(both);
  return is_empty == isl_bool_false;
}

/* The range of a text of the row on top, below which a table maps texts to ranges. */
static Range *find_range(lua_State *L, Pairs *pairs, int known, const char *key) {
  const char *text = clc_checktext(L, key);
  lua_pushstring(L, text);
  lua_pushvalue(L, -1);
  lua_rawget(L, known);
  Range *range = lua_touserdata(L, -1);
  lua_pop(L, 1);
  if (range == NULL) {
    range = &pairs->range[pairs->ranges++];
    *range = (Range){text, NULL};
    lua_pushvalue(L, -1);
    lua_pushlightuserdata(L, range);
    lua_rawset(L, known);
  }
  lua_pop(L, 1);
  return range;
}

static Pairs read_pairs(lua_State *L) {
  static const char *const keys[] = {"one", "other", "when", NULL};
  Pairs pairs = {.n = clc_checklist(L, "pairs")};
  pairs.pair = lua_newuserdatauv(L, pairs.n * sizeof *pairs.pair, 0);
  pairs.range = lua_newuserdatauv(L, 2 * pairs.n * sizeof *pairs.range, 0);
  lua_newtable(L);
  const int known = lua_gettop(L);
  lua_pushvalue(L, known - 3);
  for (size_t i = 0; i < pairs.n; i++) {
    clc_checkrow(L, i, keys);
    pairs.pair[i].one = find_range(L, &pairs, known, "one");
    pairs.pair[i].other = find_range(L, &pairs, known, "other");
    pairs.pair[i].when = clc_opttext(L, "when");
    lua_pop(L, 1);
  }
  return pairs;
}

int clc_overlap(lua_State *L) {
  static const char *const keys[] = {"budget", "pairs", NULL};
  clc_Analysis a;
  size_t found = 0;
  clc_checkinput(L, keys);
  const unsigned long budget = clc_optbudget(L);
  Pairs pairs = read_pairs(L);
  clc_begin(&a, budget);
  for (size_t i = 0; found == 0 && i < pairs.n && clc_isfine(&a); i++)
    if (overlaps(&a, &pairs.pair[i])) found = i + 1;
  for (size_t i = 0; i < pairs.ranges; i++) isl_set_free(pairs.range[i].elements);
  const int failed = clc_end(L, &a);
  if (failed) return failed;
  if (found == 0)
    lua_pushboolean(L, 0);
  else
    lua_pushinteger(L, (lua_Integer)found);
  return 1;
}
