/* SPDX-License-Identifier: MIT */
/*
 * Workers, as seen from the process that has one: a child that computes on memory of an arena,
 * so that what a kernel or a driver does wrong ends the child alone.
 */
#ifndef CLC_WORKER_H
#define CLC_WORKER_H

#include <stddef.h>
#include <lua.h>
#include <spawn.h>
#include <sys/types.h>

#include "base/base.h"
#include "message.h"

/* --- the memory: arena.c --------------------------------------------------- */

/* Memory in a file without a name, of which another process can map single pieces. */
typedef struct clc_Arena {
  int fd;
  uint64_t end; /* of all pieces so far; a piece never begins where another one did */
} clc_Arena;

/* Makes the file, unless there is one (fd -1: there is none); returns 0 with errno set. */
int clc_openarena(clc_Arena *a);

/* Closes it; the pieces stay until they are freed. */
void clc_closearena(clc_Arena *a);

/* A new piece of zeros, which begins at *start of the file; NULL: there is no memory. */
void *clc_newpiece(clc_Arena *a, size_t bytes, uint64_t *start);

/* Reads what another mapping would see there; 0: it cannot. */
int clc_readarena(const clc_Arena *a, uint64_t start, size_t bytes, void *to);

/* Gives its memory back, wherever it is mapped. May be called by any thread. */
void clc_freepiece(void *piece, size_t bytes);

/* --- the process: spawn.c -------------------------------------------------- */

/* A worker's process: our end of the socket, and the files its stdout and stderr go to. */
typedef struct clc_Process {
  pid_t pid; /* 0: there is none */
  int socket, stdout_fd, stderr_fd;
  int supervisor; /* where it asks for new tasks (sandbox.h); -1: it need not */
  unsigned tasks; /* that it may begin until its next answer */
  off_t heard;    /* of what it wrote to stderr, before the request under way */
  int is_kept;    /* what it wrote to stdout stays there until somebody takes it */
} clc_Process;

#define CLC_NOPROCESS \
  ((clc_Process){.socket = -1, .stdout_fd = -1, .stderr_fd = -1, .supervisor = -1})

/* The interpreter that runs a worker: $CLCOMPUTE_LUA, this process's, else "lua5.4", which is
   looked for in PATH. `room` takes its path. */
const char *clc_findinterpreter(char *room, size_t size);

/*
 * Starts `lua`, which loads the worker from this very module. Of files it can write those in the
 * folder `writable`, and read those in `readable` besides the system's (":" between folders).
 * Returns 0 or an errno. posix_spawn: a fork of a process with a driver's threads hangs.
 */
int clc_spawn(clc_Process *p, const char *lua, const char *writable, const char *readable);

/* Fills the attributes of a process that starts with all signals as they are by default;
   POSIX_SPAWN_SETPGROUP: in a group of its own. */
void clc_setspawn(posix_spawnattr_t *a, int flag);

/* Closes all descriptors from one on, in a process that has just begun. */
void clc_closefrom(int first);

/* Whether the process has ended, or was reaped by others; it stays to be reaped. */
int clc_hasended(const clc_Process *p);

/* Whether a signal has stopped the process. */
int clc_hasstopped(const clc_Process *p);

/* Waits until the process ends, and kills it after so many seconds, with all that it started;
   returns waitpid's status. */
int clc_reap(clc_Process *p, double patience);

/* Begins a request: what the process wrote to stderr until now is not about it. */
void clc_hear(clc_Process *p);

/* Says in words what a status means, "died of ...", and the last line that the process wrote to
   stderr since the last clc_hear. To be called before clc_closeprocess. */
void clc_describedeath(const clc_Process *p, int status, char *text, size_t size);

/* Prints what it wrote to stdout since the last call, unless that is kept. */
void clc_passoutput(const clc_Process *p);

/* Forgets what it wrote there. */
void clc_dropoutput(const clc_Process *p);

/* Lets go of the descriptors of a process that was reaped; prints what it wrote to stdout. */
void clc_closeprocess(clc_Process *p);

/* Pushes what of a sandbox (sandbox.h) workers have on this machine: "files, system calls, tasks"
   or less, or "none". */
void clc_pushsandbox(lua_State *L);

/* --- a thread that opens no other files than a worker: confined.c ------------ */

/* Calls f(data) in a thread that can write files in the folder `writable`, and read those in
   `readable` besides programs and libraries, where the system has that part of a sandbox; waits for
   its end. Returns 0 where there is no such thread; f was not called. */
int clc_callconfined(void (*f)(void *), void *data, const char *writable, const char *readable);

/* --- a process that nobody waits for: behind.c ------------------------------- */

/* Functions for the library alone. */
void clc_openbehind(lua_State *L);

/* --- a worker: worker.c ---------------------------------------------------- */

typedef struct clc_Worker {
  clc_Arena arena;
  clc_Process process;
  uint64_t generation; /* how many processes there were */
  uint64_t asked;      /* how many questions, of all of them */
  int busy;            /* an answer is due */
  char *readable;      /* folders that it can read besides the system's, ":" between, or NULL */
  char *out;           /* requests that were not sent yet */
  size_t used, room;
  size_t draft;     /* where in `out` a launch begins that may come to nothing */
  int lost;         /* there was no memory for a request */
  int memory_fault; /* the last request had no answer because of one */
  char fate[512];   /* why the last request had no answer, in words */
} clc_Worker;

/* To be called first. There is no process yet, and no arena: its owner opens that. */
void clc_initworker(clc_Worker *w);

/*
 * Makes sure that there is a process which has the device open; raises when none can be had, or
 * when one is waiting for an answer (a hook may ask meanwhile). One that died since is replaced.
 */
void clc_startworker(lua_State *L, clc_Worker *w, const clc_Place *place);

/* Lets it read the files in a folder and below: where it could not, it ends, and the next one can.
 */
void clc_letread(clc_Worker *w, const char *folder, size_t length);

/* Adds a request to those that go out with the next one that is answered. Raises nothing. */
void clc_request(clc_Worker *w, clc_Request request, const void *bytes);

/* Seconds that a request may take: until a kernel runs, and that run. */
typedef struct clc_TimeLimits {
  double build, run;
} clc_TimeLimits;

/*
 * Sends all and waits for the answer, no longer than the limits; an interrupt ends the process, and
 * says `what` it did. 0: there is none, `fate` says why, and the process is gone. Lua code may run
 * meanwhile, and close the worker.
 */
int clc_ask(lua_State *L, clc_Worker *w, clc_Request request, const void *bytes,
            clc_TimeLimits limits, const char *what, clc_Answer *answer);

/* Ends the process at once: who asks next has another one. */
void clc_endworker(clc_Worker *w);

/* Ends the process, and lets go of all; may be called twice. */
void clc_closeworker(clc_Worker *w);

#endif
