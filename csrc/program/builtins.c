/* SPDX-License-Identifier: MIT */
/*
 * Built-in functions: POCL 3.1 compiles each program behind a header of 900 KB that declares all
 * functions of OpenCL C, which takes 0.1 s. So the header is kept out, and the program gets those
 * of its lines that declare what the program names.
 */
#include "build.h"

#include <stdlib.h>
#include <string.h>

#include "files/files.h"

#define FOLDER "/usr/share/pocl/include/" /* of Debian's POCL, which looks for it there alone */
#define GUARD "_OPENCL_H_"                /* of the header, and what includes it */
#define LARGEST ((size_t)4 << 20)         /* bytes of a header */
#define SHORTEST 3                        /* characters of a function's name */

/* The words of a program, in order. */
typedef struct {
  clc_Span *words;
  size_t count;
  int pastes;                              /* a macro makes words of them (##) */
  unsigned char begins[1 << 5 * SHORTEST]; /* whether one begins as these SHORTEST characters do */
} Names;

static size_t length_of(clc_Span t) {
  return (size_t)(t.end - t.start);
}

static int compare_words(const void *a, const void *b) {
  const clc_Span *x = a, *y = b;
  const size_t m = length_of(*x), n = length_of(*y);
  const int order = memcmp(x->start, y->start, m < n ? m : n);
  return order != 0 ? order : (m > n) - (m < n);
}

/* Where words that begin alike are found in `begins`. */
static size_t slot_of(const char *word) {
  size_t slot = 0;
  for (int i = 0; i < SHORTEST; i++) slot = slot << 5 | ((unsigned char)word[i] & 31);
  return slot;
}

static size_t take_words(const char *text, clc_Span *words) {
  const char *const end = text + strlen(text);
  size_t count = 0;
  for (clc_Span token; clc_nexttoken(&text, end, &token);)
    if (clc_isword(token) && length_of(token) >= SHORTEST) {
      if (words != NULL) words[count] = token;
      count++;
    }
  return count;
}

/* Pushes what holds them. */
static Names *push_names(lua_State *L, const char *text) {
  Names *n = lua_newuserdatauv(L, sizeof *n, 1);
  memset(n, 0, sizeof *n);
  n->words = lua_newuserdatauv(L, (take_words(text, NULL) + 1) * sizeof *n->words, 0);
  lua_setiuservalue(L, -2, 1);
  n->count = take_words(text, n->words);
  n->pastes = strstr(text, "##") != NULL;
  qsort(n->words, n->count, sizeof *n->words, compare_words);
  for (size_t i = 0; i < n->count; i++) n->begins[slot_of(n->words[i].start)] = 1;
  return n;
}

static int has_word(const Names *n, clc_Span word) {
  return bsearch(&word, n->words, n->count, sizeof word, compare_words) != NULL;
}

/* Whether a program may call a function: it names it, or the beginning of a name that a macro
 * makes. */
static int is_named(const Names *n, clc_Span function) {
  if (length_of(function) < SHORTEST) return 1;
  if (!n->begins[slot_of(function.start)]) return 0;
  if (has_word(n, function)) return 1;
  for (clc_Span part = function; n->pastes && length_of(part) > SHORTEST;) {
    part.end--;
    if (has_word(n, part)) return 1;
  }
  return 0;
}

/* The end of a directive, which a backslash takes to the next line. */
static const char *directive_end(const char *p) {
  p = clc_lineend(p);
  while (*p != '\0' && p[-1] == '\\') p = clc_lineend(p + 1);
  return p;
}

/* A header includes what lies beside it ("..."), by a path that it has here; the one that is copied
   here itself (<...>) is left out. */
static void add_directive(luaL_Buffer *b, const char *start, const char *end) {
  static const char include[] = "#include ";
  if (strncmp(start, include, sizeof include - 1) != 0) {
    luaL_addlstring(b, start, (size_t)(end - start));
  } else if (start[sizeof include - 1] == '"') {
    luaL_addstring(b, "#include \"" FOLDER);
    luaL_addlstring(b, start + sizeof include, (size_t)(end - start) - sizeof include);
  }
  luaL_addchar(b, '\n');
}

/* The function that a statement declares: the word before the first bracket. */
static clc_Span declared(const char *start, const char *end) {
  const char *bracket = memchr(start, '(', (size_t)(end - start));
  clc_Span last = {start, start}, token;
  if (bracket == NULL) return last;
  while (clc_nexttoken(&start, bracket, &token)) last = token;
  return last;
}

/* Adds the lines of a header, given as plain text, but declarations of what is not named. */
static void add_header(luaL_Buffer *b, const Names *n, const char *p) {
  luaL_addstring(b, "#undef " GUARD "\n");
  for (p += strspn(p, " \t\r\n"); *p != '\0'; p += strspn(p, " \t\r\n")) {
    const char *const start = p;
    if (*p == '#') {
      p = directive_end(p);
      add_directive(b, start, p);
      continue;
    }
    p += strcspn(p, ";");
    p += *p == ';';
    if (!is_named(n, declared(start, p))) continue;
    luaL_addlstring(b, start, (size_t)(p - start));
    luaL_addchar(b, '\n');
  }
}

/* POCL 3.1 declares some functions that it does not have: the launch of a kernel that calls one
   ends the process. What an image on a buffer says of itself is a field of POCL's own (dev_image_t
   in its pocl_image_types.h). */
static const char fields[] =
    "#define CLC_FIELD(name, at) int __attribute__((overloadable)) \\\n"
    "  name(__read_only image1d_buffer_t clc_image) { \\\n"
    "    return ((__global const int *)__builtin_astype(clc_image, __global void *))[at]; }\n"
    "CLC_FIELD(get_image_width, 2)\n"
    "CLC_FIELD(get_image_channel_order, 10)\n"
    "CLC_FIELD(get_image_channel_data_type, 11)\n";

/* Others are beyond OpenCL C: a program that calls one is refused. */
static const char refused[] =
    "#define CLC_LACKS(type, name, vector) type __attribute__((overloadable, \\\n"
    "  unavailable(\"POCL 3.1 does not have it\"))) name(vector);\n"
    "CLC_LACKS(float, length, float8) CLC_LACKS(float, length, float16)\n"
    "CLC_LACKS(double, length, double8) CLC_LACKS(double, length, double16)\n"
    "CLC_LACKS(float8, normalize, float8) CLC_LACKS(float16, normalize, float16)\n"
    "CLC_LACKS(double, fast_length, double) CLC_LACKS(double, fast_length, double2)\n"
    "CLC_LACKS(double, fast_length, double3) CLC_LACKS(double, fast_length, double4)\n";

const char *clc_pushmissing(lua_State *L, const clc_Device *d, const char *text) {
  static const char *const images[] = {"image1d_buffer_t", NULL}, *const own[] = {"overloadable",
                                                                                  NULL};
  static const char *const lengths[] = {"length", "normalize", "fast_length", NULL};
  const int has = d->context->is_pocl31;
  const int refuses = has && clc_mentions(text, lengths) && !clc_mentions(text, own);
  return lua_pushfstring(L, "%s%s", has && clc_mentions(text, images) ? fields : "",
                         refuses ? refused : "");
}

const char *clc_pushbuiltins(lua_State *L, const clc_Device *d, const char *text) {
  static const char *const headers[] = {FOLDER "opencl-c.h", FOLDER "_clang_opencl.h"};
  const int top = lua_gettop(L);
  if (!d->context->is_pocl31) return NULL;
  const Names *n = push_names(L, text);
  for (int i = 0; i < 2; i++) {
    const char *header = clc_pushfile(L, headers[i], LARGEST);
    if (header == NULL) return lua_settop(L, top), NULL;
    clc_pushplain(L, header);
  }
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  add_header(&b, n, lua_tostring(L, top + 3));
  add_header(&b, n, lua_tostring(L, top + 5));
  luaL_pushresult(&b);
  lua_replace(L, top + 1);
  lua_settop(L, top + 1);
  return lua_tostring(L, -1);
}
