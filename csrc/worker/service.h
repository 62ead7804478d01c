/* SPDX-License-Identifier: MIT */
/* The device that a worker serves, and the answer it is about to give. */
#ifndef CLC_SERVICE_H
#define CLC_SERVICE_H

#include "base/base.h"
#include "message.h"

typedef struct clc_Service {
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
  clc_Answer answer; /* the first error since the last one */
} clc_Service;

/* Whether the code is none of an error; the first that is one goes into the answer. */
int clc_succeeds(clc_Service *s, cl_int code, const char *call);

/* Opens a device by its place, as clinfo counts. */
void clc_openservice(clc_Service *s, uint64_t platform, uint32_t device);

void clc_closeservice(clc_Service *s);

#endif
