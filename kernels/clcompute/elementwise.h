/* SPDX-License-Identifier: MIT */
/*
 * Operands and results of map, reduce, scan and saxpy. What is computed comes as macros; without
 * them it is the element of one buffer, x:
 *
 *     PARAMETERS  of the operands: a BUFFER or NUMBER each
 *     LOADS       declares arg_<name>, the ELEMENT at index i, for each buffer
 *     EXPRESSION  of these
 *     OPERATORS   1: EXPRESSION calls functions of operators.h
 *     FETCH       a PREFETCH of each buffer, of what is read some steps after element `at`
 */
#ifndef CLC_ELEMENTWISE_H
#define CLC_ELEMENTWISE_H

#include "vector.h"

#ifndef REAL
#define REAL float /* what the defaults are made of */
#endif
#ifndef RESULT
#define RESULT REAL /* element type of out */
#endif
#ifndef VALUE
#define VALUE REAL /* what is computed: RESULT, or float for half */
#endif
#ifndef HALF
#define HALF 0 /* 1: RESULT is half */
#endif
#ifndef AHEAD
#define AHEAD 0 /* bytes to prefetch; 0 where the compiler cannot */
#endif
#ifndef EXPRESSION
#define PARAMETERS BUFFER(REAL, x)
#define LOADS ELEMENT(REAL, x)
#define EXPRESSION arg_x
#endif
#ifndef FETCH
#define FETCH
#endif

#ifdef OPERATORS
#include "operators.h"
#endif

/* A buffer is its memory and the elements of it before the first one. */
#define BUFFER(type, name) , __global const type *mem_##name, const ulong first_##name
#define NUMBER(type, name) , const type arg_##name

/* Element i, as a type that may be another one than the buffer's. */
#define ELEMENT(type, name) const type arg_##name = mem_##name[first_##name + i];
#define HALF_ELEMENT(type, name) const type arg_##name = vload_half(first_##name + i, mem_##name);
/* The same of a buffer that has an element for each result: that of result `place`. */
#ifndef RESULT_PLACE
#define RESULT_PLACE place
#endif
#define RESULT_ELEMENT(type, name) const type arg_##name = mem_##name[first_##name + RESULT_PLACE];
#define RESULT_HALF(type, name) \
  const type arg_##name = vload_half(first_##name + RESULT_PLACE, mem_##name);
/* That of an expression whose operands are loaded. */
#define EXPRESSION_ELEMENT(type, name, expression) const type arg_##name = (type)(expression);
/* A struct, of a buffer of bytes. */
#define STRUCT_ELEMENT(type, name) \
  const type arg_##name = ((__global const type *)(mem_##name + first_##name))[i];

/* Four elements from element `first` on, which lie as a vector does; then the one of a `lane`. */
#define ELEMENTS_4(type, name) \
  type lanes_##name[4];        \
  vstore4(*(__global const JOIN(type, 4) *)(mem_##name + first_##name + first), 0, lanes_##name);
#define HALF_ELEMENTS_4(name) \
  float lanes_##name[4];      \
  vstore4(vload_half4(0, mem_##name + first_##name + first), 0, lanes_##name);
#define LANE_ELEMENT(type, name) const type arg_##name = lanes_##name[lane];

/* LANES elements of `size` bytes, AHEAD bytes after element `at`. */
#if AHEAD
#define PREFETCH(name, size)                                                                       \
  for (uint byte = 0; byte < LANES * (size); byte += 64)                                           \
    __builtin_prefetch((const void *)((size_t)(mem_##name + first_##name + at) + byte + AHEAD), 0, \
                       3);
#else
#define PREFETCH(name, size)
#endif

/* The elements of chunk `number`: from `begin` to before `end`. */
#define FIND_CHUNK(number) const ulong begin = (number)*chunk, end = min(begin + chunk, n);

/* Rows of n elements are in parts of `chunk`: the elements of part `number`, which is the `nth` one of
   row `place`. */
#define FIND_PART(number)                                                         \
  const ulong parts = (n + chunk - 1) / chunk, place = (number) / parts,          \
              nth = (number)-place * parts, begin = place * n + nth * chunk,      \
              end = min(begin + chunk, (place + 1) * n);

/* Matrices of n x inner are in parts of `chunk` rows and strips of `width` columns. Task number `task`: from
   row `first` of matrix `matrix` on so many `rows`, and from `column` on so many columns, `wide`. */
#define FIND_TASK                                                                    \
  const ulong strips = (inner + width - 1) / width, parts = (n + chunk - 1) / chunk, \
              of = task / strips, matrix = of / parts, nth = of - matrix * parts,    \
              column = (task - of * strips) * width, first = nth * chunk,            \
              rows = min(chunk, n - first);                                          \
  const uint wide = (uint)min(width, inner - column);

/* out[i] = value */
#if HALF
#define WRITE(i, value) vstore_half_rte(value, i, out)
#else
#define WRITE(i, value) out[i] = value
#endif

#endif
