/* SPDX-License-Identifier: MIT */
/*
 * Loops and branches with barriers that POCL 3.1 gets wrong, by their text. Its compiler merges
 * stores and barriers of two paths where a loop's condition is no plain expression
 * (CLC_CALLINTEST), and copies what follows a barrier of a branch wrongly (CLC_BARRIERINIF,
 * CLC_LOOPSINIF). tools/barriers.lua searches such loops; the rules below are what it found.
 */
#include <string.h>

#include "search.h"

#define DEEPEST 100 /* statements within statements */

static const char *const BARRIERS[] = {"barrier", "work_group_barrier", "wait_group_events", NULL};

/* Functions that the compiler calls where others become instructions. */
static const char *const CALLS[] = {"get_*",  "abs*",   "add_sat", "clamp",  "clz",      "hadd",
                                    "mad24",  "mad_hi", "mul24",   "mul_hi", "popcount", "rhadd",
                                    "rotate", "select", "sub_sat", "vload*", NULL};

/* What differs from work-item to work-item: the compiler takes such a condition for what it is. */
static const char *const OWN[] = {"get_global_id", "get_local_id", NULL};

typedef struct {
  clc_Search search;
  const char *all, *text; /* what lines are counted from: text of the source, all before it */
  const char *end;
  int in_macro; /* a loop may have its body where the macro is used */
  int loops;    /* around the statement */
  int depth;
  int *lines;
} Reader;

/* Statements in a row, up to the one that was read last. */
typedef struct {
  int has_barrier;
  int branches;   /* an `if` or a loop follows the last barrier */
  int is_open;    /* a barrier of a branch has a branch behind it, and no barrier followed */
  int continues;  /* `if (...) continue;` was read, so that the rest is a branch */
  int barrier_on; /* and a barrier after it */
  int loops;      /* a loop with barriers */
  int loops_then; /* and an `if` after it */
  /* Of the statements that touch memory or hold a barrier, what the last ones are: */
  int after_if;      /* an `if` without barriers */
  int after_barrier; /* a barrier */
  int after_both;    /* such an `if`, and a barrier */
  const char *ended; /* a branch that ends with a barrier and such an `if`; no barrier followed */
} Row;

static int reaches(Reader *r, clc_Span span, const char *const names[]) {
  return clc_searchspan(&r->search, span, names) != NULL;
}

static int peek(const Reader *r, const char *p, const char *word) {
  clc_Span t;
  return clc_nexttoken(&p, r->end, &t) && clc_isthe(t, word);
}

/* Whether one of the words, or of the characters, stands in a part of the text. */
static int holds(clc_Span span, const char *word) {
  const char *p = span.start;
  clc_Span t;
  while (clc_nexttoken(&p, span.end, &t))
    if (clc_isthe(t, word)) return 1;
  return 0;
}

/* Where an operator of two characters stands in a part of the text; NULL: nowhere. */
static const char *find_operator(clc_Span span, const char name[2]) {
  for (const char *p = span.start; p + 1 < span.end; p++)
    if (p[0] == name[0] && p[1] == name[1]) return p;
  return NULL;
}

static int touches_memory(clc_Span span) {
  return holds(span, "[") || find_operator(span, "->") != NULL;
}

/* What stands in the parentheses that begin at *p, which moves behind them. */
static clc_Span read_parentheses(const Reader *r, const char **p) {
  clc_Span t, inside = {*p, *p};
  int depth = 0;
  while (clc_nexttoken(p, r->end, &t)) {
    inside.end = t.start;
    if (*t.start == '(' && depth++ == 0) inside.start = t.end;
    if (depth == 0 || (*t.start == ')' && --depth == 0)) break;
  }
  return inside;
}

/* Up to the `;` that ends a statement, or before the `}` of the block that it stands in. */
static clc_Span read_simple(const Reader *r, const char **p) {
  clc_Span t, all = {*p, *p};
  int depth = 0;
  for (const char *next = *p; clc_nexttoken(&next, r->end, &t); *p = all.end = next) {
    if (strchr("({[", *t.start) != NULL) depth++;
    if (*t.start == '}' && depth == 0) break;
    if (strchr(")}]", *t.start) != NULL) depth--;
    if (*t.start == ';' && depth <= 0) {
      *p = all.end = next;
      break;
    }
  }
  return all;
}

/* The condition of a `for`, and its last part. */
static clc_Span second_part(clc_Span head, clc_Span *step) {
  const char *p = head.start;
  clc_Span t, test = {head.end, head.end};
  int depth = 0, part = 0;
  *step = test;
  while (clc_nexttoken(&p, head.end, &t)) {
    depth += *t.start == '(' ? 1 : *t.start == ')' ? -1 : 0;
    if (*t.start != ';' || depth > 0) continue;
    if (part++ == 0)
      test.start = p;
    else {
      test.end = t.start;
      *step = (clc_Span){p, head.end};
      break;
    }
  }
  return test;
}

/* What follows the first || of a condition; empty: there is none. */
static clc_Span alternative(clc_Span test) {
  const char *found = find_operator(test, "||");
  return (clc_Span){found != NULL ? found + 2 : test.end, test.end};
}

/* Whether the last step in a part of the text adds a constant: such steps are not merged. */
static int is_added(clc_Span step) {
  int added = 0;
  for (const char *p = step.start; p + 1 < step.end; p++) {
    if ((p[0] == '+' || p[0] == '-') && p[1] == p[0]) added = 1;
    if (p[1] != '=' || strchr("+-*/<>", p[0]) == NULL) continue;
    const char *value = p + 2 + strspn(p + 2, " ");
    added = (p[0] == '+' || p[0] == '-') && *value >= '0' && *value <= '9';
  }
  return added;
}

static void note(Reader *r, clc_Suspicion what, const char *place) {
  if (r->lines[what] != 0) return;
  const int is_before = place < r->text;
  const int line = 1 + clc_countlines(is_before ? r->all : r->text, place);
  r->lines[what] = is_before ? -line : line;
}

/* Whether a condition compares values, without a call or another way to its answer. */
static int is_plain_test(clc_Span test) {
  const char *p = test.start;
  clc_Span t, before = {NULL, NULL};
  for (; clc_nexttoken(&p, test.end, &t); before = t) {
    if (strchr("[,?", *t.start) != NULL) return 0;
    if (*t.start == '(' && before.start != NULL && clc_isword(before)) return 0;
  }
  return before.start != NULL && find_operator(test, "&&") == NULL &&
         find_operator(test, "||") == NULL && find_operator(test, "->") == NULL;
}

/* Whether a body leaves its loop, or a pass, before its end. */
static int leaves_early(clc_Span body) {
  return holds(body, "break") || holds(body, "continue") || holds(body, "return") ||
         holds(body, "goto");
}

static void read_statement(Reader *r, const char **p, Row *row);

/* --- rows ------------------------------------------------------------------- */

static void add_barrier(Row *row) {
  row->has_barrier = 1;
  row->barrier_on = row->continues;
  row->branches = row->is_open = 0;
  row->after_both = row->after_if;
  row->after_barrier = 1;
  row->after_if = 0;
  row->ended = NULL;
}

static void forget_last(Row *row) {
  row->after_if = row->after_barrier = row->after_both = 0;
}

/* The rest after `if (...) continue;` is a branch. */
static int ends_open(const Row *row) {
  return row->is_open || (row->continues && row->barrier_on && row->branches);
}

/* --- statements ------------------------------------------------------------- */

/* An `if` without barriers: the compiler joins it to one at the end of a branch before it. */
static void read_branch(Reader *r, clc_Span all, Row *row) {
  const int leaves = holds(all, "break"), touches = touches_memory(all);
  if (row->ended != NULL && (leaves || touches)) note(r, CLC_BARRIERINIF, row->ended);
  if (!leaves) row->branches = 1;
  row->loops_then |= row->loops;
  if (holds(all, "continue")) {
    row->continues = 1;
    row->barrier_on = 0;
  } else if (touches) {
    forget_last(row);
    row->after_if = !leaves && !holds(all, "return");
  }
}

/* Where a branch of the `if` at `start` ends with one that the compiler joins; NULL: none does. */
static const char *find_ended(const char *start, const Row *then, const Row *other) {
  if (then->has_barrier && (then->after_if || then->ended != NULL)) return start;
  return other->has_barrier && (other->after_if || other->ended != NULL) ? start : NULL;
}

static void read_if(Reader *r, const char **p, Row *row) {
  const char *start = *p;
  Row then = {0}, other = {0};
  read_parentheses(r, p);
  read_statement(r, p, &then);
  const int has_else = peek(r, *p, "else");
  if (has_else) {
    clc_Span word;
    clc_nexttoken(p, r->end, &word);
    read_statement(r, p, &other);
  }
  const clc_Span all = {start, *p};
  if (!then.has_barrier && !other.has_barrier) {
    read_branch(r, all, row);
    return;
  }
  const Row *branch = then.has_barrier ? &then : &other;
  note(r, CLC_UNPROVEN, start);
  row->has_barrier = row->barrier_on = 1;
  row->branches = branch->branches;
  row->ended = find_ended(start, &then, &other);
  row->is_open |= then.is_open | other.is_open;
  if (then.has_barrier != other.has_barrier) row->is_open |= branch->branches;
  forget_last(row);
  if (!has_else) {
    row->after_barrier = then.after_barrier;
    row->after_both = then.after_both;
  }
  if (r->loops > 0 && has_else &&
      ((then.loops_then && (!other.loops || other.loops_then)) ||
       (other.loops_then && (!then.loops || then.loops_then))))
    note(r, CLC_LOOPSINIF, start);
}

/* The condition of the `if (...) break;` that a body may begin with. */
static clc_Span leading_break(const Reader *r, const char *p) {
  clc_Span t, none = {p, p};
  if (!clc_nexttoken(&p, r->end, &t)) return none;
  if (*t.start == '{' && !clc_nexttoken(&p, r->end, &t)) return none;
  if (!clc_isthe(t, "if")) return none;
  const clc_Span test = read_parentheses(r, &p);
  return peek(r, p, "break") ? test : none;
}

static void read_body(Reader *r, const char **p, Row *body) {
  r->loops++;
  read_statement(r, p, body);
  r->loops--;
}

/* A && with memory, before any ||, makes two ways out of the loop, which the compiler does not
   merge. */
static void judge_test(Reader *r, clc_Span test, const char *loop) {
  const clc_Span rest = alternative(test), before = {test.start, rest.start};
  if (reaches(r, test, OWN)) return;
  if (find_operator(before, "&&") != NULL && touches_memory(test)) return;
  if (reaches(r, test, CALLS) || touches_memory(rest)) note(r, CLC_CALLINTEST, loop);
}

/* A loop whose head was read. `test`: its condition, `step`: what comes after each pass; both empty
   where it is a `do`. */
static void read_loop(Reader *r, const char **p, Row *row, const char *loop, clc_Span test,
                      clc_Span step) {
  const int is_do = test.start == test.end && step.start == step.end;
  Row body = {.after_barrier = is_do && row->after_barrier}; /* as in do { ... } while (0) */
  const clc_Span first = leading_break(r, *p);
  const char *start = *p;
  read_body(r, p, &body);
  if (r->in_macro && start == r->end) body.has_barrier = body.after_both = 1;
  if (step.start == step.end) step = (clc_Span){start, *p}; /* its last step */
  if (!body.has_barrier) {
    row->branches = 1;
    if (touches_memory((clc_Span){loop, *p})) forget_last(row);
    return;
  }
  if (row->after_barrier && body.after_both && !is_added(step)) {
    judge_test(r, test, loop);
    judge_test(r, first, loop);
  }
  if (ends_open(&body)) note(r, CLC_BARRIERINIF, loop);
  if (!is_plain_test(test) || leaves_early((clc_Span){start, *p})) note(r, CLC_UNPROVEN, loop);
  row->has_barrier = row->barrier_on = row->loops = 1;
  row->branches = row->is_open = 0;
  row->ended = NULL;
  forget_last(row);
}

static void read_for(Reader *r, const char **p, Row *row, const char *loop) {
  clc_Span step;
  const clc_Span test = second_part(read_parentheses(r, p), &step);
  read_loop(r, p, row, loop, test, step);
}

static void read_while(Reader *r, const char **p, Row *row, const char *loop) {
  const clc_Span test = read_parentheses(r, p), step = {test.end, test.end};
  read_loop(r, p, row, loop, test, step);
}

static void read_do(Reader *r, const char **p, Row *row, const char *loop) {
  const clc_Span none = {*p, *p};
  read_loop(r, p, row, loop, none, none);
  read_simple(r, p); /* while (...); */
}

/* A block's statements belong to the row that it stands in. */
static void read_block(Reader *r, const char **p, Row *row) {
  clc_Span t;
  while (!peek(r, *p, "}")) {
    const char *before = *p;
    read_statement(r, p, row);
    if (*p == before) break;
  }
  clc_nexttoken(p, r->end, &t);
}

/* A `goto` makes a loop of what it leads back to. */
static void read_plain(Reader *r, const char **p, Row *row) {
  const clc_Span all = read_simple(r, p);
  if (row->has_barrier && holds(all, "goto")) note(r, CLC_CALLINTEST, all.start);
  if (reaches(r, all, BARRIERS))
    add_barrier(row);
  else if (touches_memory(all))
    forget_last(row);
}

static void read_statement(Reader *r, const char **p, Row *row) {
  const char *start = *p;
  clc_Span t;
  if (!clc_nexttoken(p, r->end, &t)) return;
  if (++r->depth > DEEPEST)
    *p = r->end;
  else if (*t.start == '#')
    *p = clc_lineend(*p);
  else if (*t.start == '{')
    read_block(r, p, row);
  else if (clc_isthe(t, "if"))
    read_if(r, p, row);
  else if (clc_isthe(t, "for"))
    read_for(r, p, row, t.start);
  else if (clc_isthe(t, "while"))
    read_while(r, p, row, t.start);
  else if (clc_isthe(t, "do"))
    read_do(r, p, row, t.start);
  else if (*t.start != ';') {
    *p = start;
    read_plain(r, p, row);
  }
  r->depth--;
}

/* --- all of a program ------------------------------------------------------- */

/* Of functions that kernels call the caller may have a barrier before the call. */
static void read_functions(Reader *r) {
  const char *p = r->all;
  int is_kernel = 0;
  clc_Span t;
  while (clc_nexttoken(&p, r->end, &t)) {
    Row row = {.after_barrier = !is_kernel};
    if (*t.start == '#')
      p = clc_lineend(p);
    else if (*t.start == '{')
      read_block(r, &p, &row);
    if (clc_isthe(t, "kernel") || clc_isthe(t, "__kernel")) is_kernel = 1;
    if (*t.start == '{' || *t.start == ';') is_kernel = 0;
  }
}

/* A macro's statements; where it is used a barrier may stand before it. */
static void read_macro(Reader *r, clc_Span body) {
  const char *p = body.start, *end = r->end;
  r->end = body.end;
  r->in_macro = 1;
  if (p < body.end && *p == '(') read_parentheses(r, &p);
  Row row = {.after_barrier = 1};
  for (const char *before = NULL; p < body.end && p != before;) {
    before = p;
    read_statement(r, &p, &row);
  }
  r->in_macro = 0;
  r->end = end;
}

int clc_findsuspects(lua_State *L, const char *text, size_t start, int lines[CLC_SUSPICIONS]) {
  Reader r = {.all = text, .text = text + start, .end = text + strlen(text), .lines = lines};
  int found = 0;
  memset(lines, 0, CLC_SUSPICIONS * sizeof *lines);
  if (strstr(text, "barrier") == NULL && strstr(text, "wait_group_events") == NULL) return 0;
  r.search = clc_newsearch(L, text, BARRIERS);
  read_functions(&r);
  for (size_t i = 0; i < r.search.n; i++)
    if (r.search.definitions[i].is_macro) read_macro(&r, r.search.definitions[i].body);
  lua_pop(L, 1);
  for (int i = 0; i < CLC_SUSPICIONS; i++) found |= lines[i] != 0;
  return found;
}
