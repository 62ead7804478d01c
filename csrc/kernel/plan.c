/* SPDX-License-Identifier: MIT */
/*
 * Plans: from a range to the launches that cover it exactly.
 *
 * A global size that is no multiple of the work-group size is split as in
 * Baranov & Vlatskaya 2013, formulas (6) and (7): with M work-items and groups
 * of OGS, the first part has SZ1 = OGS * floor(M / OGS) of them and the second
 * the remaining SZ2 = M - SZ1. In more than one dimension each is split so.
 */
#include "kernel.h"

#include <limits.h>
#include <string.h>

/* --- choosing a group -------------------------------------------------- */

static size_t largest_divisor(size_t n, size_t limit) {
  if (n <= limit) return n;
  size_t g = limit;
  while (n % g != 0) g--;
  return g;
}

#define LARGEST ((size_t)256) /* group; POCL dies of larger ones with private arrays */
#define ENOUGH 8              /* groups a compute unit, so that all are at work */
#define WIDE 64               /* work-items along dimension 0 that are worth a group */
#define FEW ((size_t)1024)    /* groups that cost less than to compile for another size */

/* The most work-items along dimension i of a group that has so many left. */
static size_t most_along(const clc_Limits *m, cl_uint i, size_t left) {
  return left < m->max_groups[i] ? left : m->max_groups[i];
}

/* A GPU wants its 256 spread. */
static void spread_group(const clc_Range *r, const clc_Limits *m, size_t group[3]) {
  static const size_t wanted[3][3] = {{256, 1, 1}, {32, 8, 1}, {32, 4, 2}};
  size_t left = m->max_group;
  for (cl_uint i = 0; i < r->dims; i++) {
    const size_t limit = most_along(m, i, left), most = wanted[r->dims - 1][i];
    const size_t n = r->global[i], size = most < limit ? most : limit;
    group[i] = m->unsplittable != NULL ? largest_divisor(n, size) : n < size ? n : size;
    left /= group[i];
  }
}

/* Sizes that divide the range: along dimension 0, where neighbouring work-items fill a vector, and
   along the others where there are too few. */
static void divide_range(const clc_Range *r, const clc_Limits *m, size_t group[3]) {
  size_t left = m->max_group < LARGEST ? m->max_group : LARGEST;
  for (cl_uint i = 0; i < r->dims; i++) {
    group[i] = group[0] < WIDE ? largest_divisor(r->global[i], most_along(m, i, left)) : 1;
    left /= group[i];
  }
}

/* Whether a long row of `rows` may be a group, each of which takes a driver some 60 ns. */
static int suits_rows(const clc_Limits *m, size_t n, size_t rows) {
  return m->unsplittable == NULL && !m->sees_group && !m->keeps_arrays && n > LARGEST &&
         n <= most_along(m, 0, m->max_group) && rows >= ENOUGH * m->units;
}

/*
 * A CPU's driver compiles a kernel anew for every size of a group. So there a few fixed sizes serve
 * all ranges, and groups of one work-item the rest, while that makes few groups; where it makes
 * many, groups are whole rows, or have one size that divides the range, or else the largest one,
 * with one group along dimension 0 for the rest. Returns whether the rest is one group.
 */
static int choose_on_cpu(const clc_Range *r, const clc_Limits *m, size_t group[3]) {
  static const size_t fixed[] = {LARGEST, 16, 1};
  const size_t limit = most_along(m, 0, m->max_group), n = r->global[0];
  size_t rows = 1, k = 0;
  for (cl_uint i = 1; i < r->dims; i++) rows *= r->global[i];
  while (fixed[k] > n || fixed[k] > limit) k++;
  group[0] = fixed[k];
  const size_t small = k == 0 ? n % LARGEST : n / group[0] + n % group[0];
  if (m->unsplittable == NULL && small * rows <= FEW) return 0;
  group[0] = suits_rows(m, n, rows) ? n : 1;
  if (group[0] == n) return 0;
  divide_range(r, m, group);
  if (m->unsplittable != NULL || group[0] >= WIDE || group[0] == n) return 0;
  group[0] = fixed[k];
  group[1] = group[2] = 1;
  return 1;
}

/* Returns whether what the group leaves along dimension 0 is one group. */
static int choose_group(const clc_Range *r, const clc_Limits *m, size_t group[3]) {
  if (m->is_cpu) return choose_on_cpu(r, m, group);
  spread_group(r, m, group);
  return 1;
}

/* --- checks ------------------------------------------------------------ */

static void check_group(lua_State *L, const clc_Range *r, const clc_Limits *m,
                        const size_t group[3]) {
  if (m->required[0] != 0 && memcmp(group, m->required, sizeof m->required) != 0)
    luaL_error(L, "kernel '%s' requires a group of %s, got %s", m->kernel,
               clc_pushsizes(L, 3, m->required), clc_pushsizes(L, r->dims, group));
  for (cl_uint i = r->dims; i < 3; i++)
    if (group[i] > 1)
      luaL_error(L, "kernel '%s' requires a group of %s, more dimensions than the range has",
                 m->kernel, clc_pushsizes(L, 3, group));
  for (cl_uint i = 0; i < r->dims; i++)
    if (group[i] > m->max_groups[i])
      luaL_error(L, "kernel '%s': a group of %I exceeds this device's %I in dimension %d",
                 m->kernel, (LUAI_UACINT)group[i], (LUAI_UACINT)m->max_groups[i], (int)i);
  if (group[0] * group[1] * group[2] > m->max_group)
    luaL_error(L, "kernel '%s': a group of %s exceeds the %I work-items it can have here",
               m->kernel, clc_pushsizes(L, r->dims, group), (LUAI_UACINT)m->max_group);
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
                 clc_pushsizes(L, r->dims, r->global));
  }
}

static void check_remainder(lua_State *L, const clc_Range *r, const clc_Limits *m,
                            const size_t group[3]) {
  for (cl_uint i = 0; i < r->dims; i++) {
    if (r->global[i] % group[i] == 0) continue;
    if (r->remainder == CLC_ERROR && r->choice == CLC_GIVEN)
      luaL_error(L, "kernel '%s': " CLC_NOMULTIPLE, m->kernel, (LUAI_UACINT)r->global[i],
                 (LUAI_UACINT)group[i], (int)i);
    if (m->required[0] != 0 && r->remainder != CLC_PAD)
      luaL_error(L, "kernel '%s' requires groups of %s, which do not divide %s", m->kernel,
                 clc_pushsizes(L, 3, m->required), clc_pushsizes(L, r->dims, r->global));
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

static clc_Part whole_range(const clc_Range *r, const size_t group[3], int has_group) {
  return (clc_Part){{r->offset[0], r->offset[1], r->offset[2]},
                    {r->global[0], r->global[1], r->global[2]},
                    {group[0], group[1], group[2]},
                    has_group};
}

/* Bit i of `which`: the second part along dimension i, in one group along it or in groups of one
   work-item. Returns whether it is empty. */
static int make_part(const clc_Range *r, const size_t group[3], int in_one, int which,
                     clc_Part *part) {
  *part = (clc_Part){{0, 0, 0}, {1, 1, 1}, {1, 1, 1}, 1};
  for (cl_uint i = 0; i < r->dims; i++) {
    const size_t rest = r->global[i] % group[i];
    const size_t first = r->global[i] - rest;
    const int second = which >> i & 1;
    part->offset[i] = r->offset[i] + (second ? first : 0);
    part->global[i] = second ? rest : first;
    part->group[i] = !second ? group[i] : in_one ? rest : 1;
    if (part->global[i] == 0) return 1;
  }
  return 0;
}

static void pad_range(clc_Range *r, const size_t group[3]) {
  for (cl_uint i = 0; i < r->dims; i++)
    r->global[i] += (group[i] - r->global[i] % group[i]) % group[i];
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
  int n = 0, in_one = !m->is_cpu; /* a given group's rest: the same few sizes on a CPU, see above */
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
    in_one = choose_group(&r, m, group);
  if (r.internal) shrink_group(m, group);
  check_group(L, &r, m, group);
  check_remainder(L, &r, m, group);
  if (r.remainder == CLC_PAD) pad_range(&r, group);
  if (r.remainder == CLC_NATIVE) {
    *parts = whole_range(&r, group, 1);
    return 1;
  }
  for (int which = 0; which < 1 << r.dims; which++)
    if (!make_part(&r, group, in_one || m->sees_group, which, &parts[n])) n++;
  return n;
}

/* --- plans, for scripts that look at them ------------------------------------ */

static void set_sizes(lua_State *L, const char *key, cl_uint dims, const size_t sizes[3]) {
  clc_pushextents(L, (int)dims, sizes);
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

void clc_openplans(lua_State *L) {
  static const luaL_Reg functions[] = {{"plan_range", plan_range}, {NULL, NULL}};
  clc_addinternal(L, functions);
}
