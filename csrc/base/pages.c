/* SPDX-License-Identifier: MIT */
/*
 * Large pages: Linux hands memory out page by page, at its first touch, which takes longer than to
 * copy there. In pages of 2 MiB, where it is told that they are wanted, it takes a tenth of that.
 */
#define _DEFAULT_SOURCE /* MADV_HUGEPAGE */
#include <stdint.h>
#include <sys/mman.h>

#include "base.h"

#define PAGE ((size_t)2 << 20)

/* --- memory of the library's own ------------------------------------------- */

static uintptr_t round_up(uintptr_t n) {
  return (n + PAGE - 1) / PAGE * PAGE;
}

/* Of what begins anywhere, the pages that lie within. Where the system has none of that size, all
   is as it was. */
static void want_large_pages(void *memory, size_t bytes) {
  const uintptr_t start = round_up((uintptr_t)memory), end = (uintptr_t)memory + bytes;
  if (end >= start + PAGE) madvise((void *)start, (end - start) / PAGE * PAGE, MADV_HUGEPAGE);
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

typedef struct {
  lua_Alloc alloc;
  void *data;
} Allocator;

/* What the state's own allocator gives, in large pages where it is much. */
static void *allocate(void *data, void *memory, size_t old, size_t bytes) {
  const Allocator *own = data;
  void *given = own->alloc(own->data, memory, old, bytes);
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
  Allocator own;
  Call call = {push, data};
  if (bytes < CLC_MUCH) {
    push(L, data);
    return;
  }
  luaL_checkstack(L, 5, NULL);
  lua_pushcfunction(L, run);
  lua_pushlightuserdata(L, &call);
  own.alloc = lua_getallocf(L, &own.data);
  lua_setallocf(L, allocate, &own);
  const int status = lua_pcall(L, 1, 1, 0);
  lua_setallocf(L, own.alloc, own.data);
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
