/* SPDX-License-Identifier: MIT */
/* A command in a terminal of its own: what a user types and sees. */
#define _GNU_SOURCE /* POSIX_SPAWN_SETSID */
#include <errno.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <lua.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

typedef struct {
  int fd;
  pid_t pid;
} Terminal;

static int fail(lua_State *L, const char *what) {
  return luaL_error(L, "%s: %s", what, strerror(errno));
}

/* Opening the terminal in a new session makes it the one that Ctrl-C comes from. */
static int start(pid_t *pid, const char *command, const char *name) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t signals;
  char *words[] = {"sh", "-c", (char *)(uintptr_t)command, NULL};
  sigemptyset(&signals);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &signals);
  sigaddset(&signals, SIGINT);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, name, O_RDWR, 0);
  posix_spawn_file_actions_adddup2(&actions, 0, 1);
  posix_spawn_file_actions_adddup2(&actions, 0, 2);
  const int code = posix_spawn(pid, "/bin/sh", &actions, &attributes, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return code;
}

/* open(command, columns): a terminal of so many columns in which a shell runs the command. */
static int terminal_open(lua_State *L) {
  const char *command = luaL_checkstring(L, 1);
  const struct winsize size = {.ws_row = 24, .ws_col = (unsigned short)luaL_checkinteger(L, 2)};
  Terminal *t = lua_newuserdatauv(L, sizeof *t, 0);
  t->pid = 0;
  t->fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  luaL_setmetatable(L, "terminal");
  if (t->fd < 0 || grantpt(t->fd) != 0 || unlockpt(t->fd) != 0) return fail(L, "posix_openpt");
  if (ioctl(t->fd, TIOCSWINSZ, &size) != 0) return fail(L, "TIOCSWINSZ");
  errno = start(&t->pid, command, ptsname(t->fd));
  return errno == 0 ? 1 : fail(L, "posix_spawn");
}

/* t:resize(columns) makes it as wide, and tells who reads from it. */
static int terminal_resize(lua_State *L) {
  const Terminal *t = luaL_checkudata(L, 1, "terminal");
  const struct winsize size = {.ws_row = 24, .ws_col = (unsigned short)luaL_checkinteger(L, 2)};
  if (ioctl(t->fd, TIOCSWINSZ, &size) != 0) return fail(L, "TIOCSWINSZ");
  return 0;
}

/* t:write(text) types it. */
static int terminal_write(lua_State *L) {
  size_t n;
  const Terminal *t = luaL_checkudata(L, 1, "terminal");
  const char *text = luaL_checklstring(L, 2, &n);
  if (write(t->fd, text, n) != (ssize_t)n) return fail(L, "write");
  return 0;
}

/* t:read(seconds) --> what has come; "" where nothing did in that time; nil at the end. */
static int terminal_read(lua_State *L) {
  char text[4096];
  const Terminal *t = luaL_checkudata(L, 1, "terminal");
  struct pollfd p = {t->fd, POLLIN, 0};
  if (poll(&p, 1, (int)(luaL_checknumber(L, 2) * 1000)) == 0) {
    lua_pushliteral(L, "");
    return 1;
  }
  const ssize_t n = read(t->fd, text, sizeof text); /* EIO: nobody has the other end open */
  if (n <= 0) return 0;
  lua_pushlstring(L, text, (size_t)n);
  return 1;
}

/* t:wait() --> the exit code, or 128 and the signal. */
static int terminal_wait(lua_State *L) {
  int status;
  Terminal *t = luaL_checkudata(L, 1, "terminal");
  if (waitpid(t->pid, &status, 0) < 0) return fail(L, "waitpid");
  t->pid = 0;
  lua_pushinteger(L, WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
  return 1;
}

static int terminal_gc(lua_State *L) {
  Terminal *t = luaL_checkudata(L, 1, "terminal");
  if (t->pid > 0) {
    kill(-t->pid, SIGKILL);
    waitpid(t->pid, NULL, 0);
  }
  if (t->fd >= 0) close(t->fd);
  t->pid = 0;
  t->fd = -1;
  return 0;
}

int luaopen_terminal(lua_State *L) {
  static const luaL_Reg methods[] = {{"write", terminal_write},
                                     {"read", terminal_read},
                                     {"resize", terminal_resize},
                                     {"wait", terminal_wait},
                                     {"close", terminal_gc},
                                     {"__gc", terminal_gc},
                                     {NULL, NULL}};
  luaL_newmetatable(L, "terminal");
  luaL_setfuncs(L, methods, 0);
  lua_pushvalue(L, -1);
  lua_setfield(L, -2, "__index");
  lua_pushcfunction(L, terminal_open);
  return 1;
}
