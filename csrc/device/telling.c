/* SPDX-License-Identifier: MIT */
/*
 * Telling: a kernel brings a few words to the landing. NVIDIA's driver has another engine read
 * them, which takes 5 to 8 us to learn that the kernel before has ended; a kernel behind it begins
 * at once.
 *
 * The landing is no memory object there, but an address: kernels reach the host's pinned memory
 * where the host does. No standard says so. So it is tried first, in a context of its own, as one
 * in which a kernel has failed is lost; and only by who reads often, as that and the build take
 * their time.
 */
#include <string.h>

#include "device.h"

#define OFTEN 16 /* reads */
#define WORDS 8  /* of the trial, and bytes of each */
#define SIZE 4

static const char source[] =
    "kernel void tell(global const uint *from, const ulong first, const ulong address,\n"
    "                 const ulong words) {\n"
    "  volatile global uint *to = (volatile global uint *)address;\n"
    "  for (ulong i = 0; i < words; i++) to[i] = from[first + i];\n"
    "}\n";

/* --- the kernel ---------------------------------------------------------- */

static void drop_kernel(clc_Teller *t) {
  if (t->kernel != NULL) clReleaseKernel(t->kernel);
  if (t->program != NULL) clReleaseProgram(t->program);
  t->kernel = NULL;
  t->program = NULL;
}

static int make_kernel(clc_Teller *t, cl_context context, cl_device_id id) {
  const char *text = source;
  cl_int code;
  t->program = clCreateProgramWithSource(context, 1, &text, NULL, &code);
  if (code != CL_SUCCESS) t->program = NULL;
  if (code == CL_SUCCESS) code = clBuildProgram(t->program, 1, &id, "", NULL, NULL);
  if (code == CL_SUCCESS) t->kernel = clCreateKernel(t->program, "tell", &code);
  if (code != CL_SUCCESS) t->kernel = NULL;
  if (t->kernel == NULL) drop_kernel(t);
  return t->kernel != NULL;
}

/* Returns the code of the last call of OpenCL; *call, unless `call` is NULL, is its name. */
static cl_int launch(cl_kernel kernel, cl_command_queue queue, cl_mem from, size_t first,
                     size_t words, const void *to, const char **call) {
  const size_t one = 1;
  const cl_ulong numbers[] = {first, (cl_ulong)(size_t)to, words};
  cl_int code = clSetKernelArg(kernel, 0, sizeof from, &from);
  for (cl_uint i = 0; i < 3 && code == CL_SUCCESS; i++)
    code = clSetKernelArg(kernel, i + 1, sizeof numbers[i], &numbers[i]);
  if (call != NULL) *call = code == CL_SUCCESS ? "clEnqueueNDRangeKernel" : "clSetKernelArg";
  return code != CL_SUCCESS
             ? code
             : clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL);
}

/* --- the trial ----------------------------------------------------------- */

/* What is made for it, of which a part may be NULL. */
typedef struct {
  cl_context context;
  cl_command_queue queue;
  cl_mem from, pinned;
  cl_uint *landing;
  clc_Teller teller;
} Trial;

static void end_trial(Trial *t) {
  drop_kernel(&t->teller);
  if (t->landing != NULL) clEnqueueUnmapMemObject(t->queue, t->pinned, t->landing, 0, NULL, NULL);
  if (t->pinned != NULL) clReleaseMemObject(t->pinned);
  if (t->from != NULL) clReleaseMemObject(t->from);
  if (t->queue != NULL) clReleaseCommandQueue(t->queue);
  if (t->context != NULL) clReleaseContext(t->context);
}

static int begin_trial(Trial *t, cl_device_id id, cl_uint *words) {
  const cl_map_flags both = CL_MAP_READ | CL_MAP_WRITE;
  const size_t bytes = WORDS * SIZE;
  cl_int code;
  *t = (Trial){0};
  t->context = clCreateContext(NULL, 1, &id, NULL, NULL, &code);
  if (t->context == NULL) return 0;
  t->queue = clCreateCommandQueueWithProperties(t->context, id, NULL, &code);
  t->from = clCreateBuffer(t->context, CL_MEM_COPY_HOST_PTR, bytes, words, &code);
  t->pinned = clCreateBuffer(t->context, CL_MEM_ALLOC_HOST_PTR, bytes, NULL, &code);
  if (t->queue == NULL || t->from == NULL || t->pinned == NULL) return 0;
  t->landing =
      clEnqueueMapBuffer(t->queue, t->pinned, CL_TRUE, both, 0, bytes, 0, NULL, NULL, &code);
  return t->landing != NULL && make_kernel(&t->teller, t->context, id);
}

/* How many words are there in the order in which they were sent, the second half first. */
static int count_told(Trial *t, const cl_uint *words) {
  const size_t half = WORDS / 2;
  int told = 0;
  memset(t->landing, 0, WORDS * SIZE);
  if (launch(t->teller.kernel, t->queue, t->from, half, half, t->landing, NULL) == CL_SUCCESS &&
      launch(t->teller.kernel, t->queue, t->from, 0, half, t->landing + half, NULL) == CL_SUCCESS &&
      clFinish(t->queue) == CL_SUCCESS)
    while (told < WORDS && t->landing[told] == words[((size_t)told + half) % WORDS]) told++;
  return told;
}

/* count_told(device) --> of eight words, 0 where commands do not begin at once; nil where there is
 * no room for a trial */
static int device_count_told(lua_State *L) {
  const clc_Device *d = clc_checkopen(L, 1);
  cl_uint words[WORDS];
  Trial trial;
  int has_begun = 1, told = 0;
  for (cl_uint i = 0; i < WORDS; i++) words[i] = 0x9e3779b9u * (i + 1);
  if (d->context->begins_at_once) {
    has_begun = begin_trial(&trial, d->context->place.device, words);
    if (has_begun) told = count_told(&trial, words);
    end_trial(&trial);
  }
  if (has_begun)
    lua_pushinteger(L, told);
  else
    lua_pushnil(L);
  return 1;
}

/* --- the landing --------------------------------------------------------- */

int clc_cantell(lua_State *L, clc_Device *d) {
  clc_Teller *t = &d->teller;
  if (t->kernel != NULL) return 1;
  if (!d->context->begins_at_once || t->asked == OFTEN || ++t->asked < OFTEN) return 0;
  return clc_askofdevice(L, d, "kernels_tell") && !d->h.released &&
         make_kernel(t, d->context->cl, d->context->place.device);
}

cl_int clc_tell(clc_Device *d, cl_mem from, size_t first, size_t words, const char **call) {
  return launch(d->teller.kernel, d->queue, from, first, words, d->landing, call);
}

void clc_dropteller(clc_Device *d) {
  drop_kernel(&d->teller);
}

/* let_tell(device, boolean) --> how many results were seen where a kernel told them. Whether
   kernels of a device may tell is for specs: drivers of processors write to the host's memory too.
 */
static int device_let_tell(lua_State *L) {
  clc_Device *d = clc_checkopen(L, 1);
  d->context->begins_at_once = lua_toboolean(L, 2);
  if (d->context->begins_at_once)
    clc_makelanding(d);
  else
    clc_dropteller(d);
  d->teller.asked = 0;
  lua_pushinteger(L, (lua_Integer)d->told);
  return 1;
}

void clc_opentelling(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"let_tell", device_let_tell}, {"count_told", device_count_told}, {NULL, NULL}};
  clc_addinternal(L, functions);
}
