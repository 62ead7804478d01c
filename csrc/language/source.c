/* SPDX-License-Identifier: MIT */
/* What the text of a program says that OpenCL cannot be asked. */
#include "search.h"

#include <string.h>

/* --- definitions ------------------------------------------------------- */

/* Notes the macro if the directive at `p` (after #) defines one. */
static size_t note_macro(clc_Definition *d, const char *p, const char *end) {
  clc_Span t;
  if (!clc_nexttoken(&p, end, &t) || !clc_isthe(t, "define") || !clc_nexttoken(&p, end, &t))
    return 0;
  if (d != NULL) *d = (clc_Definition){t, {p, end}, 0};
  return 1;
}

/* The macros: wherever they are defined, all that follows may use them. */
static size_t find_macros(const char *text, clc_Definition *found) {
  const char *end = text + strlen(text), *p = text;
  clc_Span t;
  size_t n = 0;
  while (clc_nexttoken(&p, end, &t)) {
    if (*t.start != '#') continue;
    const char *line = clc_lineend(p);
    n += note_macro(found == NULL ? NULL : &found[n], p, line);
    p = line;
  }
  return n;
}

/* The end of the block whose `{` stands before p; *open: the blocks that never end. */
static const char *block_end(const char *p, const char *end, int *open) {
  clc_Span t;
  *open = 1;
  while (*open > 0 && clc_nexttoken(&p, end, &t))
    *open += *t.start == '{' ? 1 : *t.start == '}' ? -1 : 0;
  return p;
}

/* Fills `found` (NULL: only counts) with the functions and macros of a text. Where
   branches of an #if open and close blocks unevenly, that is *unclear. */
static size_t find_definitions(const char *text, clc_Definition *found, int *unclear) {
  const char *end = text + strlen(text), *p = text;
  clc_Span t, word = {NULL, NULL}, name = {NULL, NULL};
  size_t n = find_macros(text, found);
  int parens = 0, open;
  *unclear = 0;
  while (clc_nexttoken(&p, end, &t)) {
    if (*t.start == '#') {
      p = clc_lineend(p);
    } else if (*t.start == '(') {
      /* An attribute's name is replaced by the function's, but not the reverse. */
      if (parens++ == 0 && (name.start == NULL || !clc_isthe(word, "__attribute__"))) name = word;
    } else if (*t.start == ')') {
      parens--;
    } else if (*t.start == '{') {
      const char *close = block_end(p, end, &open);
      if (open > 0) *unclear = 1;
      if (name.start != NULL) {
        if (found != NULL) found[n] = (clc_Definition){name, {p, close}, 0};
        n++;
      }
      p = close;
      name = (clc_Span){NULL, NULL};
    } else if (*t.start == '}') {
      *unclear = 1;
    } else if (*t.start == ';') {
      name = (clc_Span){NULL, NULL};
    } else if (clc_isword(t)) {
      word = t;
    }
  }
  return n;
}

/* --- what a kernel reaches --------------------------------------------- */

static int same_text(clc_Span a, clc_Span b) {
  const size_t length = (size_t)(a.end - a.start);
  return (size_t)(b.end - b.start) == length && memcmp(a.start, b.start, length) == 0;
}

static int defines(const clc_Search *s, clc_Span name) {
  for (size_t i = 0; i < s->n; i++)
    if (same_text(s->definitions[i].name, name)) return 1;
  return 0;
}

/* Whether a word is the name, or starts like a name that ends in `*`. */
static int matches(clc_Span t, const char *name) {
  const size_t length = strlen(name);
  if (length == 0 || name[length - 1] != '*') return clc_isthe(t, name);
  return (size_t)(t.end - t.start) >= length - 1 && memcmp(t.start, name, length - 1) == 0;
}

#define DEEPEST_CALL 100 /* of functions and macros that are followed */

static const char *search_body(clc_Search *s, clc_Span body, int depth) {
  const char *p = body.start;
  clc_Span t;
  while (clc_nexttoken(&p, body.end, &t)) {
    if (*t.start == '#' && p < body.end && *p == '#') s->pastes = 1;
    if (!clc_isword(t)) continue;
    for (int i = 0; s->names[i] != NULL; i++)
      if (matches(t, s->names[i])) return s->names[i];
    for (size_t i = 0; i < s->n; i++) {
      clc_Definition *d = &s->definitions[i];
      if (d->visited || !same_text(d->name, t)) continue;
      if (depth == DEEPEST_CALL) {
        s->unclear = 1;
        continue;
      }
      d->visited = 1;
      const char *found = search_body(s, d->body, depth + 1);
      if (found != NULL) return found;
    }
  }
  return NULL;
}

int clc_mentions(const char *text, const char *const names[]) {
  const char *p = text, *end = text + strlen(text);
  clc_Span t;
  while (clc_nexttoken(&p, end, &t))
    for (int i = 0; names[i] != NULL; i++)
      if (clc_isthe(t, names[i])) return 1;
  return 0;
}

clc_Search clc_newsearch(lua_State *L, const char *text, const char *const *names) {
  clc_Search s = {NULL, 0, names, 0, 0};
  s.n = find_definitions(text, NULL, &s.unclear);
  s.definitions = lua_newuserdatauv(L, (s.n + 1) * sizeof *s.definitions, 0);
  find_definitions(text, s.definitions, &s.unclear);
  return s;
}

/* Whether words of the text, one pasted behind the other, can make a name. */
static int can_paste(const char *text, const char *name) {
  const char *end = text + strlen(text);
  const size_t length = strcspn(name, "*");
  char made[CLC_NAME] = {1}; /* by place in the name: words can make what stands before it */
  clc_Span t;
  for (size_t i = 0; i < length; i++) {
    const size_t left = length - i;
    for (const char *p = text; made[i] && clc_nexttoken(&p, end, &t);) {
      const size_t size = (size_t)(t.end - t.start);
      if (memcmp(name + i, t.start, size < left ? size : left) != 0) continue;
      if (size == left || (size > left && name[length] == '*')) return 1;
      if (size < left) made[i + size] = 1;
    }
  }
  return 0;
}

const char *clc_searchspan(clc_Search *s, clc_Span span, const char *const names[]) {
  for (size_t i = 0; i < s->n; i++) s->definitions[i].visited = 0;
  s->names = names;
  return search_body(s, span, 0);
}

const char *clc_reaches(lua_State *L, const char *text, const char *kernel,
                        const char *const names[]) {
  clc_Search s = clc_newsearch(L, text, names);
  const clc_Span name = {kernel, kernel + strlen(kernel)}; /* leads to the kernel's body */
  const clc_Span all = {text, text + strlen(text)};
  const char *found = NULL;
  if (!s.unclear && defines(&s, name)) found = search_body(&s, name, 0);
  /* A macro may have written the kernel's head, or the name of a function: then any use in the text
     counts, and what its words can be pasted to. */
  if (found == NULL && (s.unclear || s.pastes || !defines(&s, name)))
    found = search_body(&s, all, 0);
  for (int i = 0; found == NULL && s.pastes && names[i] != NULL; i++)
    if (can_paste(text, names[i])) found = names[i];
  lua_pop(L, 1);
  return found;
}

/* --- typedefs ---------------------------------------------------------- */

#define DEEPEST 8 /* typedefs of typedefs */

/* Reads what stands between `typedef` and `;`. Returns whether it is words alone, beside
   the enumerators of an enum, which its type does not depend on. */
static int read_typedef(const char **p, const char *end, clc_Span *base, clc_Span *name) {
  clc_Span t;
  int plain = 1, n = 0, is_enum = 0, open;
  *base = *name = (clc_Span){NULL, NULL};
  while (clc_nexttoken(p, end, &t) && *t.start != ';') {
    if (n == 0) is_enum = clc_isthe(t, "enum");
    if (*t.start == '{') {
      *p = block_end(*p, end, &open);
      if (is_enum) continue;
    }
    if (!clc_isword(t)) plain = 0;
    if (n++ == 0) base->start = t.start;
    base->end = name->end;
    *name = t;
  }
  return plain && n >= 2;
}

/* The one plain typedef of a name in the text. */
static int find_typedef(const char *text, clc_Span name, clc_Span *base) {
  const char *p = text, *end = text + strlen(text);
  clc_Span t, declared, found;
  int n = 0, plain = 0;
  while (clc_nexttoken(&p, end, &t)) {
    if (!clc_isthe(t, "typedef")) continue;
    const int words = read_typedef(&p, end, &found, &declared);
    if (declared.start == NULL || !same_text(declared, name)) continue;
    plain = words;
    *base = found;
    n++;
  }
  return n == 1 && plain;
}

/* The replacement of the one macro of that name, if it is words alone. */
static int find_macro(const char *text, clc_Span name, clc_Span *body) {
  const char *p = text, *end = text + strlen(text);
  clc_Span t;
  clc_Definition d;
  int n = 0;
  while (clc_nexttoken(&p, end, &t)) {
    if (*t.start != '#') continue;
    const char *line = clc_lineend(p);
    if (note_macro(&d, p, line) && same_text(d.name, name)) {
      *body = d.body;
      n++;
    }
    p = line;
  }
  if (n != 1) return 0;
  p = body->start;
  body->start = p;
  while (clc_nexttoken(&p, body->end, &t))
    if (!clc_isword(t)) return 0;
  while (body->end > body->start && strchr(" \t\n\r", body->end[-1]) != NULL) body->end--;
  return body->start < body->end;
}

/* Pushes the words with one space between them. */
static const char *push_words(lua_State *L, clc_Span words) {
  const char *p = words.start;
  clc_Span t;
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  while (clc_nexttoken(&p, words.end, &t)) {
    if (t.start != words.start) luaL_addchar(&b, ' ');
    luaL_addlstring(&b, t.start, (size_t)(t.end - t.start));
  }
  luaL_pushresult(&b);
  return lua_tostring(L, -1);
}

const char *clc_pushtype(lua_State *L, const char *text, const char *name) {
  clc_Span type = {name, name + strlen(name)}, next = type;
  for (int i = 0; i < DEEPEST; i++) {
    /* The driver has expanded the macros of the first name. */
    if (!find_typedef(text, type, &next) && (i == 0 || !find_macro(text, type, &next))) break;
    type = next;
  }
  return push_words(L, type);
}
