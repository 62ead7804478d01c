/* SPDX-License-Identifier: MIT */
/* Sequences: launches, fills and copies that a function queued while its device recorded them. */
#include "kernel.h"

#include <string.h>

typedef struct {
  clc_Handle h;
  clc_Recording recording;
} Sequence;

/* What a sequence keeps by clc_setvalue: the kernels of the launches that a script made, by their
   number; while it is recorded the registry has that table under the recording's address. */
enum { KERNELS = 1 };

static void sequence_release(clc_Handle *h) {
  clc_droprecording(&((Sequence *)h)->recording);
}

static const clc_Type sequence_type = {
    "sequence", "clcompute.Sequence", sizeof(Sequence), sequence_release, 0, NULL};

static Sequence *check_sequence(lua_State *L, int arg) {
  return clc_checkhandle(L, arg, &sequence_type);
}

/* --- recording --------------------------------------------------------- */

void clc_keepsignature(lua_State *L, const clc_Device *d, int kernel) {
  const clc_Recording *r = clc_getrecording(d);
  if (r == NULL) return;
  lua_rawgetp(L, LUA_REGISTRYINDEX, r);
  lua_pushvalue(L, kernel);
  lua_rawseti(L, -2, (lua_Integer)r->launches);
  lua_pop(L, 1);
}

/* Calls the function at the top; returns the status of lua_pcall. */
static int record(lua_State *L, clc_Device *d, Sequence *s, int kernels) {
  clc_Recording *r = &s->recording;
  lua_pushvalue(L, kernels);
  lua_rawsetp(L, LUA_REGISTRYINDEX, r);
  clc_beginrecording(L, d, r);
  const int status = lua_pcall(L, 0, 0, 0);
  clc_endrecording(r);
  lua_pushnil(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, r);
  return status;
}

/* Records what the function that is argument 2 queues on the device that is argument 1; the
   sequence is at the top then. */
static Sequence *record_arguments(lua_State *L, int is_unheld) {
  clc_Device *d = clc_checkopen(L, 1);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  if (d->context->executor->is_isolated)
    luaL_error(L,
               "record: the kernels of an isolated device run in a process of their own, which "
               "is told of each launch; isolated = false has a device that records");
  /* Of what waits nobody may have some any more, and of that one may be too large to compute. */
  if (d->context->deferred != NULL) lua_gc(L, LUA_GCCOLLECT, 0);
  clc_checkopen(L, 1);                  /* a finalizer may close it */
  clc_beforewrite(L, d->context, NULL); /* or it would be computed at the replay */
  if (d->context->recording != NULL)
    luaL_error(L, "record: a recording does not hold another one of the same device");
  lua_settop(L, 2);
  Sequence *s = clc_newowned(L, &sequence_type, d, 0);
  s->recording.is_unheld = is_unheld;
  lua_newtable(L);
  lua_pushvalue(L, -1);
  clc_setvalue(L, 3, KERNELS);
  lua_pushvalue(L, 2);
  const int status = record(L, d, s, 4);
  if (status != LUA_OK) {
    clc_release(&s->h);
    lua_error(L);
  }
  if (s->h.released) luaL_error(L, "record: device is released");
  lua_settop(L, 3);
  return s;
}

static int device_record(lua_State *L) {
  record_arguments(L, 0);
  return 1;
}

/* --- replay ------------------------------------------------------------ */

static int sequence_call(lua_State *L) {
  Sequence *s = check_sequence(L, 1);
  clc_Device *d = s->recording.device;
  lua_settop(L, lua_gettop(L) > 1 ? lua_gettop(L) : 2);
  lua_rotate(L, 1, -1); /* the sequence last: messages count the turns as argument 1 */
  const lua_Integer n = luaL_optinteger(L, 1, 1);
  if (lua_gettop(L) > 2) luaL_error(L, "sequence: at most 1 argument expected, a number of turns");
  luaL_argcheck(L, n >= 0, 1, "turns must not be negative");
  if (d->context->recording != NULL) luaL_error(L, "a sequence cannot be recorded in another one");
  clc_Event *e = clc_newevent(L, d, "sequence");
  if (s->recording.prints) clc_beforeoutput();
  for (lua_Integer i = 0; i < n && s->recording.n > 0; i++) clc_replay(L, &s->recording, e);
  if (s->h.released) luaL_error(L, "sequence" CLC_RELEASED);
  if (s->recording.prints) clc_awaitprinted(L, d);
  return 1;
}

/* --- changes ----------------------------------------------------------- */

/* The launch that argument 2 counts, whose kernel is pushed. */
static clc_Kept *check_launch(lua_State *L, const Sequence *s, const clc_Kernel **kernel) {
  const clc_Recording *r = &s->recording;
  const lua_Integer i = luaL_checkinteger(L, 2);
  if (i < 1 || (lua_Unsigned)i > r->launches)
    clc_argerror(L, 2, "launch %I is outside 1 .. %I", (LUAI_UACINT)i, (LUAI_UACINT)r->launches);
  clc_Kept *launch = clc_keptlaunch(r, (size_t)i - 1);
  clc_getvalue(L, 1, KERNELS);
  if (lua_rawgeti(L, -1, i) == LUA_TNIL)
    clc_argerror(L, 2, "launch %I, of %s, belongs to an operation, which chose its arguments",
                 (LUAI_UACINT)i, launch->what);
  *kernel = clc_tohandle(L, -1, &clc_kerneltype); /* the arguments of a released one are known */
  if (*kernel == NULL)                            /* finalized, as where the state ends */
    clc_argerror(L, 2, "the kernel of launch %I is gone", (LUAI_UACINT)i);
  lua_remove(L, -2);
  return launch;
}

/* The argument of a kernel that argument 3 names or counts. */
static cl_uint check_which(lua_State *L, const clc_Kernel *k) {
  cl_uint i = 0;
  if (lua_type(L, 3) == LUA_TNUMBER) {
    const lua_Integer n = luaL_checkinteger(L, 3);
    if (n < 1 || n > (lua_Integer)k->nargs)
      clc_argerror(L, 3, "kernel '%s' takes %d arguments, got %I", k->name, (int)k->nargs,
                   (LUAI_UACINT)n);
    return (cl_uint)n - 1;
  }
  luaL_argexpected(L, lua_isstring(L, 3), 3, "name or number of an argument");
  const char *name = lua_tostring(L, 3);
  while (i < k->nargs && strcmp(k->args[i].name, name) != 0) i++;
  if (i == k->nargs) clc_argerror(L, 3, "kernel '%s' has no argument '%s'", k->name, name);
  return i;
}

/* Raises where the launch has the image of argument 4 for another access too. */
static void check_access(lua_State *L, const clc_Kernel *k, const clc_Kept *launch, cl_uint i) {
  const clc_Image *im = clc_testhandle(L, 4, &clc_imagetype);
  for (cl_uint j = 0; j < k->nargs && im != NULL; j++)
    if (k->args[j].is_const != k->args[i].is_const && clc_isheld(launch, j, im->mem))
      clc_raiseaccess(L, k, i, j);
}

/* s:set(launch, which, value) */
static int sequence_set(lua_State *L) {
  Sequence *s = check_sequence(L, 1);
  clc_Recording *r = &s->recording;
  const clc_Kernel *k;
  lua_settop(L, 4);
  clc_usedevice(L, r->device);
  clc_Kept *launch = check_launch(L, s, &k);
  const cl_uint i = check_which(L, k);
  if (k->args[i].kind == CLC_LOCAL)
    clc_argumenterror(L, k->name, i, &k->args[i], "local memory is that of the recording");
  check_access(L, k, launch, i);
  luaL_checkstack(L, (int)k->nargs + 10, NULL);
  for (cl_uint j = 0; j < i; j++) lua_pushnil(L); /* where a launch has those before it */
  lua_pushvalue(L, 4);
  clc_dropheld(r); /* of a value that was refused */
  clc_setargument(L, k, &(clc_Target){launch->kernel, r, 0}, i, lua_gettop(L));
  clc_exchangeheld(r, launch, i);
  lua_settop(L, 1);
  return 1;
}

/* --- for the library alone --------------------------------------------- */

/* Whether what a device queues is its caller's alone: nothing records, nothing waits to be
   computed, and no hook runs Lua code in between. */
static int is_undisturbed(lua_State *L, const clc_Device *d) {
  return d->context->recording == NULL && d->context->deferred == NULL && lua_gethook(L) == NULL;
}

/* record_unheld(device, f) --> a sequence of launches that keeps no memory alive: who replays it
 * has all that it uses; false where there is none; nothing where it may be tried again. The
 * collector must not run: what finalizers queue would be part of it.
 */
static int record_unheld(lua_State *L) {
  const clc_Device *d = clc_checkopen(L, 1);
  if (!is_undisturbed(L, d)) return 0;
  if (!d->context->executor->is_isolated) {
    const Sequence *s = record_arguments(L, 1);
    if (s->recording.n == s->recording.launches) return 1;
  }
  lua_pushboolean(L, 0);
  return 1;
}

/* replay(sequence) --> whether it was queued */
static int replay(lua_State *L) {
  Sequence *s = check_sequence(L, 1);
  const int is_queued = is_undisturbed(L, s->recording.device);
  if (is_queued) clc_replay(L, &s->recording, NULL);
  lua_pushboolean(L, is_queued);
  return 1;
}

/* Whether a call may take one value for another: of the same type, no buffer that was released. A
   0.0 may be -0.0. */
static int is_same(lua_State *L, int a, int b) {
  if (lua_isnil(L, a) || !lua_rawequal(L, a, b)) return 0;
  if (lua_isuserdata(L, a)) return clc_testbuffer(L, a) != NULL;
  if (lua_type(L, a) != LUA_TNUMBER) return 1;
  if (lua_isinteger(L, a)) return lua_isinteger(L, b);
  return !lua_isinteger(L, b) && lua_tonumber(L, a) != 0;
}

/* are_same(kept, given, n) --> whether the first n values of two lists are */
static int are_same(lua_State *L) {
  const lua_Integer n = luaL_checkinteger(L, 3);
  int same = 1;
  for (lua_Integer i = 1; i <= n && same; i++) {
    lua_rawgeti(L, 1, i);
    lua_rawgeti(L, 2, i);
    same = is_same(L, 4, 5);
    lua_settop(L, 3);
  }
  lua_pushboolean(L, same);
  return 1;
}

/* --- the object -------------------------------------------------------- */

/* Pushes the names of the launches, in order. */
static void push_launches(lua_State *L, const clc_Recording *r) {
  lua_createtable(L, (int)r->launches, 0);
  for (size_t i = 0, n = 0; i < r->n; i++) {
    if (r->commands[i].transfer != NULL) continue;
    lua_pushstring(L, r->commands[i].what);
    lua_rawseti(L, -2, (lua_Integer)++n);
  }
  clc_namelist(L, "clcompute.Launches", "no launches");
}

static int sequence_field(lua_State *L) {
  const Sequence *s = check_sequence(L, 1);
  const char *key = lua_tostring(L, 2);
  if (key == NULL) return 0;
  if (strcmp(key, "launches") == 0)
    push_launches(L, &s->recording);
  else if (strcmp(key, "device") == 0)
    clc_pushdevice(L, s->recording.device);
  else
    return 0;
  return 1;
}

static int sequence_show(lua_State *L) {
  const clc_Recording *r = &check_sequence(L, 1)->recording;
  const size_t transfers = r->n - r->launches;
  lua_pushfstring(L, "sequence of %I launch%s", (LUAI_UACINT)r->launches,
                  r->launches == 1 ? "" : "es");
  if (transfers > 0)
    lua_pushfstring(L, " and %I fill%s or cop%s", (LUAI_UACINT)transfers, transfers == 1 ? "" : "s",
                    transfers == 1 ? "y" : "ies");
  else
    lua_pushliteral(L, "");
  lua_concat(L, 2);
  return 1;
}

void clc_opensequences(lua_State *L) {
  static const clc_Function of_device[] = {{"record", device_record, 1}, {NULL, NULL, 0}};
  static const clc_Function methods[] = {{"set", sequence_set, 3}, {NULL, NULL, 0}};
  static const luaL_Reg metamethods[] = {{"__call", sequence_call}, {NULL, NULL}};
  static const luaL_Reg functions[] = {
      {"record_unheld", record_unheld}, {"replay", replay}, {"are_same", are_same}, {NULL, NULL}};
  clc_opentype(L, &sequence_type, sequence_field, "launches device", sequence_show, methods,
               metamethods);
  clc_addrelease(L, &sequence_type);
  clc_addmethods(L, &clc_devicetype, of_device);
  clc_addinternal(L, functions);
}
