/* SPDX-License-Identifier: MIT */
/* What the text of a program says that OpenCL cannot be asked. It is plain (text.h). */
#ifndef CLC_SOURCE_H
#define CLC_SOURCE_H

#include "base/base.h"

/*
 * Returns the first of the NULL-terminated names that a kernel reaches: in its
 * body, or in functions and macros of the same text that it uses. NULL: none. A name
 * that ends in `*` stands for all that start so.
 */
const char *clc_reaches(lua_State *L, const char *text, const char *kernel,
                        const char *const names[]);

/* Whether one of the names stands anywhere in the code of a text. */
int clc_mentions(const char *text, const char *const names[]);

/*
 * Where the condition of a `for` or `while` reaches `name` (itself, by macros or by functions of
 * the text): the line of the first such loop, counted from 1 at text + start; loops before are not
 * looked at. 0: none.
 */
int clc_loopline(lua_State *L, const char *text, size_t start, const char *name);

/*
 * Pushes the type that the text's typedefs make of a name ("real", "vec"), the name
 * itself where there is none, or where there are several or none that is plain words. An
 * enumeration is "enum", with its tag if it has one.
 */
const char *clc_pushtype(lua_State *L, const char *text, const char *name);

#endif
