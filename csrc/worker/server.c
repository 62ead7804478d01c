/* SPDX-License-Identifier: MIT */
/* Server: what the process of a worker does, from its start to the end of the requests. */
#define _GNU_SOURCE /* close_range's number, prctl */
#include "server.h"
#include "worker.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox.h"

__attribute__((visibility("default"))) int luaopen_clcompute_worker(lua_State *L);

#define SAMPLINGS (2 * 5 * 2) /* settings that a sampler can have */

typedef struct {
  clc_Sampling sampling;
  cl_sampler sampler; /* NULL: none yet */
} Sampler;

typedef struct {
  clc_Connection connection;
  clc_Service service;
  clc_Pieces pieces;
  Sampler samplers[SAMPLINGS + 1]; /* of those asked for so far */
  clc_Unit *units;
  cl_kernel kernel; /* that arguments and launches are for */
  uint64_t program; /* whose it is */
} Worker;

/* --- the process ------------------------------------------------------- */

static pid_t parent;

#define PARENT_SIGNAL (SIGRTMIN + 4) /* which no compiler of a driver takes for itself */

/* The signal comes whenever a thread ends that started it. */
static void end_with_parent(int number) {
  (void)number;
  if (getppid() != parent) kill(getpid(), SIGKILL);
}

static void watch_parent(void) {
  struct sigaction action = {.sa_handler = end_with_parent, .sa_flags = SA_RESTART};
  parent = getppid();
  sigaction(PARENT_SIGNAL, &action, NULL);
  prctl(PR_SET_PDEATHSIG, PARENT_SIGNAL);
}

/* It ends with the one it works for, has no other files of that one, hands none to programs that
   a driver starts, and writes no core where it dies. */
static void settle_in(void) {
  const struct rlimit none = {0, 0};
  watch_parent();
  setrlimit(RLIMIT_CORE, &none);
  signal(SIGINT, SIG_IGN);
  signal(SIGTTOU, SIG_IGN);
  fcntl(CLC_SOCKET_FD, F_SETFD, FD_CLOEXEC);
  clc_closefrom(CLC_SOCKET_FD + 1);
}

/* Nothing of a driver has run by then. */
static void enter_sandbox(void) {
  int supervisor;
  char words[80];
  const char *fault = clc_confine(&supervisor);
  snprintf(words, sizeof words, "the sandbox, which CLCOMPUTE_SANDBOX=off leaves out: %s", fault);
  if (fault != NULL) clc_giveup(words);
  clc_sendanswer(&(clc_Answer){.code = CLC_NOTE_CONFINED}, supervisor);
  if (supervisor >= 0) close(supervisor);
}

/* --- the device ------------------------------------------------------------ */

int clc_succeeds(clc_Service *s, cl_int code, const char *call) {
  if (code != CL_SUCCESS && s->answer.code == CL_SUCCESS) {
    s->answer.code = code;
    snprintf(s->answer.call, sizeof s->answer.call, "%s", call);
  }
  return code == CL_SUCCESS;
}

/* Where drivers find their devices out of reach, the loader hides them, and counts otherwise. */
static int is_named(cl_platform_id platform, const char *name) {
  char text[256] = "";
  return clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof text, text, NULL) == CL_SUCCESS &&
         strcmp(text, name) == 0;
}

/* The platform of that name before which there are so many others of it. */
static cl_platform_id find_platform(clc_Service *s, const char *name, uint64_t before) {
  cl_uint n = 0;
  cl_platform_id found = NULL;
  if (!clc_succeeds(s, clGetPlatformIDs(0, NULL, &n), "clGetPlatformIDs")) return NULL;
  cl_platform_id *ids = calloc(n + 1, sizeof *ids);
  cl_int code = ids != NULL ? clGetPlatformIDs(n, ids, NULL) : CL_OUT_OF_HOST_MEMORY;
  for (cl_uint i = 0; code == CL_SUCCESS && i < n && found == NULL; i++)
    if (is_named(ids[i], name) && before-- == 0) found = ids[i];
  free(ids);
  if (code == CL_SUCCESS && found == NULL) code = CL_INVALID_PLATFORM;
  clc_succeeds(s, code, "clGetPlatformIDs");
  return found;
}

static cl_device_id find_device(clc_Service *s, cl_platform_id platform, uint32_t place) {
  cl_uint n = 0;
  cl_device_id found = NULL;
  cl_int code = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &n);
  if (!clc_succeeds(s, code, "clGetDeviceIDs")) return NULL;
  cl_device_id *ids = calloc(n + 1, sizeof *ids);
  if (ids != NULL) code = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, n, ids, NULL);
  if (ids != NULL && place < n && clc_succeeds(s, code, "clGetDeviceIDs")) found = ids[place];
  if (ids == NULL) clc_succeeds(s, CL_OUT_OF_HOST_MEMORY, "clGetDeviceIDs");
  free(ids);
  clc_succeeds(s, found != NULL ? CL_SUCCESS : CL_INVALID_DEVICE, "clGetDeviceIDs");
  return found;
}

/* Opens a device by its place on a platform, as clinfo counts. */
static void open_service(clc_Service *s, const char *platform, uint64_t before, uint32_t device) {
  const cl_platform_id id = find_platform(s, platform, before);
  const cl_context_properties props[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)id, 0};
  cl_int code;
  if (id == NULL || (s->device = find_device(s, id, device)) == NULL) return;
  s->context = clCreateContext(props, 1, &s->device, NULL, NULL, &code);
  if (!clc_succeeds(s, code, "clCreateContext")) return;
  /* Every version has this call. */
  s->queue = clCreateCommandQueue(s->context, s->device, CL_QUEUE_PROFILING_ENABLE, &code);
  clc_succeeds(s, code, "clCreateCommandQueue");
}

static void close_service(clc_Service *s) {
  if (s->queue != NULL) clReleaseCommandQueue(s->queue);
  if (s->context != NULL) clReleaseContext(s->context);
}

/* --- requests ---------------------------------------------------------- */

static void answer(Worker *w) {
  clc_sendanswer(&w->service.answer, -1);
  memset(&w->service.answer, 0, sizeof w->service.answer);
}

/* --- launches ---------------------------------------------------------- */

/* What went wrong with one that was given up is forgotten. */
static void begin_kernel(Worker *w, const clc_Request *r) {
  memset(&w->service.answer, 0, sizeof w->service.answer);
  clc_unbindpieces(&w->pieces);
  w->kernel =
      clc_findentry(&w->service, w->units, r->number, w->connection.bytes, (size_t)r->bytes);
  w->program = r->number;
}

static void forget_program(Worker *w, const clc_Request *r) {
  if (w->program == r->number) w->kernel = NULL;
  clc_forgetunit(&w->units, r->number);
}

static void set_argument(Worker *w, const clc_Request *r, size_t size, const void *value) {
  if (w->kernel != NULL)
    clc_succeeds(&w->service, clSetKernelArg(w->kernel, r->index, size, value), "clSetKernelArg");
}

static void set_memory(Worker *w, const clc_Request *r) {
  const cl_mem mem =
      clc_bindregion(&w->service, &w->pieces, (const clc_Region *)w->connection.bytes);
  if (mem != NULL) set_argument(w, r, sizeof mem, &mem);
}

static void set_image(Worker *w, const clc_Request *r) {
  const cl_mem mem =
      clc_bindimage(&w->service, &w->pieces, (const clc_Layout *)w->connection.bytes);
  if (mem != NULL) set_argument(w, r, sizeof mem, &mem);
}

/* Kernels keep no hold of samplers; there are as many as settings. */
static void set_sampler(Worker *w, const clc_Request *r) {
  const clc_Sampling *wanted = (const clc_Sampling *)w->connection.bytes;
  Sampler *s = w->samplers;
  cl_int code = CL_SUCCESS;
  while (s->sampler != NULL && memcmp(&s->sampling, wanted, sizeof *wanted) != 0) s++;
  if (s->sampler == NULL) {
    s->sampling = *wanted;
    s->sampler = clCreateSampler(w->service.context, wanted->normalized, wanted->address,
                                 wanted->filter, &code);
    if (code != CL_SUCCESS) s->sampler = NULL;
  }
  if (clc_succeeds(&w->service, code, "clCreateSampler"))
    set_argument(w, r, sizeof s->sampler, &s->sampler);
}

static void drop_samplers(Worker *w) {
  for (const Sampler *s = w->samplers; s->sampler != NULL; s++) clReleaseSampler(s->sampler);
}

static void note_times(clc_Service *s, cl_event event) {
  static const cl_profiling_info stages[] = {CL_PROFILING_COMMAND_QUEUED,
                                             CL_PROFILING_COMMAND_SUBMIT,
                                             CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END};
  for (int i = 0; i < 4; i++)
    clc_succeeds(s,
                 clGetEventProfilingInfo(event, stages[i], sizeof s->answer.when[i],
                                         &s->answer.when[i], NULL),
                 "clGetEventProfilingInfo");
}

static cl_int get_status(cl_event event) {
  cl_int status = CL_QUEUED;
  clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
  return status;
}

/* A driver's own wait wakes late; a short launch is looked at until it has ended. A longer one
   tells when its kernel is compiled: the limit of what runs counts from then on. */
static cl_int wait_for(cl_event event) {
  const double start = clc_now();
  cl_int status = CL_QUEUED;
  for (double waited = 0; waited < CLC_SPIN || status > CL_RUNNING; waited = clc_now() - start) {
    status = get_status(event);
    if (status <= CL_COMPLETE) return status;
    clc_rest(waited);
  }
  clc_sendanswer(&(clc_Answer){.code = CLC_NOTE_RUNNING}, -1);
  const cl_int code = clWaitForEvents(1, &event);
  return code == CL_SUCCESS ? get_status(event) : code;
}

static void finish(clc_Service *s, cl_event event) {
  cl_int code = clFlush(s->queue);
  clc_succeeds(s, code, "clFlush");
  if (code == CL_SUCCESS) code = wait_for(event);
  if (clc_succeeds(s, code, "clWaitForEvents")) note_times(s, event);
  clReleaseEvent(event);
}

static void to_sizes(const uint64_t from[3], size_t to[3]) {
  for (int i = 0; i < 3; i++) to[i] = (size_t)from[i];
}

static void launch(Worker *w) {
  const clc_Grid *g = (const clc_Grid *)w->connection.bytes;
  clc_Service *s = &w->service;
  size_t offset[3], global[3], group[3];
  cl_event event;
  to_sizes(g->offset, offset);
  to_sizes(g->global, global);
  to_sizes(g->group, group);
  clc_mappieces(s, &w->pieces, w->connection.arena);
  clc_closedescriptor(&w->connection);
  /* A hook may have released it between two parts of a launch. */
  const cl_int there = w->kernel != NULL ? CL_SUCCESS : CL_INVALID_KERNEL;
  if (!clc_succeeds(s, there, "clEnqueueNDRangeKernel") || s->answer.code != CL_SUCCESS) return;
  const cl_int code =
      clEnqueueNDRangeKernel(s->queue, w->kernel, g->dims, g->has_offset ? offset : NULL, global,
                             g->has_group ? group : NULL, 0, NULL, &event);
  if (clc_succeeds(s, code, "clEnqueueNDRangeKernel")) finish(s, event);
}

/* --- the service ------------------------------------------------------- */

static void serve(Worker *w) {
  const clc_Request *r = &w->connection.request;
  switch ((clc_Ask)r->ask) {
    case CLC_ASK_OPEN:
      open_service(&w->service, w->connection.bytes, r->number, r->index);
      answer(w);
      break;
    case CLC_ASK_BUILD:
      memset(&w->service.answer, 0, sizeof w->service.answer);
      clc_buildunit(&w->service, &w->units, r->number, (clc_Form)r->index, w->connection.bytes,
                    (size_t)r->bytes);
      answer(w);
      break;
    case CLC_ASK_FORGET: forget_program(w, r); break;
    case CLC_ASK_KERNEL: begin_kernel(w, r); break;
    case CLC_ASK_VALUE: set_argument(w, r, (size_t)r->bytes, w->connection.bytes); break;
    case CLC_ASK_LOCAL: set_argument(w, r, (size_t)r->size, NULL); break;
    case CLC_ASK_MEMORY: set_memory(w, r); break;
    case CLC_ASK_IMAGE: set_image(w, r); break;
    case CLC_ASK_SAMPLER: set_sampler(w, r); break;
    case CLC_ASK_LAUNCH:
      launch(w);
      answer(w);
      break;
  }
}

/* What `package.loadlib` of the worker's interpreter calls; ends when the socket does. */
int luaopen_clcompute_worker(lua_State *L) {
  static Worker worker = {.connection.arena = -1};
  (void)L;
  settle_in();
  enter_sandbox();
  clc_preparepocl(1);
  while (clc_receiverequest(&worker.connection)) serve(&worker);
  clc_dropunits(&worker.units);
  drop_samplers(&worker);
  clc_droppieces(&worker.pieces);
  close_service(&worker.service);
  free(worker.connection.bytes);
  return 0;
}
