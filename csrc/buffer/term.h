/* SPDX-License-Identifier: MIT */
/* Terms: what an expression waits for, a tree of operators over memory and numbers. */
#ifndef CLC_TERM_H
#define CLC_TERM_H

#include "buffer.h"

/* Operands of a kernel: what would have more is computed in parts. Operators of one operand count
   too, or a tree would be as deep as one likes. */
#define CLC_OPERANDS 32
#define CLC_ARITY 2

/* What the result is of, and what its operands become before. */
typedef enum clc_Rule {
  CLC_COMMON, /* the dtype that comes last of theirs */
  CLC_REAL,   /* the same, but float for integers */
  CLC_WHOLE,  /* the same, of integers alone */
  CLC_TRUTH   /* 1 or 0, of what the dtype that comes last says */
} clc_Rule;

/* How OpenCL C spells it, for integers and for floating types: $T is the result's type, $C that of
   the operands, $A and $B are those. */
typedef struct clc_Operator {
  const char *event;  /* Lua's metamethod; NULL: the operator is a function of its name */
  const char *symbol; /* in messages, or the function's name */
  int arity;
  clc_Rule rule;
  const char *integer, *floating;
} clc_Operator;

struct clc_Term {
  unsigned refs;
  const clc_Operator *op; /* NULL: a number or memory */
  const clc_Dtype *dtype; /* of its values; NULL: a number, which takes that of the others */
  clc_Shape shape;
  clc_Term *operand[CLC_ARITY];
  const clc_Dtype *common; /* what the operands become */
  unsigned operands;       /* numbers, memory and operators of one operand in the tree */
  int is_integer;          /* a number */
  lua_Integer integer;
  lua_Number number;
  clc_Buffer leaf;          /* memory, which it shares */
  size_t step[CLC_MAXDIMS]; /* elements of it from one to the next along each dimension */
  clc_Allocator allocator;  /* that it was made with */
};

/* A new term of nothing, for who fills it; raises where memory is short. */
clc_Term *clc_newterm(lua_State *L);

/* A new term of a buffer's memory, for expressions of a device. */
clc_Term *clc_newleaf(lua_State *L, clc_Device *d, clc_Buffer *b);

/* Makes a term that of a buffer's memory, for expressions of a device; returns the driver's code.
 */
cl_int clc_becomeleaf(clc_Term *t, clc_Buffer *b, clc_Device *d);

/* Makes a copy of a whole tree at once, without a finalizer in between; raises where memory is
   short, what there is of the copy hanging together. */
void clc_copyterm(lua_State *L, const clc_Term *t, clc_Term **copy);

/* Whether a memory is among those it computes from. */
int clc_usesmemory(const clc_Term *t, cl_mem mem);

/* Pushes what computes a term's elements, of a shape: text, layout (lua/clcompute/operations/
   evaluate.lua), how many buffers, these, then numbers, each with its type. Returns how many values
   that are. */
int clc_pushexpression(lua_State *L, const clc_Term *t, const clc_Shape *shape);

/* Has Lua compute the elements of a term, of a shape, into the buffer at an index, which is new. */
void clc_evaluate(lua_State *L, const clc_Term *t, const clc_Shape *shape, int out);

/* Has a buffer, whose term was set, wait to be computed; once its term is whole, the object at the
   top may be found, and computed, from what it waits for. */
void clc_begindeferral(clc_Buffer *made);
void clc_keepdeferred(lua_State *L, const clc_Buffer *made);

/* Opens slices; a part of clc_openoperators, as deferral is. */
void clc_openslices(lua_State *L);
void clc_opendeferred(lua_State *L);

#endif
