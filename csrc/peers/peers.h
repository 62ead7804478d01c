/* SPDX-License-Identifier: MIT */
/* The libraries that are compared with, and what they have in common. */
#ifndef CLC_PEERS_H
#define CLC_PEERS_H

#include "base/base.h"

/* --- libraries that are opened when asked (library.c) ------------------------ */

/* A function, and where in a structure its address goes. */
typedef struct clc_Symbol {
  const char *name;
  size_t offset;
} clc_Symbol;

typedef struct clc_Library {
  const char *variable;      /* of the environment: a path that is opened instead of the names */
  const char *names[3];      /* tried in order; the last is NULL */
  const char *package;       /* Debian's, for the reason */
  const clc_Symbol *symbols; /* the last has no name */
} clc_Library;

/* Opens a library, for as long as the process lives, and stores its functions. Pushes the path
   of its file and returns 1; or leaves why it does not open at the top and returns 0. */
int clc_openlibrary(lua_State *L, const clc_Library *library, void *functions);

/* --- objects with methods, and constant fields in a table that is their user value (blas.c) --- */

/* What every object begins with, since a metatable alone can be set by `debug`: the address of its
   type's name. */
typedef struct clc_Object {
  const char *type;
} clc_Object;

/* The object of an argument; tname is where its type's name stands. */
void *clc_checkobject(lua_State *L, int arg, const char *tname);

/* Makes the metatable of a type. What is neither a method nor a field is an error. */
void clc_openobject(lua_State *L, const char *tname, const clc_Function *methods,
                    const luaL_Reg *metamethods);

/* --- arguments of a call (blas.c) --------------------------------------------- */

enum { CLC_ROWMAJOR = 101, CLC_ASITIS = 111, CLC_TRANSPOSED = 112 }; /* of CBLAS, and CLBlast */

/* What a call of gemm says besides its operands, all of them packed and row-major. */
typedef struct clc_Product {
  int m, n, k;
  int transa, transb;
  int lda, ldb, ldc; /* elements from row to row */
  double alpha, beta;
} clc_Product;

/* m, n, k and a table of options, from that argument on. */
clc_Product clc_checkproduct(lua_State *L, int arg);

/* The product of two extents, which cannot overflow. */
size_t clc_area(int rows, int cols);

/* An extent or a count: libraries take an int. */
int clc_checkextent(lua_State *L, int arg);

/* --- arrays in host memory, which a script holds and a library computes with (array.c) --- */

typedef struct clc_Array {
  clc_Object object;
  void *elements; /* begin a cache line */
  size_t count;
  int is_double; /* else float */
} clc_Array;

/* Pushes a new array whose elements are not set. */
clc_Array *clc_newarray(lua_State *L, size_t count, int is_double);

/* The array of an argument; like: of that dtype, with exactly so many elements. */
clc_Array *clc_checkarray(lua_State *L, int arg);
clc_Array *clc_checkarraylike(lua_State *L, int arg, const clc_Array *like, size_t count);

/* --- the functions of the module, each added to the table at the top ---------- */

void clc_openarrays(lua_State *L);
void clc_openopenblas(lua_State *L);
void clc_openclblast(lua_State *L);

#endif
