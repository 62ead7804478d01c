/* SPDX-License-Identifier: MIT */
/* What a worker has mapped of the arena; only what a launch is given can be reached by it. */
#ifndef CLC_SERVICE_MEMORY_H
#define CLC_SERVICE_MEMORY_H

#include "service.h"

#define CLC_PIECES 1024 /* that stay mapped, and that one launch can have */

typedef struct clc_Piece {
  uint64_t start, bytes; /* in the arena; bytes 0: this place is free */
  void *memory;
  cl_mem mem;
  int bound;     /* the next launch has it */
  int reachable; /* it can be read and written */
  uint64_t used; /* when it was bound last */
} clc_Piece;

typedef struct clc_Pieces {
  clc_Piece pieces[CLC_PIECES];
  cl_mem parts[CLC_PIECES]; /* sub-buffers of the next launch */
  uint32_t nparts;
  uint64_t now; /* counts what was bound */
} clc_Pieces;

/* The memory object of a part of a piece, for the next launch; NULL: it failed. */
cl_mem clc_bindregion(clc_Service *s, clc_Pieces *p, const clc_Region *region);

/* Makes what is bound reachable, and all else not. */
void clc_protectpieces(clc_Service *s, clc_Pieces *p);

/* Nothing is bound any more. */
void clc_unbindpieces(clc_Pieces *p);

void clc_droppieces(clc_Pieces *p);

#endif
