/* SPDX-License-Identifier: MIT */
/* Elimination for GPUs: by blocks, whose panels choose their pivots in a few launches. */
#ifndef CLC_LU_TOURNAMENT_H
#define CLC_LU_TOURNAMENT_H

#include "lu_columns.h"

/* Queues the elimination of the whole matrix, whose rows and columns are zero from the n-th on up
   to a multiple of 32. The device's tuning of lu has `rows`. */
void clc_eliminatetournament(lua_State *L, const clc_Elimination *x);

#endif
