/* SPDX-License-Identifier: MIT */
/* Isolation: devices whose kernels are built and run by a worker process. */
#include "isolation.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BUILD_LIMIT 300 /* seconds: a large source on a busy machine may need many */

/* --- memory ------------------------------------------------------------ */

typedef struct {
  void *memory;
  size_t bytes;
} Piece;

/* By a thread of the driver's, perhaps. */
static void CL_CALLBACK free_piece(cl_mem mem, void *data) {
  Piece *p = data;
  (void)mem;
  clc_freepiece(p->memory, p->bytes);
  free(p);
}

/* The memory goes when OpenCL has let go of it, which may be later than the script. */
static cl_mem make_memory(clc_Device *d, Piece *p, clc_Outcome *result) {
  result->call = "clCreateBuffer";
  cl_mem mem = clCreateBuffer(d->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, p->bytes,
                              p->memory, &result->code);
  if (result->code != CL_SUCCESS) return NULL;
  result->call = "clSetMemObjectDestructorCallback";
  result->code = clSetMemObjectDestructorCallback(mem, free_piece, p);
  if (result->code == CL_SUCCESS) return mem;
  clReleaseMemObject(mem);
  return NULL;
}

cl_mem clc_newshared(clc_Device *d, size_t bytes, uint64_t *start, clc_Outcome *result) {
  Piece *p = malloc(sizeof *p);
  void *memory = p != NULL ? clc_newpiece(&d->root->worker.arena, bytes, start) : NULL;
  *result = (clc_Outcome){CL_MEM_OBJECT_ALLOCATION_FAILURE, "clCreateBuffer"};
  if (memory == NULL) {
    free(p);
    return NULL;
  }
  *p = (Piece){memory, bytes};
  cl_mem mem = make_memory(d, p, result);
  if (mem == NULL) free_piece(NULL, p);
  return mem;
}

/* OpenCL lets a driver keep a copy of such memory, and a CPU's has no reason to. */
static void check_shared(lua_State *L, clc_Device *d) {
  static const cl_uint written = 0x636c636f;
  cl_uint seen = 0;
  uint64_t start;
  clc_Outcome result;
  int fault = 0; /* of the system */
  cl_mem mem = clc_newshared(d, sizeof written, &start, &result);
  if (mem != NULL) {
    result.call = "clEnqueueWriteBuffer";
    result.code =
        clEnqueueWriteBuffer(d->queue, mem, CL_TRUE, 0, sizeof written, &written, 0, NULL, NULL);
    if (!clc_readarena(&d->root->worker.arena, start, sizeof seen, &seen)) fault = errno;
    clReleaseMemObject(mem);
  }
  clc_check(L, result.code, result.call);
  if (fault != 0)
    luaL_error(L, "the memory shared with a worker cannot be read: %s", strerror(fault));
  if (seen != written)
    luaL_error(L, "this device cannot be isolated: its driver computes on copies of shared memory");
}

/* --- recipes ----------------------------------------------------------- */

struct clc_Recipe {
  clc_Device *root;
  unsigned holders;
  uint64_t number;
  uint64_t generation; /* of the worker that has built it; 0: none */
  size_t length;
  char text[]; /* options, NUL, source */
};

clc_Recipe *clc_newrecipe(clc_Device *d, const char *options, const char *const parts[3]) {
  size_t length = strlen(options) + 1;
  for (int i = 0; i < 3; i++) length += strlen(parts[i]);
  clc_Recipe *r = malloc(sizeof *r + length + 1);
  if (r == NULL) return NULL;
  *r = (clc_Recipe){.root = d->root, .holders = 1, .number = ++d->root->recipes, .length = length};
  char *end = strcpy(r->text, options) + strlen(options) + 1;
  for (int i = 0; i < 3; i++) end = strcpy(end, parts[i]) + strlen(parts[i]);
  return r;
}

clc_Recipe *clc_retainrecipe(clc_Recipe *r) {
  if (r != NULL) r->holders++;
  return r;
}

void clc_releaserecipe(clc_Recipe *r) {
  if (r == NULL || --r->holders > 0) return;
  clc_Worker *w = &r->root->worker;
  if (r->generation == w->generation && w->process.pid != 0)
    clc_request(w, (clc_Request){CLC_ASK_FORGET, 0, r->number, 0, 0}, NULL);
  free(r);
}

/* --- asking ------------------------------------------------------------ */

#define MEMORY_FAULT                                                                              \
  " (an access outside its buffers, private arrays larger than the stack, or a barrier that not " \
  "all work-items reach)"

/* Hooks may close a device, and what is closed is collected: pushes a queue and its device. */
static void keep(lua_State *L, const clc_Device *d) {
  luaL_checkstack(L, 10, NULL);
  clc_pushdevice(L, d);
  clc_pushdevice(L, d->root);
}

/* Raises in words what became of the worker, unless it answers: a kernel's fault of memory has few
   causes, a compiler's any. */
static void ask(lua_State *L, clc_Device *d, clc_Request request, const void *bytes, double limit,
                const char *what, clc_Answer *answer) {
  clc_Worker *w = &d->root->worker;
  keep(L, d);
  if (!clc_ask(L, w, request, bytes, limit, answer))
    luaL_error(L, "%s: %s%s", what, w->fate,
               request.ask == CLC_ASK_LAUNCH && w->memory_fault ? MEMORY_FAULT : "");
  lua_pop(L, 2);
}

static void start_worker(lua_State *L, clc_Device *d) {
  keep(L, d);
  if (d->root->worker.generation == 0) check_shared(L, d);
  clc_startworker(L, &d->root->worker, d->place.p, d->place.d);
  lua_pop(L, 2);
  clc_usedevice(L, d);
}

clc_Answer clc_tryrecipe(lua_State *L, clc_Device *d, clc_Recipe *const *recipe, const char *name) {
  clc_Answer answer = {.code = CL_SUCCESS};
  start_worker(L, d);
  luaL_checkstack(L, 20, NULL);
  const char *what = lua_pushfstring(L, "building %s", name);
  clc_usedevice(L, d); /* a finalizer may have closed it */
  clc_Recipe *r = *recipe;
  if (r != NULL && r->generation != d->root->worker.generation) {
    /* Now, as a hook may release it while it is built; if that fails there is another worker. */
    r->generation = d->root->worker.generation;
    const clc_Request request = {CLC_ASK_BUILD, 0, r->number, 0, r->length};
    ask(L, d, request, r->text, BUILD_LIMIT, what, &answer);
    clc_usedevice(L, d);
  }
  lua_pop(L, 1);
  return answer;
}

/* --- launches ---------------------------------------------------------- */

void clc_beginlaunch(lua_State *L, clc_Device *d, clc_Recipe *const *recipe, const char *kernel,
                     const char *what) {
  if (*recipe == NULL) return;
  clc_Worker *w = &d->root->worker;
  clc_drain(L, d); /* transfers come before it */
  const clc_Answer tried = clc_tryrecipe(L, d, recipe, what);
  if (*recipe == NULL) return; /* released by a hook, which the caller sees */
  if (tried.code != CL_SUCCESS) {
    clc_endworker(w); /* the next one builds it again */
    clc_raise(L, tried.code, tried.call, "%s, in a new worker", what);
  }
  clc_request(w, (clc_Request){CLC_ASK_KERNEL, 0, (*recipe)->number, 0, strlen(kernel)}, kernel);
}

void clc_passvalue(clc_Device *d, cl_uint i, size_t size, const void *value) {
  if (!d->isolated) return;
  const clc_Request r = value != NULL ? (clc_Request){CLC_ASK_VALUE, i, 0, 0, size}
                                      : (clc_Request){CLC_ASK_LOCAL, i, 0, size, 0};
  clc_request(&d->root->worker, r, value);
}

void clc_passmemory(clc_Device *d, cl_uint i, const clc_Region *region) {
  if (d->isolated)
    clc_request(&d->root->worker, (clc_Request){CLC_ASK_MEMORY, i, 0, 0, sizeof *region}, region);
}

void clc_launchpart(lua_State *L, clc_Device *d, const char *what, const clc_Grid *grid,
                    cl_ulong when[4]) {
  clc_Answer answer;
  ask(L, d, (clc_Request){CLC_ASK_LAUNCH, 0, 0, 0, sizeof *grid}, grid, d->root->worker.limit, what,
      &answer);
  if (answer.code != CL_SUCCESS) clc_raise(L, answer.code, answer.call, "%s", what);
  memcpy(when, answer.when, sizeof answer.when);
}
