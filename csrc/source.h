/* SPDX-License-Identifier: MIT */
/* What the text of a program says that OpenCL cannot be asked. */
#ifndef CLC_SOURCE_H
#define CLC_SOURCE_H

#include "error.h"

#pragma GCC visibility push(hidden)

/*
 * Returns the first of the NULL-terminated names that a kernel reaches: in its
 * body, or in functions and macros of the same text that it uses. NULL: none.
 * Included files are not read: a text with an #include reaches "code of an #include".
 */
const char *clc_reaches(lua_State *L, const char *text, const char *kernel,
                        const char *const names[]);

/*
 * Pushes the type that the text's typedefs make of a name ("real", "vec"), the name
 * itself where there is none, or where there are several or none that is plain words.
 */
const char *clc_pushtype(lua_State *L, const char *text, const char *name);

/* Pushes lines of the text that a build log points at, numbered, each once;
   the log names them `name:line:`. */
void clc_pushexcerpt(lua_State *L, const char *text, const char *name, const char *log);

#pragma GCC visibility pop

#endif
