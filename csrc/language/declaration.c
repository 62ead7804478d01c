/* SPDX-License-Identifier: MIT */
/* Declarations: how kernels declare their arguments. */
#include "language.h"

#include <stdlib.h>
#include <string.h>
#include <stdio.h>

#define ROOM 1024    /* for a name or type as OpenCL tells it; longer ones are not kept */
#define END "\x1e\n" /* of a line: no C text holds it */

/* Keeps both ends of a text too long for its room: a type's * is the last character. */
void clc_shorten(char text[CLC_NAME], const char *whole) {
  const size_t length = strlen(whole), half = CLC_NAME / 2 - 2;
  if (length < CLC_NAME)
    strcpy(text, whole);
  else
    snprintf(text, CLC_NAME, "%.*s...%s", (int)half, whole, whole + length - half);
}

size_t clc_nextname(const char **list, const char **name) {
  const size_t length = strcspn(*list, ";");
  *name = *list;
  *list += length + ((*list)[length] == ';');
  return length;
}

/* NVIDIA's driver ends the process when it is asked for the names of a program without kernels. */
static cl_int size_names(cl_program program, size_t *size) {
  size_t count;
  const cl_int code = clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof count, &count, NULL);
  *size = 0;
  if (code != CL_SUCCESS || count == 0) return code;
  return clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, 0, NULL, size);
}

static cl_int push_names(lua_State *L, const cl_program *program) {
  size_t size;
  luaL_Buffer b;
  cl_int code = size_names(*program, &size);
  if (code != CL_SUCCESS) return code;
  char *names = luaL_buffinitsize(L, &b, size + 1);
  if (*program == NULL) luaL_error(L, "program is released");
  memset(names, 0, size + 1); /* for a driver that writes nothing */
  if (size > 0) code = clGetProgramInfo(*program, CL_PROGRAM_KERNEL_NAMES, size, names, NULL);
  names[size] = '\0';
  luaL_pushresultsize(&b, strlen(names));
  if (code != CL_SUCCESS) lua_pop(L, 1);
  return code;
}

const char *clc_pushkernelnames(lua_State *L, const cl_program *program) {
  clc_check(L, push_names(L, program), "clGetProgramInfo");
  return lua_tostring(L, -1);
}

const char *clc_testkernelnames(lua_State *L, const cl_program *program) {
  return push_names(L, program) == CL_SUCCESS ? lua_tostring(L, -1) : NULL;
}

/* --- asking ------------------------------------------------------------ */

static cl_int get_text(cl_kernel kernel, cl_uint i, cl_kernel_arg_info what, char *room,
                       size_t size, char text[CLC_NAME]) {
  memset(room, 0, size);
  const cl_int code = clGetKernelArgInfo(kernel, i, what, size - 1, room, NULL);
  if (code == CL_SUCCESS) clc_shorten(text, room);
  return code;
}

/* Raises nothing. */
static cl_int get_declaration(cl_kernel kernel, cl_uint i, char *room, size_t size,
                              clc_Declaration *d) {
  cl_kernel_arg_type_qualifier qualifier = 0;
  cl_kernel_arg_access_qualifier access = CL_KERNEL_ARG_ACCESS_NONE;
  cl_int code = clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof d->space,
                                   &d->space, NULL);
  if (code == CL_SUCCESS)
    code = clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof qualifier, &qualifier,
                              NULL);
  if (code == CL_SUCCESS)
    code =
        clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof access, &access, NULL);
  d->is_const =
      (qualifier & CL_KERNEL_ARG_TYPE_CONST) != 0 || access == CL_KERNEL_ARG_ACCESS_READ_ONLY;
  if (code == CL_SUCCESS) code = get_text(kernel, i, CL_KERNEL_ARG_NAME, room, size, d->name);
  if (code == CL_SUCCESS) code = get_text(kernel, i, CL_KERNEL_ARG_TYPE_NAME, room, size, d->type);
  return code;
}

/* Raises where the program was built without the information (see program.c). */
static void check_info(lua_State *L, cl_int code) {
  if (code == CL_KERNEL_ARG_INFO_NOT_AVAILABLE)
    clc_raise(L, code, "clGetKernelArgInfo",
              "no argument types are known where clBuildProgram fails with -cl-kernel-arg-info, %s "
              "(%d), as some drivers do for a program with a kernel that takes no arguments: put "
              "that one into a program of its own",
              clc_codename(CL_BUILD_PROGRAM_FAILURE), CL_BUILD_PROGRAM_FAILURE);
  clc_check(L, code, "clGetKernelArgInfo");
}

void clc_askdeclaration(lua_State *L, const cl_kernel *kernel, cl_uint i, clc_Declaration *d) {
  size_t name, type;
  if (*kernel == NULL) luaL_error(L, "kernel is released");
  check_info(L, clGetKernelArgInfo(*kernel, i, CL_KERNEL_ARG_NAME, 0, NULL, &name));
  check_info(L, clGetKernelArgInfo(*kernel, i, CL_KERNEL_ARG_TYPE_NAME, 0, NULL, &type));
  const size_t size = (name > type ? name : type) + 1;
  char *room = lua_newuserdatauv(L, size, 0);
  if (*kernel == NULL) luaL_error(L, "kernel is released");
  check_info(L, get_declaration(*kernel, i, room, size, d));
  lua_pop(L, 1);
}

/* --- as text ----------------------------------------------------------- */

/* Fills declarations (NULL: only counts) of a kernel; n is what they have room for,
   then how many there are. Raises nothing: nobody owns the kernel meanwhile. */
static cl_int ask_all(cl_program program, const char *name, char *room, clc_Declaration *all,
                      cl_uint *n) {
  cl_int code;
  cl_uint count = 0;
  cl_kernel kernel = clCreateKernel(program, name, &code);
  if (code != CL_SUCCESS) return code;
  code = clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof count, &count, NULL);
  for (cl_uint i = 0; all != NULL && i < count && i < *n && code == CL_SUCCESS; i++)
    code = get_declaration(kernel, i, room, ROOM, &all[i]);
  clReleaseKernel(kernel);
  *n = count;
  return code;
}

/* Pushes the lines of one kernel: its name and number of arguments, then each. */
static int push_kernel(lua_State *L, const cl_program *program, const char *name) {
  char room[ROOM];
  cl_uint n = 0;
  if (*program == NULL || ask_all(*program, name, room, NULL, &n) != CL_SUCCESS) return 0;
  clc_Declaration *all = lua_newuserdatauv(L, (n + 1) * sizeof *all, 0);
  if (*program == NULL) luaL_error(L, "program is released");
  cl_int code = ask_all(*program, name, room, all, &n);
  lua_pushfstring(L, "kernel %s %d" END, name, (int)n);
  for (cl_uint i = 0; i < n && code == CL_SUCCESS; i++) {
    lua_pushfstring(L, "%s%d %d %s" END "%s" END, lua_tostring(L, -1), (int)all[i].space,
                    all[i].is_const, all[i].name, all[i].type);
    lua_replace(L, -2);
  }
  lua_remove(L, -2);
  if (code != CL_SUCCESS) lua_pop(L, 1);
  return code == CL_SUCCESS;
}

const char *clc_pushdeclarations(lua_State *L, const cl_program *program, const char *names) {
  const char *name;
  size_t length;
  lua_pushliteral(L, "");
  while ((length = clc_nextname(&names, &name)) > 0) {
    if (!push_kernel(L, program, lua_pushlstring(L, name, length))) {
      lua_pop(L, 2);
      return NULL;
    }
    lua_remove(L, -2);
    lua_concat(L, 2);
  }
  return lua_tostring(L, -1);
}

/* --- reading the text -------------------------------------------------- */

/* The text behind the next line's end; NULL: there is none. */
static const char *next_line(const char *p) {
  const char *end = p == NULL ? NULL : strstr(p, END);
  return end == NULL ? NULL : end + strlen(END);
}

/* The line of a kernel: behind "kernel name ". */
static const char *find_kernel(const char *text, const char *name, size_t length) {
  for (const char *p = text; p != NULL && *p != '\0'; p = next_line(p))
    if (strncmp(p, "kernel ", 7) == 0 && strncmp(p + 7, name, length) == 0 && p[7 + length] == ' ')
      return p + 7 + length + 1;
  return NULL;
}

/* Copies the line at p, which must fit; returns what follows it. */
static const char *copy_line(const char *p, char text[CLC_NAME]) {
  const char *next = next_line(p);
  const size_t n = next == NULL ? CLC_NAME : (size_t)(next - p) - strlen(END);
  if (n >= CLC_NAME) return NULL;
  memcpy(text, p, n);
  text[n] = '\0';
  return next;
}

int clc_finddeclaration(const char *text, const char *kernel, cl_uint i, clc_Declaration *d) {
  const char *p = find_kernel(text, kernel, strlen(kernel));
  if (p == NULL || i >= strtoul(p, NULL, 10)) return 0;
  for (cl_uint skip = 0; skip < 2 * i + 1; skip++) p = next_line(p);
  if (p == NULL) return 0;
  char *name;
  d->space = (cl_kernel_arg_address_qualifier)strtoul(p, &name, 10);
  d->is_const = strtoul(name, &name, 10) != 0;
  if (*name++ != ' ') return 0;
  p = copy_line(name, d->name);
  return p != NULL && copy_line(p, d->type) != NULL;
}

int clc_declares(const char *text, const char *names) {
  size_t named = 0, declared = 0, length;
  const char *name;
  for (; (length = clc_nextname(&names, &name)) > 0; named++)
    if (find_kernel(text, name, length) == NULL) return 0;
  for (const char *p = text; p != NULL && *p != '\0'; p = next_line(p))
    declared += strncmp(p, "kernel ", 7) == 0;
  return named == declared;
}
