/* SPDX-License-Identifier: MIT */
/*
 * The sequential program (Borisov 2015): what the kernels compute, as plain C
 * loops over row-major arrays. A baseline for timing and an oracle for results.
 */
#ifndef CLC_SEQUENTIAL_H
#define CLC_SEQUENTIAL_H

#include <stddef.h>

#define PLAIN_FUNCTIONS(REAL, TYPE)                                                                \
  /* out = alpha x + y */                                                                          \
  void clc_plain_saxpy_##TYPE(size_t n, REAL alpha, const REAL *x, const REAL *y, REAL *out);      \
  void clc_plain_scan_##TYPE(size_t n, const REAL *x, REAL *out);                                  \
  /* C = A B; A is m x k, B k x n */                                                               \
  void clc_plain_gemm_##TYPE(size_t m, size_t n, size_t k, const REAL *a, const REAL *b, REAL *c); \
  /* W[i][j] -= l[i] * top[j] for a block of rows x cols, `ld` apart */                            \
  void clc_plain_eliminate_##TYPE(size_t rows, size_t cols, REAL *w, size_t ld, const REAL *l,     \
                                  const REAL *top);                                                \
  /* Solves A X = B in place by Gauss elimination with partial pivoting; a becomes                 \
     rubbish, b (n x columns) the solution. Returns 0, or the 1-based column without pivot. */     \
  size_t clc_plain_gauss_##TYPE(size_t n, size_t columns, REAL *a, REAL *b);                       \
  /* The largest |x - expected| / |expected| */                                                    \
  double clc_plain_relative_error_##TYPE(size_t n, const REAL *x, const double *expected);         \
  /* The largest |x - expected| */                                                                 \
  double clc_plain_absolute_error_##TYPE(size_t n, const REAL *x, const double *expected);         \
  /* ||A x - b|| / (||A|| ||x||) in the 1-norm; `sums` is room for n numbers */                    \
  double clc_plain_backward_error_##TYPE(size_t n, const REAL *a, const REAL *b, const REAL *x,    \
                                         double *sums);

PLAIN_FUNCTIONS(float, float)
PLAIN_FUNCTIONS(double, double)
#undef PLAIN_FUNCTIONS

/* One generation of the Game of Life on a cube of edge n (kernels/life.cl). */
void clc_plain_life(size_t n, const unsigned char *from, unsigned char *to);

#endif
