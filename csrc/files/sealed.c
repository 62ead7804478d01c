/* SPDX-License-Identifier: MIT */
/* Seals: what goes before strings in a file, so that a damaged file is told from a sound one. */
#include "files.h"

#include <string.h>

uint64_t clc_hash(uint64_t h, const void *data, size_t n) {
  const unsigned char *p = data;
  for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * UINT64_C(0x100000001b3);
  return h;
}

static uint64_t checksum(const clc_Seal *s, const char *const section[]) {
  uint64_t sum = clc_hash(CLC_HASHSTART, s->length, sizeof s->length);
  for (int i = 0; i < CLC_SECTIONS; i++) sum = clc_hash(sum, section[i], (size_t)s->length[i]);
  return sum;
}

clc_Seal clc_seal(lua_State *L, uint64_t magic, uint64_t version, const int index[],
                  const char *section[]) {
  clc_Seal s = {magic, version, 0, {0}};
  for (int i = 0; i < CLC_SECTIONS; i++) {
    section[i] = lua_tostring(L, index[i]);
    s.length[i] = lua_rawlen(L, index[i]);
  }
  s.checksum = checksum(&s, section);
  return s;
}

int clc_issealed(const char *bytes, size_t n, uint64_t magic) {
  return n >= sizeof(clc_Seal) && memcmp(bytes, &magic, sizeof magic) == 0;
}

int clc_unseal(const char *bytes, size_t n, uint64_t magic, uint64_t version, clc_Seal *s,
               const char *section[]) {
  if (!clc_issealed(bytes, n, magic)) return 0;
  memcpy(s, bytes, sizeof *s);
  const char *p = bytes + sizeof *s;
  uint64_t left = n - sizeof *s;
  for (int i = 0; i < CLC_SECTIONS; i++) {
    if (s->length[i] > left) return 0;
    section[i] = p;
    p += s->length[i];
    left -= s->length[i];
  }
  return left == 0 && s->version == version && s->checksum == checksum(s, section);
}
