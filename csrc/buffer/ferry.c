/* SPDX-License-Identifier: MIT */
/*
 * Ferries: boxes on their way to devices of other contexts. What begins one does not wait; what
 * completes it waits until all is read, and leaves the writing to the queues. A piece goes on when
 * its reading is seen to have ended: a command that waits for an event of another context would do
 * without a look, but NVIDIA's driver takes 20 ms to notice that event.
 */
#include "ferry.h"

#include <stdint.h>

/* Bytes from which two queues and their events cost less than a transfer that blocks. */
#define FROM_GPU ((size_t)16 << 10)
#define FROM_CPU ((size_t)1 << 20)

/* Rows shorter than ROW go packed: a GPU packs and unpacks them at the speed of its memory, and its
   driver moves short ones that lie far apart at a sixth of the speed of others. Above MUCH the
   memory that takes is not spent. */
#define ROW ((size_t)64 << 10)
#define MUCH ((size_t)256 << 20)

/* A box and how much of it is on its way; packed boxes stand for those of the caller. */
typedef struct {
  clc_Box from, to;
  clc_Box goal;                  /* where `to` is unpacked */
  clc_Extent unpacks;            /* no rows: `to` is the goal */
  clc_Buffer *packed, *unpacked; /* or NULL */
  clc_Extent e;
  clc_Port *source, *target;
  size_t slice, row, col; /* the first element that was not read */
} Load;

struct clc_Ferry {
  clc_Handle h;
  int n, is_done;
  int is_ready; /* the targets' ports know already what to wait for */
  double begun;
  Load loads[];
};

static void leave_ports(clc_Ferry *f) {
  for (int i = 0; i < f->n; i++)
    if (f->loads[i].source->user == f) f->loads[i].source->user = NULL;
}

/* Nothing of one that was given up is in flight afterwards. */
static void ferry_release(clc_Handle *h) {
  clc_Ferry *f = (clc_Ferry *)h;
  if (f->is_done) return;
  f->is_done = 1;
  for (int i = 0; i < f->n; i++) {
    clc_Port *source = f->loads[i].source;
    clc_finishport(source);
    clc_finishport(f->loads[i].target);
    if (source->user == f) clc_emptyslots(source);
  }
  leave_ports(f);
}

const clc_Type clc_ferrytype = {
    "copy between devices", "clcompute.Ferry", sizeof(clc_Ferry), ferry_release, 0, NULL};

/* --- pieces ----------------------------------------------------------------- */

static size_t size_of(const Load *l) {
  return l->from.buffer->dtype->size;
}

static int is_read(const Load *l) {
  return l->slice == l->e.slices;
}

static clc_Box part_of(const clc_Box *b, const Load *l) {
  clc_Box part = *b;
  part.first += l->slice * b->slice + l->row * b->row + l->col;
  part.slice = 0;
  return part;
}

static void step_over(Load *l, const clc_Extent *e) {
  l->col = (l->col + e->cols) % l->e.cols;
  if (l->col == 0) l->row += e->rows;
  if (l->row == l->e.rows) {
    l->row = 0;
    l->slice++;
  }
}

/* Bytes of a piece, of all that a source has to send. */
static size_t piece_size(const clc_Ferry *f, const clc_Port *source) {
  size_t bytes = 0;
  for (int i = 0; i < f->n; i++)
    if (f->loads[i].source == source)
      bytes += clc_countelements(&f->loads[i].e) * size_of(&f->loads[i]);
  return clc_piecesize(bytes, source->room);
}

/* Takes a piece of at most so many bytes off a load. */
static clc_Piece take_piece(Load *l, size_t most) {
  const size_t size = size_of(l), row = l->e.cols * size;
  clc_Piece p = {
      part_of(&l->from, l), part_of(&l->to, l), {1, 1, l->e.cols - l->col}, l->target, NULL};
  if (l->col > 0 || row > most) {
    if (p.e.cols > most / size) p.e.cols = most / size;
  } else {
    p.e.rows = most / row < l->e.rows - l->row ? most / row : l->e.rows - l->row;
  }
  step_over(l, &p.e);
  return p;
}

/* The load that a port reads next, or NULL. */
static Load *find_load(clc_Ferry *f, const clc_Port *source) {
  for (int i = 0; i < f->n; i++)
    if (f->loads[i].source == source && !is_read(&f->loads[i])) return &f->loads[i];
  return NULL;
}

/* --- commands --------------------------------------------------------------- */

static void check_kept(lua_State *L, const clc_Piece *p) {
  if (p->from.buffer->h.released || p->to.buffer->h.released)
    luaL_error(L, "a buffer" CLC_RELEASED); /* by a hook */
}

static void flush(lua_State *L, cl_command_queue queue) {
  clc_check(L, clFlush(queue), "clFlush");
}

/* Begins to read the next piece, if there is one and a slot for it. */
static int read_next(lua_State *L, clc_Ferry *f, clc_Port *p) {
  const size_t slot = p->read % CLC_SLOTS;
  cl_int code;
  Load *l = find_load(f, p);
  if (l == NULL || p->read - p->sent == CLC_SLOTS) return 0;
  if (p->written[slot] != NULL) {
    if (!clc_isended(p->written[slot], &code)) return 0;
    clc_dropevent(&p->written[slot]);
  }
  clc_Piece *piece = &p->pieces[slot];
  *piece = take_piece(l, piece_size(f, p));
  check_kept(L, piece);
  code = clc_moveslot(p->out, &piece->from, &piece->e, clc_slotof(p, p->read), 1, &piece->read);
  if (code != CL_SUCCESS) piece->read = NULL;
  clc_check(L, code, "clEnqueueReadBuffer");
  p->read++;
  flush(L, p->out);
  return 1;
}

static void fail(lua_State *L, const clc_Piece *piece, cl_int code) {
  clc_report(L, piece->from.buffer->device); /* what went wrong before it */
  clc_report(L, piece->to.buffer->device);
  clc_check(L, code, "clEnqueueReadBuffer");
}

/* Begins to write the oldest piece, if it was read. */
static int send_oldest(lua_State *L, clc_Port *p) {
  const size_t slot = p->sent % CLC_SLOTS;
  clc_Piece *piece = &p->pieces[slot];
  cl_int code;
  if (p->sent == p->read || !clc_isended(piece->read, &code)) return 0;
  if (code != CL_COMPLETE) fail(L, piece, code);
  check_kept(L, piece);
  clc_Port *to = piece->target;
  code = clc_moveslot(to->in, &piece->to, &piece->e, clc_slotof(p, p->sent), 0, &p->written[slot]);
  if (code != CL_SUCCESS) p->written[slot] = NULL;
  clc_check(L, code, "clEnqueueWriteBuffer");
  clc_dropevent(&to->arrived);
  clRetainEvent(to->arrived = p->written[slot]);
  clc_dropevent(&piece->read);
  p->sent++;
  flush(L, to->in);
  return 1;
}

/* --- from begin to end ------------------------------------------------------ */

static void check_ports(lua_State *L, const Load *l) {
  if (l->source->h.released || l->target->h.released) luaL_error(L, "device is released");
}

/* Whether something went on; *is_over: all is read and sent. */
static int advance(lua_State *L, clc_Ferry *f, int *is_over) {
  int has_moved = 0;
  *is_over = 1;
  for (int i = 0; i < f->n; i++) {
    const Load *l = &f->loads[i];
    check_ports(L, l);
    has_moved |= send_oldest(L, l->source);
    has_moved |= read_next(L, f, l->source);
    *is_over &= is_read(l) && l->source->sent == l->source->read;
  }
  return has_moved;
}

static void count(const clc_Ferry *f) {
  const cl_ulong ns = (cl_ulong)((clc_now() - f->begun) * 1e9);
  for (int i = 0; i < f->n; i++) {
    const Load *l = &f->loads[i];
    const size_t bytes = clc_countelements(&l->e) * size_of(l);
    clc_Counter *read = clc_transfercounter(l->source->device, CLC_READ);
    clc_Counter *written = clc_transfercounter(l->target->device, CLC_WRITE);
    if (read != NULL) clc_addcall(read, ns, bytes);
    if (written != NULL) clc_addcall(written, ns, bytes);
  }
}

/* The memory of what was packed serves others: their commands come behind those of this one. */
static void unpack(lua_State *L, Load *l) {
  if (l->unpacks.rows > 0) {
    if (l->goal.buffer->h.released) luaL_error(L, "a buffer" CLC_RELEASED);
    clc_copybox(L, &l->to, &l->goal, &l->unpacks);
  }
  if (l->packed != NULL) clc_release(&l->packed->h);
  if (l->unpacked != NULL) clc_release(&l->unpacked->h);
}

/* A hook may complete it meanwhile. The time of a wait begins afresh whenever something moves, so
   that it looks often. */
static int complete(lua_State *L) {
  clc_Ferry *f = lua_touserdata(L, 1);
  clc_Wait w = clc_beginwait(L);
  for (int is_over = 0; !f->is_done && !is_over;) {
    if (advance(L, f, &is_over))
      w.start = clc_now();
    else if (!is_over)
      clc_pause(L, &w);
  }
  for (int i = 0; i < f->n && !f->is_done; i++) clc_landarrived(L, f->loads[i].target);
  if (f->is_done) return 0;
  count(f);
  leave_ports(f);
  f->is_done = 1;
  for (int i = 0; i < f->n; i++) unpack(L, &f->loads[i]);
  return 0;
}

/* One that fails, as by Ctrl-C, is given up. */
static void call(lua_State *L, lua_CFunction step, clc_Ferry *f) {
  luaL_checkstack(L, 5, NULL);
  lua_pushcfunction(L, step);
  lua_pushlightuserdata(L, f);
  if (lua_pcall(L, 1, 0, 0) == LUA_OK) return;
  clc_release(&f->h);
  lua_error(L);
}

void clc_completeferry(lua_State *L, clc_Ferry *f) {
  call(L, complete, f);
}

/* --- beginning one ---------------------------------------------------------- */

int clc_wantspacking(const clc_Box *b, const clc_Extent *e) {
  const size_t row = e->cols * b->buffer->dtype->size;
  return !b->buffer->device->context->has_host_memory && !clc_ispacked(b, e) && e->rows > 1 &&
         row < ROW && clc_countelements(e) * b->buffer->dtype->size <= MUCH;
}

clc_Box clc_newpacked(lua_State *L, const clc_Buffer *like, const clc_Extent *e) {
  const clc_Shape shape = {1, {clc_countelements(e)}};
  clc_Buffer *b = clc_newbuffer(L, like->device, like->dtype, &shape);
  lua_rawseti(L, -2, luaL_len(L, -2) + 1);
  return (clc_Box){.buffer = b, .row = e->cols, .slice = e->rows * e->cols};
}

/* Where rows are short, packed boxes take part in their place. New memory of a target that is ready
   may be in use by what was queued since. */
static void pack(lua_State *L, Load *l, int is_ready) {
  const clc_Extent e = l->e;
  if (clc_wantspacking(&l->from, &e)) {
    const clc_Box packed = clc_newpacked(L, l->from.buffer, &e);
    clc_copybox(L, &l->from, &packed, &e);
    l->from = packed;
    l->packed = packed.buffer;
  }
  if (!is_ready && clc_wantspacking(&l->to, &e)) {
    l->goal = l->to;
    l->unpacks = e;
    l->to = clc_newpacked(L, l->to.buffer, &e);
    l->unpacked = l->to.buffer;
  }
  if (clc_ispacked(&l->from, &e) && clc_ispacked(&l->to, &e))
    l->e = (clc_Extent){1, 1, clc_countelements(&e)};
}

/* Pushes one with its loads. Its user value keeps the ports, and the memory of what is packed. */
static clc_Ferry *push_new(lua_State *L, const clc_Passage *list, int n, int is_ready) {
  clc_Ferry *f = clc_newhandle(L, &clc_ferrytype, NULL, (size_t)n * sizeof(Load));
  f->is_done = 1; /* until it uses a port */
  f->is_ready = is_ready;
  lua_createtable(L, 4 * n, 0);
  for (int i = 0; i < n; i++) {
    Load *l = &f->loads[i];
    *l = (Load){.from = list[i].from, .to = list[i].to, .e = list[i].e};
    l->source = clc_pushport(L, l->from.buffer->device);
    lua_rawseti(L, -2, luaL_len(L, -2) + 1);
    l->target = clc_pushport(L, l->to.buffer->device);
    lua_rawseti(L, -2, luaL_len(L, -2) + 1);
    pack(L, l, is_ready);
  }
  lua_setiuservalue(L, -2, 1);
  f->n = n;
  return f;
}

/* What others have in the slots goes first. A hook of the one wait may begin another. */
static void clear_ports(lua_State *L, const clc_Ferry *f) {
  for (int i = 0; i < f->n; i++) {
    clc_Ferry *other = f->loads[i].source->user;
    if (other == NULL) continue;
    clc_completeferry(L, other);
    i = -1;
  }
}

/* What is queued on both devices comes first, and what is read begins to. */
static int take_ports(lua_State *L) {
  clc_Ferry *f = lua_touserdata(L, 1);
  for (int i = 0; i < f->n; i++) {
    check_ports(L, &f->loads[i]);
    f->loads[i].source->user = f;
    f->is_done = 0;
    clc_waitfordevice(L, f->loads[i].source->device, f->loads[i].source->out);
    if (!f->is_ready) clc_waitfordevice(L, f->loads[i].target->device, f->loads[i].target->in);
  }
  f->begun = clc_now();
  for (int is_over = 0; advance(L, f, &is_over);) continue;
  return 0;
}

clc_Ferry *clc_beginferry(lua_State *L, const clc_Passage *list, int n, int is_ready) {
  luaL_checkstack(L, 10, NULL);
  for (int i = 0; i < n; i++) {
    clc_beforechange(L, list[i].to.buffer, list[i].from.buffer);
    clc_refuserecorded(L, list[i].from.buffer->device);
  }
  clc_Ferry *f = push_new(L, list, n, is_ready);
  clear_ports(L, f);
  call(L, take_ports, f);
  return f;
}

int clc_isapart(const clc_Passage *p) {
  return p->from.buffer->device->context != p->to.buffer->device->context;
}

int clc_mustferry(const clc_Passage *p) {
  const clc_Context *a = p->from.buffer->device->context, *b = p->to.buffer->device->context;
  const size_t least = a->has_host_memory && b->has_host_memory ? FROM_CPU : FROM_GPU;
  return clc_isapart(p) && clc_countelements(&p->e) * p->from.buffer->dtype->size >= least &&
         b->recording == NULL;
}
