/* SPDX-License-Identifier: MIT */
/*
 * Language: what the text of OpenCL C says, without a driver, and what OpenCL says of a program's
 * kernels. Texts are plain ones (clc_pushplain), unless another kind is named.
 */
#ifndef CLC_LANGUAGE_H
#define CLC_LANGUAGE_H

#include "base/base.h"

/* --- plain text and its tokens: text.c ------------------------------------- */

/*
 * Pushes the text with a blank for each comment and without the ends of lines that
 * go on in the next one. What stood on a line is still on the one of that number, or
 * on the one where its logical line begins.
 */
const char *clc_pushplain(lua_State *L, const char *text);

/* A part of a text. */
typedef struct clc_Span {
  const char *start, *end;
} clc_Span;

/* The next token before `end`: a word, a number, a quoted text or one character.
   Returns whether there is one, and moves *p behind it. */
int clc_nexttoken(const char **p, const char *end, clc_Span *token);

/* Whether a token is an identifier or keyword, and whether it is that one. */
int clc_isword(clc_Span t);
int clc_isthe(clc_Span t, const char *word);

/* The longest identifier or keyword of a text; empty where there is none. */
clc_Span clc_longestword(const char *text);

/* The end of a line. */
const char *clc_lineend(const char *p);

/* The lines that end between two places of a text. */
int clc_countlines(const char *start, const char *end);

/* What stands before each file but the first of a text that joins several: before its name, and
   behind it. */
#define CLC_NEXTFILE "\n#line 1 \""
#define CLC_NEXTFILEEND "\"\n"

/* Takes the next file off such a text; name.start is NULL for the first. Returns whether there is
   one. */
int clc_nextfile(const char **text, clc_Span *name, clc_Span *file);

/* The name of the file in which a line of such a text stands; .start is NULL for the first. Makes
   it the line of that file. */
clc_Span clc_findfile(const char *text, int *line);

/* --- what a text says that OpenCL cannot be asked: source.c ---------------- */

/*
 * Returns the first of the NULL-terminated names that a kernel may reach: in its body, in functions
 * and macros of the same text that it uses, in such as macros outside of bodies write, and by what
 * words of these can be pasted to (##). Where a macro writes the kernel's head, any use in the text
 * counts. Where a function may be called by the name of its symbol, the text says that. NULL:
 * none. A name that ends in `*` stands for all that start so.
 */
const char *clc_reaches(lua_State *L, const char *text, const char *kernel,
                        const char *const names[]);

/* The type of colours, "float", "int" or "uint", that a kernel's own body reads or writes of an
   image parameter; NULL: none, several, or none that the text tells. */
const char *clc_imagecolour(lua_State *L, const char *text, const char *kernel,
                            const char *parameter);

/* Whether one of the names stands anywhere in the code of a text. */
int clc_mentions(const char *text, const char *const names[]);

/* Whether a text may declare an array that work-items have for themselves, in whatever function or
   struct. */
int clc_hasarrays(const char *text);

/*
 * Pushes the type that the text's typedefs make of a name ("real", "vec"), the name
 * itself where there is none, or where there are several or none that is plain words. An
 * enumeration is "enum", with its tag if it has one.
 */
const char *clc_pushtype(lua_State *L, const char *text, const char *name);

/* The body of the one struct of that name ("struct S", or the T of a typedef) in the text; .start
   is NULL where there is none, or what stands beside it may change its layout. */
clc_Span clc_structbody(const char *text, const char *name);

/* Whether the text defines a macro of that name. */
int clc_ismacro(const char *text, clc_Span name);

/* --- loops with barriers that POCL 3.1 gets wrong: barriers.c --------------- */

/* What such a loop has; docs/devices.md shows the smallest kernel of each. */
typedef enum clc_Suspicion {
  CLC_CALLINTEST,  /* its condition calls a function, or reads memory behind ||, and it ends with an
                      `if` that stores and a barrier */
  CLC_BARRIERINIF, /* an `if` holds a barrier with another `if` behind it, and no barrier follows */
  CLC_LOOPSINIF, /* an `if` and its `else`: in one of them a loop with barriers, and an `if` behind
                    it */
  CLC_UNPROVEN,  /* none of these is known of it, but it is no plain loop: a comparison of values,
                    and  its barriers in no branch */
  CLC_SUSPICIONS
} clc_Suspicion;

/* Stores for each suspicion the line of a loop that has it: from 1 on at text + start, negative and
   from the beginning where it stands before that, 0 for none. Returns whether there is one. A loop
   that stands in a function or in a macro is taken for one behind a barrier. */
int clc_findsuspects(lua_State *L, const char *text, size_t start, int lines[CLC_SUSPICIONS]);

/* --- the files that a text takes in: include.c ----------------------------- */

/* The header that the library supplies itself (kernels/clcompute/work_group.h). */
#define CLC_WORK_GROUP_HEADER "clcompute/work_group.h"

/* What is known of a text's includes. */
typedef struct clc_Included {
  int complete;   /* every one was found */
  int repeatable; /* the outcome of a build depends on these texts alone: not when one was not
                     found, or a text asks for the time or for the presence of a file */
  int header_by_text, header_by_file; /* where the library's header is included */
} clc_Included;

#define CLC_INCLUDED "#included " /* what a path in quotes stands behind, and then the file */

/*
 * Pushes the text of every file that the text includes, directly or not, each behind a line that
 * tells its path and length; not that of the library's header. `options`
 * holds the folders ("-I dir"). Which of several files of that name the compiler takes is its
 * affair: all of them are there. Raises where one of them is no plain file.
 */
clc_Included clc_pushincluded(lua_State *L, const char *text, const char *options);

/* Whether the directive behind the # of a plain text includes a file by that name. */
int clc_includes(const char *directive, const char *name);

/* --- how kernels declare their arguments: declaration.c -------------------- */

/*
 * Declarations are asked from OpenCL, or read from a text that was kept with a binary, which may
 * have lost them. Programs and kernels are given by where their owners keep them: an allocation may
 * run a finalizer that releases them, after which NULL stands there and using them is an error.
 */

#define CLC_NAME 128 /* room for the name of an argument or its type */

typedef struct clc_Declaration {
  cl_kernel_arg_address_qualifier space;
  int is_const; /* what it points to, or a read_only image */
  char name[CLC_NAME], type[CLC_NAME];
} clc_Declaration;

/* Takes the first name off a list "a;b" as OpenCL gives it; returns its length, 0 at the end. */
size_t clc_nextname(const char **list, const char **name);

/* Pushes the names of a program's kernels as OpenCL gives them: "a;b". */
const char *clc_pushkernelnames(lua_State *L, const cl_program *program);

/* Pushes the names of a program's kernels; NULL, and nothing pushed, when OpenCL does not tell. */
const char *clc_testkernelnames(lua_State *L, const cl_program *program);

/* Copies a text that may be too long for its room. */
void clc_shorten(char text[CLC_NAME], const char *whole);

/* Asks OpenCL for argument i of a kernel. */
void clc_askdeclaration(lua_State *L, const cl_kernel *kernel, cl_uint i, clc_Declaration *d);

/* Pushes the declarations of the named kernels ("a;b") as a text; NULL, and nothing
   pushed, where OpenCL does not tell. */
const char *clc_pushdeclarations(lua_State *L, const cl_program *program, const char *names);

/* Reads argument i of a kernel from such a text; returns whether it is there. */
int clc_finddeclaration(const char *text, const char *kernel, cl_uint i, clc_Declaration *d);

/* Whether the text is about these kernels ("a;b"), in any order, and no others. */
int clc_declares(const char *text, const char *names);

#endif
