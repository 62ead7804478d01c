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

/* What a plan of failures has come to. */
typedef struct count_Hits {
  const char *call;           /* the first that failed; NULL: none */
  unsigned long seen, failed; /* calls that it was for, and those of them that failed */
} count_Hits;

/* The layer's one exported object, for dlsym; new members go at the end. */
typedef struct count_Api {
  /* How many handles are alive; the first `room` of them go to `out`, oldest first. */
  size_t (*live)(count_Handle *out, size_t room);
  unsigned long (*bad)(void);
  unsigned long (*calls)(void);
  /* Lets the nth call from now on, and those after it until there were `times`, fail with that
     code; 0 times: none. One plan at a time. "any": every call but retains and releases.
     "command": see count_status. */
  void (*fail)(const char *call, unsigned long nth, int code, unsigned long times);
  count_Hits (*hits)(void); /* of the latest plan */
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

/* The code that a call is to fail with instead of reaching the driver; 0: it is not to fail. */
int count_fault(const char *name);

/* What a program is to be told of a command in that state: once it has ended, the code
   planned for "command", as if it had failed on the device. */
int count_status(int status);

/* Whether a command is to have ended before its state is told: under a plan for "any" call or for
   commands, so that a program which polls makes the same calls each time. */
int count_settles(void);

void count_wrap(struct _cl_icd_dispatch *table); /* generated: puts the wrappers in */

#endif
