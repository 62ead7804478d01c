/* SPDX-License-Identifier: MIT */
/* The product of floats by tensor cores, for the classes of precision that allow it. */
#ifndef CLC_TENSOR_H
#define CLC_TENSOR_H

#include "matrix.h"

/* Queues the product as the device's tuning of its class of precision says, which was tried on the
   device. Returns 0 where another product serves the class: it asks for more than tensor cores
   have, the device has none that are right, or the product is not for them. May leave values on the
   stack. */
int clc_multiplytensor(lua_State *L, const clc_Multiply *x);

#endif
