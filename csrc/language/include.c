/* SPDX-License-Identifier: MIT */
/* Includes: the files that the text of a program takes in. */
#define _POSIX_C_SOURCE 200809L
#include "language.h"

#include <string.h>

#include "files/files.h"

#define DEEPEST 32                    /* includes within includes */
#define MOST_BYTES ((size_t)16 << 20) /* of a file; more is no header */

typedef struct {
  lua_State *L;
  const char *options;
  int seen;  /* stack index: set of paths */
  int found; /* stack index: list of texts */
  clc_Included known;
} Search;

/* --- files ------------------------------------------------------------- */

/* Pushes the text of a file and returns it; NULL, and nothing pushed, where there is none. */
static const char *push_text(lua_State *L, const char *path) {
  const char *text = clc_pushfile(L, path, MOST_BYTES);
  if (text == NULL || strlen(text) == lua_rawlen(L, -1)) return text;
  lua_pop(L, 1);
  return NULL;
}

static void search_text(Search *s, const char *text, const char *folder, int depth);

/* Takes the file in, once; returns whether it is there. */
static int take(Search *s, const char *path, int depth) {
  lua_State *L = s->L;
  const int top = lua_gettop(L);
  luaL_checkstack(L, 20, "includes");
  int there = lua_getfield(L, s->seen, path) != LUA_TNIL;
  const char *text = there ? NULL : push_text(L, path);
  if (text != NULL) {
    there = 1;
    lua_pushfstring(L, CLC_INCLUDED "\"%s\" /* %I bytes */\n%s\n", path,
                    (LUAI_UACINT)lua_rawlen(L, -1), text);
    lua_rawseti(L, s->found, (lua_Integer)lua_rawlen(L, s->found) + 1);
    lua_pushboolean(L, 1);
    lua_setfield(L, s->seen, path);
    const char *slash = strrchr(path, '/');
    const char *folder =
        slash != NULL ? lua_pushlstring(L, path, (size_t)(slash - path)) : lua_pushstring(L, ".");
    search_text(s, text, folder, depth + 1);
  }
  lua_settop(L, top);
  return there;
}

/* Takes every file of that name: in the folder and in those of the options. */
static void find(Search *s, const char *name, const char *folder, int depth) {
  lua_State *L = s->L;
  const int top = lua_gettop(L);
  int found = 0;
  if (*name == '/') {
    found = take(s, name, depth);
  } else {
    found = take(s, lua_pushfstring(L, "%s/%s", folder, name), depth);
    for (const char *p = s->options; (p = strstr(p, "-I ")) != NULL;) {
      p += 3;
      const char *dir = lua_pushlstring(L, p, strcspn(p, " "));
      found = take(s, lua_pushfstring(L, "%s/%s", dir, name), depth) || found;
      lua_pop(L, 2);
    }
  }
  if (!found) s->known.complete = 0;
  lua_settop(L, top);
}

/* --- directives -------------------------------------------------------- */

static int starts(const char *p, const char *word) {
  return strncmp(p, word, strlen(word)) == 0;
}

static const char *skip_blanks(const char *p) {
  return p + strspn(p, " \t\v\f\r");
}

/* The name that a directive includes, in <> or ""; .start is NULL where it is neither (a macro, or
   nothing a compiler takes), or the directive is another one. */
static clc_Span included_name(const char *p) {
  static const clc_Span none = {NULL, NULL};
  p = skip_blanks(p);
  if (!starts(p, "include")) return none;
  p = skip_blanks(p + strlen("include"));
  if (*p != '<' && *p != '"') return none;
  const char close = *p == '<' ? '>' : '"';
  const char *end = p + 1 + strcspn(p + 1, close == '>' ? ">\n" : "\"\n");
  return *end == close ? (clc_Span){p + 1, end} : none;
}

int clc_includes(const char *directive, const char *name) {
  const clc_Span found = included_name(directive);
  return found.start != NULL && clc_isthe(found, name);
}

/* Reads the directive behind the # of a line. */
static void read_directive(Search *s, const char *p, const char *folder, int depth) {
  p = skip_blanks(p);
  if (starts(p, "import") || starts(p, "include_next") || starts(p, "embed")) s->known.complete = 0;
  if (!starts(p, "include")) return;
  const clc_Span name = included_name(p);
  if (name.start == NULL || depth > DEEPEST) {
    s->known.complete = 0;
  } else if (clc_isthe(name, CLC_WORK_GROUP_HEADER)) {
    *(depth == 0 ? &s->known.header_by_text : &s->known.header_by_file) = 1;
  } else {
    find(s, lua_pushlstring(s->L, name.start, (size_t)(name.end - name.start)), folder, depth);
    lua_pop(s->L, 1);
  }
}

static int holds(const char *text, const char *const words[]) {
  for (int i = 0; words[i] != NULL; i++)
    if (strstr(text, words[i]) != NULL) return 1;
  return 0;
}

static void search_text(Search *s, const char *text, const char *folder, int depth) {
  static const char *const other_hashes[] = {"?\?=", "?\?/", "%:", NULL};
  static const char *const whims[] = {"__has_include", "__has_embed",   "__DATE__",
                                      "__TIME__",      "__TIMESTAMP__", NULL};
  const char *plain = clc_pushplain(s->L, text);
  if (holds(text, other_hashes)) s->known.complete = 0;
  if (holds(plain, whims)) s->known.repeatable = 0;
  for (const char *p = plain; *p != '\0'; p += strcspn(p, "\n"), p += *p == '\n') {
    p = skip_blanks(p);
    if (*p == '#') read_directive(s, p + 1, folder, depth);
  }
  lua_pop(s->L, 1);
}

clc_Included clc_pushincluded(lua_State *L, const char *text, const char *options) {
  const int top = lua_gettop(L);
  luaL_Buffer b;
  lua_newtable(L);
  lua_newtable(L);
  Search s = {L, options, top + 1, top + 2, {.complete = 1, .repeatable = 1}};
  search_text(&s, text, ".", 0); /* the text of a script is nowhere, some drivers look here */
  luaL_buffinit(L, &b);
  for (lua_Integer i = 1; lua_rawgeti(L, s.found, i) != LUA_TNIL; i++) luaL_addvalue(&b);
  lua_pop(L, 1);
  luaL_pushresult(&b);
  lua_replace(L, top + 1);
  lua_settop(L, top + 1);
  s.known.repeatable = s.known.complete && s.known.repeatable;
  return s.known;
}
