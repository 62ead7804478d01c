/* SPDX-License-Identifier: MIT */
/*
 * Tuning: the numbers with which an operation runs on a device. They are data of
 * lua/clcompute/tuning; this file asks for them once a device.
 */
#ifndef CLC_TUNING_H
#define CLC_TUNING_H

#include "device/device.h"
#include "base/base.h"

/* Pushes the table of an operation ("gemm", "lu", ...) for a device and a dtype. */
void clc_pushtuning(lua_State *L, const clc_Device *d, const char *operation,
                    const clc_Dtype *dtype);

/* A number of the table on top of the stack, which raises where it is not there. */
int clc_tuned(lua_State *L, const char *name);

void clc_opentuning(lua_State *L);

#endif
