/* SPDX-License-Identifier: MIT */
/*
 * Schedules: the numbers with which an operation runs on a device. They are rows of data of
 * lua/clcompute/tuning, where their limits are checked; a row is asked for once a device. A kernel
 * says in a list of fields which numbers of a row it takes: one function reads them into its
 * struct, another defines its macros.
 */
#ifndef CLC_SCHEDULE_H
#define CLC_SCHEDULE_H

#include "base/base.h"
#include "device/device.h"

/* A number of a row, kept as a size_t of a struct. A list ends with one without a name. */
typedef struct clc_Field {
  const char *name;  /* in the row */
  size_t offset;     /* in the struct */
  const char *macro; /* of the kernel; NULL: none */
} clc_Field;

/* Pushes the row of an operation ("gemm", "lu", ...) for a device and a dtype. */
void clc_pushrow(lua_State *L, const clc_Device *d, const char *operation, const clc_Dtype *dtype);

/* The same for a product of so many multiply-adds, which a plain kernel may serve while the fast
   ones are built: then the row is asked for again with the next one. */
void clc_pushrowfor(lua_State *L, const clc_Device *d, const char *operation,
                    const clc_Dtype *dtype, double work);

/* The kernel that the row at the top is for; "" where it names none. */
const char *clc_rowkernel(lua_State *L);

/* Reads fields of the row at the top into a struct; raises where one is missing, negative or above
   2^30. */
void clc_readrow(lua_State *L, const clc_Field *fields, void *to);

/* A macro that no row has: a flag, or what follows from a row. A list ends with one without a name.
 */
typedef struct clc_Macro {
  const char *name;
  size_t value;
} clc_Macro;

/* Pushes the text that defines macros: clc_define(L, {"V", vector}, {"GROUP", group}). With a row,
   the macros of its fields come first. */
#define clc_define(L, ...) clc_definerow(L, NULL, NULL, __VA_ARGS__)
#define clc_definerow(L, fields, row, ...) \
  clc_pushmacros(L, fields, row, (const clc_Macro[]){__VA_ARGS__, {NULL, 0}})

const char *clc_pushmacros(lua_State *L, const clc_Field *fields, const void *row,
                           const clc_Macro *macros);

void clc_openschedules(lua_State *L);

#endif
