/* SPDX-License-Identifier: MIT */
/* Devices, as scripts see them: an in-order queue on the context of an OpenCL device. */
#ifndef CLC_DEVICE_H
#define CLC_DEVICE_H

#include "context.h"
#include "flight.h"
#include "recording.h"

#define CLC_ROOM 8      /* commands of one launch, at most */
#define CLC_TELLINGS 32 /* of a landing */

/* What brings words to a landing (telling.c). */
typedef struct clc_Teller {
  cl_program program;
  cl_kernel kernel; /* NULL: there is none */
  unsigned asked;   /* how often for it */
} clc_Teller;

struct clc_Device {
  clc_Handle h;
  clc_Context *context;    /* which owns it; alive while it is not released */
  int is_further;          /* made by Device:queue, beside the device that opened the context */
  cl_command_queue queue;  /* NULL until first use */
  cl_command_queue serial; /* the serial device's (base/serial.c); NULL: there is none */
  double begun;            /* when the launch began that is being queued; 0: nobody asks */
  int timing;              /* scripts ask what launches took */
  int is_timed;            /* so the queue takes the times of its commands, which have events */
  clc_Flight flight;       /* what was put into the queue */
  cl_command_queue lent;   /* a queue that others know; it stays until the end */
  int foreign;             /* they may have put commands into it */
  cl_mem pinned;           /* of the host, for what is read behind commands in flight, */
  char *landing;           /* as it is mapped; NULL: there is none yet */
  uint64_t landed;         /* ticket of the last command that read into it */
  uint64_t told;           /* how many results were seen there */
  unsigned slots;          /* for what kernels tell, behind it: those that are taken */
  clc_Teller teller;
  uint64_t expected[CLC_TELLINGS]; /* the ticket of the launch that each slot is for */
  clc_Profile *profile;            /* the state's */
};

extern const clc_Type clc_devicetype;

/* What a Device keeps alive by clc_setvalue: its context, what operations have built for it, and
   its port (csrc/buffer/port.c). */
enum { CLC_CONTEXTVALUE = 1, CLC_BUILTVALUE, CLC_PORTVALUE };

/* The device of an argument; open also makes context and queue. */
clc_Device *clc_checkdevice(lua_State *L, int arg);
clc_Device *clc_checkopen(lua_State *L, int arg);

/* Makes sure of context, queue and process; raises after a close or a fork. */
void clc_usedevice(lua_State *L, clc_Device *d);

/* A new queue beside that of an open device, which takes no times. */
cl_command_queue clc_newqueue(lua_State *L, const clc_Device *d);

/* Pushes a new handle that belongs to a device and keeps its object alive. */
void *clc_newowned(lua_State *L, const clc_Type *type, clc_Device *d, size_t extra);

/* Pushes the one Device object for that hardware and executor, a new one if need be. */
clc_Device *clc_pushplace(lua_State *L, clc_Place place, const clc_Executor *executor);

/* Pushes the one Device object for that hardware whose kernels a worker runs; raises unless it is a
   CPU. A limit that is not above 0: as it is, or the usual one. */
void clc_pushisolated(lua_State *L, clc_Place place, clc_TimeLimits limits);

/* Pushes a new Device on the context at an index, which it keeps. */
clc_Device *clc_newdevice(lua_State *L, int context);

/* Whether it is a part of another one (parts.c). */
int clc_ispart(const clc_Device *d);

/* Pushes the Device object of a device (nil while it is collected). */
void clc_pushdevice(lua_State *L, const clc_Device *d);

/* Gives the list of devices at the top its text. */
void clc_namedevices(lua_State *L);

/* Lua's answer to a question about a device, a function of the internal table: whether it is yes.
 */
int clc_askofdevice(lua_State *L, const clc_Device *d, const char *question);

/* Makes room for the commands of one launch, by waiting if need be. To be called before
   a kernel's arguments are set, since waiting may run other Lua code. */
void clc_makeroom(lua_State *L, clc_Device *d);

/*
 * Queueing a command: clc_reserve makes room (it may wait for the oldest) and
 * returns where the command's event belongs, NULL where it is to have none;
 * clc_commit takes the code of the clEnqueue call. Between the two nothing may raise but that an
 * object was released while it waited, before clc_countpart. What can be
 * recorded goes another way, through clc_transfer and clc_keeplaunch.
 */
cl_event *clc_reserve(lua_State *L, clc_Device *d, const char *what);
void clc_commit(lua_State *L, clc_Device *d, cl_int code, const char *call);

/* Between clc_reserve and clc_commit: has the command counted as part `i` of the `n` of a launch
   that moves so many bytes. No counter: not profiled. */
void clc_countpart(clc_Device *d, clc_Counter *counter, size_t bytes, int i, int n);

/* The counter of a kind of transfer; NULL while nothing is profiled. */
clc_Counter *clc_transfercounter(const clc_Device *d, clc_Kind kind);

/* Raises when a command that has ended failed and was not reported yet, naming it. */
void clc_report(lua_State *L, clc_Device *d);

/* Waits until the queue is empty; what failed is reported later. */
void clc_settle(lua_State *L, clc_Device *d);

/* Waits until all queues of a context are empty, or (NULL) all queues of the state. */
void clc_settleall(lua_State *L, const clc_Context *c);

/* Waits until the queue is empty; raises when a command failed since the last
   report, naming it. */
void clc_drain(lua_State *L, clc_Device *d);

/* Whether all queues of a context are seen to be empty. */
int clc_isidle(lua_State *L, const clc_Context *c);

/* Has the next command of a queue wait for what ends with a ticket of another one of its context,
   or behind it. Returns 0: that has ended. */
int clc_waitbehind(lua_State *L, clc_Device *d, clc_Device *other, uint64_t ticket);

/* Has it wait for all that stands in the queue of what is copied, unless it records. May run Lua.
 */
void clc_waitbehindsource(lua_State *L, clc_Device *d, clc_Device *source);

/* Has the launches timed that come from now on, or not; waits for what is queued. */
void clc_settiming(lua_State *L, clc_Device *d, int timing);

/* Whether its queue takes times that nobody wants, or the other way round. */
int clc_isuntimely(const clc_Device *d);

/* Lets go of such a queue once what is in it has ended. May run Lua code. */
void clc_renewqueue(lua_State *L, clc_Device *d);

/* Lets go of its queues at once. */
void clc_dropqueue(clc_Device *d);

/* Has the queues of the state take times, or not, as the profile now asks. */
void clc_settimings(lua_State *L);

/* Keeps the queue until the device ends: others get to know it. */
void clc_lend(clc_Device *d);

/* True while commands are queued, or may be, that have not been seen to end. */
int clc_isbusy(clc_Device *d);

/* Whether all that was queued was seen to end. No barrier is put behind commands without an event:
   its place may be reserved for what asks, or what is queued next tells as much. */
int clc_isquiet(clc_Device *d);

/* Whether what writes host memory has to be queued, with a copy of it: behind others, or to be
   recorded. */
int clc_mustqueue(clc_Device *d);

/* The queue for a command that is short, or waited for at once: the serial one where nothing is in
   flight, so that the order is that of one queue. What is put there has ended when the call
   returns. */
cl_command_queue clc_quickqueue(clc_Device *d);

/* Makes the landing, which is of so many bytes, unless it is there, with slots of eight
   bytes behind it; nothing is in flight. */
#define CLC_LANDING 1024
void clc_makelanding(clc_Device *d);

/* Whether a kernel may bring words to the landing, sooner than a read does. May run Lua code. */
int clc_cantell(lua_State *L, clc_Device *d);

/* Queues that kernel, for so many words of four bytes; returns what OpenCL says, and in which call.
 */
cl_int clc_tell(clc_Device *d, cl_mem from, size_t first, size_t words, const char **call);

void clc_dropteller(clc_Device *d);

/* The queue for a launch: the serial one where it will be short (short.c). Between the two calls
   nothing but the launch is queued. */
cl_command_queue clc_beginlaunch(clc_Device *d, const clc_Launch *l);
void clc_endlaunch(clc_Device *d, const clc_Launch *l, cl_command_queue queue);

/* --- what kernels print: output.c ------------------------------------------- */

/* Before and after a launch that prints: what the script printed stands before it, and what the
   kernel prints is there when the call returns. The second one waits. */
void clc_beforeoutput(void);
void clc_awaitoutput(lua_State *L, clc_Device *d);

/* As clc_awaitoutput, where it comes to the terminal: no notice goes before it. */
void clc_awaitprinted(lua_State *L, clc_Device *d);

/* Calls a function with the n values at the top, waits for the device, and puts in their place what
   its kernels printed. What was printed before an error is printed then. */
void clc_capture(lua_State *L, clc_Device *d, lua_CFunction f, int n);

/* What an executor has of that (executor.h), where this process computes. */
void clc_beginredirection(lua_State *L, clc_Device *d);
void clc_pushredirected(lua_State *L, clc_Device *d);
void clc_dropredirected(clc_Device *d);

/* --- events: event.c ------------------------------------------------------- */

struct clc_Event {
  clc_Handle h;
  clc_Device *device;
  uint64_t ticket;      /* of its last command; 0: it has ended */
  int is_recorded;      /* its launch was kept in place of being queued */
  int is_timed;         /* what follows is known */
  cl_event first, last; /* commands: one, unless the launch was split; NULL: it has ended */
  cl_ulong when[4];     /* without a command: when the launch passed each stage */
  char what[CLC_WHAT];
};

/* Pushes a new event that waits to be told of its commands. */
clc_Event *clc_newevent(lua_State *L, clc_Device *d, const char *what);

/* Tells it of the command that was queued last, one of its launch; retains OpenCL's event, where
   there is one. */
void clc_addcommand(clc_Event *e, const cl_event *command);

/* Tells it of a command that has ended: when it was queued, submitted, started, finished. */
void clc_addended(clc_Event *e, const cl_ulong when[4]);

/* Opens the package: adds what cl.device, cl.devices, cl.platforms, cl.live and cl.profile are made
 * of. */
void clc_opendevices(lua_State *L);

/* Its parts, which clc_opendevices opens. */
void clc_openlive(lua_State *L);
void clc_opentelling(lua_State *L);
void clc_openparts(lua_State *L);
void clc_openprofile(lua_State *L);
void clc_openevents(lua_State *L);
void clc_opendiscovery(lua_State *L);

#endif
