/* SPDX-License-Identifier: MIT */
/*
 * CLBlast, a peer to be compared with on the same OpenCL device. Its headers are not needed:
 * what is called of them is declared here. Of clcompute it uses what a script could: the fields
 * of a buffer, and the raw handles behind it.
 */
#define _POSIX_C_SOURCE 200809L
#include "peers.h"

#include <string.h>
#include <unistd.h>

static const char TNAME[] = "clcompute.CLBlast";

/* The event is not wanted, so it is NULL and there is none to release. */
#define GEMM(real)                                                                          \
  (int layout, int transa, int transb, size_t m, size_t n, size_t k, real alpha, cl_mem a,  \
   size_t a_offset, size_t lda, cl_mem b, size_t b_offset, size_t ldb, real beta, cl_mem c, \
   size_t c_offset, size_t ldc, cl_command_queue *queue, cl_event *event)
#define AXPY(real)                                                                          \
  (size_t n, real alpha, cl_mem x, size_t x_offset, size_t incx, cl_mem y, size_t y_offset, \
   size_t incy, cl_command_queue * queue, cl_event * event)
#define DOT                                                                                   \
  (size_t n, cl_mem out, size_t out_offset, cl_mem x, size_t x_offset, size_t incx, cl_mem y, \
   size_t y_offset, size_t incy, cl_command_queue * queue, cl_event * event)

#define FUNCTIONS(F)            \
  F(CLBlastSgemm, GEMM(float))  \
  F(CLBlastDgemm, GEMM(double)) \
  F(CLBlastSaxpy, AXPY(float))  \
  F(CLBlastDaxpy, AXPY(double)) \
  F(CLBlastSdot, DOT)           \
  F(CLBlastDdot, DOT)           \
  F(CLBlastClearCache, (void))

typedef struct {
  clc_Object object;
#define FIELD(name, parameters) int(*name) parameters;
  FUNCTIONS(FIELD)
#undef FIELD
  pid_t pid; /* the process whose OpenCL it uses */
  int released;
} CLBlast;

static const clc_Symbol symbols[] = {
#define SYMBOL(name, parameters) {#name, offsetof(CLBlast, name)},
    FUNCTIONS(SYMBOL)
#undef SYMBOL
        {NULL, 0}};

static const clc_Library library = {
    "CLCOMPUTE_CLBLAST", {"libclblast.so.1", "libclblast.so", NULL}, "libclblast1", symbols};

/* --- codes ------------------------------------------------------------- */

/* Those of its own; the others are OpenCL's. */
static const struct {
  int code;
  const char *words;
} codes[] = {
    {-1024, "not implemented"},
    {-1022, "a is no buffer of this context"},
    {-1021, "b is no buffer of this context"},
    {-1020, "c is no buffer of this context"},
    {-1019, "x is no buffer of this context"},
    {-1018, "y is no buffer of this context"},
    {-1017, "a size is 0"},
    {-1011, "a is too small"},
    {-1010, "b is too small"},
    {-1009, "c is too small"},
    {-1008, "x is too small"},
    {-1007, "y is too small"},
    {-2050, "temporary buffer is too small"},
    {-2046, "the device has too little local memory"},
    {-2044, "the device has no double"},
    {-2043, "the result's buffer is no buffer of this context"},
    {-2042, "the result's buffer is too small"},
    {-2041, "the device is not in its database"},
    {-2040, "unknown error"},
    {-2039, "unexpected exception"},
};

static void check_code(lua_State *L, int code, const char *call) {
  const char *words = clc_codename(code);
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
    if (codes[i].code == code) words = codes[i].words;
  if (code != 0) luaL_error(L, "%s: %s (%d)", call, words, code);
}

/* --- the object -------------------------------------------------------- */

static const CLBlast *check_clblast(lua_State *L) {
  const CLBlast *c = clc_checkobject(L, 1, TNAME);
  if (c->released) luaL_argerror(L, 1, "CLBlast is released");
  luaL_checkstack(L, 3 * LUA_MINSTACK, NULL); /* what follows a check must not collect */
  return c;
}

static int blas_clblast(lua_State *L) {
  lua_settop(L, 0);
  CLBlast *c = lua_newuserdatauv(L, sizeof *c, 1);
  if (!clc_openlibrary(L, &library, c)) {
    lua_pushnil(L);
    lua_insert(L, -2);
    return 2;
  }
  c->pid = getpid();
  c->released = 0;
  lua_createtable(L, 0, 2);
  lua_insert(L, -2);
  lua_setfield(L, -2, "path");
  lua_pushliteral(L, "CLBlast");
  lua_setfield(L, -2, "name");
  lua_setiuservalue(L, 1, 1);
  c->object.type = TNAME;
  luaL_setmetatable(L, TNAME);
  return 1;
}

static int clblast_release(lua_State *L) {
  CLBlast *c = clc_checkobject(L, 1, TNAME);
  if (!c->released && c->pid == getpid()) c->CLBlastClearCache(); /* no OpenCL after a fork */
  c->released = 1;
  lua_settop(L, 1);
  return 1;
}

static int clblast_tostring(lua_State *L) {
  const CLBlast *c = clc_checkobject(L, 1, TNAME);
  lua_pushstring(L, c->released ? "CLBlast (released)" : "CLBlast");
  return 1;
}

/* --- operands ---------------------------------------------------------- */

typedef struct {
  cl_mem mem;
  size_t offset, count; /* elements */
} Operand;

/* Calls the method `raw` of the object at an index, which leaves two results. It allocates
   nothing that could run a finalizer. */
static void call_raw(lua_State *L, int idx) {
  idx = lua_absindex(L, idx);
  lua_getfield(L, idx, "raw");
  lua_pushvalue(L, idx);
  lua_call(L, 1, 2);
}

static Operand get_operand(lua_State *L, int arg, size_t count) {
  call_raw(L, arg);
  const Operand operand = {lua_touserdata(L, -2), (size_t)lua_tointeger(L, -1), count};
  lua_pop(L, 2);
  return operand;
}

/* CLBlast does not look whether it overwrites what it still reads. */
static void check_apart(lua_State *L, int arg, Operand result, Operand other) {
  if (result.mem == other.mem && result.offset < other.offset + other.count &&
      other.offset < result.offset + result.count)
    luaL_argerror(L, arg, "the result must not overlap an operand");
}

/* The queue of a buffer, and its context. */
static cl_command_queue get_queue(lua_State *L, int arg, cl_context *context) {
  lua_getfield(L, arg, "device");
  call_raw(L, -1);
  cl_command_queue queue = lua_touserdata(L, -2);
  *context = lua_touserdata(L, -1);
  lua_pop(L, 3);
  return queue;
}

/* The queue of the buffer that takes the result; all of first .. last share its context. */
static cl_command_queue check_queue(lua_State *L, int first, int last, int result) {
  cl_context own, other;
  cl_command_queue queue = get_queue(L, result, &own);
  for (int arg = first; arg <= last; arg++) {
    get_queue(L, arg, &other);
    if (other != own) luaL_argerror(L, arg, CLC_OTHER_DEVICE);
  }
  return queue;
}

static size_t count_elements(lua_State *L, int arg, int is_double) {
  lua_getfield(L, arg, "bytes");
  const size_t bytes = (size_t)lua_tointeger(L, -1);
  lua_pop(L, 1);
  return bytes / (is_double ? sizeof(double) : sizeof(float));
}

/* Whether a buffer is of doubles, else of floats. */
static int check_dtype(lua_State *L, int arg) {
  luaL_checkudata(L, arg, "clcompute.Buffer");
  lua_getfield(L, arg, "dtype");
  const char *dtype = lua_tostring(L, -1);
  const int is_double = strcmp(dtype, "double") == 0;
  if (!is_double && strcmp(dtype, "float") != 0)
    clc_argerror(L, arg, "float or double buffer expected, got %s", dtype);
  lua_pop(L, 1);
  return is_double;
}

static void check_buffer(lua_State *L, int arg, int is_double, size_t count) {
  if (check_dtype(L, arg) != is_double)
    clc_argerror(L, arg, "%s buffer expected, got %s", is_double ? "double" : "float",
                 is_double ? "float" : "double");
  const size_t got = count_elements(L, arg, is_double);
  if (got != count)
    clc_argerror(L, arg, "%I elements expected, got %I", (LUAI_UACINT)count, (LUAI_UACINT)got);
}

/* --- operations -------------------------------------------------------- */

static int clblast_gemm(lua_State *L) {
  lua_settop(L, 8);
  const CLBlast *o = check_clblast(L);
  const clc_Product p = clc_checkproduct(L, 5);
  const int is_double = check_dtype(L, 2);
  check_buffer(L, 2, is_double, clc_area(p.m, p.k));
  check_buffer(L, 3, is_double, clc_area(p.k, p.n));
  check_buffer(L, 4, is_double, clc_area(p.m, p.n));
  const int transa = p.transa ? CLC_TRANSPOSED : CLC_ASITIS,
            transb = p.transb ? CLC_TRANSPOSED : CLC_ASITIS;
  const size_t m = (size_t)p.m, n = (size_t)p.n, k = (size_t)p.k;
  const size_t lda = (size_t)p.lda, ldb = (size_t)p.ldb, ldc = (size_t)p.ldc;
  cl_command_queue queue = check_queue(L, 2, 3, 4);
  const Operand a = get_operand(L, 2, m * k), b = get_operand(L, 3, k * n);
  const Operand c = get_operand(L, 4, m * n);
  check_apart(L, 4, c, a);
  check_apart(L, 4, c, b);
  if (is_double)
    check_code(L,
               o->CLBlastDgemm(CLC_ROWMAJOR, transa, transb, m, n, k, p.alpha, a.mem, a.offset, lda,
                               b.mem, b.offset, ldb, p.beta, c.mem, c.offset, ldc, &queue, NULL),
               "CLBlastDgemm");
  else
    check_code(
        L,
        o->CLBlastSgemm(CLC_ROWMAJOR, transa, transb, m, n, k, (float)p.alpha, a.mem, a.offset, lda,
                        b.mem, b.offset, ldb, (float)p.beta, c.mem, c.offset, ldc, &queue, NULL),
        "CLBlastSgemm");
  lua_settop(L, 4);
  return 1;
}

static int clblast_axpy(lua_State *L) {
  lua_settop(L, 4);
  const CLBlast *o = check_clblast(L);
  const double alpha = luaL_checknumber(L, 2);
  const int is_double = check_dtype(L, 3);
  const size_t n = count_elements(L, 3, is_double);
  check_buffer(L, 4, is_double, n);
  cl_command_queue queue = check_queue(L, 3, 3, 4);
  const Operand x = get_operand(L, 3, n), y = get_operand(L, 4, n);
  check_apart(L, 4, y, x);
  if (is_double)
    check_code(L, o->CLBlastDaxpy(n, alpha, x.mem, x.offset, 1, y.mem, y.offset, 1, &queue, NULL),
               "CLBlastDaxpy");
  else
    check_code(
        L, o->CLBlastSaxpy(n, (float)alpha, x.mem, x.offset, 1, y.mem, y.offset, 1, &queue, NULL),
        "CLBlastSaxpy");
  return 1;
}

static int clblast_dot(lua_State *L) {
  lua_settop(L, 4);
  const CLBlast *o = check_clblast(L);
  const int is_double = check_dtype(L, 2);
  const size_t n = count_elements(L, 2, is_double);
  check_buffer(L, 3, is_double, n);
  check_buffer(L, 4, is_double, 1);
  cl_command_queue queue = check_queue(L, 2, 3, 4);
  const Operand x = get_operand(L, 2, n), y = get_operand(L, 3, n), out = get_operand(L, 4, 1);
  check_apart(L, 4, out, x);
  check_apart(L, 4, out, y);
  const char *call = is_double ? "CLBlastDdot" : "CLBlastSdot";
  check_code(L,
             (is_double ? o->CLBlastDdot : o->CLBlastSdot)(n, out.mem, out.offset, x.mem, x.offset,
                                                           1, y.mem, y.offset, 1, &queue, NULL),
             call);
  return 1;
}

void clc_openclblast(lua_State *L) {
  static const clc_Function functions[] = {{"clblast", blas_clblast, 0}, {NULL, NULL, 0}};
  static const clc_Function methods[] = {{"gemm", clblast_gemm, 7},
                                         {"axpy", clblast_axpy, 3},
                                         {"dot", clblast_dot, 3},
                                         {"release", clblast_release, 0},
                                         {NULL, NULL, 0}};
  static const luaL_Reg metamethods[] = {{"__gc", clblast_release},
                                         {"__close", clblast_release},
                                         {"__tostring", clblast_tostring},
                                         {NULL, NULL}};
  clc_openobject(L, TNAME, methods, metamethods);
  clc_setfunctions(L, functions);
}
