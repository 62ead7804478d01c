/* SPDX-License-Identifier: MIT */
/*
 * Large pages: Linux hands memory out page by page, at its first touch, which takes longer than to
 * copy there. In pages of 2 MiB, where it is told that they are wanted, it takes a tenth of that.
 */
#define _DEFAULT_SOURCE /* MADV_HUGEPAGE */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base.h"

#define PAGE ((size_t)2 << 20)
#define TOUCHED ((size_t)16 << 20) /* bytes from which threads pay */
#define TOUCHERS 8

/* --- memory of the library's own ------------------------------------------- */

static uintptr_t round_up(uintptr_t n) {
  return (n + PAGE - 1) / PAGE * PAGE;
}

/* A part of memory for a thread to touch. */
typedef struct {
  char *memory;
  size_t bytes;
} Part;

/* Writes what is there: memory that grew holds what it held before. */
static void *touch(void *part) {
  const Part *p = part;
  for (size_t at = 0; at < p->bytes; at += PAGE) {
    volatile char *first = p->memory + at;
    *first = *first;
  }
  return NULL;
}

/* The system clears a page at its first touch, one thread as quickly as it copies; several do more.
   Signals are for the program's own threads. */
static void touch_all(char *memory, size_t bytes) {
  pthread_t threads[TOUCHERS];
  Part parts[TOUCHERS];
  sigset_t all, before;
  const size_t step = round_up(bytes / TOUCHERS);
  int n = 0;
  if (sysconf(_SC_NPROCESSORS_ONLN) < TOUCHERS) return; /* the others have work */
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  for (size_t at = 0; at < bytes; at += step, n++) {
    parts[n] = (Part){memory + at, bytes - at < step ? bytes - at : step};
    if (pthread_create(&threads[n], NULL, touch, &parts[n]) != 0) break;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  while (n-- > 0) pthread_join(threads[n], NULL);
}

/* Of what begins anywhere, the pages that lie within. Where the system has none of that size, all
   is as it was. */
static void want_large_pages(void *memory, size_t bytes) {
  const uintptr_t start = round_up((uintptr_t)memory), end = (uintptr_t)memory + bytes;
  if (end < start + PAGE) return;
  const size_t whole = (end - start) / PAGE * PAGE;
  if (madvise((void *)start, whole, MADV_HUGEPAGE) == 0 && whole >= TOUCHED)
    touch_all((char *)start, whole);
}

static size_t mapped_bytes(size_t bytes) {
  return round_up(bytes) + PAGE; /* from where a page begins */
}

clc_Pages clc_newpages(size_t bytes) {
  const int how = MAP_PRIVATE | MAP_ANONYMOUS;
  clc_Pages p = {.bytes = mapped_bytes(bytes)};
  p.mapped = mmap(NULL, p.bytes, PROT_READ | PROT_WRITE, how, -1, 0);
  if (p.mapped == MAP_FAILED) return (clc_Pages){0};
  p.memory = (void *)round_up((uintptr_t)p.mapped);
  want_large_pages(p.memory, round_up(bytes));
  return p;
}

void clc_freepages(const clc_Pages *p) {
  if (p->mapped != NULL) munmap(p->mapped, p->bytes);
}

/* --- memory of Lua ----------------------------------------------------------- */

static const char allocator_key = 0; /* registry: the state's own, a userdata */

void clc_openallocator(lua_State *L) {
  clc_Allocator *own = lua_newuserdatauv(L, sizeof *own, 0);
  own->call = lua_getallocf(L, &own->data);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &allocator_key);
}

static clc_Allocator *find_allocator(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &allocator_key);
  clc_Allocator *own = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return own;
}

clc_Allocator clc_getallocator(lua_State *L) {
  return *find_allocator(L);
}

/* What the state's own allocator gives, in large pages where it is much. */
static void *allocate(void *data, void *memory, size_t old, size_t bytes) {
  const clc_Allocator *own = data;
  void *given = own->call(own->data, memory, old, bytes);
  if (given != NULL && bytes >= CLC_MUCH) want_large_pages(given, bytes);
  return given;
}

typedef struct {
  clc_Pusher push;
  const void *data;
} Call;

static int run(lua_State *L) {
  const Call *c = lua_touserdata(L, 1);
  lua_settop(L, 0);
  c->push(L, c->data);
  return 1;
}

void clc_pushmuch(lua_State *L, size_t bytes, clc_Pusher push, const void *data) {
  Call call = {push, data};
  clc_Allocator before;
  if (bytes < CLC_MUCH) {
    push(L, data);
    return;
  }
  luaL_checkstack(L, 5, NULL);
  lua_pushcfunction(L, run);
  lua_pushlightuserdata(L, &call);
  before.call = lua_getallocf(L, &before.data);
  lua_setallocf(L, allocate, find_allocator(L));
  const int status = lua_pcall(L, 1, 1, 0);
  lua_setallocf(L, before.call, before.data);
  if (status == LUA_OK) return;
  if (status != LUA_ERRMEM && lua_type(L, -1) == LUA_TSTRING) { /* its place, unknown there */
    luaL_where(L, 1);
    lua_insert(L, -2);
    lua_concat(L, 2);
  }
  lua_error(L);
}

static void push_elements(lua_State *L, const void *bytes) {
  lua_newuserdatauv(L, *(const size_t *)bytes, 0);
}

void *clc_newelements(lua_State *L, size_t bytes) {
  clc_pushmuch(L, bytes, push_elements, &bytes);
  return lua_touserdata(L, -1);
}
