/* SPDX-License-Identifier: MIT */
/*
 * sort_move_chunks: a pass of a radix sort, for a CPU: a work-item moves a chunk
 *
 *     for (i = 0; i < n; i++) to[starts[digit of from[i]]++] = from[i];
 *
 * starts[d * chunks + c] is the place of the first element of chunk c with digit d. Elements wait
 * in a line of the cache for each digit until it is full: else each of them would fetch a line of
 * memory, and a page. Global size: n / chunk, rounded up. Local size: any, 1 is best.
 */
#include "clcompute/elementwise.h"
#include "clcompute/sort.h"

#ifndef STREAM
#define STREAM 0 /* 1: lines go past the caches */
#endif

#if STREAM
#define STORE_LINE(line, to) __builtin_nontemporal_store(line, (__global uint16 *)(to))
#else
#define STORE_LINE(line, to) *(__global uint16 *)(to) = line
#endif

/* Lines of elements of type T, one for each digit. */
#define LINE(T) (64 / sizeof(T))
#define LINES(T, name)   \
  union {                \
    T elements[LINE(T)]; \
    uint16 all;          \
  } name[RADIX];

/* to[i] = value, by way of the line of digit d; `first` is the first place of the digit. */
#define PUT(T, lines, d, to, i, value, first)                                          \
  {                                                                                    \
    const uint slot = (uint)((i) % LINE(T));                                           \
    lines[d].elements[slot] = value;                                                   \
    if (slot == LINE(T) - 1) {                                                         \
      if ((first) + slot <= (i))                                                       \
        STORE_LINE(lines[d].all, (to) + (i)-slot);                                     \
      else                                                                             \
        for (ulong k = first; k <= (i); k++) (to)[k] = lines[d].elements[k % LINE(T)]; \
    }                                                                                  \
  }

/* What is left in the line of digit d, whose elements are at `first` to before `end`. */
#define PUT_REST(T, lines, d, to, first, end)                                    \
  for (ulong k = max((ulong)(first), (end) / LINE(T) * LINE(T)); k < (end); k++) \
    (to)[k] = lines[d].elements[k % LINE(T)];

__kernel void sort_move_chunks(const ulong n, const ulong chunk, const int in_place,
                               const uint pass, __global const uint *passes,
                               const ulong passes_first, __global const COUNT *starts,
                               const ulong starts_first, ELEMENTS CARRIES) {
  const uint needed = passes[passes_first];
  if (!(needed >> pass & 1)) return;
  FIND_CHUNK(get_global_id(0))
  const uint done = clc_done(needed, pass);
  const int from_place = clc_place(done, popcount(needed), in_place);
  const int to_out = clc_place(done + 1, popcount(needed), in_place) == AT_OUT;
  __global const KEY *from = ELEMENTS_AT(from_place);
  __global KEY *to = to_out ? out : spare;
  const ulong before = to_out ? out_first : spare_first;
  LINES(KEY, lines)
#if CARRIED
  __global CARRY *v_to = to_out ? v_out : v_spare;
  const ulong v_before = to_out ? v_out_first : v_spare_first;
  LINES(CARRY, v_lines)
#endif
  COUNT first[RADIX], next[RADIX];
  for (uint d = 0; d < RADIX; d++)
    next[d] = first[d] = starts[starts_first + d * get_global_size(0) + get_global_id(0)];
  for (ulong i = begin; i < end; i++) {
    const KEY e = from[i];
    const uint d = clc_digit(e, pass);
    const ulong place = next[d]++;
    PUT(KEY, lines, d, to, before + place, e, before + first[d])
#if CARRIED
    PUT(CARRY, v_lines, d, v_to, v_before + place, CARRY_OF(from_place, i), v_before + first[d])
#endif
  }
  for (uint d = 0; d < RADIX; d++) {
    PUT_REST(KEY, lines, d, to, before + first[d], before + next[d])
#if CARRIED
    PUT_REST(CARRY, v_lines, d, v_to, v_before + first[d], v_before + next[d])
#endif
  }
}
