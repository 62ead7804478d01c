/* SPDX-License-Identifier: MIT */
/*
 * Copies to local memory without a register on their way, some of them ahead of what is computed:
 * cp.async of NVIDIA's PTX. Elsewhere a copy is done at once. Needs REAL, and of a ring of
 * STAGES buffers:
 *
 *     COPY(to, from)  begins to copy a QUAD, from global memory to local memory
 *     COPY_FOUR(to, from, count)  the same of `count` of its elements, with zeros behind them
 *     COPY_UNIT(UNIT, to, from, count)  the same of UNIT elements, whose bytes both addresses are
 *                     multiples of: 4, 8 or 16
 *     COMMIT          ends what goes to one buffer
 *     AWAIT           waits until all but the last STAGES - 2 buffers are there; a barrier makes it
 *                     so for the group
 */
#ifndef CLC_COPY_ASYNC_H
#define CLC_COPY_ASYNC_H

#include "vector.h"

#ifdef __NV_CL_C_VERSION
#define COPY(to, from)                                                                         \
  for (int part = 0; part < (int)sizeof(QUAD); part += 16)                                     \
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((uint)(size_t)(to) + part), \
                 "l"((ulong)(from) + part)                                                     \
                 : "memory");
#define COPY_FOUR(to, from, count)                                                           \
  for (int part = 0; part < (int)sizeof(QUAD); part += 16)                                   \
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"((uint)(size_t)(to) + part), \
                 "l"((ulong)(from) + part), "r"(clamp((count) * (int)sizeof(REAL) - part, 0, 16)) \
                 : "memory");
#define COPY_UNIT(UNIT, to, from, count)                                                  \
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"((uint)(size_t)(to)), \
               "l"(from), "n"((UNIT) * sizeof(REAL)), "r"((count) * (int)sizeof(REAL))      \
               : "memory");
#define COMMIT asm volatile("cp.async.commit_group;" ::: "memory");
#define AWAIT asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
#else
#define COPY(to, from) *(__local QUAD *)(to) = *(__global const QUAD *)(from);
#define COPY_UNIT(UNIT, to, from, count) \
  for (int own = 0; own < (UNIT); own++) (to)[own] = own < (count) ? (from)[own] : (REAL)0;
#define COPY_FOUR(to, from, count) COPY_UNIT(4, to, from, count)
#define COMMIT
#define AWAIT
#endif

#endif
