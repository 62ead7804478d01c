/* SPDX-License-Identifier: MIT */
/* gauss, which is solve too: solves A X = B, or says clearly why not. */
#include "gauss.h"

#include <math.h>
#include <stdio.h>

#include "elimination.h"
#include "lu.h"
#include "operations/operations.h"
#include "systems.h"

#define MAX_STEPS 3 /* of refinement: where it helps at all, the first does most */

typedef enum { BLOCKED, UNBLOCKED, PAPER, FASTEST } Variant;

typedef struct {
  const char *name; /* of the function: begins messages */
  Variant variant;
  clc_PaperOptions paper;
  int refine, may_refine; /* asked for; allowed when the result needs it */
  double rcond;           /* below it a system is refused; 0: none is */
} Options;

/* What a solve found out, for each system. */
typedef struct {
  double *ratios, *rconds;
  int steps;
} Findings;

/* --- arguments --------------------------------------------------------- */

static const char *const variants[] = {"blocked", "unblocked", "paper", NULL};

static void refuse(lua_State *L, const char *key, const char *variant) {
  if (clc_pushoption(L, 3, key) != LUA_TNIL)
    clc_optionerror(L, 3, key, "belongs to kernel=%s", variant);
  lua_pop(L, 1);
}

static double check_limit(lua_State *L) {
  const double limit = clc_numberoption(L, 3, "rcond", 0);
  if (!(limit >= 0 && limit <= 1))
    clc_optionerror(L, 3, "rcond", "number of 0 to 1 expected, got %f", (LUAI_UACNUMBER)limit);
  return limit;
}

static Options check_options(lua_State *L, const char *name, const clc_Device *d) {
  static const char *const keys[] = {"kernel", "group", "range", "remainder",
                                     "refine", "rcond", NULL};
  static const char *const ranges[] = {"fixed", "shrink", NULL};
  static const char *const remainders[] = {"split", "host", NULL};
  Options o = {name, FASTEST, {name, 0, 0, 0}, 0, 1, 0};
  clc_checkoptions(L, 3, keys);
  o.variant = (Variant)clc_enumoption(L, 3, "kernel", variants, FASTEST);
  if (o.variant == PAPER) {
    o.paper.group = (size_t)clc_integeroption(L, 3, "group", 1, d->context->is_cpu ? 64 : 192);
    if (o.paper.group > d->context->max_groups[0])
      clc_optionerror(L, 3, "group", "%I exceeds this device's %I", (LUAI_UACINT)o.paper.group,
                      (LUAI_UACINT)d->context->max_groups[0]);
    o.paper.shrink = clc_enumoption(L, 3, "range", ranges, 0);
    o.paper.host_remainder = clc_enumoption(L, 3, "remainder", remainders, 0);
    refuse(L, "refine", "\"blocked\" or \"unblocked\"");
    refuse(L, "rcond", "\"blocked\" or \"unblocked\"");
  } else {
    o.rcond = check_limit(L);
    o.refine = clc_booleanoption(L, 3, "refine", 0);
    o.may_refine = clc_booleanoption(L, 3, "refine", 1);
    refuse(L, "group", "\"paper\"");
    refuse(L, "range", "\"paper\"");
    refuse(L, "remainder", "\"paper\"");
  }
  return o;
}

/* Pushes room for what is found out of so many systems: nothing is wrong with an empty one. */
static Findings push_findings(lua_State *L, size_t count) {
  double *numbers = lua_newuserdatauv(L, 2 * count * sizeof *numbers, 0);
  for (size_t i = 0; i < count; i++) {
    numbers[i] = 0;
    numbers[count + i] = 1;
  }
  return (Findings){numbers, numbers + count, 0};
}

/* --- solving ----------------------------------------------------------- */

static void raise_ratio(lua_State *L, const char *system, double ratio, const char *advice) {
  luaL_error(L, "%sbackward error ratio %f exceeds %d: %s", system, ratio, CLC_MAXRATIO, advice);
}

/* Pushes x. */
static void solve_paper(lua_State *L, clc_Buffer *a, clc_Buffer *b, const clc_PaperOptions *options,
                        Findings *found) {
  const clc_Systems one = clc_systemsof(a, b);
  const double norm = clc_checknorm1(L, a, lua_pushfstring(L, "%s: a", options->name));
  clc_checknorm1(L, b, lua_pushfstring(L, "%s: b", options->name));
  lua_pop(L, 2);
  clc_Buffer *x = clc_papersolve(L, a, b, *options);
  clc_Buffer *r = clc_newbuffer(L, x->device, x->dtype, &x->shape);
  const double ratio = clc_judge(L, &one, &norm, a, x, b, r, found->ratios);
  clc_release(&r->h);
  lua_pop(L, 1);
  if (!(ratio <= CLC_MAXRATIO))
    raise_ratio(L, lua_pushfstring(L, "%s: ", options->name), ratio,
                "without pivoting elements grew; kernel=\"blocked\" and \"unblocked\" pivot");
}

/* If a system's rcond is below the limit, pushes a message about the one of the least: how it
   begins, what is wrong, and the rcond. */
static int push_condition(lua_State *L, const char *name, const clc_Lu *f, const double *rconds,
                          double limit, const char *wrong) {
  size_t worst = 0;
  char text[32];
  for (size_t i = 1; i < f->count; i++)
    if (rconds[i] < rconds[worst]) worst = i;
  if (f->count == 0 || rconds[worst] >= limit) return 0;
  snprintf(text, sizeof text, "%.3g", rconds[worst]);
  lua_pushfstring(L, "%s%s: rcond = %s", clc_pushsystem(L, f, worst, name), wrong, text);
  lua_remove(L, -2);
  return 1;
}

static void check_condition(lua_State *L, const Options *o, const clc_Lu *f, const double *rconds) {
  if (push_condition(L, o->name, f, rconds, o->rcond, "matrix is refused by option 'rcond'"))
    luaL_error(L, "%s", lua_tostring(L, -1));
}

/* Below epsilon x solves a system next to the one given, and may have no digit of its solution. */
static void warn_condition(lua_State *L, const char *name, const clc_Lu *f, const double *rconds) {
  char limit[32];
  if (!push_condition(L, name, f, rconds, clc_epsilon(f->lu->dtype),
                      "matrix is singular to working precision"))
    return;
  /* not rounded below it */
  snprintf(limit, sizeof limit, "%.2g", 1.05 * clc_epsilon(f->lu->dtype));
  lua_pushfstring(L, "; the option rcond = %s makes that an error", limit);
  lua_concat(L, 2);
  lua_warning(L, "clcompute: ", 1);
  lua_warning(L, lua_tostring(L, -1), 0);
  lua_setfield(L, -2, "warning");
}

/* x <- x + A^-1 r, where r is b - A x. */
static void refine(lua_State *L, const clc_Lu *f, clc_Buffer *x, clc_Buffer *r) {
  clc_Buffer *correction = clc_newbuffer(L, x->device, x->dtype, &x->shape);
  clc_lusolve(L, f, r, correction);
  clc_saxpy(L, 1, correction, x, x);
  clc_release(&correction->h);
  lua_pop(L, 1);
}

/* What may help where the ratio is too large. */
static const char *advise(const Options *o, const clc_Dtype *dtype) {
  if (!o->may_refine) return "refinement, which refine=false forbids, may mend it";
  return dtype == clc_float ? "elements grew beyond what refinement can mend; use double"
                            : "elements grew beyond what refinement can mend";
}

/* An element of b that is not finite makes its ratio so. */
static void check_ratios(lua_State *L, const clc_Lu *f, clc_Buffer *b, const double *ratios,
                         const Options *o) {
  const clc_Dtype *dtype = f->lu->dtype;
  for (size_t i = 0; i < f->count; i++) {
    if (ratios[i] <= CLC_MAXRATIO) continue;
    if (!isfinite(ratios[i])) clc_checknorm1(L, b, lua_pushfstring(L, "%s: b", o->name));
    const char *system = clc_pushsystem(L, f, i, o->name);
    if (isnan(ratios[i]))
      luaL_error(L, "%sx or its residual overflows%s", system,
                 dtype == clc_float ? "; use double" : "");
    raise_ratio(L, system, ratios[i], advise(o, dtype));
  }
}

/* Small systems are a batch of one: fewer kernels to build, and on a GPU fewer launches. */
static clc_Way way_of(lua_State *L, const clc_Buffer *a, const clc_Systems *s, Variant variant) {
  const double n = (double)s->n, work = (double)s->count * n * n * (n / 3 + (double)s->columns);
  const clc_LuRow row = clc_getlurowfor(L, a, variant == FASTEST ? work : CLC_ANYWORK);
  if (variant == UNBLOCKED) return CLC_BYCOLUMNS;
  const int is_small = s->n <= row.small && s->columns <= row.few;
  return variant == FASTEST && is_small ? CLC_ASBATCH : CLC_BYBLOCKS;
}

/* Pushes the factors, then x. */
static void solve_pivoting(lua_State *L, clc_Buffer *a, clc_Buffer *b, const Options *o, clc_Lu *f,
                           Findings *found) {
  const clc_Systems systems = clc_systemsof(a, b);
  *f = clc_factor(L, a, way_of(L, a, &systems, o->variant), 1, o->name);
  const int factors = lua_gettop(L);
  clc_Buffer *x = clc_newbuffer(L, b->device, b->dtype, &b->shape),
             *r = clc_newbuffer(L, x->device, x->dtype, &x->shape),
             *most = clc_newbuffer(L, x->device, x->dtype, &(clc_Shape){1, {1}});
  const int walks = systems.columns <= clc_getlurow(L, a).few && clc_canwalk(L, f);
  if (walks) {
    clc_luwalk(L, f, systems.columns, b, x, most);
  } else {
    clc_rconds(L, factors, f, found->rconds);
    check_condition(L, o, f, found->rconds);
    clc_lusolve(L, f, b, x);
  }
  double worst = clc_judge(L, &systems, f->norms, a, x, b, r, found->ratios);
  if (walks) {
    found->rconds[0] = clc_walkrcond(L, f, most);
    check_condition(L, o, f, found->rconds);
  }
  while (found->steps < MAX_STEPS &&
         ((o->refine && found->steps == 0) || (o->may_refine && !(worst <= CLC_MAXRATIO)))) {
    refine(L, f, x, r);
    worst = clc_judge(L, &systems, f->norms, a, x, b, r, found->ratios);
    found->steps++;
  }
  clc_release(&most->h);
  clc_release(&r->h);
  lua_pop(L, 2);
  check_ratios(L, f, b, found->ratios, o);
}

/* A number, or of a batch a list of them. */
static void set_numbers(lua_State *L, const char *key, const double *numbers, const clc_Lu *f) {
  if (f->is_batch) {
    lua_createtable(L, (int)f->count, 0);
    for (size_t i = 0; i < f->count; i++) {
      lua_pushnumber(L, numbers[i]);
      lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
  } else {
    lua_pushnumber(L, numbers[0]);
  }
  lua_setfield(L, -2, key);
}

static void push_pivots(lua_State *L, const int *pivots, size_t n) {
  lua_createtable(L, (int)n, 0);
  for (size_t k = 0; k < n; k++) {
    lua_pushinteger(L, pivots[k] + 1);
    lua_rawseti(L, -2, (lua_Integer)k + 1);
  }
}

/* The lists of a batch, of which Lua makes ten million numbers a second: those of the first systems
   are made at once, the others when they are asked for. Upvalues: pivots, systems, rows. */
#define AT_ONCE 8

/* Pushes the list of a system, from 1, which the table at that index keeps. */
static void push_list(lua_State *L, int lists, lua_Integer system) {
  const int *pivots = lua_touserdata(L, lua_upvalueindex(1));
  const lua_Integer n = lua_tointeger(L, lua_upvalueindex(3));
  push_pivots(L, pivots + (system - 1) * n, (size_t)n);
  lua_pushvalue(L, -1);
  lua_rawseti(L, lists, system);
}

static int lists_index(lua_State *L) {
  const lua_Integer system = lua_tointeger(L, 2), count = lua_tointeger(L, lua_upvalueindex(2));
  if (!lua_isinteger(L, 2) || system < 1 || system > count) return 0;
  luaL_checktype(L, 1, LUA_TTABLE);
  push_list(L, 1, system);
  return 1;
}

static int lists_length(lua_State *L) {
  lua_pushvalue(L, lua_upvalueindex(2));
  return 1;
}

/* All of them, then `next`. */
static int lists_pairs(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  for (lua_Integer i = 1; i <= lua_tointeger(L, lua_upvalueindex(2)); i++) {
    if (lua_rawgeti(L, 1, i) == LUA_TNIL) push_list(L, 1, i);
    lua_settop(L, 1);
  }
  lua_getglobal(L, "next");
  lua_pushvalue(L, 1);
  return 2;
}

/* Pushes the lists of a batch whose table is at that index. */
static void push_lists(lua_State *L, int factors, const clc_Lu *f) {
  static const luaL_Reg methods[] = {
      {"__index", lists_index}, {"__len", lists_length}, {"__pairs", lists_pairs}, {NULL, NULL}};
  const size_t at_once = f->lu == NULL || f->count < AT_ONCE ? f->count : AT_ONCE;
  lua_createtable(L, (int)at_once, 0);
  for (size_t i = 0; i < at_once; i++) {
    push_pivots(L, f->pivots + i * f->n, f->n);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  if (at_once == f->count) return;
  luaL_newlibtable(L, methods);
  lua_rawgeti(L, factors, CLC_LUPIVOTS);
  lua_pushinteger(L, (lua_Integer)f->count);
  lua_pushinteger(L, (lua_Integer)f->n);
  luaL_setfuncs(L, methods, 3);
  lua_setmetatable(L, -2);
}

/* Of the factors whose table is at that index. */
static void set_pivots(lua_State *L, int factors, clc_Lu *f) {
  if (f->lu != NULL) clc_needpivots(L, factors, f);
  if (f->is_batch)
    push_lists(L, factors, f);
  else
    push_pivots(L, f->pivots, f->n);
  lua_setfield(L, -2, "pivots");
}

static void push_info(lua_State *L, const Options *o, const Findings *found, clc_Lu *f) {
  static const char *const keys[] = {"backward_error", "rcond", "steps", "pivots", "warning", NULL};
  lua_createtable(L, 0, 5);
  clc_namerecord(L, "clcompute.GaussInfo", keys);
  set_numbers(L, "backward_error", found->ratios, f);
  lua_pushinteger(L, found->steps);
  lua_setfield(L, -2, "steps");
  if (o->variant == PAPER) return; /* which has no pivots */
  set_numbers(L, "rcond", found->rconds, f);
  set_pivots(L, lua_gettop(L) - 2, f);
  if (f->lu != NULL) warn_condition(L, o->name, f, found->rconds);
}

static int op_gauss(lua_State *L) {
  const char *name = ((const clc_Function *)lua_touserdata(L, lua_upvalueindex(1)))->name;
  if (clc_isspread(L, 1)) return clc_callspread(L, name);
  clc_Buffer *a = clc_checkreal(L, 1);
  clc_Buffer *b = clc_checklike(L, 2, a);
  lua_settop(L, 3);
  luaL_checkstack(L, 60, NULL);
  const Options o = check_options(L, name, a->device);
  clc_checksquare(L, 1, a);
  const clc_Systems s = clc_systemsof(a, b);
  clc_Lu f = {.count = s.count, .is_batch = a->shape.n == 3};
  clc_checkrights(L, 2, b, f.is_batch, s.count, s.n);
  if (f.is_batch && o.variant != BLOCKED && o.variant != FASTEST)
    clc_optionerror(L, 3, "kernel", "does not go with a batch (a has three dimensions)");
  if (o.variant == PAPER && b->count != s.n)
    luaL_argerror(L, 2, "the paper's method takes one right-hand side");
  Findings found = push_findings(L, s.count);
  if (b->count == 0)
    clc_newbuffer(L, a->device, a->dtype, &b->shape);
  else if (o.variant == PAPER)
    solve_paper(L, a, b, &o.paper, &found);
  else
    solve_pivoting(L, a, b, &o, &f, &found);
  push_info(L, &o, &found, &f);
  if (f.lu != NULL) {
    lua_pushvalue(L, -3);
    clc_dropfactors(L, 0);
  }
  return 2;
}

void clc_opengauss(lua_State *L) {
  static const clc_Function functions[] = {
      {"gauss", op_gauss, 3}, {"solve", op_gauss, 3}, {NULL, NULL, 0}};
  clc_setfunctions(L, functions);
  clc_openfactors(L);
  clc_openpanels(L);
}
