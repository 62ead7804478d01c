/* SPDX-License-Identifier: MIT */
/*
** Does to the first device of every platform what its argument says. The
** report of the layer is the result: README.md says what to expect.
*/

#define CL_TARGET_OPENCL_VERSION 120

#include <CL/cl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLATFORMS = 8, THREADS = 4, ROUNDS = 200 };

typedef struct Device {
  cl_context context;
  cl_command_queue queue;
  cl_program program;
} Device;

static void must(cl_int code, const char *what) {
  if (code != CL_SUCCESS) {
    fprintf(stderr, "selftest: %s: %d\n", what, code);
    abort();
  }
}

static Device device_open(cl_device_id id) {
  static const char *source =
      "kernel void a(global int *x) { *x = 1; } kernel void b(global int *x) { *x = 2; }";
  Device d;
  cl_int code;
  d.context = clCreateContext(NULL, 1, &id, NULL, NULL, &code);
  must(code, "context");
  d.queue = clCreateCommandQueue(d.context, id, 0, &code);
  must(code, "queue");
  d.program = clCreateProgramWithSource(d.context, 1, &source, NULL, &code);
  must(code, "program");
  must(clBuildProgram(d.program, 1, &id, "", NULL, NULL), "build");
  must(clRetainDevice(id), "retain of a root device");
  must(clReleaseDevice(id), "release of a root device");
  return d;
}

static void device_close(Device d) {
  must(clReleaseProgram(d.program), "release of the program");
  must(clReleaseCommandQueue(d.queue), "release of the queue");
  must(clReleaseContext(d.context), "release of the context");
}

static cl_mem buffer_make(Device d) {
  cl_int code;
  cl_mem b = clCreateBuffer(d.context, CL_MEM_READ_WRITE, 4096, NULL, &code);
  must(code, "buffer");
  return b;
}

/* Every way to come by a handle: returned, in an array, through `event`, retained. */
static void *use(void *device) {
  const Device d = *(Device *)device;
  for (int i = 0; i < ROUNDS; i++) {
    const cl_buffer_region half = {0, 2048};
    cl_int code;
    int zero = 0;
    cl_event events[2];
    cl_kernel kernels[2];
    cl_mem b = buffer_make(d);
    cl_mem sub = clCreateSubBuffer(b, 0, CL_BUFFER_CREATE_TYPE_REGION, &half, &code);
    must(code, "sub-buffer");
    must(clCreateKernelsInProgram(d.program, 2, kernels, NULL), "kernels");
    must(clEnqueueWriteBuffer(d.queue, b, CL_TRUE, 0, sizeof zero, &zero, 0, NULL, &events[0]),
         "write");
    void *mapped =
        clEnqueueMapBuffer(d.queue, b, CL_TRUE, CL_MAP_READ, 0, 64, 0, NULL, &events[1], &code);
    must(code, "map");
    must(clEnqueueUnmapMemObject(d.queue, b, mapped, 0, NULL, NULL), "unmap");
    must(clRetainEvent(events[0]), "retain of an event");
    must(clReleaseEvent(events[0]), "release of an event");
    must(clFinish(d.queue), "finish");
    for (int k = 0; k < 2; k++) {
      must(clReleaseEvent(events[k]), "release of an event");
      must(clReleaseKernel(kernels[k]), "release of a kernel");
    }
    must(clReleaseMemObject(sub), "release of the sub-buffer");
    must(clReleaseMemObject(b), "release of the buffer");
  }
  return NULL;
}

/* Oclgrind bears no threads, with or without the layer. */
static int bears_threads(cl_platform_id platform) {
  char name[64] = "";
  clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name, name, NULL);
  return strcmp(name, "Oclgrind") != 0;
}

static void use_in_threads(Device d) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, use, &d);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}

static void release_twice(Device d) {
  const int zero = 0;
  cl_event event;
  cl_mem b = buffer_make(d);
  must(clEnqueueWriteBuffer(d.queue, b, CL_TRUE, 0, sizeof zero, &zero, 0, NULL, &event), "write");
  must(clReleaseMemObject(b), "release of the buffer");
  must(clReleaseEvent(event), "release of the event");
  printf("second release of the event: %d\n", clReleaseEvent(event));
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "";
  cl_platform_id platforms[PLATFORMS];
  cl_uint n = 0;
  must(clGetPlatformIDs(PLATFORMS, platforms, &n), "platforms");
  for (cl_uint i = 0; i < n && i < PLATFORMS; i++) {
    cl_device_id id;
    must(clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &id, NULL), "device");
    Device d = device_open(id);
    if (strcmp(mode, "clean") == 0)
      use(&d);
    else if (strcmp(mode, "threads") == 0) {
      if (bears_threads(platforms[i])) use_in_threads(d);
    } else if (strcmp(mode, "leak") == 0)
      buffer_make(d);
    else if (strcmp(mode, "twice") == 0)
      release_twice(d);
    else {
      fputs("usage: selftest clean|threads|leak|twice\n", stderr);
      exit(2);
    }
    device_close(d);
  }
  return 0;
}
