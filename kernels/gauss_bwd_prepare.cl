/* SPDX-License-Identifier: MIT */
/*
 * gauss_bwd_prepare: one unknown of the back substitution
 * (Baranov & Vlatskaya 2013, formula (3))
 *
 *     x[k] = W[k][n] / W[k][k];
 *
 * One work-item: less than a transfer to the host and back would cost.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif

__kernel void gauss_bwd_prepare(const ulong n, const ulong k, __global const REAL *w,
                                __global REAL *x) {
  x[k] = w[k * (n + 1) + n] / w[k * (n + 1) + k];
}
