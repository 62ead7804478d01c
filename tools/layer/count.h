/* SPDX-License-Identifier: MIT */
/*
** The counting table: what the generated wrappers tell it and what a test may
** ask it. A reference here is one of the program's own: +1 from the call that
** made the handle, +1 a retain, -1 a release. CL_*_REFERENCE_COUNT is never
** asked, because a driver's inner references show in it.
*/

#ifndef count_h
#define count_h

#include <stddef.h>

struct _cl_icd_dispatch;

typedef struct count_Call {
  const char *name;
  unsigned long number; /* in this process, from 1 */
} count_Call;

typedef struct count_Handle {
  const void *handle;
  const char *type;
  count_Call made;    /* by the call that first returned it */
  unsigned long died; /* number of the call that gave the last reference back */
  unsigned long references;
} count_Handle;

/* The layer's one exported object, for dlsym; new members go at the end. */
typedef struct count_Api {
  /* How many handles are alive; the first `room` of them go to `out`, oldest first. */
  size_t (*live)(count_Handle *out, size_t room);
  unsigned long (*bad)(void);
  unsigned long (*calls)(void);
} count_Api;

/* For the generated wrappers. `type` and `name` are string literals. */

extern const struct _cl_icd_dispatch *count_next; /* what a wrapper calls */

count_Call count_enter(const char *name); /* the first thing in every wrapper */
void count_made(count_Call call, const char *type, const void *handle); /* NULL: nothing was made */

/*
** A retain or release is counted before the driver sees it: once it has freed
** a handle, another thread may be given the same address. 0: the handle is not
** alive, the driver must not see the call. If the driver refuses, undo.
*/
int count_retain(count_Call call, const char *type, const void *handle);
int count_release(count_Call call, const char *type, const void *handle);
void count_undo_retain(const void *handle);
void count_undo_release(const void *handle);

void count_wrap(struct _cl_icd_dispatch *table); /* generated: puts the wrappers in */

#endif
