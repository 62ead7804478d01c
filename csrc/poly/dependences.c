/* SPDX-License-Identifier: MIT */
/* Which loops carry a dependence, and between which accesses. */
#include "poly.h"

#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 200          /* as deep as Lua's own compiler goes */
#define MAX_EXAMPLES (1 << 20) /* loops times accesses */

typedef enum { FLOW, ANTI, OUTPUT, KINDS } Kind;

static const char *const kind_names[KINDS] = {"flow", "anti", "output"};

typedef struct {
  const char *text;
  isl_map *map;
  int array; /* index of the first access to the same array */
  int write;
  int depth;
  int loop[MAX_DEPTH]; /* numbers from 1, outermost first; negative where it counts down */
} Access;

/* One example a loop, array and kind: positions of accesses from 1; from == 0 is none. */
typedef struct {
  int from, to;
} Example;

typedef struct {
  clc_Analysis analysis;
  Access *access;
  int accesses, loops;
  Example *example;
} Nest;

static Example *example_of(const Nest *nest, int loop, int array, Kind kind) {
  return &nest->example[((abs(loop) - 1) * nest->accesses + array) * KINDS + (int)kind];
}

/* Loops that hold both accesses. */
static int common_depth(const Access *a, const Access *b) {
  int depth = 0;
  while (depth < a->depth && depth < b->depth && a->loop[depth] == b->loop[depth]) depth++;
  return depth;
}

static int has_all(const Nest *nest, const Access *from, int depth, Kind kind) {
  for (int d = 0; d < depth; d++)
    if (example_of(nest, from->loop[d], from->array, kind)->from == 0) return 0;
  return 1;
}

/* Whether some pair of iterations touches one element, the first in an earlier pass of loop d. */
static int carries(isl_map *conflict, const Access *from, int d) {
  isl_map *ordered = isl_map_copy(conflict);
  ordered = from->loop[d] < 0 ? isl_map_order_gt(ordered, isl_dim_in, d, isl_dim_out, d)
                              : isl_map_order_lt(ordered, isl_dim_in, d, isl_dim_out, d);
  const isl_bool empty = isl_map_is_empty(ordered);
  isl_map_free(ordered);
  return empty == isl_bool_false;
}

/* Loop by loop, outermost first, with the outer loops in the same pass. */
static void find_carried(Nest *nest, int i, int j) {
  const Access *from = &nest->access[i], *to = &nest->access[j];
  const Kind kind = !from->write ? ANTI : to->write ? OUTPUT : FLOW;
  const int depth = common_depth(from, to);
  if (has_all(nest, from, depth, kind)) return;
  isl_map *conflict =
      isl_map_apply_range(isl_map_copy(from->map), isl_map_reverse(isl_map_copy(to->map)));
  for (int d = 0; d < depth && clc_isfine(&nest->analysis); d++) {
    Example *example = example_of(nest, from->loop[d], from->array, kind);
    if (example->from == 0 && carries(conflict, from, d)) *example = (Example){i + 1, j + 1};
    conflict = isl_map_equate(conflict, isl_dim_in, d, isl_dim_out, d);
  }
  isl_map_free(conflict);
}

static int may_conflict(const Access *a, const Access *b) {
  return a->array == b->array && (a->write || b->write);
}

/* Maps are from as many dimensions as there are loops; else isl would be asked beyond them. */
static void read_maps(Nest *nest) {
  for (int i = 0; i < nest->accesses; i++) {
    Access *access = &nest->access[i];
    access->map = clc_tomap(&nest->analysis, access->text);
    if (access->map != NULL && isl_map_dim(access->map, isl_dim_in) != access->depth)
      clc_fail(&nest->analysis, "an access has another number of dimensions than loops");
  }
}

static void analyse(Nest *nest, unsigned long budget) {
  clc_begin(&nest->analysis, budget);
  read_maps(nest);
  for (int i = 0; i < nest->accesses; i++)
    for (int j = 0; j < nest->accesses && clc_isfine(&nest->analysis); j++)
      if (may_conflict(&nest->access[i], &nest->access[j])) find_carried(nest, i, j);
  for (int i = 0; i < nest->accesses; i++) isl_map_free(nest->access[i].map);
}

static int read_loop(lua_State *L, int position) {
  if (lua_rawgeti(L, -1, position) != LUA_TNUMBER) luaL_error(L, "a loop must be an integer");
  const lua_Integer loop = lua_tointeger(L, -1);
  if (loop == 0 || loop < -MAX_EXAMPLES || loop > MAX_EXAMPLES)
    luaL_error(L, "loops are numbered from 1 to %d", MAX_EXAMPLES);
  lua_pop(L, 1);
  return (int)loop;
}

static void read_loops(lua_State *L, Nest *nest, Access *access) {
  const size_t depth = clc_checklist(L, "loops");
  if (depth > MAX_DEPTH) luaL_error(L, "more than %d loops in each other", MAX_DEPTH);
  access->depth = (int)depth;
  for (int d = 0; d < access->depth; d++) {
    access->loop[d] = read_loop(L, d + 1);
    if (abs(access->loop[d]) > nest->loops) nest->loops = abs(access->loop[d]);
  }
  lua_pop(L, 1);
}

static void read_access(lua_State *L, Nest *nest, int i, const char **name) {
  static const char *const keys[] = {"array", "loops", "map", "write", NULL};
  Access *access = &nest->access[i];
  clc_checkrow(L, (size_t)i, keys);
  name[i] = clc_checktext(L, "array");
  for (access->array = 0; strcmp(name[access->array], name[i]) != 0;) access->array++;
  access->text = clc_checktext(L, "map");
  access->write = clc_toflag(L, "write");
  read_loops(L, nest, access);
  lua_pop(L, 1);
}

static void read_accesses(lua_State *L, Nest *nest) {
  const size_t n = clc_checklist(L, "accesses");
  if (n > MAX_EXAMPLES) luaL_error(L, "more than %d accesses", MAX_EXAMPLES);
  nest->accesses = (int)n;
  nest->access = lua_newuserdatauv(L, n * sizeof *nest->access, 0);
  const char **name = lua_newuserdatauv(L, n * sizeof *name, 0);
  memset(nest->access, 0, n * sizeof *nest->access);
  lua_pushvalue(L, -3);
  for (int i = 0; i < nest->accesses; i++) read_access(L, nest, i, name);
}

static void make_room(lua_State *L, Nest *nest) {
  const size_t size = (size_t)nest->loops * (size_t)nest->accesses * KINDS * sizeof(Example);
  nest->example = lua_newuserdatauv(L, size, 0);
  memset(nest->example, 0, size);
}

static void push_example(lua_State *L, int loop, Kind kind, const Example *example) {
  lua_createtable(L, 0, 4);
  lua_pushinteger(L, loop);
  lua_setfield(L, -2, "loop");
  lua_pushinteger(L, example->from);
  lua_setfield(L, -2, "from");
  lua_pushinteger(L, example->to);
  lua_setfield(L, -2, "to");
  lua_pushstring(L, kind_names[kind]);
  lua_setfield(L, -2, "kind");
}

static void push_examples(lua_State *L, const Nest *nest) {
  lua_Integer count = 0;
  lua_newtable(L);
  for (int loop = 1; loop <= nest->loops; loop++)
    for (int array = 0; array < nest->accesses; array++)
      for (Kind kind = FLOW; kind < KINDS; kind++) {
        const Example *example = example_of(nest, loop, array, kind);
        if (example->from == 0) continue;
        push_example(L, loop, kind, example);
        lua_rawseti(L, -2, ++count);
      }
}

int clc_dependences(lua_State *L) {
  static const char *const keys[] = {"accesses", "budget", NULL};
  Nest nest = {0};
  clc_checkinput(L, keys);
  const unsigned long budget = clc_optbudget(L);
  read_accesses(L, &nest);
  if ((size_t)nest.loops * (size_t)nest.accesses > MAX_EXAMPLES) {
    lua_pushnil(L);
    lua_pushliteral(L, "the analysis meets more loops and accesses than it has room for");
    return 2;
  }
  make_room(L, &nest);
  analyse(&nest, budget);
  const int failed = clc_end(L, &nest.analysis);
  if (failed) return failed;
  push_examples(L, &nest);
  return 1;
}
