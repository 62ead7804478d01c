/* SPDX-License-Identifier: MIT */
/* Includes: the files that the text of a program takes in. */
#ifndef CLC_INCLUDE_H
#define CLC_INCLUDE_H

#include "base/base.h"

/* The header that the library supplies itself (workgroup.h). */
#define CLC_WORK_GROUP_HEADER "clcompute/work_group.h"

/* What is known of a text's includes. */
typedef struct clc_Included {
  int complete;   /* every one was found */
  int repeatable; /* the outcome of a build depends on these texts alone: not when one was not
                     found, or a text asks for the time or for the presence of a file */
  int header_by_text, header_by_file; /* where the library's header is included */
} clc_Included;

/*
 * Pushes the text of every file that the text includes, directly or not, each
 * behind a directive that tells its path and length; not that of the library's header. `options`
 * holds the folders ("-I dir"). Which of several files of that name the compiler takes is its
 * affair: all of them are there. Raises where one of them is no plain file.
 */
clc_Included clc_pushincluded(lua_State *L, const char *text, const char *options);

/* Whether the directive behind the # of a plain text includes a file by that name. */
int clc_includes(const char *directive, const char *name);

#endif
