/* SPDX-License-Identifier: MIT */
/* Kernels: a function on the device, its signature, and launches. */
#ifndef CLC_KERNEL_H
#define CLC_KERNEL_H

#include "image/image.h"
#include "language/language.h"

/* --- ranges: range.c ------------------------------------------------------- */

/* Groups along the second and along the third dimension that NVIDIA's devices take. */
#define CLC_MOSTGROUPS ((size_t)65535)

#define CLC_MAXPARTS 8 /* two along each of three dimensions */

typedef enum { CLC_AUTO, CLC_GIVEN, CLC_DRIVER } clc_GroupChoice;
typedef enum { CLC_ERROR, CLC_SPLIT, CLC_PAD, CLC_NATIVE } clc_Remainder;

typedef struct clc_Range {
  cl_uint dims;
  size_t global[3], group[3], offset[3];
  clc_GroupChoice choice;
  clc_Remainder remainder;
  int internal; /* of our own kernels, which count in 64 bits and take any group */
} clc_Range;

/* What device and kernel allow. */
typedef struct clc_Limits {
  const char *kernel;
  size_t max_group;     /* work-items a group, of this kernel on this device */
  size_t max_groups[3]; /* and along each dimension */
  size_t required[3];   /* reqd_work_group_size; 0: none */
  int is_cpu;
  int has_nonuniform_groups;
  const char *unsplittable; /* a call in its text that splitting would mislead, or NULL */
  int sees_group;           /* its text asks for the group's size, place or barrier */
  int keeps_arrays;         /* its work-items may have arrays of their own */
  size_t units;             /* compute units */
} clc_Limits;

/* The hint where a table that is a range stands among the arguments, or the name of an argument is
   a key of ranges (else NULL), or "". Pushes. */
const char *clc_rangehint(lua_State *L, int idx, const char *name);

/* Reads a range: n, {nx [, ny [, nz]]}, {global=, group=, offset=, remainder=} or a cl.range. */
clc_Range clc_checkrange(lua_State *L, int arg);

/* Why groups that are given do not cover a range: global size, group, dimension. */
#define CLC_NOMULTIPLE                                                                    \
  "global size %I is no multiple of the group's %I in dimension %d; remainder=\"split\" " \
  "launches the rest by itself, remainder=\"pad\" rounds up for a kernel with a bounds check"

/* Whether it has no work-item. */
int clc_isempty(const clc_Range *range);

/* Pushes sizes as a text: "4x2". */
const char *clc_pushsizes(lua_State *L, cl_uint dims, const size_t sizes[3]);

/* --- plans: plan.c --------------------------------------------------------- */

/* Covers a range; returns the number of launches, 0 for an empty range. */
int clc_planrange(lua_State *L, const clc_Range *range, const clc_Limits *limits,
                  clc_Part parts[CLC_MAXPARTS]);

/* --- signatures: signature.c ----------------------------------------------- */

typedef enum {
  CLC_VALUE,
  CLC_BUFFER,
  CLC_LOCAL,
  CLC_IMAGE,
  CLC_SAMPLER,
  CLC_OPAQUE,
  CLC_RESERVED
} clc_ArgumentKind;

typedef struct clc_Argument {
  clc_ArgumentKind kind;
  const clc_Dtype *dtype;   /* of the value or pointee; NULL: another type */
  int width;                /* elements of a vector, 1 for a scalar */
  size_t size;              /* bytes of a value of another type or an enum; 0: not known */
  int is_enum;              /* a value of an enumeration */
  int is_apart;             /* a struct that an attribute aligns to more than POCL does */
  cl_mem_object_type image; /* the kind of an image */
  const char *colour;       /* the type of its colours in the kernel, NULL: not known */
  int is_const;             /* what it points to, or the image, is only read */
  const char *space;        /* "private", "global", "constant" or "local" */
  char name[CLC_NAME], type[CLC_NAME];
} clc_Argument;

/* What a declaration means; the program's text tells the typedefs. */
void clc_readargument(lua_State *L, const clc_Declaration *d, const char *text, clc_Argument *a);

/* Raises a complaint about argument i, a lua_pushfstring format, that names kernel and argument. */
void clc_argumenterror(lua_State *L, const char *kernel_name, cl_uint i, const clc_Argument *a,
                       const char *complaint, ...);

/* The element type that a type's name stands for, with the text's typedefs, and how many elements
   wide; NULL: another type. */
const clc_Dtype *clc_resolvetype(lua_State *L, const char *text, const char *type, int *width);

/* Bytes of a struct by the text that declares it, with all that it includes; 0 where that cannot be
   told without a compiler: struct_layout.c. */
size_t clc_structsize(lua_State *L, const char *text, const char *type);

/* Bytes of the values of the text's enumerations, if none of them may have others than an int has;
   else 0. */
size_t clc_enumsize(const char *text);

/* Bytes of local memory that the value at idx asks for, 0 if it is no scratch. */
size_t clc_scratchbytes(lua_State *L, int idx);

/* --- kernels: kernel.c ----------------------------------------------------- */

typedef struct clc_Kernel {
  clc_Handle h;
  clc_Device *device;
  cl_kernel kernel;
  int is_shared;         /* the serial device can run it */
  clc_Pace pace;         /* how long it takes there */
  clc_Recipe *recipe;    /* of its program; NULL where the executor keeps none */
  const char *name;      /* in messages */
  const char *real_name; /* OpenCL's, behind that */
  char what[CLC_WHAT];   /* "kernel 'name'" */
  clc_Limits limits;
  cl_ulong local_memory; /* bytes its own __local arrays take */
  int prints;            /* its text calls printf */
  clc_Counter *counter;  /* NULL until it was profiled */
  size_t bytes;          /* of the buffers among the arguments that are set, while it is profiled */
  cl_uint nargs;
  clc_Argument args[]; /* nargs of them */
} clc_Kernel;

extern const clc_Type clc_kerneltype;

/* What is known of a program besides OpenCL's object. */
typedef struct clc_Text {
  const char *code;         /* with the macros and files that go into it */
  const char *hidden;       /* what of it cannot be seen; NULL: nothing */
  const char *declarations; /* of its kernels, kept with a binary; NULL: OpenCL is asked */
  size_t max_group;         /* the largest group for which it is made; 0: any */
} clc_Text;

/* Pushes the kernel of that name in a built program; messages call it `shown`. */
clc_Kernel *clc_newkernel(lua_State *L, clc_Device *d, const clc_Code *code, const char *name,
                          const char *shown, const clc_Text *text);

/* Has messages and profiles call a kernel by the operation that launches it, a string that stays.
 */
void clc_showkernel(clc_Kernel *k, const char *shown);

/* What gets a kernel's arguments: its own OpenCL object, or that of a launch that a recording
   keeps, which holds them. */
typedef struct clc_Target {
  cl_kernel kernel;
  clc_Recording *recording; /* NULL: none */
  int empty;                /* nothing will be launched: a buffer may be of length zero */
} clc_Target;

/* Raises because argument i is an image that argument `other` reads where this one writes, or the
   other way round, which is undefined. */
void clc_raiseaccess(lua_State *L, const clc_Kernel *k, cl_uint i, cl_uint other);

/* Sets argument i from the Lua value at idx, or raises an error that names kernel and argument. */
void clc_setargument(lua_State *L, const clc_Kernel *k, const clc_Target *target, cl_uint i,
                     int idx);

/* --- calls: call.c --------------------------------------------------------- */

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

/* The same without an event, for a compiled function, whose infinities are those of Lua. */
int clc_callcompiled(lua_State *L);

/* cover(range, group, n, ...): sets a prepared range for a launch, in which n are covered. */
int clc_coverrange(lua_State *L);

/* k:capture(range, ...): the same, and what it printed. */
int clc_capturekernel(lua_State *L);

/* Queues the kernel with the arguments it has. `e` (or NULL) learns of the commands. */
void clc_launch(lua_State *L, clc_Kernel *k, const clc_Range *range, clc_Event *e);

/* Opens the package: the type of kernels, cl.scratch, check mode. */
void clc_openkernels(lua_State *L);

/* --- between the files of the package -------------------------------------- */

/* A launch from Lua: a kernel's signature, and its arguments from stack index `first` on. */
typedef struct clc_Checked {
  clc_Device *device;
  const char *kernel_name;
  const clc_Argument *args;
  cl_uint nargs;
  int first;
  int is_compiled; /* of a compiled function: its numbers are those of Lua, whatever they are */
  int watches;     /* stack index of what was seen before; 0: nothing is watched */
} clc_Checked;

/* Before the arguments are set: raises where an output overlaps an input, and pushes what there is
   in and round the buffers that were made in check mode. Does nothing where none was. Blocks. */
void clc_begincheck(lua_State *L, clc_Checked *c);

/* After the launch: waits for it, and raises where it wrote outside of a buffer or made NaN or
   infinity. Leaves the stack as it is. */
void clc_endcheck(lua_State *L, const clc_Checked *c);

/* After a script's launch: the sequence that is being recorded, if there is one, is to know the
   kernel at an index, whose arguments can be exchanged then. */
void clc_keepsignature(lua_State *L, const clc_Device *d, int kernel);

void clc_openranges(lua_State *L);
void clc_openplans(lua_State *L);
void clc_opensignatures(lua_State *L);
void clc_openchecks(lua_State *L);
void clc_opensequences(lua_State *L);

#endif
