/* SPDX-License-Identifier: MIT */
/* Plain text: OpenCL C without what compilers drop before they look for words. */
#ifndef CLC_TEXT_H
#define CLC_TEXT_H

#include "base/base.h"

/*
 * Pushes the text with a blank for each comment and without the ends of lines that
 * go on in the next one. What stood on a line is still on the one of that number, or
 * on the one where its logical line begins.
 */
const char *clc_pushplain(lua_State *L, const char *text);

#endif
