/* SPDX-License-Identifier: MIT */
/* What Lua lacks to misuse a process: a child by fork(), and a file system without room. */
#include <lauxlib.h>
#include <lua.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

/* Preloaded, this stands for a full disk. */
int statvfs(const char *restrict path, struct statvfs *restrict s) {
  (void)path;
  *s = (struct statvfs){.f_bsize = 4096, .f_frsize = 4096, .f_bavail = 100};
  return 0;
}

/* fork(f): calls f in a child and returns how that ended: its exit code, or -signal. */
static int fork_call(lua_State *L) {
  int status = 0;
  const pid_t child = fork();
  if (child == 0) {
    lua_call(L, 0, 0);
    _exit(0);
  }
  waitpid(child, &status, 0);
  lua_pushinteger(L, WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
  return 1;
}

int luaopen_fork(lua_State *L) {
  lua_pushcfunction(L, fork_call);
  return 1;
}
