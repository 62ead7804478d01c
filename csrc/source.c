/* SPDX-License-Identifier: MIT */
/* What the text of a program says that OpenCL cannot be asked. */
#include "source.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_LINES 5 /* of a build log's lines */

/* --- tokens ------------------------------------------------------------ */

typedef struct {
  const char *start, *end;
} Span;

static int is_word_char(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

static const char *skip_quoted(const char *p) {
  const char quote = *p++;
  while (*p != '\0' && *p != quote && *p != '\n') p += *p == '\\' && p[1] != '\0' ? 2 : 1;
  return *p == quote ? p + 1 : p;
}

/* The end of a line, and of those it continues on. */
static const char *line_end(const char *p) {
  while (*p != '\0' && *p != '\n') p += *p == '\\' && p[1] == '\n' ? 2 : 1;
  return p;
}

static const char *skip_comment(const char *p) {
  if (p[1] == '/') return line_end(p);
  const char *end = strstr(p + 2, "*/");
  return end != NULL ? end + 2 : p + strlen(p);
}

static const char *skip_blank(const char *p) {
  for (;;) {
    if (isspace((unsigned char)*p) || (*p == '\\' && p[1] == '\n'))
      p++;
    else if (*p == '/' && (p[1] == '/' || p[1] == '*'))
      p = skip_comment(p);
    else
      return p;
  }
}

/* The next token before `end`: a word, a number, a quoted text or one character. */
static int next_token(const char **p, const char *end, Span *token) {
  token->start = skip_blank(*p);
  if (token->start >= end || *token->start == '\0') return 0;
  if (*token->start == '"' || *token->start == '\'')
    token->end = skip_quoted(token->start);
  else if (is_word_char(*token->start))
    for (token->end = token->start; is_word_char(*token->end);) token->end++;
  else
    token->end = token->start + 1;
  *p = token->end;
  return 1;
}

static int is_word(Span t) {
  return is_word_char(*t.start) && !isdigit((unsigned char)*t.start);
}

static int same(Span t, const char *word) {
  const size_t n = (size_t)(t.end - t.start);
  return strlen(word) == n && memcmp(t.start, word, n) == 0;
}

/* --- definitions ------------------------------------------------------- */

typedef struct {
  Span name, body;
  int visited;
} Definition;

/* Notes the macro if the directive at `p` (after #) defines one. */
static size_t note_macro(Definition *d, const char *p, const char *end) {
  Span t;
  if (!next_token(&p, end, &t) || !same(t, "define") || !next_token(&p, end, &t)) return 0;
  if (d != NULL) *d = (Definition){t, {p, end}, 0};
  return 1;
}

/* The macros: wherever they are defined, all that follows may use them. */
static size_t find_macros(const char *text, Definition *found) {
  const char *end = text + strlen(text), *p = text;
  Span t;
  size_t n = 0;
  while (next_token(&p, end, &t)) {
    if (*t.start != '#') continue;
    const char *line = line_end(p);
    n += note_macro(found == NULL ? NULL : &found[n], p, line);
    p = line;
  }
  return n;
}

/* The end of the block whose `{` stands before p. */
static const char *block_end(const char *p, const char *end) {
  Span t;
  int depth = 1;
  while (depth > 0 && next_token(&p, end, &t))
    depth += *t.start == '{' ? 1 : *t.start == '}' ? -1 : 0;
  return p;
}

/* Fills `found` (NULL: only counts) with the functions and macros of a text. */
static size_t find_definitions(const char *text, Definition *found) {
  const char *end = text + strlen(text), *p = text;
  Span t, word = {NULL, NULL}, name = {NULL, NULL};
  size_t n = find_macros(text, found);
  int parens = 0;
  while (next_token(&p, end, &t)) {
    if (*t.start == '#') {
      p = line_end(p);
    } else if (*t.start == '(') {
      /* An attribute's name is replaced by the function's, but not the reverse. */
      if (parens++ == 0 && (name.start == NULL || !same(word, "__attribute__"))) name = word;
    } else if (*t.start == ')') {
      parens--;
    } else if (*t.start == '{') {
      const char *close = block_end(p, end);
      if (name.start != NULL) {
        if (found != NULL) found[n] = (Definition){name, {p, close}, 0};
        n++;
      }
      p = close;
      name = (Span){NULL, NULL};
    } else if (*t.start == ';') {
      name = (Span){NULL, NULL};
    } else if (is_word(t)) {
      word = t;
    }
  }
  return n;
}

/* --- what a kernel reaches --------------------------------------------- */

typedef struct {
  Definition *definitions;
  size_t n;
  const char *const *names;
} Search;

static int same_text(Span a, Span b) {
  const size_t length = (size_t)(a.end - a.start);
  return (size_t)(b.end - b.start) == length && memcmp(a.start, b.start, length) == 0;
}

static int defines(const Search *s, Span name) {
  for (size_t i = 0; i < s->n; i++)
    if (same_text(s->definitions[i].name, name)) return 1;
  return 0;
}

/* Whether a word is the name, or starts like a name that ends in `*`. */
static int matches(Span t, const char *name) {
  const size_t length = strlen(name);
  if (length == 0 || name[length - 1] != '*') return same(t, name);
  return (size_t)(t.end - t.start) >= length - 1 && memcmp(t.start, name, length - 1) == 0;
}

static const char *search_body(Search *s, Span body, int depth) {
  const char *p = body.start;
  Span t;
  while (next_token(&p, body.end, &t)) {
    if (!is_word(t)) continue;
    for (int i = 0; s->names[i] != NULL; i++)
      if (matches(t, s->names[i])) return s->names[i];
    for (size_t i = 0; i < s->n && depth < 100; i++) {
      Definition *d = &s->definitions[i];
      if (d->visited || !same_text(d->name, t)) continue;
      d->visited = 1;
      const char *found = search_body(s, d->body, depth + 1);
      if (found != NULL) return found;
    }
  }
  return NULL;
}

int clc_mentions(const char *text, const char *const names[]) {
  const char *p = text, *end = text + strlen(text);
  Span t;
  while (next_token(&p, end, &t))
    for (int i = 0; names[i] != NULL; i++)
      if (same(t, names[i])) return 1;
  return 0;
}

/* Leaves a block on the stack. */
static Search new_search(lua_State *L, const char *text, const char *const *names) {
  Search s = {NULL, find_definitions(text, NULL), names};
  s.definitions = lua_newuserdatauv(L, (s.n + 1) * sizeof *s.definitions, 0);
  find_definitions(text, s.definitions);
  return s;
}

const char *clc_reaches(lua_State *L, const char *text, const char *kernel,
                        const char *const names[]) {
  Search s = new_search(L, text, names);
  const Span name = {kernel, kernel + strlen(kernel)}; /* leads to the kernel's body */
  const Span all = {text, text + strlen(text)};
  /* A macro may have written the kernel's head: then any use in the text counts. */
  const char *found = search_body(&s, defines(&s, name) ? name : all, 0);
  lua_pop(L, 1);
  return found;
}

/* --- conditions of loops ----------------------------------------------- */

/* What stands in the parentheses after `for` or `while`; of a `for` its second part. */
static Span read_condition(const char *p, const char *end, int is_for) {
  Span t, condition = {p, p};
  int depth = 0, part = 0;
  while (next_token(&p, end, &t)) {
    if (*t.start == '(' && depth++ == 0) condition.start = p;
    if (depth == 0) break; /* a word of a comment-free text that begins no loop */
    if (*t.start == ')' && --depth == 0) {
      if (!is_for || part == 1) condition.end = t.start;
      break;
    }
    if (*t.start != ';' || depth != 1 || !is_for) continue;
    if (part++ == 0)
      condition.start = p;
    else {
      condition.end = t.start;
      break;
    }
  }
  return condition.end > condition.start ? condition : (Span){p, p};
}

static int count_lines(const char *start, const char *end) {
  int n = 1;
  for (; start < end; start++) n += *start == '\n';
  return n;
}

int clc_loopline(lua_State *L, const char *text, size_t start, const char *name) {
  const char *const names[] = {name, NULL};
  const char *p = text + start, *end = text + strlen(text);
  if (strstr(text, name) == NULL) return 0;
  Search s = new_search(L, text, names);
  Span t;
  int line = 0;
  while (line == 0 && next_token(&p, end, &t)) {
    const int is_for = same(t, "for");
    if (!is_for && !same(t, "while")) continue;
    if (search_body(&s, read_condition(p, end, is_for), 0) != NULL)
      line = count_lines(text + start, t.start);
  }
  lua_pop(L, 1);
  return line;
}

/* --- typedefs ---------------------------------------------------------- */

#define DEEPEST 8 /* typedefs of typedefs */

/* Reads what stands between `typedef` and `;`. Returns whether it is words alone. */
static int read_typedef(const char **p, const char *end, Span *base, Span *name) {
  Span t;
  int plain = 1, n = 0;
  *base = *name = (Span){NULL, NULL};
  while (next_token(p, end, &t) && *t.start != ';') {
    if (*t.start == '{') *p = block_end(*p, end);
    if (!is_word(t)) plain = 0;
    if (n++ == 0) base->start = t.start;
    base->end = name->end;
    *name = t;
  }
  return plain && n >= 2;
}

/* The one plain typedef of a name in the text. */
static int find_typedef(const char *text, Span name, Span *base) {
  const char *p = text, *end = text + strlen(text);
  Span t, declared, found;
  int n = 0, plain = 0;
  while (next_token(&p, end, &t)) {
    if (!same(t, "typedef")) continue;
    const int words = read_typedef(&p, end, &found, &declared);
    if (declared.start == NULL || !same_text(declared, name)) continue;
    plain = words;
    *base = found;
    n++;
  }
  return n == 1 && plain;
}

/* The replacement of the one macro of that name, if it is words alone. */
static int find_macro(const char *text, Span name, Span *body) {
  const char *p = text, *end = text + strlen(text);
  Span t;
  Definition d;
  int n = 0;
  while (next_token(&p, end, &t)) {
    if (*t.start != '#') continue;
    const char *line = line_end(p);
    if (note_macro(&d, p, line) && same_text(d.name, name)) {
      *body = d.body;
      n++;
    }
    p = line;
  }
  if (n != 1) return 0;
  p = body->start;
  body->start = skip_blank(p);
  while (next_token(&p, body->end, &t))
    if (!is_word(t)) return 0;
  while (body->end > body->start && isspace((unsigned char)body->end[-1])) body->end--;
  return body->start < body->end;
}

/* Pushes the words with one space between them. */
static const char *push_words(lua_State *L, Span words) {
  const char *p = words.start;
  Span t;
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  while (next_token(&p, words.end, &t)) {
    if (t.start != words.start) luaL_addchar(&b, ' ');
    luaL_addlstring(&b, t.start, (size_t)(t.end - t.start));
  }
  luaL_pushresult(&b);
  return lua_tostring(L, -1);
}

const char *clc_pushtype(lua_State *L, const char *text, const char *name) {
  Span type = {name, name + strlen(name)}, next = type;
  for (int i = 0; i < DEEPEST; i++) {
    /* The driver has expanded the macros of the first name. */
    if (!find_typedef(text, type, &next) && (i == 0 || !find_macro(text, type, &next))) break;
    type = next;
  }
  return push_words(L, type);
}

/* --- excerpts ---------------------------------------------------------- */

/* Line `number` of the text, without its end. */
static Span find_line(const char *text, int number) {
  while (--number > 0 && *text != '\0') {
    text += strcspn(text, "\n");
    if (*text == '\n') text++;
  }
  return (Span){text, text + strcspn(text, "\n")};
}

/* The line number of the next `name:line:` in the log, or 0. */
static int next_reference(const char **log, const char *name) {
  const size_t length = strlen(name);
  const char *p = *log;
  while ((p = strstr(p, name)) != NULL) {
    p += length;
    if (*p != ':' || !isdigit((unsigned char)p[1])) continue;
    *log = p;
    return atoi(p + 1);
  }
  return 0;
}

void clc_pushexcerpt(lua_State *L, const char *text, const char *name, const char *log) {
  int shown[SHOWN_LINES], n = 0, number;
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  while (n < SHOWN_LINES && (number = next_reference(&log, name)) != 0) {
    int seen = 0;
    for (int i = 0; i < n; i++) seen = seen || shown[i] == number;
    const Span line = find_line(text, number);
    if (seen || line.start == line.end) continue;
    shown[n++] = number;
    lua_pushfstring(L, "\n%s:%d | ", name, number);
    luaL_addvalue(&b);
    luaL_addlstring(&b, line.start, (size_t)(line.end - line.start));
  }
  luaL_pushresult(&b);
}
