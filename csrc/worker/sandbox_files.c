/* SPDX-License-Identifier: MIT */
/* Which files a worker can open: Landlock, of Linux 5.19 and later. */
#define _GNU_SOURCE /* syscall, O_PATH */
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What later versions of <linux/landlock.h> name, and what its structs become with them. */
#define NET_RIGHTS UINT64_C(3)        /* to bind and to connect: version 4 */
#define IOCTL_DEV (UINT64_C(1) << 15) /* version 5 */
#define SCOPES UINT64_C(3)            /* sockets without a name and signals: version 6 */
#define TRUNCATE (UINT64_C(1) << 14)  /* version 3 */
#define REFER (UINT64_C(1) << 13) /* version 2: to move a file to another folder, as POCL does */
#define FIRST_RIGHTS (REFER - 1)  /* version 1 */

typedef struct {
  uint64_t fs, net, scoped;
} Ruleset;

#define READ_RIGHTS \
  (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define DEVICE_RIGHTS (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE)

/* Programs and libraries. */
static const char *const system_folders[] = {
    "/usr", "/bin",       "/lib",       "/lib32",      "/lib64",
    "/opt", "/nix/store", "/gnu/store", "/etc/OpenCL", "/etc/ld.so.cache"};

/* What tells of the machine. /proc/self is the worker's own. */
static const char *const machine_folders[] = {"/sys/devices",  "/sys/bus",       "/sys/class",
                                              "/sys/kernel",   "/sys/fs/cgroup", "/proc/self",
                                              "/proc/cpuinfo", "/proc/meminfo"};

/* Where the loader of drivers and the system's own look besides. */
static const char *const variables[] = {"OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH", "OPENCL_LAYERS",
                                        "LD_LIBRARY_PATH"};

static long get_version(void) {
  return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

int clc_hasfilespart(void) {
  return get_version() >= 2;
}

/* A file or a folder with all that is in it; one that is not there stays out of reach. */
static void allow(int ruleset, const char *path, uint64_t rights) {
  const int fd = open(path, O_PATH | O_CLOEXEC);
  if (fd < 0) return;
  struct landlock_path_beneath_attr rule = {rights, fd};
  /* A file takes no rights of folders. */
  if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0) {
    rule.allowed_access =
        rights & (READ_RIGHTS | DEVICE_RIGHTS) & ~(uint64_t)LANDLOCK_ACCESS_FS_READ_DIR;
    syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
  }
  close(fd);
}

/* The paths of a variable, with ":" between. */
static void allow_listed(int ruleset, const char *list) {
  char *copy = list != NULL ? strdup(list) : NULL, *rest = NULL;
  for (char *path = copy != NULL ? strtok_r(copy, ":", &rest) : NULL; path != NULL;
       path = strtok_r(NULL, ":", &rest))
    allow(ruleset, path, READ_RIGHTS);
  free(copy);
}

static void allow_folders(int ruleset, const char *const folders[], size_t n) {
  for (size_t i = 0; i < n; i++) allow(ruleset, folders[i], READ_RIGHTS);
}

#define ALLOW_FOLDERS(ruleset, list) allow_folders(ruleset, list, sizeof(list) / sizeof *(list))

static void allow_all(int ruleset, uint64_t rights, const clc_Folders *folders) {
  ALLOW_FOLDERS(ruleset, system_folders);
  if (folders->machine) ALLOW_FOLDERS(ruleset, machine_folders);
  for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
    allow_listed(ruleset, getenv(variables[i]));
  allow_listed(ruleset, folders->readable);
  allow(ruleset, "/dev/null", DEVICE_RIGHTS);
  allow(ruleset, "/dev/urandom", LANDLOCK_ACCESS_FS_READ_FILE);
  if (folders->writable != NULL)
    allow(ruleset, folders->writable, rights & ~(uint64_t)(LANDLOCK_ACCESS_FS_EXECUTE | IOCTL_DEV));
}

int clc_confinefiles(const clc_Folders *folders) {
  const long version = get_version();
  Ruleset r = {FIRST_RIGHTS | REFER, 0, 0};
  size_t size = sizeof r.fs;
  if (version >= 3) r.fs |= TRUNCATE;
  if (version >= 4) r.net = NET_RIGHTS, size = sizeof r.fs + sizeof r.net;
  if (version >= 5) r.fs |= IOCTL_DEV;
  if (version >= 6) r.scoped = SCOPES, size = sizeof r;
  const int ruleset = (int)syscall(SYS_landlock_create_ruleset, &r, size, 0);
  if (ruleset < 0) return 0;
  allow_all(ruleset, r.fs, folders);
  const int done = syscall(SYS_landlock_restrict_self, ruleset, 0) == 0, code = errno;
  close(ruleset);
  errno = code;
  return done;
}
