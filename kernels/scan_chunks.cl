/* SPDX-License-Identifier: MIT */
/*
 * scan_chunks: the running results of n elements, for a CPU: a work-item does a chunk
 *
 *     for (i = 0; i < n; i++) out[i] = total = i > 0 ? combine(total, x[i]) : x[i];
 *
 * and with EXCLUSIVE out[i] is the total before element i. The results of whole chunks are in
 * `sums`; a work-item combines those of the chunks before its own. With an IDENTITY sixteen elements
 * are scanned at once: 1, 2, 4 and 8 places are shifted by and combined, so the chain
 * from element to element has one operation for sixteen.
 * Global size: n / chunk, rounded up. Local size: any, 1 is best.
 */
#ifndef REAL
#define REAL float /* what the defaults below are made of */
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
#ifndef EXCLUSIVE
#define EXCLUSIVE 0 /* 1: without the element itself; has_init must be 1 */
#endif
#ifndef STREAM
#define STREAM 0 /* 1: past the caches, where vectors of out are aligned */
#endif
#ifndef OPERATION
#define OPERATION a + b /* of the results a and b of neighbouring parts */
#define IDENTITY 0      /* optional: combined with it, a value stays; has_init must be 1 */
#endif
#ifndef EXPRESSION
#define PARAMETERS , __global const REAL *x, const ulong x_first
#define LOADS const REAL arg_x = x[x_first + i];
#define EXPRESSION arg_x
#define ELEMENTS vload16(0, x + x_first + at) /* sixteen elements from `at` on, as VALUEs */
#endif
#ifndef FETCH
#define FETCH /* prefetches what is read some steps after element `at` */
#endif
#define JOIN(type, width) type##width
#define VECTOR(type) JOIN(type, 16)

static VALUE combine(const VALUE a, const VALUE b) {
  return OPERATION;
}

#ifdef IDENTITY
static VECTOR(VALUE) combine_vectors(const VECTOR(VALUE) a, const VECTOR(VALUE) b) {
  return OPERATION;
}
#endif

__kernel void scan_chunks(const ulong n, const ulong chunk, __global RESULT *out,
                          const ulong out_first, __global const VALUE *sums, const ulong sums_first,
                          const int has_init, const VALUE init PARAMETERS) {
  const ulong begin = get_global_id(0) * chunk, end = min(begin + chunk, n);
  VALUE total = init;
  int has_total = has_init;
  for (ulong k = 0; k < get_global_id(0); k++) {
    const VALUE sum = sums[sums_first + k];
    total = has_total ? combine(total, sum) : sum;
    has_total = 1;
  }
  ulong at = begin;
#ifdef IDENTITY
  const VALUE e = (VALUE)(IDENTITY);
  VECTOR(VALUE) before = (VECTOR(VALUE))(total);
  for (; at + 16 <= end; at += 16) {
    FETCH
    VECTOR(VALUE) v = ELEMENTS;
    v = combine_vectors((VECTOR(VALUE))(e, v.s01234567, v.s89ab, v.scde), v);
    v = combine_vectors((VECTOR(VALUE))(e, e, v.s01234567, v.s89ab, v.scd), v);
    v = combine_vectors((VECTOR(VALUE))(e, e, e, e, v.s01234567, v.s89ab), v);
    v = combine_vectors((VECTOR(VALUE))(e, e, e, e, e, e, e, e, v.s01234567), v);
    const VECTOR(VALUE) last = (VECTOR(VALUE))(v.sf);
    if (EXCLUSIVE) v = (VECTOR(VALUE))(e, v.s01234567, v.s89ab, v.scde);
    v = combine_vectors(before, v);
    before = combine_vectors(before, last);
#if HALF
    vstore_half16_rte(v, 0, out + out_first + at);
#elif STREAM
    __builtin_nontemporal_store(v, (__global VECTOR(VALUE) *)(out + out_first + at));
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
#if HALF
    vstore_half_rte(result, out_first + i, out);
#else
    out[out_first + i] = result;
#endif
  }
}
