/* SPDX-License-Identifier: MIT */
/*
 * Schedules: the numbers with which an operation runs on a device. They are rows of data of
 * lua/clcompute/tuning, which also checks them; a row is asked for once a device. What a kernel
 * takes of a row is a list of clc_Numbers: it reads them into a struct, and defines their macros.
 */
#ifndef CLC_SCHEDULE_H
#define CLC_SCHEDULE_H

#include "base/base.h"
#include "device/device.h"

/* A number of a row, a size_t of the kernel's struct. A list ends with one without a name. */
typedef struct clc_Number {
  const char *name;  /* in the row */
  size_t offset;     /* in the struct */
  const char *macro; /* that tells the kernel; NULL: none */
} clc_Number;

/* Pushes the row of an operation ("gemm", "lu", ...) for a device and a dtype. */
void clc_pushrow(lua_State *L, const clc_Device *d, const char *operation, const clc_Dtype *dtype);

/* The kernel that the row at the top is for; "" where it names none. */
const char *clc_rowkernel(lua_State *L);

/* Reads numbers of the row at the top into a struct; raises where one is missing or no count. */
void clc_readrow(lua_State *L, const clc_Number *numbers, void *to);

/* A macro that no row has: a flag, or what follows from a row. A list ends with one without a name.
 */
typedef struct clc_Macro {
  const char *name;
  size_t value;
} clc_Macro;

/* Pushes definitions of macros: clc_define(L, {"V", vector}, {"GROUP", group}); or, before them,
   of the macros that numbers in a struct have. */
#define clc_define(L, ...) clc_definerow(L, NULL, NULL, __VA_ARGS__)
#define clc_definerow(L, numbers, from, ...) \
  clc_pushmacros(L, numbers, from, (const clc_Macro[]){__VA_ARGS__, {NULL, 0}})

const char *clc_pushmacros(lua_State *L, const clc_Number *numbers, const void *from,
                           const clc_Macro *macros);

void clc_openschedules(lua_State *L);

#endif
