/* SPDX-License-Identifier: MIT */
/*
** The counting table, its report, and the two functions by which an OpenCL
** loader takes a layer in. The wrappers that call it are generated.
*/

#define CL_TARGET_OPENCL_VERSION 300

#include <CL/cl_layer.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "count.h"

#define EXPORT __attribute__((visibility("default")))

typedef struct Bad {
  count_Call call;
  const char *type; /* what the call takes the handle for */
  const void *handle;
  count_Handle was; /* what the table knew of it; was.handle is NULL: nothing */
} Bad;

const cl_icd_dispatch *count_next;

static cl_icd_dispatch wrappers;
static pid_t owner;

/* One lock guards all of these; it is never held while a driver runs. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static count_Handle *table; /* open addressing; a free slot has no handle */
static size_t table_size;   /* a power of 2 */
static size_t table_used;
static Bad *bad;
static size_t bad_size;
static size_t bad_used;
static unsigned long calls;
static struct {
  char call[64];
  int code;
  unsigned long skip, times; /* calls that pass first, then those that fail */
  unsigned long seen, hits;  /* calls that it was asked about, those that failed */
  const char *hit;           /* the first of these */
} plan;

static void *need(void *memory) {
  if (memory == NULL) {
    fputs("clcount: out of memory\n", stderr);
    abort();
  }
  return memory;
}

/*
** The slot of a handle, or the free slot where it would go. Dead handles stay
** in the table: they tell a double release from a handle that never was, and
** make removal unnecessary. Drivers reuse addresses, so it stays small.
*/
static count_Handle *slot_of(const void *handle) {
  const uint64_t hash = (uint64_t)(uintptr_t)handle * UINT64_C(0x9E3779B97F4A7C15);
  size_t i = (size_t)(hash >> 32) & (table_size - 1);
  while (table[i].handle != NULL && table[i].handle != handle) i = (i + 1) & (table_size - 1);
  return &table[i];
}

static void table_grow(void) {
  count_Handle *old = table;
  const size_t old_size = table_size;
  table_size = old_size ? 2 * old_size : 256;
  table = need(calloc(table_size, sizeof *table));
  for (size_t i = 0; i < old_size; i++)
    if (old[i].handle != NULL) *slot_of(old[i].handle) = old[i];
  free(old);
}

static void note_bad(count_Call call, const char *type, const void *handle,
                     const count_Handle *was) {
  if (bad_used == bad_size) {
    bad_size = bad_size ? 2 * bad_size : 16;
    bad = need(realloc(bad, bad_size * sizeof *bad));
  }
  bad[bad_used++] = (Bad){call, type, handle, *was};
}

count_Call count_enter(const char *name) {
  count_Call call = {name, 0};
  pthread_mutex_lock(&lock);
  call.number = ++calls;
  pthread_mutex_unlock(&lock);
  return call;
}

void count_made(count_Call call, const char *type, const void *handle) {
  if (handle == NULL) return;
  pthread_mutex_lock(&lock);
  if (2 * (table_used + 1) > table_size) table_grow();
  count_Handle *slot = slot_of(handle);
  if (slot->handle == NULL) table_used++;
  if (slot->references > 0) /* a driver may return one object twice, with a reference each time */
    slot->references++;
  else
    *slot = (count_Handle){handle, type, call, 0, 1};
  pthread_mutex_unlock(&lock);
}

/* Root devices are made by nobody, and OpenCL defines their retain and release to do nothing. */
static int is_root(const char *type, const count_Handle *slot) {
  return slot->handle == NULL && strcmp(type, "cl_device_id") == 0;
}

static int change(count_Call call, const char *type, const void *handle, int up) {
  int known = 1;
  pthread_mutex_lock(&lock);
  count_Handle *slot = slot_of(handle);
  if (slot->references > 0 && strcmp(slot->type, type) == 0) {
    if (up)
      slot->references++;
    else if (--slot->references == 0)
      slot->died = call.number;
  } else if (!is_root(type, slot)) {
    note_bad(call, type, handle, slot);
    known = 0;
  }
  pthread_mutex_unlock(&lock);
  return known;
}

int count_retain(count_Call call, const char *type, const void *handle) {
  return change(call, type, handle, 1);
}

int count_release(count_Call call, const char *type, const void *handle) {
  return change(call, type, handle, 0);
}

void count_undo_retain(const void *handle) {
  pthread_mutex_lock(&lock);
  count_Handle *slot = slot_of(handle);
  if (slot->references > 0) slot->references--;
  pthread_mutex_unlock(&lock);
}

void count_undo_release(const void *handle) {
  pthread_mutex_lock(&lock);
  count_Handle *slot = slot_of(handle);
  if (slot->handle != NULL) slot->references++;
  pthread_mutex_unlock(&lock);
}

static int older(const void *a, const void *b) {
  const unsigned long x = ((const count_Handle *)a)->made.number;
  const unsigned long y = ((const count_Handle *)b)->made.number;
  return (x > y) - (x < y);
}

static size_t live(count_Handle *out, size_t room) {
  size_t n = 0;
  pthread_mutex_lock(&lock);
  for (size_t i = 0; i < table_size; i++)
    if (table[i].references > 0) {
      if (n < room) out[n] = table[i];
      n++;
    }
  pthread_mutex_unlock(&lock);
  if (room > 0) qsort(out, n < room ? n : room, sizeof *out, older);
  return n;
}

static unsigned long bad_count(void) {
  pthread_mutex_lock(&lock);
  const unsigned long n = bad_used;
  pthread_mutex_unlock(&lock);
  return n;
}

static unsigned long call_count(void) {
  pthread_mutex_lock(&lock);
  const unsigned long n = calls;
  pthread_mutex_unlock(&lock);
  return n;
}

static void fail(const char *call, unsigned long nth, int code, unsigned long times) {
  pthread_mutex_lock(&lock);
  memset(&plan, 0, sizeof plan);
  snprintf(plan.call, sizeof plan.call, "%s", call);
  plan.code = code;
  plan.skip = nth - 1;
  plan.times = times;
  pthread_mutex_unlock(&lock);
}

/* CLCOUNT_FAIL="call code nth times" plans the failures of a process in which nobody calls fail. */
static void plan_from_environment(void) {
  const char *text = getenv("CLCOUNT_FAIL");
  char call[sizeof plan.call];
  int code;
  unsigned long nth, times;
  if (text != NULL && sscanf(text, "%63s %d %lu %lu", call, &code, &nth, &times) == 4)
    fail(call, nth, code, times);
}

static count_Hits hits(void) {
  pthread_mutex_lock(&lock);
  const count_Hits so_far = {plan.hit, plan.seen, plan.hits};
  pthread_mutex_unlock(&lock);
  return so_far;
}

static int is_planned(const char *name) {
  if (strcmp(plan.call, "any") == 0) return strcmp(name, "command") != 0;
  return strcmp(plan.call, name) == 0;
}

int count_fault(const char *name) {
  int code = 0;
  pthread_mutex_lock(&lock);
  if (is_planned(name) && plan.seen++ >= plan.skip && plan.hits < plan.times) {
    if (plan.hits++ == 0) plan.hit = name;
    code = plan.code;
  }
  pthread_mutex_unlock(&lock);
  return code;
}

int count_settles(void) {
  pthread_mutex_lock(&lock);
  const int planned = strcmp(plan.call, "any") == 0 || strcmp(plan.call, "command") == 0;
  pthread_mutex_unlock(&lock);
  return planned;
}

int count_status(int status) {
  const int code = status <= CL_COMPLETE ? count_fault("command") : 0;
  return code != 0 ? code : status;
}

EXPORT const count_Api count_api = {live, bad_count, call_count, fail, hits};

static void print_leak(const count_Handle *h) {
  fprintf(stderr, "leaked %s %p made by %s (call %lu)", h->type, h->handle, h->made.name,
          h->made.number);
  if (h->references > 1) fprintf(stderr, ", %lu references", h->references);
  fputc('\n', stderr);
}

static void print_bad(const Bad *b) {
  const count_Handle *was = &b->was;
  fprintf(stderr, "bad %s of %s %p (call %lu): ", b->call.name, b->type, b->handle, b->call.number);
  if (was->handle == NULL)
    fputs("no call made it\n", stderr);
  else if (was->references > 0)
    fprintf(stderr, "it is a %s made by %s (call %lu)\n", was->type, was->made.name,
            was->made.number);
  else
    fprintf(stderr, "the %s made by %s (call %lu) died in call %lu\n", was->type, was->made.name,
            was->made.number, was->died);
}

static long environment_number(const char *name) {
  const char *value = getenv(name);
  return value ? strtol(value, NULL, 10) : 0;
}

/*
** A destructor, because exit() runs those after every atexit handler: what
** lua_close, a module's sweep at exit or a C++ driver's own handlers still
** release is seen. A handler set by clInitLayer would run before those set
** earlier. stdio is flushed after destructors, so leaving early must do it.
*/
__attribute__((destructor)) static void report(void) {
  if (owner != getpid()) /* no loader took the layer in, or a fork: the handles are the parent's */
    return;
  const size_t room = live(NULL, 0);
  count_Handle *leaks = need(calloc(room + 1, sizeof *leaks));
  size_t leaked = live(leaks, room);
  if (leaked > room) /* a thread still runs */
    leaked = room;
  pthread_mutex_lock(&lock);
  const int wrong = leaked > 0 || bad_used > 0;
  if (wrong || !environment_number("CLCOUNT_QUIET"))
    fprintf(stderr, "clcount: %lu calls, %zu leaked, %zu bad releases\n", calls, leaked, bad_used);
  for (size_t i = 0; i < leaked; i++) print_leak(&leaks[i]);
  for (size_t i = 0; i < bad_used; i++) print_bad(&bad[i]);
  pthread_mutex_unlock(&lock);
  free(leaks);
  const int code = (int)environment_number("CLCOUNT_EXIT");
  if (wrong && code != 0) {
    fflush(NULL);
    _Exit(code);
  }
}

EXPORT CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info name, size_t size, void *value,
                                                      size_t *size_ret) {
  static const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
  static const char layer[] = "clcount";
  const void *from;
  size_t bytes;
  switch (name) {
    case CL_LAYER_API_VERSION:
      from = &version;
      bytes = sizeof version;
      break;
    case CL_LAYER_NAME:
      from = layer;
      bytes = sizeof layer;
      break;
    default: return CL_INVALID_VALUE;
  }
  if (value != NULL && size < bytes) return CL_INVALID_VALUE;
  if (value != NULL) memcpy(value, from, bytes);
  if (size_ret != NULL) *size_ret = bytes;
  return CL_SUCCESS;
}

/* Comes again when a program unloads the loader and loads it anew; the counts go on. */
EXPORT CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint entries, const cl_icd_dispatch *next,
                                                   cl_uint *entries_ret,
                                                   const cl_icd_dispatch **wrappers_ret) {
  const size_t mine = sizeof wrappers / sizeof(void *);
  const size_t shared = entries < mine ? entries : mine;
  if (next == NULL || entries_ret == NULL || wrappers_ret == NULL) return CL_INVALID_VALUE;
  if (count_next != NULL && next->clGetPlatformIDs == wrappers.clGetPlatformIDs)
    return CL_INVALID_OPERATION; /* named twice in OPENCL_LAYERS: it would call itself for ever */
  pthread_mutex_lock(&lock);
  const int is_first = table == NULL;
  if (is_first) table_grow();
  pthread_mutex_unlock(&lock);
  if (is_first) plan_from_environment();
  owner = getpid();
  count_next = next;
  memcpy(&wrappers, next, shared * sizeof(void *)); /* an entry without a wrapper is passed on */
  count_wrap(&wrappers);
  *entries_ret = (cl_uint)shared;
  *wrappers_ret = &wrappers;
  return CL_SUCCESS;
}
