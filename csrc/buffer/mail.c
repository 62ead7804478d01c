/* SPDX-License-Identifier: MIT */
/*
 * Mail: boxes that go to devices of other processes of this machine, through staging buffers in
 * memory that these share. Each process has a segment of it, with slots where its device leaves
 * pieces, and from which devices of others take them; the label of a slot says what is in it.
 *
 *     source --out--> slots of this process's segment --in--> target, by its own process
 *
 * All processes exchange at once, and in the same order.
 */
#include "ferry.h"

#include <stdatomic.h>
#include <stdint.h>

#define LABELS 4096    /* bytes before the slots */
#define PATIENCE 10e-3 /* seconds without a piece after which others are looked at */

/* What is in a slot. The sender writes it while the slot is empty. The rank that the piece is for
   alone reads the rest of it, and empties the slot: to others it may be changing. */
typedef struct {
  atomic_int to; /* 1 + a rank; 0: the slot is empty */
  uint64_t exchange;
  size_t box;                  /* of those that go from the sender to that rank in the exchange */
  size_t row, col, rows, cols; /* of the box */
} Label;

/* A box that is sent or comes, of an exchange. */
typedef struct {
  clc_Box box;
  clc_Box goal;       /* where `box` is unpacked, if it is packed memory for what comes */
  clc_Buffer *packed; /* or NULL */
  clc_Extent e;
  int other;       /* the rank it goes to, or comes from */
  size_t number;   /* of those between the two */
  size_t row, col; /* sent: the first element that was not read */
  size_t left;     /* elements that have not come, or were not read */
} Load;

typedef struct {
  uint64_t number;
  size_t n_sent, n_loads, piece; /* those sent come first; bytes of a piece */
  Load loads[];
} Exchange;

/* The segment of a rank, and what this process does with its slots. */
typedef struct {
  char *memory;
  size_t room; /* bytes of a slot */
  cl_mem pinned;
  void *mapped;
  cl_event events[CLC_SLOTS]; /* of reading into own slots, of writing from those of others */
  Load *taken[CLC_SLOTS];     /* what is being written */
} Segment;

typedef struct {
  clc_Handle h;
  clc_Device *device;
  cl_command_queue out, in;
  int own, count;           /* ranks, from 0 */
  size_t read, sent;        /* pieces: piece n is in slot n % CLC_SLOTS */
  int addressee[CLC_SLOTS]; /* the rank that a piece is for */
  Exchange *exchange;       /* the one under way; NULL: none */
  Segment segments[];       /* by rank; without memory where the rank is on another machine */
} Mailbox;

static Label *label_of(const Segment *s, size_t slot) {
  return (Label *)s->memory + slot;
}

static char *slot_of(const Segment *s, size_t slot) {
  return s->memory + LABELS + slot * s->room;
}

static void drop_events(Mailbox *m) {
  if (m->out != NULL) clFinish(m->out);
  if (m->in != NULL) clFinish(m->in);
  for (int rank = 0; rank < m->count; rank++)
    for (int slot = 0; slot < CLC_SLOTS; slot++) clc_dropevent(&m->segments[rank].events[slot]);
}

static void mailbox_release(clc_Handle *h) {
  Mailbox *m = (Mailbox *)h;
  drop_events(m);
  for (Segment *s = m->segments; s < m->segments + m->count; s++) {
    if (s->pinned == NULL) continue;
    if (s->mapped != NULL) clEnqueueUnmapMemObject(m->out, s->pinned, s->mapped, 0, NULL, NULL);
    clFinish(m->out);
    clReleaseMemObject(s->pinned);
    s->pinned = NULL;
  }
  if (m->out != NULL) clReleaseCommandQueue(m->out);
  if (m->in != NULL) clReleaseCommandQueue(m->in);
  m->out = m->in = NULL;
}

static const clc_Type mailbox_type = {
    "mailbox", "clcompute.Mailbox", sizeof(Mailbox), mailbox_release, 0, NULL};

/* --- pieces ----------------------------------------------------------------- */

static size_t size_of(const Load *l) {
  return l->box.buffer->dtype->size;
}

static void check_kept(lua_State *L, const Load *l) {
  if (l->box.buffer->h.released) luaL_error(L, "a buffer" CLC_RELEASED); /* by a hook */
}

static clc_Box part_of(const Load *l, size_t row, size_t col) {
  clc_Box part = l->box;
  part.first += row * part.row + col;
  return part;
}

/* Labels the next piece of a load: whole rows, or a part of one. */
static void label_piece(Load *l, Label *label, size_t most) {
  const size_t size = size_of(l), row = l->e.cols * size;
  label->box = l->number;
  label->row = l->row;
  label->col = l->col;
  label->rows = 1;
  label->cols = l->e.cols - l->col;
  if (l->col > 0 || row > most)
    label->cols = label->cols < most / size ? label->cols : most / size;
  else
    label->rows = most / row < l->e.rows - l->row ? most / row : l->e.rows - l->row;
  l->col = (l->col + label->cols) % l->e.cols;
  if (l->col == 0) l->row += label->rows;
  l->left -= label->rows * label->cols;
}

static Load *find_unread(Exchange *x) {
  for (size_t i = 0; i < x->n_sent; i++)
    if (x->loads[i].left > 0) return &x->loads[i];
  return NULL;
}

/* The box of which a piece of another rank is, where it is one of the exchange. */
static Load *find_target(const Mailbox *m, int from, const Label *label) {
  Exchange *x = m->exchange;
  if (label->exchange != x->number) return NULL;
  for (size_t i = x->n_sent; i < x->n_loads; i++)
    if (x->loads[i].other == from && x->loads[i].number == label->box) return &x->loads[i];
  return NULL;
}

/* Ranks that differ in the shape of what they move would write beside it. */
static void check_place(lua_State *L, const Load *l, const Label *label) {
  if (label->row + label->rows > l->e.rows || label->col + label->cols > l->e.cols ||
      label->rows * label->cols > l->left)
    luaL_error(L, "ranks disagree on the size of what they move");
}

/* --- an exchange ------------------------------------------------------------- */

static void check_ended(lua_State *L, const Mailbox *m, cl_int code, const char *call) {
  if (code == CL_COMPLETE) return;
  clc_report(L, m->device); /* what went wrong before it */
  clc_check(L, code, call);
}

/* Begins to read the next piece, where there is one and its slot is empty. */
static int read_next(lua_State *L, Mailbox *m) {
  Segment *s = &m->segments[m->own];
  const size_t slot = m->read % CLC_SLOTS;
  Label *label = label_of(s, slot);
  Load *l = find_unread(m->exchange);
  if (l == NULL || m->read - m->sent == CLC_SLOTS ||
      atomic_load_explicit(&label->to, memory_order_acquire) != 0)
    return 0;
  check_kept(L, l);
  label_piece(l, label, m->exchange->piece);
  label->exchange = m->exchange->number;
  m->addressee[slot] = l->other;
  const clc_Box from = part_of(l, label->row, label->col);
  const clc_Extent e = {1, label->rows, label->cols};
  clc_check(L, clc_moveslot(m->out, &from, &e, slot_of(s, slot), 1, &s->events[slot]),
            "clEnqueueReadBuffer");
  m->read++;
  clc_check(L, clFlush(m->out), "clFlush");
  return 1;
}

/* Has others know of the oldest piece, if it was read. */
static int send_oldest(lua_State *L, Mailbox *m) {
  Segment *s = &m->segments[m->own];
  const size_t slot = m->sent % CLC_SLOTS;
  cl_int code;
  if (m->sent == m->read || !clc_isended(s->events[slot], &code)) return 0;
  check_ended(L, m, code, "clEnqueueReadBuffer");
  clc_dropevent(&s->events[slot]);
  atomic_store_explicit(&label_of(s, slot)->to, m->addressee[slot] + 1, memory_order_release);
  m->sent++;
  return 1;
}

static int is_for(const Label *label, int rank) {
  return atomic_load_explicit(&label->to, memory_order_acquire) == rank + 1;
}

/* Begins to write what is in a slot, if it is for this rank. */
static int take(lua_State *L, Mailbox *m, int from, size_t slot) {
  Segment *s = &m->segments[from];
  const Label *label = label_of(s, slot);
  if (!is_for(label, m->own)) return 0;
  Load *l = find_target(m, from, label);
  if (l == NULL) return 0;
  check_kept(L, l);
  check_place(L, l, label);
  const clc_Box to = part_of(l, label->row, label->col);
  const clc_Extent e = {1, label->rows, label->cols};
  clc_check(L, clc_moveslot(m->in, &to, &e, slot_of(s, slot), 0, &s->events[slot]),
            "clEnqueueWriteBuffer");
  s->taken[slot] = l;
  clc_check(L, clFlush(m->in), "clFlush");
  return 1;
}

/* Empties a slot whose piece was written. */
static int empty(lua_State *L, Mailbox *m, int from, size_t slot) {
  Segment *s = &m->segments[from];
  Label *label = label_of(s, slot);
  cl_int code;
  if (!clc_isended(s->events[slot], &code)) return 0;
  check_ended(L, m, code, "clEnqueueWriteBuffer");
  clc_dropevent(&s->events[slot]);
  s->taken[slot]->left -= label->rows * label->cols;
  atomic_store_explicit(&label->to, 0, memory_order_release);
  return 1;
}

static int take_all(lua_State *L, Mailbox *m) {
  int has_moved = 0;
  for (int from = 0; from < m->count; from++) {
    const Segment *s = &m->segments[from];
    if (from == m->own || s->memory == NULL) continue;
    for (size_t slot = 0; slot < CLC_SLOTS; slot++)
      has_moved |= s->events[slot] != NULL ? empty(L, m, from, slot) : take(L, m, from, slot);
  }
  return has_moved;
}

static int is_over(const Mailbox *m) {
  const Exchange *x = m->exchange;
  for (size_t i = 0; i < x->n_loads; i++)
    if (x->loads[i].left > 0) return 0;
  return m->sent == m->read;
}

/* Whether something went on. */
static int advance(lua_State *L, Mailbox *m) {
  if (m->h.released) luaL_error(L, "device is released"); /* by a hook */
  int has_moved = send_oldest(L, m);
  has_moved |= read_next(L, m);
  return take_all(L, m) | has_moved;
}

static void unpack(lua_State *L, Load *l) {
  if (l->goal.buffer != NULL) {
    if (l->goal.buffer->h.released) luaL_error(L, "a buffer" CLC_RELEASED);
    clc_copybox(L, &l->box, &l->goal, &l->e);
  }
  if (l->packed != NULL) clc_release(&l->packed->h);
}

/* Whether a rank must do something before the exchange goes on: send what has not come, or empty
   a slot that is needed. What this process's device is at is not for others to do. */
static int is_awaited(const Mailbox *m, int rank) {
  Exchange *x = m->exchange;
  const Segment *s = &m->segments[rank];
  int has_more = 0;
  for (size_t slot = 0; slot < CLC_SLOTS && find_unread(x) != NULL; slot++)
    if (is_for(label_of(&m->segments[m->own], slot), rank)) return 1;
  for (size_t i = x->n_sent; i < x->n_loads; i++)
    has_more |= x->loads[i].other == rank && x->loads[i].left > 0;
  for (size_t slot = 0; slot < CLC_SLOTS && has_more; slot++)
    has_more = s->events[slot] == NULL && !is_for(label_of(s, slot), m->own);
  return has_more;
}

/* Calls check(rank, seconds, is_sure) of all ranks that are awaited, the value at index 2; returns
   whether one of them has said yes. */
static int check_peers(lua_State *L, const Mailbox *m, double seconds, int is_sure) {
  const Exchange *x = m->exchange;
  int is_suspect = 0;
  for (int rank = 0; rank < m->count && m->exchange == x; rank++) {
    if (rank == m->own || m->segments[rank].memory == NULL || !is_awaited(m, rank)) continue;
    lua_pushvalue(L, 2);
    lua_pushinteger(L, rank);
    lua_pushnumber(L, seconds);
    lua_pushboolean(L, is_sure);
    lua_call(L, 3, 1);
    is_suspect |= lua_toboolean(L, -1);
    lua_pop(L, 1);
  }
  return is_suspect;
}

/* complete(mailbox, check). The time of a wait begins afresh whenever something moves. A rank that
   is suspected may have sent all before it ended: it is checked once more when nothing has moved
   since. A hook may complete the exchange meanwhile. */
static int complete(lua_State *L) {
  Mailbox *m = lua_touserdata(L, 1);
  Exchange *x = m->exchange;
  clc_Wait w = clc_beginwait(L);
  w.spin = m->device->flight.spin;
  for (int is_suspect = 0; m->exchange == x && !is_over(m);) {
    const double waited = clc_now() - w.start;
    if (advance(L, m)) {
      w.start = clc_now();
      is_suspect = 0;
    } else if (waited < PATIENCE) {
      clc_pause(L, &w);
    } else {
      is_suspect = check_peers(L, m, waited, is_suspect);
      if (!is_suspect) clc_pause(L, &w);
    }
  }
  if (m->exchange != x) return 0;
  m->exchange = NULL;
  for (size_t i = 0; i < x->n_loads; i++) unpack(L, &x->loads[i]);
  return 0;
}

/* Nothing of an exchange that is given up is in flight afterwards. */
static void give_up(Mailbox *m) {
  m->exchange = NULL;
  m->sent = m->read;
  drop_events(m);
}

/* The value at index 1 is the mailbox, which keeps the buffers of an exchange no longer. */
static void forget(lua_State *L) {
  lua_pushnil(L);
  clc_setvalue(L, 1, 1);
}

/* What fails, as by Ctrl-C, is given up. */
static void call(lua_State *L, lua_CFunction f, Mailbox *m, int arg) {
  lua_pushcfunction(L, f);
  lua_pushlightuserdata(L, m);
  lua_pushvalue(L, arg);
  if (lua_pcall(L, 2, 0, 0) == LUA_OK) return;
  give_up(m);
  forget(L);
  lua_error(L);
}

/* deliver(mailbox, check): until all that was posted has gone and come. check(rank from 0, seconds
   without a piece, is_sure) tells whether nothing will come from a rank, and raises if it is sure.
 */
static int deliver(lua_State *L) {
  Mailbox *m = clc_checkhandle(L, 1, &mailbox_type);
  if (m->exchange == NULL) return 0;
  call(L, complete, m, 2);
  if (m->exchange == NULL) forget(L);
  return 0;
}

/* abandon(mailbox): after a failure of all ranks, before they agree on it; empty_slots(mailbox):
   after that, when nobody takes pieces of the exchange any more. */
static int abandon(lua_State *L) {
  Mailbox *m = clc_tohandle(L, 1, &mailbox_type);
  if (m == NULL || m->h.released) return 0; /* with its device */
  give_up(m);
  forget(L);
  return 0;
}

static int empty_slots(lua_State *L) {
  Mailbox *m = clc_tohandle(L, 1, &mailbox_type);
  for (size_t slot = 0; m != NULL && !m->h.released && slot < CLC_SLOTS; slot++)
    atomic_store_explicit(&label_of(&m->segments[m->own], slot)->to, 0, memory_order_release);
  return 0;
}

/* --- beginning one ------------------------------------------------------------ */

/* The value at the top keeps what is packed. */
static void pack(lua_State *L, Load *l, int comes) {
  if (!clc_wantspacking(&l->box, &l->e)) return;
  const clc_Box packed = clc_newpacked(L, l->box.buffer, &l->e);
  if (comes)
    l->goal = l->box;
  else
    clc_copybox(L, &l->box, &packed, &l->e);
  l->box = packed;
  l->packed = packed.buffer;
}

/* A load of a list of {source= or target=, at= or to_at=, size=, from=, to=}, ranks from 1. */
static Load read_load(lua_State *L, int move, int comes) {
  size_t size[2];
  clc_getpair(L, move, "size", size);
  Load l = {
      .box = comes ? clc_getbox(L, move, "target", "to_at") : clc_getbox(L, move, "source", "at"),
      .e = {1, size[0], size[1]},
      .left = size[0] * size[1]};
  lua_getfield(L, move, comes ? "from" : "to");
  l.other = (int)lua_tointeger(L, -1) - 1;
  lua_pop(L, 1);
  return l;
}

/* Loads of the list at an index, behind those there are; the table at the top keeps what is packed.
 */
static void read_loads(lua_State *L, int list, Exchange *x, int comes, int is_ready) {
  const size_t first = x->n_loads;
  for (lua_Integer i = 1; i <= luaL_len(L, list); i++) {
    lua_rawgeti(L, list, i);
    Load l = read_load(L, lua_gettop(L), comes);
    lua_pop(L, 1);
    for (size_t k = first; k < x->n_loads; k++) l.number += x->loads[k].other == l.other;
    if (comes)
      clc_beforechange(L, l.box.buffer, NULL);
    else
      clc_refuserecorded(L, l.box.buffer->device);
    if (!(comes && is_ready)) pack(L, &l, comes); /* its memory may be in use */
    x->loads[x->n_loads++] = l;
  }
}

/* Bytes that this rank sends. */
static size_t bytes_sent(const Exchange *x) {
  size_t bytes = 0;
  for (size_t i = 0; i < x->n_sent; i++) bytes += x->loads[i].left * size_of(&x->loads[i]);
  return bytes;
}

/* begin(mailbox, is_ready): what is read first begins to. */
static int begin(lua_State *L) {
  Mailbox *m = lua_touserdata(L, 1);
  clc_waitfordevice(L, m->device, m->out);
  if (!lua_toboolean(L, 2)) clc_waitfordevice(L, m->device, m->in);
  while (advance(L, m)) continue;
  return 0;
}

/* post(mailbox, number, sent, coming, is_ready): begins an exchange, of a number that all ranks
   have for it alone, behind what is queued until now; with is_ready, what comes is written behind
   what was queued at await_mail. None may be under way. */
static int post(lua_State *L) {
  Mailbox *m = clc_checkhandle(L, 1, &mailbox_type);
  lua_settop(L, 5);
  const int is_ready = lua_toboolean(L, 5);
  if (m->exchange != NULL) luaL_error(L, "ranks move something already"); /* in a hook */
  const size_t n = (size_t)(luaL_len(L, 3) + luaL_len(L, 4));
  Exchange *x = lua_newuserdatauv(L, sizeof *x + n * sizeof *x->loads, 1);
  *x = (Exchange){.number = (uint64_t)lua_tointeger(L, 2)};
  lua_createtable(L, 2, 0); /* what is packed, and the lists, of which each keeps its buffers */
  for (int list = 3; list <= 4; list++) {
    lua_pushvalue(L, list);
    lua_rawseti(L, 7, list - 2);
  }
  read_loads(L, 3, x, 0, is_ready);
  x->n_sent = x->n_loads;
  x->piece = clc_piecesize(bytes_sent(x), m->segments[m->own].room);
  read_loads(L, 4, x, 1, is_ready);
  lua_setiuservalue(L, 6, 1);
  clc_setvalue(L, 1, 1);
  m->exchange = x;
  call(L, begin, m, 5);
  return 0;
}

/* await_mail(mailbox): what comes from now on is written behind what is queued until now. */
static int await_mail(lua_State *L) {
  Mailbox *m = clc_checkhandle(L, 1, &mailbox_type);
  clc_waitfordevice(L, m->device, m->in);
  return 0;
}

/* --- making one --------------------------------------------------------------- */

/* mail_bytes(device): of a segment. */
static int mail_bytes(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)(LABELS + CLC_SLOTS * clc_slotroom(clc_checkdevice(L, 1))));
  return 1;
}

/* Memory that a GPU's driver knows moves at the speed of the bus; other memory at a fifth of it. */
static void pin(Mailbox *m, Segment *s, size_t bytes) {
  cl_int code;
  if (m->device->context->has_host_memory) return;
  s->pinned = clCreateBuffer(m->device->context->cl, CL_MEM_USE_HOST_PTR, bytes, s->memory, &code);
  if (code != CL_SUCCESS) s->pinned = NULL;
  if (s->pinned == NULL) return;
  s->mapped = clEnqueueMapBuffer(m->out, s->pinned, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes,
                                 0, NULL, NULL, &code);
  if (code != CL_SUCCESS) s->mapped = NULL;
}

/* mailbox(device, own rank, segments, bytes) --> mailbox: addresses and bytes by rank; false, where
   it is on another machine. The segments hold 0, and last as long as the process. */
static int new_mailbox(lua_State *L) {
  clc_Device *d = clc_checkdevice(L, 1);
  const int count = (int)luaL_len(L, 3);
  clc_usedevice(L, d);
  Mailbox *m = clc_newowned(L, &mailbox_type, d, (size_t)count * sizeof *m->segments);
  m->device = d;
  m->own = (int)lua_tointeger(L, 2) - 1;
  m->count = count;
  m->out = clc_newqueue(L, d);
  m->in = clc_newqueue(L, d);
  for (int rank = 0; rank < count; rank++) {
    Segment *s = &m->segments[rank];
    lua_rawgeti(L, 3, rank + 1);
    lua_rawgeti(L, 4, rank + 1);
    s->memory = lua_touserdata(L, -2);
    const size_t bytes = (size_t)lua_tointeger(L, -1);
    lua_pop(L, 2);
    if (s->memory == NULL) continue;
    s->room = (bytes - LABELS) / CLC_SLOTS;
    pin(m, s, bytes);
  }
  return 1;
}

void clc_openmail(lua_State *L) {
  static const luaL_Reg internal[] = {{"abandon", abandon},
                                      {"await_mail", await_mail},
                                      {"deliver", deliver},
                                      {"empty_slots", empty_slots},
                                      {"mail_bytes", mail_bytes},
                                      {"mailbox", new_mailbox},
                                      {"post", post},
                                      {NULL, NULL}};
  _Static_assert(CLC_SLOTS * sizeof(Label) <= LABELS, "labels are before the slots");
  clc_openhidden(L, &mailbox_type);
  clc_addinternal(L, internal);
}
