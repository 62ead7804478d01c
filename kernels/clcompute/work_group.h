/* SPDX-License-Identifier: MIT */
/*
 * The work-group functions of OpenCL C 2.0 (6.13.15) for any device, under their own names:
 *
 *     int work_group_any(int), work_group_all(int)
 *     T work_group_broadcast(T x, size_t local_id [, size_t y [, size_t z]])
 *     T work_group_reduce_add(T x), _min, _max
 *     T work_group_scan_inclusive_add(T x), _min, _max
 *     T work_group_scan_exclusive_add(T x), _min, _max
 *
 * for int, uint, long, ulong, float, and double and half where the device has them. As the
 * standard wants it, all work-items of a group call the same one; scans go in the order of
 * get_local_linear_id. Below OpenCL C 2.0 there also are work_group_barrier,
 * get_enqueued_local_size, get_global_linear_id and get_local_linear_id.
 *
 * A group shares what stands in local memory, and OpenCL C takes that in the body of a kernel
 * alone. So d:program puts CLC_KERNEL_BODY at the beginning of every kernel of the text, and
 * before it defines what a device is like:
 *
 *     CLC_SLOTS   the largest group
 *     CLC_LANES   work-items that do the serial part: 1 on a CPU, where every barrier costs a
 *                 loop over the group; as many as run at once elsewhere
 *     CLC_NATIVE  1: the device has these functions, and they were found right
 *     CLC_DOUBLE, CLC_HALF  1: it has the type
 *
 * Reduction and scan have three phases: every work-item stores its value; the lanes take a share
 * of the values each; every work-item puts together what the lanes found. What the lanes found is
 * written behind a barrier, by which the function before has been read; a broadcast, which writes
 * there at once, begins with one. No loop holds a barrier, so this is also right where such loops
 * are miscompiled, for a group of any size.
 */
#ifndef CLC_WORK_GROUP_H
#define CLC_WORK_GROUP_H

#if CLC_DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#if CLC_HALF
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif

/* Static: what a text does not call costs no time to compile. Inlined, always: POCL 3.1 gives each
   work-group a copy of a local array only for uses within the kernel; a function that was compiled
   by itself would share one among groups that run at the same time. */
#if __OPENCL_C_VERSION__ < 120 /* has no static functions */
#define CLC_STATIC
#else
#define CLC_STATIC static
#endif
#define CLC_INLINED CLC_STATIC __attribute__((always_inline, unused))
#define CLC_OVERLOADED CLC_STATIC __attribute__((overloadable, always_inline, unused))

/* --- what came with OpenCL C 2.0 ----------------------------------------------- */

#if __OPENCL_C_VERSION__ < 200
#define CLC_OLD 1

CLC_INLINED size_t clc_local_linear_id(void) {
  return (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) +
         get_local_id(0);
}

CLC_INLINED size_t clc_global_linear_id(void) {
  const size_t x = get_global_id(0) - get_global_offset(0);
  const size_t y = get_global_id(1) - get_global_offset(1);
  const size_t z = get_global_id(2) - get_global_offset(2);
  return (z * get_global_size(1) + y) * get_global_size(0) + x;
}

/* Groups wait for their own work-items: there is no wider scope here. */
#define memory_scope_work_item 1
#define memory_scope_work_group 2

#ifndef CLK_IMAGE_MEM_FENCE
#define CLK_IMAGE_MEM_FENCE CLK_GLOBAL_MEM_FENCE /* images are in global memory */
#endif

CLC_OVERLOADED void clc_barrier(uint flags) {
  barrier(flags);
}

CLC_OVERLOADED void clc_barrier(uint flags, int scope) {
  (void)scope;
  barrier(flags);
}

#define get_local_linear_id clc_local_linear_id
#define get_global_linear_id clc_global_linear_id
#define get_enqueued_local_size get_local_size /* all groups of a launch are alike */
#define work_group_barrier clc_barrier
#endif

#if CLC_NATIVE && !CLC_OLD
#define CLC_KERNEL_BODY
#else

/* --- the memory of a group ------------------------------------------------------ */

/* A value of any type is kept as a ulong: a compiler may take pointers to different types for
   pointers to different memory, and POCL 3.1 cannot do with local structs and unions. */
#define CLC_KEEP_int(x) (ulong)(uint)(x)
#define CLC_KEEP_uint(x) (ulong)(x)
#define CLC_KEEP_long(x) (ulong)(x)
#define CLC_KEEP_ulong(x) (x)
#define CLC_KEEP_float(x) (ulong) as_uint(x)
#define CLC_KEEP_double(x) as_ulong(x)
#define CLC_KEEP_half(x) (ulong) as_ushort(x)
#define CLC_KEPT_int(kept) (int)(uint)(kept)
#define CLC_KEPT_uint(kept) (uint)(kept)
#define CLC_KEPT_long(kept) (long)(kept)
#define CLC_KEPT_ulong(kept) (kept)
#define CLC_KEPT_float(kept) as_float((uint)(kept))
#define CLC_KEPT_double(kept) as_double(kept)
#define CLC_KEPT_half(kept) as_half((ushort)(kept))

/* First what the lanes found, then the values of the work-items; a slot between the shares of the
   lanes keeps these in banks of their own. */
#define CLC_OF_ITEM(i) (CLC_LANES + (i) + (CLC_LANES > 1 ? (i) / CLC_LANES : 0))

/* The name is what a compiler says of a call elsewhere. */
#define CLC_SHARED work_group_functions_are_for_the_body_of_a_kernel
#define CLC_KERNEL_BODY                                     \
  __local ulong CLC_SHARED[CLC_OF_ITEM(CLC_SLOTS - 1) + 1]; \
  (void)CLC_SHARED;

CLC_INLINED uint clc_group_size(void) {
  return (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2));
}

/* --- reduction and scan ---------------------------------------------------------- */

#define CLC_ADD(a, b) ((a) + (b))

/* T op(T, T), which leaves `identity` out of account. */
#define CLC_OPERATION(T, name, op, identity)                                  \
  CLC_OVERLOADED T clc_reduce_##name(__local ulong *s, T x) {                 \
    const uint me = (uint)get_local_linear_id(), n = clc_group_size();        \
    const uint lanes = min(n, (uint)CLC_LANES);                               \
    s[CLC_OF_ITEM(me)] = CLC_KEEP_##T(x);                                     \
    barrier(CLK_LOCAL_MEM_FENCE);                                             \
    if (me < lanes) {                                                         \
      T sum = x;                                                              \
      for (uint i = me + CLC_LANES; i < n; i += CLC_LANES)                    \
        sum = op(sum, CLC_KEPT_##T(s[CLC_OF_ITEM(i)]));                       \
      s[me] = CLC_KEEP_##T(sum);                                              \
    }                                                                         \
    barrier(CLK_LOCAL_MEM_FENCE);                                             \
    T all = CLC_KEPT_##T(s[0]);                                               \
    for (uint i = 1; i < lanes; i++) all = op(all, CLC_KEPT_##T(s[i]));       \
    return all;                                                               \
  }                                                                           \
  CLC_INLINED T clc_scan_##name##_##T(__local ulong *s, T x, int exclusive) { \
    const uint me = (uint)get_local_linear_id(), n = clc_group_size();        \
    const uint share = (n + CLC_LANES - 1) / CLC_LANES;                       \
    s[CLC_OF_ITEM(me)] = CLC_KEEP_##T(x);                                     \
    barrier(CLK_LOCAL_MEM_FENCE);                                             \
    if (me * share < n) {                                                     \
      const uint end = min((me + 1) * share, n);                              \
      T sum = identity;                                                       \
      for (uint i = me * share; i < end; i++) {                               \
        const T before = sum;                                                 \
        sum = op(sum, CLC_KEPT_##T(s[CLC_OF_ITEM(i)]));                       \
        s[CLC_OF_ITEM(i)] = CLC_KEEP_##T(exclusive ? before : sum);           \
      }                                                                       \
      s[me] = CLC_KEEP_##T(sum);                                              \
    }                                                                         \
    barrier(CLK_LOCAL_MEM_FENCE);                                             \
    T sum = identity;                                                         \
    for (uint i = 0; i < me / share; i++) sum = op(sum, CLC_KEPT_##T(s[i]));  \
    sum = op(sum, CLC_KEPT_##T(s[CLC_OF_ITEM(me)]));                          \
    return sum;                                                               \
  }                                                                           \
  CLC_OVERLOADED T clc_scan_inclusive_##name(__local ulong *s, T x) {         \
    return clc_scan_##name##_##T(s, x, 0);                                    \
  }                                                                           \
  CLC_OVERLOADED T clc_scan_exclusive_##name(__local ulong *s, T x) {         \
    return clc_scan_##name##_##T(s, x, 1);                                    \
  }

/* --- broadcast -------------------------------------------------------------------- */

#define CLC_BROADCAST(T)                                                                \
  CLC_OVERLOADED T clc_broadcast(__local ulong *s, T x, size_t i, size_t j, size_t k) { \
    barrier(CLK_LOCAL_MEM_FENCE); /* the one before it may still be reading there */    \
    if (get_local_id(0) == i && get_local_id(1) == j && get_local_id(2) == k)           \
      s[0] = CLC_KEEP_##T(x);                                                           \
    barrier(CLK_LOCAL_MEM_FENCE);                                                       \
    return CLC_KEPT_##T(s[0]);                                                          \
  }                                                                                     \
  CLC_OVERLOADED T clc_broadcast(__local ulong *s, T x, size_t i, size_t j) {           \
    return clc_broadcast(s, x, i, j, (size_t)0);                                        \
  }                                                                                     \
  CLC_OVERLOADED T clc_broadcast(__local ulong *s, T x, size_t i) {                     \
    return clc_broadcast(s, x, i, (size_t)0, (size_t)0);                                \
  }

/* --- the types -------------------------------------------------------------------- */

#define CLC_TYPE(T, min_of, max_of, lowest, highest) \
  CLC_OPERATION(T, add, CLC_ADD, (T)0)               \
  CLC_OPERATION(T, min, min_of, highest)             \
  CLC_OPERATION(T, max, max_of, lowest)              \
  CLC_BROADCAST(T)

CLC_TYPE(int, min, max, INT_MIN, INT_MAX)
CLC_TYPE(uint, min, max, 0u, UINT_MAX)
CLC_TYPE(long, min, max, LONG_MIN, LONG_MAX)
CLC_TYPE(ulong, min, max, 0ul, ULONG_MAX)
CLC_TYPE(float, fmin, fmax, -INFINITY, INFINITY)
#if CLC_DOUBLE
CLC_TYPE(double, fmin, fmax, -(double)INFINITY, (double)INFINITY)
#endif
#if CLC_HALF
CLC_TYPE(half, fmin, fmax, -(half)INFINITY, (half)INFINITY)
#endif

/* --- the names of the standard ------------------------------------------------------ */

CLC_INLINED int clc_any(__local ulong *s, int predicate) {
  return clc_reduce_max(s, (int)(predicate != 0));
}

CLC_INLINED int clc_all(__local ulong *s, int predicate) {
  return clc_reduce_min(s, (int)(predicate != 0));
}

#define work_group_any(...) clc_any(CLC_SHARED, __VA_ARGS__)
#define work_group_all(...) clc_all(CLC_SHARED, __VA_ARGS__)
#define work_group_broadcast(...) clc_broadcast(CLC_SHARED, __VA_ARGS__)
#define work_group_reduce_add(...) clc_reduce_add(CLC_SHARED, __VA_ARGS__)
#define work_group_reduce_min(...) clc_reduce_min(CLC_SHARED, __VA_ARGS__)
#define work_group_reduce_max(...) clc_reduce_max(CLC_SHARED, __VA_ARGS__)
#define work_group_scan_inclusive_add(...) clc_scan_inclusive_add(CLC_SHARED, __VA_ARGS__)
#define work_group_scan_inclusive_min(...) clc_scan_inclusive_min(CLC_SHARED, __VA_ARGS__)
#define work_group_scan_inclusive_max(...) clc_scan_inclusive_max(CLC_SHARED, __VA_ARGS__)
#define work_group_scan_exclusive_add(...) clc_scan_exclusive_add(CLC_SHARED, __VA_ARGS__)
#define work_group_scan_exclusive_min(...) clc_scan_exclusive_min(CLC_SHARED, __VA_ARGS__)
#define work_group_scan_exclusive_max(...) clc_scan_exclusive_max(CLC_SHARED, __VA_ARGS__)

#endif
#endif
