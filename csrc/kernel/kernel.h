/* SPDX-License-Identifier: MIT */
/* Kernels: a function on the device, its signature, and launches. */
#ifndef CLC_KERNEL_H
#define CLC_KERNEL_H

#include "device/event.h"
#include "device/isolation.h"
#include "range.h"
#include "signature.h"

typedef struct clc_Kernel {
  clc_Handle h;
  clc_Device *device;
  cl_kernel kernel;
  clc_Recipe *recipe;    /* on an isolated device; else NULL */
  const char *name;      /* kept behind the arguments */
  const char *real_name; /* OpenCL's, behind that */
  char what[CLC_WHAT];   /* "kernel 'name'" */
  clc_Limits limits;
  cl_ulong local_memory; /* bytes its own __local arrays take */
  clc_Counter *counter;  /* NULL until it was profiled */
  size_t bytes;          /* of the buffers among the arguments that are set, while it is profiled */
  cl_uint nargs;
  clc_Argument args[]; /* nargs of them */
} clc_Kernel;

extern const clc_Type clc_kerneltype;

/* What is known of a program besides OpenCL's object. */
typedef struct clc_Text {
  const char *code;          /* with the macros and files that go into it */
  const char *hidden;        /* what of it cannot be seen; NULL: nothing */
  const char *declarations;  /* of its kernels, kept with a binary; NULL: OpenCL is asked */
  size_t max_group;          /* the largest group for which it is made; 0: any */
  clc_Recipe *const *recipe; /* its owner's, NULL once that is released or where none is isolated */
} clc_Text;

/* Pushes the kernel of that name in a built program, which is NULL where its owner was released;
   messages call it `shown`. */
clc_Kernel *clc_newkernel(lua_State *L, clc_Device *d, const cl_program *program, const char *name,
                          const char *shown, const clc_Text *text);

/* A value for a kernel of ours: a number; or memory from its start, and up to three numbers that
   say where in it the elements lie. */
typedef struct clc_Value {
  enum { CLC_END, CLC_INTEGER, CLC_NUMBER, CLC_MEMORY } kind;
  union {
    lua_Integer integer;
    lua_Number number;
    const clc_Buffer *memory;
  };
  cl_uint places;
  size_t place[3]; /* elements before the first one, from row to row, from matrix to matrix */
} clc_Value;

static inline clc_Value clc_integer(lua_Integer i) {
  return (clc_Value){.kind = CLC_INTEGER, .integer = i};
}

static inline clc_Value clc_size(size_t n) {
  return clc_integer((lua_Integer)n);
}

static inline clc_Value clc_number(lua_Number x) {
  return (clc_Value){.kind = CLC_NUMBER, .number = x};
}

/* The memory alone. */
static inline clc_Value clc_memory(const clc_Buffer *b) {
  return (clc_Value){.kind = CLC_MEMORY, .memory = b};
}

/* The memory, and how many elements lie before the buffer's first one. */
static inline clc_Value clc_elements(const clc_Buffer *b) {
  return (clc_Value){.kind = CLC_MEMORY, .memory = b, .places = 1, .place = {b->offset}};
}

/* Queues a kernel of ours with clc_Values for all of its parameters: a place fills one too. */
#define clc_run(L, kernel, range, ...) \
  clc_runvalues(L, kernel, range, (const clc_Value[]){__VA_ARGS__, {.kind = CLC_END}})

void clc_runvalues(lua_State *L, clc_Kernel *k, const clc_Range *range, const clc_Value *values);

/* Sets all arguments from stack values; a buffer is two, its memory from the start and its offset.
 */
void clc_setstacked(lua_State *L, clc_Kernel *k, int first, int last);

/* Kernel:__call, the kernel and its arguments being on the stack; where no event is wanted, nothing
   is returned. */
int clc_callkernel(lua_State *L, int has_event);

/* Queues the kernel with the arguments it has. `e` (or NULL) learns of the commands. */
void clc_launch(lua_State *L, clc_Kernel *k, const clc_Range *range, clc_Event *e);

void clc_openkernels(lua_State *L);

#endif
