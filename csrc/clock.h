/* SPDX-License-Identifier: MIT */
/* The clock that measures: it only goes forward. */
#ifndef CLC_CLOCK_H
#define CLC_CLOCK_H

#pragma GCC visibility push(hidden)

/* Seconds since an arbitrary start. */
double clc_now(void);

#pragma GCC visibility pop

#endif
