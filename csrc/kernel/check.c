/* SPDX-License-Identifier: MIT */
/* Check mode: the buffers of a launch looked at before and after it. */
#include "kernel.h"

#include <string.h>

#define CHUNK ((size_t)1 << 20) /* bytes that are looked at together */

/* What there was before the launch, in the units of elements. The memory before and after a view
   is that of its neighbours, and of a whole buffer its red zones. */
typedef struct {
  size_t before, after;
  unsigned char *was_nonfinite; /* a bit for each element; NULL: they were not looked at */
  unsigned char elements[];     /* those before, then those after */
} Watch;

/* The buffer of argument i if it was made in check mode. */
static clc_Buffer *test_checked(lua_State *L, const clc_Checked *c, cl_uint i) {
  clc_Buffer *b = clc_testbuffer(L, c->first + (int)i);
  return b != NULL && b->zone > 0 && c->args[i].kind == CLC_BUFFER ? b : NULL;
}

static int is_output(const clc_Argument *a) {
  return a->kind == CLC_BUFFER && !a->is_const;
}

/* Elements of the memory, counted from its start. The queue is empty. What allocates runs
   finalizers, and one could have released the buffer just now. */
static void read_memory(lua_State *L, const clc_Buffer *b, size_t first, size_t n, void *to) {
  const size_t size = b->dtype->size;
  if (b->h.released) luaL_error(L, "buffer is released");
  if (n == 0) return;
  clc_check(L,
            clEnqueueReadBuffer(clc_quickqueue(b->device), b->mem, CL_TRUE, first * size, n * size,
                                to, 0, NULL, NULL),
            "clEnqueueReadBuffer");
}

static size_t least(size_t a, size_t b) {
  return a < b ? a : b;
}

/* --- NaN and infinity -------------------------------------------------- */

/* Of a pointer to another type the elements are no numbers. */
static int has_numbers(const clc_Argument *a, const clc_Buffer *b) {
  return is_output(a) && a->dtype == b->dtype && b->dtype->floating;
}

static int is_unset(const clc_Buffer *b, const void *element) {
  char unset[sizeof(cl_ulong)];
  clc_setpoison(b->dtype, CLC_UNSET, b->poison, unset);
  return memcmp(unset, element, b->dtype->size) == 0;
}

static int was_nonfinite(const Watch *w, size_t i) {
  return (w->was_nonfinite[i / 8] >> i % 8 & 1) != 0;
}

/* What a pass over a buffer found. */
typedef struct {
  size_t count, first;
  char element[sizeof(cl_ulong)];
} Found;

/* Goes over the NaN and infinities that are no poison of the buffer's own. Before the launch
   (found == NULL) the watch notes them; after it those that it has not noted are counted. */
static void scan(lua_State *L, const clc_Buffer *b, Watch *w, Found *found) {
  const size_t size = b->dtype->size, chunk = least(b->count, CHUNK / size);
  char *elements = lua_newuserdatauv(L, chunk * size, 0);
  for (size_t start = 0; start < b->count; start += chunk) {
    const size_t n = least(b->count - start, chunk);
    read_memory(L, b, b->offset + start, n, elements);
    size_t i = clc_findnonfinite(b->dtype, elements, 0, n);
    for (; i < n; i = clc_findnonfinite(b->dtype, elements, i + 1, n)) {
      const size_t at = start + i;
      if (is_unset(b, elements + i * size)) continue;
      if (found == NULL) {
        w->was_nonfinite[at / 8] = (unsigned char)(w->was_nonfinite[at / 8] | 1u << at % 8);
      } else if (!was_nonfinite(w, at) && found->count++ == 0) {
        found->first = at;
        memcpy(found->element, elements + i * size, size);
      }
    }
  }
  lua_pop(L, 1);
}

/* Pushes the 1-based place of an element: "7" or "[2, 3]". */
static const char *push_place(lua_State *L, const clc_Shape *shape, size_t i) {
  if (shape->n == 1) return lua_pushfstring(L, "%I", (LUAI_UACINT)(i + 1));
  lua_pushliteral(L, "]");
  for (int dim = shape->n - 1; dim >= 0; i /= shape->dim[dim--]) {
    lua_pushfstring(L, "%s%I%s", dim == 0 ? "[" : ", ", (LUAI_UACINT)(i % shape->dim[dim] + 1),
                    lua_tostring(L, -1));
    lua_remove(L, -2);
  }
  return lua_tostring(L, -1);
}

/* Pushes where poison came from, "" where nothing is known of it. */
static const char *push_source(lua_State *L, const clc_Checked *c, const clc_Dtype *dtype,
                               const void *element) {
  unsigned mark;
  const clc_Poison kind = clc_readpoison(dtype, element, &mark);
  if (kind == CLC_CLEAN) return lua_pushliteral(L, "");
  const char *of = "a buffer";
  for (cl_uint i = 0; i < c->nargs; i++) {
    const clc_Buffer *b = test_checked(L, c, i);
    if (b == NULL || b->poison != mark) continue;
    of = lua_pushfstring(L, "argument %d '%s'", (int)i + 1, c->args[i].name);
    break;
  }
  return lua_pushfstring(L,
                         kind == CLC_UNSET ? ", made of an element of %s that was never written"
                                           : ", made of what lies outside of %s",
                         of);
}

static void check_numbers(lua_State *L, const clc_Checked *c, cl_uint i, const clc_Buffer *b,
                          Watch *w) {
  Found found = {0};
  scan(L, b, w, &found);
  if (found.count == 0) return;
  const char *source = push_source(L, c, b->dtype, found.element);
  const char *others =
      found.count == 1
          ? ""
          : lua_pushfstring(L, ", the first of %I that are not finite", (LUAI_UACINT)found.count);
  clc_argumenterror(L, c->kernel_name, i, &c->args[i],
                    "element %s became %s%s%s; check mode looks for it: where it is meant, "
                    "make the buffer under d:check(false)",
                    push_place(L, &b->shape, found.first),
                    clc_nonfinitename(b->dtype, found.element), others, source);
}

/* --- the memory round a buffer ----------------------------------------- */

/* Whether the kernel may write an element of the memory as part of another argument. */
static int is_covered(lua_State *L, const clc_Checked *c, const clc_Buffer *b, size_t at) {
  const size_t size = b->dtype->size;
  for (cl_uint i = 0; i < c->nargs; i++) {
    const clc_Buffer *other = test_checked(L, c, i);
    if (other != NULL && is_output(&c->args[i]) && clc_covers(other, b->mem, at * size, size))
      return 1;
  }
  return 0;
}

/* The red zones get back what they held: the next launch is to be found out as well. Elements of a
   view's neighbours stay as the kernel left them. */
static void mend_zones(lua_State *L, const clc_Buffer *b, const Watch *w) {
  const size_t size = b->dtype->size, end = b->offset + b->count;
  const size_t zone = b->zone * size, rear = b->allocated - zone;
  if (b->offset == b->zone)
    clc_check(L,
              clEnqueueWriteBuffer(clc_quickqueue(b->device), b->mem, CL_TRUE, 0, zone, w->elements,
                                   0, NULL, NULL),
              "clEnqueueWriteBuffer");
  if (end * size == rear)
    clc_check(L,
              clEnqueueWriteBuffer(clc_quickqueue(b->device), b->mem, CL_TRUE, rear, zone,
                                   w->elements + w->before * size, 0, NULL, NULL),
              "clEnqueueWriteBuffer");
}

/* Raises that an element so far away from a buffer was written. The rows of packed bytes are the
   structs that the kernel knows them as. */
static void raise_outside(lua_State *L, const clc_Checked *c, cl_uint i, const clc_Buffer *b,
                          size_t away, int step) {
  const clc_Argument *a = &c->args[i];
  const int is_struct = a->dtype == NULL && b->dtype->size == 1 && b->shape.n == 2;
  const size_t count = is_struct ? b->shape.dim[0] : b->count;
  if (is_struct) away = (away - 1) / b->shape.dim[1] + 1;
  const lua_Integer place = step > 0 ? (lua_Integer)(count + away) : 1 - (lua_Integer)away;
  clc_argumenterror(L, c->kernel_name, i, a, "%s %I was written, %I %s of %I",
                    is_struct ? "struct" : "element", (LUAI_UACINT)place, (LUAI_UACINT)away,
                    step > 0 ? "after the last" : "before the first", (LUAI_UACINT)count);
}

/* Raises where one of n elements from `first` of the memory on is not what it was. The nearest to
   the buffer counts: `step` is 1 after it and -1 before it. */
static void check_part(lua_State *L, const clc_Checked *c, cl_uint i, const clc_Buffer *b,
                       const Watch *w, size_t n, int step) {
  const size_t size = b->dtype->size;
  const size_t first = step > 0 ? b->offset + b->count : b->offset - n;
  const unsigned char *was = w->elements + (step > 0 ? w->before * size : 0);
  unsigned char *is = lua_newuserdatauv(L, n * size, 0);
  read_memory(L, b, first, n, is);
  for (size_t away = 1; away <= n; away++) {
    const size_t at = step > 0 ? away - 1 : n - away;
    if (memcmp(is + at * size, was + at * size, size) == 0 || is_covered(L, c, b, first + at))
      continue;
    mend_zones(L, b, w);
    raise_outside(L, c, i, b, away, step);
  }
  lua_pop(L, 1);
}

/* --- a launch ---------------------------------------------------------- */

static void push_watch(lua_State *L, const clc_Buffer *b, int is_scanned) {
  const size_t size = b->dtype->size, end = b->offset + b->count;
  const size_t before = least(b->zone, b->offset);
  const size_t after = least(b->zone, b->allocated / size - end);
  const size_t round = (before + after) * size;
  const size_t bits = is_scanned ? b->count / 8 + 1 : 0;
  Watch *w = lua_newuserdatauv(L, sizeof *w + round + bits, 0);
  w->before = before;
  w->after = after;
  w->was_nonfinite = bits > 0 ? w->elements + round : NULL;
  memset(w->elements + round, 0, bits);
  read_memory(L, b, b->offset - before, before, w->elements);
  read_memory(L, b, end, after, w->elements + before * size);
  if (bits > 0) scan(L, b, w, NULL);
}

/* Raises where the kernel reads as const what it may write. */
static void check_aliases(lua_State *L, const clc_Checked *c, cl_uint i) {
  const clc_Buffer *output = test_checked(L, c, i);
  if (output == NULL || !is_output(&c->args[i])) return;
  for (cl_uint j = 0; j < c->nargs; j++) {
    const clc_Buffer *input = test_checked(L, c, j);
    if (input != NULL && c->args[j].is_const && clc_overlap(output, input))
      clc_argumenterror(L, c->kernel_name, i, &c->args[i],
                        "is written, and shares elements with argument %d '%s', which is const",
                        (int)j + 1, c->args[j].name);
  }
}

void clc_begincheck(lua_State *L, clc_Checked *c) {
  cl_uint checked = 0;
  c->watches = 0;
  if (!c->device->context->has_checked) return;
  for (cl_uint i = 0; i < c->nargs; i++) checked += test_checked(L, c, i) != NULL;
  if (checked == 0) return;
  if (clc_getrecording(c->device) != NULL)
    luaL_error(L,
               "kernel '%s' cannot be recorded with buffers that were made in check mode, which "
               "looks at them round each launch: d:check(false) before they are made",
               c->kernel_name);
  luaL_checkstack(L, (int)c->nargs + 10, NULL);
  for (cl_uint i = 0; i < c->nargs; i++) check_aliases(L, c, i);
  clc_settleall(L, c->device->context);
  clc_drain(L, c->device);
  c->watches = lua_gettop(L) + 1;
  for (cl_uint i = 0; i < c->nargs; i++) {
    const clc_Buffer *b = test_checked(L, c, i);
    if (b == NULL)
      lua_pushnil(L);
    else
      push_watch(L, b, !c->is_compiled && has_numbers(&c->args[i], b));
  }
}

void clc_endcheck(lua_State *L, const clc_Checked *c) {
  if (c->watches == 0) return;
  clc_drain(L, c->device);
  for (cl_uint i = 0; i < c->nargs; i++) {
    const clc_Buffer *b = test_checked(L, c, i);
    Watch *w = lua_touserdata(L, c->watches + (int)i);
    if (b == NULL || w == NULL) continue; /* a hook may have released it */
    check_part(L, c, i, b, w, w->before, -1);
    check_part(L, c, i, b, w, w->after, 1);
    if (w->was_nonfinite != NULL) check_numbers(L, c, i, b, w);
  }
}

static int device_check(lua_State *L) {
  clc_Device *d = clc_checkdevice(L, 1);
  luaL_checktype(L, 2, LUA_TBOOLEAN);
  d->context->checks = lua_toboolean(L, 2);
  lua_settop(L, 1);
  return 1;
}

void clc_openchecks(lua_State *L) {
  static const clc_Function methods[] = {{"check", device_check, 1}, {NULL, NULL, 0}};
  clc_addmethods(L, &clc_devicetype, methods);
}
