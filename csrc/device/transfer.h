/* SPDX-License-Identifier: MIT */
/* Transfers: copies and fills of a device's memory, as values that can be kept. */
#ifndef CLC_TRANSFER_H
#define CLC_TRANSFER_H

#include "profile.h"

typedef struct clc_Device clc_Device;
typedef struct clc_Event clc_Event;

typedef enum {
  CLC_COPYBUFFER,
  CLC_COPYBOX,
  CLC_FILLBUFFER,
  CLC_COPYIMAGE,
  CLC_BUFFERTOIMAGE,
  CLC_IMAGETOBUFFER,
  CLC_FILLIMAGE
} clc_TransferCall;

/* Of a buffer, offsets and sizes are bytes, in the first place alone but for boxes; of an image
   they are pixels. */
typedef struct clc_Transfer {
  clc_TransferCall call;
  clc_Kind kind; /* what it counts as */
  size_t bytes;  /* that it moves */
  cl_mem from, to;
  size_t at[3], to_at[3], region[3];
  size_t row, slice, to_row, to_slice; /* of boxes: bytes from one to the next */
  char element[16];                    /* of a fill */
  size_t size;                         /* bytes of it */
  clc_Event *event;                    /* learns of the command; NULL: nobody will ask */
} clc_Transfer;

/* Puts a transfer into a queue, or has the recording of the device keep it. Try returns the code of
   OpenCL's call; the other one raises. */
cl_int clc_trytransfer(lua_State *L, clc_Device *d, const clc_Transfer *t);
void clc_transfer(lua_State *L, clc_Device *d, const clc_Transfer *t);

#endif
