/* SPDX-License-Identifier: MIT */
/* The programs a worker has built, and their kernels. */
#include "server.h"

#include <stdlib.h>
#include <string.h>

struct clc_Entry {
  clc_Entry *next;
  cl_kernel kernel;
  char name[];
};

static void drop_unit(clc_Unit *u) {
  for (clc_Entry *e = u->kernels, *next; e != NULL; e = next) {
    next = e->next;
    clReleaseKernel(e->kernel);
    free(e);
  }
  if (u->program != NULL) clReleaseProgram(u->program);
  free(u);
}

void clc_forgetunit(clc_Unit **units, uint64_t number) {
  for (clc_Unit **u = units; *u != NULL; u = &(*u)->next)
    if ((*u)->number == number) {
      clc_Unit *found = *u;
      *u = found->next;
      drop_unit(found);
      return;
    }
}

void clc_dropunits(clc_Unit **units) {
  while (*units != NULL) clc_forgetunit(units, (*units)->number);
}

/* Makes all kernels once, and lets go of them: they are kept when they are asked for. */
static void try_kernels(clc_Service *s, cl_program program) {
  cl_uint n = 0;
  if (clCreateKernelsInProgram(program, 0, NULL, &n) != CL_SUCCESS || n == 0) return;
  cl_kernel *kernels = calloc(n, sizeof(cl_kernel));
  if (kernels == NULL) return;
  const cl_int code = clCreateKernelsInProgram(program, n, kernels, NULL);
  if (clc_succeeds(s, code, "clCreateKernelsInProgram"))
    for (cl_uint i = 0; i < n; i++) clReleaseKernel(kernels[i]);
  free(kernels);
}

/* NULL: it failed. */
static cl_program create_program(clc_Service *s, clc_Form form, const char *from, size_t size) {
  const unsigned char *binary = (const unsigned char *)from;
  cl_program program = NULL;
  cl_int code = CL_INVALID_VALUE, status = CL_SUCCESS;
  const char *call = "clCreateProgramWithSource";
  switch (form) {
    case CLC_TEXT: program = clCreateProgramWithSource(s->context, 1, &from, &size, &code); break;
    case CLC_BINARY:
      call = "clCreateProgramWithBinary";
      program =
          clCreateProgramWithBinary(s->context, 1, &s->device, &size, &binary, &status, &code);
      break;
    case CLC_IL:
      call = "clCreateProgramWithIL";
      program = clCreateProgramWithIL(s->context, from, size, &code);
      break;
  }
  if (!clc_succeeds(s, code, call)) return NULL;
  if (clc_succeeds(s, status, call)) return program;
  clReleaseProgram(program);
  return NULL;
}

void clc_buildunit(clc_Service *s, clc_Unit **units, uint64_t number, clc_Form form,
                   const char *text, size_t length) {
  const size_t options = strlen(text) + 1;
  clc_forgetunit(units, number);
  clc_Unit *u = calloc(1, sizeof *u);
  if (!clc_succeeds(s, u != NULL ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY, "clBuildProgram")) return;
  u->number = number;
  u->next = *units;
  *units = u;
  u->program = create_program(s, form, text + options, length - options);
  if (u->program == NULL) return;
  const cl_int code = clBuildProgram(u->program, 1, &s->device, text, NULL, NULL);
  if (clc_succeeds(s, code, "clBuildProgram")) try_kernels(s, u->program);
}

static clc_Entry *make_entry(clc_Service *s, clc_Unit *u, const char *name, size_t length) {
  clc_Entry *e = calloc(1, sizeof *e + length + 1);
  cl_int code = CL_OUT_OF_HOST_MEMORY;
  if (e != NULL) memcpy(e->name, name, length);
  if (e != NULL) e->kernel = clCreateKernel(u->program, e->name, &code);
  if (!clc_succeeds(s, code, "clCreateKernel")) {
    free(e);
    return NULL;
  }
  e->next = u->kernels;
  return u->kernels = e;
}

cl_kernel clc_findentry(clc_Service *s, clc_Unit *units, uint64_t number, const char *name,
                        size_t length) {
  clc_Unit *u = units;
  while (u != NULL && u->number != number) u = u->next;
  if (u == NULL || u->program == NULL) {
    clc_succeeds(s, CL_INVALID_PROGRAM, "clCreateKernel");
    return NULL;
  }
  clc_Entry *e = u->kernels;
  while (e != NULL && (strlen(e->name) != length || memcmp(e->name, name, length) != 0))
    e = e->next;
  if (e == NULL) e = make_entry(s, u, name, length);
  return e != NULL ? e->kernel : NULL;
}
