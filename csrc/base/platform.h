/* SPDX-License-Identifier: MIT */
/* Platforms: what OpenCL finds on this machine, selectors that choose from it, and properties. */
#ifndef CLC_PLATFORM_H
#define CLC_PLATFORM_H

#include "error.h"

/* A device and where it stands: "platform:device", counted from 0 as clinfo does. */
typedef struct clc_Place {
  cl_platform_id platform;
  cl_device_id device;
  int p, d;
  cl_device_id whole;  /* the device at p:d, which its platform keeps */
  char part[64];       /* of the whole, "part 1 of 2", where `device` is a sub-device; else "" */
  cl_device_id serial; /* the serial device beside it; NULL: there is none */
} clc_Place;

/* Pushes "0:1", or "0:1 part 1 of 2". */
const char *clc_pushplacename(lua_State *L, const clc_Place *place);

/* Pushes a block with the ids of all platforms; none is no error. */
const cl_platform_id *clc_pushplatforms(lua_State *L, cl_uint *n);

/* A platform whose driver would not tell its devices; code CL_SUCCESS: there is none. */
typedef struct clc_Mute {
  int p;
  cl_int code;
} clc_Mute;

/* Pushes a block with all places, or those of platform p alone (negative: all). A driver that
   fails hides its own devices, not those of others; the first that did is told. */
const clc_Place *clc_pushplaces(lua_State *L, int p, size_t *n, clc_Mute *mute);

/* Raises why that platform tells no devices. */
void clc_raisemute(lua_State *L, const clc_Mute *mute);

/* Whether a place is meant by a selector: a type, "p:d", part of "platform/device" or the
   platform's short name with the loader ("pocl"), in any case; NULL means every place. */
int clc_selects(lua_State *L, const clc_Place *place, const char *selector);

/* The best match: GPU before accelerator before CPU unless the selector says
   more. Raises, listing what there is or what to install, when none matches;
   `origin` says behind the selector where it came from. */
clc_Place clc_bestplace(lua_State *L, const char *selector, const char *origin);

/* --- properties: info.c ---------------------------------------------------- */

/* Pushes a device's property of that name, or returns 0 where there is none.
   `version` is the device's, as 100 * major + minor. */
int clc_pushproperty(lua_State *L, cl_device_id id, int version, const char *name);

/* Pushes the names of all: "name vendor ...". */
const char *clc_pushpropertynames(lua_State *L);

/* Pushes a table of all properties. */
void clc_pushproperties(lua_State *L, cl_device_id id, int version);

/* Pushes a string property of a platform or a device. */
const char *clc_pushplatformtext(lua_State *L, cl_platform_id platform, cl_platform_info what);
const char *clc_pushdevicetext(lua_State *L, cl_device_id id, cl_device_info what);

/* A number of a device; `opt`: or `def` where the driver does not know the property. Any other
   failure raises. */
cl_ulong clc_checkdevicenumber(lua_State *L, cl_device_id id, cl_device_info what);
cl_ulong clc_optdevicenumber(lua_State *L, cl_device_id id, cl_device_info what, cl_ulong def);

/* Whether the last groups of a launch may be smaller than the others. */
int clc_hasnonuniformgroups(lua_State *L, cl_device_id id, int version);

/* "OpenCL 1.2 ..." as 102; 0 for anything else. */
int clc_parseversion(const char *text);

/* --- POCL: pocl.c ---------------------------------------------------------- */

/*
 * Tells POCL how to begin; to be called before the first call of OpenCL. Each of its threads is
 * pinned to a processor, unless the environment says otherwise or some processors are not this
 * process's: woken together, they else begin on one processor, and wait for each other until the
 * next look of the scheduler, so that work of less than 200 us runs on one core. Outside of a
 * worker POCL 3.1 is asked for its serial device, too.
 */
void clc_preparepocl(int is_worker);

/* Pushes the folder in which POCL keeps what it compiled. */
const char *clc_pushpoclfolder(lua_State *L);

/* Pushes that folder, which it makes where it is missing, and where POCL cannot write there what is
   to be said of it, which it returns; else NULL. */
const char *clc_pushpoclcomplaint(lua_State *L);

/* Before a build by POCL: raises when there is no `ld` in PATH, which links its kernels, or no
   folder or too little room for the files it makes of them. *has_linker: `ld` was found before. */
void clc_checkpocl(lua_State *L, int *has_linker);

/* Before a launch by POCL: raises where the files that it makes of a kernel, which have its name,
   cannot have theirs. */
void clc_checkpoclname(lua_State *L, const char *kernel, size_t length);

/* --- POCL's serial device: serial.c ---------------------------------------- */

/*
 * The serial device of POCL computes in the thread that calls, on the memory of its device of
 * threads and by the same machine code. So a command of a microsecond takes a microsecond, where
 * waking the threads and waiting for them takes 20 to 100. Scripts do not see it.
 */

/* Asks POCL for it, by the environment, unless that names devices; before the first call of OpenCL.
 */
void clc_askserial(void);

/* Takes that back, for the environment of a worker. */
void clc_unaskserial(void);

/* Whether a device is the serial one that the library asked for. */
int clc_isserial(lua_State *L, cl_device_id id);

/* Makes the binary of a program for a device of threads, of so many bytes, one for its serial
   device. Returns whether it could: the layout is that of POCL 3.1. */
int clc_readdress(cl_device_id threads, char *binary, size_t size);

#endif
