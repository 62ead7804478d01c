/* SPDX-License-Identifier: MIT */
/*
 * clcompute.ranks: the calls of MPI that `clcompute.mpi` is made of, on packed strings. Ranks count
 * from 0.
 *
 * No rank may hang or go on where another one has ended or does something else: waits poll, so that
 * Ctrl-C works, they warn and obey $CLCOMPUTE_MPI_LIMIT; collectives are agreed on before; and a
 * process that ends agrees on that too, or ends the job.
 */
#define _GNU_SOURCE /* on_exit, memfd_create */
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"

__attribute__((visibility("default"))) int luaopen_clcompute_ranks(lua_State *L);

#define PATIENCE 60     /* seconds after which a wait warns */
#define SLOWEST 0.5e9   /* bytes of a message a second, while both ranks look at it */
#define PIECE (1 << 30) /* bytes of a message at most: MPI counts in int */
#define LONGEST 240     /* characters of what is agreed on */
#define FIRST 248       /* bytes of a string that go with its length */
#define END "the end of the script"
#define SENDING "clcompute.Sending"

/* Tags, each head's followed by its body's. What ranks send each other of a script's own accord is
   apart from what calls of all ranks move. A rank that ends, or fails within a call of all, has all
   know by a note. */
enum { HEAD, BODY, CALL_HEAD, CALL_BODY, ENDED, FAILED };
#define GRACE 5 /* seconds for what is on its way while another rank has failed */
#define NO_ONE (-100)
#define NOWHERE 0 /* no index of a stack */

static int rank, size;
static MPI_Comm calls; /* of collectives within a call, which no agreement is mistaken for */
static double spin;    /* seconds of busy polling, of a wait at least */

/* --- waiting ---------------------------------------------------------------- */

static double get_limit(void) {
  const char *text = getenv("CLCOMPUTE_MPI_LIMIT");
  const double limit = text != NULL ? strtod(text, NULL) : 0;
  return limit > 0 ? limit : 0;
}

static void abort_job(int status) {
  fflush(NULL);
  MPI_Abort(MPI_COMM_WORLD, status);
}

/* Warns once, and ends the job where the limit has passed. */
static void watch(double waited, int *has_warned, const char *what) {
  const double limit = get_limit();
  if (limit > 0 && waited > limit) {
    fprintf(stderr, "clcompute: rank %d of %d waited %g s in %s: the job is ended\n", rank, size,
            limit, what);
    abort_job(1);
  }
  if (waited > PATIENCE && !*has_warned) {
    fprintf(stderr, "clcompute: rank %d of %d has waited %d s in %s\n", rank, size, PATIENCE, what);
    *has_warned = 1;
  }
}

static void check(lua_State *L, int code, const char *call) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (code == MPI_SUCCESS) return;
  MPI_Error_string(code, text, &length);
  luaL_error(L, "%s: %s", call, text);
}

/* --- notes -------------------------------------------------------------------- */

static void tell(int tag) {
  for (int other = 0; other < size; other++) {
    MPI_Request request;
    if (other == rank) continue;
    MPI_Isend(NULL, 0, MPI_CHAR, other, tag, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
  }
}

/* Takes the notes of all, who have sent them. */
static void hear(int tag) {
  for (int other = 0; other < size; other++) {
    if (other != rank) {
      MPI_Recv(NULL, 0, MPI_CHAR, other, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
}

static int has_note(int source, int tag) {
  int is_there = 0;
  MPI_Iprobe(source, tag, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
  return is_there;
}

static void agree_on(lua_State *L, const char *what);

/* Raises where what is waited for will not come: the other rank has ended, or a rank has failed in
   the call that all are in. `notes` are those of before the last test: a note overtakes nothing of
   MPI_COMM_WORLD, but what comes from all, by another communicator and through other ranks. */
static void check_others(lua_State *L, int other, const int notes[3], double waited,
                         const char *what) {
  if (other == MPI_ANY_SOURCE && waited <= GRACE) return;
  if (notes[0]) {
    lua_pushfstring(L, other == MPI_ANY_SOURCE ? "%s: a rank has ended" : "%s: rank %d has ended",
                    what, other);
    lua_error(L);
  }
  if (notes[1] || (notes[2] && waited > GRACE)) agree_on(L, what);
}

/* What was waited for last, if the wait was left, as by Ctrl-C: the request goes on and would take
   what is for a later one, so the rank is out of step. */
static const char *awaited;

/* Until a request has ended: with another rank, with all within a call (MPI_ANY_SOURCE), or NO_ONE
   that may have ended or failed, as agreements learn that. What it reads or writes is the value at
   `anchor`, or stays by itself (NOWHERE); the value stays for ever where the wait ends before it.
   MPI moves a long message a little at each look: who sleeps between looks takes 50 times as long.
 */
static void wait_for(lua_State *L, MPI_Request *request, int other, int anchor, size_t bytes,
                     const char *what) {
  clc_Wait w = clc_beginwait(L);
  w.spin = (spin > w.spin ? spin : w.spin) + (double)bytes / SLOWEST;
  int done = 0, has_warned = 0, notes[3] = {0, 0, 0};
  double heard = 0;
  check(L, MPI_Test(request, &done, MPI_STATUS_IGNORE), what);
  if (done) return;
  int kept = LUA_NOREF;
  if (anchor != NOWHERE) {
    lua_pushvalue(L, anchor);
    kept = luaL_ref(L, LUA_REGISTRYINDEX);
  }
  while (!done) {
    awaited = what;
    clc_pause(L, &w);
    awaited = NULL;
    if (other != NO_ONE) {
      notes[0] = has_note(other, ENDED);
      notes[1] = has_note(other, FAILED);
      notes[2] = notes[1] || has_note(MPI_ANY_SOURCE, FAILED);
      if ((notes[0] || notes[2]) && heard <= 0) heard = clc_now();
    }
    check(L, MPI_Test(request, &done, MPI_STATUS_IGNORE), what);
    if (!done && heard > 0) check_others(L, other, notes, clc_now() - heard, what);
    watch(clc_now() - w.start, &has_warned, what);
  }
  luaL_unref(L, LUA_REGISTRYINDEX, kept);
}

/* --- agreement ---------------------------------------------------------------- */

static uint64_t hash_of(const char *bytes, size_t length) {
  uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
  for (size_t i = 0; i < length; i++)
    hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(1099511628211);
  return hash;
}

/* What ranks compare, of a text: its hash and the complement of that, and the largest of all
   ranks'. */
typedef struct {
  char text[LONGEST];
  uint64_t own[2], largest[2];
  MPI_Request request;
} Agreement;

/* What is behind a 0 is compared, and not told. Returns what MPI says. */
static int begin_agreement(const char *text, size_t length, Agreement *a) {
  snprintf(a->text, sizeof a->text, "%s", text);
  a->own[0] = hash_of(text, length);
  a->own[1] = ~a->own[0];
  return MPI_Iallreduce(a->own, a->largest, 2, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD, &a->request);
}

static int has_agreed(const Agreement *a) {
  return a->largest[0] == ~a->largest[1];
}

/* The texts of all ranks, and room for this one's, LONGEST characters each. Returns what MPI says.
 */
static int gather_texts(const char *text, char *own, char *all, MPI_Request *request) {
  snprintf(own, LONGEST, "%s", text);
  return MPI_Iallgather(own, LONGEST, MPI_CHAR, all, LONGEST, MPI_CHAR, MPI_COMM_WORLD, request);
}

/* Of what a rank says in an agreement, what tells that it has failed in a call of all. */
#define FAILURE "failed: "

/* The failure after which ranks are out of step; empty without one. */
static char failure[LONGEST];

static void keep_failure(const char *all) {
  for (int i = 0; i < size && failure[0] == '\0'; i++) {
    const char *text = all + (size_t)i * LONGEST;
    if (strncmp(text, FAILURE, strlen(FAILURE)) == 0) {
      snprintf(failure, sizeof failure, "rank %d %.200s", i, text);
    }
  }
}

/* The agreement that was begun last, and how many ranks have agreed on: as many on each rank. */
static Agreement last;
static enum { AGREED, DISAGREED, BEGUN } state;
static uint64_t agreed;

static void fail_once(const char *what, const char *than) {
  if (failure[0] == '\0') snprintf(failure, sizeof failure, "rank %d %s %.160s", rank, what, than);
}

static void note_left(void) {
  if (awaited != NULL) fail_once("was interrupted while it waited in", awaited);
}

static int where; /* a reference to the function that tells the place of a call */

/* Pushes what is said where ranks disagree, of which the place takes longer than to agree. It must
   not raise: the others wait. */
static const char *push_text(lua_State *L, const char *what) {
  lua_pushstring(L, what);
  lua_rawgeti(L, LUA_REGISTRYINDEX, where);
  if (lua_pcall(L, 0, 1, 0) != LUA_OK || lua_type(L, -1) != LUA_TSTRING) {
    lua_pop(L, 1);
    lua_pushliteral(L, "");
  }
  lua_concat(L, 2);
  return lua_tostring(L, -1);
}

/* Raises what all say. What a rank that fails says is kept. */
static void raise_disagreement(lua_State *L, const char *what) {
  MPI_Request request;
  const char *text = push_text(L, what);
  char *own = lua_newuserdatauv(L, (size_t)(size + 1) * LONGEST, 0), *all = own + LONGEST;
  check(L, gather_texts(text, own, all, &request), "MPI_Iallgather");
  wait_for(L, &request, NO_ONE, lua_gettop(L), 0, "an agreement");
  keep_failure(all);
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  luaL_addstring(&b, "ranks disagree:");
  for (int i = 0; i < size; i++) {
    char line[LONGEST + 32];
    snprintf(line, sizeof line, "\n  rank %d: %s", i, all + (size_t)i * LONGEST);
    luaL_addstring(&b, line);
  }
  luaL_pushresult(&b);
  lua_error(L);
}

static void check_step(lua_State *L) {
  note_left();
  if (failure[0] != '\0') {
    lua_pushfstring(L, "ranks are out of step: %s; the job can only end", failure);
    lua_error(L);
  }
}

/* Ends the agreement that was begun: raises on all ranks unless all do the same. */
static void settle_last(lua_State *L) {
  check_step(L);
  if (state != BEGUN) return;
  wait_for(L, &last.request, NO_ONE, NOWHERE, 0, last.text);
  state = has_agreed(&last) ? AGREED : DISAGREED;
  if (state == DISAGREED) raise_disagreement(L, last.text);
  agreed++;
}

static void begin_last(lua_State *L, const char *what, size_t length) {
  settle_last(L);
  check(L, begin_agreement(what, length, &last), "MPI_Iallreduce");
  state = BEGUN;
}

static void agree_on(lua_State *L, const char *what) {
  begin_last(L, what, strlen(what));
  settle_last(L);
}

/* In a call of all ranks, from the beginning of its agreement to its end. */
static int in_call;

/* Tells of a failure in a call of all, some of which may wait for this rank. Raises on all ranks
   unless all have failed in the same way, which a disagreement is. */
static void fail_together(lua_State *L, const char *message) {
  const char *what = lua_pushfstring(L, FAILURE "%s", message);
  in_call = 0;
  note_left();
  if (failure[0] != '\0' || state == DISAGREED) return;
  settle_last(L);
  tell(FAILED);
  agree_on(L, what);
  hear(FAILED);
}

/* The other ranks know nothing of a call that begins within one. */
static void check_alone(lua_State *L) {
  static const char message[] =
      "a call of all ranks in another one, as by a finalizer or a hook, or behind one that was "
      "left";
  if (!in_call) return;
  fail_together(L, message);
  luaL_error(L, message);
}

/* begin_call(what): goes on while ranks agree. Whatever is exchanged next settles that. */
static int begin_call(lua_State *L) {
  size_t length;
  const char *what = luaL_checklstring(L, 1, &length);
  check_alone(L);
  begin_last(L, what, length);
  in_call = 1;
  return 0;
}

/* settle() --> how many times ranks have agreed. Raises on all unless all began to agree on the
   same. */
static int settle(lua_State *L) {
  settle_last(L);
  lua_pushinteger(L, (lua_Integer)agreed);
  return 1;
}

/* end_call(): raises on all unless all began to agree on the same. */
static int end_call(lua_State *L) {
  in_call = 0;
  settle_last(L);
  return 0;
}

/* agree(what) */
static int agree(lua_State *L) {
  size_t length;
  const char *what = luaL_checklstring(L, 1, &length);
  check_alone(L);
  begin_last(L, what, length);
  settle_last(L);
  return 0;
}

/* fail(message): this rank has failed in a call of all. */
static int fail(lua_State *L) {
  fail_together(L, luaL_checkstring(L, 1));
  return 0;
}

/* --- moving strings -------------------------------------------------------------- */

static int check_rank(lua_State *L, int arg) {
  const lua_Integer other = luaL_checkinteger(L, arg);
  luaL_argcheck(L, other >= 0 && other < size && other != rank, arg,
                lua_pushfstring(L, "rank of 0 to %d, not this one, expected, got %I", size - 1,
                                (LUAI_UACINT)other));
  return (int)other;
}

static int piece(size_t left) {
  return left < PIECE ? (int)left : PIECE;
}

/* What goes first of a string: it is all of a short one. */
typedef struct {
  uint64_t length;
  char bytes[FIRST];
} Head;

static size_t first_of(uint64_t length) {
  return length < FIRST ? (size_t)length : FIRST;
}

static Head head_of(const char *bytes, size_t length) {
  Head head = {.length = length};
  memcpy(head.bytes, bytes, first_of(length));
  return head;
}

/* A message on its way: its head, its requests, and the string that they read. The registry keeps
   all until they have ended: an error may come before `finish`. */
typedef struct {
  Head head;
  int to, count;
  int kept; /* its reference in the registry */
  MPI_Request requests[];
} Sending;

/* start(bytes, rank, is of a call of all) --> what `finish` waits for */
static int start_send(lua_State *L) {
  size_t length;
  const char *bytes = luaL_checklstring(L, 1, &length);
  const int to = check_rank(L, 2), tag = lua_toboolean(L, 3) ? CALL_HEAD : HEAD;
  const size_t first = first_of(length), pieces = (length - first + PIECE - 1) / PIECE;
  settle_last(L);
  Sending *s = lua_newuserdatauv(L, sizeof *s + (pieces + 1) * sizeof *s->requests, 1);
  *s = (Sending){.head = head_of(bytes, length), .to = to};
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 1);
  luaL_setmetatable(L, SENDING);
  lua_pushvalue(L, -1);
  s->kept = luaL_ref(L, LUA_REGISTRYINDEX);
  check(L,
        MPI_Isend(&s->head, (int)(offsetof(Head, bytes) + first), MPI_BYTE, to, tag, MPI_COMM_WORLD,
                  &s->requests[s->count++]),
        "MPI_Isend");
  for (size_t at = first; at < length; at += PIECE) {
    check(L,
          MPI_Isend(bytes + at, piece(length - at), MPI_BYTE, to, tag + 1, MPI_COMM_WORLD,
                    &s->requests[s->count++]),
          "MPI_Isend");
  }
  return 1;
}

/* finish(started) */
static int finish_send(lua_State *L) {
  Sending *s = luaL_checkudata(L, 1, SENDING);
  for (int i = 0; i < s->count; i++)
    wait_for(L, &s->requests[i], s->to, 1, (size_t)s->head.length, "send");
  luaL_unref(L, LUA_REGISTRYINDEX, s->kept);
  s->kept = LUA_NOREF;
  return 0;
}

/* recv(rank, is of a call of all) --> bytes */
static int recv_bytes(lua_State *L) {
  const int from = check_rank(L, 1), tag = lua_toboolean(L, 2) ? CALL_HEAD : HEAD;
  MPI_Request request;
  settle_last(L);
  lua_settop(L, 1);
  Head *head = lua_newuserdatauv(L, sizeof *head, 0);
  check(L, MPI_Irecv(head, sizeof *head, MPI_BYTE, from, tag, MPI_COMM_WORLD, &request),
        "MPI_Irecv");
  wait_for(L, &request, from, 2, 0, "recv");
  const size_t length = (size_t)head->length, first = first_of(length);
  if (length == first) {
    lua_pushlstring(L, head->bytes, length);
    return 1;
  }
  char *bytes = lua_newuserdatauv(L, length, 0);
  memcpy(bytes, head->bytes, first);
  for (size_t at = first; at < length; at += PIECE) {
    check(L,
          MPI_Irecv(bytes + at, piece(length - at), MPI_BYTE, from, tag + 1, MPI_COMM_WORLD,
                    &request),
          "MPI_Irecv");
    wait_for(L, &request, from, 3, length, "recv");
  }
  lua_pushlstring(L, bytes, length);
  return 1;
}

/* What a rank has for all, and what all have. */
typedef struct {
  Head own, all[];
} Collected;

/* allgather(bytes) --> the list of all ranks' bytes; nothing where those of one are not short */
static int allgather(lua_State *L) {
  size_t length;
  const char *bytes = luaL_checklstring(L, 1, &length);
  MPI_Request request;
  settle_last(L);
  lua_settop(L, 1);
  Collected *c = lua_newuserdatauv(L, sizeof *c + (size_t)size * sizeof *c->all, 0);
  c->own = head_of(bytes, length);
  check(L,
        MPI_Iallgather(&c->own, sizeof c->own, MPI_BYTE, c->all, sizeof c->own, MPI_BYTE, calls,
                       &request),
        "MPI_Iallgather");
  wait_for(L, &request, MPI_ANY_SOURCE, 2, 0, "collect");
  lua_createtable(L, size, 0);
  for (int i = 0; i < size; i++) {
    if (c->all[i].length > FIRST) return 0;
    lua_pushlstring(L, c->all[i].bytes, (size_t)c->all[i].length);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

/* --- memory that ranks of a machine share ------------------------------------------------ */

/* What a rank tells of its segment, a file without a name. It lasts as long as the process, as
   devices know it. (MPI's own window, where /dev/shm has no room for it, never returns on some
   ranks; it ends before the process, and ranks share pages.) */
typedef struct {
  int64_t pid, fd, device, inode, bytes; /* no bytes: there is none */
} Segment;

/* Whether all ranks say yes. */
static int all_say(int yes) {
  int all = 0;
  return MPI_Allreduce(&yes, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD) == MPI_SUCCESS && all;
}

static Segment new_segment(size_t bytes) {
  struct stat known;
  Segment s = {.pid = getpid(), .fd = bytes > 0 ? memfd_create("clcompute-mpi", MFD_CLOEXEC) : -1};
  if (s.fd < 0) return s;
  if (posix_fallocate((int)s.fd, 0, (off_t)bytes) == 0 && fstat((int)s.fd, &known) == 0) {
    s.device = (int64_t)known.st_dev;
    s.inode = (int64_t)known.st_ino;
    s.bytes = (int64_t)bytes;
  }
  return s;
}

/* The memory of a segment; NULL where the process cannot have it, or finds another file. */
static void *open_segment(const Segment *s) {
  char path[64];
  struct stat known;
  snprintf(path, sizeof path, "/proc/%lld/fd/%lld", (long long)s->pid, (long long)s->fd);
  const int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return NULL;
  void *memory = MAP_FAILED;
  if (fstat(fd, &known) == 0 && (int64_t)known.st_dev == s->device &&
      (int64_t)known.st_ino == s->inode)
    memory = mmap(NULL, (size_t)s->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  return memory == MAP_FAILED ? NULL : memory;
}

/* Which ranks are of this machine; returns how many. */
static int find_near(char *is_near) {
  MPI_Comm node;
  MPI_Group all, near;
  int count = 0;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Comm_group(node, &near);
  for (int other = 0; other < size; other++) {
    int there;
    MPI_Group_translate_ranks(all, 1, &other, near, &there);
    is_near[other] = there != MPI_UNDEFINED;
    count += is_near[other];
  }
  MPI_Group_free(&all);
  MPI_Group_free(&near);
  MPI_Comm_free(&node);
  return count;
}

/* Opens the segments of the ranks near; returns whether it has them all. */
static int open_segments(const Segment *all, const char *is_near, void **memory) {
  int has_all = 1;
  for (int other = 0; other < size; other++) {
    memory[other] = is_near[other] && all[other].bytes > 0 ? open_segment(&all[other]) : NULL;
    has_all &= all[other].bytes > 0 && (!is_near[other] || memory[other] != NULL);
  }
  return has_all;
}

/* segments(bytes) --> addresses and bytes of the segments, which hold 0: lists by rank, with false
   for ranks of other machines. Nothing where a rank wants no bytes or cannot have them all, or is
   alone on its machine. All ranks have agreed to call it. */
static int segments(lua_State *L) {
  const Segment own = new_segment((size_t)luaL_checkinteger(L, 1));
  Segment *all = lua_newuserdatauv(L, (size_t)size * sizeof *all, 0);
  void **memory = lua_newuserdatauv(L, (size_t)size * sizeof *memory, 0);
  char *is_near = lua_newuserdatauv(L, (size_t)size, 0);
  const int near = find_near(is_near);
  MPI_Allgather(&own, sizeof own, MPI_BYTE, all, sizeof own, MPI_BYTE, MPI_COMM_WORLD);
  const int is_well = all_say(open_segments(all, is_near, memory)) && near > 1;
  if (own.fd >= 0) close((int)own.fd);
  for (int other = 0; other < size && !is_well; other++)
    if (memory[other] != NULL) munmap(memory[other], (size_t)all[other].bytes);
  if (!is_well) return 0;
  lua_createtable(L, size, 0);
  lua_createtable(L, size, 0);
  for (int other = 0; other < size; other++) {
    if (memory[other] != NULL)
      lua_pushlightuserdata(L, memory[other]);
    else
      lua_pushboolean(L, 0);
    lua_rawseti(L, -3, other + 1);
    lua_pushinteger(L, (lua_Integer)all[other].bytes);
    lua_rawseti(L, -2, other + 1);
  }
  return 2;
}

/* check_peer(rank, seconds without a piece, is_sure) --> whether nothing may come from it any more;
   is_sure: raises if so. */
static int check_peer(lua_State *L) {
  static int has_warned;
  const int other = check_rank(L, 1);
  const double waited = luaL_checknumber(L, 2);
  const int notes[3] = {has_note(other, ENDED), has_note(other, FAILED),
                        has_note(MPI_ANY_SOURCE, FAILED)};
  if (lua_toboolean(L, 3)) check_others(L, other, notes, waited, "move");
  if (waited < PATIENCE) has_warned = 0;
  watch(waited, &has_warned, "move");
  lua_pushboolean(L, notes[0] || notes[1] || (notes[2] && waited > GRACE));
  return 1;
}

/* --- the job ------------------------------------------------------------------------ */

/* Until a request has ended, at the exit of the process, when nothing raises. */
static void finish_at_exit(MPI_Request *request) {
  int done = 0, has_warned = 0;
  const double start = clc_now();
  for (MPI_Test(request, &done, MPI_STATUS_IGNORE); !done;
       MPI_Test(request, &done, MPI_STATUS_IGNORE)) {
    clc_rest(clc_now() - start);
    watch(clc_now() - start, &has_warned, END);
  }
}

/* Says what each rank waits in while this one has ended, and ends the job. */
static void report_disagreement(void) {
  MPI_Request request;
  char *own = calloc((size_t)size + 1, LONGEST);
  fprintf(stderr, "clcompute: rank %d of %d ended while others had not: the job is ended\n", rank,
          size);
  if (own != NULL && gather_texts(END, own, own + LONGEST, &request) == MPI_SUCCESS) {
    finish_at_exit(&request);
    for (int i = 0; i < size; i++)
      fprintf(stderr, "  rank %d: %s\n", i, own + (size_t)(i + 1) * LONGEST);
  }
  free(own);
  clc_rest(1); /* the others' errors come first where they are quick */
  abort_job(1);
}

/* Waits until every rank has ended. Returns 0 where one of them is somewhere else, as each learns.
 */
static int await_others(void) {
  Agreement agreement;
  tell(ENDED);
  if (begin_agreement(END, strlen(END), &agreement) != MPI_SUCCESS) return 0;
  finish_at_exit(&agreement.request);
  return has_agreed(&agreement);
}

/* At the exit of the process: ends the job where the process does not end well. */
static void end_rank(int status, void *nothing) {
  int is_ended = 0;
  (void)nothing;
  MPI_Finalized(&is_ended);
  if (is_ended) return;
  note_left();
  if (state == BEGUN) fail_once("ended in", last.text);
  if (status != 0) {
    fprintf(stderr, "clcompute: rank %d of %d ended with status %d: the job is ended\n", rank, size,
            status);
    abort_job(status);
  } else if (failure[0] != '\0') {
    fprintf(stderr, "clcompute: rank %d of %d: %s: the job is ended\n", rank, size, failure);
    clc_rest(1); /* the others' errors come first */
    abort_job(1);
  } else if (await_others()) {
    hear(ENDED);
    MPI_Finalize();
  } else {
    report_disagreement();
  }
}

/* begin(place) --> rank, size, rank on its node, ranks on its node; `place` tells where the script
   calls */
static int begin(lua_State *L) {
  lua_settop(L, 1);
  where = luaL_ref(L, LUA_REGISTRYINDEX);
  int provided, is_begun = 0, own = 0, count = 1;
  MPI_Comm node;
  check(L, MPI_Initialized(&is_begun), "MPI_Initialized");
  if (!is_begun) {
    check(L, MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    on_exit(end_rank, NULL);
  }
  check(L, MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  check(L, MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
  check(L, MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node),
        "MPI_Comm_split_type");
  MPI_Comm_rank(node, &own);
  MPI_Comm_size(node, &count);
  MPI_Comm_free(&node);
  check(L, MPI_Comm_dup(MPI_COMM_WORLD, &calls), "MPI_Comm_dup");
  lua_pushinteger(L, rank);
  lua_pushinteger(L, size);
  lua_pushinteger(L, own);
  lua_pushinteger(L, count);
  return 4;
}

/* spin_for_gpu(): ranks whose kernels run elsewhere wait busily as long as one of these takes. */
static int spin_for_gpu(lua_State *L) {
  (void)L;
  spin = CLC_SPIN_FOR_GPU;
  return 0;
}

/* library() --> "Open MPI v4.1.4, ..." */
static int library(lua_State *L) {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  lua_pushlstring(L, text, (size_t)length);
  return 1;
}

int luaopen_clcompute_ranks(lua_State *L) {
  static const luaL_Reg functions[] = {{"agree", agree},
                                       {"allgather", allgather},
                                       {"begin", begin},
                                       {"begin_call", begin_call},
                                       {"end_call", end_call},
                                       {"fail", fail},
                                       {"finish", finish_send},
                                       {"check_peer", check_peer},
                                       {"library", library},
                                       {"recv", recv_bytes},
                                       {"segments", segments},
                                       {"settle", settle},
                                       {"spin_for_gpu", spin_for_gpu},
                                       {"start", start_send},
                                       {NULL, NULL}};
  luaL_newmetatable(L, SENDING);
  luaL_newlib(L, functions);
  return 1;
}
