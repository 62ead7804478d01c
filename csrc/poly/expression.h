/* SPDX-License-Identifier: MIT */
/* Conditions and values over parameters, written as Lua expressions. */
#ifndef CLC_POLY_EXPRESSION_H
#define CLC_POLY_EXPRESSION_H

#include <isl/aff.h>

#include "analysis.h"

/*
 * Both return a string to be freed, or NULL after a failure. The names in it are the parameters
 * of the set, and `max` and `min`, which stand for math.max and math.min. The context is what is
 * known of the parameters.
 */

/* The condition under which the parameters lie in a parameter set; NULL too where they never do
   within the context. */
char *clc_tocondition(clc_Analysis *a, isl_set *context, __isl_take isl_set *set);

/* A value, wherever it is defined. */
char *clc_tovalue(clc_Analysis *a, isl_set *context, __isl_take isl_pw_aff *value);

#endif
