/* SPDX-License-Identifier: MIT */
/* The condition of a matrix, from its LU factors. */
#ifndef CLC_RCOND_H
#define CLC_RCOND_H

#include "lu.h"

/* Reciprocal condition numbers in the 1-norm, of each matrix: estimated from below for the norm of
   the inverse (Higham 1988), usually exact. Blocks. */
void clc_rconds(lua_State *L, const clc_Lu *f, double *rconds);

#endif
