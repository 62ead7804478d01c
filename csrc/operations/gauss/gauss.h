/* SPDX-License-Identifier: MIT */
/* gauss and lu: systems of linear equations, solved, or an error that says why not. */
#ifndef CLC_GAUSS_H
#define CLC_GAUSS_H

#include "base/base.h"

void clc_opengauss(lua_State *L);

/* --- between the files of the package -------------------------------------- */

void clc_openpanels(lua_State *L);

#endif
