/* SPDX-License-Identifier: MIT */
/*
 * The executor that is a worker process. Programs are built here too, once the worker survived
 * them, for what OpenCL tells of them. Memory is shared, so nothing is copied. A launch ends before
 * its call does.
 */
#include "device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/files.h"

#define LAUNCH_LIMIT 60 /* seconds that a launch may take, unless told otherwise */
#define BUILD_LIMIT 300 /* a large source on a busy machine may need many */

/* --- devices ----------------------------------------------------------- */

void clc_pushisolated(lua_State *L, clc_Place place, clc_TimeLimits limits) {
  /* Oclgrind says that it is all of them. */
  const cl_ulong types = CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR;
  if ((clc_checkdevicenumber(L, place.device, CL_DEVICE_TYPE) & types) != CL_DEVICE_TYPE_CPU) {
    clc_pushplace(L, place, &clc_localexecutor);
    luaL_error(L,
               "only CPU devices can be isolated: %s is none; cl.device(\"cpu\", {isolated=true})",
               luaL_tolstring(L, -1, NULL));
  }
  clc_Context *c = clc_pushplace(L, place, &clc_isolatedexecutor)->context;
  if (limits.build > 0) c->limits.build = limits.build;
  if (limits.run > 0) c->limits.run = limits.run;
}

static void init(clc_Context *c) {
  c->limits = (clc_TimeLimits){BUILD_LIMIT, LAUNCH_LIMIT};
  clc_initworker(&c->worker);
}

static void open_arena(lua_State *L, clc_Context *c) {
  if (!clc_openarena(&c->worker.arena))
    luaL_error(L, "no memory can be shared with a worker: %s", strerror(errno));
}

static void close_worker(clc_Context *c) {
  clc_closeworker(&c->worker);
}

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

/* NULL: there is no memory, and the outcome says so. */
static Piece *new_piece(clc_Context *c, size_t bytes, uint64_t *start, const char *call,
                        clc_Outcome *result) {
  Piece *p = malloc(sizeof *p);
  void *memory = p != NULL ? clc_newpiece(&c->worker.arena, bytes, start) : NULL;
  *result = (clc_Outcome){CL_MEM_OBJECT_ALLOCATION_FAILURE, call};
  if (memory == NULL) {
    free(p);
    return NULL;
  }
  *p = (Piece){memory, bytes};
  return p;
}

/* The memory object that was made of a piece, unless that failed. The memory goes when OpenCL has
   let go of it, which may be later than the script. */
static cl_mem keep_piece(cl_mem mem, Piece *p, clc_Outcome *result) {
  if (result->code == CL_SUCCESS) {
    result->call = "clSetMemObjectDestructorCallback";
    result->code = clSetMemObjectDestructorCallback(mem, free_piece, p);
    if (result->code == CL_SUCCESS) return mem;
    clReleaseMemObject(mem);
  }
  free_piece(NULL, p);
  return NULL;
}

#define IN_PLACE (CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR)

static cl_mem new_memory(clc_Context *c, size_t bytes, uint64_t *start, clc_Outcome *result) {
  Piece *p = new_piece(c, bytes, start, "clCreateBuffer", result);
  if (p == NULL) return NULL;
  cl_mem mem = clCreateBuffer(c->cl, IN_PLACE, bytes, p->memory, &result->code);
  return keep_piece(mem, p, result);
}

static cl_mem new_image(clc_Context *c, clc_Layout *l, clc_Outcome *result) {
  Piece *p = new_piece(c, (size_t)l->region.bytes, &l->region.start, "clCreateImage", result);
  if (p == NULL) return NULL;
  cl_mem mem = clCreateImage(c->cl, IN_PLACE, &l->format, &l->desc, p->memory, &result->code);
  return keep_piece(mem, p, result);
}

/* OpenCL lets a driver keep a copy of such memory, and a CPU's has no reason to. */
static void check_shared(lua_State *L, clc_Device *d) {
  static const cl_uint written = 0x636c636f;
  cl_uint seen = 0;
  uint64_t start;
  clc_Outcome result;
  int fault = 0; /* of the system */
  cl_mem mem = new_memory(d->context, sizeof written, &start, &result);
  if (mem != NULL) {
    result.call = "clEnqueueWriteBuffer";
    result.code =
        clEnqueueWriteBuffer(d->queue, mem, CL_TRUE, 0, sizeof written, &written, 0, NULL, NULL);
    if (!clc_readarena(&d->context->worker.arena, start, sizeof seen, &seen)) fault = errno;
    clReleaseMemObject(mem);
  }
  clc_check(L, result.code, result.call);
  if (fault != 0)
    luaL_error(L, "the memory shared with a worker cannot be read: %s", strerror(fault));
  if (seen != written)
    luaL_error(L, "this device cannot be isolated: its driver computes on copies of shared memory");
}

/* --- recipes ----------------------------------------------------------- */

/* What a program is built of, to build it again in a new worker. */
struct clc_Recipe {
  clc_Context *context;
  unsigned holders;
  uint64_t number;
  uint64_t generation; /* of the worker that has built it; 0: none */
  clc_Form form;
  size_t length;
  char text[]; /* options, NUL, source or bytes of another form; and a NUL that does not count */
};

static void new_recipe(lua_State *L, clc_Context *c, const clc_Sources *s, clc_Recipe **recipe) {
  const int parts = s->form == CLC_TEXT ? 3 : 1;
  size_t length = strlen(s->options) + 1, size[3] = {s->length, 0, 0};
  for (int i = 0; i < parts; i++) {
    if (s->form == CLC_TEXT) size[i] = strlen(s->parts[i]);
    length += size[i];
  }
  clc_Recipe *r = malloc(sizeof *r + length + 1);
  if (r == NULL) luaL_error(L, "not enough memory");
  *r = (clc_Recipe){
      .context = c, .holders = 1, .number = ++c->recipes, .form = s->form, .length = length};
  char *end = strcpy(r->text, s->options) + strlen(s->options) + 1;
  for (int i = 0; i < parts; i++) end = (char *)memcpy(end, s->parts[i], size[i]) + size[i];
  *end = '\0';
  *recipe = r;
}

clc_Recipe *clc_retainrecipe(clc_Recipe *r) {
  if (r != NULL) r->holders++;
  return r;
}

void clc_releaserecipe(clc_Recipe *r) {
  if (r == NULL || --r->holders > 0) return;
  clc_Worker *w = &r->context->worker;
  if (r->generation == w->generation && w->process.pid != 0)
    clc_request(w, (clc_Request){CLC_ASK_FORGET, 0, r->number, 0, 0, 0}, NULL);
  free(r);
}

/* --- asking ------------------------------------------------------------ */

#define MEMORY_FAULT                                                                              \
  " (an access outside its buffers, private arrays larger than the stack, or a barrier that not " \
  "all work-items reach)"

/* Hooks may close a device, and what is closed is collected: pushes the device, which keeps its
   context. */
static void keep(lua_State *L, const clc_Device *d) {
  luaL_checkstack(L, 10, NULL);
  clc_pushdevice(L, d);
}

/* Raises in words what became of the worker, unless it answers: a kernel's fault of memory has few
   causes, a compiler's any. */
static void ask(lua_State *L, clc_Device *d, clc_Request request, const void *bytes,
                const char *what, clc_Answer *answer) {
  clc_Worker *w = &d->context->worker;
  keep(L, d);
  if (!clc_ask(L, w, request, bytes, d->context->limits, what, answer))
    luaL_error(L, "%s: %s%s", what, w->fate,
               request.ask == CLC_ASK_LAUNCH && w->memory_fault ? MEMORY_FAULT : "");
  lua_pop(L, 1);
}

/* --- what a compiler reads ------------------------------------------------ */

/* Whether a source includes a file of the current folder, in which some drivers look. */
static int includes_from_here(const char *source) {
  for (const char *p = source; (p = strstr(p, "#include \"")) != NULL;) {
    char name[256];
    p += strlen("#include \"");
    const size_t length = strcspn(p, "\"\n");
    if (length >= sizeof name || *p == '/') continue;
    memcpy(name, p, length);
    name[length] = '\0';
    if (access(name, R_OK) == 0) return 1;
  }
  return 0;
}

/* Has the worker read the folders of the options, "-I folder". What a source names elsewhere is not
   its to choose: its kernel could read it too. */
static void let_read(clc_Worker *w, const clc_Recipe *r) {
  const int is_built = r != NULL && w->process.pid != 0 && r->generation == w->generation;
  if (r == NULL || is_built || w->busy) return;
  for (const char *p = r->text; (p = strstr(p, "-I")) != NULL;) {
    p += strlen("-I");
    p += strspn(p, " ");
    const size_t length = strcspn(p, " ");
    if (length > 0) clc_letread(w, p, length);
    p += length;
  }
  if (r->form == CLC_TEXT && includes_from_here(r->text + strlen(r->text) + 1))
    clc_letread(w, ".", 1);
}

/* --- programs ------------------------------------------------------------ */

static void start_worker(lua_State *L, clc_Device *d) {
  clc_Context *c = d->context;
  keep(L, d);
  if (c->worker.generation == 0) check_shared(L, d);
  clc_startworker(L, &c->worker, &c->place);
  lua_pop(L, 1);
  clc_usedevice(L, d);
}

/* Has the worker build a recipe, unless it did; tells the code of that build, and the call that
   gave it. Raises when the worker died of it, or over the limit: `name` is what it was building.
   `recipe` is where its owner keeps it: NULL there once a hook has released the owner. */
static clc_Answer try_recipe(lua_State *L, clc_Device *d, clc_Recipe *const *recipe,
                             const char *name) {
  clc_Answer answer = {.code = CL_SUCCESS};
  clc_Worker *w = &d->context->worker;
  let_read(w, *recipe);
  start_worker(L, d);
  luaL_checkstack(L, 20, NULL);
  const char *what = lua_pushfstring(L, "building %s", name);
  clc_usedevice(L, d); /* a finalizer may have closed it */
  clc_Recipe *r = *recipe;
  if (r != NULL && r->generation != w->generation) {
    /* Now, as a hook may release it while it is built; if that fails there is another worker. */
    r->generation = w->generation;
    const clc_Request request = {CLC_ASK_BUILD, r->form, r->number, 0, r->length, 0};
    ask(L, d, request, r->text, what, &answer);
    clc_usedevice(L, d);
  }
  lua_pop(L, 1);
  return answer;
}

#define UNREADABLE                                                                                \
  "; its compiler reads what a source includes from the folders of option include, and works in " \
  "POCL's cache folder: d:close() ends a worker whose folder was removed"

/* A call of clBuildProgram. */
typedef struct {
  cl_program program;
  const cl_device_id *device;
  const char *options;
  cl_int code;
} Compilation;

static void run_compiler(void *compilation) {
  Compilation *c = compilation;
  c->code = clBuildProgram(c->program, 1, c->device, c->options, NULL, NULL);
}

/* The compiler of this process finds the files that the worker's did: of others a source could make
   it do what the worker never survived. */
static cl_int compile(lua_State *L, clc_Device *d, cl_program program, const char *options) {
  Compilation c = {program, &d->context->place.device, options, CL_OUT_OF_HOST_MEMORY};
  const char *readable = d->context->worker.readable;
  const char *own = clc_pushpoclfolder(L);
  if (!clc_callconfined(run_compiler, &c, own, readable)) c.code = CL_OUT_OF_HOST_MEMORY;
  lua_pop(L, 1);
  return c.code;
}

/* What the worker's compiler refuses is refused here again, with the log. */
static cl_int build(lua_State *L, clc_Device *d, const clc_Sources *s, clc_Code *code) {
  const clc_Answer tried = try_recipe(L, d, &code->recipe, s->name);
  const cl_int result = clc_localexecutor.build(L, d, s, code);
  if (result == CL_SUCCESS && tried.code != CL_SUCCESS)
    clc_raise(L, tried.code, tried.call, "%s, in the worker alone%s", s->name,
              tried.code == CL_BUILD_PROGRAM_FAILURE ? UNREADABLE : "");
  return result;
}

/* --- launches ---------------------------------------------------------- */

static void begin(lua_State *L, clc_Device *d, clc_Recipe *const *recipe, const char *kernel,
                  const char *what) {
  if (*recipe == NULL) return; /* released */
  clc_Worker *w = &d->context->worker;
  clc_drain(L, d); /* transfers come before it */
  const clc_Answer tried = try_recipe(L, d, recipe, what);
  if (*recipe == NULL) return; /* released by a hook, which the caller sees */
  if (tried.code != CL_SUCCESS) {
    clc_endworker(w); /* the next one builds it again */
    clc_raise(L, tried.code, tried.call, "%s, in a new worker", what);
  }
  clc_request(w, (clc_Request){CLC_ASK_KERNEL, 0, (*recipe)->number, 0, strlen(kernel), 0}, kernel);
}

/* Whether a value fits is told by the kernel of this process. */
static cl_int set_value(clc_Device *d, cl_kernel kernel, cl_uint i, size_t size,
                        const void *value) {
  const cl_int code = clSetKernelArg(kernel, i, size, value);
  const clc_Request r = value != NULL ? (clc_Request){CLC_ASK_VALUE, i, 0, 0, size, 0}
                                      : (clc_Request){CLC_ASK_LOCAL, i, 0, size, 0, 0};
  if (code == CL_SUCCESS) clc_request(&d->context->worker, r, value);
  return code;
}

/* An object of OpenCL here, and what the worker makes its own of. */
static cl_int set_object(clc_Device *d, cl_kernel kernel, const void *object, clc_Request request,
                         const void *description) {
  const cl_int code = clSetKernelArg(kernel, request.index, sizeof(void *), object);
  if (code == CL_SUCCESS) clc_request(&d->context->worker, request, description);
  return code;
}

static cl_int set_memory(clc_Device *d, cl_kernel kernel, cl_uint i, cl_mem mem,
                         const clc_Region *region) {
  return set_object(d, kernel, &mem, (clc_Request){CLC_ASK_MEMORY, i, 0, 0, sizeof *region, 0},
                    region);
}

static cl_int set_image(clc_Device *d, cl_kernel kernel, cl_uint i, cl_mem image,
                        const clc_Layout *layout) {
  return set_object(d, kernel, &image, (clc_Request){CLC_ASK_IMAGE, i, 0, 0, sizeof *layout, 0},
                    layout);
}

static cl_int set_sampler(clc_Device *d, cl_kernel kernel, cl_uint i, cl_sampler sampler,
                          const clc_Sampling *sampling) {
  return set_object(d, kernel, &sampler,
                    (clc_Request){CLC_ASK_SAMPLER, i, 0, 0, sizeof *sampling, 0}, sampling);
}

static clc_Grid to_grid(cl_uint dims, const clc_Part *p) {
  clc_Grid g = {
      .dims = dims, .has_offset = (uint32_t)clc_isshifted(p), .has_group = (uint32_t)p->has_group};
  for (int i = 0; i < 3; i++) {
    g.offset[i] = p->offset[i];
    g.global[i] = p->global[i];
    g.group[i] = p->group[i];
  }
  return g;
}

static void launch_part(lua_State *L, clc_Device *d, const clc_Launch *l, const clc_Part *p,
                        cl_ulong when[4]) {
  clc_Answer answer;
  const clc_Grid grid = to_grid(l->dims, p);
  if (*l->kernel == NULL) luaL_error(L, "%s is released", l->what); /* by a hook */
  ask(L, d, (clc_Request){CLC_ASK_LAUNCH, 0, 0, 0, sizeof grid, 0}, &grid, l->what, &answer);
  clc_passoutput(&d->context->worker.process);
  if (answer.code != CL_SUCCESS) clc_raise(L, answer.code, answer.call, "%s", l->what);
  memcpy(when, answer.when, sizeof answer.when);
}

/* The parts one after the other, each when the one before it has ended. */
static void launch(lua_State *L, clc_Device *d, const clc_Launch *l) {
  cl_ulong when[4], elapsed = 0;
  clc_Counter *counter = d->profile->on ? l->counter : NULL;
  for (int i = 0; i < l->n; i++) {
    launch_part(L, d, l, &l->parts[i], when);
    if (when[3] > when[2]) elapsed += when[3] - when[2];
    if (l->event != NULL) clc_addended(l->event, when);
  }
  if (counter != NULL && l->n > 0) clc_addcall(counter, elapsed, l->bytes);
}

/* --- what kernels print ------------------------------------------------ */

static void keep_output(lua_State *L, clc_Device *d) {
  start_worker(L, d);
  d->context->worker.process.is_kept = 1;
}

/* A worker that ended has printed it. */
static void push_output(lua_State *L, clc_Device *d) {
  const clc_Process *p = &d->context->worker.process;
  if (p->is_kept)
    clc_pushwritten(L, p->stdout_fd);
  else
    lua_pushliteral(L, "");
}

static void drop_output(clc_Device *d) {
  clc_Process *p = &d->context->worker.process;
  if (p->is_kept) clc_dropoutput(p);
  p->is_kept = 0;
}

const clc_Executor clc_isolatedexecutor = {
    .is_isolated = 1,
    .makes_binaries = 0,
    .init = init,
    .open = open_arena,
    .close = close_worker,
    .new_memory = new_memory,
    .new_image = new_image,
    .new_recipe = new_recipe,
    .build = build,
    .compile = compile,
    .begin = begin,
    .set_value = set_value,
    .set_memory = set_memory,
    .set_image = set_image,
    .set_sampler = set_sampler,
    .keep_output = keep_output,
    .push_output = push_output,
    .drop_output = drop_output,
    .launch = launch,
};
