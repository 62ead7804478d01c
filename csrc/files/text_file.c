/* SPDX-License-Identifier: MIT */
/* Texts that outlast a process: the folder they are in, and lines added to them. */
#define _POSIX_C_SOURCE 200809L
#include "text_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"

/* cache_folder() --> the folder of compiled programs and verdicts; nil where nothing is kept. */
static int cache_folder(lua_State *L) {
  if (clc_pushcachefolder(L) == NULL) lua_pushnil(L);
  return 1;
}

/* make_folders(path): makes the folder of a path and those above it. */
static int make_folders(lua_State *L) {
  clc_makefolders(L, luaL_checkstring(L, 1));
  return 0;
}

/* append_text(path, text) --> whether the text stands at the end of a plain file now. One write:
   processes do not mix their texts. A pipe is refused, whose reader the writer would wait for. */
static int append_text(lua_State *L) {
  size_t n;
  struct stat st;
  const char *path = luaL_checkstring(L, 1), *text = luaL_checklstring(L, 2, &n);
  const int fd =
      open(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
  int added =
      fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && write(fd, text, n) == (ssize_t)n;
  if (fd >= 0 && close(fd) != 0) added = 0;
  lua_pushboolean(L, added);
  return 1;
}

void clc_opentextfiles(lua_State *L) {
  static const luaL_Reg functions[] = {{"cache_folder", cache_folder},
                                       {"make_folders", make_folders},
                                       {"append_text", append_text},
                                       {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
