/* SPDX-License-Identifier: MIT */
/* Parts of a product, and the ways to compute one: a file each, for the kernels of its name. */
#ifndef CLC_PRODUCT_H
#define CLC_PRODUCT_H

#include "gemm.h"
#include "operations/operations.h"

/* How many elements of a matrix's rows can be accessed at a time: 4, 2 or 1. */
size_t clc_unitof(const clc_Matrix *x);

/* Whether it is four. */
int clc_isquad(const clc_Matrix *x);

/* The part of a product that computes m x n elements of C from (i, j) on, as far as there are. */
clc_Multiply clc_partof(const clc_Multiply *x, size_t i, size_t j, size_t m, size_t n);

/* Multiply-adds of a product. */
double clc_work(const clc_Multiply *x);

/* --- pack.c: operands in scratch memory ------------------------------------ */

/* Pushes the kernel that copies a matrix, or that transposes it. */
clc_Kernel *clc_getpack(lua_State *L, const clc_Matrix *x, int is_transposed);

/* Whether it takes so many rows. */
int clc_canpack(size_t rows);

/* Moves rows x cols of each of `count` matrices to the start of a matrix's memory, which has
   to.rows x to.cols, a multiple of 4, with zeros around them. Returns what is there. */
clc_Matrix clc_pack(lua_State *L, clc_Kernel *kernel, const clc_Matrix *from, size_t count,
                    size_t rows, size_t cols, clc_Matrix to);

/* --- split.c: products by parts of k --------------------------------------- */

/* `count` parts of `depth` elements of k, the last one of what is left; the kernel and the scratch
   memory of their sum. */
typedef struct clc_Parts {
  size_t count, depth, down;
  clc_Kernel *sum;
  clc_Buffer *memory;
} clc_Parts;

/* Pushes what the parts of a product take: before anything is launched, as a finalizer that
   multiplies would use the same memory. */
clc_Parts clc_getparts(lua_State *L, const clc_Multiply *x, size_t count, size_t depth);

/* The product as its parts are launched: into scratch memory, whose stride is from part to part. */
clc_Multiply clc_partsof(const clc_Multiply *x, const clc_Parts *p);

/* Adds up the parts, with the product's alpha and beta. Of one part nothing is left to do. */
void clc_sumparts(lua_State *L, const clc_Multiply *x, const clc_Parts *p);

/* --- blocking.c: blocks of C and parts of k ------------------------------------ */

/* What a work-group and a work-item own, how many slices are in work, and how many warps own the
   same elements; the groups that a multiprocessor holds at a time, the GFLOP/s of the device with
   one on each and with all, that with two (0: twice that of one), the percents of them where A is
   read as it lies (0: it never is), and the parts of k that it asks for (0: the model chooses). */
typedef struct clc_Tile {
  size_t bm, bn, bk, tm, tn, stages, ways;
  size_t held, alone, full, two, along, parts;
} clc_Tile;

typedef struct clc_Plan {
  clc_Tile shape;
  size_t parts, depth; /* of k: how many, and elements of each */
  size_t launch, stream;
  int is_along; /* A is read as it lies, m x k */
  int is_once;  /* the last group of a block adds up its parts */
  double time;  /* in us; more than it takes, but as the time of other plans */
} clc_Plan;

/* What a plan takes besides, in us. */
typedef double (*clc_Packing)(const clc_Plan *p, const clc_Multiply *x);

/* The fastest plan of the shapes in a list of the row on top of the stack. */
clc_Plan clc_plan(lua_State *L, const clc_Multiply *x, const char *name, const clc_Field *fields,
                  clc_Packing packing);

/* Microseconds that so many groups take for blocks of C and `depth` elements of k. */
double clc_timeofblocks(const clc_Tile *s, const clc_Multiply *x, size_t groups, size_t depth);

/* Of a launch that moves so many bytes. */
double clc_timeofpacking(const clc_Plan *p, size_t bytes);

/* --- ways ------------------------------------------------------------------- */

/*
 * Each queues a product. The row of the device's schedule that names its kernel is on top of the
 * stack, where values may be left. A way returns 0 where the product is not for it: too small, or
 * what is packed has no room.
 */

/* For the cores of a CPU: packed panels and register tiles (kernels/gemm_panels.cl). */
void clc_multiplypanels(lua_State *L, const clc_Multiply *x);

/* For the multiprocessors of a GPU: register-blocked slices (kernels/gemm_blocks.cl). */
void clc_multiplyblocks(lua_State *L, const clc_Multiply *x);
clc_Plan clc_planblocks(lua_State *L, const clc_Multiply *x);
void clc_multiplyplanned(lua_State *L, const clc_Multiply *x, const clc_Plan *plan);

/* For GPUs, of a matrix and few vectors (kernels/gemm_thin_rows.cl, kernels/gemm_thin_columns.cl).
 */
int clc_multiplythin(lua_State *L, const clc_Multiply *x);

/* For GPUs that copy to local memory while they compute: floats or doubles
   (kernels/gemm_pipelined.cl; where gemm_blocks is faster by that), or as one or three products of
   parts of floats on tensor cores (kernels/gemm_tensor.cl). */
void clc_multiplypipelined(lua_State *L, const clc_Multiply *x);
int clc_multiplytensor(lua_State *L, const clc_Multiply *x, size_t products);

/* For doubles, which some tensor cores multiply as exactly (kernels/gemm_tensor_double.cl). */
int clc_multiplydoubles(lua_State *L, const clc_Multiply *x);

/* For the tensor cores of NVIDIA's Hopper (kernels/gemm_warpgroups.cl): the same parts. */
int clc_multiplywarpgroups(lua_State *L, const clc_Multiply *x, size_t products);

#endif
