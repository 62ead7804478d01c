/* SPDX-License-Identifier: MIT */
/* Commands in flight: those of one in-order queue that were not seen to end. */
#ifndef CLC_FLIGHT_H
#define CLC_FLIGHT_H

#include "profile.h"

#define CLC_PENDING 256 /* commands in flight; one more waits for the oldest */
#define CLC_UNSEEN 32   /* commands without an event, until a marker follows them */
#define CLC_WHAT 48     /* room for what a command is called in messages */

/* A command that was queued and may still fail. */
typedef struct clc_Command {
  cl_event event;
  clc_Counter *counter; /* NULL: it is not profiled */
  size_t bytes;         /* moved, of the whole launch */
  int first, last;      /* of the commands of its launch */
  int follows;          /* kernels without an event, which it ends after */
  char what[CLC_WHAT];
} clc_Command;

typedef struct clc_Flight {
  cl_command_queue queue;           /* the device's; NULL while there is none */
  clc_Command pending[CLC_PENDING]; /* ring, oldest at `oldest` */
  unsigned oldest, count;
  unsigned unseen;     /* commands without an event behind all that are pending */
  char last[CLC_WHAT]; /* what the last of them is called */
  cl_ulong elapsed; /* of the commands seen of a profiled launch; they come one after the other */
  int whole;        /* all of them are known */
  cl_int failure;   /* code of the first command that failed and was not reported */
  char failed[CLC_WHAT];
} clc_Flight;

/* The place of the next command; there must be room. */
clc_Command *clc_nextcommand(clc_Flight *f);

/* What messages call it. */
void clc_namecommand(clc_Command *c, const char *what);

/* The next command was queued. */
void clc_queued(clc_Flight *f);

/* A command was queued whose event nobody wants: events cost NVIDIA's driver more than launches do.
   Its end is that of a later command, or of a marker. */
void clc_queuedunseen(clc_Flight *f, const char *what);

/* Queues a marker, which ends after all that was put into the queue; there must be room. */
void clc_putmarker(clc_Flight *f, const char *what);

/* Has a marker follow commands without an event, so that waiting finds their end; not where there
   is no room. */
void clc_mark(clc_Flight *f);

/* Takes those that have ended off the ring, and notes which failed. */
void clc_retireended(clc_Flight *f);

/* Keeps the first failure until it is reported. */
void clc_notefailure(clc_Flight *f, cl_int code, const char *what);

/* Raises it, naming the command. */
void clc_reportfailure(lua_State *L, clc_Flight *f);

/* Waits until at most so many are in flight; Lua code may run meanwhile. */
void clc_waitflight(lua_State *L, clc_Flight *f, unsigned most);

/* Waits for all of them, but not for ever and without Lua, then forgets them. */
void clc_endflight(clc_Flight *f);

/* Has none of them counted. */
void clc_uncount(clc_Flight *f);

#endif
