/* SPDX-License-Identifier: MIT */
/* The clock that measures: it only goes forward. */
#ifndef CLC_CLOCK_H
#define CLC_CLOCK_H

/* Seconds since an arbitrary start. */
double clc_now(void);

#endif
