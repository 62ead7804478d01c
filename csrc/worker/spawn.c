/* SPDX-License-Identifier: MIT */
/* Starting the process of a worker, ending it, and what it died of. */
#define _GNU_SOURCE /* dladdr, memfd_create, SOCK_CLOEXEC */
#include "worker.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "sandbox.h"

#define CODE "assert(package.loadlib(os.getenv 'CLCOMPUTE_WORKER', 'luaopen_clcompute_worker'))()"

extern char **environ;

/* --- which interpreter ------------------------------------------------- */

/* "lua", "lua5.4", "lua-asan", but no luatex. */
static int is_lua(const char *path) {
  const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
  return strncmp(name, "lua", 3) == 0 && (name[3] == '\0' || strchr("5.-", name[3]) != NULL);
}

const char *clc_findinterpreter(char *room, size_t size) {
  const char *given = getenv("CLCOMPUTE_LUA");
  if (given != NULL && *given != '\0') return given;
  const ssize_t n = readlink("/proc/self/exe", room, size - 1);
  if (n > 0) {
    room[n] = '\0';
    if (is_lua(room)) return room;
  }
  return "lua5.4";
}

/* --- starting ---------------------------------------------------------- */

/* What an interpreter, the loader of drivers and a driver look for; beginnings of names. All else
   stays here, keys and passwords among it. */
static const char *const passed[] = {"PATH=",   "LANG=", "LC_",    "LD_",       "OCL_",
                                     "OPENCL_", "POCL_", "HWLOC_", "CLCOMPUTE_"};

static int begins(const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}

static int is_passed(const char *variable) {
  static const char *const own[] = {"CLCOMPUTE_WORKER=", CLC_WRITABLE "=", CLC_READABLE "="};
  for (size_t i = 0; i < sizeof own / sizeof *own; i++)
    if (begins(variable, own[i])) return 0;
  for (size_t i = 0; i < sizeof passed / sizeof *passed; i++)
    if (begins(variable, passed[i])) return 1;
  return 0;
}

/* A new "NAME=value", or NULL with errno set. */
static char *make_variable(const char *name, const char *value) {
  const size_t size = strlen(name) + strlen(value) + 2;
  char *variable = malloc(size);
  if (variable != NULL) snprintf(variable, size, "%s=%s", name, value);
  return variable;
}

/* The file that holds this function. */
static char *make_module(void) {
  Dl_info module;
  static const char marker = 0;
  if (dladdr(&marker, &module) == 0) {
    errno = ENOENT;
    return NULL;
  }
  char *path = realpath(module.dli_fname, NULL);
  char *variable = path != NULL ? make_variable("CLCOMPUTE_WORKER", path) : NULL;
  free(path);
  return variable;
}

#define ADDED 4 /* variables, before those that are passed */

/* The environment of a worker, or NULL with errno set. */
static char **make_environment(const char *writable, const char *readable) {
  size_t room = ADDED + 1, n = 0;
  for (char **e = environ; *e != NULL; e++) room++;
  char **list = calloc(room, sizeof *list);
  if (list == NULL) return NULL;
  list[n++] = make_module();
  list[n++] = make_variable(CLC_WRITABLE, writable);
  list[n++] = make_variable(CLC_READABLE, readable);
  list[n++] = make_variable("TMPDIR", writable);
  for (char **e = environ; *e != NULL; e++)
    if (is_passed(*e)) list[n++] = *e;
  return list;
}

static int is_complete(char **environment) {
  for (int i = 0; environment != NULL && i < ADDED; i++)
    if (environment[i] == NULL) return 0;
  return environment != NULL;
}

static void free_environment(char **environment) {
  for (int i = 0; environment != NULL && i < ADDED; i++) free(environment[i]);
  free(environment);
}

/* A copy above the descriptors that the worker's take, or -1 with errno set. */
static int copy_up(int fd) {
  const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 10);
  if (copy < 0 && errno == EINVAL) errno = EMFILE; /* it has room for fewer than that */
  return copy;
}

static int move_up(int fd) {
  if (fd < 0) return fd;
  const int moved = copy_up(fd), code = errno;
  close(fd);
  errno = code;
  return moved;
}

/* A file in memory, to which writers append. */
static int open_output(const char *name) {
  const int fd = move_up(memfd_create(name, MFD_CLOEXEC));
  if (fd >= 0) fcntl(fd, F_SETFL, O_APPEND);
  return fd;
}

/* Ours and the worker's end of the socket, and the files; returns 0 with errno set. */
static int open_descriptors(clc_Process *p, int *theirs) {
  int ends[2];
  p->stdout_fd = open_output("clcompute stdout");
  p->stderr_fd = open_output("clcompute stderr");
  p->heard = 0;
  if (p->stdout_fd < 0 || p->stderr_fd < 0 ||
      socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return 0;
  p->socket = move_up(ends[0]);
  *theirs = move_up(ends[1]);
  return p->socket >= 0 && *theirs >= 0;
}

void clc_closefrom(int first) {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, first, ~0U, 0) == 0) return;
#endif
  for (int fd = first; fd < sysconf(_SC_OPEN_MAX); fd++) close(fd);
}

void clc_setspawn(posix_spawnattr_t *a, int flag) {
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_init(a);
  posix_spawnattr_setflags(a, (short)(flag | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
  posix_spawnattr_setpgroup(a, 0);
  posix_spawnattr_setsigmask(a, &none);
  posix_spawnattr_setsigdefault(a, &all);
}

/* Its standard files and its socket; returns an error's number. */
static int set_files(posix_spawn_file_actions_t *files, const clc_Process *p, int theirs) {
  int code = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (code == 0) code = posix_spawn_file_actions_adddup2(files, p->stdout_fd, STDOUT_FILENO);
  if (code == 0) code = posix_spawn_file_actions_adddup2(files, p->stderr_fd, STDERR_FILENO);
  return code != 0 ? code : posix_spawn_file_actions_adddup2(files, theirs, CLC_SOCKET_FD);
}

static int spawn(clc_Process *p, const char *lua, int theirs, char **environment) {
  char *const argv[] = {(char *)lua, "-e", CODE, NULL};
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  /* a group of its own: Ctrl-C is ours alone, and what it started ends with it */
  clc_setspawn(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawn_file_actions_init(&files);
  int code = set_files(&files, p, theirs);
  if (code == 0) code = posix_spawnp(&p->pid, lua, &files, &attributes, argv, environment);
  if (code != 0) p->pid = 0;
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  return code;
}

int clc_spawn(clc_Process *p, const char *lua, const char *writable, const char *readable) {
  int theirs = -1;
  *p = CLC_NOPROCESS;
  char **environment = make_environment(writable, readable);
  int code = is_complete(environment) ? 0 : errno;
  if (code == 0) code = open_descriptors(p, &theirs) ? spawn(p, lua, theirs, environment) : errno;
  free_environment(environment);
  if (theirs >= 0) close(theirs);
  if (code != 0) clc_closeprocess(p);
  return code;
}

/* --- what it printed ----------------------------------------------------- */

void clc_dropoutput(const clc_Process *p) {
  if (p->stdout_fd >= 0 && ftruncate(p->stdout_fd, 0) != 0) return; /* it cannot fail */
}

void clc_passoutput(const clc_Process *p) {
  char piece[4096];
  off_t at = 0;
  if (p->is_kept || p->stdout_fd < 0) return;
  for (ssize_t n; (n = pread(p->stdout_fd, piece, sizeof piece, at)) > 0; at += n)
    fwrite(piece, 1, (size_t)n, stdout);
  if (at == 0) return;
  fflush(stdout);
  clc_dropoutput(p);
}

/* --- ending ------------------------------------------------------------ */

void clc_closeprocess(clc_Process *p) {
  p->is_kept = 0;
  clc_passoutput(p);
  if (p->stdout_fd >= 0) close(p->stdout_fd);
  if (p->socket >= 0) close(p->socket);
  if (p->stderr_fd >= 0) close(p->stderr_fd);
  if (p->supervisor >= 0) close(p->supervisor);
  *p = CLC_NOPROCESS;
}

int clc_hasended(const clc_Process *p) {
  siginfo_t info = {.si_pid = 0};
  return waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0;
}

int clc_hasstopped(const clc_Process *p) {
  siginfo_t info = {.si_pid = 0};
  return waitid(P_PID, (id_t)p->pid, &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
}

/* Where the program has children reaped by the system, their status is lost: -1. */
int clc_reap(clc_Process *p, double patience) {
  const double start = clc_now();
  int status = -1;
  while (patience > 0 && !clc_hasended(p) && clc_now() - start < patience)
    clc_rest(clc_now() - start);
  kill(-p->pid, SIGKILL); /* and what it may have started */
  while (waitpid(p->pid, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return status;
}

/* --- what it died of --------------------------------------------------- */

static const struct {
  int number;
  const char *name;
} signals[] = {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},   {SIGABRT, "SIGABRT"},
               {SIGFPE, "SIGFPE"},   {SIGILL, "SIGILL"},   {SIGTRAP, "SIGTRAP"},
               {SIGSYS, "SIGSYS"},   {SIGXFSZ, "SIGXFSZ"}, {SIGKILL, "SIGKILL"},
               {SIGTERM, "SIGTERM"}};

void clc_hear(clc_Process *p) {
  p->heard = p->stderr_fd >= 0 ? lseek(p->stderr_fd, 0, SEEK_END) : 0;
}

static void drop_line_ends(char *text) {
  size_t length = strlen(text);
  while (length > 0 && text[length - 1] == '\n') text[--length] = '\0';
}

/* The last line since then that is not empty; POCL has a note for a last line. */
static void read_last_line(const clc_Process *p, char *line, size_t size) {
  const off_t end = lseek(p->stderr_fd, 0, SEEK_END), first = end - (off_t)size + 1;
  const ssize_t n = pread(p->stderr_fd, line, size - 1, first > p->heard ? first : p->heard);
  line[n > 0 ? n : 0] = '\0';
  drop_line_ends(line);
  char *start = strrchr(line, '\n');
  if (start != NULL && strncmp(start, "\nnote: ", 7) == 0) {
    *start = '\0';
    drop_line_ends(line);
    start = strrchr(line, '\n');
  }
  if (start != NULL) memmove(line, start + 1, strlen(start));
  for (char *c = line; *c != '\0'; c++) /* a kernel may have written it, for a terminal to obey */
    if (iscntrl((unsigned char)*c)) *c = '?';
}

static void describe_signal(int number, char *text, size_t size) {
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
    if (signals[i].number == number) {
      snprintf(text, size, "died of %s", signals[i].name);
      return;
    }
  snprintf(text, size, "died of signal %d", number);
}

void clc_describedeath(const clc_Process *p, int status, char *text, size_t size) {
  char line[400] = "";
  if (status == -1)
    snprintf(text, size, "ended");
  else if (WIFSIGNALED(status))
    describe_signal(WTERMSIG(status), text, size);
  else
    snprintf(text, size, "ended with exit code %d", WEXITSTATUS(status));
  read_last_line(p, line, sizeof line);
  const size_t length = strlen(text);
  if (*line != '\0') snprintf(text + length, size - length, ": %s", line);
}
