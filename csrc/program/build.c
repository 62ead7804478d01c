/* SPDX-License-Identifier: MIT */
/* Building: OpenCL C into a program, or the binary that was kept of it. */
#include "build.h"

#include <string.h>

#include "files/files.h"

#define ARG_INFO "-cl-kernel-arg-info "

/* A build, and what belongs to its source. */
typedef struct {
  clc_Device *device;
  clc_Recipe *const *recipe; /* the owner's; NULL: the device is not isolated */
  clc_Source source;         /* as it was given, but for what goes before it */
  const char *text;          /* what of it is compiled */
  const char *line, *options;
  const char *macros;   /* what options and defines define, for a look at the text */
  const char *searched; /* the text and these */
  const char *included; /* the files */
  clc_Included known;   /* of these */
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
  j->options = lua_pushfstring(L, ARG_INFO "%s", lua_tostring(L, -2));
  j->source.defines = lua_pushfstring(L, "%s%s%s", header, lua_tostring(L, -2), j->source.defines);
  j->text = clc_pushbodies(L, j->scanned, j->start);
  if (j->known.header_by_file)
    j->options = lua_pushfstring(L, "%s%s", j->options, clc_pushheaderoption(L));
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
  j.line = lua_pushfstring(L, "#line 1 \"%s\"\n", s->name);
  j.options = lua_pushfstring(L, ARG_INFO "%s", s->options);
  j.macros = push_macros(L, s->defines, s->options);
  j.searched = lua_pushfstring(L, "%s\n%s", s->text, j.macros);
  j.known = clc_pushincluded(L, j.searched, s->options);
  j.included = lua_tostring(L, -1);
  push_scanned(L, &j);
  *scanned = lua_gettop(L);
  if (uses_header(&j)) add_header(L, &j);
  return j;
}

/* NVIDIA's compiler crashes on a text without a kernel. A file not found may bring one. */
static void check_kernel(lua_State *L, const Job *j) {
  static const char *const words[] = {"kernel", "__kernel", NULL};
  if (j->known.complete && !clc_mentions(j->scanned, words))
    luaL_error(L, "no kernel in the source");
}

/* NVIDIA's compiler fails on kernels without parameters if it is to tell of those
   of the others, so a build that failed is tried once more without. */
static cl_int build(const Job *j, cl_program program) {
  const cl_device_id *id = &j->device->place.device;
  const cl_int code = clBuildProgram(program, 1, id, j->options, NULL, NULL);
  if (code != CL_BUILD_PROGRAM_FAILURE) return code;
  return clBuildProgram(program, 1, id, j->options + sizeof ARG_INFO - 1, NULL, NULL);
}

static void build_source(lua_State *L, const Job *j, cl_program *program) {
  const char *parts[] = {j->source.defines, j->line, j->text};
  cl_int code;
  /* One that its compiler refuses is refused here again, with the log. */
  clc_Answer tried = {.code = CL_SUCCESS};
  if (j->recipe != NULL) tried = clc_tryrecipe(L, j->device, j->recipe, j->source.name);
  if (j->device->h.released) luaL_error(L, "device is released"); /* by a finalizer */
  *program = clCreateProgramWithSource(j->device->context, 3, parts, NULL, &code);
  if (code != CL_SUCCESS) *program = NULL;
  clc_check(L, code, "clCreateProgramWithSource");
  code = build(j, *program);
  if (code != CL_SUCCESS) clc_raisebuild(L, j->device, &j->source, program, code);
  if (tried.code != CL_SUCCESS)
    clc_raise(L, tried.code, tried.call, "%s, in the worker alone", j->source.name);
}

/* Pushes the key of a job in the cache, or returns 0; includes that change are not kept. */
static int push_key(lua_State *L, const Job *j) {
  lua_pushfstring(L, "%s%s%s%s", j->included, j->source.defines, j->line, j->text);
  return j->known.repeatable && clc_pushkey(L, j->device, lua_tostring(L, -1), j->options);
}

/* Builds from what was kept, pushing the declarations of the kernels, or from the
   source, pushing nil. */
static void build_job(lua_State *L, const Job *j, cl_program *program) {
  const int top = lua_gettop(L);
  const int keyed = push_key(L, j);
  const int key = lua_gettop(L);
  if (!keyed || !clc_loadbinary(L, j->device, key, j->options, program)) {
    build_source(L, j, program);
    /* A file that was changed meanwhile may or may not be in the binary. */
    clc_pushincluded(L, j->searched, j->options);
    const int settled = strcmp(lua_tostring(L, -1), j->included) == 0;
    /* To tell a binary POCL compiles and links here, which is what a worker is for. */
    if (keyed && settled && j->recipe == NULL) clc_storebinary(L, key, program);
    lua_pushnil(L);
  }
  /* Instructions that a processor does not have are not for a worker either. */
  if (j->recipe == NULL && clc_wantstarget(j->text))
    clc_retarget(L, j->device, j->options, program);
  lua_replace(L, top + 1);
  lua_settop(L, top + 1);
}

static void make_recipe(lua_State *L, Job *j, clc_Recipe **recipe) {
  const char *const parts[] = {j->source.defines, j->line, j->text};
  if (!j->device->isolated) return;
  *recipe = clc_newrecipe(j->device, j->options, parts);
  if (*recipe == NULL) luaL_error(L, "not enough memory");
  j->recipe = recipe;
}

clc_Built clc_build(lua_State *L, clc_Device *d, const clc_Source *s, cl_program *program,
                    clc_Recipe **recipe) {
  const int top = lua_gettop(L);
  luaL_checkstack(L, 40, "build");
  int scanned;
  Job j = push_job(L, d, s, &scanned);
  check_kernel(L, &j);
  make_recipe(L, &j, recipe);
  build_job(L, &j, program);
  lua_pushvalue(L, scanned);
  lua_replace(L, top + 1);
  lua_replace(L, top + 2);
  lua_settop(L, top + 2);
  return (clc_Built){j.known.complete, j.start, uses_header(&j) ? clc_workgroupslots(d) : 0};
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
