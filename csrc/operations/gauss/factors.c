/* SPDX-License-Identifier: MIT */
/* lu: the factors of a matrix as an object, to solve with as often as one likes. */
#include <math.h>
#include <string.h>

#include "elimination.h"
#include "lu.h"
#include "operations/operations.h"

typedef struct {
  clc_Handle h;
  clc_Lu f;
  const double *rconds; /* NULL until asked for */
  int is_shared;        /* another queue of the device solved with them */
} Factors;

static void factors_forget(clc_Handle *h) {
  (void)h; /* its buffers are objects of their own */
}

static const clc_Type factors_type = {
    "LU factors", "clcompute.Factors", sizeof(Factors), factors_forget, 0, NULL};

/* Value 1 of the object is the table of what the factors consist of. */
static Factors *check_factors(lua_State *L) {
  return clc_checkhandle(L, 1, &factors_type);
}

#define MOST 128 /* rows of a matrix that one group of a GPU solves with, for many columns too */

/* A GPU builds fewer kernels for small matrices. */
static clc_Way way_of(lua_State *L, const clc_Buffer *a) {
  const size_t n = a->shape.dim[a->shape.n - 1];
  const clc_LuRow row =
      clc_getlurowfor(L, a, n <= MOST ? (double)a->count * (double)n / 3 : CLC_ANYWORK);
  return row.vector == 1 && n <= row.small && n <= MOST ? CLC_ASBATCH : CLC_BYBLOCKS;
}

static int op_lu(lua_State *L) {
  if (clc_isspread(L, 1)) return clc_callspread(L, "lu");
  clc_Buffer *a = clc_checkreal(L, 1);
  lua_settop(L, 1);
  luaL_checkstack(L, 60, NULL);
  clc_checksquare(L, 1, a);
  const clc_Lu f = clc_factor(L, a, way_of(L, a), 0, "lu");
  Factors *x = clc_newowned(L, &factors_type, a->device, 0);
  x->f = f;
  lua_insert(L, -2);
  clc_setvalue(L, -2, 1);
  return 1;
}

static int factors_solve(lua_State *L) {
  Factors *x = check_factors(L);
  clc_Buffer *b = clc_checklike(L, 2, x->f.lu);
  lua_settop(L, 2);
  luaL_checkstack(L, 60, NULL);
  clc_checkrights(L, 2, b, x->f.is_batch, x->f.count, x->f.n);
  x->is_shared |= b->device != x->f.lu->device;
  clc_lusolve(L, &x->f, b, clc_newbuffer(L, b->device, b->dtype, &b->shape));
  return 1;
}

/* Pushes a number, or of a batch a list of f(x, i) for each system. */
static int push_each(lua_State *L, const Factors *x, double (*f)(const Factors *x, size_t i)) {
  if (!x->f.is_batch) {
    lua_pushnumber(L, f(x, 0));
    return 1;
  }
  lua_createtable(L, (int)x->f.count, 0);
  for (size_t i = 0; i < x->f.count; i++) {
    lua_pushnumber(L, f(x, i));
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

static double determinant(const Factors *x, size_t i) {
  return clc_determinant(&x->f, i);
}

static int factors_det(lua_State *L) {
  Factors *x = check_factors(L);
  luaL_checkstack(L, 60, NULL);
  clc_getvalue(L, 1, 1);
  clc_needpivots(L, lua_gettop(L), &x->f);
  clc_needdiagonal(L, lua_gettop(L), &x->f);
  return push_each(L, x, determinant);
}

static double rcond(const Factors *x, size_t i) {
  return x->rconds[i];
}

static int factors_rcond(lua_State *L) {
  Factors *x = check_factors(L);
  luaL_checkstack(L, 60, NULL);
  if (x->rconds == NULL) {
    clc_getvalue(L, 1, 1);
    double *rconds = lua_newuserdatauv(L, (x->f.count + 1) * sizeof *rconds, 0);
    clc_rconds(L, lua_gettop(L) - 1, &x->f, rconds);
    lua_rawseti(L, -2, 8);
    x->rconds = rconds;
  }
  return push_each(L, x, rcond);
}

static int factors_release(lua_State *L) {
  clc_Handle *h = clc_tohandle(L, 1, &factors_type);
  lua_settop(L, 1);
  if (h == NULL || h->released) return 1;
  clc_getvalue(L, 1, 1);
  clc_dropfactors(L, ((const Factors *)h)->is_shared);
  clc_release(h);
  lua_settop(L, 1);
  return 1;
}

static int factors_field(lua_State *L) {
  const Factors *x = check_factors(L);
  const char *key = lua_tostring(L, 2);
  if (key == NULL) return 0;
  if (strcmp(key, "n") == 0)
    lua_pushinteger(L, (lua_Integer)x->f.n);
  else if (strcmp(key, "count") == 0 && x->f.is_batch)
    lua_pushinteger(L, (lua_Integer)x->f.count);
  else if (strcmp(key, "dtype") == 0)
    lua_pushstring(L, x->f.lu->dtype->name);
  else if (strcmp(key, "device") == 0)
    clc_pushdevice(L, x->f.lu->device);
  else
    return 0;
  return 1;
}

static int factors_show(lua_State *L) {
  const Factors *x = check_factors(L);
  const LUAI_UACINT n = (LUAI_UACINT)x->f.n;
  if (x->f.is_batch)
    lua_pushfstring(L, "LU factors of %I %s matrices %Ix%I on ", (LUAI_UACINT)x->f.count,
                    x->f.lu->dtype->name, n, n);
  else
    lua_pushfstring(L, "LU factors of a %s matrix %Ix%I on ", x->f.lu->dtype->name, n, n);
  clc_pushdevicetext(L, x->f.lu->device->context->place.device, CL_DEVICE_NAME);
  lua_concat(L, 2);
  return 1;
}

void clc_openfactors(lua_State *L) {
  static const clc_Function functions[] = {{"lu", op_lu, 1}, {NULL, NULL, 0}};
  static const clc_Function methods[] = {{"solve", factors_solve, 1},
                                         {"det", factors_det, 0},
                                         {"rcond", factors_rcond, 0},
                                         {"release", factors_release, 0},
                                         {NULL, NULL, 0}};
  static const luaL_Reg metamethods[] = {{"__close", factors_release}, {NULL, NULL}};
  clc_setfunctions(L, functions);
  clc_opentype(L, &factors_type, factors_field, "n count dtype device", factors_show, methods,
               metamethods);
}
