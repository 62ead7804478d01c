/* SPDX-License-Identifier: MIT */
/* The sequential program (Borisov 2015), for both element types. */
#ifdef __GNUC__
#pragma GCC optimize("O3") /* LuaRocks compiles with -O2, where these loops stay scalar */
#endif
#include "plain.h"

#include <math.h>

#define REAL float
#define NAME(f) clc_plain_##f##_float
#include "plain_loops.h"
#undef REAL
#undef NAME

#define REAL double
#define NAME(f) clc_plain_##f##_double
#include "plain_loops.h"
