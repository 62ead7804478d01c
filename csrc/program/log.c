/* SPDX-License-Identifier: MIT */
/* Build logs: why a program does not build, with the lines that are meant. */
#include "build.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_LINES 5

static const char *push_log(lua_State *L, const clc_Device *d, const cl_program *program) {
  size_t size = 0;
  luaL_Buffer b;
  const cl_device_id id = d->context->place.device;
  clGetProgramBuildInfo(*program, id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
  char *log = luaL_buffinitsize(L, &b, size + 1);
  if (*program == NULL || /* released by a finalizer */
      clGetProgramBuildInfo(*program, id, CL_PROGRAM_BUILD_LOG, size, log, NULL) != CL_SUCCESS)
    size = 0;
  log[size] = '\0';
  size = strlen(log);
  while (size > 0 && isspace((unsigned char)log[size - 1])) size--;
  luaL_pushresultsize(&b, size);
  return lua_tostring(L, -1);
}

/* The length of the name that a compiler which ignores #line gives the source, at the
   start of a text: NVIDIA's and Oclgrind's. */
static size_t own_name(const char *text) {
  static const char *const names[] = {"<kernel>:", "input.cl:"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strncmp(text, names[i], strlen(names[i])) == 0) return strlen(names[i]);
  return 0;
}

/* The length of what POCL's compiler adds of the place of a macro: a line of a file of its own. */
static size_t spelling(const char *text) {
  static const char begin[] = " <Spelling=";
  const char *end = strncmp(text, begin, sizeof begin - 1) == 0 ? strpbrk(text, ">\n") : NULL;
  return end != NULL && *end == '>' ? (size_t)(end - text) + 1 : 0;
}

/* Pushes the log with our name and the source's own lines in place of such. */
static const char *push_named(lua_State *L, const clc_Device *d, const clc_Source *s,
                              const char *log) {
  const int before =
      clc_countlines(s->defines, s->defines + strlen(s->defines)) + clc_hasline(d, s);
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  while (*log != '\0') {
    const size_t length = own_name(log);
    char *end;
    const long line = length > 0 ? strtol(log + length, &end, 10) : 0;
    if (line > before) {
      int own = (int)line - before;
      const clc_Span file = clc_findfile(s->text, &own);
      if (file.start != NULL)
        luaL_addlstring(&b, file.start, (size_t)(file.end - file.start));
      else
        luaL_addstring(&b, s->name);
      lua_pushfstring(L, ":%d", own);
      luaL_addvalue(&b);
      log = end;
    } else {
      log += spelling(log);
      if (*log != '\0') luaL_addchar(&b, *log++);
    }
  }
  luaL_pushresult(&b);
  return lua_tostring(L, -1);
}

/* Line `number` of the text, without its end. */
static clc_Span find_line(const char *text, int number) {
  while (--number > 0 && *text != '\0') {
    text += strcspn(text, "\n");
    if (*text == '\n') text++;
  }
  return (clc_Span){text, text + strcspn(text, "\n")};
}

/* The line number of the next `name:line:` in the log, or 0; and the column behind it, or 0. */
static int next_reference(const char **log, const char *name, int *column) {
  const size_t length = strlen(name);
  const char *p = *log;
  char *end;
  while ((p = strstr(p, name)) != NULL) {
    p += length;
    if (*p != ':' || !isdigit((unsigned char)p[1])) continue;
    *log = p;
    const long line = strtol(p + 1, &end, 10);
    *column = *end == ':' ? atoi(end + 1) : 0;
    return (int)line;
  }
  return 0;
}

/* Adds a caret below a column of a line, which counts bytes; `indent`: what is before the line. */
static void add_caret(luaL_Buffer *b, size_t indent, clc_Span line, int column) {
  if (column < 1 || column > line.end - line.start + 1) return;
  luaL_addchar(b, '\n');
  for (size_t i = 0; i < indent; i++) luaL_addchar(b, ' ');
  for (const char *p = line.start; p < line.start + column - 1; p++)
    if ((*p & 0xC0) != 0x80)
      luaL_addchar(b, *p == '\t' ? '\t' : ' '); /* a character of UTF-8 once */
  luaL_addchar(b, '^');
}

/* The lines of a file that the log points at, each with a caret where it points first. */
static void push_excerpt(lua_State *L, const char *text, const char *name, const char *log) {
  int shown[SHOWN_LINES], n = 0, number, column;
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  while (n < SHOWN_LINES && (number = next_reference(&log, name, &column)) != 0) {
    int seen = 0;
    for (int i = 0; i < n; i++) seen = seen || shown[i] == number;
    const clc_Span line = find_line(text, number);
    if (seen || line.start == line.end) continue;
    shown[n++] = number;
    lua_pushfstring(L, "\n%s:%d | ", name, number);
    const size_t indent = lua_rawlen(L, -1) - 1;
    luaL_addvalue(&b);
    luaL_addlstring(&b, line.start, (size_t)(line.end - line.start));
    add_caret(&b, indent, line, column);
  }
  luaL_pushresult(&b);
}

/* Those of all files of the source. */
static const char *push_excerpts(lua_State *L, const clc_Source *s, const char *log) {
  const char *text = s->text;
  clc_Span name, file;
  lua_pushliteral(L, "");
  while (clc_nextfile(&text, &name, &file)) {
    const char *own = lua_pushlstring(L, file.start, (size_t)(file.end - file.start));
    if (name.start != NULL)
      lua_pushlstring(L, name.start, (size_t)(name.end - name.start));
    else
      lua_pushstring(L, s->name);
    push_excerpt(L, own, lua_tostring(L, -1), log);
    lua_replace(L, -3);
    lua_pop(L, 1);
    lua_concat(L, 2);
  }
  return lua_tostring(L, -1);
}

#define TYPES "int, uint, long, ulong, float, and double and half where the device has them"

/* What a compiler's words mean that come of the library's own header or its absence, of Lua or of a
   driver's headers. */
static const struct {
  const char *words, *meaning;
} hints[] = {
    {"work_group_functions_are_for_the_body_of_a_kernel",
     "work-group functions share local memory, which OpenCL C has in the body of a kernel alone: "
     "call them there, in the program's own text, and hand the result to other functions"},
    {"clc_broadcast", "work_group_broadcast takes a value and one to three local ids: " TYPES},
    {"clc_reduce_", "work-group functions take " TYPES},
    {"clc_scan_", "work-group functions take " TYPES},
    {"missing terminating '\"'",
     "a text of C ends on its line: Lua has made a line break of \\n between quotes; write \\\\n, "
     "or put the program between [[ and ]]"},
    {"_builtin_renames.h",
     "POCL's headers define that name anew behind -D: give it by defines, a "
     "table, which stand behind the headers"},
    {"file not found",
     "an included file is looked for beside the source files, then in the folders of option "
     "'include'"},
    {"Permission denied",
     "an isolated device reads what a source includes from the folders of its files, those of "
     "option 'include' and the current one"},
    {"'work_group_",
     "#include <clcompute/work_group.h> has work_group_any, _all, _broadcast, and _reduce_, "
     "_scan_inclusive_ and _scan_exclusive_ with add, min and max"},
};

static const char *find_hint(const char *log) {
  for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
    if (strstr(log, hints[i].words) != NULL) return hints[i].meaning;
  return NULL;
}

/* Whether OpenCL has the option, so that each driver takes it. */
static int is_standard(const char *option, size_t length) {
  if (strncmp(option, "-D", 2) == 0 || strncmp(option, "-cl-", 4) == 0) return 1;
  return (length == 2 && strncmp(option, "-w", 2) == 0) ||
         (length == 7 && strncmp(option, "-Werror", 7) == 0);
}

/* The first of a script's options that OpenCL does not have; empty where all are. */
static clc_Span find_foreign(const char *options) {
  for (const char *p = options + strspn(options, " "); *p != '\0'; p += strspn(p, " ")) {
    size_t length = strcspn(p, " ");
    if (strncmp(p, "-I ", 3) == 0)
      length = 3 + strcspn(p + 3, " ");
    else if (!is_standard(p, length))
      return (clc_Span){p, p + length};
    p += length;
  }
  return (clc_Span){NULL, NULL};
}

/* Whether the driver refuses the options: NVIDIA's says so in the log alone. */
static int refuses_options(cl_int code, const char *log) {
  return code == CL_INVALID_BUILD_OPTIONS || code == CL_INVALID_COMPILER_OPTIONS ||
         strstr(log, "understand command line argument") != NULL;
}

/* Pushes what is wrong with the options where the driver refuses them, or "". */
static const char *push_foreign(lua_State *L, const char *options, cl_int code, const char *log) {
  const clc_Span foreign = find_foreign(options);
  if (foreign.start == NULL || !refuses_options(code, log)) return lua_pushliteral(L, "");
  lua_pushlstring(L, foreign.start, (size_t)(foreign.end - foreign.start));
  return lua_pushfstring(L,
                         "\n'%s' is no option of OpenCL: each driver takes -cl-..., -D, -I, -w and "
                         "-Werror",
                         lua_tostring(L, -1));
}

/* Pushes where the line of the script stands that the log names first, "\nsource:2 is f.lua:6", or
 * "".
 */
static const char *push_origin(lua_State *L, const clc_Source *s, const char *log) {
  int column;
  const int line = next_reference(&log, s->name, &column);
  if (line == 0 || clc_getinternal(L, "find_origin") != LUA_TFUNCTION)
    return lua_pushliteral(L, "");
  lua_pushstring(L, s->text);
  if (lua_pcall(L, 1, 2, 0) != LUA_OK || !lua_isstring(L, -2)) return lua_pushliteral(L, "");
  return lua_pushfstring(L, "\n%s:%d is %s:%d", s->name, line, lua_tostring(L, -2),
                         (int)lua_tointeger(L, -1) + line - 1);
}

void clc_raisebuild(lua_State *L, const clc_Device *d, const clc_Source *s,
                    const cl_program *program, cl_int code) {
  const char *log = push_named(L, d, s, push_log(L, d, program));
  if (strstr(s->text, "_cl_") == NULL) log = luaL_gsub(L, log, "_cl_", ""); /* POCL's macros */
  const char *excerpts = push_excerpts(L, s, log);
  const char *hint = find_hint(log);
  clc_raise(L, code, "clBuildProgram", "%s does not build\n%s%s%s%s%s%s", s->name, log, excerpts,
            push_origin(L, s, log), hint != NULL ? "\n" : "", hint != NULL ? hint : "",
            push_foreign(L, s->options, code, log));
}
