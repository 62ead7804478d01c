/* SPDX-License-Identifier: MIT */
/*
 * gemm_naive: C = alpha * op(A) * op(B) + beta * C (Borisov 2015, listing 2)
 *
 *     for (i = 0; i < m; i++)
 *       for (j = 0; j < n; j++) {
 *         acc = 0;
 *         for (l = 0; l < k; l++) acc += op(A)[i][l] * op(B)[l][j];
 *         C[i][j] = alpha * acc + beta * C[i][j];
 *       }
 *
 *              j -> n                 One work-item an element of C. The listing
 *             +--------+              is column-major; here matrices are
 *             | op(B)  | k            row-major, so dimension 0 runs along the
 *             +---|----+              columns: neighbouring work-items read
 *     +---+   +---v----+              neighbouring elements of B and C.
 *   i | A --->|   C    | m
 *   v +---+   +--------+
 *       k
 *
 * op(X) is X, or its transpose where TRANSA / TRANSB is 1. a0, b0, c0 are the
 * elements before each matrix, lda, ldb, ldc those from row to row as stored.
 * With beta 0, C is not read. Global size: at least n x m; local size: any.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#ifndef TRANSA
#define TRANSA 0 /* 1: A is stored k x m */
#endif
#ifndef TRANSB
#define TRANSB 0 /* 1: B is stored n x k */
#endif

__kernel void gemm_naive(const ulong m, const ulong n, const ulong k, const REAL alpha,
                         __global const REAL *a, const ulong a0, const ulong lda,
                         __global const REAL *b, const ulong b0, const ulong ldb, const REAL beta,
                         __global REAL *c, const ulong c0, const ulong ldc) {
  const size_t j = get_global_id(0);
  const size_t i = get_global_id(1);
  if (i >= m || j >= n) return;
  const size_t a_step = TRANSA ? lda : 1;
  const size_t b_step = TRANSB ? 1 : ldb;
  __global const REAL *p = a + a0 + (TRANSA ? i : i * lda);
  __global const REAL *q = b + b0 + (TRANSB ? j * ldb : j);
  REAL acc = 0;
  for (size_t l = 0; l < k; l++) acc += p[l * a_step] * q[l * b_step];
  __global REAL *out = c + c0 + i * ldc + j;
  *out = beta == 0 ? alpha * acc : alpha * acc + beta * *out;
}
