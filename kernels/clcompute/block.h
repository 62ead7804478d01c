/* SPDX-License-Identifier: MIT */
/*
 * Which block of a matrix a work-group computes. Work-groups follow one another down BAND blocks of
 * rows before they go to the next block of columns, so that what runs at a time shares what the
 * cache holds.
 */
#ifndef CLC_BLOCK_H
#define CLC_BLOCK_H

#ifndef BAND
#define BAND 8 /* blocks of rows in a band */
#endif

/* Of group `number`, where the matrix is `across` blocks wide and `down` high: the first row of
   blocks of its band, the rows of that, and the group's number within the band. */
#define FIND_BAND(across)                                                                       \
  const size_t band = number / (BAND * across) * BAND, height = min((size_t)BAND, down - band); \
  const size_t in_band = number - band * across;

#endif
