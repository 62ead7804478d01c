/* SPDX-License-Identifier: MIT */
/* Starting the process of a worker, ending it, and what it died of. */
#define _GNU_SOURCE /* dladdr, memfd_create, SOCK_CLOEXEC */
#include "worker.h"

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
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"

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

/* A copy of the environment in which Lua runs no code of the user's; its last place is free. */
static char **copy_environment(size_t *n) {
  size_t room = 2;
  for (char **e = environ; *e != NULL; e++) room++;
  char **copy = calloc(room, sizeof *copy);
  *n = 0;
  for (char **e = environ; copy != NULL && *e != NULL; e++)
    if (strncmp(*e, "LUA_INIT", 8) != 0) copy[(*n)++] = *e;
  return copy;
}

/* The file that holds this function. */
static char *make_variable(void) {
  Dl_info module;
  static const char marker = 0;
  if (dladdr(&marker, &module) == 0) {
    errno = ENOENT;
    return NULL;
  }
  char *path = realpath(module.dli_fname, NULL), *variable = NULL;
  const size_t size = path != NULL ? strlen(path) + sizeof "CLCOMPUTE_WORKER=" : 0;
  if (path != NULL) variable = malloc(size);
  if (variable != NULL) snprintf(variable, size, "CLCOMPUTE_WORKER=%s", path);
  free(path);
  return variable;
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

/* Ours and the worker's end of the socket, and the file; returns 0 with errno set. */
static int open_descriptors(clc_Process *p, int *theirs) {
  int ends[2];
  p->stderr_fd = move_up(memfd_create("clcompute stderr", MFD_CLOEXEC));
  p->heard = 0;
  if (p->stderr_fd < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return 0;
  p->socket = move_up(ends[0]);
  *theirs = move_up(ends[1]);
  return p->socket >= 0 && *theirs >= 0;
}

/* In a group of its own, so that Ctrl-C is ours alone and what it started ends with it. */
static void set_attributes(posix_spawnattr_t *a) {
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_init(a);
  posix_spawnattr_setflags(a,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setpgroup(a, 0);
  posix_spawnattr_setsigmask(a, &none);
  posix_spawnattr_setsigdefault(a, &all);
}

/* Its standard files, its socket and its arena; returns an error's number. What its kernels print
   goes where this process prints, if that is anywhere. */
static int set_files(posix_spawn_file_actions_t *files, const clc_Process *p, int theirs,
                     int arena) {
  int code = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (code == 0 && fcntl(STDOUT_FILENO, F_GETFD) < 0)
    code = posix_spawn_file_actions_addopen(files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  if (code == 0) code = posix_spawn_file_actions_adddup2(files, p->stderr_fd, STDERR_FILENO);
  if (code == 0) code = posix_spawn_file_actions_adddup2(files, theirs, CLC_SOCKET_FD);
  return code != 0 ? code : posix_spawn_file_actions_adddup2(files, arena, CLC_ARENA_FD);
}

static int spawn(clc_Process *p, const char *lua, int theirs, int arena, char **environment) {
  char *const argv[] = {(char *)lua, "-e", CODE, NULL};
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  set_attributes(&attributes);
  posix_spawn_file_actions_init(&files);
  int code = set_files(&files, p, theirs, arena);
  if (code == 0) code = posix_spawnp(&p->pid, lua, &files, &attributes, argv, environment);
  if (code != 0) p->pid = 0;
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  return code;
}

int clc_spawn(clc_Process *p, const char *lua, int arena) {
  size_t n = 0;
  int theirs = -1, code = ENOMEM;
  *p = (clc_Process){0, -1, -1, 0};
  char **environment = copy_environment(&n), *variable = make_variable();
  const int high = copy_up(arena);
  if (variable == NULL || high < 0 || !open_descriptors(p, &theirs))
    code = errno;
  else if (environment != NULL) {
    environment[n] = variable;
    code = spawn(p, lua, theirs, high, environment);
  }
  free(variable);
  free(environment);
  if (theirs >= 0) close(theirs);
  if (high >= 0) close(high);
  if (code != 0) clc_closeprocess(p);
  return code;
}

/* --- ending ------------------------------------------------------------ */

void clc_closeprocess(clc_Process *p) {
  if (p->socket >= 0) close(p->socket);
  if (p->stderr_fd >= 0) close(p->stderr_fd);
  *p = (clc_Process){0, -1, -1, 0};
}

/* Where the program has children reaped by the system, their status is lost: -1. */
int clc_reap(clc_Process *p, double patience) {
  const double start = clc_now();
  int status = -1;
  pid_t ended = 0;
  while (patience > 0 && (ended = waitpid(p->pid, &status, WNOHANG)) == 0 &&
         clc_now() - start < patience)
    clc_rest(clc_now() - start);
  if (ended != 0) return ended < 0 ? -1 : status;
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
               {SIGXFSZ, "SIGXFSZ"}, {SIGKILL, "SIGKILL"}, {SIGTERM, "SIGTERM"}};

void clc_hear(clc_Process *p) {
  p->heard = p->stderr_fd >= 0 ? lseek(p->stderr_fd, 0, SEEK_END) : 0;
}

/* The last line since then that is not empty. */
static void read_last_line(const clc_Process *p, char *line, size_t size) {
  const off_t end = lseek(p->stderr_fd, 0, SEEK_END), first = end - (off_t)size + 1;
  const ssize_t n = pread(p->stderr_fd, line, size - 1, first > p->heard ? first : p->heard);
  size_t length = n > 0 ? (size_t)n : 0;
  while (length > 0 && line[length - 1] == '\n') length--;
  line[length] = '\0';
  const char *start = strrchr(line, '\n');
  if (start != NULL) memmove(line, start + 1, strlen(start));
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
  char line[200] = "";
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
