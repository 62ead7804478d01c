/* SPDX-License-Identifier: MIT */
/* Binaries: built programs out of the cache and into it. */
#ifndef CLC_BINARY_H
#define CLC_BINARY_H

#include "device/device.h"

/* Pushes what decides the outcome of a build of the text, which holds all that it
   includes; returns 0, and nothing pushed, where nothing is to be kept. */
int clc_pushkey(lua_State *L, const clc_Device *d, const char *text, const char *options);

/*
 * Builds the program that was kept for the key at a stack index, stores it at
 * *program and pushes the declarations of its kernels; 0, and nothing pushed, where
 * there is none or the driver refuses it.
 */
int clc_loadbinary(lua_State *L, const clc_Device *d, int key, const char *options,
                   cl_program *program);

/* Builds the program of a binary, or leaves NULL. Raises nothing. */
void clc_buildbinary(const clc_Device *d, const char *binary, size_t size, const char *options,
                     cl_program *program);

/* Pushes the binary of a program built for one device, or returns 0. */
int clc_pushbinary(lua_State *L, const cl_program *program);

/* Keeps a built program, if that is possible. */
void clc_storebinary(lua_State *L, int key, const cl_program *program);

#endif
