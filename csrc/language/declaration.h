/* SPDX-License-Identifier: MIT */
/*
 * Declarations: how kernels declare their arguments, asked from OpenCL or read from
 * a text that was kept with a binary (a binary may have lost them).
 */
#ifndef CLC_DECLARATION_H
#define CLC_DECLARATION_H

#include "base/base.h"

#define CLC_NAME 128 /* room for the name of an argument or its type */

typedef struct clc_Declaration {
  cl_kernel_arg_address_qualifier space;
  int is_const; /* what it points to */
  char name[CLC_NAME], type[CLC_NAME];
} clc_Declaration;

/* Takes the first name off a list "a;b" as OpenCL gives it; returns its length, 0 at the end. */
size_t clc_nextname(const char **list, const char **name);

/*
 * Programs and kernels are given by where their owners keep them: an allocation may run a finalizer
 * that releases them, after which NULL stands there and using them is an error.
 */

/* Pushes the names of a program's kernels as OpenCL gives them: "a;b". */
const char *clc_pushkernelnames(lua_State *L, const cl_program *program);

/* The same; NULL, and nothing pushed, when OpenCL does not tell. */
const char *clc_testkernelnames(lua_State *L, const cl_program *program);

/* Copies a text that may be too long for its room. */
void clc_shorten(char text[CLC_NAME], const char *whole);

/* Asks OpenCL for argument i of a kernel. */
void clc_askdeclaration(lua_State *L, const cl_kernel *kernel, cl_uint i, clc_Declaration *d);

/* Pushes the declarations of the named kernels ("a;b") as a text; NULL, and nothing
   pushed, where OpenCL does not tell. */
const char *clc_pushdeclarations(lua_State *L, const cl_program *program, const char *names);

/* Reads argument i of a kernel from such a text; returns whether it is there. */
int clc_finddeclaration(const char *text, const char *kernel, cl_uint i, clc_Declaration *d);

/* Whether the text is about these kernels ("a;b"), in any order, and no others. */
int clc_declares(const char *text, const char *names);

#endif
