/* SPDX-License-Identifier: MIT */
/* Declarations of kernels, kept with a binary; the text behind the first NUL is that of the
 * program. */
#include "language/language.h"

#include "kernel/kernel.h"
#include "target.h"

static int read_declarations(lua_State *L) {
  const char *text = lua_tostring(L, 1);
  const size_t length = strlen(text);
  const char *program = length < lua_rawlen(L, 1) ? text + length + 1 : text + length;
  clc_declares(text, "k;second");
  clc_declares(text, program);
  for (cl_uint i = 0; i < 4; i++) {
    clc_Declaration d;
    clc_Argument a;
    if (clc_finddeclaration(text, "k", i, &d)) clc_readargument(L, &d, program, &a);
  }
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  target_call(target_state(), read_declarations, data, size);
  return 0;
}
