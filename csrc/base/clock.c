/* SPDX-License-Identifier: MIT */
/* The clock that measures: it only goes forward. */
#define _POSIX_C_SOURCE 200809L
#include "clock.h"

#include <time.h>

double clc_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
