/* SPDX-License-Identifier: MIT */
/* Ranges: from what a script asks to the launches that cover it exactly. */
#ifndef CLC_RANGE_H
#define CLC_RANGE_H

#include "base/base.h"

/* Groups along the second and along the third dimension that NVIDIA's devices take. */
#define CLC_MOSTGROUPS ((size_t)65535)

#define CLC_MAXPARTS 8 /* two along each of three dimensions */

typedef enum { CLC_AUTO, CLC_GIVEN, CLC_DRIVER } clc_GroupChoice;
typedef enum { CLC_ERROR, CLC_SPLIT, CLC_PAD, CLC_NATIVE } clc_Remainder;

typedef struct clc_Range {
  cl_uint dims;
  size_t global[3], group[3], offset[3];
  clc_GroupChoice choice;
  clc_Remainder remainder;
  int internal; /* of our own kernels, which count in 64 bits and take any group */
} clc_Range;

/* What device and kernel allow. */
typedef struct clc_Limits {
  const char *kernel;
  size_t max_group;     /* work-items a group, of this kernel on this device */
  size_t max_groups[3]; /* and along each dimension */
  size_t required[3];   /* reqd_work_group_size; 0: none */
  int is_cpu;
  int has_nonuniform_groups;
  const char *unsplittable; /* a call in its text that splitting would mislead, or NULL */
  int sees_group;           /* its text asks for the group's size, place or barrier */
} clc_Limits;

/* One launch; without `has_group` the driver chooses. */
typedef struct clc_Part {
  size_t offset[3], global[3], group[3];
  int has_group;
} clc_Part;

/* Reads a range: n, {nx [, ny [, nz]]} or {global=, group=, offset=, remainder=}. */
clc_Range clc_checkrange(lua_State *L, int arg);

/* Whether it has no work-item. */
int clc_isempty(const clc_Range *range);

/* Whether its last groups are smaller than the others. */
int clc_isnonuniform(const clc_Part *part);

/* Covers a range; returns the number of launches, 0 for an empty range. */
int clc_planrange(lua_State *L, const clc_Range *range, const clc_Limits *limits,
                  clc_Part parts[CLC_MAXPARTS]);

#endif
