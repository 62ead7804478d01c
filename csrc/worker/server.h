/* SPDX-License-Identifier: MIT */
/* Server: the process of a worker, with the device that it serves, its memory and its programs. */
#ifndef CLC_SERVER_H
#define CLC_SERVER_H

#include <stddef.h>

#include "base/base.h"
#include "message.h"

typedef struct clc_Service {
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
  clc_Answer answer; /* the first error since the last one */
} clc_Service;

/* --- the connection: server_connection.c ------------------------------------ */

typedef struct clc_Connection {
  clc_Request request; /* at hand */
  char *bytes;         /* of it, and a NUL behind them */
  size_t room;
  int arena; /* the descriptor that came with what was received last, or -1 */
} clc_Connection;

/* The next request; 0: there is none, the other end is closed. */
int clc_receiverequest(clc_Connection *c);

/* Sends an answer, or with a note's code a note, and with it a descriptor (-1: none). */
void clc_sendanswer(const clc_Answer *answer, int descriptor);

/* Lets go of the arena's descriptor: what is not mapped by then is out of reach of a kernel. */
void clc_closedescriptor(clc_Connection *c);

/* Ends the process; the error of the one it works for repeats the words. */
_Noreturn void clc_giveup(const char *what);

/* --- the device: server.c --------------------------------------------------- */

/* Whether a call succeeded; the first code of an error goes into the answer. */
int clc_succeeds(clc_Service *s, cl_int code, const char *call);

/* --- memory: server_memory.c ----------------------------------------------- */

/* The worker maps those pieces of the arena that a launch is given, and no other: a kernel that
   makes system calls finds no way to the rest. */
#define CLC_PIECES 1024 /* that stay mapped, and that one launch can have */

typedef struct clc_Piece {
  uint64_t start, bytes; /* in the arena; bytes 0: this place is free */
  void *memory;          /* addresses that stay its own */
  cl_mem mem;
  int bound;     /* the next launch has it */
  int is_mapped; /* the file is there, and can be read and written */
  uint64_t used; /* when it was bound last */
} clc_Piece;

typedef struct clc_Pieces {
  clc_Piece pieces[CLC_PIECES];
  cl_mem parts[CLC_PIECES]; /* sub-buffers and images of the next launch */
  uint32_t nparts;
  uint64_t now; /* counts what was bound */
} clc_Pieces;

/* The memory object of a part of a piece, for the next launch; NULL: it failed. */
cl_mem clc_bindregion(clc_Service *s, clc_Pieces *p, const clc_Region *region);

/* The same for an image. */
cl_mem clc_bindimage(clc_Service *s, clc_Pieces *p, const clc_Layout *layout);

/* Maps what is bound, and nothing else; `arena` is its descriptor. */
void clc_mappieces(clc_Service *s, clc_Pieces *p, int arena);

/* Nothing is bound any more. */
void clc_unbindpieces(clc_Pieces *p);

void clc_droppieces(clc_Pieces *p);

/* --- programs: server_programs.c ------------------------------------------- */

typedef struct clc_Entry clc_Entry; /* a kernel */

typedef struct clc_Unit {
  struct clc_Unit *next;
  uint64_t number;
  cl_program program;
  clc_Entry *kernels;
} clc_Unit;

/* Builds a program, under that number, of options, a NUL and what has that form; its kernels are
   made too, as a driver may fail then. */
void clc_buildunit(clc_Service *s, clc_Unit **units, uint64_t number, clc_Form form,
                   const char *text, size_t length);

/* A kernel by the number of its program and its name; NULL: it failed. */
cl_kernel clc_findentry(clc_Service *s, clc_Unit *units, uint64_t number, const char *name,
                        size_t length);

void clc_forgetunit(clc_Unit **units, uint64_t number);
void clc_dropunits(clc_Unit **units);

#endif
