/* SPDX-License-Identifier: MIT */
/* The tokens of OpenCL C, as far as finding names in a text needs them. */
#include "lexer.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

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

int clc_isthe(clc_Span t, const char *word) {
  const size_t n = (size_t)(t.end - t.start);
  return strlen(word) == n && memcmp(t.start, word, n) == 0;
}
