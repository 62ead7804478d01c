/* SPDX-License-Identifier: MIT */
/* When a nest of loops needs what an array held before it. */
#include "poly.h"

#include <isl/space.h>

typedef struct {
  const char *map, *schedule;
  int write;
} Access;

/* The union of the accesses of one sort, from times to elements. */
static isl_map *timed(clc_Analysis *a, const Access *access, size_t n, int write, isl_map *none) {
  isl_map *all = isl_map_copy(none);
  for (size_t i = 0; i < n; i++) {
    if (access[i].write != write) continue;
    isl_map *map = clc_tomap(a, access[i].map);
    isl_map *schedule = clc_tomap(a, access[i].schedule);
    all = isl_map_union(all, isl_map_apply_domain(map, schedule));
  }
  return all;
}

/* Parameters for which some element of the array is never written. */
static isl_set *left_out(isl_set *extent, isl_map *writes) {
  isl_set *written = isl_map_range(isl_map_copy(writes));
  return isl_set_params(isl_set_subtract(isl_set_copy(extent), written));
}

/* Parameters for which some element is read before it is first written. */
static isl_set *read_early(isl_map *reads, isl_map *writes) {
  isl_space *times = isl_space_domain(isl_map_get_space(writes));
  isl_map *earlier = isl_map_lex_gt(times);
  isl_map *written = isl_map_apply_range(earlier, isl_map_copy(writes));
  return isl_map_params(isl_map_subtract(isl_map_copy(reads), written));
}

/* Any access tells the spaces; where there is none, all of the array is left out. */
static isl_map *no_access(clc_Analysis *a, const Access *access) {
  isl_map *map = clc_tomap(a, access->map);
  isl_map *schedule = clc_tomap(a, access->schedule);
  isl_map *example = isl_map_apply_domain(map, schedule);
  return isl_map_subtract(isl_map_copy(example), example);
}

/* Whether parameters lie in a set wherever the array has elements. */
static int is_always(isl_set *set, isl_set *extent, isl_set *context) {
  isl_set *all = isl_set_intersect(isl_set_copy(context), isl_set_params(isl_set_copy(extent)));
  const isl_bool answer = isl_set_is_subset(all, set);
  isl_set_free(all);
  return answer == isl_bool_true;
}

/* What is read is looked at, which takes longest, where what is written does not tell already.
 * Without an extent no element has to be written. */
static char *condition(clc_Analysis *a, const Access *access, size_t n, isl_set *extent,
                       isl_set *context) {
  isl_map *none = no_access(a, access);
  isl_map *writes = timed(a, access, n, 1, none);
  isl_map *reads = timed(a, access, n, 0, none);
  isl_set *uncovered = extent != NULL ? left_out(extent, writes) : NULL;
  if (uncovered == NULL) {
    uncovered = read_early(reads, writes);
  } else if (is_always(uncovered, extent, context)) {
    isl_set_free(uncovered);
    uncovered = isl_set_universe(isl_set_get_space(context));
  } else {
    uncovered = isl_set_union(uncovered, read_early(reads, writes));
  }
  isl_map_free(none);
  isl_map_free(writes);
  isl_map_free(reads);
  return clc_tocondition(a, context, uncovered);
}

static Access *read_accesses(lua_State *L, size_t *n) {
  static const char *const keys[] = {"map", "schedule", "write", NULL};
  *n = clc_checklist(L, "accesses");
  if (*n == 0) luaL_error(L, "field 'accesses': at least one expected");
  Access *access = lua_newuserdatauv(L, *n * sizeof *access, 0);
  lua_pushvalue(L, -2);
  for (size_t i = 0; i < *n; i++) {
    clc_checkrow(L, i, keys);
    access[i].map = clc_checktext(L, "map");
    access[i].schedule = clc_checktext(L, "schedule");
    access[i].write = clc_toflag(L, "write");
    lua_pop(L, 1);
  }
  return access;
}

int clc_uncovered(lua_State *L) {
  static const char *const keys[] = {"accesses", "budget", "context", "extent", NULL};
  clc_Analysis a;
  size_t n;
  clc_checkinput(L, keys);
  const unsigned long budget = clc_optbudget(L);
  const char *given = clc_checktext(L, "context"), *all = clc_opttext(L, "extent");
  const Access *access = read_accesses(L, &n);
  clc_Texts *texts = clc_newtexts(L, 1);
  clc_begin(&a, budget);
  isl_set *context = clc_toset(&a, given), *extent = all != NULL ? clc_toset(&a, all) : NULL;
  if (clc_isfine(&a)) texts->text[0] = condition(&a, access, n, extent, context);
  isl_set_free(context);
  isl_set_free(extent);
  const int failed = clc_end(L, &a);
  if (failed) return failed;
  if (texts->text[0] != NULL)
    lua_pushstring(L, texts->text[0]);
  else
    lua_pushboolean(L, 0);
  return 1;
}
