/* SPDX-License-Identifier: MIT */
/* Starting the process of a worker, ending it, and what it died of. */
#ifndef CLC_SPAWN_H
#define CLC_SPAWN_H

#include <stddef.h>
#include <sys/types.h>

/* A worker's process: our end of the socket, and the file its stderr goes to. */
typedef struct clc_Process {
  pid_t pid; /* 0: there is none */
  int socket, stderr_fd;
  off_t heard; /* of what it wrote to stderr, before the request under way */
} clc_Process;

/* The interpreter that runs a worker: $CLCOMPUTE_LUA, this process's, else "lua5.4", which is
   looked for in PATH. `room` takes its path. */
const char *clc_findinterpreter(char *room, size_t size);

/*
 * Starts `lua`, which has the arena at its descriptor and loads the worker from this very
 * module. Returns 0 or an errno. posix_spawn: a fork of a process with a driver's threads hangs.
 */
int clc_spawn(clc_Process *p, const char *lua, int arena);

/* Has it end by itself, or after so many seconds by force; returns waitpid's status. */
int clc_reap(clc_Process *p, double patience);

/* Begins a request: what the process wrote to stderr until now is not about it. */
void clc_hear(clc_Process *p);

/* Says in words what a status means, "died of ...", and the last line that the process wrote to
   stderr since the last clc_hear. To be called before clc_closeprocess. */
void clc_describedeath(const clc_Process *p, int status, char *text, size_t size);

/* Lets go of the descriptors of a process that was reaped. */
void clc_closeprocess(clc_Process *p);

#endif
