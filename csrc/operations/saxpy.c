/* SPDX-License-Identifier: MIT */
/***
saxpy: out <- alpha * x + y.
@module clcompute
*/
#include "saxpy.h"

#include "base/base.h"
#include "operand.h"
#include "prebuilt.h"

#define GROUP 256         /* any from 64 on fills the warps of a GPU */
#define CHUNKS 16         /* for each core of a CPU: more than one even out what else runs there */
#define LEAST_CHUNK 16384 /* elements; fewer are not worth another work-item */
#define CHUNK_STEP 2048
#define AHEAD "#define AHEAD 8192\n" /* bytes that POCL's compiler is told to prefetch */

static size_t divide_up(size_t a, size_t b) {
  return (a + b - 1) / b;
}

static void by_chunks(lua_State *L, lua_Number alpha, clc_Buffer *x, clc_Buffer *y,
                      clc_Buffer *out) {
  clc_Device *d = out->device;
  size_t chunk = divide_up(out->count, CHUNKS * d->context->compute_units);
  if (chunk < LEAST_CHUNK) chunk = LEAST_CHUNK;
  chunk = divide_up(chunk, CHUNK_STEP) * CHUNK_STEP;
  clc_Kernel *k = clc_prebuilt(L, d, "saxpy_chunks", out->dtype, d->context->is_pocl ? AHEAD : "");
  const clc_Range range = clc_padded1(divide_up(out->count, chunk), 1);
  clc_run(L, k, &range, clc_size(out->count), clc_size(chunk), clc_number(alpha), clc_elements(x),
          clc_elements(y), clc_elements(out));
}

/* Four elements a work-item where all begin on a vector, else one. */
static void by_items(lua_State *L, lua_Number alpha, clc_Buffer *x, clc_Buffer *y,
                     clc_Buffer *out) {
  const int vectors = (x->offset | y->offset | out->offset) % 4 == 0;
  clc_Kernel *k = clc_prebuilt(L, out->device, vectors ? "saxpy_vectors" : "saxpy", out->dtype, "");
  const clc_Range range = clc_padded1(divide_up(out->count, vectors ? 4 : 1), GROUP);
  clc_run(L, k, &range, clc_size(out->count), clc_number(alpha), clc_elements(x), clc_elements(y),
          clc_elements(out));
}

void clc_saxpy(lua_State *L, lua_Number alpha, clc_Buffer *x, clc_Buffer *y, clc_Buffer *out) {
  if (out->count == 0) return;
  if (out->device->context->is_cpu)
    by_chunks(L, alpha, x, y, out);
  else
    by_items(L, alpha, x, y, out);
  lua_pop(L, 1);
}

static int is_same(const clc_Buffer *a, const clc_Buffer *b) {
  return a->mem == b->mem && a->offset == b->offset;
}

/* Pushes the option, which may be nil. */
static clc_Buffer *check_out(lua_State *L, int arg, const clc_Buffer *x, clc_Buffer *y) {
  static const char *const keys[] = {"out", NULL};
  clc_checkoptions(L, arg, keys);
  clc_Buffer *out = clc_pushbufferoption(L, arg, "out", x);
  if (out == NULL) out = y;
  clc_checkshapeof(L, arg, "out", out, &x->shape);
  /* Element by element in place is fine; shifted, items would read what others wrote. */
  if (clc_overlap(out, x) && !is_same(out, x))
    luaL_error(L, "saxpy: the result overlaps x, shifted");
  if (clc_overlap(out, y) && !is_same(out, y))
    luaL_error(L, "saxpy: the result overlaps y, shifted");
  return out;
}

/***
y <- alpha * x + y, or with `out` (a buffer of the same shape) out <- alpha * x + y
(Borisov 2015, listing 1). Queued.
@function saxpy
@tparam number alpha
@tparam Buffer x float or double
@tparam Buffer y same dtype, shape and device
@tparam[opt] table options `out`
@treturn Buffer y, or out
*/
static int op_saxpy(lua_State *L) {
  const lua_Number alpha = luaL_checknumber(L, 1);
  clc_Buffer *x = clc_checkreal(L, 2);
  clc_Buffer *y = clc_checklike(L, 3, x);
  lua_settop(L, 4);
  clc_checkshapeof(L, 3, NULL, y, &x->shape);
  clc_Buffer *out = check_out(L, 4, x, y);
  clc_saxpy(L, alpha, x, y, out);
  lua_settop(L, lua_isnil(L, 5) ? 3 : 5);
  return 1;
}

void clc_opensaxpy(lua_State *L) {
  static const luaL_Reg functions[] = {{"saxpy", op_saxpy}, {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
