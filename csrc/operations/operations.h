/* SPDX-License-Identifier: MIT */
/* What every operation shares: operands, prebuilt kernels, schedules. */
#ifndef CLC_OPERATIONS_H
#define CLC_OPERATIONS_H

#include "enqueue.h"
#include "operand.h"
#include "prebuilt.h"
#include "saxpy.h"
#include "schedule.h"

#endif
