/* SPDX-License-Identifier: MIT */
/*
 * Handles: the objects a script holds, and the list of all that are alive.
 *
 * A userdata is only a box: a mark and a pointer to its node. The node holds
 * the OpenCL objects and sits in a list that belongs to the Lua state, so that
 * a device can release all that was made on it, and the end of the state
 * releases what is left, whatever a script did to metatables with `debug`.
 */
#ifndef CLC_HANDLE_H
#define CLC_HANDLE_H

#include "error.h"
#include "functions.h"

typedef struct clc_Handle clc_Handle;
typedef struct clc_Holding clc_Holding;

typedef struct clc_Type {
  const char *name;               /* in messages: "buffer" */
  const char *tname;              /* metatable: "clcompute.Buffer" */
  size_t size;                    /* of the node, or of its fixed part */
  void (*release)(clc_Handle *h); /* drops what it owns; never raises */
  int owns;                       /* others are made on it */
  /* Tells the device memory that a handle holds; 0: it holds none. NULL: no handle of this type
     does. */
  int (*tell)(const clc_Handle *h, clc_Holding *holding);
} clc_Type;

struct clc_Handle {
  clc_Handle *prev, *next; /* the state's list */
  const clc_Type *type;
  size_t size;       /* of the node */
  clc_Handle *owner; /* the device it was made on; NULL for a device */
  int released;      /* what it owned is gone; only the node is left */
};

/* Makes the list; the first thing a state does. */
void clc_openhandles(lua_State *L);

/* Pushes a new table whose keys ("k") or values ("v") are weak. */
void clc_pushweak(lua_State *L, const char *mode);

/* Makes the metatable of a type. `field` is called with object and key for what
   is no method; it pushes the field, or returns 0 when there is none. `fields` names
   them, "dtype shape", for messages. `show` pushes what tostring says of an object that is alive;
   what it raises is said too. Files of a higher level may add methods. */
void clc_opentype(lua_State *L, const clc_Type *type, lua_CFunction field, const char *fields,
                  lua_CFunction show, const clc_Function *methods, const luaL_Reg *metamethods);
void clc_addmethods(lua_State *L, const clc_Type *type, const clc_Function *methods);

/* Makes the metatable of a type that no script sees. */
void clc_openhidden(lua_State *L, const clc_Type *type);

/* Pushes a new box and returns its zeroed node, which has `extra` bytes after the type's size. Its
   one user value is for what is only to be kept alive: `debug` exchanges it. */
void *clc_newhandle(lua_State *L, const clc_Type *type, clc_Handle *owner, size_t extra);

/* What C code relies on: value n of the object at an index, out of the reach of `debug`. Set pops
   the value; get pushes it, or nil, and returns its type. */
void clc_setvalue(lua_State *L, int idx, lua_Integer n);
int clc_getvalue(lua_State *L, int idx, lua_Integer n);

/* The node at a stack index if it is of that type: test returns NULL for
   another value; to raises for another value but takes released objects;
   check raises for both. */
void *clc_testhandle(lua_State *L, int idx, const clc_Type *type);
void *clc_tohandle(lua_State *L, int arg, const clc_Type *type);
void *clc_checkhandle(lua_State *L, int arg, const clc_Type *type);

/* Whether OpenCL was called before a fork() that made this process. */
int clc_isforked(void);

/* Before OpenCL is called: raises in such a process, where drivers hang or crash. */
void clc_checkfork(lua_State *L);

/* Releases what a handle owns; a second time it does nothing. After a fork the
   child lets go without a call: the driver's threads are missing there. */
void clc_release(clc_Handle *h);

/* Releases all handles that have this owner. */
void clc_releaseowned(clc_Handle *owner);

/* The next live handle after h (NULL: the first one), or NULL at the end. */
clc_Handle *clc_nexthandle(lua_State *L, clc_Handle *h);

/* Adds the method `release` and the metamethod `__close`. */
void clc_addrelease(lua_State *L, const clc_Type *type);

#endif
