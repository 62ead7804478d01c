/* SPDX-License-Identifier: MIT */
/* Building: OpenCL C into a program, or the binary that was kept of it. */
#ifndef CLC_BUILD_H
#define CLC_BUILD_H

#include "program.h"

#define CLC_UNNAMED "source" /* what it is called where a script gave the text and no name */

typedef struct clc_Source {
  const char *text;
  const char *name;    /* what build logs call the text */
  const char *defines; /* goes before it, outside the count of lines */
  const char *options;
} clc_Source;

/* Whether a #line stands before the text. Oclgrind shows lines of all that it was given, by their
   numbers in the text: of one without a name and without defines it is given nothing else. */
int clc_hasline(const clc_Device *d, const clc_Source *s);

/* What is known of a build besides the program. */
#define CLC_UNSEENINCLUDE "what an #include may hold"

typedef struct clc_Built {
  const char *hidden; /* what of its text cannot be seen; NULL: nothing */
  size_t start;       /* of the source itself in the text that was pushed */
  size_t max_group;   /* the largest group for which its kernels share memory; 0: any */
} clc_Built;

/*
 * Builds a program and stores it at *code, which an object owns already, or raises with the build
 * log. Pushes the text that scanners of kernels read, as plain text (with all that it includes and
 * what options and defines define: a macro from outside may hold the very call they look for), and
 * the declarations of the kernels if they were kept, else nil.
 */
clc_Built clc_build(lua_State *L, clc_Device *d, const clc_Source *s, clc_Code *code);

/* Whether clc_build would find a binary in the cache. */
int clc_isbuilt(lua_State *L, clc_Device *d, const clc_Source *s);

/* --- why a program does not build: log.c ----------------------------------- */

/* Raises the failure of a build with its log, in which the source has our name and its
   own lines, and with the lines it points at, numbered, each once. */
void clc_raisebuild(lua_State *L, const clc_Device *d, const clc_Source *s,
                    const cl_program *program, cl_int code);

/* --- built programs, out of the cache and into it: binary.c ---------------- */

/* Pushes who runs a binary, a line each: platform and its version, device, vendor, version, driver.
 */
const char *clc_pushidentity(lua_State *L, const clc_Device *d);

/* Pushes what decides the outcome of a build of the text, which holds all that it
   includes; returns 0, and nothing pushed, where nothing is to be kept. */
int clc_pushkey(lua_State *L, const clc_Device *d, const char *text, const char *options);

/*
 * Builds the program that was kept for the key at a stack index, stores it in *code, whose recipe
 * is the binary from then on, and pushes the declarations of its kernels; 0, and nothing pushed,
 * where there is none or the driver refuses it.
 */
int clc_loadbinary(lua_State *L, const clc_Device *d, int key, const char *options, clc_Code *code);

/* Builds the program of a binary, for the serial device too where there is one, or leaves NULL.
   Raises nothing. */
void clc_buildbinary(const clc_Device *d, const char *binary, size_t size, const char *options,
                     clc_Code *code);

/* Pushes the binary of a program built for one device, or returns 0. */
int clc_pushbinary(lua_State *L, const cl_program *program);

/* Keeps a program that was built of its source, if that is possible; then it is built again of its
   binary where there is a serial device, which takes a millisecond. */
void clc_storebinary(lua_State *L, const clc_Device *d, int key, const char *options,
                     clc_Code *code);

/* Whether a binary is stored when its kernels were launched, as `clcompute warm` asks for on POCL:
   it holds what was compiled for the launches then. The program is kept until then, under the key
   at that stack index. */
int clc_storeslater(lua_State *L, const clc_Device *d, int key, const cl_program *program);

/* --- programs in files of a script's: saved.c ------------------------------ */

/* A built program, and what is known of it. */
typedef struct clc_Saved {
  const char *library; /* ours, with its version */
  const char *options, *text;
  const char *declarations; /* NULL: OpenCL is asked */
  const char *suspects;     /* as clc_pushsuspects has them */
  int kernels;              /* stack index of a list of all kernels */
  const clc_Built *built;
  const clc_Code *code;
} clc_Saved;

/* Pushes what p:save writes. */
void clc_pushsaved(lua_State *L, const clc_Device *d, const clc_Saved *s);

/* As clc_build, from the file that is the option `binary` of argument 2; pushes the options that it
   was built with and its suspects, too. */
clc_Built clc_buildsaved(lua_State *L, clc_Device *d, const char *path, clc_Code *code);

/* Tells a kernel how many bytes its structs have, as the outline says. */
void clc_recallstructs(lua_State *L, clc_Kernel *k, const char *outline);

/* --- what builds cost: cost.c ----------------------------------------------- */

/* Seconds of all processors, of this process and of its children that ended (a linker). */
double clc_processortime(void);

/* Notes what a phase of a build took since `start`, if anybody asked. */
void clc_notecost(lua_State *L, const char *name, const char *phase, double start);

/* Opened by clc_openprograms. */
void clc_opencosts(lua_State *L);
void clc_openbinaries(lua_State *L);

/* --- what d:program is called with: request.c -------------------------------- */

/* Takes what d:program takes of a source; leaves the text at index 2, and on the stack what it
   refers to. */
clc_Source clc_takerequest(lua_State *L);

/* --- loops that the compiler may get wrong: suspects.c ----------------------- */

#define CLC_OPTDISABLE "-cl-opt-disable" /* the option under which they are right */

/* Pushes the places of the suspects among the loops of a plain text, from `start` on, which
   messages call `name`: a line of text, "" for none. */
const char *clc_pushsuspects(lua_State *L, const char *text, size_t start, const char *name);

/* Whether the device at index 1 is careful and its compiler gets one of these wrong. Warns where it
   does, but of a saved program on a careful device, which the caller refuses. */
int clc_isdoubtful(lua_State *L, const char *suspects, int is_saved);

/* --- retargeting: retarget.c ------------------------------------------------- */

/*
 * Retargeting: programs with instructions that the OpenCL compiler does not know. NVIDIA's compiles
 * for sm_90, where the product of a warpgroup (wgmma) is for sm_90a alone. Its binaries are PTX
 * text, in which inline assembly stands as it was written, comments too. So such instructions are
 * written as comments, `//@sm_90a wgmma...`, and from the text they are built once more,
 * uncommented.
 */

/* Whether a source has instructions of that kind. */
int clc_wantstarget(const char *text);

/* Builds a program again for the target that it wants, and pushes the declarations of its kernels.
   Returns 0 and pushes nothing where the device's binaries are not PTX for sm_90: the program
   stays. Raises where the driver refuses the text. */
int clc_retarget(lua_State *L, const clc_Device *d, const char *options, clc_Code *code);

/* --- what #include <clcompute/work_group.h> does to a text: work_group.c ----- */

/* The largest group of a kernel with work-group functions: its work-items share local memory. */
size_t clc_workgroupslots(const clc_Device *d);

/* Pushes the header, with what it must know of the device before it. Asks Lua, the first time,
   whether the device's own functions are right. */
const char *clc_pushworkgroup(lua_State *L, const clc_Device *d);

/* Pushes a plain text from `start` on, in which every kernel declares what its group shares, and
   the header is not asked for any more. What stood on a line still does. Macros before `start`
   may stand for the head of a kernel too. */
const char *clc_pushbodies(lua_State *L, const char *plain, size_t start);

/* --- what a program may call: builtins.c ------------------------------------ */

/* The option that keeps POCL's header of built-in functions out. */
#define CLC_NOBUILTINS " -D_OPENCL_H_"

/* Pushes declarations of the built-in functions that a text names; NULL, and nothing pushed, where
   the driver is better left to declare them. What a macro makes of no word of the text is not seen.
 */
const char *clc_pushbuiltins(lua_State *L, const clc_Device *d, const char *text);

/* Pushes what goes before a text that may call functions which the driver declares and lacks, ""
   before others. */
const char *clc_pushmissing(lua_State *L, const clc_Device *d, const char *text);

/* --- sizes of structs and enums, which OpenCL does not tell: struct_size.c --- */

/* Whether one of the kernel's arguments is a struct or an enum. */
int clc_takesstructs(const clc_Kernel *k);

/*
 * Tells the kernel at that stack index how many bytes its structs and enums have: POCL takes an
 * argument of any size, reading past it. `text` is the plain text of all that the program is built
 * of, NULL where some of it is not known; the source, which is the kernel's own, is built with a
 * probe where the text does not tell. Where the probe does not build, the sizes stay unknown.
 */
void clc_measurestructs(lua_State *L, clc_Device *d, const clc_Source *source, const char *text,
                        int kernel);

/* The values of enums are ints, unless they were found to have 8 bytes, and so longs. Those of
   other sizes stay packed strings. */
void clc_settleenums(clc_Kernel *k);

/* Opened by clc_openprograms. */
void clc_openstructsizes(lua_State *L);

#endif
