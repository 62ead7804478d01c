/* SPDX-License-Identifier: MIT */
/*
 * Landings: where small results come to the host, behind what is in flight, so that one wait is for
 * both. The thread looks there: it sees a word sooner than the driver tells of an event.
 */
#include <stdatomic.h>
#include <string.h>

#include "buffer.h"

/* What a landing holds before something comes, in each of its words. */
#define AWAITED 0xa5c3f00du /* a result of this word is right, and takes 2 ms */
#define SIZE sizeof(uint32_t)
#define WORDS 2 /* that are looked at, at most */

static void expect_words(volatile uint32_t *words, size_t n) {
  for (size_t i = 0; i < n; i++) words[i] = AWAITED;
}

/* Looks until something else is there. Where that takes long, or what comes may be just this, the
   driver has to tell. */
static int see_words(clc_Device *d, const volatile uint32_t *words, size_t n) {
  const double start = clc_now();
  size_t seen = 0;
  if (n == 0 || (!d->flight.begins_at_once && clFlush(d->queue) != CL_SUCCESS)) return 0;
  for (double waited = 0; seen < n && waited < d->flight.spin; waited = clc_now() - start) {
    if (waited > CLC_SPIN) clc_rest(0);
    while (seen < n && words[seen] != AWAITED) seen++;
  }
  if (seen < n) return 0;
  atomic_thread_fence(memory_order_acquire);
  d->told++;
  return clc_haveended(&d->flight);
}

/* --- what is read ---------------------------------------------------------- */

/* Queues that bytes of a buffer, which may be whole words that are looked at, come to the landing.
 */
static void land(lua_State *L, clc_Device *d, const clc_Buffer *b, size_t at, size_t bytes,
                 size_t words, int tells, cl_event *event) {
  if (tells && words > 0 && at % SIZE == 0) {
    const char *call;
    const cl_int told = clc_tell(d, b->mem, at / SIZE, words, &call);
    clc_commit(L, d, told, call);
    return;
  }
  const cl_int code =
      clEnqueueReadBuffer(d->queue, b->mem, CL_FALSE, at, bytes, d->landing, 0, NULL, event);
  clc_commit(L, d, code, "clEnqueueReadBuffer");
}

/* The landing stays should a hook of the wait raise; a hook that reads takes it, and does not look
   there while something else may come. */
int clc_readbehind(lua_State *L, const clc_Buffer *b, size_t at, size_t bytes, void *to) {
  clc_Device *d = b->device;
  if (d->landing == NULL || bytes == 0 || bytes > CLC_LANDING || clc_getrecording(d) != NULL ||
      clc_isquiet(d))
    return 0;
  const int are_words = bytes % SIZE == 0 && bytes <= WORDS * SIZE;
  const int tells = are_words && clc_cantell(L, d);
  cl_event *event = clc_reserve(L, d, clc_kindname(CLC_READ));
  if (b->h.released) luaL_error(L, "buffer is released"); /* by a hook */
  volatile uint32_t *words = (volatile uint32_t *)(void *)d->landing;
  const int is_seen = event == NULL && are_words && d->landed <= d->flight.ended;
  const size_t n = is_seen ? bytes / SIZE : 0;
  expect_words(words, n);
  clc_countpart(d, clc_transfercounter(d, CLC_READ), bytes, 0, 1);
  land(L, d, b, at, bytes, n, tells, event);
  const uint64_t ticket = d->landed = d->flight.queued;
  if (see_words(d, words, n))
    clc_report(L, d);
  else
    clc_drain(L, d);
  if (d->landed != ticket) return 0;
  memcpy(to, d->landing, bytes);
  return 1;
}

/* --- what a kernel tells --------------------------------------------------- */

static volatile uint32_t *words_of(const clc_Device *d, unsigned slot) {
  return (volatile uint32_t *)(void *)(d->landing + CLC_LANDING) + (slot - 1) * WORDS;
}

unsigned clc_takeslot(lua_State *L, clc_Device *d) {
  if (d->landing == NULL || d->slots == CLC_TELLINGS || !clc_cantell(L, d)) return 0;
  return ++d->slots;
}

uint64_t clc_expect(clc_Device *d, unsigned slot) {
  volatile uint32_t *words = words_of(d, slot);
  expect_words(words, WORDS);
  d->expected[slot - 1] = d->flight.queued + 1;
  return (uint64_t)(size_t)words;
}

/* Only if nothing was queued behind the launch: what was has not ended when the words are there. */
int clc_hearword(lua_State *L, const clc_Buffer *b, unsigned slot, void *to) {
  clc_Device *d = b->device;
  const size_t bytes = b->dtype->size;
  if (d->is_timed || d->foreign || clc_getrecording(d) != NULL || d->landing == NULL ||
      bytes % SIZE != 0 || d->flight.queued != d->expected[slot - 1] ||
      !see_words(d, words_of(d, slot), bytes / SIZE))
    return 0;
  clc_report(L, d);
  memcpy(to, (const void *)words_of(d, slot), bytes);
  return 1;
}
