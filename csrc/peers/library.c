/* SPDX-License-Identifier: MIT */
/* Libraries that are opened when asked: where they are, and what is taken from them. */
#define _GNU_SOURCE /* dlinfo */
#include "peers.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

/* They stay for good: their threads and caches outlive any object of ours. */
static void *open_file(const char *name) {
  return dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

/* The handle; or NULL, with the reason pushed. */
static void *open_any(lua_State *L, const clc_Library *library) {
  const char *path = getenv(library->variable);
  void *handle = NULL;
  if (path != NULL && *path != '\0') {
    handle = open_file(path);
    if (handle == NULL) lua_pushfstring(L, "%s: %s", library->variable, dlerror());
    return handle;
  }
  for (const char *const *name = library->names; handle == NULL && *name != NULL; name++)
    handle = open_file(*name);
  if (handle == NULL)
    lua_pushfstring(L, "%s does not open; install the Debian package %s, or set %s to its path",
                    library->names[0], library->package, library->variable);
  return handle;
}

/* Without links, so that the name tells the version: libclblast.so.1.5.3. */
static const char *push_path(lua_State *L, void *handle) {
  struct link_map *map = NULL;
  char real[PATH_MAX];
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) return lua_pushliteral(L, "");
  return lua_pushstring(L, realpath(map->l_name, real) != NULL ? real : map->l_name);
}

int clc_openlibrary(lua_State *L, const clc_Library *library, void *functions) {
  void *handle = open_any(L, library);
  if (handle == NULL) return 0;
  const char *path = push_path(L, handle);
  for (const clc_Symbol *s = library->symbols; s->name != NULL; s++) {
    void *address = dlsym(handle, s->name);
    if (address == NULL) {
      lua_pushfstring(L, "%s has no %s", path, s->name);
      return 0;
    }
    memcpy((char *)functions + s->offset, &address, sizeof address);
  }
  return 1;
}
