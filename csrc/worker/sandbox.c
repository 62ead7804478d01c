/* SPDX-License-Identifier: MIT */
/* The sandbox of a worker: its parts, their order, and the limits of its resources. */
#define _DEFAULT_SOURCE /* syscall */
#include "sandbox.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "worker.h"

#define MOST_FILE (UINT64_C(1) << 30) /* bytes of a file that it writes */
#define MOST_FILES 1024               /* open at a time */
#define LEAST_MEMORY (UINT64_C(2) << 30)

unsigned clc_sandboxparts(void) {
  const char *wish = getenv("CLCOMPUTE_SANDBOX");
  if (wish != NULL && strcmp(wish, "off") == 0) return 0;
  unsigned parts = clc_hasfilespart() ? CLC_FILESPART : 0;
  if (clc_hascallspart()) parts |= CLC_CALLSPART;
  if (clc_hascallspart() && clc_hastaskspart()) parts |= CLC_TASKSPART;
  return parts;
}

void clc_pushsandbox(lua_State *L) {
  static const char *const names[] = {"files", "system calls", "tasks"};
  const unsigned parts = clc_sandboxparts();
  lua_pushstring(L, parts == 0 ? "none" : "");
  for (unsigned i = 0, n = 0; i < sizeof names / sizeof *names; i++)
    if (parts & 1U << i) {
      lua_pushfstring(L, "%s%s", n++ > 0 ? ", " : "", names[i]);
      lua_concat(L, 2);
    }
}

/* Lowers a limit for good; it is never raised. */
static int limit(int resource, rlim_t most) {
  struct rlimit now;
  if (getrlimit(resource, &now) != 0) return 0;
  if (now.rlim_max > most) now.rlim_max = most;
  if (now.rlim_cur > most) now.rlim_cur = most;
  return setrlimit(resource, &now) == 0;
}

/* Half of the machine's memory, for what is not shared: the compiler needs most of it. */
static rlim_t most_memory(void) {
  const uint64_t half = (uint64_t)sysconf(_SC_PHYS_PAGES) / 2 * (uint64_t)sysconf(_SC_PAGESIZE);
  return half > LEAST_MEMORY ? half : LEAST_MEMORY;
}

static int limit_resources(void) {
  return limit(RLIMIT_DATA, most_memory()) && limit(RLIMIT_FSIZE, MOST_FILE) &&
         limit(RLIMIT_NOFILE, MOST_FILES);
}

/* Where memory runs out in spite of the limit, the system ends the worker first; if that cannot be
   said, it is as likely as others. */
static void volunteer(void) {
  const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  const ssize_t said = write(fd, "1000", 4);
  (void)said;
  close(fd);
}

/* Those of root. */
static int drop_capabilities(void) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0, 0, 0}};
  return syscall(SYS_capset, &header, none) == 0;
}

const char *clc_confine(int *supervisor) {
  const unsigned parts = clc_sandboxparts();
  const clc_Folders folders = {getenv(CLC_WRITABLE), getenv(CLC_READABLE), 1};
  *supervisor = -1;
  if (parts == 0) return NULL;
  volunteer();
  if (!limit_resources()) return "setrlimit";
  if (!drop_capabilities()) return "capset";
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return "PR_SET_NO_NEW_PRIVS";
  if ((parts & CLC_FILESPART) && !clc_confinefiles(&folders)) return "Landlock";
  if ((parts & CLC_CALLSPART) && !clc_confinecalls(supervisor)) return "seccomp";
  return NULL;
}
