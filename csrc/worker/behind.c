/* SPDX-License-Identifier: MIT */
/* A process that runs Lua code behind this one, for which nobody waits: it may end later. */
#define _GNU_SOURCE /* POSIX_SPAWN_SETSID */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <lauxlib.h>

#include "worker.h"

extern char **environ;

/* Whether the process is to have a variable of ours: it starts no other one, and runs no start-up
 * script of Lua's. */
static int is_passed(const char *variable) {
  return strncmp(variable, "CLCOMPUTE_BUILD=", sizeof "CLCOMPUTE_BUILD=" - 1) != 0 &&
         strncmp(variable, "LUA_INIT", sizeof "LUA_INIT" - 1) != 0;
}

static char **make_environment(void) {
  static char variable[] = "CLCOMPUTE_BUILD=here";
  size_t n = 0;
  while (environ[n] != NULL) n++;
  char **list = calloc(n + 2, sizeof *list);
  if (list == NULL) return NULL;
  n = 0;
  list[n++] = variable;
  for (char **e = environ; *e != NULL; e++)
    if (is_passed(*e)) list[n++] = *e;
  return list;
}

/* Nothing to read, and nowhere to write to; an error's number. */
static int set_files(posix_spawn_file_actions_t *files) {
  int code = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDWR, 0);
  if (code == 0) code = posix_spawn_file_actions_adddup2(files, STDIN_FILENO, STDOUT_FILENO);
  return code != 0 ? code : posix_spawn_file_actions_adddup2(files, STDIN_FILENO, STDERR_FILENO);
}

/* In a session of its own: no terminal ends it. */
static int spawn(pid_t *pid, const char *lua, const char *code, char **environment) {
  char *const argv[] = {(char *)lua, "-e", (char *)code, NULL};
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  clc_setspawn(&attributes, POSIX_SPAWN_SETSID);
  posix_spawn_file_actions_init(&files);
  int error = set_files(&files);
  if (error == 0) error = posix_spawnp(pid, lua, &files, &attributes, argv, environment);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  return error;
}

/* start_behind(code) --> the number of the process that runs the code, or nil: there is none. */
static int start_behind(lua_State *L) {
  char room[PATH_MAX];
  pid_t pid;
  const char *code = luaL_checkstring(L, 1);
  char **environment = make_environment();
  const int started = environment != NULL &&
                      spawn(&pid, clc_findinterpreter(room, sizeof room), code, environment) == 0;
  free(environment);
  if (started)
    lua_pushinteger(L, pid);
  else
    lua_pushnil(L);
  return 1;
}

/* has_ended(number) --> whether the process has; then its number may be another one's soon. */
static int has_ended(lua_State *L) {
  const pid_t pid = (pid_t)luaL_checkinteger(L, 1), ended = waitpid(pid, NULL, WNOHANG);
  /* not our child, after a fork, or reaped already, where the program ignores SIGCHLD */
  lua_pushboolean(L, ended == pid || (ended < 0 && kill(pid, 0) != 0 && errno == ESRCH));
  return 1;
}

/* close_inherited(): in such a process, lets go of the files that it was born with. */
static int close_inherited(lua_State *L) {
  (void)L;
  clc_closefrom(STDERR_FILENO + 1);
  return 0;
}

/* detach(seconds): in such a process, goes on in one that is nobody's child, which ends by then;
   the process that was started ends at once, and is a zombie until its parent multiplies again.
   Locks are of both. */
static int detach(lua_State *L) {
  const unsigned seconds = (unsigned)luaL_checkinteger(L, 1);
  if (fork() > 0) _exit(EXIT_SUCCESS);
  alarm(seconds);
  return 0;
}

void clc_openbehind(lua_State *L) {
  static const luaL_Reg functions[] = {{"start_behind", start_behind},
                                       {"has_ended", has_ended},
                                       {"close_inherited", close_inherited},
                                       {"detach", detach},
                                       {NULL, NULL}};
  clc_addinternal(L, functions);
}
