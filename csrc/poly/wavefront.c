/* SPDX-License-Identifier: MIT */
/* An order of a sequential nest's passes in which many run side by side. */
#include "poly.h"

#include <isl/options.h>
#include <isl/schedule.h>
#include <isl/schedule_node.h>
#include <isl/space.h>
#include <isl/union_map.h>
#include <isl/union_set.h>
#include <string.h>

#define MAX_LOOPS 8
#define MAX_ACCESSES (1 << 20)
#define LARGEST 64 /* coefficient */
#define PASS "P"   /* the tuple of a pass of the nest */

typedef struct {
  const char *array, *text;
  isl_map *map; /* from passes of the nest to elements */
  int write;
} Access;

typedef struct {
  clc_Analysis analysis;
  Access *access;
  int accesses, loops;
  int counts_down[MAX_LOOPS];
  isl_set *passes;
  isl_map *dependences; /* from passes to later ones */
  int coefficient[MAX_LOOPS];
} Nest;

/* What inner loops touch, the pass of the nest touches. */
static void read_map(Nest *nest, Access *access) {
  const unsigned loops = (unsigned)nest->loops;
  isl_map *map = clc_tomap(&nest->analysis, access->text);
  if (map != NULL && isl_map_dim(map, isl_dim_in) < nest->loops)
    clc_fail(&nest->analysis, "an access has fewer dimensions than there are loops");
  else if (map != NULL)
    map =
        isl_map_project_out(map, isl_dim_in, loops, (unsigned)isl_map_dim(map, isl_dim_in) - loops);
  access->map = isl_map_set_tuple_name(map, isl_dim_in, PASS);
  isl_set *passes = isl_map_domain(isl_map_copy(access->map));
  nest->passes = nest->passes == NULL ? passes : isl_set_union(nest->passes, passes);
}

static void add_dependences(Nest *nest, isl_map *more) {
  nest->dependences = nest->dependences == NULL ? more : isl_map_union(nest->dependences, more);
}

/* Adds the pairs of passes that touch one element, the first pass being the earlier one. */
static void add_pairs(Nest *nest, const Access *from, const Access *to) {
  isl_map *pairs =
      isl_map_apply_range(isl_map_copy(from->map), isl_map_reverse(isl_map_copy(to->map)));
  for (int d = 0; d < nest->loops; d++) {
    isl_map *earlier = isl_map_copy(pairs);
    earlier = nest->counts_down[d] ? isl_map_order_gt(earlier, isl_dim_in, d, isl_dim_out, d)
                                   : isl_map_order_lt(earlier, isl_dim_in, d, isl_dim_out, d);
    add_dependences(nest, earlier);
    pairs = isl_map_equate(pairs, isl_dim_in, d, isl_dim_out, d);
  }
  isl_map_free(pairs);
}

static void find_dependences(Nest *nest) {
  for (int i = 0; i < nest->accesses; i++) read_map(nest, &nest->access[i]);
  for (int i = 0; i < nest->accesses; i++)
    for (int j = 0; j < nest->accesses && clc_isfine(&nest->analysis); j++) {
      const Access *from = &nest->access[i], *to = &nest->access[j];
      if (strcmp(from->array, to->array) == 0 && (from->write || to->write))
        add_pairs(nest, from, to);
    }
  for (int i = 0; i < nest->accesses; i++) isl_map_free(nest->access[i].map);
}

/* isl's schedule of the passes. Its first time carries what it can, that the rest be parallel. NULL
   where isl gives up, which is an error to it, but none of who asks. */
static isl_schedule *schedule_of(const Nest *nest) {
  isl_union_map *order = isl_union_map_from_map(isl_map_copy(nest->dependences));
  isl_schedule_constraints *constraints =
      isl_schedule_constraints_on_domain(isl_union_set_from_set(isl_set_copy(nest->passes)));
  constraints = isl_schedule_constraints_set_validity(constraints, isl_union_map_copy(order));
  constraints = isl_schedule_constraints_set_coincidence(constraints, isl_union_map_copy(order));
  constraints = isl_schedule_constraints_set_proximity(constraints, order);
  isl_options_set_schedule_outer_coincidence(nest->analysis.ctx, 1);
  isl_schedule *schedule = isl_schedule_constraints_compute_schedule(constraints);
  const enum isl_error error = isl_ctx_last_error(nest->analysis.ctx);
  if (schedule == NULL && error != isl_error_quota && error != isl_error_alloc)
    isl_ctx_reset_error(nest->analysis.ctx);
  return schedule;
}

/* The first time of a schedule's outermost band, as a function of the pass. */
static isl_aff *first_time(const Nest *nest, isl_schedule *schedule) {
  isl_schedule_node *root = isl_schedule_get_root(schedule);
  isl_schedule_node *node = isl_schedule_node_first_child(root);
  if (isl_schedule_node_get_type(node) != isl_schedule_node_band) {
    isl_schedule_node_free(node);
    return NULL;
  }
  isl_multi_union_pw_aff *band = isl_schedule_node_band_get_partial_schedule(node);
  isl_union_pw_aff *member = isl_multi_union_pw_aff_get_union_pw_aff(band, 0);
  isl_space *space = isl_space_from_domain(isl_set_get_space(nest->passes));
  space = isl_space_add_dims(space, isl_dim_out, 1);
  isl_pw_aff *time = isl_union_pw_aff_extract_pw_aff(member, space);
  time = isl_pw_aff_gist(time, isl_set_copy(nest->passes));
  isl_union_pw_aff_free(member);
  isl_multi_union_pw_aff_free(band);
  isl_schedule_node_free(node);
  if (isl_pw_aff_isa_aff(time) == isl_bool_true) return isl_pw_aff_as_aff(time);
  isl_pw_aff_free(time);
  return NULL;
}

/* Whether all coefficients of the nest's loops are small integers; they are kept then. */
static int read_coefficients(Nest *nest, isl_aff *time) {
  for (int d = 0; d < nest->loops; d++) {
    isl_val *value = isl_aff_get_coefficient_val(time, isl_dim_in, d);
    isl_val *size = isl_val_abs(isl_val_copy(value));
    const int is_small =
        isl_val_is_int(value) == isl_bool_true && isl_val_cmp_si(size, LARGEST) <= 0;
    if (is_small) nest->coefficient[d] = (int)isl_val_get_num_si(value);
    isl_val_free(value);
    isl_val_free(size);
    if (!is_small) return 0;
  }
  return 1;
}

/* Whether each pass is at an earlier time than all that depend on it. */
static int carries_all(const Nest *nest) {
  isl_space *space = isl_set_get_space(nest->passes);
  isl_aff *time = isl_aff_zero_on_domain(isl_local_space_from_space(space));
  for (int d = 0; d < nest->loops; d++)
    time = isl_aff_set_coefficient_si(time, isl_dim_in, d, nest->coefficient[d]);
  isl_map *at = isl_map_from_aff(time);
  isl_map *times = isl_map_apply_domain(isl_map_copy(nest->dependences), isl_map_copy(at));
  times = isl_map_order_ge(isl_map_apply_range(times, at), isl_dim_in, 0, isl_dim_out, 0);
  const isl_bool is_empty = isl_map_is_empty(times);
  isl_map_free(times);
  return is_empty == isl_bool_true;
}

static int find_wavefront(Nest *nest) {
  find_dependences(nest);
  if (!clc_isfine(&nest->analysis) || nest->dependences == NULL) return 0;
  isl_schedule *schedule = schedule_of(nest);
  isl_aff *time = schedule == NULL ? NULL : first_time(nest, schedule);
  isl_schedule_free(schedule);
  const int is_found = time != NULL && read_coefficients(nest, time) && carries_all(nest);
  isl_aff_free(time);
  return is_found;
}

static void read_accesses(lua_State *L, Nest *nest) {
  static const char *const keys[] = {"array", "map", "write", NULL};
  const size_t n = clc_checklist(L, "accesses");
  if (n > MAX_ACCESSES) luaL_error(L, "more than %d accesses", MAX_ACCESSES);
  nest->accesses = (int)n;
  nest->access = lua_newuserdatauv(L, n * sizeof *nest->access, 0);
  lua_insert(L, -2);
  for (size_t i = 0; i < n; i++) {
    clc_checkrow(L, i, keys);
    nest->access[i] = (Access){.array = clc_checktext(L, "array"),
                               .text = clc_checktext(L, "map"),
                               .write = clc_toflag(L, "write")};
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  lua_insert(L, -2);
}

static void read_loops(lua_State *L, Nest *nest) {
  const size_t n = clc_checklist(L, "steps");
  if (n < 1 || n > MAX_LOOPS) luaL_error(L, "1 to %d steps expected", MAX_LOOPS);
  nest->loops = (int)n;
  for (int d = 0; d < nest->loops; d++) {
    lua_rawgeti(L, -1, d + 1);
    const lua_Integer step = luaL_checkinteger(L, -1);
    if (step != 1 && step != -1) luaL_error(L, "a step must be 1 or -1");
    nest->counts_down[d] = step < 0;
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

int clc_wavefront(lua_State *L) {
  static const char *const keys[] = {"accesses", "budget", "steps", NULL};
  Nest nest = {0};
  clc_checkinput(L, keys);
  const unsigned long budget = clc_optbudget(L);
  read_loops(L, &nest);
  read_accesses(L, &nest);
  clc_begin(&nest.analysis, budget);
  const int is_found = find_wavefront(&nest);
  isl_set_free(nest.passes);
  isl_map_free(nest.dependences);
  const int failed = clc_end(L, &nest.analysis);
  if (failed) return failed;
  if (!is_found) {
    lua_pushboolean(L, 0);
    return 1;
  }
  lua_createtable(L, nest.loops, 0);
  for (int d = 0; d < nest.loops; d++) {
    lua_pushinteger(L, nest.coefficient[d]);
    lua_rawseti(L, -2, d + 1);
  }
  return 1;
}
