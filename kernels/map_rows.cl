/* SPDX-License-Identifier: MIT */
/*
 * map_rows: out[i] = EXPRESSION of operands that do not all lie as the result does: some have one
 * element, row or column for many of it. The result is rows of `inner` elements; an operand begins
 * at BASES in a row, and goes on by a step of its own.
 *
 *     for (row = 0; row < rows; row++)
 *       for (at = 0; at < inner; at++) out[row * inner + at] = EXPRESSION;
 *
 * A work-item does up to `span` elements of a row. On a CPU they are neighbours, LANES at a time, of
 * which a compiler makes vectors; on a GPU (INTERLEAVED) neighbours of a row are those of
 * neighbours, so that what is found out of the row serves several.
 * Global size: at least rows * parts, where inner / span, rounded up, is parts. Local size: any.
 */
#include "clcompute/elementwise.h"

#ifndef LANES
#define LANES 1
#endif
#ifndef INTERLEAVED
#define INTERLEAVED 0 /* elements of a work-item, which lie `parts` apart and are read before one is written; 0: neighbours */
#endif
#ifndef BASES
#define BASES ROW_BASE(x, row * inner) /* of each operand: a ROW_BASE */
#endif
#ifndef ROWS
#define ROWS ROW_ELEMENT(REAL, x, 1) /* of each operand: a ROW_ELEMENT, in place of LOADS */
#endif
#ifndef EXTENTS
#define EXTENTS /* those between the outermost one and `inner`, declared */
#define PLACE   /* what a row is along the outer dimensions, from the inner one on: a DIGIT each */
#endif

#define ROW_BASE(name, offset) const ulong base_##name = first_##name + (offset);
#define ROW_ELEMENT(type, name, step) const type arg_##name = mem_##name[base_##name + at * (step)];
#define ROW_HALF(type, name, step) \
  const type arg_##name = vload_half(base_##name + at * (step), mem_##name);
/* The last digit of `rest` in a number system of that base, which goes from it. */
#define DIGIT(name, base)          \
  const ulong name = rest % (base); \
  rest /= (base);

#if HALF
#define STORE(at, value) vstore_half_rte(value, at, to);
#else
#define STORE(at, value) to[at] = value;
#endif

__kernel void map_rows(const ulong rows, const ulong inner, const ulong span, const ulong parts,
                       __global RESULT *out, const ulong out_first EXTENTS PARAMETERS) {
  const ulong id = get_global_id(0);
  const bool is_small = rows * parts <= UINT_MAX; /* division of 32 bits takes half the time */
  const ulong row = is_small ? (uint)id / (uint)parts : id / parts;
  if (row >= rows) return;
  ulong rest = row;
  PLACE
  BASES
  __global RESULT *to = out + out_first + row * inner;
  const ulong part = id - row * parts;
#if INTERLEAVED
  VALUE v[INTERLEAVED];
  UNROLL for (uint k = 0; k < INTERLEAVED; k++) {
    const ulong at = part + k * parts;
    if (at < inner) {
      ROWS
      v[k] = (VALUE)(EXPRESSION);
    }
  }
  UNROLL for (uint k = 0; k < INTERLEAVED; k++)
    if (part + k * parts < inner) STORE(part + k * parts, v[k])
#else
  ulong at = part * span;
  const ulong end = min(at + span, inner);
#if LANES > 1
  for (ulong begin = at; begin + LANES <= end; begin += LANES) {
    VALUE v[LANES];
    for (uint lane = 0; lane < LANES; lane++) {
      at = begin + lane;
      ROWS
      v[lane] = (VALUE)(EXPRESSION);
    }
    at = begin + LANES;
    for (uint lane = 0; lane < LANES; lane++) STORE(begin + lane, v[lane])
  }
#endif
  for (; at < end; at++) {
    ROWS
    STORE(at, (VALUE)(EXPRESSION))
  }
#endif
}
