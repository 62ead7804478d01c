/* SPDX-License-Identifier: MIT */
/* Texts of programs: what is read of kernels, calls, loops and typedefs. */
#include "language/language.h"

#include "target.h"

static int read_text(lua_State *L) {
  static const char *const names[] = {"get_group_id", "barrier", "get_local_*", NULL};
  const char *text = clc_pushplain(L, lua_tostring(L, 1));
  clc_reaches(L, text, "k", names);
  clc_mentions(text, names);
  int lines[CLC_SUSPICIONS];
  clc_findsuspects(L, text, 0, lines);
  clc_pushtype(L, text, "real");
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  target_call(target_state(), read_text, data, size);
  return 0;
}
