/* SPDX-License-Identifier: MIT */
/*
 * gemm_panels: C = alpha * op(A) * op(B) + beta * C for the cores of a CPU
 *
 *     for (j = 0; j < n; j++)
 *       for (i = 0; i < m; i++) {
 *         acc = 0;
 *         for (l = 0; l < k; l++) acc += op(A)[i][l] * op(B)[l][j];
 *         C[i][j] = alpha * acc + beta * C[i][j];
 *       }
 *
 *                    nc                 One work-item a block of mc x nc elements of C. It goes
 *                 +-------+             along k in steps of kc; the mc x kc elements of A for a
 *              kc | | | | | op(B)       step, packed into local memory (on a CPU: ordinary
 *                 +-|-|-|-+             memory, which its second level cache holds), meet one
 *            kc     v v v               panel of B after the other, which the first level holds.
 *          +----+ +-------+
 *       mc +----+>|       |             A panel is a strip of the matrix, ROWS rows of A or
 *          +----+ |   C   |             2 * V columns of B wide, in the order in which it is read:
 *          op(A)  +-------+             the width's elements of one k side by side. ROWS x 2 * V
 *                                       elements of C are a tile: what the registers hold.
 *
 * steps says what a launch does: PACK fills `packed` with the panels of B, MULTIPLY computes C.
 * Both in one launch: every work-item packs for itself what it needs next, so mc is at least m.
 * PACK alone, for work that many work-items share: `packed` gets all of B, by one work-item each kc x nc elements;
 * MULTIPLY | PACKED then reads that. MULTIPLY alone reads B where it lies, if B is not transposed
 * and has at least 2 * V columns; with IN_PLACE it reads A so too, if that is not transposed: where
 * there is little to compute, packing is much of the work. The rest of the rows goes by EDGE at once.
 *
 * op(X) is X, or its transpose where transa / transb is 1. a0, b0, c0 are the elements before each
 * matrix, lda, ldb, ldc those from row to row, a1, b1, c1 those from one matrix of a batch to the
 * next. With beta 0, C is not read. nc is a multiple of 2 * V, mc best one of ROWS;
 * (mc + EDGE) * kc + V <= BLOCK. `packed`, for each matrix of the batch: k times n rounded up to
 * 2 * V; with PACK | MULTIPLY kc times that.
 * Global size: n / nc x m / mc (PACK alone: k / kc) x batch, all rounded up; local size: 1.
 */
#ifndef REAL
#define REAL float /* element type: float or double */
#endif
#ifndef V
#define V 16 /* elements of a vector register: 4, 8 or 16 */
#endif
#ifndef ROWS
#define ROWS 14 /* of a tile, 6 or 14: 2 * ROWS + 3 vector registers are in use */
#endif
#ifndef BLOCK
#define BLOCK 4096 /* elements of A that a work-item packs at once, at most */
#endif
#define EDGE 4 /* rows of the tiles for what is left */

#define PACK 1
#define MULTIPLY 2
#define PACKED 4
#define IN_PLACE 8

#include "clcompute/vector.h"

/* --- packing ------------------------------------------------------------- */

/* One round of a transpose: four of them, for V 16, turn rows of vectors into columns. */
#define ROUND(to, from)                              \
  for (int i = 0; i < V / 2; i++) {                  \
    to[2 * i].even = from[i].lo;                     \
    to[2 * i].odd = from[i + V / 2].lo;              \
    to[2 * i + 1].even = from[i].hi;                 \
    to[2 * i + 1].odd = from[i + V / 2].hi;          \
  }

/* V x V elements, `ld` from row to row, of which `rows` are there: transposed, `step` apart. */
#define DEFINE_TRANSPOSE(SPACE)                                                                   \
  INLINE void transpose_##SPACE(__global const REAL *from, const size_t ld, const int rows,       \
                                __##SPACE REAL *to, const size_t step) {                          \
    VECTOR x[V], y[V];                                                                            \
    _Pragma("unroll") for (int i = 0; i < V; i++) x[i] = i < rows ? LOAD(0, from + i * ld) : 0;   \
    _Pragma("unroll") ROUND(y, x) _Pragma("unroll") ROUND(x, y)                                   \
    if (V >= 8) { _Pragma("unroll") ROUND(y, x) }                                                 \
    if (V == 16) { _Pragma("unroll") ROUND(x, y) }                                                \
    _Pragma("unroll") for (int i = 0; i < V; i++) STORE(V == 8 ? y[i] : x[i], 0, to + i * step);  \
  }

/*
 * A panel of rows that lie across it: to[l * width + i] = from[i * ld + l], zero where i >= there.
 * Squares of V x V are transposed: the last first, for what a vector holds too much goes where the
 * next square writes, or behind the panel.
 */
#define DEFINE_PACK(SPACE)                                                                      \
  DEFINE_TRANSPOSE(SPACE)                                                                       \
  INLINE void pack_##SPACE(const int width, const int there, const int depth,                   \
                           __global const REAL *from, const size_t ld, __##SPACE REAL *to) {    \
    int l = 0;                                                                                  \
    for (; l + V <= depth; l += V)                                                              \
      for (int i = (width - 1) / V * V; i >= 0; i -= V)                                         \
        transpose_##SPACE(from + i * ld + l, ld, there - i, to + l * width + i, (size_t)width); \
    for (; l < depth; l++)                                                                      \
      for (int i = 0; i < width; i++) to[l * width + i] = i < there ? from[i * ld + l] : 0;     \
  }

DEFINE_PACK(local)
DEFINE_PACK(global)

/* The elements of one row of a panel that lie side by side, zeros behind those that are there. */
#define DEFINE_COPY(SPACE)                                                                       \
  INLINE void copy_##SPACE(const int width, const int there, __global const REAL *from,         \
                           __##SPACE REAL *to) {                                                 \
    if (there >= width)                                                                          \
      for (int i = 0; i < width; i++) to[i] = from[i];                                           \
    else                                                                                         \
      for (int i = 0; i < width; i++) to[i] = i < there ? from[i] : 0;                           \
  }

DEFINE_COPY(local)
DEFINE_COPY(global)

/* The panels of B that cover nc columns, kc rows deep. Rows of B are read from end to end: those
   of a wide matrix are pages apart. */
INLINE void pack_columns(const int nc, const int kc, const int transb, __global const REAL *b,
                         const size_t ldb, __global REAL *to) {
  if (transb)
    for (int j = 0; j < nc; j += 2 * V)
      pack_global(2 * V, min(2 * V, nc - j), kc, b + j * ldb, ldb, to + (size_t)j * kc);
  else
    for (int l = 0; l < kc; l++)
      for (int j = 0; j < nc; j += 2 * V)
        copy_global(2 * V, nc - j, b + l * ldb + j, to + (size_t)j * kc + l * 2 * V);
}

/* How many rows the next tile has where so many are left. */
INLINE int tile_rows(const int left) { return left > (ROWS - 1) / EDGE * EDGE ? ROWS : EDGE; }

/* The panels of A that cover mc rows, kc deep. */
INLINE void pack_rows(const int mc, const int kc, const int transa, __global const REAL *a,
                      const size_t lda, __local REAL *to) {
  for (int l = 0; transa && l < kc; l++)
    for (int i = 0; i < mc; i += tile_rows(mc - i))
      if (tile_rows(mc - i) == ROWS)
        copy_local(ROWS, mc - i, a + l * lda + i, to + i * kc + l * ROWS);
      else
        copy_local(EDGE, mc - i, a + l * lda + i, to + i * kc + l * EDGE);
  for (int i = 0; !transa && i < mc; i += tile_rows(mc - i))
    if (tile_rows(mc - i) == ROWS)
      pack_local(ROWS, min(ROWS, mc - i), kc, a + i * lda, lda, to + i * kc);
    else
      pack_local(EDGE, min(EDGE, mc - i), kc, a + i * lda, lda, to + i * kc);
}

/* --- tiles --------------------------------------------------------------- */

#define EACH_4(F) F(0) F(1) F(2) F(3)
#define EACH_6(F) EACH_4(F) F(4) F(5)
#define EACH_14(F) EACH_6(F) F(6) F(7) F(8) F(9) F(10) F(11) F(12) F(13)

#define ZERO(i) VECTOR x##i = 0, y##i = 0;
#define ROW(i) __global const REAL *const a##i = a + i * lda;
#define ROW_OR_LAST(i) __global const REAL *const a##i = a + min(i, rows - 1) * lda;
#define ADD_ROW(i)                       \
  x##i = fma((VECTOR)a##i[l], b0, x##i); \
  y##i = fma((VECTOR)a##i[l], b1, y##i);
#define ADD(i)                    \
  x##i = fma((VECTOR)a[i], b0, x##i); \
  y##i = fma((VECTOR)a[i], b1, y##i);
#define PUT(i)                                  \
  STORE(alpha * x##i, 0, c + i * ldc);          \
  STORE(alpha * y##i, 1, c + i * ldc);
#define PUT_ON(i)                                                            \
  STORE(alpha * x##i + beta * LOAD(0, c + i * ldc), 0, c + i * ldc);         \
  STORE(alpha * y##i + beta * LOAD(1, c + i * ldc), 1, c + i * ldc);
#define KEEP(i)                        \
  STORE(alpha * x##i, 2 * i, part);    \
  STORE(alpha * y##i, 2 * i + 1, part);

/* Writes columns `first` to `cols` of the first `rows` rows of what a tile would be. */
INLINE void put_part(const REAL *part, const REAL beta, __global REAL *c, const size_t ldc,
                     const int rows, const int first, const int cols) {
  for (int i = 0; i < rows; i++)
    for (int j = first; j < cols; j++) {
      const REAL value = part[i * 2 * V + j];
      c[i * ldc + j] = beta == 0 ? value : value + beta * c[i * ldc + j];
    }
}

#define PUT_TILE(N)                                          \
  if (rows < N || first > 0 || cols < 2 * V) {               \
    REAL part[N * 2 * V];                                    \
    EACH_##N(KEEP)                                           \
    put_part(part, beta, c, ldc, rows, first, cols);         \
  } else if (beta == 0) {                                    \
    EACH_##N(PUT)                                            \
  } else {                                                   \
    EACH_##N(PUT_ON)                                         \
  }

/*
 * A tile of C from a panel of A, or (tile_in_place) from rows of A where they lie, and 2 * V columns
 * of B, ldb elements from one row to the next. Its accumulators are variables of their own: an array
 * might stay in memory.
 */
#define DEFINE_TILE(N)                                                                         \
  INLINE void tile_##N(const int depth, __local const REAL *a, __global const REAL *b,         \
                       const size_t ldb, const REAL alpha, const REAL beta, __global REAL *c,  \
                       const size_t ldc, const int rows, const int first, const int cols) {    \
    EACH_##N(ZERO)                                                                             \
    for (int l = 0; l < depth; l++, a += N, b += ldb) {                                        \
      const VECTOR b0 = LOAD(0, b), b1 = LOAD(1, b);                                           \
      EACH_##N(ADD)                                                                            \
    }                                                                                          \
    PUT_TILE(N)                                                                                \
  }                                                                                            \
  INLINE void tile_in_place_##N(const int depth, __global const REAL *a, const size_t lda,     \
                                __global const REAL *b, const size_t ldb, const REAL alpha,    \
                                const REAL beta, __global REAL *c, const size_t ldc,           \
                                const int rows, const int first, const int cols) {             \
    EACH_##N(POINT)                                                                            \
    EACH_##N(ZERO)                                                                             \
    for (int l = 0; l < depth; l++, b += ldb) {                                                \
      const VECTOR b0 = LOAD(0, b), b1 = LOAD(1, b);                                           \
      EACH_##N(ADD_ROW)                                                                        \
    }                                                                                          \
    PUT_TILE(N)                                                                                \
  }
#define DEFINE_TILE_OF(N) DEFINE_TILE(N)

#define POINT ROW_OR_LAST
DEFINE_TILE(4)
#undef POINT
#define POINT ROW
DEFINE_TILE_OF(ROWS)
#define TILE_ROWS JOIN(tile_, ROWS)
#define TILE_IN_PLACE JOIN(tile_in_place_, ROWS)

/* All tiles of a block of C in 2 * V columns, from packed rows of A. */
INLINE void multiply_columns(const int mc, const int kc, __local const REAL *a,
                             __global const REAL *b, const size_t ldb, const REAL alpha,
                             const REAL beta, __global REAL *c, const size_t ldc, const int first,
                             const int cols) {
  for (int i = 0; i < mc; i += tile_rows(mc - i)) {
    if (tile_rows(mc - i) == ROWS)
      TILE_ROWS(kc, a + i * kc, b, ldb, alpha, beta, c + i * ldc, ldc, min(ROWS, mc - i), first,
                cols);
    else
      tile_4(kc, a + i * kc, b, ldb, alpha, beta, c + i * ldc, ldc, min(EDGE, mc - i), first,
             cols);
  }
}

/* The same from rows of A where they lie. */
INLINE void multiply_in_place(const int mc, const int kc, __global const REAL *a,
                              const size_t lda, __global const REAL *b, const size_t ldb,
                              const REAL alpha, const REAL beta, __global REAL *c,
                              const size_t ldc, const int first, const int cols) {
  int i = 0;
  for (; i + ROWS <= mc; i += ROWS)
    TILE_IN_PLACE(kc, a + i * lda, lda, b, ldb, alpha, beta, c + i * ldc, ldc, ROWS, first, cols);
  for (; i < mc; i += EDGE)
    tile_in_place_4(kc, a + i * lda, lda, b, ldb, alpha, beta, c + i * ldc, ldc,
                    min(EDGE, mc - i), first, cols);
}

/* --- a block of C -------------------------------------------------------- */

__attribute__((reqd_work_group_size(1, 1, 1))) __kernel void gemm_panels(
    const int steps, const int m, const int n, const int k, const int mc, const int nc,
    const int kc, const REAL alpha, __global const REAL *a, const ulong a0, const ulong lda,
    const ulong a1, const int transa, __global const REAL *b, const ulong b0, const ulong ldb,
    const ulong b1, const int transb, __global REAL *packed, const REAL beta, __global REAL *c,
    const ulong c0, const ulong ldc, const ulong c1) {
  __local REAL rows[BLOCK] __attribute__((aligned(128)));
  const size_t batch = get_global_id(2);
  const size_t padded = (size_t)((n + 2 * V - 1) / (2 * V)) * (2 * V);
  const int j0 = (int)get_global_id(0) * nc, columns = min(nc, n - j0);
  const int alone = steps == PACK, own = steps == (PACK | MULTIPLY);
  const int in_place = steps & IN_PLACE, has_panels = steps & (PACK | PACKED);
  const int i0 = alone ? 0 : (int)get_global_id(1) * mc, height = min(mc, m - i0);
  int l0 = alone ? (int)get_global_id(1) * kc : 0;
  const int end = alone ? min(k, l0 + kc) : k;
  a += a0 + batch * a1 + (transa ? i0 : i0 * lda);
  b += b0 + batch * b1 + (transb ? j0 * ldb : j0);
  c += c0 + batch * c1 + i0 * ldc + j0;
  packed += batch * padded * (own ? kc : k);
  for (; l0 < end; l0 += kc) {
    const int depth = min(kc, k - l0);
    const REAL scale = l0 == 0 ? beta : 1;
    __global REAL *panels = packed + (own ? (size_t)j0 * kc : l0 * padded + (size_t)j0 * depth);
    if (steps & PACK)
      pack_columns(columns, depth, transb, b + (transb ? l0 : l0 * ldb), ldb, panels);
    if (alone) break;
    if (!in_place) pack_rows(height, depth, transa, a + (transa ? l0 * lda : l0), lda, rows);
    for (int j = 0; j < columns; j += 2 * V) {
      /* where B lies as it is, its last columns overlap those before */
      const int over = has_panels ? 0 : max(0, j + 2 * V - columns);
      __global const REAL *from = has_panels ? panels + (size_t)j * depth : b + l0 * ldb + j - over;
      const size_t step = has_panels ? 2 * V : ldb;
      const int cols = min(2 * V, columns - j + over);
      if (in_place)
        multiply_in_place(height, depth, a + l0, lda, from, step, alpha, scale, c + j - over, ldc,
                          over, cols);
      else
        multiply_columns(height, depth, rows, from, step, alpha, scale, c + j - over, ldc, over,
                         cols);
    }
  }
}
