/* SPDX-License-Identifier: MIT */
/*
 * The sandbox of a worker: what its process gives up before it opens a driver, by means of Linux.
 * A kernel is native code there, which may make any system call; what the process gave up, it
 * cannot take back.
 */
#ifndef CLC_SANDBOX_H
#define CLC_SANDBOX_H

/* Parts that a system may have or not. */
enum {
  CLC_FILESPART = 1, /* Landlock: which files it reads and writes */
  CLC_CALLSPART = 2, /* seccomp: which system calls there are */
  CLC_TASKSPART = 4  /* seccomp's supervisor: how many processes and threads it begins */
};

/* Those of this machine; 0 where $CLCOMPUTE_SANDBOX is "off". */
unsigned clc_sandboxparts(void);

/* --- in the process of a worker --------------------------------------------- */

/* The folder that the process may write to, and the further ones that it may read, with ":"
   between: variables of its environment. */
#define CLC_WRITABLE "POCL_CACHE_DIR"
#define CLC_READABLE "CLCOMPUTE_READABLE"

/* Gives up all parts. Returns NULL, or what failed, with errno set. *supervisor: a descriptor for
   clc_supervise, or -1. */
const char *clc_confine(int *supervisor);

/* Which files may be opened besides programs and libraries. */
typedef struct clc_Folders {
  const char *writable; /* or NULL */
  const char *readable; /* ":" between them, or NULL */
  int machine;          /* what tells of the machine and of the process, too */
} clc_Folders;

/* Landlock, for the thread that calls and those that it begins: sandbox_files.c. Returns 0 with
   errno set where it failed. */
int clc_hasfilespart(void);
int clc_confinefiles(const clc_Folders *folders);

/* seccomp: sandbox_calls.c. */
int clc_hascallspart(void);
int clc_hastaskspart(void);
int clc_confinecalls(int *supervisor);

/* --- in the process that has the worker: sandbox_tasks.c ---------------------- */

/* How many tasks (processes and threads) a worker may begin until its next answer: the threads of a
   driver, and its linker with those of its own. */
unsigned clc_mosttasks(void);

/* Decides on a call that waits at the supervisor's descriptor: *tasks more may begin. */
void clc_supervise(int supervisor, unsigned *tasks);

#endif
