/* SPDX-License-Identifier: MIT */
/* Texts that outlast a process: the folder they are in, and lines added to them. */
#ifndef CLC_TEXTFILE_H
#define CLC_TEXTFILE_H

#include "base/base.h"

/* Adds internal functions to the table at the top: cache_folder, make_folders, append_text. */
void clc_opentextfiles(lua_State *L);

#endif
