/* SPDX-License-Identifier: MIT */
/*
 * y = A x for a sparse matrix in compressed rows (CSR). After Bell & Garland, "Efficient Sparse
 * Matrix-Vector Multiplication on CUDA", NVIDIA NVR-2008-004: its two kernels for CSR. Row r has
 * the elements first[r] to first[r + 1] - 1 of `values`, in the columns that `columns` names.
 */

/* One work-item a row. */
kernel void rows_scalar(const int rows, global const int *first, global const int *columns,
                        global const float *values, global const float *x, global float *y) {
  const int r = get_global_id(0);
  if (r >= rows) return;
  float sum = 0;
  for (int k = first[r]; k < first[r + 1]; k++) sum += values[k] * x[columns[k]];
  y[r] = sum;
}

/* One work-group a row: neighbours read neighbours, and add up in local memory. */
kernel void rows_vector(const int rows, global const int *first, global const int *columns,
                        global const float *values, global const float *x, global float *y,
                        local float *sums) {
  const int r = get_group_id(0), me = get_local_id(0), lanes = get_local_size(0);
  float sum = 0;
  for (int k = first[r] + me; k < first[r + 1]; k += lanes) sum += values[k] * x[columns[k]];
  sums[me] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = lanes / 2; k > 0; k /= 2) {
    if (me < k) sums[me] += sums[me + k];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (me == 0) y[r] = sums[0];
}
