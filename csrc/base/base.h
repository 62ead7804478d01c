/* SPDX-License-Identifier: MIT */
/* What all packages stand on: the C API of Lua with the errors, arguments, handles and element
 * types of this library. */
#ifndef CLC_BASE_H
#define CLC_BASE_H

#include "args.h"
#include "clock.h"
#include "dtype.h"
#include "error.h"
#include "handle.h"
#include "info.h"
#include "platform.h"
#include "result.h"
#include "shape.h"
#include "wait.h"

#endif
