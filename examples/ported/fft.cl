/* SPDX-License-Identifier: MIT */
/*
 * The Fourier transform by Stockham's passes, which sort themselves. After Van Loan, Computational
 * Frameworks for the Fast Fourier Transform, 1992, sections 1.7 (radix 2) and 2.4 (radix 4). A pass
 * turns transforms of p numbers into transforms of radix * p; n / radix work-items do one butterfly
 * each, from x to y.
 */
#include <clcompute/complex.h>

/* exp(-2 pi i k / n) */
static float2 root(const int k, const int n) {
  return cpolar(1.0f, -2 * M_PI_F * k / n);
}

kernel void radix2(const int p, global const float2 *x, global float2 *y) {
  const int i = get_global_id(0), stride = get_global_size(0), k = i % p;
  const float2 a = x[i], b = cmul(root(k, 2 * p), x[i + stride]);
  global float2 *out = y + 2 * (i - k) + k;
  out[0] = a + b;
  out[p] = a - b;
}

kernel void radix4(const int p, global const float2 *x, global float2 *y) {
  const int i = get_global_id(0), stride = get_global_size(0), k = i % p;
  const float2 w = root(k, 4 * p), w2 = csqr(w);
  const float2 a = x[i], b = cmul(w, x[i + stride]), c = cmul(w2, x[i + 2 * stride]),
               d = cmul(cmul(w, w2), x[i + 3 * stride]);
  const float2 even = a + c, odd = a - c, sum = b + d, difference = b - d;
  const float2 turned = (float2)(difference.y, -difference.x); /* times -i */
  global float2 *out = y + 4 * (i - k) + k;
  out[0] = even + sum;
  out[p] = odd + turned;
  out[2 * p] = even - sum;
  out[3 * p] = odd - turned;
}
