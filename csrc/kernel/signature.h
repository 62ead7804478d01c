/* SPDX-License-Identifier: MIT */
/* Signatures: what a kernel takes, and setting its arguments from Lua values. */
#ifndef CLC_SIGNATURE_H
#define CLC_SIGNATURE_H

#include "language/declaration.h"
#include "buffer/memory.h"

typedef enum { CLC_VALUE, CLC_BUFFER, CLC_LOCAL, CLC_OPAQUE } clc_ArgumentKind;

typedef struct clc_Argument {
  clc_ArgumentKind kind;
  const clc_Dtype *dtype; /* of the value or pointee; NULL: another type */
  int width;              /* elements of a vector, 1 for a scalar */
  size_t size;            /* bytes of a value of another type; 0: not known */
  int is_const;           /* what it points to is only read */
  const char *space;      /* "private", "global", "constant" or "local" */
  char name[CLC_NAME], type[CLC_NAME];
} clc_Argument;

/* What a declaration means; the program's text tells the typedefs. */
void clc_readargument(lua_State *L, const clc_Declaration *d, const char *text, clc_Argument *a);

/*
 * Sets argument i of a kernel on device d from the Lua value at idx, or raises
 * an error that names kernel and argument. `empty`: nothing will be launched, so a
 * buffer may be of length zero.
 */
void clc_setargument(lua_State *L, clc_Device *d, cl_kernel kernel, const char *kernel_name,
                     cl_uint i, const clc_Argument *a, int idx, int empty);

/* Raises a complaint about argument i, a lua_pushfstring format, that names kernel and argument. */
void clc_argumenterror(lua_State *L, const char *kernel_name, cl_uint i, const clc_Argument *a,
                       const char *complaint, ...);

/* Bytes of local memory that the value at idx asks for, 0 if it is no scratch. */
size_t clc_scratchbytes(lua_State *L, int idx);

void clc_opensignatures(lua_State *L);

#endif
