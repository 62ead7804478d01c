/* SPDX-License-Identifier: MIT */
/* Transfers: copies and fills of a device's memory. */
#include "device.h"

#include <string.h>

static const char *call_name(clc_TransferCall call) {
  static const char *const names[] = {"clEnqueueCopyBuffer",        "clEnqueueCopyBufferRect",
                                      "clEnqueueFillBuffer",        "clEnqueueCopyImage",
                                      "clEnqueueCopyBufferToImage", "clEnqueueCopyImageToBuffer",
                                      "clEnqueueFillImage"};
  return names[call];
}

/* NVIDIA's driver fills wrongly what lies beyond 2^31 elements of the buffer, and says nothing; up
   to here it was seen to be right. */
#define FARTHEST 30
#define BLOCK ((size_t)1 << 16) /* bytes that a fill takes from the host at most */
#define SHORT ((size_t)1 << 16) /* bytes that take less time than to wake a driver's threads */

/* A buffer with a fill's elements; NULL: *code is why. */
static cl_mem make_block(const clc_Transfer *t, size_t bytes, cl_int *code) {
  char block[BLOCK];
  cl_context context;
  *code = clGetMemObjectInfo(t->to, CL_MEM_CONTEXT, sizeof context, &context, NULL);
  if (*code != CL_SUCCESS) return NULL;
  for (size_t at = 0; at < bytes; at += t->size) memcpy(block + at, t->element, t->size);
  return clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, bytes, block, code);
}

/* A block of elements, and copies of what is filled, each as long as all before. The event is the
   last one's. */
static cl_int fill_by_copies(cl_command_queue queue, const clc_Transfer *t, cl_event *event) {
  const size_t to = t->to_at[0], bytes = t->region[0], first = bytes < BLOCK ? bytes : BLOCK;
  cl_int code;
  cl_mem block = make_block(t, first, &code);
  for (size_t n, at = 0; at < bytes && code == CL_SUCCESS; at += n) {
    const size_t most = at == 0 ? first : at;
    n = bytes - at < most ? bytes - at : most;
    code = clEnqueueCopyBuffer(queue, at == 0 ? block : t->to, t->to, at == 0 ? 0 : to, to + at, n,
                               0, NULL, at + n == bytes ? event : NULL);
  }
  if (block != NULL) clReleaseMemObject(block); /* OpenCL keeps it until it was copied */
  return code;
}

static cl_int fill_evenly(cl_command_queue queue, const clc_Transfer *t, cl_event *event) {
  if (t->to_at[0] + t->region[0] > t->size << FARTHEST) return fill_by_copies(queue, t, event);
  return clEnqueueFillBuffer(queue, t->to, t->element, t->size, t->to_at[0], t->region[0], 0, NULL,
                             event);
}

/* As many elements at once as the place is a multiple of: a GPU's work-items may fill one each. A
   processor sets bytes as they are. */
static clc_Transfer widen(clc_Transfer t, int is_cpu) {
  if ((is_cpu && t.size == 1) || t.region[0] <= SHORT) return t;
  while (t.size < sizeof t.element && t.to_at[0] % (2 * t.size) == 0) {
    memcpy(t.element + t.size, t.element, t.size);
    t.size *= 2;
  }
  return t;
}

/* What is left over comes first, so that the event is that of nearly all. */
static cl_int fill(cl_command_queue queue, const clc_Transfer *t, int is_cpu, cl_event *event) {
  clc_Transfer body = widen(*t, is_cpu), rest = *t;
  rest.region[0] %= body.size;
  body.region[0] -= rest.region[0];
  rest.to_at[0] += body.region[0];
  const cl_int code = rest.region[0] > 0 ? fill_evenly(queue, &rest, NULL) : CL_SUCCESS;
  return code != CL_SUCCESS ? code : fill_evenly(queue, &body, event);
}

static cl_int enqueue(cl_command_queue queue, const clc_Transfer *t, int is_cpu, cl_event *event) {
  switch (t->call) {
    case CLC_COPYBUFFER:
      return clEnqueueCopyBuffer(queue, t->from, t->to, t->at[0], t->to_at[0], t->region[0], 0,
                                 NULL, event);
    case CLC_COPYBOX:
      return clEnqueueCopyBufferRect(queue, t->from, t->to, t->at, t->to_at, t->region, t->row,
                                     t->slice, t->to_row, t->to_slice, 0, NULL, event);
    case CLC_FILLBUFFER: return fill(queue, t, is_cpu, event);
    case CLC_COPYIMAGE:
      return clEnqueueCopyImage(queue, t->from, t->to, t->at, t->to_at, t->region, 0, NULL, event);
    case CLC_BUFFERTOIMAGE:
      return clEnqueueCopyBufferToImage(queue, t->from, t->to, t->at[0], t->to_at, t->region, 0,
                                        NULL, event);
    case CLC_IMAGETOBUFFER:
      return clEnqueueCopyImageToBuffer(queue, t->from, t->to, t->at, t->region, t->to_at[0], 0,
                                        NULL, event);
    case CLC_FILLIMAGE:
      return clEnqueueFillImage(queue, t->to, t->element, t->to_at, t->region, 0, NULL, event);
  }
  return CL_INVALID_VALUE;
}

static int is_short(const clc_Transfer *t) {
  return t->bytes <= SHORT && (t->call == CLC_COPYBUFFER || t->call == CLC_FILLBUFFER);
}

cl_int clc_trytransfer(lua_State *L, clc_Device *d, const clc_Transfer *t) {
  clc_Recording *r = clc_getrecording(d);
  if (r != NULL) {
    clc_keeptransfer(L, r, t);
    return CL_SUCCESS;
  }
  cl_event *event = clc_reserve(L, d, clc_kindname(t->kind));
  clc_countpart(d, clc_transfercounter(d, t->kind), t->bytes, 0, 1);
  const cl_int code =
      enqueue(is_short(t) ? clc_quickqueue(d) : d->queue, t, d->context->is_cpu, event);
  if (code != CL_SUCCESS) { /* of several commands the driver may have some */
    if (t->call == CLC_FILLBUFFER) clFinish(d->queue);
    return code;
  }
  clc_commit(L, d, code, call_name(t->call));
  if (t->event != NULL) clc_addcommand(t->event, event);
  return code;
}

void clc_transfer(lua_State *L, clc_Device *d, const clc_Transfer *t) {
  const cl_int code = clc_trytransfer(L, d, t);
  if (code != CL_SUCCESS) clc_raise(L, code, call_name(t->call), "%s", clc_kindname(t->kind));
}
