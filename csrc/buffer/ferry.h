/* SPDX-License-Identifier: MIT */
/*
 * Ferries: boxes that go to devices of other contexts, through the host, in pieces. Each device has
 * a port: two queues beside its own, so that kernels run meanwhile, and memory of the host that
 * stays pinned, since to pin it takes longer than to copy through it.
 *
 *     source --out--> slots of the source's port --in--> target
 *
 * While one piece is written to its target the next ones are read, of all sources at once.
 */
#ifndef CLC_FERRY_H
#define CLC_FERRY_H

#include "buffer.h"

#define CLC_SLOTS 4 /* of a port: with more nothing is faster on H200 */

typedef struct clc_Ferry clc_Ferry;

/* A part of a box that goes through one slot: rows, or a part of one. */
typedef struct clc_Piece {
  clc_Box from, to;
  clc_Extent e;
  struct clc_Port *target;
  cl_event read;
} clc_Piece;

typedef struct clc_Port {
  clc_Handle h;
  clc_Device *device;
  cl_command_queue out, in;
  cl_mem pinned;   /* NULL: the slots are plain pages */
  clc_Pages pages; /* which these are */
  char *memory;    /* of the slots */
  size_t room;     /* bytes of one */
  clc_Ferry *user; /* of the slots; NULL: none */
  clc_Piece pieces[CLC_SLOTS];
  cl_event written[CLC_SLOTS]; /* by a target, which may still read the slot; NULL: it is free */
  size_t read, sent;           /* pieces of the user: piece n is in slot n % CLC_SLOTS */
  cl_event arrived; /* what was written here last, of the user of another port; or NULL */
} clc_Port;

/* Pushes the port of a device, which is made at its first use. */
clc_Port *clc_pushport(lua_State *L, clc_Device *d);

/* Has another queue of a device wait for all that stands in the device's own. */
void clc_waitfordevice(lua_State *L, clc_Device *d, cl_command_queue queue);

/* Commands between a slot, where rows lie packed, and a box; the event, NULL on an error, is the
   last one's, of a queue in order. */
cl_int clc_moveslot(cl_command_queue queue, const clc_Box *box, const clc_Extent *e, char *slot,
                    int is_read, cl_event *event);

/* Has the queue of its device wait for what arrived. */
void clc_landarrived(lua_State *L, clc_Port *p);

/* Bytes of a slot of a device's, and of a piece, of so many in all. */
size_t clc_slotroom(const clc_Device *d);
size_t clc_piecesize(size_t bytes, size_t room);

/* Waits for all commands of the port, without Lua. */
void clc_finishport(clc_Port *p);

/* Where a piece lies in the host's memory. */
char *clc_slotof(const clc_Port *p, size_t piece);

/* Forgets what is in the slots, all of which has ended. */
void clc_emptyslots(clc_Port *p);

void clc_dropevent(cl_event *event);

/* Whether a command has ended; *code: how. */
int clc_isended(cl_event event, cl_int *code);

void clc_openports(lua_State *L);

/* --- ferry.c ---------------------------------------------------------------- */

/* A box that is to be copied to another one of its dtype. */
typedef struct clc_Passage {
  clc_Box from, to;
  clc_Extent e;
} clc_Passage;

extern const clc_Type clc_ferrytype;

/* Whether boxes are of different contexts; whether a ferry is the way to go. */
int clc_isapart(const clc_Passage *p);
int clc_mustferry(const clc_Passage *p);

/* Pushes a ferry that has begun: its boxes are read behind what is queued on their devices, and
   written behind what is queued where they go, or, where all targets are ready, behind what
   clc_waitfordevice had their ports wait for. The caller keeps the buffers. None of the boxes has
   what another one's is copied to. */
clc_Ferry *clc_beginferry(lua_State *L, const clc_Passage *list, int n, int is_ready);

/* Waits until all is read. What is queued on the targets from now on comes after it. */
void clc_completeferry(lua_State *L, clc_Ferry *f);

/* Whether a box is better packed by its device before it goes, or unpacked there when it came; a
   packed box of a new buffer on the device of another one, which the table at the top keeps. */
int clc_wantspacking(const clc_Box *b, const clc_Extent *e);
clc_Box clc_newpacked(lua_State *L, const clc_Buffer *like, const clc_Extent *e);

/* --- carry.c, mail.c -------------------------------------------------------- */

/* A field of a table that is {row, column}, or rows and columns; a box of the matrix of a field, at
   the place of another one. The table keeps the buffer. */
void clc_getpair(lua_State *L, int table, const char *key, size_t pair[2]);
clc_Box clc_getbox(lua_State *L, int table, const char *buffer, const char *place);

void clc_openmail(lua_State *L);

/* --- box.c ------------------------------------------------------------------ */

/* A box as OpenCL's calls take it: bytes of the origin, of a row and of a slice. */
typedef struct clc_Corner {
  size_t origin[3], row, slice;
} clc_Corner;

clc_Corner clc_cornerof(const clc_Box *b, size_t size);

size_t clc_countelements(const clc_Extent *e);

/* Whether a box lies without gaps. */
int clc_ispacked(const clc_Box *b, const clc_Extent *e);

/* Whether a command takes it: NVIDIA's driver wants room for the rest of the last row, and of the
   last slice, too. */
int clc_hasroom(const clc_Box *b, const clc_Extent *e);

/* Whether rows have less than 4 GiB: NVIDIA's driver counts the x of a rectangle's origin in 32
 * bits. */
int clc_isnarrow(const clc_Box *b, size_t size);

#endif
