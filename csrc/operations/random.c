/* SPDX-License-Identifier: MIT */
/* Random numbers: device:random and device:permutation, by the kernels of these names. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>

#include "operations.h"
#include "spread.h"

enum { UNIFORM, NORMAL };

#define WORDS 4                 /* of a block, in which a sequence may be begun */
static const char seed_key = 0; /* registry: the seed of what is given none next */

/* Counts up from what cl.seed said, or from what the system gave at the first use. */
static lua_Integer take_seed(lua_State *L) {
  lua_Unsigned seed;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &seed_key) == LUA_TNUMBER)
    seed = (lua_Unsigned)lua_tointeger(L, -1);
  else if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)
    luaL_error(L, "the system has no random seed; cl.seed(n) sets one");
  lua_pop(L, 1);
  lua_pushinteger(L, (lua_Integer)(seed + 1));
  lua_rawsetp(L, LUA_REGISTRYINDEX, &seed_key);
  return (lua_Integer)seed;
}

static lua_Integer seed_option(lua_State *L, int arg) {
  const int is_given = clc_pushoption(L, arg, "seed") != LUA_TNIL;
  lua_pop(L, 1);
  return is_given ? clc_integeroption(L, arg, "seed", LUA_MININTEGER, 0) : take_seed(L);
}

static int set_seed(lua_State *L) {
  lua_pushinteger(L, luaL_checkinteger(L, 1));
  lua_rawsetp(L, LUA_REGISTRYINDEX, &seed_key);
  return 0;
}

typedef struct {
  lua_Integer seed, skip; /* elements of the sequence before the first */
  int distribution;
  double low, high;        /* floating types: low <= x < high; of normal ones mean and deviation */
  lua_Integer ilow, ihigh; /* integer types: both included */
} Law;

/* The bounds must be elements of the type, low not above high; a floating type
   takes them rounded, or an element could fall below `low`. */
static void check_uniform(lua_State *L, int arg, const clc_Dtype *dtype, Law *law) {
  law->low = clc_elementoption(L, arg, "low", dtype, 0);
  law->high = clc_elementoption(L, arg, "high", dtype, 1);
  if (dtype->floating) {
    luaL_argcheck(L, law->low <= law->high && isfinite(law->low) && isfinite(law->high), arg,
                  "option 'low' must not exceed 'high'; both must be finite");
  } else {
    law->ilow = clc_integeroption(L, arg, "low", LUA_MININTEGER, 0);
    law->ihigh = clc_integeroption(L, arg, "high", LUA_MININTEGER, 100);
    const int is_ordered = dtype == clc_finddtype("ulong", 5)
                               ? (lua_Unsigned)law->ilow <= (lua_Unsigned)law->ihigh
                               : law->ilow <= law->ihigh;
    luaL_argcheck(L, is_ordered, arg, "option 'low' must not exceed 'high'");
  }
}

static void check_normal(lua_State *L, int arg, const clc_Dtype *dtype, Law *law) {
  if (!dtype->floating)
    clc_optionerror(L, arg, "distribution", "normal numbers are half, float or double, not %s",
                    dtype->name);
  law->low = clc_elementoption(L, arg, "mean", dtype, 0);
  law->high = clc_elementoption(L, arg, "sd", dtype, 1);
  luaL_argcheck(L, isfinite(law->low) && isfinite(law->high) && law->high >= 0, arg,
                "options 'mean' and 'sd' must be finite, and 'sd' not below 0");
}

static void refuse_option(lua_State *L, int arg, const char *key, const char *distribution) {
  if (clc_pushoption(L, arg, key) != LUA_TNIL)
    clc_optionerror(L, arg, key, "it goes with distribution = \"%s\"", distribution);
  lua_pop(L, 1);
}

static Law check_law(lua_State *L, int arg, const clc_Dtype *dtype) {
  static const char *const keys[] = {"seed", "low", "high",  "distribution",
                                     "mean", "sd",  "first", NULL};
  static const char *const distributions[] = {"uniform", "normal", NULL};
  Law law = {0, 0, UNIFORM, 0, 1, 0, 100};
  clc_checkoptions(L, arg, keys);
  law.skip = clc_integeroption(L, arg, "first", 1, 1) - 1;
  if (law.skip % WORDS != 0)
    clc_optionerror(L, arg, "first", "1 more than a multiple of %d expected, got %I", WORDS,
                    (LUAI_UACINT)law.skip + 1);
  law.distribution = clc_enumoption(L, arg, "distribution", distributions, UNIFORM);
  const int is_normal = law.distribution == NORMAL;
  refuse_option(L, arg, is_normal ? "low" : "mean", distributions[!is_normal]);
  refuse_option(L, arg, is_normal ? "high" : "sd", distributions[!is_normal]);
  (is_normal ? check_normal : check_uniform)(L, arg, dtype, &law);
  law.seed = seed_option(L, arg);
  return law;
}

/* How the blocks of Philox become elements. */
typedef struct {
  clc_Kernel *kernel;
  clc_Range range;
  size_t chunk;
} Plan;

static size_t words_of(const clc_Dtype *dtype) {
  if (dtype->floating) return dtype == clc_double ? 2 : 1;
  return dtype->size == 8 ? 4 : 2;
}

/* Pushes the row and the kernel. */
static Plan push_plan(lua_State *L, const clc_Buffer *b, const Law *law) {
  const clc_Spread *s = clc_pushspread(L, b->device, "map");
  const int in_chunks = s->granule > 0;
  const size_t words = words_of(b->dtype);
  const size_t blocks = in_chunks ? 8 : 1;
  const size_t count = blocks * 4 / words;
  Plan p = {.chunk = in_chunks ? clc_roundup(clc_share(s, b->count).chunk, count) : count};
  p.range = clc_padded1(clc_parts(b->count, p.chunk), s->group);
  const char *macros =
      clc_define(L, {"WORDS", words}, {"BLOCKS", blocks}, {"FLOATING", b->dtype->floating != 0},
                 {"HALF", strcmp(b->dtype->name, "half") == 0},
                 {"NORMAL", law->distribution == NORMAL}, {"ALIGNED", b->offset % 16 == 0});
  p.kernel = clc_prebuilt(L, b->device, "random", b->dtype, macros);
  return p;
}

static void run_integers(lua_State *L, const Plan *p, const clc_Buffer *b, const Law *law) {
  const lua_Unsigned span = (lua_Unsigned)law->ihigh - (lua_Unsigned)law->ilow + 1; /* 0: 2^64 */
  clc_run(L, p->kernel, &p->range, clc_size(b->count), clc_size(p->chunk), clc_elements(b),
          clc_integer(law->seed), clc_integer(law->skip), clc_integer(law->ilow),
          clc_integer((lua_Integer)span));
}

/* The lowest number that `high` is not, as the type computes it. */
static double below(const clc_Dtype *dtype, double low, double high) {
  if (dtype == clc_double) return nextafter(high, low);
  return nextafterf((float)high, (float)low);
}

/* Where the span would be infinite all is computed at half its size, which loses nothing. */
static void run_reals(lua_State *L, const Plan *p, const clc_Buffer *b, const Law *law) {
  const double most = b->dtype == clc_double ? DBL_MAX : FLT_MAX;
  double low = law->low, span = law->high, high = 0, last = 0, scale = 1;
  if (law->distribution == UNIFORM) {
    high = law->high, last = below(b->dtype, low, high);
    scale = high / 2 - low / 2 > most / 2 ? 2 : 1;
    low /= scale, span = high / scale - low;
  }
  clc_run(L, p->kernel, &p->range, clc_size(b->count), clc_size(p->chunk), clc_elements(b),
          clc_integer(law->seed), clc_integer(law->skip), clc_number(low), clc_number(span),
          clc_number(high), clc_number(last), clc_number(scale));
}

static int device_random(lua_State *L) {
  clc_Device *d = clc_checkopen(L, 1);
  const clc_Dtype *dtype = clc_checkdtype(L, 2);
  const int top = lua_gettop(L);
  const int options = lua_istable(L, top) ? top : top + 1;
  const clc_Shape shape = clc_checkshape(L, 3, options - 1, dtype);
  const Law law = check_law(L, options, dtype);
  lua_settop(L, options);
  clc_Buffer *b = clc_newguarded(L, d, dtype, &shape);
  if (b->count == 0) return 1;
  const Plan p = push_plan(L, b, &law);
  (dtype->floating ? run_reals : run_integers)(L, &p, b, &law);
  lua_settop(L, options + 1);
  return 1;
}

#define SMALL 65536            /* elements: a permutation of fewer takes more rounds */
#define MOST ((size_t)1 << 31) /* elements, from which on indices are ulong */

/* Pushes the indices 1 .. n in random order. */
static void push_permutation(lua_State *L, clc_Device *d, const clc_Shape *shape,
                             lua_Integer seed) {
  const size_t n = shape->dim[0];
  const clc_Dtype *dtype = n < MOST ? clc_finddtype("uint", 4) : clc_finddtype("ulong", 5);
  clc_Buffer *b = clc_newguarded(L, d, dtype, shape);
  if (n == 0) return;
  const clc_Spread *s = clc_pushspread(L, d, "map");
  const size_t lanes = s->granule > 0 ? 16 : 1;
  const size_t chunk = lanes > 1 ? clc_roundup(clc_share(s, n).chunk, lanes) : 1;
  const clc_Range range = clc_padded1(clc_parts(n, chunk), s->group);
  const size_t rows = (size_t)ceil(sqrt((double)n));
  const char *macros = clc_define(L, {"LANES", lanes}, {"ROUNDS", n < SMALL ? 12 : 5});
  clc_Kernel *k = clc_prebuilt(L, d, "permutation", dtype, macros);
  clc_run(L, k, &range, clc_size(n), clc_size(chunk), clc_elements(b), clc_integer(seed),
          clc_size(rows), clc_size(clc_parts(n, rows)));
  lua_pop(L, 3);
}

static int device_permutation(lua_State *L) {
  static const char *const keys[] = {"seed", NULL};
  clc_Device *d = clc_checkopen(L, 1);
  const clc_Shape shape = clc_checkshape(L, 2, 2, clc_finddtype("uint", 4));
  lua_settop(L, 3);
  clc_checkoptions(L, 3, keys);
  push_permutation(L, d, &shape, seed_option(L, 3));
  return 1;
}

void clc_openrandom(lua_State *L) {
  static const clc_Function methods[] = {
      {"random", device_random, CLC_ANY}, {"permutation", device_permutation, 2}, {NULL, NULL, 0}};
  static const clc_Function functions[] = {{"seed", set_seed, 1}, {NULL, NULL, 0}};
  clc_addmethods(L, &clc_devicetype, methods);
  clc_setfunctions(L, functions);
}
