/* SPDX-License-Identifier: MIT */
/*
 * What scans share: the operation, and what it is combined with.
 */
#ifndef CLC_SCAN_H
#define CLC_SCAN_H

#include "elementwise.h"

#ifndef EXCLUSIVE
#define EXCLUSIVE 0 /* 1: without the element itself; has_init must be 1 */
#endif
#ifndef OPERATION
#define OPERATION a + b /* of the results a and b of neighbouring parts */
#define IDENTITY 0      /* optional: combined with it, a value stays; has_init must be 1 */
#endif

static VALUE combine(const VALUE a, const VALUE b) {
  return OPERATION;
}

#endif
