/* SPDX-License-Identifier: MIT */
/* The tokens of OpenCL C, as far as finding names in a plain text (text.h) needs them. */
#ifndef CLC_LEXER_H
#define CLC_LEXER_H

/* A part of a text. */
typedef struct clc_Span {
  const char *start, *end;
} clc_Span;

/* The next token before `end`: a word, a number, a quoted text or one character.
   Returns whether there is one, and moves *p behind it. */
int clc_nexttoken(const char **p, const char *end, clc_Span *token);

/* Whether a token is an identifier or keyword, and whether it is that one. */
int clc_isword(clc_Span t);
int clc_isthe(clc_Span t, const char *word);

/* The end of a line. */
const char *clc_lineend(const char *p);

/* The lines that end between two places of a text. */
int clc_countlines(const char *start, const char *end);

#endif
