/* SPDX-License-Identifier: MIT */
/* Shapes: the extents of a buffer, 1 to 4 of them, row-major. */
#ifndef CLC_SHAPE_H
#define CLC_SHAPE_H

#include "dtype.h"

#define CLC_MAXDIMS 4

typedef struct clc_Shape {
  int n;
  size_t dim[CLC_MAXDIMS];
} clc_Shape;

/* Number of elements; the product never overflows in a shape that was checked. */
size_t clc_count(const clc_Shape *s);

/* Elements of one step along the first dimension: 1, or those of a row. */
size_t clc_rowcount(const clc_Shape *s);

/* Raises when so many elements can exist nowhere. */
void clc_checkmemory(lua_State *L, const clc_Shape *s, const clc_Dtype *dtype);

/* The extents given as arguments first .. last, refusing what does not fit in memory. */
clc_Shape clc_checkshape(lua_State *L, int first, int last, const clc_Dtype *dtype);

/* The shape a (nested) table has, judged by its first members, refusing what does
   not fit in memory: tables that share rows can be larger than it. */
clc_Shape clc_tableshape(lua_State *L, int arg, const clc_Dtype *dtype);

/* Converts a nested table of exactly that shape; errors name the place: [3][2]. */
void clc_checktable(lua_State *L, int arg, const clc_Dtype *dtype, const clc_Shape *s,
                    void *elements);

/* Pushes elements as a table nested as the shape; raises where that is a great many empty tables.
 */
void clc_pushtable(lua_State *L, const clc_Dtype *dtype, const clc_Shape *s, const void *elements);

/* Pushes the shape as text: "3x4". */
const char *clc_pushshape(lua_State *L, const clc_Shape *s);

#endif
