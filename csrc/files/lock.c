/* SPDX-License-Identifier: MIT */
/*
 * Locks: of several processes that miss the same file of the cache one makes it, and the others
 * wait for it. A lock is a byte of the file `.locks` in the cache's folder, so that there is
 * nothing to clear away; the system frees the byte when the process that has it ends.
 */
#define _GNU_SOURCE /* F_OFD_SETLK */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE 120.0 /* seconds: then a process makes the file itself, */
#define IMPATIENCE 1.0 /* and waits so long for all others, as their holder may be the same */
#define NAP 10000000   /* nanoseconds between two looks */

static int close_lock(lua_State *L) {
  luaL_Stream *s = luaL_checkudata(L, 1, LUA_FILEHANDLE);
  return luaL_fileresult(L, fclose(s->f) == 0, NULL);
}

/* A byte of the file for a text. */
static off_t place_of(const char *text, size_t n) {
  return (off_t)(clc_hash(CLC_HASHSTART, text, n) >> 2) + 1;
}

typedef enum { FREE, HELD, UNKNOWN } State; /* unknown: the file system has no such locks */

/* The byte of a lock, for fcntl. */
static struct flock lock_at(off_t place) {
  return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = place, .l_len = 1};
}

/* Takes the byte if it is free, and tells what it was. */
static State take(int fd, off_t place) {
  struct flock lock = lock_at(place);
  while (fcntl(fd, F_OFD_SETLK, &lock) != 0)
    if (errno != EINTR) return errno == EAGAIN || errno == EACCES ? HELD : UNKNOWN;
  return FREE;
}

/* Pushes the file, open, with its byte not taken yet; NULL, and nothing pushed: there is none. */
static FILE *push_file(lua_State *L) {
  const int top = lua_gettop(L);
  const char *folder = clc_pushcachefolder(L);
  if (folder == NULL) return NULL;
  const char *path = lua_pushfstring(L, "%s/.locks", folder);
  clc_makefolders(L, path);
  luaL_Stream *s = lua_newuserdatauv(L, sizeof *s, 0);
  s->closef = NULL; /* closed */
  luaL_setmetatable(L, LUA_FILEHANDLE);
  const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  s->f = fd >= 0 ? fdopen(fd, "r+b") : NULL;
  if (s->f == NULL) {
    if (fd >= 0) close(fd);
    lua_settop(L, top);
    return NULL;
  }
  s->closef = close_lock;
  lua_replace(L, top + 1);
  lua_settop(L, top + 1);
  return s->f;
}

/* Asleep, but for a look now and then: a blocked lock would not hear Ctrl-C. */
static State wait_for(lua_State *L, int fd, off_t place) {
  static atomic_int is_impatient;
  const double patience = is_impatient ? IMPATIENCE : PATIENCE;
  const clc_Wait w = clc_beginwait(L);
  const struct timespec nap = {0, NAP};
  State state;
  while ((state = take(fd, place)) == HELD && clc_now() - w.start < patience) {
    clc_checkwait(L, &w);
    nanosleep(&nap, NULL);
  }
  if (state == HELD) is_impatient = 1;
  return state;
}

/* --- those of this state ---------------------------------------------------- */

/* Pushes files by the byte that they have. */
static void push_own(lua_State *L) {
  if (!luaL_getsubtable(L, LUA_REGISTRYINDEX, "clcompute.locks")) {
    lua_createtable(L, 0, 1);
    lua_pushliteral(L, "v");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
  }
}

/* Whether this state has the byte: a finalizer or a hook that builds meanwhile would wait for it.
 */
static int is_own(lua_State *L, off_t place) {
  push_own(L);
  lua_rawgeti(L, -1, (lua_Integer)place);
  const luaL_Stream *s = lua_touserdata(L, -1);
  const int is_open = s != NULL && s->closef != NULL;
  lua_pop(L, 2);
  return is_open;
}

/* Notes that the file at the top has it. */
static void note_own(lua_State *L, off_t place) {
  push_own(L);
  lua_pushvalue(L, -2);
  lua_rawseti(L, -2, (lua_Integer)place);
  lua_pop(L, 1);
}

/* Pushes the file, or nil where there is none to take; HELD: another process has the lock after all
   this wait. */
static State push_lock(lua_State *L, int key, int waits) {
  const int top = lua_gettop(L);
  const off_t place = place_of(lua_tostring(L, key), lua_rawlen(L, key));
  FILE *f = is_own(L, place) ? NULL : push_file(L);
  if (f == NULL) {
    lua_pushnil(L);
    return UNKNOWN;
  }
  State state = take(fileno(f), place);
  if (state == HELD && waits) {
    clc_pushnotice(L, "another process builds what this one needs too; it is kept for both");
    state = wait_for(L, fileno(f), place);
    lua_settop(L, top + 1);
  }
  if (state == FREE) note_own(L, place);
  return state;
}

int clc_pushlock(lua_State *L, int key) {
  const State state = push_lock(L, key, 1);
  lua_toclose(L, -1);
  return state == FREE;
}

/* Closes the file at the top. */
static void close_file(lua_State *L) {
  luaL_Stream *s = lua_touserdata(L, -1);
  s->closef = NULL;
  fclose(s->f);
}

/* lock(key[, only_if_free]) --> a file: closed, it lets go; nil: there is no folder for it. Where
   another process has it, this one waits, or gets nil. */
static int files_lock(lua_State *L) {
  luaL_checkstring(L, 1);
  const int only_if_free = lua_toboolean(L, 2);
  if (push_lock(L, 1, !only_if_free) == HELD && only_if_free) {
    close_file(L);
    lua_pushnil(L);
  }
  return 1;
}

/* is_locked(key) --> whether somebody has it, without taking it. */
static int files_is_locked(lua_State *L) {
  const char *key = luaL_checkstring(L, 1);
  struct flock lock = lock_at(place_of(key, lua_rawlen(L, 1)));
  FILE *f = push_file(L);
  const int is_held =
      f != NULL && fcntl(fileno(f), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  if (f != NULL) close_file(L);
  lua_pushboolean(L, is_held);
  return 1;
}

void clc_openlocks(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"lock", files_lock}, {"is_locked", files_is_locked}, {NULL, NULL}};
  clc_addinternal(L, functions);
}
