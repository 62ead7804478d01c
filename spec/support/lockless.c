/* SPDX-License-Identifier: MIT */
/* For LD_PRELOAD: locks fail with errno $LOCKLESS, $LOCKLESS_TIMES times (always). */
#define _GNU_SOURCE /* F_OFD_SETLK */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int fails(int command) {
  static int failed;
  const char *times = getenv("LOCKLESS_TIMES");
  return command == F_OFD_SETLK && (times == NULL || failed++ < atoi(times));
}

int fcntl(int fd, int command, ...) {
  va_list rest;
  va_start(rest, command);
  const long given = va_arg(rest, long);
  va_end(rest);
  if (!fails(command)) return (int)syscall(SYS_fcntl, fd, command, given);
  errno = atoi(getenv("LOCKLESS"));
  return -1;
}

int fcntl64(int, int, ...) __attribute__((alias("fcntl")));
