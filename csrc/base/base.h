/* SPDX-License-Identifier: MIT */
/*
 * Base: what all packages stand on. The C API of Lua with errors (error.h), functions
 * (functions.h), handles (handle.h), platforms (platform.h), and what is declared here: options,
 * element types, shapes, results, waits.
 */
#ifndef CLC_BASE_H
#define CLC_BASE_H

#include "error.h"
#include "functions.h"
#include "handle.h"
#include "platform.h"

static inline size_t clc_smaller(size_t a, size_t b) {
  return a < b ? a : b;
}

/* --- option tables: args.c ------------------------------------------------- */

#define CLC_INWORDS "in_words" /* in the metatable of a table that is an object */

/* Whether a table is an object of Lua's half, as a spread buffer, and so no list and no options. */
static inline int clc_isobject(lua_State *L, int idx) {
  if (luaL_getmetafield(L, idx, CLC_INWORDS) == LUA_TNIL) return 0;
  lua_pop(L, 1);
  return 1;
}

/* What a value is, for "got %s"; of such an object also the way out. */
const char *clc_typename(lua_State *L, int idx);

/* Checks that an argument is absent or a table whose keys are all in the
   NULL-terminated list; returns whether it is a table. Fields are read raw. */
int clc_checkoptions(lua_State *L, int arg, const char *const keys[]);

/* The field of an option table, or the default where table or field is absent. */
lua_Number clc_numberoption(lua_State *L, int arg, const char *key, lua_Number def);
lua_Integer clc_integeroption(lua_State *L, int arg, const char *key, lua_Integer min,
                              lua_Integer def);
int clc_booleanoption(lua_State *L, int arg, const char *key, int def);
/* The string lives as long as the table keeps it. */
const char *clc_stringoption(lua_State *L, int arg, const char *key, const char *def);
/* Index into a NULL-terminated list of names. */
int clc_enumoption(lua_State *L, int arg, const char *key, const char *const names[], int def);

/* Pushes the field (nil where absent) and returns its type. */
int clc_pushoption(lua_State *L, int arg, const char *key);

/* Raises "option 'key': complaint"; the complaint is a lua_pushfstring format. */
int clc_optionerror(lua_State *L, int arg, const char *key, const char *complaint, ...);

/* An optional pair first, last: 1-based, inclusive, within 1 .. n; default all.
   `first == last + 1` is the empty range. */
void clc_checkinterval(lua_State *L, int arg, size_t n, size_t *first, size_t *last);

/* --- large pages: pages.c --------------------------------------------------- */

#define CLC_MUCH ((size_t)4 << 20) /* bytes from which it pays */

/* Memory of the library's own. */
typedef struct clc_Pages {
  void *memory; /* where it begins; NULL: there was none */
  void *mapped; /* what the system gave */
  size_t bytes; /* of that */
} clc_Pages;

clc_Pages clc_newpages(size_t bytes);
void clc_freepages(const clc_Pages *p);

/* What the state allocates with by itself, whatever it does for a while. */
typedef struct clc_Allocator {
  lua_Alloc call;
  void *data;
} clc_Allocator;

void clc_openallocator(lua_State *L);
clc_Allocator clc_getallocator(lua_State *L);

/* Pushes one value, which takes about so many bytes of Lua's memory. */
typedef void (*clc_Pusher)(lua_State *L, const void *data);
void clc_pushmuch(lua_State *L, size_t bytes, clc_Pusher push, const void *data);

/* Pushes memory for elements, a userdata. */
void *clc_newelements(lua_State *L, size_t bytes);

/* --- element types: dtype.c ------------------------------------------------ */

/* OpenCL's scalar types as rows of a table, and how one element of each crosses between Lua and
   memory. */
typedef struct clc_Dtype {
  const char *name; /* as in OpenCL C: "float" */
  size_t size;      /* bytes of an element */
  int floating;
  /* Converts the number at a stack index; returns 0 when it has no such value.
     The element may be unaligned memory. */
  int (*to)(lua_State *L, int idx, void *element);
  void (*push)(lua_State *L, const void *element);
  /* Converts n elements of the table at idx; returns the 1-based place of the first value that
     failed, or 0. The memory is aligned. */
  size_t (*totable)(lua_State *L, int idx, size_t n, void *elements);
  void (*pushtable)(lua_State *L, size_t n, const void *elements);
} clc_Dtype;

extern const clc_Dtype *const clc_int, *const clc_float, *const clc_double;

/* The type of that name, or NULL. */
const clc_Dtype *clc_finddtype(const char *name, size_t length);

/* The type named by an argument, with `def` (NULL: none) where it is absent. */
const clc_Dtype *clc_checkdtype(lua_State *L, int arg);
const clc_Dtype *clc_optdtype(lua_State *L, int arg, const char *def);

/* Pushes why the value at idx is no element of the type: "number expected, got
   nil", "3.5 has no integer value", "300 does not fit char". */
const char *clc_pushmismatch(lua_State *L, int idx, const clc_Dtype *dtype);

/* Converts an argument, or raises with the mismatch. */
void clc_checkelement(lua_State *L, int arg, const clc_Dtype *dtype, void *element);

/* The field of an option table as the nearest element of the type, or the default. */
lua_Number clc_elementoption(lua_State *L, int arg, const char *key, const clc_Dtype *dtype,
                             lua_Number def);

/* Adds functions for the library alone to the module at the top. */
void clc_opendtypes(lua_State *L);

/* --- shapes: shape.c ------------------------------------------------------- */

#define CLC_MAXDIMS 4

/* The extents of a buffer, row-major. */
typedef struct clc_Shape {
  int n;
  size_t dim[CLC_MAXDIMS];
} clc_Shape;

/* Device memory that an object holds. */
struct clc_Holding {
  const clc_Dtype *dtype;
  clc_Shape shape;
  size_t bytes;
  int is_shared; /* with the object that it is a view of */
};

/* Number of elements; the product never overflows in a shape that was checked. */
size_t clc_count(const clc_Shape *s);

int clc_sameshape(const clc_Shape *a, const clc_Shape *b);

/* Elements of one step along the first dimension: 1, or those of a row. */
size_t clc_rowcount(const clc_Shape *s);

/* Raises when so many elements can exist nowhere. */
void clc_checkmemory(lua_State *L, const clc_Shape *s, const clc_Dtype *dtype);

/* The extents given as arguments first .. last, refusing what does not fit in memory. */
clc_Shape clc_checkshape(lua_State *L, int first, int last, const clc_Dtype *dtype);

/* The shape a (nested) table has, judged by its first members, refusing what does
   not fit in memory: tables that share rows can be larger than it. */
clc_Shape clc_tableshape(lua_State *L, int arg, const clc_Dtype *dtype);

/* Converts a nested table of exactly that shape; errors name the place: [3][2]. */
void clc_checktable(lua_State *L, int arg, const clc_Dtype *dtype, const clc_Shape *s,
                    void *elements);

/* Pushes elements as a table nested as the shape; raises where that is a great many empty tables.
 */
void clc_pushtable(lua_State *L, const clc_Dtype *dtype, const clc_Shape *s, const void *elements);

/* Pushes n extents as a list. */
void clc_pushextents(lua_State *L, int n, const size_t dim[]);

/* Pushes the shape as text: "3x4". */
const char *clc_pushshape(lua_State *L, const clc_Shape *s);

/* --- what the two halves of the library hand each other: internal.c -------- */

/* Adds functions to the table `internal` of the module at the top, which lua/clcompute/init.lua
   takes away: scripts do not see them. */
void clc_addinternal(lua_State *L, const luaL_Reg *functions);

/* Pushes what that table has under a name, by now also from Lua, or nil; returns its type. */
int clc_getinternal(lua_State *L, const char *name);

/* Whether an argument is a spread buffer. */
int clc_isspread(lua_State *L, int arg);

/* Calls the operation of that name of `clcompute.groups` with the arguments of a function of Lua,
   of which one may be a spread buffer. Returns what it returns. */
int clc_callspread(lua_State *L, const char *name);

/* --- results that print: result.c ------------------------------------------ */

/* Gives the table at the top, a list, a metatable of that name: tostring is a line
   for each element, or the text `empty`. */
void clc_namelist(lua_State *L, const char *name, const char *empty);

/* Gives a table of fields a metatable of that name: tostring is "key = value, ..." of the fields
   that are there, in the order of the NULL-terminated list; of a list the first elements. */
void clc_namerecord(lua_State *L, const char *name, const char *const keys[]);

/* Gives a table of fields a metatable of that name: tostring is a line "key = value" for each
   field, in order of their names. */
void clc_namefields(lua_State *L, const char *name);

/* --- waiting for the device so that Ctrl-C still works, and the clock: wait.c --- */

/* Seconds since an arbitrary start, by a clock that only goes forward. */
double clc_now(void);

/* Gives a hook its turn, such as the one that an interrupt sets. May raise, and may
   run other Lua code. */
void clc_checkinterrupt(lua_State *L);

/* Keeps Ctrl-C from the threads and programs that a driver starts until clc_letinterrupt: POCL
   aborts when its linker is interrupted. Ctrl-C waits meanwhile, or goes to the thread of a notice,
   which there is at a terminal alone. Nothing may raise in between. Returns whether it was held
   before. */
int clc_holdinterrupt(void);
void clc_letinterrupt(int was_held);

#define CLC_SPIN 100e-6       /* seconds of busy polling: most launches end within */
#define CLC_SPIN_FOR_GPU 2e-3 /* who sleeps wakes 60 us late, and a GPU needs no processor */

/* A wait that began. */
typedef struct clc_Wait {
  double start, spin; /* seconds of busy polling, which may be changed */
  lua_State *thread;  /* the main one, unless that waits itself */
  lua_Hook hook;      /* that it had then */
} clc_Wait;

clc_Wait clc_beginwait(lua_State *L);

/*
 * Between two looks at what is waited for: gives hooks their turn and then the processor away,
 * shortly at first. Raises when the script was interrupted meanwhile, as by Ctrl-C in the lua
 * interpreter. A hook may have waited for the same, or released it.
 */
void clc_pause(lua_State *L, const clc_Wait *w);

/* Gives hooks their turn and raises when the script was interrupted, as clc_pause does, but keeps
   the processor. */
void clc_checkwait(lua_State *L, const clc_Wait *w);

/* Gives the processor away, the longer the more seconds were waited already. */
void clc_rest(double waited);

/* Pushes what tells who sits at a terminal why it takes long: after half a second one line on
   standard error, which goes away. It is marked to be closed: the caller cuts the stack. Nil where
   standard error is no terminal. */
void clc_pushnotice(lua_State *L, const char *text);

/* Between two looks of a wait that may be for a driver's compiler: has such a notice above stack
   index `top` while that compiles something, and none (NULL) while it does not. Not to be called
   before CLC_UNTOLD seconds have passed: most waits are short. */
#define CLC_UNTOLD 50e-3
void clc_telllate(lua_State *L, int top, const char *compiled);

/* Opens it for Lua: notice(text), for a variable that is to be closed; hush_notices(). */
void clc_opennotices(lua_State *L);

/* --- a prompt of our own: prompt_signal.c, terminal.c ------------------------ */

/* Columns of the terminal that a stream is; 0 where it is none. */
int clc_terminalcolumns(int stream);

/* Add functions for the library alone to the module at the top. */
void clc_openinterrupts(lua_State *L);
void clc_openterminal(lua_State *L);

/* How often Ctrl-C came since it was asked last. */
int clc_takeinterrupts(void);

#endif
