/* SPDX-License-Identifier: MIT */
/* Devices: one OpenCL device with a context and an in-order queue of its own. */
#ifndef CLC_DEVICE_H
#define CLC_DEVICE_H

#include "flight.h"
#include "base/base.h"
#include "worker/worker.h"

#define CLC_ROOM 8 /* commands of one launch, at most */

typedef struct clc_Device clc_Device;

struct clc_Device {
  clc_Handle h;
  clc_Device *root; /* the device that opened the context: itself, unless it is a further queue */
  clc_Place place;
  int version; /* of device and platform, the lower one: 100 * major + minor */
  int is_cpu;
  int isolated; /* a worker builds and runs its kernels */
  int is_pocl;
  size_t compute_units;
  int understates_groups; /* kernels take larger groups than the driver says of them */
  int has_double;
  int has_nonuniform_groups;
  int has_linker;       /* POCL's was looked for and found; of the root alone */
  size_t align;         /* bytes a sub-buffer must start on */
  size_t max_group;     /* work-items of a group */
  size_t max_groups[3]; /* work-items along each dimension of a group */
  cl_ulong local_memory;
  cl_ulong global_memory;
  cl_ulong max_allocation;
  cl_ulong bytes;    /* allocated by us; of the root alone */
  size_t untold;     /* of these, the collector has not heard of; likewise */
  cl_ulong dropped;  /* released since the queues were seen to be empty; likewise */
  int checks;        /* buffers for scripts are made in check mode; likewise */
  int has_checked;   /* one was; likewise */
  unsigned marks;    /* given to their poison; likewise */
  clc_Worker worker; /* likewise */
  cl_ulong recipes;  /* numbers of programs that the worker was told; likewise */
  clc_Profile *profile;
  clc_Counter *transfers[CLC_TRANSFERS];
  cl_context context; /* NULL until first use */
  cl_command_queue queue;
  clc_Flight flight; /* what was put into the queue */
  int foreign;       /* others may have put commands into it */
};

extern const clc_Type clc_devicetype;

/* The device of an argument; open also makes context and queue. */
clc_Device *clc_checkdevice(lua_State *L, int arg);
clc_Device *clc_checkopen(lua_State *L, int arg);

/* Makes sure of context, queue and process; raises after a close or a fork. */
void clc_usedevice(lua_State *L, clc_Device *d);

/* Pushes a new handle that belongs to a device and keeps its object alive. */
void *clc_newowned(lua_State *L, const clc_Type *type, clc_Device *d, size_t extra);

/* Pushes the one Device object for that hardware, a new one if need be. */
void clc_pushplace(lua_State *L, clc_Place place);

/* The same for the object whose kernels a worker runs, which is another one; raises unless it is a
   CPU. `limit` is in seconds; not above 0: as it is, or the usual one. */
void clc_pushisolated(lua_State *L, clc_Place place, double limit);

/* Pushes the Device object of a device (or nil once it was closed). */
void clc_pushdevice(lua_State *L, const clc_Device *d);

/* Makes room for the commands of one launch, by waiting if need be. To be called before
   a kernel's arguments are set, since waiting may run other Lua code. */
void clc_makeroom(lua_State *L, clc_Device *d);

/*
 * Queueing a command: clc_reserve makes room (it may wait for the oldest) and
 * returns where the command's event belongs; clc_commit takes the code of the
 * clEnqueue call. Between the two nothing may raise.
 */
cl_event *clc_reserve(lua_State *L, clc_Device *d, const char *what);
void clc_commit(lua_State *L, clc_Device *d, cl_int code, const char *call);

/* Takes the code of the clEnqueue call of a command that has no event; after clc_makeroom. */
void clc_commitunseen(lua_State *L, clc_Device *d, cl_int code, const char *call, const char *what);

/* Between the two: has the command counted as part `i` of the `n` of a launch that moves so
   many bytes. No counter: not profiled. */
void clc_countpart(clc_Device *d, clc_Counter *counter, size_t bytes, int i, int n);

/* The counter of a kind of transfer; NULL while nothing is profiled. */
clc_Counter *clc_transfercounter(const clc_Device *d, clc_Kind kind);

/* Raises when a command that has ended failed and was not reported yet, naming it. */
void clc_report(lua_State *L, clc_Device *d);

/* Waits until the queue is empty; what failed is reported later. */
void clc_settle(lua_State *L, clc_Device *d);

/* The same for all queues on a device, or (NULL) on all devices of the state. */
void clc_settleall(lua_State *L, const clc_Device *root);

/* Waits until the queue is empty; raises when a command failed since the last
   report, naming it. */
void clc_drain(lua_State *L, clc_Device *d);

/* True while commands are queued, or may be, that have not been seen to end. */
int clc_isbusy(clc_Device *d);

/* --- events: event.c ------------------------------------------------------- */

typedef struct clc_Event {
  clc_Handle h;
  clc_Device *device;
  cl_event first, last; /* one, retained once, unless split; NULL: nothing was launched here */
  cl_ulong when[4];     /* if so: what a worker launched has ended, and passed each stage then */
  char what[CLC_WHAT];
} clc_Event;

/* Pushes a new event that waits to be told of its commands. */
clc_Event *clc_newevent(lua_State *L, clc_Device *d, const char *what);

/* Tells it of the next command of its launch; retains the OpenCL event. */
void clc_addcommand(clc_Event *e, cl_event command);

/* The same of one that a worker has run: when it was queued, submitted, started, finished. */
void clc_addended(clc_Event *e, const cl_ulong when[4]);

/* Opens the package: adds what cl.device, cl.devices, cl.platforms and cl.profile are made of. */
void clc_opendevices(lua_State *L);

/* Its parts, which clc_opendevices opens. */
void clc_openprofile(lua_State *L);
void clc_openevents(lua_State *L);
void clc_opendiscovery(lua_State *L);

#endif
