/* SPDX-License-Identifier: MIT */
/* Suspects: loops that some compilers get wrong, which language/barriers.c finds, and what is made
   of them on a device. Lua knows the device, by known answers. */
#include "build.h"

#include <string.h>

#define MARK '"' /* behind each place: no name of a file holds one */

static void push_line(lua_State *L, const char *name, size_t length, int line) {
  lua_pushlstring(L, name, length);
  lua_pushfstring(L, ":%d", line);
  lua_concat(L, 2);
}

/* Pushes "file:line" of a line before the source: of a file that it includes, or of a macro of its
   options. */
static void push_included(lua_State *L, const char *text, int line) {
  const char *name = NULL;
  int first = 0; /* of the file */
  for (int i = 1; i < line; i++) {
    if (strncmp(text, CLC_INCLUDED, strlen(CLC_INCLUDED)) == 0) {
      name = text + strlen(CLC_INCLUDED) + 1;
      first = i + 1;
    }
    text = strchr(text, '\n') + 1;
  }
  if (name == NULL)
    lua_pushliteral(L, "a macro of the options");
  else
    push_line(L, name, strcspn(name, "\""), line - first + 1);
}

/* Pushes "file:line" of a line, as clc_findsuspects has it; "" for line 0. */
static void push_place(lua_State *L, const char *all, size_t start, const char *name, int line) {
  const clc_Span file = clc_findfile(all + start, &line);
  if (line == 0)
    lua_pushliteral(L, "");
  else if (line < 0)
    push_included(L, all, -line);
  else if (file.start == NULL)
    push_line(L, name, strlen(name), line);
  else
    push_line(L, file.start, (size_t)(file.end - file.start), line);
}

const char *clc_pushsuspects(lua_State *L, const char *text, size_t start, const char *name) {
  int lines[CLC_SUSPICIONS];
  lua_pushliteral(L, "");
  if (!clc_findsuspects(L, text, start, lines)) return lua_tostring(L, -1);
  for (int i = 0; i < CLC_SUSPICIONS; i++) {
    push_place(L, text, start, name, lines[i]);
    lua_pushfstring(L, "%s%c", lua_tostring(L, -1), MARK);
    lua_remove(L, -2);
    lua_concat(L, 2);
  }
  return lua_tostring(L, -1);
}

int clc_isdoubtful(lua_State *L, const char *suspects, int is_saved) {
  const int top = lua_gettop(L);
  int yes = 0;
  if (*suspects != '\0' && clc_getinternal(L, "judge_loops") == LUA_TFUNCTION) {
    lua_pushvalue(L, 1);
    lua_pushboolean(L, is_saved);
    for (int i = 0; i < CLC_SUSPICIONS; i++) {
      const size_t length = strcspn(suspects, "\"");
      if (length > 0)
        lua_pushlstring(L, suspects, length);
      else
        lua_pushboolean(L, 0);
      suspects += length + (suspects[length] == MARK);
    }
    lua_call(L, 2 + CLC_SUSPICIONS, 1);
    yes = lua_toboolean(L, -1);
  }
  lua_settop(L, top);
  return yes;
}
