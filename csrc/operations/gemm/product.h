/* SPDX-License-Identifier: MIT */
/* Parts of a product, and the ways to compute one: a file each, for the kernels of its name. */
#ifndef CLC_PRODUCT_H
#define CLC_PRODUCT_H

#include "gemm.h"
#include "operations/operations.h"

/* Whether a matrix's rows can be accessed four elements at a time. */
int clc_isquad(const clc_Matrix *x);

/* The part of a product that computes m x n elements of C from (i, j) on, as far as there are. */
clc_Multiply clc_partof(const clc_Multiply *x, size_t i, size_t j, size_t m, size_t n);

/* Multiply-adds of a product. */
double clc_work(const clc_Multiply *x);

/*
 * Each queues a product. The row of the device's schedule that names its kernel is on top of the
 * stack, where values may be left. A way returns 0 where the product is not for it: too small, or
 * what is packed has no room.
 */

/* For the cores of a CPU: packed panels and register tiles (kernels/gemm_panels.cl). */
void clc_multiplypanels(lua_State *L, const clc_Multiply *x);

/* For the multiprocessors of a GPU: register-blocked slices (kernels/gemm_blocks.cl). */
void clc_multiplyblocks(lua_State *L, const clc_Multiply *x);

/* For GPUs that copy to local memory while they compute: floats or doubles
   (kernels/gemm_pipelined.cl), or as one or three products of parts of floats on tensor cores
   (kernels/gemm_tensor.cl). */
int clc_multiplypipelined(lua_State *L, const clc_Multiply *x);
int clc_multiplytensor(lua_State *L, const clc_Multiply *x, size_t products);

/* For doubles, which some tensor cores multiply as exactly (kernels/gemm_tensor_double.cl). */
int clc_multiplydoubles(lua_State *L, const clc_Multiply *x);

/* For the tensor cores of NVIDIA's Hopper (kernels/gemm_warpgroups.cl): the same parts. */
int clc_multiplywarpgroups(lua_State *L, const clc_Multiply *x, size_t products);

#endif
