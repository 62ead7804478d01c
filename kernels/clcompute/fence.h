/* SPDX-License-Identifier: MIT */
/*
 * FENCE: what other groups wrote before they counted themselves in is seen behind it, and what was written before it
 * is seen by them. OpenCL 1.2 has no such fence: NVIDIA's PTX has. A processor whose stores are seen in their order
 * (x86) needs the compiler's alone, so that specs run these kernels there; other devices get none of them.
 */
#ifndef CLC_FENCE_H
#define CLC_FENCE_H

#ifdef __NV_CL_C_VERSION
#define FENCE asm volatile("fence.acq_rel.gpu;" ::: "memory")
#else
#define FENCE mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif

#endif
