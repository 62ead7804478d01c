/* SPDX-License-Identifier: MIT */
/* Commands in flight: those of one in-order queue that were not seen to end. */
#ifndef CLC_FLIGHT_H
#define CLC_FLIGHT_H

#include <stdint.h>

#include "profile.h"

#define CLC_PENDING 256  /* commands with an event; one more waits for the oldest */
#define CLC_UNSEEN 32    /* commands without an event, until a barrier follows them */
#define CLC_REPLAYED 256 /* so many of a sequence: a barrier costs as much as some launches do */
#define CLC_FAILURES 8   /* the last ones, which are remembered */
#define CLC_WHAT 48      /* room for what a command is called in messages */

/* Commands one behind the other, by the names of the first and the last; of kernels alone where
   there is one. */
typedef struct clc_Run {
  unsigned n;
  int has_kernel;
  char first[CLC_WHAT], last[CLC_WHAT];
} clc_Run;

/* A command with an event, which was queued and may still fail. */
typedef struct clc_Command {
  cl_event event;
  uint64_t ticket;
  int is_barrier;       /* it does nothing but end */
  clc_Run before;       /* without an event; they end before it does */
  clc_Counter *counter; /* NULL: it is not profiled */
  size_t bytes;         /* moved, of the whole launch */
  int first, last;      /* of the commands of its launch */
  char what[CLC_WHAT];
} clc_Command;

/* Commands that one failure is of: those behind one ticket and up to another. */
typedef struct clc_Failure {
  cl_int code;
  uint64_t after, through;
  char what[2 * CLC_WHAT + 32];
} clc_Failure;

/* Each command of a queue has a ticket: how many were put there up to it. */
typedef struct clc_Flight {
  cl_command_queue queue;  /* the device's; NULL while there is none */
  int begins_at_once;      /* what is queued needs no flush to begin */
  const unsigned *sharers; /* of a driver that compiles a kernel at its first launch: queues
                              whose kernels run on the same threads; NULL of another one */
  double spin;             /* seconds of busy polling, of a wait */
  uint64_t queued, ended;  /* tickets: the last one, and the last seen to end */
  uint64_t printing;       /* of the last one that prints: at a terminal no line goes before it */
  clc_Command pending[CLC_PENDING]; /* ring, oldest at `oldest` */
  unsigned oldest, count;
  clc_Run unseen; /* commands without an event behind all that are pending */
  int replays;    /* they are those of a sequence */
  int lost;       /* the driver neither told of an end nor waited for it: commands may still run */
  uint64_t watched; /* a ticket of which the time is taken; 0: none */
  double begun;     /* when it was queued, and how long it took until its end was seen */
  double lasted;    /* 0: it was not seen yet */
  cl_ulong elapsed; /* of the commands seen of a profiled launch; they come one after the other */
  int whole;        /* all of them are known */
  clc_Failure failures[CLC_FAILURES]; /* ring, number n at n % CLC_FAILURES */
  unsigned failed, told;              /* failures up to now, and up to the last report */
} clc_Flight;

/* The place of the next command with an event; there must be room. */
clc_Command *clc_nextcommand(clc_Flight *f);

/* What messages call it. */
void clc_namecommand(clc_Command *c, const char *what);

/* The next command was queued, with its event or without: those cost NVIDIA's driver more than a
   launch does, and their end is that of a later command, or of a barrier. */
void clc_queued(clc_Flight *f, int has_event);

/* Queues a barrier, which ends after all that was put into the queue; there must be room. */
void clc_putbarrier(clc_Flight *f, const char *what);

/* Has a barrier follow commands without an event, so that waiting finds their end. There is room:
   each of them was queued where there was, and left it. */
void clc_mark(clc_Flight *f);

/* Takes those that have ended off the ring, and notes which failed. One of which the driver does
   not tell may still run, and must not meet who takes its memory: then this waits for all. Where
   the driver does not even wait they are lost, until it does. */
void clc_retireended(clc_Flight *f);

/* The last command was seen to have done its work: so have all. Whether the driver knows that of
   those with an event. */
int clc_haveended(clc_Flight *f);

/* All that is in flight counts as failed. */
void clc_notefailure(clc_Flight *f, cl_int code, const char *what);

/* Raises a failure, naming the command. */
void clc_raisefailure(lua_State *L, const clc_Failure *failure);

/* The first failure since the last report, or NULL. */
const clc_Failure *clc_untoldfailure(const clc_Flight *f);

/* Raises it. */
void clc_reportfailure(lua_State *L, clc_Flight *f);

/* Between two looks of a wait for them: clc_pause, and who sits at a terminal is told of a kernel
   that is compiled meanwhile. What that pushes stands above stack index `top`. */
void clc_pauseflight(lua_State *L, const clc_Flight *f, const clc_Wait *w, int top);

/* Waits until at most so many are in flight; Lua code may run meanwhile. */
void clc_waitflight(lua_State *L, clc_Flight *f, unsigned most);

/* Waits for all of them, but not for ever and without Lua, then forgets them; returns whether they
   have ended. */
int clc_endflight(clc_Flight *f);

/* Has none of them counted. */
void clc_uncount(clc_Flight *f);

/* Takes the time from now until the last ticket is seen to end. */
void clc_watch(clc_Flight *f, double begun);

/* --- tickets --------------------------------------------------------------- */

/* The command with an event by which a ticket's end is seen, a barrier put behind it if need be.
   NULL: it has ended. */
const clc_Command *clc_follow(clc_Flight *f, uint64_t ticket);

/* The failure of a ticket; NULL where there was none. */
const clc_Failure *clc_findfailure(const clc_Flight *f, uint64_t ticket);

#endif
