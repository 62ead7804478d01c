/* SPDX-License-Identifier: MIT */
/* Workers, as seen from the process that has one. */
#define _GNU_SOURCE /* MSG_CMSG_CLOEXEC */
#include "worker.h"

#include <ctype.h>
#include <errno.h>
#include <lauxlib.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files/files.h"
#include "sandbox.h"

#define START_LIMIT 60 /* seconds for Lua and the driver to begin: much more than they need */
#define PATIENCE 2     /* seconds that an idle one has to end by itself */

/* Milliseconds: Ctrl-C stays prompt where a driver's thread takes the signal. */
#define LONGEST_REST 5

void clc_initworker(clc_Worker *w) {
  memset(w, 0, sizeof *w);
  w->arena.fd = -1;
  w->process = CLC_NOPROCESS;
}

/* --- its process ------------------------------------------------------- */

static void drop_requests(clc_Worker *w) {
  free(w->out);
  w->out = NULL;
  w->used = w->room = 0;
  w->lost = 0;
}

/* Reaps the process, which ends when there is nothing to read, by force after so many seconds;
   returns waitpid's status. */
static int end_process(clc_Worker *w, double patience) {
  shutdown(w->process.socket, SHUT_RDWR);
  const int status = clc_reap(&w->process, patience);
  w->process.pid = 0;
  w->busy = 0;
  drop_requests(w);
  return status;
}

void clc_endworker(clc_Worker *w) {
  if (w->process.pid == 0) return;
  end_process(w, 0);
  clc_closeprocess(&w->process);
}

void clc_closeworker(clc_Worker *w) {
  if (w->process.pid != 0) {
    end_process(w, w->busy ? 0 : PATIENCE);
    clc_closeprocess(&w->process);
  }
  drop_requests(w);
  free(w->readable);
  w->readable = NULL;
  clc_closearena(&w->arena);
}

/* Whether a list with ":" between has a folder, or one above it. */
static int covers(const char *list, const char *folder, size_t length) {
  for (const char *p = list; p != NULL; p = strchr(p, ':') != NULL ? strchr(p, ':') + 1 : NULL) {
    const size_t n = strcspn(p, ":");
    if (n <= length && memcmp(p, folder, n) == 0 && (n == length || folder[n] == '/')) return 1;
  }
  return 0;
}

/* Without memory for it the compiler does not find the file, and says so. */
void clc_letread(clc_Worker *w, const char *folder, size_t length) {
  if (covers(w->readable, folder, length)) return;
  const size_t used = w->readable != NULL ? strlen(w->readable) + 1 : 0;
  char *list = malloc(used + length + 1);
  if (list == NULL) return;
  if (used > 0) snprintf(list, used + 1, "%s:", w->readable);
  memcpy(list + used, folder, length);
  list[used + length] = '\0';
  free(w->readable);
  w->readable = list;
  clc_endworker(w);
}

/* An idle process sends nothing: what can be read is its end. Processes that a kernel began may
   hold the connection open beyond it. */
static int is_alive(const clc_Worker *w) {
  char byte;
  return !clc_hasended(&w->process) &&
         recv(w->process.socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
         (errno == EAGAIN || errno == EINTR);
}

static void check_writable(lua_State *L, const char *folder) {
  if (access(lua_pushfstring(L, "%s/.", folder), W_OK | X_OK) != 0)
    luaL_error(L, "a worker cannot write to its folder %s: %s; set POCL_CACHE_DIR to another one",
               folder, strerror(errno));
  lua_pop(L, 1);
}

/* Pushes the folder in which a worker's driver keeps what it compiled. A confined one has its own:
   a kernel could put anything there, which another process would run. */
static const char *push_writable(lua_State *L) {
  const char *folder = clc_pushpoclfolder(L);
  if (!(clc_sandboxparts() & CLC_FILESPART)) return folder;
  folder = lua_pushfstring(L, "%s/isolated", folder);
  clc_makefolders(L, lua_pushfstring(L, "%s/", folder));
  lua_pop(L, 1);
  check_writable(L, folder);
  return folder;
}

/* Pushes the name of a platform; *before: how many others of that name come first. */
static const char *push_platform(lua_State *L, const clc_Place *place, uint64_t *before) {
  cl_uint n;
  const char *name = clc_pushplatformtext(L, place->platform, CL_PLATFORM_NAME);
  const cl_platform_id *ids = clc_pushplatforms(L, &n);
  *before = 0;
  for (cl_uint i = 0; i < n && ids[i] != place->platform; i++) {
    *before += strcmp(clc_pushplatformtext(L, ids[i], CL_PLATFORM_NAME), name) == 0;
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return name;
}

/* Leaves what it pushes. */
static void start_process(lua_State *L, clc_Worker *w, const clc_Place *place) {
  char room[1024];
  uint64_t before;
  clc_Answer answer;
  const char *lua = clc_findinterpreter(room, sizeof room);
  const char *platform = push_platform(L, place, &before), *writable = push_writable(L);
  const char *kernels = clc_pushkernelfolder(L);
  clc_letread(w, kernels, strlen(kernels));
  const int code = clc_spawn(&w->process, lua, writable, w->readable != NULL ? w->readable : "");
  if (code != 0)
    luaL_error(L, "cannot start a worker by %s: %s; CLCOMPUTE_LUA names another Lua interpreter",
               lua, strerror(code));
  w->generation++;
  const clc_Request open = {CLC_ASK_OPEN, (uint32_t)place->d, before, 0, strlen(platform), 0};
  if (!clc_ask(L, w, open, platform, (clc_TimeLimits){START_LIMIT, 0}, "its worker", &answer))
    luaL_error(L, "%s does not start as a worker: %s; CLCOMPUTE_LUA names another Lua interpreter",
               lua, w->fate);
  if (answer.code != CL_SUCCESS) {
    clc_endworker(w);
    clc_raise(L, answer.code, answer.call, "in the worker");
  }
}

void clc_startworker(lua_State *L, clc_Worker *w, const clc_Place *place) {
  const int top = lua_gettop(L);
  if (w->busy) luaL_error(L, "the worker of this device is computing: a hook cannot use it now");
  if (w->process.pid != 0 && !is_alive(w)) clc_endworker(w);
  if (w->process.pid == 0) start_process(L, w, place);
  lua_settop(L, top);
}

/* --- requests ---------------------------------------------------------- */

static int make_room(clc_Worker *w, size_t bytes) {
  if (w->used + bytes <= w->room) return 1;
  size_t room = w->room > 0 ? w->room : 4096;
  while (room < w->used + bytes) room *= 2;
  char *out = realloc(w->out, room);
  if (out == NULL) return 0;
  w->out = out;
  w->room = room;
  return 1;
}

/* A launch that came to nothing is not told of; what was let go of since is. */
static void drop_draft(clc_Worker *w) {
  size_t to = w->draft, size;
  for (size_t at = w->draft; at < w->used; at += size) {
    clc_Request r;
    memcpy(&r, w->out + at, sizeof r);
    size = sizeof r + r.bytes;
    if (r.ask != CLC_ASK_FORGET) continue;
    memmove(w->out + to, w->out + at, size);
    to += size;
  }
  if (w->draft < w->used) w->used = to;
  w->draft = w->used;
}

void clc_request(clc_Worker *w, clc_Request request, const void *bytes) {
  if (request.ask == CLC_ASK_KERNEL) drop_draft(w);
  if (!make_room(w, sizeof request + request.bytes)) {
    w->lost = 1;
    return;
  }
  memcpy(w->out + w->used, &request, sizeof request);
  if (request.bytes > 0) memcpy(w->out + w->used + sizeof request, bytes, request.bytes);
  w->used += sizeof request + request.bytes;
}

/* --- answers ----------------------------------------------------------- */

typedef struct {
  size_t sent, received;
  uint64_t mark;  /* of the answer */
  int enclosed;   /* a descriptor that goes with the first byte, or -1 */
  int is_opening; /* one that comes is the supervisor's */
  double running; /* since when a kernel runs; 0: it does not yet */
  double begun;   /* when a part of an answer came, which the rest should follow at once */
  int is_forged;  /* something else came in its place */
  int stopped;    /* the process, by a signal */
  int ended;      /* the process closed its end, or the connection broke */
  int fault;      /* that broke it, of the system */
} Exchange;

/* Room for one descriptor beside the bytes of a message: a second one is refused. */
typedef struct {
  _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  struct iovec part;
  struct msghdr message;
} Parcel;

static struct msghdr *wrap(Parcel *p, void *bytes, size_t size) {
  memset(p, 0, sizeof *p);
  p->part = (struct iovec){bytes, size};
  p->message = (struct msghdr){.msg_iov = &p->part,
                               .msg_iovlen = 1,
                               .msg_control = p->control,
                               .msg_controllen = CMSG_LEN(sizeof(int))};
  return &p->message;
}

static ssize_t send_enclosed(const clc_Worker *w, int descriptor) {
  Parcel p;
  struct cmsghdr *header = CMSG_FIRSTHDR(wrap(&p, w->out, w->used));
  *header = (struct cmsghdr){
      .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
  memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  return sendmsg(w->process.socket, &p.message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static ssize_t send_more(const clc_Worker *w, const Exchange *x) {
  if (x->sent == 0 && x->enclosed >= 0) return send_enclosed(w, x->enclosed);
  return send(w->process.socket, w->out + x->sent, w->used - x->sent, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* A kernel may have sent the descriptor, so it is taken at the start alone. */
static ssize_t receive_more(clc_Worker *w, const Exchange *x, clc_Answer *answer) {
  Parcel p;
  int descriptor = -1;
  wrap(&p, (char *)answer + x->received, sizeof *answer - x->received);
  const ssize_t n = recvmsg(w->process.socket, &p.message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  const struct cmsghdr *header = n > 0 ? CMSG_FIRSTHDR(&p.message) : NULL;
  if (header != NULL && header->cmsg_type == SCM_RIGHTS)
    memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
  if (descriptor >= 0 && x->is_opening && w->process.supervisor < 0)
    w->process.supervisor = descriptor;
  else if (descriptor >= 0)
    close(descriptor);
  return n;
}

/* Whether the connection broke: the result of send or recv. */
static int note_fault(Exchange *x, ssize_t n) {
  if (n >= 0 || errno == EAGAIN || errno == EINTR) return 0;
  x->fault = errno;
  return 1;
}

/* What is no answer is dropped, and is_stuck ends its process; a note is taken, and makes room for
   what comes behind it. */
static void take_note(Exchange *x, const clc_Answer *answer) {
  if (x->received >= sizeof answer->mark && answer->mark != x->mark) {
    x->is_forged = 1;
    x->received = 0;
    return;
  }
  if (x->received < sizeof *answer || answer->code <= 0) return;
  if (answer->code == CLC_NOTE_RUNNING && x->running == 0) x->running = clc_now();
  x->received = 0;
}

/* As far as it goes without waiting. */
static void exchange(clc_Worker *w, Exchange *x, clc_Answer *answer) {
  ssize_t n;
  while (x->sent < w->used && !x->ended) {
    n = send_more(w, x);
    if (n <= 0) {
      x->ended = note_fault(x, n);
      break;
    }
    x->sent += (size_t)n;
  }
  n = receive_more(w, x, answer);
  if (n > 0 && x->received == 0) x->begun = clc_now();
  if (n > 0) x->received += (size_t)n;
  if (n == 0 || note_fault(x, n)) x->ended = 1;
  take_note(x, answer);
}

static int check_script(lua_State *L) {
  clc_checkwait(L, lua_touserdata(L, 1));
  return 0;
}

/* Gives the processor away: after a while until there is something to read, a task to decide on, or
   to look at interrupts again. */
static void rest(clc_Worker *w, Exchange *x, double waited) {
  struct pollfd p[2] = {{w->process.socket, POLLIN, 0}, {w->process.supervisor, POLLIN, 0}};
  if (x->sent < w->used) p[0].events |= POLLOUT;
  if (waited < CLC_SPIN)
    clc_rest(waited);
  else if (poll(p, 2, LONGEST_REST) <= 0) {
    x->ended = clc_hasended(&w->process);
    x->stopped = clc_hasstopped(&w->process);
  } else if (p[1].revents & POLLIN)
    clc_supervise(w->process.supervisor, &w->process.tasks);
}

/* Has the message of an interrupt, at the top, name what it ended: "kernel 'f': interrupted!". */
static void name_ended(lua_State *L, const char *what) {
  static const char words[] = "interrupted!";
  const size_t tail = sizeof words - 1, length = lua_rawlen(L, -1);
  const char *message = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
  if (length < tail || strcmp(message + length - tail, words) != 0) return;
  lua_pushlstring(L, message, length - tail);
  lua_pushfstring(L, "%s%s: %s", lua_tostring(L, -1), what, words);
}

/* An interrupted script does not wait for the answer, so nobody ever will. */
static void check_or_end(lua_State *L, clc_Worker *w, clc_Wait *wait, const char *what) {
  luaL_checkstack(L, 5, NULL);
  lua_pushcfunction(L, check_script);
  lua_pushlightuserdata(L, wait);
  if (lua_pcall(L, 1, 0, 0) == LUA_OK) return;
  clc_endworker(w);
  name_ended(L, what);
  lua_error(L);
}

/* What it died of comes before what that did to the connection. */
static int note_end(clc_Worker *w, int fault) {
  const int status = end_process(w, PATIENCE);
  w->memory_fault = status != -1 && WIFSIGNALED(status) &&
                    (WTERMSIG(status) == SIGSEGV || WTERMSIG(status) == SIGBUS);
  const int n = snprintf(w->fate, sizeof w->fate, "its worker process ");
  const int is_own = fault != 0 && fault != EPIPE && fault != ECONNRESET; /* not of its end */
  const int by_us = status != -1 && (!WIFSIGNALED(status) || WTERMSIG(status) == SIGKILL);
  if (is_own && by_us)
    snprintf(w->fate + n, sizeof w->fate - (size_t)n, "was lost: %s", strerror(fault));
  else
    clc_describedeath(&w->process, status, w->fate + n, sizeof w->fate - (size_t)n);
  clc_closeprocess(&w->process);
  return 0;
}

/* Whether a kernel has stopped the process, or written into the connection; then it is ended. */
static int is_stuck(clc_Worker *w, const Exchange *x) {
  const int is_cut = x->is_forged || (x->received > 0 && clc_now() - x->begun > PATIENCE);
  if (!x->stopped && !is_cut) return 0;
  clc_endworker(w);
  snprintf(w->fate, sizeof w->fate, "its worker process %s, and was ended",
           x->stopped ? "was stopped" : "sent what is no answer");
  return 1;
}

/* Whether a limit has passed; then the process is ended. */
static int passes_limit(clc_Worker *w, const Exchange *x, double start, clc_TimeLimits limits) {
  const int runs = x->running > 0;
  const double limit = runs ? limits.run : limits.build;
  if (clc_now() - (runs ? x->running : start) <= limit) return 0;
  clc_endworker(w);
  snprintf(w->fate, sizeof w->fate, "not %s within the limit of %g seconds, and ended%s",
           runs ? "done" : "ready", limit,
           runs ? " (a loop that does not end, or a barrier that not all work-items reach; option "
                  "'limit')"
                : " (option 'build_limit')");
  return 1;
}

/* Whether the worker's driver compiles what it is to launch. */
static int compiles(clc_Request request, const Exchange *x) {
  return request.ask == CLC_ASK_LAUNCH && x->running == 0;
}

static int note_lost(clc_Worker *w) {
  clc_endworker(w);
  snprintf(w->fate, sizeof w->fate, "not enough memory for what it was to be told");
  return 0;
}

/* What is to be shown as the name of a call. */
static void make_word(char *text, size_t room) {
  text[room - 1] = '\0';
  for (; *text != '\0'; text++)
    if (!isalnum((unsigned char)*text) && *text != '_') *text = '?';
}

int clc_ask(lua_State *L, clc_Worker *w, clc_Request request, const void *bytes,
            clc_TimeLimits limits, const char *what, clc_Answer *answer) {
  const int is_opening = request.ask == CLC_ASK_OPEN;
  request.mark = is_opening ? 0 : ++w->asked; /* what it says first it says unasked */
  Exchange x = {.mark = request.mark,
                .enclosed = request.ask == CLC_ASK_LAUNCH ? w->arena.fd : -1,
                .is_opening = is_opening};
  const int top = lua_gettop(L);
  clc_Wait wait = clc_beginwait(L);
  const uint64_t generation = w->generation;
  clc_hear(&w->process);
  clc_request(w, request, bytes);
  w->draft = SIZE_MAX; /* it goes out, with all before it */
  if (w->lost) return note_lost(w);
  w->busy = 1;
  w->memory_fault = 0;
  w->process.tasks = clc_mosttasks();
  for (exchange(w, &x, answer); x.received < sizeof *answer; exchange(w, &x, answer)) {
    if (x.ended) return note_end(w, x.fault);
    if (is_stuck(w, &x) || passes_limit(w, &x, wait.start, limits)) return 0;
    const double waited = clc_now() - wait.start;
    if (waited > CLC_UNTOLD) clc_telllate(L, top, compiles(request, &x) ? what : NULL);
    rest(w, &x, waited);
    check_or_end(L, w, &wait, what);
    if (w->generation != generation || w->process.pid == 0)
      luaL_error(L, "the device was closed meanwhile");
  }
  lua_settop(L, top);
  make_word(answer->call, sizeof answer->call); /* a kernel may have written anywhere */
  w->busy = 0;
  w->used -= x.sent; /* what a hook let go of meanwhile may not have gone out */
  memmove(w->out, w->out + x.sent, w->used);
  return 1;
}
