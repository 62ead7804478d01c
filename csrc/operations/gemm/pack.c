/* SPDX-License-Identifier: MIT */
/* Operands moved to scratch memory, transposed or with zeros around them (kernels/gemm_pack.cl). */
#include "product.h"

#define HIGH 64    /* rows that a work-group moves, */
#define ACROSS 256 /* bytes of each, */
#define ITEMS 256  /* and its work-items */

clc_Kernel *clc_getpack(lua_State *L, const clc_Matrix *x, int is_transposed) {
  return clc_tailored(L, x->b->device, "gemm_pack", x->b->dtype, NULL, NULL,
                      {"TRANSPOSE", is_transposed != 0}, {"WIDE", clc_isquad(x) != 0});
}

int clc_canpack(size_t rows) {
  return clc_parts(rows, HIGH) <= CLC_MOSTGROUPS;
}

clc_Matrix clc_pack(lua_State *L, clc_Kernel *kernel, const clc_Matrix *from, size_t count,
                    size_t rows, size_t cols, clc_Matrix to) {
  const size_t across = ACROSS / from->b->dtype->size;
  const clc_Range range =
      clc_batchrange(clc_parts(to.cols, across), clc_parts(to.rows, HIGH), count, ITEMS, 1);
  clc_run(L, kernel, &range, clc_size(rows), clc_size(cols), clc_size(to.rows), clc_size(to.cols),
          clc_matrices(from), clc_memory(to.b));
  to.ld = to.cols;
  to.stride = count > 1 ? to.rows * to.cols : 0;
  return to;
}
