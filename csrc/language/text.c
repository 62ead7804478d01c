/* SPDX-License-Identifier: MIT */
/* Plain text: OpenCL C without what compilers drop before they look for words; and its tokens. */
#include "language.h"

#include <ctype.h>
#include <string.h>

/* Where the text goes, which never grows: so it may be the text itself. */
typedef struct {
  char *end;
  int owed; /* ends of lines that were dropped and follow at the next one */
} Output;

static void pay(Output *out) {
  for (; out->owed > 0; out->owed--) *out->end++ = '\n';
}

static void put(Output *out, char c) {
  *out->end++ = c;
  if (c == '\n') pay(out);
}

static void finish(Output *out) {
  pay(out);
  *out->end = '\0';
}

/* The characters of a backslash that ends a line, and of the end; 0: there is none. */
static size_t splice_length(const char *p) {
  if (*p != '\\') return 0;
  const size_t blanks = strspn(p + 1, " \t\r\v\f"); /* compilers allow them there */
  return p[1 + blanks] == '\n' ? 2 + blanks : 0;
}

static void splice(char *text) {
  Output out = {text, 0};
  for (const char *p = text; *p != '\0';) {
    const size_t n = splice_length(p);
    out.owed += n > 0;
    p += n;
    if (n == 0) put(&out, *p++);
  }
  finish(&out);
}

/* Copies what stands between quotes, or up to the end of the line. */
static const char *copy_quoted(Output *out, const char *p) {
  const char quote = *p;
  put(out, *p++);
  while (*p != '\0' && *p != quote && *p != '\n') {
    if (*p == '\\' && p[1] != '\0') put(out, *p++);
    put(out, *p++);
  }
  if (*p == quote) put(out, *p++);
  return p;
}

static const char *drop_comment(Output *out, const char *p) {
  if (p[1] == '/') return p + strcspn(p, "\n");
  const char *close = strstr(p + 2, "*/");
  const char *end = close != NULL ? close + 2 : p + strlen(p);
  for (; p < end; p++) out->owed += *p == '\n';
  put(out, ' ');
  return end;
}

static void strip(char *text) {
  Output out = {text, 0};
  for (const char *p = text; *p != '\0';) {
    if (p[0] == '/' && (p[1] == '*' || p[1] == '/'))
      p = drop_comment(&out, p);
    else if (*p == '"' || *p == '\'')
      p = copy_quoted(&out, p);
    else
      put(&out, *p++);
  }
  finish(&out);
}

const char *clc_pushplain(lua_State *L, const char *text) {
  char *copy = lua_newuserdatauv(L, strlen(text) + 1, 0);
  strcpy(copy, text);
  splice(copy);
  strip(copy);
  lua_pushstring(L, copy);
  lua_remove(L, -2);
  return lua_tostring(L, -1);
}

/* --- tokens ---------------------------------------------------------------- */

static int is_word_char(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

static const char *skip_quoted(const char *p) {
  const char quote = *p++;
  while (*p != '\0' && *p != quote && *p != '\n') p += *p == '\\' && p[1] != '\0' ? 2 : 1;
  return *p == quote ? p + 1 : p;
}

const char *clc_lineend(const char *p) {
  return p + strcspn(p, "\n");
}

int clc_countlines(const char *start, const char *end) {
  int n = 0;
  for (; start < end; start++) n += *start == '\n';
  return n;
}

int clc_nexttoken(const char **p, const char *end, clc_Span *token) {
  token->start = *p;
  while (isspace((unsigned char)*token->start)) token->start++;
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

int clc_isword(clc_Span t) {
  return is_word_char(*t.start) && !isdigit((unsigned char)*t.start);
}

clc_Span clc_longestword(const char *text) {
  const char *const end = text + strlen(text);
  clc_Span longest = {text, text}, token;
  while (clc_nexttoken(&text, end, &token))
    if (clc_isword(token) && token.end - token.start > longest.end - longest.start) longest = token;
  return longest;
}

int clc_isthe(clc_Span t, const char *word) {
  const size_t n = (size_t)(t.end - t.start);
  return strlen(word) == n && memcmp(t.start, word, n) == 0;
}

/* --- files that were joined ------------------------------------------------ */

int clc_nextfile(const char **text, clc_Span *name, clc_Span *file) {
  static const char mark[] = CLC_NEXTFILE;
  const char *p = *text;
  if (*p == '\0') return 0;
  *name = (clc_Span){NULL, NULL};
  if (strncmp(p, mark, sizeof mark - 1) == 0) {
    name->start = p + sizeof mark - 1;
    name->end = name->start + strcspn(name->start, "\"\n");
    p = clc_lineend(name->end);
    p += *p != '\0';
  }
  const char *end = strstr(p, mark);
  *file = (clc_Span){p, end != NULL ? end : p + strlen(p)};
  *text = file->end;
  return 1;
}

clc_Span clc_findfile(const char *text, int *line) {
  clc_Span name = {NULL, NULL}, next, file;
  int before = 0; /* lines of the files before, and of what stands between */
  while (clc_nextfile(&text, &next, &file)) {
    const int lines = clc_countlines(file.start, file.end) + 1;
    name = next;
    if (*line - before <= lines || *text == '\0') break;
    before += lines + 1;
  }
  *line -= before;
  return name;
}
