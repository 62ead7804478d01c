/* SPDX-License-Identifier: MIT */
/*
 * trace_range: what each work-item is told of its place, for clcompute.trace_range
 *
 *     for (each work-item) {
 *       record[its number] = what the built-in functions return;
 *       count[its number] = {1, whether it is before the ends};
 *     }
 *
 * A record is global id, local id, group id, groups, local size, enqueued local size,
 * global size and global offset, each along three dimensions, then the linear ids, global
 * and local. Records are numbered from `first` on, since a range may take several launches;
 * those from `capacity` on are dropped. Under GROUPS a record is that of a work-group's
 * first work-item, and the counts are sums over the group.
 *
 * Global size, offset and local size: any, they are what is looked at.
 */
#ifndef GROUPS
#define GROUPS 0 /* 1: a record for each work-group, 0: for each work-item */
#endif

#if __OPENCL_C_VERSION__ >= 200
#define ENQUEUED_LOCAL_SIZE get_enqueued_local_size
#else
#define ENQUEUED_LOCAL_SIZE get_local_size /* all groups are as large as that of the launch */
#endif

#define FIELDS 26 /* numbers of a record */

/* The linear ids by the formulas of the standard: OpenCL C 1.x has no functions for them. */
ulong global_linear_id(void) {
  const ulong z = get_global_id(2) - get_global_offset(2),
              y = get_global_id(1) - get_global_offset(1);
  return (z * get_global_size(1) + y) * get_global_size(0) + get_global_id(0) -
         get_global_offset(0);
}

ulong local_linear_id(void) {
  return (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) +
         get_local_id(0);
}

ulong group_linear_id(void) {
  return (get_group_id(2) * get_num_groups(1) + get_group_id(1)) * get_num_groups(0) +
         get_group_id(0);
}

__kernel void trace_range(const ulong first, const ulong capacity, const ulong end_x,
                          const ulong end_y, const ulong end_z, __global ulong *record,
                          __global uint *count) {
  const ulong number = first + (GROUPS ? group_linear_id() : global_linear_id());
  if (number >= capacity) return;
  const int is_active =
      get_global_id(0) < end_x && get_global_id(1) < end_y && get_global_id(2) < end_z;
  atomic_inc(&count[2 * number]);
  if (is_active) atomic_inc(&count[2 * number + 1]);
  if (GROUPS && local_linear_id() != 0) return;
  __global ulong *field = record + FIELDS * number;
  for (uint d = 0; d < 3; d++) {
    field[d] = get_global_id(d);
    field[3 + d] = get_local_id(d);
    field[6 + d] = get_group_id(d);
    field[9 + d] = get_num_groups(d);
    field[12 + d] = get_local_size(d);
    field[15 + d] = ENQUEUED_LOCAL_SIZE(d);
    field[18 + d] = get_global_size(d);
    field[21 + d] = get_global_offset(d);
  }
  field[24] = global_linear_id();
  field[25] = local_linear_id();
}
