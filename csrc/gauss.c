/* SPDX-License-Identifier: MIT */
/***
gauss: solves A X = B, or says clearly why not.
@module clcompute
*/
#include "gauss.h"

#include <math.h>

#include "accuracy.h"
#include "args.h"
#include "gauss_paper.h"
#include "lu_solve.h"
#include "operand.h"
#include "rcond.h"
#include "result.h"
#include "saxpy.h"

#define MAX_STEPS 3 /* of refinement: where it helps at all, the first does most */

typedef enum { BLOCKED, UNBLOCKED, PAPER } Variant;

typedef struct {
  Variant variant;
  clc_PaperOptions paper;
  int refine, may_refine; /* asked for; allowed when the result needs it */
} Options;

/* What a solve found out. */
typedef struct {
  double ratio, rcond;
  int steps;
} Findings;

/* --- arguments --------------------------------------------------------- */

static const char *const variants[] = {"blocked", "unblocked", "paper", NULL};

static void refuse(lua_State *L, const char *key, const char *variant) {
  if (clc_pushoption(L, 3, key) != LUA_TNIL)
    clc_optionerror(L, 3, key, "belongs to kernel=%s", variant);
  lua_pop(L, 1);
}

static Options check_options(lua_State *L, const clc_Device *d) {
  static const char *const keys[] = {"kernel", "group", "range", "remainder", "refine", NULL};
  static const char *const ranges[] = {"fixed", "shrink", NULL};
  static const char *const remainders[] = {"split", "host", NULL};
  Options o = {BLOCKED, {0, 0, 0}, 0, 1};
  clc_checkoptions(L, 3, keys);
  o.variant = (Variant)clc_enumoption(L, 3, "kernel", variants, BLOCKED);
  if (o.variant == PAPER) {
    o.paper.group = (size_t)clc_integeroption(L, 3, "group", 1, d->is_cpu ? 64 : 192);
    if (o.paper.group > d->max_groups[0])
      clc_optionerror(L, 3, "group", "%I exceeds this device's %I", (LUAI_UACINT)o.paper.group,
                      (LUAI_UACINT)d->max_groups[0]);
    o.paper.shrink = clc_enumoption(L, 3, "range", ranges, 0);
    o.paper.host_remainder = clc_enumoption(L, 3, "remainder", remainders, 0);
    refuse(L, "refine", "\"blocked\" or \"unblocked\"");
  } else {
    o.refine = clc_booleanoption(L, 3, "refine", 0);
    o.may_refine = clc_booleanoption(L, 3, "refine", 1);
    refuse(L, "group", "\"paper\"");
    refuse(L, "range", "\"paper\"");
    refuse(L, "remainder", "\"paper\"");
  }
  return o;
}

static void check_shapes(lua_State *L, const clc_Buffer *a, const clc_Buffer *b) {
  if (a->shape.n != 2 || a->shape.dim[0] != a->shape.dim[1])
    clc_argerror(L, 1, "square matrix expected, got shape %s", clc_pushshape(L, &a->shape));
  if (b->shape.n > 2 || b->shape.dim[0] != a->shape.dim[0])
    clc_argerror(L, 2, "%I rows expected, got shape %s", (LUAI_UACINT)a->shape.dim[0],
                 clc_pushshape(L, &b->shape));
}

/* --- solving ----------------------------------------------------------- */

static void raise_ratio(lua_State *L, double ratio, const char *advice) {
  luaL_error(L, "gauss: backward error ratio %f exceeds %d: %s", ratio, CLC_MAXRATIO, advice);
}

static Findings solve_paper(lua_State *L, clc_Buffer *a, clc_Buffer *b, double norm,
                            const clc_PaperOptions *options) {
  Findings found = {0, NAN, 0};
  clc_Buffer *x = clc_papersolve(L, a, b, *options);
  clc_Buffer *r = clc_newbuffer(L, x->device, x->dtype, &x->shape);
  clc_residual(L, a, x, b, r);
  found.ratio = clc_ratio(L, norm, x, r);
  clc_release(&r->h);
  lua_pop(L, 1);
  if (!(found.ratio <= CLC_MAXRATIO))
    raise_ratio(L, found.ratio,
                "without pivoting elements grew; kernel=\"blocked\" and \"unblocked\" pivot");
  return found;
}

static double check_condition(lua_State *L, const clc_Lu *f) {
  const double rcond = clc_rcond(L, f);
  if (!(rcond >= clc_epsilon(f->lu->dtype))) {
    lua_pushnumber(L, rcond);
    luaL_error(L, "gauss: matrix is singular to working precision: rcond = %s",
               luaL_tolstring(L, -1, NULL));
  }
  return rcond;
}

/* x <- x + A^-1 (b - A x); r holds the residual before and after. */
static void refine(lua_State *L, const clc_Lu *f, clc_Buffer *a, clc_Buffer *b, clc_Buffer *x,
                   clc_Buffer *r) {
  clc_Buffer *correction = clc_lusolve(L, f, r);
  clc_saxpy(L, 1, correction, x, x);
  clc_residual(L, a, x, b, r);
  clc_release(&correction->h);
  lua_pop(L, 1);
}

/* What may help where the ratio is too large. */
static const char *advise(const Options *o, const clc_Dtype *dtype) {
  if (!o->may_refine) return "refinement, which refine=false forbids, may mend it";
  return dtype == clc_float ? "elements grew beyond what refinement can mend; use double"
                            : "elements grew beyond what refinement can mend";
}

/* Pushes x, then the factors. */
static Findings solve_pivoting(lua_State *L, clc_Buffer *a, clc_Buffer *b, const Options *o,
                               clc_Lu *f) {
  Findings found = {0, 0, 0};
  *f = clc_factor(L, a, o->variant == BLOCKED, "gauss");
  found.rcond = check_condition(L, f);
  clc_Buffer *x = clc_lusolve(L, f, b);
  clc_Buffer *r = clc_newbuffer(L, x->device, x->dtype, &x->shape);
  clc_residual(L, a, x, b, r);
  found.ratio = clc_ratio(L, f->norm, x, r);
  while (found.steps < MAX_STEPS &&
         ((o->refine && found.steps == 0) || (o->may_refine && !(found.ratio <= CLC_MAXRATIO)))) {
    refine(L, f, a, b, x, r);
    found.ratio = clc_ratio(L, f->norm, x, r);
    found.steps++;
  }
  clc_release(&r->h);
  lua_pop(L, 1);
  if (!(found.ratio <= CLC_MAXRATIO)) raise_ratio(L, found.ratio, advise(o, x->dtype));
  lua_rotate(L, -2, 1);
  return found;
}

static void push_info(lua_State *L, const Findings *found, const clc_Lu *f) {
  static const char *const keys[] = {"backward_error", "rcond", "steps", "pivots", NULL};
  lua_createtable(L, 0, 4);
  clc_namerecord(L, "clcompute.GaussInfo", keys);
  lua_pushnumber(L, found->ratio);
  lua_setfield(L, -2, "backward_error");
  lua_pushinteger(L, found->steps);
  lua_setfield(L, -2, "steps");
  if (f == NULL) return;
  lua_pushnumber(L, found->rcond);
  lua_setfield(L, -2, "rcond");
  lua_createtable(L, (int)f->n, 0);
  for (size_t k = 0; k < f->n; k++) {
    lua_pushinteger(L, f->pivots[k] + 1);
    lua_rawseti(L, -2, (lua_Integer)k + 1);
  }
  lua_setfield(L, -2, "pivots");
}

/***
Solves A X = B. a and b stay as they are. Blocks.

The default, "blocked", factors with partial pivoting, by blocks; "unblocked" does so column by
column, and is what the other is held against. Both check the result: an exactly
singular matrix, one singular to working precision (rcond below eps), NaN or
infinity in an operand, or a backward error ratio above 30 that refinement does
not mend are errors. `kernel="paper"` is the method of Baranov & Vlatskaya 2013:
no pivoting, one right-hand side, the same check of the ratio.
@function gauss
@tparam Buffer a float or double, n x n
@tparam Buffer b same dtype and device: n, or n x columns
@tparam[opt] table options `kernel` ("blocked", "unblocked", "paper"), `refine` (nil: when
 needed, true: at least once, false: never); for "paper" `group` (work-group
 size), `range` ("fixed", "shrink") and `remainder` ("split", "host")
@treturn Buffer x, of b's shape
@treturn table info: `backward_error` (the ratio), `steps` of refinement; but for
 "paper" also `rcond` and `pivots` (row i was exchanged with row pivots[i]); print shows them
*/
static int op_gauss(lua_State *L) {
  clc_Buffer *a = clc_checkreal(L, 1);
  clc_Buffer *b = clc_checklike(L, 2, a);
  lua_settop(L, 3);
  luaL_checkstack(L, 60, NULL);
  const Options o = check_options(L, a->device);
  check_shapes(L, a, b);
  Findings found = {0, 1, 0};
  clc_Lu f = {.n = 0};
  if (o.variant == PAPER && b->count != a->shape.dim[0])
    luaL_argerror(L, 2, "the paper's method takes one right-hand side");
  if (b->count == 0) {
    clc_newbuffer(L, a->device, a->dtype, &b->shape);
    push_info(L, &found, o.variant == PAPER ? NULL : &f);
    return 2;
  }
  if (o.variant == PAPER) {
    const double norm = clc_checknorm1(L, a, "gauss: a");
    clc_checknorm1(L, b, "gauss: b");
    found = solve_paper(L, a, b, norm, &o.paper);
    push_info(L, &found, NULL);
    return 2;
  }
  clc_checknorm1(L, b, "gauss: b");
  found = solve_pivoting(L, a, b, &o, &f);
  push_info(L, &found, &f);
  clc_release(&f.lu->h);
  lua_remove(L, -2); /* what the factors consisted of */
  return 2;
}

void clc_opengauss(lua_State *L) {
  static const luaL_Reg functions[] = {{"gauss", op_gauss}, {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
