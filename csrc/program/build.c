/* SPDX-License-Identifier: MIT */
/* Building: OpenCL C into a program, or the binary that was kept of it. */
#include "build.h"

#include <string.h>

#include "files/files.h"

/*
 * A build. push_job gathers the texts; build_job loads the binary that the cache has for them, or
 * build_anew compiles: with the few built-in functions that the program names declared
 * (declare_few), where that fails with all of them; keep stores the binary.
 */
typedef struct {
  clc_Device *device;
  clc_Source source; /* as it was given; add_header, add_missing and declare_few put lines before
                        its defines */
  const char *text;  /* what is compiled: the source's, or with our header that of clc_pushbodies */
  const char *line, *options;
  const char *macros;   /* what options and defines define, for a look at the text */
  const char *searched; /* the text and the macros */
  const char *included; /* the texts of the files that it includes */
  clc_Included known;   /* what is known of the files */
  const char *scanned;  /* the plain text of all, the source last */
  size_t start;         /* of that in it */
} Job;

/* Pushes the macros that options and defines make, as lines. */
static const char *push_macros(lua_State *L, const char *defines, const char *options) {
  const int top = lua_gettop(L);
  const char *macros = luaL_gsub(L, luaL_gsub(L, options, "-D", "\n#define "), "=", " ");
  lua_pushfstring(L, "%s\n%s", macros, defines);
  lua_replace(L, top + 1);
  lua_settop(L, top + 1);
  return lua_tostring(L, -1);
}

/* Pushes what the compiler is told besides a script's options. */
static const char *push_options(lua_State *L, const clc_Device *d, const char *options) {
  return lua_pushfstring(L, CLC_ARG_INFO "%s%s", options, d->context->quiet_option);
}

int clc_hasline(const clc_Device *d, const clc_Source *s) {
  return !d->context->is_simulator || *s->defines != '\0' || strcmp(s->name, CLC_UNNAMED) != 0;
}

static int uses_header(const Job *j) {
  return j->known.header_by_text || j->known.header_by_file;
}

/* Pushes the options without the macros that they define or undefine, and these as lines. */
static void push_split_options(lua_State *L, const char *options) {
  const int top = lua_gettop(L);
  lua_pushliteral(L, "");
  lua_pushliteral(L, "");
  for (const char *p = options + strspn(options, " "); *p != '\0'; p += strspn(p, " ")) {
    const size_t length = strcspn(p, " ");
    const char *word = lua_pushlstring(L, p, length), *value = strchr(word, '=');
    const int macro = strncmp(word, "-D", 2) == 0 && strchr(word, '\\') == NULL;
    p += length;
    if (macro && value != NULL)
      lua_pushfstring(L, "%s#define %s %s\n", lua_tostring(L, top + 2),
                      lua_pushlstring(L, word + 2, (size_t)(value - word) - 2), value + 1);
    else if (macro)
      lua_pushfstring(L, "%s#define %s 1\n", lua_tostring(L, top + 2), word + 2);
    else if (strncmp(word, "-U", 2) == 0)
      lua_pushfstring(L, "%s#undef %s\n", lua_tostring(L, top + 2), word + 2);
    else
      lua_pushfstring(L, "%s%s ", lua_tostring(L, top + 1), word);
    lua_replace(L, top + (macro || word[1] == 'U' ? 2 : 1));
    lua_settop(L, top + 2);
  }
}

/* The library's header goes before what a script defines, which it must not mind. */
static void add_header(lua_State *L, Job *j) {
  const char *header = clc_pushworkgroup(L, j->device);
  push_split_options(L, j->source.options);
  j->options = push_options(L, j->device, lua_tostring(L, -2));
  j->source.defines = lua_pushfstring(L, "%s%s%s", header, lua_tostring(L, -2), j->source.defines);
  j->text = clc_pushbodies(L, j->scanned, j->start);
  if (j->known.header_by_file)
    j->options = lua_pushfstring(L, "%s%s", j->options, clc_pushheaderoption(L));
}

/* What the driver lacks goes before all else. */
static void add_missing(lua_State *L, Job *j) {
  const char *missing = clc_pushmissing(L, j->device, j->scanned);
  j->source.defines = lua_pushfstring(L, "%s%s", missing, j->source.defines);
}

/* Pushes the plain text of all that goes into the program. */
static void push_scanned(lua_State *L, Job *j) {
  const int top = lua_gettop(L);
  const char *before = clc_pushplain(L, lua_pushfstring(L, "%s\n%s\n", j->macros, j->included));
  j->scanned = lua_pushfstring(L, "%s%s", before, clc_pushplain(L, j->source.text));
  j->start = strlen(before);
  lua_replace(L, top + 1);
  lua_settop(L, top + 1);
}

/* Leaves what it refers to on the stack, what is scanned at the index given. */
static Job push_job(lua_State *L, clc_Device *d, const clc_Source *s, int *scanned) {
  Job j = {.device = d, .source = *s, .text = s->text};
  j.options = push_options(L, d, s->options);
  j.macros = push_macros(L, s->defines, s->options);
  j.searched = lua_pushfstring(L, "%s\n%s", s->text, j.macros);
  j.known = clc_pushincluded(L, j.searched, s->options);
  j.included = lua_tostring(L, -1);
  push_scanned(L, &j);
  *scanned = lua_gettop(L);
  if (uses_header(&j)) add_header(L, &j);
  add_missing(L, &j);
  j.line = clc_hasline(d, &j.source) ? lua_pushfstring(L, "#line 1 \"%s\"\n", s->name) : "";
  return j;
}

/* NVIDIA's compiler crashes on a text without a kernel. A file not found may bring one. */
static void check_kernel(lua_State *L, const Job *j) {
  static const char *const words[] = {"kernel", "__kernel", NULL};
  if (j->known.complete && !clc_mentions(j->scanned, words))
    luaL_error(L, "program: no kernel in the source; \"kernel void name(...)\" declares one");
}

#define LONGEST_NAME \
  255 /* characters; with longer names of kernels NVIDIA's driver breaks the heap */

static void check_lengths(lua_State *L, const Job *j) {
  const clc_Span word = clc_longestword(j->scanned);
  const int length = (int)(word.end - word.start);
  if (length > LONGEST_NAME)
    luaL_error(L, "name '%s...' of %d characters: drivers crash on more than %d; shorten it",
               lua_pushlstring(L, word.start, 20), length, LONGEST_NAME);
}

static clc_Sources sources_of(const Job *j) {
  return (clc_Sources){.name = j->source.name,
                       .options = j->options,
                       .parts = {j->source.defines, j->line, j->text}};
}

static void new_recipe(lua_State *L, const Job *j, clc_Code *code) {
  const clc_Sources sources = sources_of(j);
  clc_releasecode(code);
  j->device->context->executor->new_recipe(L, j->device->context, &sources, &code->recipe);
}

static cl_int try_source(lua_State *L, const Job *j, clc_Code *code) {
  const clc_Sources sources = sources_of(j);
  return j->device->context->executor->build(L, j->device, &sources, code);
}

/* Declares what a program calls in place of all there is, where all files are known; pushes what
   that refers to. Returns whether it did. */
static int declare_few(lua_State *L, Job *j) {
  if (!j->known.complete) return 0;
  const char *builtins =
      clc_pushbuiltins(L, j->device, lua_pushfstring(L, "%s\n%s", j->source.defines, j->scanned));
  if (builtins == NULL) return 0;
  j->source.defines = lua_pushfstring(L, "%s%s", builtins, j->source.defines);
  j->options = lua_pushfstring(L, "%s" CLC_NOBUILTINS, j->options);
  return 1;
}

static void build_source(lua_State *L, const Job *j, clc_Code *code) {
  Job few = *j;
  cl_int result = CL_BUILD_PROGRAM_FAILURE;
  if (declare_few(L, &few)) {
    new_recipe(L, &few, code);
    result = try_source(L, &few, code);
    if (result == CL_BUILD_PROGRAM_FAILURE) new_recipe(L, j, code);
  }
  if (result == CL_BUILD_PROGRAM_FAILURE) result = try_source(L, j, code);
  if (result != CL_SUCCESS) clc_raisebuild(L, j->device, &j->source, &code->program, result);
}

/* POCL ends the process at the launch of a kernel whose files can have no name, and compiles it
   before that to hand out a binary. */
static void check_names(lua_State *L, const Job *j, const cl_program *program) {
  if (!j->device->context->is_pocl) return;
  const char *names = clc_testkernelnames(L, program), *name;
  size_t length;
  if (names == NULL) return;
  while ((length = clc_nextname(&names, &name)) > 0) clc_checkpoclname(L, name, length);
  lua_pop(L, 1);
}

/* Pushes the key of a job in the cache, or returns 0; includes that change are not kept. */
static int push_key(lua_State *L, const Job *j) {
  lua_pushfstring(L, "%s%s%s%s", j->included, j->source.defines, j->line, j->text);
  return j->known.repeatable && clc_pushkey(L, j->device, lua_tostring(L, -1), j->options);
}

/* Whether a binary is to be kept. To tell one POCL compiles every kernel once more, for groups of
   any size, which no launch uses: 0.1 s of saxpy's, 2.5 s of gemm_panels'. It keeps what it
   compiled itself, so that other processes build the program in 20 ms, where a binary takes 5. */
static int is_worth_keeping(lua_State *L, const Job *j) {
  clc_getinternal(L, "builds_all");
  const int builds_all = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return builds_all || !j->device->context->is_pocl;
}

static void keep_binary(lua_State *L, const Job *j, int key, clc_Code *code) {
  const double start = clc_processortime();
  if (clc_storeslater(L, j->device, key, &code->program)) return;
  clc_storebinary(L, j->device, key, j->options, code);
  clc_notecost(L, j->source.name, "binary", start);
}

/* Keeps a program that was built, or that it was. */
static void keep(lua_State *L, const Job *j, int key, clc_Code *code) {
  const int top = lua_gettop(L);
  /* A file that was changed meanwhile may or may not be in the binary. */
  clc_pushincluded(L, j->searched, j->options);
  const int settled = strcmp(lua_tostring(L, -1), j->included) == 0;
  if (settled && is_worth_keeping(L, j))
    keep_binary(L, j, key, code);
  else if (settled)
    clc_markcached(L, key);
  lua_settop(L, top);
}

static void build_counted(lua_State *L, const Job *j, clc_Code *code) {
  const double start = clc_processortime();
  build_source(L, j, code);
  clc_notecost(L, j->source.name, "source", start);
}

/* What is pushed goes when the stack is cut. */
static void push_notice(lua_State *L, const Job *j, int key) {
  const char *const format = key > 0 ? "building %s, which is kept" : "building %s";
  clc_pushnotice(L, lua_pushfstring(L, format, j->source.name));
}

/* Whether other processes would do the costly part of this build again. */
static int is_missing(lua_State *L, const Job *j, int key) {
  return is_worth_keeping(L, j) || !clc_iscached(L, key);
}

/* One process does what is missing while the others wait; returns whether one of these has left a
   binary since we looked, and pushes its declarations then. What is left on the stack holds the
   lock. */
static int load_late(lua_State *L, const Job *j, int key, clc_Code *code) {
  const int top = lua_gettop(L);
  if (!is_missing(L, j, key) || !clc_pushlock(L, key)) return 0;
  if (clc_loadbinary(L, j->device, key, j->options, code)) return 1;
  if (!is_missing(L, j, key)) lua_settop(L, top);
  return 0;
}

/* Builds from the source, or from what another process has kept meanwhile; pushes declarations of
   the kernels, or nil. `key`: 0, nothing is kept. Interrupts are taken between the steps: a hook
   that is due would raise in place of the closing of the notice and the lock. */
static void build_anew(lua_State *L, const Job *j, int key, clc_Code *code) {
  const int top = lua_gettop(L);
  lua_pushnil(L);
  if (key > 0 && load_late(L, j, key, code)) {
    lua_replace(L, top + 1);
  } else {
    push_notice(L, j, key);
    build_counted(L, j, code);
    clc_checkinterrupt(L);
    check_names(L, j, &code->program);
    if (key > 0) keep(L, j, key, code);
    clc_checkinterrupt(L);
  }
  lua_settop(L, top + 1);
}

/* Builds a program again for the target that it wants; the declarations at the top become those of
   that one. */
static void retarget(lua_State *L, const Job *j, clc_Code *code) {
  const int top = lua_gettop(L);
  push_notice(L, j, 0);
  if (clc_retarget(L, j->device, j->options, code)) lua_replace(L, top);
  clc_checkinterrupt(L);
  lua_settop(L, top);
}

/* Builds from what was kept, or from the source; pushes declarations of the kernels, or nil. */
static void build_job(lua_State *L, const Job *j, clc_Code *code) {
  const int top = lua_gettop(L);
  const int makes_binaries = j->device->context->executor->makes_binaries;
  const int keyed = push_key(L, j);
  const int key = lua_gettop(L);
  if (keyed && clc_loadbinary(L, j->device, key, j->options, code))
    check_names(L, j, &code->program);
  else
    build_anew(L, j, keyed && makes_binaries ? key : 0, code);
  if (makes_binaries && clc_wantstarget(j->text)) retarget(L, j, code);
  lua_replace(L, top + 1);
  lua_settop(L, top + 1);
}

clc_Built clc_build(lua_State *L, clc_Device *d, const clc_Source *s, clc_Code *code) {
  const int top = lua_gettop(L);
  luaL_checkstack(L, 40, "build");
  int scanned;
  const Job j = push_job(L, d, s, &scanned);
  check_kernel(L, &j);
  check_lengths(L, &j);
  new_recipe(L, &j, code);
  build_job(L, &j, code);
  lua_pushvalue(L, scanned);
  lua_replace(L, top + 1);
  lua_replace(L, top + 2);
  lua_settop(L, top + 2);
  return (clc_Built){j.known.complete ? NULL : CLC_UNSEENINCLUDE, j.start,
                     uses_header(&j) ? clc_workgroupslots(d) : 0};
}

int clc_isbuilt(lua_State *L, clc_Device *d, const clc_Source *s) {
  const int top = lua_gettop(L);
  luaL_checkstack(L, 40, "build");
  int scanned;
  const Job j = push_job(L, d, s, &scanned);
  const int found = push_key(L, &j) && clc_iscached(L, lua_gettop(L));
  lua_settop(L, top);
  return found;
}
