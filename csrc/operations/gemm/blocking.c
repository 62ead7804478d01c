/* SPDX-License-Identifier: MIT */
/* How a product is cut into blocks of C and parts of k: a pure function of the device's row and the
   shape. It compares times by a model; the numbers of the model are measured. */
#include "product.h"

#define KEPT 8       /* plans */
#define LATENCY 32   /* depth that is lost to the first slice and the last elements of a block */
#define DEPTH 128    /* of a part, at least, */
#define LITTLE 64    /* and of one that the last group of a block adds up, */
#define MOST 16      /* so many at most */
#define MORE_PARTS 2 /* for as long as which a group waits to know whether it is the last */

/* What one launch more costs, in us, and what moves through memory, in GB/s; without them in the
   row there are no parts. Nanoseconds of a part that the last group of a block adds up; 0: a launch
   of its own does. */
typedef struct {
  size_t launch, stream, part;
} Costs;

/* A multiprocessor works at its full rate on as many groups as it holds at a time, on few at that
   of each alone, or of two. */
static double rate_of(const clc_Tile *s, size_t groups) {
  if (groups == 2 && s->two > 0) return (double)s->two;
  const double rate = (double)groups * (double)s->alone, full = (double)s->full;
  return rate < full ? rate : full;
}

double clc_timeofblocks(const clc_Tile *s, const clc_Multiply *x, size_t groups, size_t depth) {
  const size_t units = x->c.b->device->context->compute_units;
  const size_t share = clc_parts(groups, units), last = share % s->held;
  const double rest = last > 0 ? (double)last / rate_of(s, last) : 0;
  const double work = 2e-3 * (double)(s->bm * s->bn) * (double)(depth + LATENCY);
  return (double)units * work * ((double)(share - last) / (double)s->full + rest);
}

/* Microseconds of a sum of parts. */
static double time_of_sum(const clc_Multiply *x, const Costs *costs, size_t parts, int is_once) {
  if (is_once) return 1e-3 * (double)((parts + MORE_PARTS) * costs->part);
  const double bytes =
      (double)(x->m * x->n) * (double)(2 * parts + 1) * (double)x->c.b->dtype->size;
  return (double)costs->launch + bytes / (1e3 * (double)costs->stream);
}

/* The product waits for it: that costs as much as the launch. */
double clc_timeofpacking(const clc_Plan *p, size_t bytes) {
  return 2 * (double)p->launch + 3 * (double)bytes / (1e3 * (double)p->stream);
}

static size_t elements_of(size_t parts, const clc_Multiply *x) {
  return parts * x->m * x->n;
}

/* Sets `best` to a plan with so many parts, if it is the fastest up to now. */
static void consider(clc_Plan *best, const clc_Multiply *x, const clc_Tile *s, const Costs *costs,
                     size_t parts, int is_along, int is_once, clc_Packing packing) {
  const size_t slices = clc_parts(x->k, s->bk), depth = clc_parts(slices, parts) * s->bk;
  clc_Plan plan = {.shape = *s, .depth = depth, .launch = costs->launch, .stream = costs->stream};
  plan.parts = clc_parts(x->k, depth);
  const size_t groups = x->batch * clc_parts(x->m, s->bm) * clc_parts(x->n, s->bn) * plan.parts;
  plan.is_along = is_along;
  plan.is_once = is_once && plan.parts > 1;
  plan.time = clc_timeofblocks(s, x, groups, depth);
  if (is_along) plan.time *= 100.0 / (double)s->along;
  if (plan.parts > 1) plan.time += time_of_sum(x, costs, plan.parts, is_once);
  if (packing != NULL && costs->stream > 0) plan.time += packing(&plan, x);
  if (best->parts == 0 || plan.time < best->time) *best = plan;
}

static void consider_ways(clc_Plan *best, const clc_Multiply *x, const clc_Tile *s,
                          const Costs *costs, size_t parts, int is_once, clc_Packing packing) {
  consider(best, x, s, costs, parts, 0, is_once, packing);
  if (s->along > 0 && costs->stream > 0 && packing != NULL)
    consider(best, x, s, costs, parts, 1, is_once, packing);
}

/* Parts that the last group of each block adds up. */
static void consider_once(clc_Plan *best, const clc_Multiply *x, const clc_Tile *s,
                          const Costs *costs, clc_Packing packing) {
  const size_t blocks = clc_parts(x->m, s->bm) * clc_parts(x->n, s->bn);
  const size_t limit = clc_scratchlimit(x->c.b->device, x->c.b->dtype);
  const size_t most = clc_smaller(MOST, x->k / LITTLE);
  const size_t room = limit / (blocks * s->bm * s->bn);
  for (size_t parts = 2; parts <= clc_smaller(most, room); parts++)
    consider_ways(best, x, s, costs, parts, 1, packing);
}

/* Parts that give each multiprocessor one group more at a time, up to those that it holds. */
static void consider_parts(clc_Plan *best, const clc_Multiply *x, const clc_Tile *s,
                           const Costs *costs, clc_Packing packing) {
  const size_t units = x->c.b->device->context->compute_units;
  const size_t blocks = clc_parts(x->m, s->bm) * clc_parts(x->n, s->bn);
  const size_t limit = clc_scratchlimit(x->c.b->device, x->c.b->dtype);
  if (x->batch > 1 || costs->stream == 0) return;
  if (costs->part > 0 && packing != NULL) consider_once(best, x, s, costs, packing);
  for (size_t held = 1; held <= s->held; held++) {
    size_t parts = held * units / blocks;
    if (parts > x->k / DEPTH) parts = x->k / DEPTH;
    if (parts < 2 || elements_of(parts, x) > limit) continue;
    consider_ways(best, x, s, costs, parts, 0, packing);
    if (packing == NULL) continue;
    const size_t slices = clc_parts(x->k, s->bk); /* without zeros behind k */
    while (slices % parts != 0) parts--;
    if (parts > 1) consider_ways(best, x, s, costs, parts, 0, packing);
  }
}

/* The parts that the shape asks for, as far as memory and k allow. */
static void consider_given(clc_Plan *best, const clc_Multiply *x, const clc_Tile *s,
                           const Costs *costs, clc_Packing packing) {
  const size_t limit = clc_scratchlimit(x->c.b->device, x->c.b->dtype);
  const size_t room = limit / (clc_roundup(x->m, s->bm) * clc_roundup(x->n, s->bn));
  const size_t parts = clc_smaller(s->parts, clc_smaller(room, x->k / LITTLE));
  const int is_split = parts > 1 && x->batch == 1 && costs->stream > 0;
  consider_ways(best, x, s, costs, is_split ? parts : 1, costs->part > 0 && packing != NULL,
                packing);
}

static size_t opt_number(lua_State *L, const char *name) {
  lua_getfield(L, -1, name);
  const lua_Integer value = lua_tointeger(L, -1);
  lua_pop(L, 1);
  return value > 0 ? (size_t)value : 0;
}

/* All of a product that a plan depends on. */
typedef struct {
  size_t m, n, k, batch, operands;
} Question;

static Question question_of(const clc_Multiply *x) {
  const size_t operands[] = {x->transa != 0,    x->transb != 0,  clc_unitof(&x->a),
                             clc_unitof(&x->b), x->a.stride > 0, x->b.stride > 0};
  Question q = {x->m, x->n, x->k, x->batch, 0};
  for (size_t i = 0; i < sizeof operands / sizeof *operands; i++)
    q.operands = 8 * q.operands + operands[i];
  return q;
}

static int is_same(const Question *a, const Question *b) {
  return a->m == b->m && a->n == b->n && a->k == b->k && a->batch == b->batch &&
         a->operands == b->operands;
}

/* The shapes of a list of a row, what its launches cost, and the last plans that were made of it,
   as to compare all takes as long as a launch. */
typedef struct {
  Costs costs;
  size_t count, asked;
  Question questions[KEPT];
  clc_Plan answers[KEPT];
  clc_Tile shapes[];
} List;

/* Pushes a list of the row on top of the stack. The row keeps it under its fields, so that a small
   product does not look up each number of each shape. */
static List *push_list(lua_State *L, const char *name, const clc_Field *fields) {
  if (lua_rawgetp(L, -1, fields) == LUA_TUSERDATA) return lua_touserdata(L, -1);
  lua_pop(L, 1);
  const Costs costs = {opt_number(L, "launch"), opt_number(L, "stream"), opt_number(L, "part")};
  lua_getfield(L, -1, name);
  const size_t count = lua_rawlen(L, -1);
  List *list = lua_newuserdatauv(L, sizeof *list + count * sizeof *list->shapes, 0);
  list->costs = costs;
  list->asked = 0;
  list->count = count;
  for (size_t i = 0; i < count; i++) {
    list->shapes[i] = (clc_Tile){0};
    lua_rawgeti(L, -2, (lua_Integer)i + 1);
    clc_readrow(L, fields, &list->shapes[i]);
    list->shapes[i].along = opt_number(L, "along");
    list->shapes[i].two = opt_number(L, "two");
    list->shapes[i].ways = opt_number(L, "ways");
    list->shapes[i].parts = opt_number(L, "parts");
    if (list->shapes[i].ways == 0) list->shapes[i].ways = 1;
    lua_pop(L, 1);
  }
  lua_replace(L, -2);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, -3, fields);
  return list;
}

static clc_Plan find_plan(const List *list, const clc_Multiply *x, clc_Packing packing) {
  clc_Plan best = {0};
  for (size_t i = 0; i < list->count; i++) {
    const clc_Tile *s = &list->shapes[i];
    if (s->parts > 0) {
      consider_given(&best, x, s, &list->costs, packing);
      continue;
    }
    consider_ways(&best, x, s, &list->costs, 1, 0, packing);
    consider_parts(&best, x, s, &list->costs, packing);
  }
  return best;
}

clc_Plan clc_plan(lua_State *L, const clc_Multiply *x, const char *name, const clc_Field *fields,
                  clc_Packing packing) {
  List *list = push_list(L, name, fields);
  lua_pop(L, 1); /* the row keeps it */
  const Question q = question_of(x);
  for (size_t i = 0; i < KEPT && i < list->asked; i++)
    if (is_same(&q, &list->questions[i])) return list->answers[i];
  const size_t at = list->asked++ % KEPT;
  list->questions[at] = q;
  return list->answers[at] = find_plan(list, x, packing);
}
