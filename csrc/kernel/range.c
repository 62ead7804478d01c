/* SPDX-License-Identifier: MIT */
/*
 * Ranges: from what a script asks to the launches that cover it exactly.
 *
 * A global size that is no multiple of the work-group size is split as in
 * Baranov & Vlatskaya 2013, formulas (6) and (7): with M work-items and groups
 * of OGS, the first part has SZ1 = OGS * floor(M / OGS) of them and the second
 * the remaining SZ2 = M - SZ1. In more than one dimension each is split so.
 *
 * Messages count dimensions from 0, as get_global_id does.
 */
#include "kernel.h"

#include <limits.h>
#include <string.h>

static const char *const remainders[] = {"error", "split", "pad", "native", NULL};

/* --- reading ----------------------------------------------------------- */

/* A list of `dims` sizes at the top of the stack, or one integer for one
   dimension; dims 0: as many as there are, which is returned. */
static cl_uint read_sizes(lua_State *L, int arg, const char *key, lua_Integer min, cl_uint dims,
                          size_t sizes[3]) {
  cl_uint n = 1;
  const int list = lua_istable(L, -1);
  if (list) {
    const size_t length = lua_rawlen(L, -1);
    if (length < 1 || length > 3)
      clc_optionerror(L, arg, key, "1 to 3 dimensions expected, got %I", (LUAI_UACINT)length);
    n = (cl_uint)length;
  }
  if (dims != 0 && n != dims)
    clc_optionerror(L, arg, key, "%d dimension%s expected, got %d", (int)dims, dims == 1 ? "" : "s",
                    (int)n);
  for (cl_uint i = 0; i < n; i++) {
    int ok;
    if (list)
      lua_rawgeti(L, -1, (lua_Integer)i + 1);
    else
      lua_pushvalue(L, -1);
    const lua_Integer size = lua_tointegerx(L, -1, &ok);
    if (!ok || lua_type(L, -1) != LUA_TNUMBER)
      clc_optionerror(L, arg, key, "dimension %d: integer expected, got %s", (int)i,
                      luaL_tolstring(L, -1, NULL));
    if (size < min || size > INT_MAX)
      clc_optionerror(L, arg, key, "dimension %d: %I is outside %I .. %I", (int)i,
                      (LUAI_UACINT)size, (LUAI_UACINT)min, (LUAI_UACINT)INT_MAX);
    sizes[i] = (size_t)size;
    lua_pop(L, 1);
  }
  return n;
}

static void read_group(lua_State *L, int arg, clc_Range *r) {
  const int type = clc_pushoption(L, arg, "group");
  if (type == LUA_TSTRING && strcmp(lua_tostring(L, -1), "driver") == 0) {
    r->choice = CLC_DRIVER;
  } else if (type == LUA_TSTRING) {
    clc_optionerror(L, arg, "group", "sizes or \"driver\" expected, got \"%s\"",
                    lua_tostring(L, -1));
  } else if (type != LUA_TNIL) {
    read_sizes(L, arg, "group", 1, r->dims, r->group);
    r->choice = CLC_GIVEN;
  }
  lua_pop(L, 1);
}

static void read_record(lua_State *L, int arg, clc_Range *r) {
  static const char *const keys[] = {"global", "group", "offset", "remainder", NULL};
  clc_checkoptions(L, arg, keys);
  if (clc_pushoption(L, arg, "global") == LUA_TNIL)
    clc_argerror(L, arg, "range expected: n, {nx, ny} or {global=}, got a table without sizes");
  r->dims = read_sizes(L, arg, "global", 0, 0, r->global);
  lua_pop(L, 1);
  read_group(L, arg, r);
  if (clc_pushoption(L, arg, "offset") != LUA_TNIL)
    read_sizes(L, arg, "offset", 0, r->dims, r->offset);
  lua_pop(L, 1);
  r->remainder = (clc_Remainder)clc_enumoption(L, arg, "remainder", remainders, CLC_ERROR);
}

/* {64, group=16} is neither form: its group would be lost. */
static void check_list(lua_State *L, int arg) {
  lua_pushnil(L);
  while (lua_next(L, arg)) {
    if (lua_type(L, -2) != LUA_TNUMBER)
      clc_argerror(L, arg, "a list of sizes takes no '%s'; use {global={...}, ...}",
                   luaL_tolstring(L, -2, NULL));
    lua_pop(L, 1);
  }
}

clc_Range clc_checkrange(lua_State *L, int arg) {
  clc_Range r = {1, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, CLC_AUTO, CLC_ERROR, 0};
  if (lua_istable(L, arg) && lua_rawlen(L, arg) == 0) {
    read_record(L, arg, &r);
  } else {
    if (lua_isuserdata(L, arg))
      clc_argerror(L, arg,
                   "range expected first: n, {nx, ny} or {global=}; a kernel is called "
                   "with a dot, p.name(range, ...)");
    luaL_argexpected(L, lua_type(L, arg) == LUA_TNUMBER || lua_istable(L, arg), arg,
                     "range: n, {nx, ny} or {global=}");
    if (lua_istable(L, arg)) check_list(L, arg);
    lua_pushvalue(L, arg);
    r.dims = read_sizes(L, arg, "global", 0, 0, r.global);
    lua_pop(L, 1);
  }
  return r;
}

/* --- choosing a group -------------------------------------------------- */

static size_t largest_divisor(size_t n, size_t limit) {
  if (n <= limit) return n;
  size_t g = limit;
  while (n % g != 0) g--;
  return g;
}

/*
 * The group along dimension i. A CPU driver compiles a kernel anew for every
 * group size, so there a few fixed ones serve all ranges, along dimension 0,
 * where neighbouring work-items fill a vector; a GPU wants its 256 spread.
 */
static size_t choose_group(const clc_Range *r, const clc_Limits *m, cl_uint i, size_t limit) {
  static const size_t gpu[3][3] = {{256, 1, 1}, {32, 8, 1}, {32, 4, 2}};
  static const size_t cpu[] = {256, 16, 1};
  const size_t n = r->global[i];
  if (m->unsplittable != NULL || !m->is_cpu) {
    const size_t wanted = m->is_cpu ? (i == 0 ? 256 : 1) : gpu[r->dims - 1][i];
    const size_t most = wanted < limit ? wanted : limit;
    return m->unsplittable != NULL ? largest_divisor(n, most) : n < most ? n : most;
  }
  if (i > 0) return 1;
  int k = 0;
  while (cpu[k] > n || cpu[k] > limit) k++;
  return cpu[k];
}

static void choose_groups(const clc_Range *r, const clc_Limits *m, size_t group[3]) {
  size_t left = m->max_group;
  for (cl_uint i = 0; i < r->dims; i++) {
    group[i] = choose_group(r, m, i, left < m->max_groups[i] ? left : m->max_groups[i]);
    left /= group[i];
  }
}

/* --- checks ------------------------------------------------------------ */

static const char *push_sizes(lua_State *L, cl_uint dims, const size_t sizes[3]) {
  lua_pushfstring(L, "%I", (LUAI_UACINT)sizes[0]);
  for (cl_uint i = 1; i < dims; i++) {
    lua_pushfstring(L, "x%I", (LUAI_UACINT)sizes[i]);
    lua_concat(L, 2);
  }
  return lua_tostring(L, -1);
}

static void check_group(lua_State *L, const clc_Range *r, const clc_Limits *m,
                        const size_t group[3]) {
  if (m->required[0] != 0 && memcmp(group, m->required, sizeof m->required) != 0)
    luaL_error(L, "kernel '%s' requires a group of %s, got %s", m->kernel,
               push_sizes(L, 3, m->required), push_sizes(L, r->dims, group));
  for (cl_uint i = r->dims; i < 3; i++)
    if (group[i] > 1)
      luaL_error(L, "kernel '%s' requires a group of %s, more dimensions than the range has",
                 m->kernel, push_sizes(L, 3, group));
  for (cl_uint i = 0; i < r->dims; i++)
    if (group[i] > m->max_groups[i])
      luaL_error(L, "kernel '%s': a group of %I exceeds this device's %I in dimension %d",
                 m->kernel, (LUAI_UACINT)group[i], (LUAI_UACINT)m->max_groups[i], (int)i);
  if (group[0] * group[1] * group[2] > m->max_group)
    luaL_error(L, "kernel '%s': a group of %s exceeds the %I work-items it can have here",
               m->kernel, push_sizes(L, r->dims, group), (LUAI_UACINT)m->max_group);
}

/* Kernels and some drivers count in 32 bits. */
static void check_extent(lua_State *L, const clc_Range *r, const clc_Limits *m) {
  size_t items = 1;
  for (cl_uint i = 0; i < r->dims; i++) {
    if (!r->internal && r->offset[i] + r->global[i] > (size_t)INT_MAX + 1)
      luaL_error(L, "kernel '%s': offset and global size pass 2^31 in dimension %d", m->kernel,
                 (int)i);
    if (__builtin_mul_overflow(items, r->global[i], &items) || items > (size_t)1 << 40)
      luaL_error(L, "kernel '%s': %s is more than 2^40 work-items", m->kernel,
                 push_sizes(L, r->dims, r->global));
  }
}

static void check_remainder(lua_State *L, const clc_Range *r, const clc_Limits *m,
                            const size_t group[3]) {
  for (cl_uint i = 0; i < r->dims; i++) {
    if (r->global[i] % group[i] == 0) continue;
    if (r->remainder == CLC_ERROR && r->choice == CLC_GIVEN)
      luaL_error(L,
                 "kernel '%s': global size %I is no multiple of the group's %I in dimension %d; "
                 "remainder=\"split\" launches the rest by itself, remainder=\"pad\" rounds up "
                 "for a kernel with a bounds check",
                 m->kernel, (LUAI_UACINT)r->global[i], (LUAI_UACINT)group[i], (int)i);
    if (m->required[0] != 0 && r->remainder != CLC_PAD)
      luaL_error(L, "kernel '%s' requires groups of %s, which do not divide %s", m->kernel,
                 push_sizes(L, 3, m->required), push_sizes(L, r->dims, r->global));
    if (r->remainder == CLC_NATIVE && !m->has_nonuniform_groups)
      luaL_error(L,
                 "kernel '%s': this device has no groups of different sizes in one launch, which a "
                 "global size of %I in groups of %I takes in dimension %d; remainder=\"split\" "
                 "launches the rest by itself, remainder=\"pad\" rounds up for a kernel with a "
                 "bounds check",
                 m->kernel, (LUAI_UACINT)r->global[i], (LUAI_UACINT)group[i], (int)i);
    if (r->remainder == CLC_SPLIT && m->unsplittable != NULL)
      luaL_error(L,
                 "kernel '%s' calls %s, which would speak of one part of a split range; use "
                 "remainder=\"pad\" with a bounds check, or a group that divides the range",
                 m->kernel, m->unsplittable);
  }
}

/* --- parts ------------------------------------------------------------- */

/* The second part's group. The same few sizes on a CPU, see above, but not for a
   kernel that would notice. */
static size_t rest_group(const clc_Limits *m, size_t rest) {
  return m->is_cpu && !m->sees_group ? 1 : rest;
}

static clc_Part whole_range(const clc_Range *r, const size_t group[3], int has_group) {
  return (clc_Part){{r->offset[0], r->offset[1], r->offset[2]},
                    {r->global[0], r->global[1], r->global[2]},
                    {group[0], group[1], group[2]},
                    has_group};
}

/* Bit i of `which`: the second part along dimension i. Returns whether it is empty. */
static int make_part(const clc_Range *r, const clc_Limits *m, const size_t group[3], int which,
                     clc_Part *part) {
  *part = (clc_Part){{0, 0, 0}, {1, 1, 1}, {1, 1, 1}, 1};
  for (cl_uint i = 0; i < r->dims; i++) {
    const size_t rest = r->global[i] % group[i];
    const size_t first = r->global[i] - rest;
    const int second = which >> i & 1;
    part->offset[i] = r->offset[i] + (second ? first : 0);
    part->global[i] = second ? rest : first;
    part->group[i] = second ? rest_group(m, rest) : group[i];
    if (part->global[i] == 0) return 1;
  }
  return 0;
}

static void pad_range(clc_Range *r, const size_t group[3]) {
  for (cl_uint i = 0; i < r->dims; i++)
    r->global[i] += (group[i] - r->global[i] % group[i]) % group[i];
}

int clc_isempty(const clc_Range *r) {
  for (cl_uint i = 0; i < r->dims; i++)
    if (r->global[i] == 0) return 1;
  return 0;
}

/* For devices with groups smaller than usual. */
static void shrink_group(const clc_Limits *m, size_t group[3]) {
  for (int i = 0; i < 3; i++)
    while (m->required[0] == 0 && group[i] > 1 &&
           (group[i] > m->max_groups[i] || group[0] * group[1] * group[2] > m->max_group))
      group[i] /= 2;
}

int clc_planrange(lua_State *L, const clc_Range *range, const clc_Limits *m,
                  clc_Part parts[CLC_MAXPARTS]) {
  clc_Range r = *range;
  size_t group[3] = {1, 1, 1};
  int n = 0;
  if (clc_isempty(&r)) return 0;
  check_extent(L, &r, m);
  if (r.choice == CLC_DRIVER && m->required[0] == 0) {
    *parts = whole_range(&r, group, 0);
    return 1;
  }
  if (r.choice == CLC_GIVEN)
    memcpy(group, r.group, sizeof group);
  else if (m->required[0] != 0)
    memcpy(group, m->required, sizeof group);
  else
    choose_groups(&r, m, group);
  if (r.internal) shrink_group(m, group);
  check_group(L, &r, m, group);
  check_remainder(L, &r, m, group);
  if (r.remainder == CLC_PAD) pad_range(&r, group);
  if (r.remainder == CLC_NATIVE) {
    *parts = whole_range(&r, group, 1);
    return 1;
  }
  for (int which = 0; which < 1 << r.dims; which++)
    if (!make_part(&r, m, group, which, &parts[n])) n++;
  return n;
}

/* --- plans, for scripts that look at them ------------------------------------ */

static void set_sizes(lua_State *L, const char *key, cl_uint dims, const size_t sizes[3]) {
  lua_createtable(L, (int)dims, 0);
  for (cl_uint i = 0; i < dims; i++) {
    lua_pushinteger(L, (lua_Integer)sizes[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, key);
}

/* A range as a kernel takes it, that is this one launch. */
static void push_part(lua_State *L, cl_uint dims, const clc_Part *p) {
  lua_createtable(L, 0, 4);
  set_sizes(L, "global", dims, p->global);
  set_sizes(L, "offset", dims, p->offset);
  if (p->has_group) {
    set_sizes(L, "group", dims, p->group);
  } else {
    lua_pushliteral(L, "driver");
    lua_setfield(L, -2, "group");
  }
  if (clc_isnonuniform(p)) {
    lua_pushliteral(L, "native");
    lua_setfield(L, -2, "remainder");
  }
}

/* Internal: plan_range(range, kernel) returns the range as {global=, offset=} and the list of
   its launches. The kernel may ask what splitting would mislead: it is to show just that, so
   "split" is planned as for one that asks for no more than its place in the group. */
static int plan_range(lua_State *L) {
  clc_Part parts[CLC_MAXPARTS];
  const clc_Range range = clc_checkrange(L, 1);
  clc_Limits limits = ((clc_Kernel *)clc_checkhandle(L, 2, &clc_kerneltype))->limits;
  if (range.remainder == CLC_SPLIT) limits.unsplittable = NULL;
  const int n = clc_planrange(L, &range, &limits, parts);
  lua_createtable(L, 0, 2);
  set_sizes(L, "global", range.dims, range.global);
  set_sizes(L, "offset", range.dims, range.offset);
  lua_createtable(L, n, 0);
  for (int i = 0; i < n; i++) {
    push_part(L, range.dims, &parts[i]);
    lua_rawseti(L, -2, i + 1);
  }
  return 2;
}

void clc_openranges(lua_State *L) {
  static const luaL_Reg functions[] = {{"plan_range", plan_range}, {NULL, NULL}};
  clc_addinternal(L, functions);
}
