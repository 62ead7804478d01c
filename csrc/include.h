/* SPDX-License-Identifier: MIT */
/* Includes: the files that the text of a program takes in. */
#ifndef CLC_INCLUDE_H
#define CLC_INCLUDE_H

#include "error.h"

#pragma GCC visibility push(hidden)

/*
 * Pushes the text of every file that the text includes, directly or not, each
 * behind a directive that tells its path and length. `options` holds the folders
 * ("-I dir"). Which of several files of that name the compiler takes is its
 * affair: all of them are there. Returns whether every include was found. `repeatable`
 * learns whether the outcome of a build depends on these texts alone: not when one
 * was not found, or a text asks for the time or for the presence of a file. Raises where
 * one of them is no plain file.
 */
int clc_pushincluded(lua_State *L, const char *text, const char *options, int *repeatable);

/* Raises where a path is a pipe, a socket or a device: to open or to read one may never end,
   here and in a compiler. */
void clc_checkplainfile(lua_State *L, const char *path);

#pragma GCC visibility pop

#endif
