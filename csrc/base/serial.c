/* SPDX-License-Identifier: MIT */
/* POCL's serial device: how it is asked for, known and given binaries. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include <glob.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform.h"

/* --- asking for it ----------------------------------------------------- */

#define VARIABLE "POCL_DEVICES"
#define BOTH "pthread basic"          /* its threads, and the calling thread */
#define KNOWN "libpocl.so.2.10.0"     /* POCL 3.1 */
#define VENDORS "/etc/OpenCL/vendors" /* where the loader looks, but for $OCL_ICD_VENDORS */

static int names_known(const char *path) {
  char text[256] = "";
  FILE *file = fopen(path, "r");
  if (file == NULL) return 0;
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  return strstr(text, KNOWN) != NULL;
}

static int finds_known(const char *format, const char *vendors) {
  char pattern[1024];
  glob_t files;
  int found = 0;
  const int length = snprintf(pattern, sizeof pattern, format, vendors);
  if (length < 0 || (size_t)length >= sizeof pattern) return 0;
  if (glob(pattern, 0, NULL, &files) == 0)
    for (size_t i = 0; i < files.gl_pathc && !found; i++) found = names_known(files.gl_pathv[i]);
  globfree(&files);
  return found;
}

/* Whether a file of the loader's names that POCL. Of another one, devices that are not named might
   be hidden. */
static int has_known_pocl(void) {
  const char *given = getenv("OCL_ICD_VENDORS");
  const char *vendors = given != NULL && *given != '\0' ? given : VENDORS;
  return finds_known("%s/*.icd", vendors) || finds_known("%s", vendors);
}

void clc_askserial(void) {
  if (has_known_pocl()) setenv(VARIABLE, BOTH, 0);
}

/* A process that this one started is asked the same way. */
static int is_asked(void) {
  const char *devices = getenv(VARIABLE);
  return devices != NULL && strcmp(devices, BOTH) == 0;
}

void clc_unaskserial(void) {
  if (is_asked()) unsetenv(VARIABLE);
}

int clc_isserial(lua_State *L, cl_device_id id) {
  static const char start[] = "basic-";
  if (!is_asked()) return 0;
  const int is_one =
      strncmp(clc_pushdevicetext(L, id, CL_DEVICE_NAME), start, sizeof start - 1) == 0;
  lua_pop(L, 1);
  return is_one;
}

/* --- binaries for it --------------------------------------------------- */

#define MAGIC "poclbin" /* and a zero; the hash of the device's build comes behind it */

/* FNV-1, as POCL has it. */
static uint64_t hash(uint64_t h, const char *text, size_t length) {
  for (size_t i = 0; i < length; i++) h = (h * UINT64_C(1099511628211)) ^ (unsigned char)text[i];
  return h;
}

static uint64_t hash_text(const char *text) {
  return hash(UINT64_C(14695981039346656037), text, strlen(text));
}

/* The hash of the serial device where `wanted` is that of the threads: both are of a kind of
   device, a target of compilers and a processor, which is the first words of `name`. 0: none is. */
static uint64_t find_hash(uint64_t wanted, const char *name) {
  static const char *const targets[][2] = {
      {"pthread-x86_64-pc-linux-gnu-", "basic-x86_64-pc-linux-gnu-"},
      {"pthread-aarch64-unknown-linux-gnu-", "basic-aarch64-unknown-linux-gnu-"}};
  for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
    for (size_t n = 0; name[n] != '\0'; n++)
      if (name[n] == '-' && hash(hash_text(targets[i][0]), name, n) == wanted)
        return hash(hash_text(targets[i][1]), name, n);
  return 0;
}

int clc_readdress(cl_device_id threads, char *binary, size_t size) {
  static const char start[] = "pthread-";
  char name[256] = "";
  uint64_t device;
  if (size < sizeof MAGIC + sizeof device || memcmp(binary, MAGIC, sizeof MAGIC) != 0) return 0;
  clGetDeviceInfo(threads, CL_DEVICE_NAME, sizeof name - 1, name, NULL);
  if (strncmp(name, start, sizeof start - 1) != 0) return 0;
  memcpy(&device, binary + sizeof MAGIC, sizeof device);
  device = find_hash(device, name + sizeof start - 1);
  memcpy(binary + sizeof MAGIC, &device, sizeof device);
  return device != 0;
}
