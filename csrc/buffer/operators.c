/* SPDX-License-Identifier: MIT */
/*
 * Operators: buffers that they make, as a + b, are expressions, whose elements are computed when
 * something asks for them (deferred.c), those of a + b * c by one kernel. Until then such a buffer
 * has a term (term.c), which holds the memory of its leaves, so that a script may drop them.
 */
#include <string.h>

#include "term.h"

#define MOST_SHARED 8 /* operands of what several expressions compute, each for itself */
#define OTHERS 64     /* bytes of a kernel's arguments besides those of operands, at most */

/* --- operators --------------------------------------------------------------- */

#define INFIX(event, symbol, rule) \
  { event, symbol, 2, rule, "($T)($A " symbol " $B)", "($T)($A " symbol " $B)" }
#define COMPARISON(name, symbol) \
  { NULL, name, 2, CLC_TRUTH, "($T)($A " symbol " $B)", "($T)($A " symbol " $B)" }
#define FUNCTION(name) \
  { NULL, name, 1, CLC_REAL, NULL, name "($A)" }

static const clc_Operator operators[] = {
    INFIX("__add", "+", CLC_COMMON),
    INFIX("__sub", "-", CLC_COMMON),
    INFIX("__mul", "*", CLC_COMMON),
    INFIX("__div", "/", CLC_REAL),
    {"__idiv", "//", 2, CLC_COMMON, "clc_divide_$C($A, $B)", "floor($A / $B)"},
    {"__mod", "%", 2, CLC_COMMON, "clc_modulo_$C($A, $B)", "clc_modulo_$C($A, $B)"},
    {"__pow", "^", 2, CLC_REAL, NULL, "pow($A, $B)"},
    {"__unm", "-", 1, CLC_COMMON, "($T)(-$A)", "(-$A)"},
    INFIX("__band", "&", CLC_WHOLE),
    INFIX("__bor", "|", CLC_WHOLE),
    {"__bxor", "~", 2, CLC_WHOLE, "($T)($A ^ $B)", NULL},
    {"__bnot", "~", 1, CLC_WHOLE, "($T)(~$A)", NULL},
    COMPARISON("eq", "=="),
    COMPARISON("ne", "!="),
    COMPARISON("lt", "<"),
    COMPARISON("le", "<="),
    COMPARISON("gt", ">"),
    COMPARISON("ge", ">="),
    {NULL, "minimum", 2, CLC_COMMON, "min($A, $B)", "clc_minimum_$C($A, $B)"},
    {NULL, "maximum", 2, CLC_COMMON, "max($A, $B)", "clc_maximum_$C($A, $B)"},
    {NULL, "abs", 1, CLC_COMMON, "($T)abs($A)", "fabs($A)"},
    FUNCTION("sqrt"),
    FUNCTION("exp"),
    FUNCTION("log"),
    FUNCTION("sin"),
    FUNCTION("cos"),
    FUNCTION("tan"),
    FUNCTION("tanh"),
    FUNCTION("floor"),
    FUNCTION("ceil"),
};
#define NOPERATORS ((int)(sizeof operators / sizeof *operators))

/* x ^ 2, which a product is exact for and quick. */
static const clc_Operator square = {"__pow", "^", 1, CLC_REAL, NULL, "clc_square_$C($A)"};

/* --- making them ------------------------------------------------------------------ */

/* What an operand is called in messages. */
static const char *push_place(lua_State *L, const clc_Operator *op, int arg) {
  if (op->event == NULL) return lua_pushfstring(L, "%s: argument %d", op->symbol, arg);
  if (op->arity == 1) return lua_pushfstring(L, "the operand of '%s'", op->symbol);
  return lua_pushfstring(L, "the %s operand of '%s'", arg == 1 ? "left" : "right", op->symbol);
}

/* Pushes the name of an operator, as a message begins. */
static const char *push_name(lua_State *L, const clc_Operator *op) {
  return op->event == NULL ? op->symbol : lua_pushfstring(L, "'%s'", op->symbol);
}

/* What stands in the place of a buffer, and how a buffer is made of it. */
static const char *push_got(lua_State *L, int arg) {
  if (luaL_testudata(L, arg, clc_buffertype.tname) != NULL) return "a released one";
  if (luaL_testudata(L, arg, clc_hosttype.tname) != NULL)
    return "host array; b:write(h) puts it into a buffer";
  if (lua_istable(L, arg) && !lua_getmetatable(L, arg)) return "table; d:buffer(t) makes one of it";
  return clc_typename(L, arg);
}

/* A buffer, or NULL for a number; raises for anything else. */
static clc_Buffer *check_operand(lua_State *L, const clc_Operator *op, int arg) {
  if (lua_type(L, arg) == LUA_TNUMBER) return NULL;
  clc_Buffer *b = clc_testhandle(L, arg, &clc_buffertype);
  if (b == NULL)
    luaL_error(L, "%s: buffer%s expected, got %s", push_place(L, op, arg),
               op->arity > 1 ? " or number" : "", push_got(L, arg));
  return b;
}

/* What the operands become: the dtype that comes last of those of the buffers, float for integers
   beside a Lua float or where the rule asks for it. */
static const clc_Dtype *find_common(lua_State *L, const clc_Operator *op, clc_Buffer *const b[]) {
  const clc_Dtype *common = NULL;
  int is_real = op->rule == CLC_REAL;
  for (int i = 0; i < op->arity; i++) {
    if (b[i] == NULL)
      is_real = is_real || !lua_isinteger(L, i + 1);
    else if (common == NULL || b[i]->dtype > common) /* as the rows of their table */
      common = b[i]->dtype;
  }
  if (op->rule == CLC_WHOLE && (common->floating || is_real))
    luaL_error(L, "%s takes integers, got %s", push_name(L, op),
               common->floating ? common->name : "a float");
  return is_real && !common->floating ? clc_float : common;
}

/* Raises unless a number can be one of a type. */
static void check_number(lua_State *L, const clc_Operator *op, int arg, const clc_Dtype *dtype) {
  char element[sizeof(cl_ulong)];
  if (!dtype->to(L, arg, element))
    luaL_error(L, "%s: %s", push_place(L, op, arg), clc_pushmismatch(L, arg, dtype));
}

/* Whether shapes would go together if the shorter one had kept an extent of 1 along an axis, as a
   reduction with `keep` does. */
static int lacks_axis(const clc_Shape *longer, const clc_Shape *other) {
  int at = 0;
  if (longer->n != other->n + 1) return 0;
  while (at < other->n && longer->dim[at] == other->dim[at]) at++;
  for (int i = at; i < other->n; i++)
    if (longer->dim[i + 1] != other->dim[i]) return 0;
  return 1;
}

/* The shape of both, one of which may have 1 where the other has more, or fewer dimensions. */
static clc_Shape broadcast(lua_State *L, const clc_Operator *op, const clc_Shape *a,
                           const clc_Shape *b) {
  const clc_Shape *longer = a->n >= b->n ? a : b, *other = a->n >= b->n ? b : a;
  clc_Shape shape = *longer;
  for (int i = 0; i < other->n; i++) {
    size_t *extent = &shape.dim[shape.n - other->n + i];
    const size_t wanted = other->dim[i];
    if (*extent != wanted && *extent != 1 && wanted != 1)
      luaL_error(L, "%s: shapes %s and %s do not go together%s", push_name(L, op),
                 clc_pushshape(L, a), clc_pushshape(L, b),
                 lacks_axis(longer, other) ? "; keep = true of a reduction keeps the axis" : "");
    if (*extent == 1) *extent = wanted;
  }
  return shape;
}

/* The term of argument `arg`: what a buffer waits for, its memory, or a number. */
static clc_Term *find_term(lua_State *L, clc_Device *d, clc_Buffer *b, int arg) {
  if (b != NULL && b->term != NULL) {
    b->term->refs++;
    return b->term;
  }
  if (b != NULL) return clc_newleaf(L, d, b);
  clc_Term *t = clc_newterm(L);
  t->is_integer = lua_isinteger(L, arg);
  t->integer = lua_tointeger(L, arg);
  t->number = lua_tonumber(L, arg);
  return t;
}

static unsigned count_operands(const clc_Buffer *b) {
  return b != NULL && b->term != NULL ? b->term->operands : 1;
}

/* Whether another expression has it too, and it is much: what goes on from step to step would
   otherwise become an ever longer kernel, or many. */
static int is_shared(const clc_Buffer *b) {
  return b != NULL && b->term != NULL && b->term->refs > 1 && b->term->operands > MOST_SHARED;
}

/* Operands that a kernel has arguments for, where they lie otherwise than the result: of each the
   memory, where it begins, and a step along each dimension. */
static unsigned most_operands(clc_Buffer *const b[]) {
  size_t most = CLC_OPERANDS;
  for (int i = 0; i < CLC_ARITY; i++) {
    if (b[i] == NULL) continue;
    const size_t each = (2 + (size_t)b[i]->shape.n) * sizeof(cl_ulong);
    const size_t fitting = (b[i]->device->context->max_arguments - OTHERS) / each;
    if (fitting < most) most = fitting;
  }
  return (unsigned)most;
}

/* Computes operands of another queue, whose device may end before this one's, what is shared, and
   the larger one of those that are too many for one kernel. */
static void shorten(lua_State *L, clc_Buffer *const b[]) {
  for (int i = 0; i < CLC_ARITY; i++)
    if (is_shared(b[i])) clc_compute(L, b[i]);
  if (b[0] != NULL && b[1] != NULL && b[0]->device != b[1]->device) clc_compute(L, b[1]);
  while (count_operands(b[0]) + count_operands(b[1]) > most_operands(b))
    clc_compute(L, count_operands(b[0]) >= count_operands(b[1]) ? b[0] : b[1]);
}

static void check_devices(lua_State *L, const clc_Operator *op, clc_Buffer *const b[]) {
  const char *complaint =
      b[0] != NULL && b[1] != NULL ? clc_devicecomplaint(b[1], b[0]->device) : NULL;
  if (complaint != NULL) luaL_error(L, "%s: %s", push_place(L, op, 2), complaint);
}

/* Pushes a buffer that waits for an operator's result. */
static void push_expression(lua_State *L, const clc_Operator *op, clc_Buffer *const b[]) {
  const clc_Buffer *first = b[0] != NULL ? b[0] : b[1];
  const clc_Dtype *common = find_common(L, op, b);
  const clc_Dtype *dtype = op->rule == CLC_TRUTH ? clc_finddtype("uchar", 5) : common;
  const clc_Shape shape =
      b[0] != NULL && b[1] != NULL ? broadcast(L, op, &b[0]->shape, &b[1]->shape) : first->shape;
  clc_checkmemory(L, &shape, dtype);
  for (int i = 0; i < op->arity; i++)
    if (b[i] == NULL) check_number(L, op, i + 1, common);
  clc_Buffer *made = clc_pushbuffer(L, first->device, dtype, &shape);
  if ((b[0] != NULL && b[0]->h.released) || (b[1] != NULL && b[1]->h.released))
    luaL_error(L, "%s: a buffer" CLC_RELEASED, push_name(L, op));
  if (made->count == 0) return;
  clc_Term *t = clc_newterm(L);
  made->term = t;
  clc_begindeferral(made);
  t->op = op;
  t->dtype = dtype;
  t->shape = shape;
  t->common = common;
  t->operands = op->arity == 1;
  for (int i = 0; i < op->arity; i++) {
    t->operand[i] = find_term(L, first->device, b[i], i + 1);
    t->operands += t->operand[i]->operands;
  }
  clc_keepdeferred(L, made);
}

/* Upvalue: the operator. */
static int combine(lua_State *L) {
  const clc_Operator *op = lua_touserdata(L, lua_upvalueindex(1));
  clc_Buffer *b[CLC_ARITY] = {NULL, NULL};
  if (op->event == NULL) {
    clc_checkcount(L, op->symbol, op->arity, 0);
    for (int i = 1; i <= lua_gettop(L); i++)
      if (clc_isspread(L, i)) return clc_callspread(L, op->symbol);
  }
  lua_settop(L, op->arity); /* Lua gives the operand of a unary one twice */
  for (int i = 0; i < op->arity; i++) b[i] = check_operand(L, op, i + 1);
  if (b[0] == NULL && b[1] == NULL)
    luaL_error(L,
               op->arity == 1 ? "%s: argument 1: buffer expected, got number"
                              : "%s: a buffer expected among the arguments, got two numbers",
               op->symbol);
  check_devices(L, op, b);
  if (strcmp(op->symbol, "^") == 0 && b[1] == NULL && lua_tonumber(L, 2) == 2) op = &square;
  clc_usedevice(L, (b[0] != NULL ? b[0] : b[1])->device);
  shorten(L, b);
  lua_settop(L, 2);
  push_expression(L, op, b);
  return 1;
}

/* Upvalues: "<" and "lt", or "<=" and "le". Lua has a > b be b < a. */
static int refuse_order(lua_State *L) {
  const char *sign = lua_tostring(L, lua_upvalueindex(1));
  const char *name = lua_tostring(L, lua_upvalueindex(2));
  return luaL_error(L,
                    "'%s' of buffers has no one answer: cl.%s(a, b) compares the elements, "
                    "cl.g%s(a, b) for a >%s b",
                    sign, name, name + 1, sign + 1);
}

static int refuse_concat(lua_State *L) {
  return luaL_error(L,
                    "'..' is for texts: tostring(b) is one, cl.concat(a, b) has the elements of "
                    "one buffer behind those of another");
}

static void push_combine(lua_State *L, const clc_Operator *op) {
  lua_pushlightuserdata(L, (void *)op);
  lua_pushcclosure(L, combine, 1);
}

static void add_orders(lua_State *L) {
  static const char *const orders[][3] = {{"__lt", "<", "lt"}, {"__le", "<=", "le"}};
  for (int i = 0; i < 2; i++) {
    lua_pushstring(L, orders[i][1]);
    lua_pushstring(L, orders[i][2]);
    lua_pushcclosure(L, refuse_order, 2);
    lua_setfield(L, -2, orders[i][0]);
  }
}

/* Host arrays have them too: what they raise says how elements get into a buffer. */
static void add_events(lua_State *L, const clc_Type *type) {
  luaL_getmetatable(L, type->tname);
  for (const clc_Operator *op = operators; op < operators + NOPERATORS; op++) {
    if (op->event == NULL) continue;
    push_combine(L, op);
    lua_setfield(L, -2, op->event);
  }
  lua_pushcfunction(L, refuse_concat);
  lua_setfield(L, -2, "__concat");
  add_orders(L);
  lua_pop(L, 1);
}

void clc_openoperators(lua_State *L) {
  clc_opendeferred(L);
  clc_openslices(L);
  for (const clc_Operator *op = operators; op < operators + NOPERATORS; op++) {
    if (op->event != NULL) continue;
    push_combine(L, op);
    lua_setfield(L, -2, op->symbol);
  }
  add_events(L, &clc_buffertype);
  add_events(L, &clc_hosttype);
}
