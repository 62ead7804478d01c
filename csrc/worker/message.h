/* SPDX-License-Identifier: MIT */
/*
 * Messages between a process and its worker, over a socket. The process sends requests, each a
 * clc_Request and as many bytes as it says; the worker answers those that say so below, in order.
 * A launch fails too when what was asked for its kernel before did. Both run on one machine and
 * come from one file, so structs travel as they are.
 */
#ifndef CLC_MESSAGE_H
#define CLC_MESSAGE_H

#include <stdint.h>

#include "base/base.h"

/* Where the worker has its end; 0, 1 and 2 are as in every process. */
#define CLC_SOCKET_FD 3

typedef enum {
  CLC_ASK_OPEN,    /* answered. bytes: name of a platform; number: such before it; index: device */
  CLC_ASK_BUILD,   /* answered. number: of the program; index: a clc_Form; bytes: options, NUL, what
                      it is built of */
  CLC_ASK_FORGET,  /* number: of the program */
  CLC_ASK_KERNEL,  /* number: of the program; bytes: name. The arguments and launches after it */
  CLC_ASK_VALUE,   /* index: of the argument; bytes: its value */
  CLC_ASK_LOCAL,   /* index; size: bytes of local memory */
  CLC_ASK_MEMORY,  /* index; bytes: clc_Region */
  CLC_ASK_IMAGE,   /* index; bytes: clc_Layout */
  CLC_ASK_SAMPLER, /* index; bytes: clc_Sampling */
  CLC_ASK_LAUNCH   /* answered. bytes: clc_Grid. The arena's descriptor comes with it */
} clc_Ask;

/* What a program is built of: OpenCL C, what a driver made of it, SPIR-V. */
typedef enum { CLC_TEXT, CLC_BINARY, CLC_IL } clc_Form;

typedef struct clc_Request {
  uint32_t ask, index;
  uint64_t number, size;
  uint64_t bytes; /* that follow */
  uint64_t mark;  /* of its answer, which is set when it is asked */
} clc_Request;

/* A part of a piece of the arena: where the piece begins there and its bytes, then the part's. */
typedef struct clc_Region {
  uint64_t start, bytes;
  uint64_t first, count; /* within the piece */
} clc_Region;

/* An image: where its pixels lie, row behind row without gaps, and what they are. */
typedef struct clc_Layout {
  clc_Region region;
  cl_image_format format;
  cl_image_desc desc; /* without the buffer of an image of one */
} clc_Layout;

/* The settings of a sampler. */
typedef struct clc_Sampling {
  cl_bool normalized;
  cl_addressing_mode address;
  cl_filter_mode filter;
} clc_Sampling;

typedef struct clc_Grid {
  uint32_t dims, has_offset, has_group;
  uint64_t offset[3], global[3], group[3];
} clc_Grid;

/* Codes of notes, which come before an answer; OpenCL's are not above 0. */
enum {
  CLC_NOTE_CONFINED = 1, /* the sandbox is complete; its supervisor's descriptor comes along */
  CLC_NOTE_RUNNING       /* a launch's kernel is compiled, and runs */
};

typedef struct clc_Answer {
  uint64_t mark;    /* of the request: what comes late, or of a kernel, has another one */
  int32_t code;     /* of OpenCL, or of a note */
  char call[36];    /* that gave it */
  uint64_t when[4]; /* a launch was queued, submitted, started, finished; in nanoseconds */
} clc_Answer;

#endif
