/* SPDX-License-Identifier: MIT */
/*
 * scan_chunks: the running results of each row of n elements, for a CPU: a work-item does a chunk
 *
 *     for (i = 0; i < n; i++) out[i] = total = i > 0 ? combine(total, x[i]) : x[i];
 *
 * and with EXCLUSIVE out[i] is the total before element i. The results of whole chunks are in
 * `sums`; a work-item combines those of the chunks of the row before its own. With an IDENTITY sixteen elements
 * are scanned at once: 1, 2, 4 and 8 places are shifted by and combined, so the chain
 * from element to element has one operation for sixteen.
 * Global size: n / chunk, rounded up, for each row. Local size: any, 1 is best.
 */
#include "clcompute/scan.h"

#ifndef STREAM
#define STREAM 0 /* 1: past the caches, where vectors of out are aligned */
#endif
#ifndef ELEMENTS
#define ELEMENTS vload16(0, mem_x + first_x + at) /* sixteen elements from `at` on, as VALUEs */
#endif
#define VECTOR JOIN(VALUE, 16)

#ifdef IDENTITY
static VECTOR combine_vectors(const VECTOR a, const VECTOR b) {
  return OPERATION;
}
#endif

__kernel void scan_chunks(const ulong n, const ulong chunk, __global RESULT *out,
                          const ulong out_first, __global const VALUE *sums, const ulong sums_first,
                          const int has_init, const VALUE init PARAMETERS) {
  FIND_PART(get_global_id(0))
  VALUE total = init;
  int has_total = has_init;
  for (ulong k = 0; k < nth; k++) {
    const VALUE sum = sums[sums_first + place * parts + k];
    total = has_total ? combine(total, sum) : sum;
    has_total = 1;
  }
  ulong at = begin;
#ifdef IDENTITY
  const VALUE e = (VALUE)(IDENTITY);
  VECTOR before = (VECTOR)(total);
  for (; at + 16 <= end; at += 16) {
    FETCH
    VECTOR v = ELEMENTS;
    v = combine_vectors((VECTOR)(e, v.s01234567, v.s89ab, v.scde), v);
    v = combine_vectors((VECTOR)(e, e, v.s01234567, v.s89ab, v.scd), v);
    v = combine_vectors((VECTOR)(e, e, e, e, v.s01234567, v.s89ab), v);
    v = combine_vectors((VECTOR)(e, e, e, e, e, e, e, e, v.s01234567), v);
    const VECTOR last = (VECTOR)(v.sf);
    if (EXCLUSIVE) v = (VECTOR)(e, v.s01234567, v.s89ab, v.scde);
    v = combine_vectors(before, v);
    before = combine_vectors(before, last);
#if HALF
    vstore_half16_rte(v, 0, out + out_first + at);
#elif STREAM
    __builtin_nontemporal_store(v, (__global VECTOR *)(out + out_first + at));
#else
    vstore16(v, 0, out + out_first + at);
#endif
  }
  total = before.s0;
#endif
  for (; at < end; at++) {
    const long i = (long)at;
    LOADS
    const VALUE value = (VALUE)(EXPRESSION);
    const VALUE next = has_total ? combine(total, value) : value;
    const VALUE result = EXCLUSIVE ? total : next;
    total = next;
    has_total = 1;
    WRITE(out_first + i, result);
  }
}
