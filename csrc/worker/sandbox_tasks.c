/* SPDX-License-Identifier: MIT */
/* Which tasks a worker may begin: its filter of system calls asks the process that has it. */
#define _GNU_SOURCE /* syscall numbers */
#include "sandbox.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LINKERS 16 /* tasks of a linker, beside those that it begins for processors */

unsigned clc_mosttasks(void) {
  return 2 * (unsigned)sysconf(_SC_NPROCESSORS_CONF) + LINKERS;
}

/* Whether two tasks are threads of one process: a driver places its own, and nobody else's. */
static int are_threads(uint32_t one, uint32_t other) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%lu/task/%lu", (unsigned long)one, (unsigned long)other);
  return other == 0 || access(path, F_OK) == 0 || errno != ENOENT;
}

/* What is decided by lies in registers, so nothing can change it afterwards. */
void clc_supervise(int supervisor, unsigned *tasks) {
  struct seccomp_notif question;
  struct seccomp_notif_resp answer;
  memset(&question, 0, sizeof question);
  memset(&answer, 0, sizeof answer);
  if (ioctl(supervisor, SECCOMP_IOCTL_NOTIF_RECV, &question) != 0) return; /* who asked is gone */
  const int begins = question.data.nr != SYS_sched_setaffinity;
  const int granted =
      begins ? *tasks > 0 : are_threads(question.pid, (uint32_t)question.data.args[0]);
  if (begins && granted) --*tasks;
  answer.id = question.id;
  if (granted)
    answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  else
    answer.error = -EAGAIN;
  ioctl(supervisor, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}
