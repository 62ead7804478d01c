/* SPDX-License-Identifier: MIT */
/* Work-group functions for kernels of users. */
#include "build.h"

#include <CL/cl_ext.h> /* CL_DEVICE_HALF_FP_CONFIG */
#include <string.h>

#include "files/files.h"

#define LANES 32                 /* of a device whose work-items run many at a time */
#define SLOT 8                   /* bytes of a value of any type */
#define BODY " CLC_KERNEL_BODY " /* what the header calls the declarations */

/* --- what the header must know ------------------------------------------ */

/* Slots with the padding and the lanes' own. */
static size_t shared_bytes(size_t slots) {
  return (LANES + slots + slots / LANES) * SLOT;
}

size_t clc_workgroupslots(const clc_Device *d) {
  size_t slots = d->context->max_group;
  while (slots > 1 && shared_bytes(slots) > d->context->local_memory / 2) slots /= 2;
  return slots;
}

/* Whether the device says that it has the functions: never found out by compiling, NVIDIA's
   compiler takes them and gets some wrong. */
static int claims_native(lua_State *L, const clc_Device *d) {
  if (d->context->version < 300) return d->context->version >= 200;
  return clc_optdevicenumber(L, d->context->place.device,
                             CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT, 0) != 0;
}

static int has_native(lua_State *L, const clc_Device *d) {
  return claims_native(L, d) && clc_askofdevice(L, d, "has_collectives");
}

const char *clc_pushworkgroup(lua_State *L, const clc_Device *d) {
  const int top = lua_gettop(L);
  const char *path = lua_pushfstring(L, "%s/" CLC_WORK_GROUP_HEADER, clc_pushkernelfolder(L));
  const char *header = clc_readfile(L, path);
  lua_pushfstring(
      L,
      "#define CLC_SLOTS %I\n#define CLC_LANES %d\n#define CLC_NATIVE %d\n"
      "#define CLC_DOUBLE %d\n#define CLC_HALF %d\n%s",
      (LUAI_UACINT)clc_workgroupslots(d), d->context->is_cpu ? 1 : LANES, has_native(L, d),
      d->context->has_double,
      clc_optdevicenumber(L, d->context->place.device, CL_DEVICE_HALF_FP_CONFIG, 0) != 0, header);
  lua_replace(L, top + 1);
  lua_settop(L, top + 1);
  return lua_tostring(L, -1);
}

const char *clc_pushheaderoption(lua_State *L) {
  const char *folder = clc_pushkernelfolder(L);
  if (strpbrk(folder, " \t\"") != NULL)
    luaL_error(L,
               "a program that finds <clcompute/...> among files needs the library in a folder "
               "without blanks, not in %s; <" CLC_WORK_GROUP_HEADER "> may stand in its own text",
               folder);
  lua_pushfstring(L, " -I %s", folder);
  lua_remove(L, -2);
  return lua_tostring(L, -1);
}

/* --- the bodies of kernels ------------------------------------------------ */

/* Where in the head of a kernel a text is. */
typedef struct {
  int head, parens;
} Place;

#define BRANCHES 64 /* #if within #if that are followed */

typedef struct {
  lua_State *L;
  luaL_Buffer out;
  int macros; /* stack index: the macros that stand for `kernel`, as a set */
  int depth;
  Place before[BRANCHES]; /* each open #if */
} Copy;

/* Whether a token begins the head of a kernel, by itself or as a macro of the set at `macros`. */
static int begins_kernel(lua_State *L, int macros, clc_Span t) {
  if (clc_isthe(t, "kernel") || clc_isthe(t, "__kernel")) return 1;
  if (!clc_isword(t)) return 0;
  lua_pushlstring(L, t.start, (size_t)(t.end - t.start));
  const int known = lua_rawget(L, macros) != LUA_TNIL;
  lua_pop(L, 1);
  return known;
}

/* Adds to the set at the top the macro of a directive, if it stands for words with `kernel` among
   them, and neither a body nor a `;` behind. Returns whether it was not there. */
static int note_macro(lua_State *L, const char *p, const char *end) {
  const int macros = lua_gettop(L);
  clc_Span name, t;
  int is_kernel = 0;
  if (!clc_nexttoken(&p, end, &t) || !clc_isthe(t, "define") || !clc_nexttoken(&p, end, &name) ||
      begins_kernel(L, macros, name))
    return 0;
  while (clc_nexttoken(&p, end, &t)) {
    if (*t.start == '{') return 0;
    is_kernel = *t.start != ';' && (is_kernel || begins_kernel(L, macros, t));
  }
  if (!is_kernel) return 0;
  lua_pushlstring(L, name.start, (size_t)(name.end - name.start));
  lua_pushboolean(L, 1);
  lua_rawset(L, macros);
  return 1;
}

/* Adds the macros of a text to the set at the top; returns how many. */
static int note_macros(lua_State *L, const char *text) {
  const char *p = text, *end = text + strlen(text);
  clc_Span t;
  int added = 0;
  while (clc_nexttoken(&p, end, &t)) {
    if (*t.start != '#') continue;
    const char *line = clc_lineend(p);
    added += note_macro(L, p, line);
    p = line;
  }
  return added;
}

#define DEEPEST 8 /* macros of macros, in an order that is not that of their use */

static void push_macros(lua_State *L, const char *text) {
  lua_newtable(L);
  for (int i = 0; i < DEEPEST && note_macros(L, text) > 0;) i++;
}

static void copy_code(Copy *c, const char *p, const char *end, int top);

/* Copies the directive behind a #, but for the include of the header. */
static void copy_directive(Copy *c, const char *p, const char *end) {
  const char *rest = p;
  clc_Span t;
  if (clc_includes(p, CLC_WORK_GROUP_HEADER)) return;
  luaL_addchar(&c->out, '#');
  if (clc_nexttoken(&rest, end, &t) && clc_isthe(t, "define"))
    copy_code(c, p, end, 0);
  else
    luaL_addlstring(&c->out, p, (size_t)(end - p));
}

/* Every branch of an #if goes on from what stands before it. */
static void follow_branch(Copy *c, const char *p, const char *end, Place *at) {
  clc_Span t;
  if (!clc_nexttoken(&p, end, &t)) return;
  if (clc_isthe(t, "if") || clc_isthe(t, "ifdef") || clc_isthe(t, "ifndef")) {
    if (c->depth++ < BRANCHES) c->before[c->depth - 1] = *at;
  } else if (c->depth > 0 && clc_isthe(t, "endif")) {
    c->depth--;
  } else if (c->depth > 0 && c->depth <= BRANCHES &&
             (clc_isthe(t, "else") || clc_isthe(t, "elif"))) {
    *at = c->before[c->depth - 1];
  }
}

/* Copies code with the declarations at the beginning of every kernel's body; `top`:
   it is no directive. */
static void copy_code(Copy *c, const char *p, const char *end, int top) {
  const char *from = p;
  Place at = {0, 0};
  clc_Span t;
  while (clc_nexttoken(&p, end, &t)) {
    if (*t.start == '#' && top) {
      luaL_addlstring(&c->out, from, (size_t)(t.start - from));
      from = clc_lineend(p);
      follow_branch(c, p, from, &at);
      copy_directive(c, p, from);
      p = from;
    } else if (*t.start == '(' || *t.start == ')') {
      at.parens += *t.start == '(' ? 1 : -1;
    } else if (*t.start == '{' && at.parens == 0 && at.head) {
      luaL_addlstring(&c->out, from, (size_t)(p - from));
      luaL_addstring(&c->out, BODY);
      from = p;
      at.head = 0;
    } else if (*t.start == ';' && at.parens == 0) {
      at.head = 0;
    } else if (begins_kernel(c->L, c->macros, t)) {
      at = (Place){1, 0}; /* whatever an #if left open */
    }
  }
  luaL_addlstring(&c->out, from, (size_t)(end - from));
}

const char *clc_pushbodies(lua_State *L, const char *plain, size_t start) {
  const int top = lua_gettop(L);
  Copy c = {.L = L, .macros = top + 1};
  push_macros(L, plain);
  luaL_buffinit(L, &c.out);
  copy_code(&c, plain + start, plain + strlen(plain), 1);
  luaL_pushresult(&c.out);
  lua_replace(L, top + 1);
  lua_settop(L, top + 1);
  return lua_tostring(L, -1);
}
