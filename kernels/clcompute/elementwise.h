/* SPDX-License-Identifier: MIT */
/*
 * Elements that map, reduce and scan compute with. An expression becomes macros of the text
 * (lua/clcompute/operations/kernels.lua); without them it is the element of one operand, x:
 *
 *     PARAMETERS  of the operands: a memory and the elements of it before the first one, or a number
 *     LOADS       declares the operands' values at index i
 *     EXPRESSION  of these
 *     FETCH       prefetches what is read some steps after element `at`
 */
#ifndef CLC_ELEMENTWISE_H
#define CLC_ELEMENTWISE_H

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
#define PARAMETERS , __global const REAL *x, const ulong x_first
#define LOADS const REAL arg_x = x[x_first + i];
#define EXPRESSION arg_x
#endif
#ifndef FETCH
#define FETCH
#endif

/* LANES elements of `size` bytes, AHEAD bytes after p. */
#if AHEAD
#define PREFETCH(p, size)                                \
  for (uint byte = 0; byte < LANES * (size); byte += 64) \
    __builtin_prefetch((const void *)((size_t)(p) + byte + AHEAD), 0, 3);
#else
#define PREFETCH(p, size)
#endif

/* The elements of chunk `number`: from `begin` to before `end`. */
#define FIND_CHUNK(number) \
  const ulong begin = (number) * chunk, end = min(begin + chunk, n);

/* out[i] = value */
#if HALF
#define WRITE(i, value) vstore_half_rte(value, i, out)
#else
#define WRITE(i, value) out[i] = value
#endif

#endif
