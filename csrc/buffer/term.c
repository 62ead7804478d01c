/* SPDX-License-Identifier: MIT */
/* Terms: memory and numbers, the text of a tree of operators over them, and where elements lie. */
#include "term.h"

#include <string.h>

/* --- terms ------------------------------------------------------------------- */

clc_Term *clc_newterm(lua_State *L) {
  const clc_Allocator own = clc_getallocator(L);
  clc_Term *t = own.call(own.data, NULL, 0, sizeof *t);
  if (t == NULL) luaL_error(L, "not enough memory");
  *t = (clc_Term){.refs = 1, .operands = 1, .allocator = own};
  t->leaf.previous = t->leaf.sharer = &t->leaf;
  return t;
}

void clc_dropterm(clc_Term *t) {
  if (t == NULL || --t->refs > 0) return;
  for (int i = 0; i < CLC_ARITY; i++) clc_dropterm(t->operand[i]);
  clc_buffertype.release(&t->leaf.h);
  t->allocator.call(t->allocator.data, t, sizeof *t, 0);
}

/* Makes it one of memory, that of the buffer, for expressions of a device; returns the driver's
   code. */
cl_int clc_becomeleaf(clc_Term *t, clc_Buffer *b, clc_Device *d) {
  const cl_int code = clc_sharememory(&t->leaf, b);
  if (code != CL_SUCCESS) return code;
  t->leaf.device = d;
  t->leaf.offset = b->offset;
  t->leaf.poison = b->poison;
  t->leaf.dtype = t->dtype = b->dtype;
  t->shape = b->shape;
  for (size_t i = (size_t)b->shape.n, step = 1; i-- > 0; step *= b->shape.dim[i]) t->step[i] = step;
  for (int i = 0; i < CLC_ARITY; i++) clc_dropterm(t->operand[i]);
  t->operand[0] = t->operand[1] = NULL;
  t->op = NULL;
  t->operands = 1;
  return code;
}

int clc_usesmemory(const clc_Term *t, cl_mem mem) {
  if (t == NULL) return 0;
  return t->leaf.mem == mem || clc_usesmemory(t->operand[0], mem) ||
         clc_usesmemory(t->operand[1], mem);
}

clc_Term *clc_newleaf(lua_State *L, clc_Device *d, clc_Buffer *b) {
  clc_Term *t = clc_newterm(L);
  const cl_int code = clc_becomeleaf(t, b, d);
  if (code != CL_SUCCESS) clc_dropterm(t);
  clc_check(L, code, "clRetainMemObject");
  return t;
}

void clc_copyterm(lua_State *L, const clc_Term *t, clc_Term **copy) {
  clc_Term *c = *copy = clc_newterm(L);
  *c = *t;
  c->refs = 1;
  c->leaf.mem = NULL;
  c->leaf.previous = c->leaf.sharer = &c->leaf;
  for (int i = 0; i < CLC_ARITY; i++) c->operand[i] = NULL;
  if (t->leaf.mem != NULL) /* of the other one only its place in the ring changes */
    clc_check(L, clc_sharememory(&c->leaf, (clc_Buffer *)&t->leaf), "clRetainMemObject");
  for (int i = 0; i < CLC_ARITY; i++)
    if (t->operand[i] != NULL) clc_copyterm(L, t->operand[i], &c->operand[i]);
}

/* --- the text of a term -------------------------------------------------------- */

/* What a kernel computes from. */
typedef struct {
  const clc_Term *memory[CLC_OPERANDS], *number[CLC_OPERANDS];
  const clc_Dtype *type[CLC_OPERANDS]; /* of each number */
  int nmemory, nnumbers;
} Operands;

/* The type that elements are computed in. */
static const char *type_name(const clc_Dtype *dtype) {
  return dtype->floating && dtype->size < clc_float->size ? clc_float->name : dtype->name;
}

static int is_same(const clc_Term *a, const clc_Term *b) {
  int same = a->leaf.mem == b->leaf.mem && a->leaf.offset == b->leaf.offset &&
             a->dtype == b->dtype && clc_sameshape(&a->shape, &b->shape);
  for (int i = 0; same && i < a->shape.n; i++) same = a->step[i] == b->step[i];
  return same;
}

static int find_memory(Operands *o, const clc_Term *t) {
  for (int i = 0; i < o->nmemory; i++)
    if (is_same(o->memory[i], t)) return i;
  o->memory[o->nmemory] = t;
  return o->nmemory++;
}

static void push_operator(lua_State *L, const clc_Term *t, int first);

/* Pushes the text of a term as a value of a type. */
static void push_text(lua_State *L, Operands *o, const clc_Term *t, const clc_Dtype *type) {
  if (t->dtype == NULL) {
    o->type[o->nnumbers] = type;
    o->number[o->nnumbers++] = t;
    lua_pushfstring(L, "arg_s%d", o->nnumbers);
    return;
  }
  if (t->op == NULL) {
    lua_pushfstring(L, "arg_x%d", find_memory(o, t) + 1);
  } else {
    const int first = lua_gettop(L) + 1;
    luaL_checkstack(L, 8, NULL);
    for (int i = 0; i < t->op->arity; i++) push_text(L, o, t->operand[i], t->common);
    push_operator(L, t, first);
    lua_replace(L, first);
    lua_settop(L, first);
  }
  if (type_name(t->dtype) == type_name(type)) return;
  lua_pushfstring(L, "(%s)%s", type_name(type), lua_tostring(L, -1));
  lua_remove(L, -2);
}

/* Pushes an operator's text with those of its operands, which stand from `first` on. */
static void push_operator(lua_State *L, const clc_Term *t, int first) {
  luaL_Buffer text;
  luaL_buffinit(L, &text);
  for (const char *c = t->common->floating ? t->op->floating : t->op->integer; *c != '\0'; c++) {
    if (*c != '$') {
      luaL_addchar(&text, *c);
      continue;
    }
    switch (*++c) {
      case 'T': luaL_addstring(&text, type_name(t->dtype)); break;
      case 'C': luaL_addstring(&text, type_name(t->common)); break;
      default: luaL_addstring(&text, lua_tostring(L, first + *c - 'A'));
    }
  }
  luaL_pushresult(&text);
}

/* --- where elements lie ------------------------------------------------------- */

/* Extents of the result from the outer to the inner one, and how many elements of each operand lie
   between neighbours along them; neighbouring dimensions are one where that is the same. */
typedef struct {
  int n;
  size_t extent[CLC_MAXDIMS], step[CLC_MAXDIMS][CLC_OPERANDS];
} Layout;

/* The step of an operand along a dimension of the result: 0 where it has but one element there. */
static size_t find_step(const clc_Term *operand, const clc_Shape *result, int dimension) {
  const int at = dimension - (result->n - operand->shape.n);
  return at < 0 || operand->shape.dim[at] == 1 ? 0 : operand->step[at];
}

/* Whether dimension `inner` goes on where the last one of the layout does one step. */
static int is_joined(const Layout *l, const size_t *steps, size_t extent, int operands) {
  for (int k = 0; k < operands; k++)
    if (l->step[l->n - 1][k] != steps[k] * extent) return 0;
  return 1;
}

static Layout find_layout(const clc_Shape *result, const Operands *o) {
  Layout l = {0};
  for (int i = 0; i < result->n; i++) {
    size_t steps[CLC_OPERANDS];
    if (result->dim[i] == 1) continue;
    for (int k = 0; k < o->nmemory; k++) steps[k] = find_step(o->memory[k], result, i);
    if (l.n > 0 && is_joined(&l, steps, result->dim[i], o->nmemory))
      l.extent[l.n - 1] *= result->dim[i];
    else
      l.extent[l.n++] = result->dim[i];
    memcpy(l.step[l.n - 1], steps, sizeof steps);
  }
  return l;
}

/* Pushes a layout: {extents =, steps of each operand...}; nil where all lie as the result does. */
static void push_layout(lua_State *L, const clc_Shape *result, const Operands *o) {
  const Layout l = find_layout(result, o);
  int is_plain = l.n <= 1;
  for (int k = 0; is_plain && k < o->nmemory; k++) is_plain = l.n == 0 || l.step[0][k] == 1;
  if (is_plain) {
    lua_pushnil(L);
    return;
  }
  lua_createtable(L, o->nmemory, 1);
  clc_pushextents(L, l.n, l.extent);
  lua_setfield(L, -2, "extents");
  for (int k = 0; k < o->nmemory; k++) {
    size_t steps[CLC_MAXDIMS];
    for (int i = 0; i < l.n; i++) steps[i] = l.step[i][k];
    clc_pushextents(L, l.n, steps);
    lua_rawseti(L, -2, k + 1);
  }
}

static void push_number(lua_State *L, const clc_Term *t) {
  if (t->is_integer)
    lua_pushinteger(L, t->integer);
  else
    lua_pushnumber(L, t->number);
}

/* Elements of memory from the first one that a leaf has to its last. */
static size_t find_span(const clc_Term *leaf) {
  size_t span = 1;
  for (int i = 0; i < leaf->shape.n; i++) span += (leaf->shape.dim[i] - 1) * leaf->step[i];
  return span;
}

int clc_pushexpression(lua_State *L, const clc_Term *t, const clc_Shape *shape) {
  Operands o = {0};
  const int top = lua_gettop(L);
  luaL_checkstack(L, 3 * CLC_OPERANDS + 10, "too many operands");
  push_text(L, &o, t, t->dtype);
  push_layout(L, shape, &o);
  lua_pushinteger(L, o.nmemory);
  for (int i = 0; i < o.nmemory; i++) {
    const clc_Term *leaf = o.memory[i];
    const clc_Shape span = {1, {find_span(leaf)}};
    clc_newview(L, (clc_Buffer *)&leaf->leaf, 0, &span); /* only its place in the ring changes */
  }
  for (int i = 0; i < o.nnumbers; i++) {
    push_number(L, o.number[i]);
    lua_pushstring(L, type_name(o.type[i]));
  }
  return lua_gettop(L) - top;
}

void clc_evaluate(lua_State *L, const clc_Term *t, const clc_Shape *shape, int out) {
  luaL_checkstack(L, 5, NULL);
  clc_getinternal(L, "evaluate");
  lua_pushvalue(L, out);
  lua_call(L, 1 + clc_pushexpression(L, t, shape), 0);
}
