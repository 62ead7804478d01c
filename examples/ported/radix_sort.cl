/* SPDX-License-Identifier: MIT */
/*
 * A stable sort of unsigned numbers, four bits a pass, each pass of three kernels. After Satish,
 * Harris & Garland, "Designing Efficient Sorting Algorithms for Manycore GPUs", IPDPS 2009.
 * A work-group does a block of as many numbers as it has work-items. All ranges are rounded up to
 * whole groups.
 */
#define DIGITS 16
#define SCANNERS 64 /* work-items of the scan, one group */

static uint digit_of(const uint number, const uint shift) {
  return (number >> shift) % DIGITS;
}

/* counts[digit * blocks + block]: how many numbers of the block have the digit. */
kernel void count_digits(const uint n, const uint shift, global const uint *numbers,
                         global uint *counts) {
  local uint found[DIGITS];
  const uint i = get_global_id(0), me = get_local_id(0);
  if (me < DIGITS) found[me] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n) atomic_inc(&found[digit_of(numbers[i], shift)]);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (me < DIGITS) counts[me * get_num_groups(0) + get_group_id(0)] = found[me];
}

/* Sums of all counts before each, in place: each work-item its share, then what came before it, by
   the doubling scan of Hillis & Steele (1986). */
kernel __attribute__((reqd_work_group_size(SCANNERS, 1, 1))) void scan_counts(const uint n,
                                                                              global uint *counts) {
  local uint sums[2][SCANNERS];
  const uint me = get_local_id(0), share = (n + SCANNERS - 1) / SCANNERS;
  const uint begin = min(me * share, n), end = min(begin + share, n);
  uint sum = 0, from = 0;
  for (uint k = begin; k < end; k++) sum += counts[k];
  sums[from][me] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint step = 1; step < SCANNERS; step *= 2) {
    sums[1 - from][me] = sums[from][me] + (me >= step ? sums[from][me - step] : 0);
    from = 1 - from;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  uint before = sums[from][me] - sum;
  for (uint k = begin; k < end; k++) {
    const uint count = counts[k];
    counts[k] = before;
    before += count;
  }
}

/* Each number goes behind those of smaller digits, those of its digit in the blocks before, and
   those of its digit before it in its block. */
kernel void scatter(const uint n, const uint shift, global const uint *numbers,
                    global const uint *starts, global uint *sorted, local uchar *digits) {
  const uint i = get_global_id(0), me = get_local_id(0);
  const uint number = i < n ? numbers[i] : 0, digit = digit_of(number, shift);
  digits[me] = digit;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i >= n) return;
  uint place = starts[digit * get_num_groups(0) + get_group_id(0)];
  for (uint k = 0; k < me; k++) place += digits[k] == digit;
  sorted[place] = number;
}
