/* SPDX-License-Identifier: MIT */
/*
 * Sets and maps from their texts. isl's own reader takes longer for a text than most analyses of
 * the set, as it makes a set of each comparison and intersects them. So what is plain is read here:
 * one tuple or two, and comparisons of sums of names that are joined by `and`, which are rows of a
 * matrix. Another part of such a conjunction is read by isl, once for all accesses of a statement.
 * isl reads all else, and says what is wrong.
 */
#include "poly.h"

#include <ctype.h>
#include <isl/mat.h>
#include <isl/space.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_DIMS 40 /* parameters and dimensions of both tuples */
#define MAX_ROWS 96
#define MAX_NAME 64
#define MAX_NESTING 50
#define MAX_OTHERS 8
#define MAX_OTHER 2000 /* bytes of such a part, with parameters and tuple */

/* A sum: the constant, then the coefficients of the parameters and dimensions. */
typedef struct {
  int at[1 + MAX_DIMS];
} Sum;

typedef struct {
  const char *next;
  int nesting;
  int parameters, dims; /* dims: parameters too */
  int tuples, first;    /* how many tuples there are, and dimensions of the first */
  char tuple[2][MAX_NAME];
  char name[MAX_DIMS][MAX_NAME]; /* "": of a dimension that is a sum */
  int equalities, inequalities;
  Sum equality[MAX_ROWS], inequality[MAX_ROWS]; /* sums that are 0, and that are not negative */
  int others;
  clc_Span domain, other[MAX_OTHERS]; /* up to the first tuple's end; conjuncts that isl reads */
} Text;

/* --- words: all functions return 0 where a text is not plain --- */

static char peek(Text *t) {
  while (isspace((unsigned char)*t->next)) t->next++;
  return *t->next;
}

static int take(Text *t, const char *token) {
  peek(t);
  const size_t length = strlen(token);
  if (strncmp(t->next, token, length) != 0) return 0;
  t->next += length;
  return 1;
}

static int is_letter(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

static int is_reserved(const char *word) {
  static const char *const words[] = {"exists", "and",  "or",    "implies", "not",      "infty",
                                      "nan",    "min",  "max",   "rat",     "infinity", "true",
                                      "false",  "ceil", "floor", "ceild",   "floord",   "mod"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (strcasecmp(word, words[i]) == 0) return 1;
  return 0;
}

/* The length of the word that comes next. */
static size_t word_length(Text *t) {
  size_t length = 0;
  if (isdigit((unsigned char)peek(t))) return 0;
  while (is_letter(t->next[length])) length++;
  return length;
}

static int take_word(Text *t, const char *word) {
  const size_t length = word_length(t);
  if (length != strlen(word) || strncmp(t->next, word, length) != 0) return 0;
  t->next += length;
  return 1;
}

static int take_name(Text *t, char name[MAX_NAME]) {
  const size_t length = word_length(t);
  if (length == 0 || length >= MAX_NAME) return 0;
  memcpy(name, t->next, length);
  name[length] = '\0';
  t->next += length;
  return t->next[0] != '\'' && !is_reserved(name);
}

static int find_name(const Text *t, const char *name) {
  for (int i = 0; i < t->dims; i++)
    if (strcmp(t->name[i], name) == 0) return i;
  return -1;
}

/* --- sums --- */

/* sum + factor * other */
static int add(Sum *sum, const Sum *other, int factor) {
  for (int i = 0; i <= MAX_DIMS; i++) {
    int product;
    if (__builtin_mul_overflow(other->at[i], factor, &product) ||
        __builtin_add_overflow(sum->at[i], product, &sum->at[i]))
      return 0;
  }
  return 1;
}

static int take_number(Text *t, int *number) {
  long long value = 0;
  if (!isdigit((unsigned char)peek(t))) return 0;
  for (; isdigit((unsigned char)*t->next); t->next++) {
    value = 10 * value + (*t->next - '0');
    if (value > INT_MAX) return 0;
  }
  *number = (int)value;
  return !is_letter(*t->next);
}

static int take_sum(Text *t, Sum *sum);

/* A name, or a sum in parentheses. */
static int take_operand(Text *t, Sum *sum) {
  char name[MAX_NAME];
  *sum = (Sum){{0}};
  if (take(t, "(")) return take_sum(t, sum) && take(t, ")");
  if (!take_name(t, name)) return 0;
  const int found = find_name(t, name);
  if (found < 0) return 0;
  sum->at[1 + found] = 1;
  return 1;
}

/* Adds a number, an operand or a multiple of one, with a sign. */
static int add_term(Text *t, Sum *sum, int sign) {
  Sum operand = {{0}};
  int number = 1;
  if (take(t, "-")) sign = -sign;
  if (!isdigit((unsigned char)peek(t)))
    return take_operand(t, &operand) && add(sum, &operand, sign);
  if (!take_number(t, &number)) return 0;
  if (take(t, "*")) return take_operand(t, &operand) && add(sum, &operand, sign * number);
  operand.at[0] = number;
  return add(sum, &operand, sign);
}

static int take_sum(Text *t, Sum *sum) {
  *sum = (Sum){{0}};
  if (++t->nesting > MAX_NESTING || !add_term(t, sum, 1)) return 0;
  for (;;) {
    if (take(t, "+")) {
      if (!add_term(t, sum, 1)) return 0;
    } else if (peek(t) == '-' && t->next[1] != '>') {
      t->next++;
      if (!add_term(t, sum, -1)) return 0;
    } else {
      t->nesting--;
      return 1;
    }
  }
}

/* --- formulas --- */

/* Adds that a sum is 0. */
static int add_equality(Text *t, const Sum *sum) {
  if (t->equalities == MAX_ROWS) return 0;
  t->equality[t->equalities++] = *sum;
  return 1;
}

/* Adds that larger - smaller - least is not negative. */
static int add_inequality(Text *t, const Sum *larger, const Sum *smaller, int least) {
  if (t->inequalities == MAX_ROWS) return 0;
  Sum *row = &t->inequality[t->inequalities++];
  *row = *larger;
  return add(row, smaller, -1) && !__builtin_sub_overflow(row->at[0], least, &row->at[0]);
}

/* Takes an operator and what stands behind it. */
static int take_relation(Text *t, const Sum *left, Sum *right) {
  if (take(t, "<=")) return take_sum(t, right) && add_inequality(t, right, left, 0);
  if (take(t, ">=")) return take_sum(t, right) && add_inequality(t, left, right, 0);
  if (take(t, "<")) return take_sum(t, right) && add_inequality(t, right, left, 1);
  if (take(t, ">")) return take_sum(t, right) && add_inequality(t, left, right, 1);
  if (!take(t, "=") || !take_sum(t, right)) return 0;
  Sum difference = *left;
  return add(&difference, right, -1) && add_equality(t, &difference);
}

static int take_comparisons(Text *t) {
  Sum left, right;
  if (!take_sum(t, &left)) return 0;
  do {
    if (!take_relation(t, &left, &right)) return 0;
    left = right;
  } while (strchr("<>=", peek(t)) != NULL && *t->next != '\0');
  return 1;
}

/* Whether the parenthesis that comes next is one around a formula, not around a sum. */
static int is_formula(Text *t) {
  int depth = 0;
  for (const char *c = t->next; *c != '\0'; c++) {
    if (*c == '(') depth++;
    if (*c == ')' && --depth == 0) return 0;
    if (strchr("<>=", *c) != NULL || strncmp(c, "true", 4) == 0 || strncmp(c, "false", 5) == 0)
      return 1;
  }
  return 0;
}

static int take_formula(Text *t);

static int take_parenthesis(Text *t) {
  if (peek(t) != '(' || !is_formula(t) || ++t->nesting > MAX_NESTING) return 0;
  if (!take(t, "(") || !take_formula(t) || !take(t, ")")) return 0;
  t->nesting--;
  return 1;
}

/* What does not hold must be one inequality. */
static int take_opposite(Text *t) {
  const int rows = t->equalities + t->inequalities + t->others, inequalities = t->inequalities;
  const Sum none = {{0}};
  if (!take_parenthesis(t) || t->inequalities != inequalities + 1) return 0;
  if (t->equalities + t->inequalities + t->others != rows + 1) return 0;
  const Sum held = t->inequality[--t->inequalities];
  return add_inequality(t, &none, &held, 1);
}

static int add_falsehood(Text *t) {
  const Sum none = {{0}};
  return add_inequality(t, &none, &none, 1);
}

static int is_word_next(Text *t, const char *word) {
  return word_length(t) == strlen(word) && strncasecmp(t->next, word, strlen(word)) == 0;
}

static int take_plain(Text *t) {
  if (take_word(t, "true")) return 1;
  if (take_word(t, "false")) return add_falsehood(t);
  if (take_word(t, "not")) return take_opposite(t);
  return peek(t) == '(' && is_formula(t) ? take_parenthesis(t) : take_comparisons(t);
}

/* Whether what comes next may be in a conjunct of the first tuple's dimensions. What `or` joins is
   none, unless it is in parentheses. */
static int is_of_domain(Text *t, int depth) {
  char word[MAX_NAME];
  const char *start = t->next;
  if (strchr("|#", *start) != NULL || strncmp(start, "=>", 2) == 0 || (unsigned char)*start > 127)
    return 0;
  const int is_name = take_name(t, word);
  t->next = start;
  if (is_name) return find_name(t, word) < t->parameters + t->first;
  return depth > 0 || word_length(t) == 0 || !(is_word_next(t, "or") || is_word_next(t, "implies"));
}

/* Takes a conjunct that is not plain. */
static int take_other(Text *t) {
  int depth = 0;
  clc_Span *other = &t->other[t->others];
  if (t->others++ == MAX_OTHERS) return 0;
  peek(t);
  other->start = t->next;
  for (; peek(t) != '\0'; t->next++) {
    if (depth == 0 && (strchr(")}:;", *t->next) != NULL || is_word_next(t, "and"))) break;
    depth += (*t->next == '(') - (*t->next == ')');
    if (!is_of_domain(t, depth)) return 0;
    const size_t length = word_length(t);
    if (length > 0) t->next += length - 1;
  }
  other->length = (size_t)(t->next - other->start);
  return other->length > 0 && t->domain.length + other->length < MAX_OTHER;
}

/* Where it is not plain as a whole, what was added before that was seen is taken back. */
static int take_conjunct(Text *t) {
  const char *start = t->next;
  const int nesting = t->nesting, others = t->others;
  const int equalities = t->equalities, inequalities = t->inequalities;
  if (take_plain(t) && (strchr(")}", peek(t)) != NULL || is_word_next(t, "and"))) return 1;
  t->next = start;
  t->nesting = nesting, t->others = others;
  t->equalities = equalities, t->inequalities = inequalities;
  return take_other(t);
}

static int take_formula(Text *t) {
  do {
    if (!take_conjunct(t)) return 0;
  } while (take_word(t, "and"));
  return 1;
}

/* --- tuples --- */

/* A new name stands for its dimension, a sum is equal to it. */
static int take_dimension(Text *t) {
  const char *start = t->next;
  char name[MAX_NAME];
  if (t->dims == MAX_DIMS) return 0;
  if (take_name(t, name) && find_name(t, name) < 0) {
    strcpy(t->name[t->dims++], name);
    return 1;
  }
  Sum sum;
  t->next = start;
  if (!take_sum(t, &sum)) return 0;
  sum.at[1 + t->dims] = -1;
  t->name[t->dims++][0] = '\0';
  return add_equality(t, &sum);
}

static int take_dimensions(Text *t) {
  if (!take(t, "[")) return 0;
  if (take(t, "]")) return 1;
  do {
    if (!take_dimension(t)) return 0;
  } while (take(t, ","));
  return take(t, "]");
}

static int take_tuple(Text *t) {
  char *name = t->tuple[t->tuples++];
  name[0] = '\0';
  return (peek(t) == '[' || take_name(t, name)) && take_dimensions(t);
}

static int take_parameters(Text *t) {
  if (peek(t) != '[') return 1;
  if (!take_dimensions(t) || t->equalities > 0 || !take(t, "->")) return 0;
  t->parameters = t->dims;
  return 1;
}

static int take_text(Text *t, const char *text) {
  t->next = text;
  t->others = t->nesting = t->parameters = t->dims = t->tuples = t->first = t->equalities =
      t->inequalities = 0;
  if (!take_parameters(t) || !take(t, "{")) return 0;
  t->domain = (clc_Span){text, (size_t)(t->next - text)};
  if (peek(t) != ':') {
    if (!take_tuple(t)) return 0;
    t->first = t->dims - t->parameters;
    t->domain.length = (size_t)(t->next - text);
    if (take(t, "->") && !take_tuple(t)) return 0;
  }
  if (take(t, ":") && !take_formula(t)) return 0;
  return take(t, "}") && peek(t) == '\0';
}

/* --- isl's objects --- */

static isl_mat *to_matrix(isl_ctx *ctx, const Text *t, const Sum *row, int rows) {
  isl_mat *matrix = isl_mat_alloc(ctx, (unsigned)rows, 1 + (unsigned)t->dims);
  for (int i = 0; i < rows; i++)
    for (int j = 0; j <= t->dims; j++) matrix = isl_mat_set_element_si(matrix, i, j, row[i].at[j]);
  return matrix;
}

static isl_space *name_all(isl_space *space, const Text *t) {
  for (int i = 0; i < t->parameters; i++)
    space = isl_space_set_dim_name(space, isl_dim_param, (unsigned)i, t->name[i]);
  for (int i = 0; i < t->tuples; i++)
    if (t->tuple[i][0] != '\0')
      space = isl_space_set_tuple_name(space, i + 1 < t->tuples ? isl_dim_in : isl_dim_out,
                                       t->tuple[i]);
  return space;
}

static isl_set *plain_set(isl_ctx *ctx, const Text *t) {
  isl_space *space = t->tuples == 0
                         ? isl_space_params_alloc(ctx, (unsigned)t->parameters)
                         : isl_space_set_alloc(ctx, (unsigned)t->parameters, (unsigned)t->first);
  return isl_set_from_basic_set(isl_basic_set_from_constraint_matrices(
      name_all(space, t), to_matrix(ctx, t, t->equality, t->equalities),
      to_matrix(ctx, t, t->inequality, t->inequalities), isl_dim_cst, isl_dim_param, isl_dim_set,
      isl_dim_div));
}

static isl_map *plain_map(isl_ctx *ctx, const Text *t) {
  isl_space *space = isl_space_alloc(ctx, (unsigned)t->parameters, (unsigned)t->first,
                                     (unsigned)(t->dims - t->parameters - t->first));
  return isl_map_from_basic_map(isl_basic_map_from_constraint_matrices(
      name_all(space, t), to_matrix(ctx, t, t->equality, t->equalities),
      to_matrix(ctx, t, t->inequality, t->inequalities), isl_dim_cst, isl_dim_param, isl_dim_in,
      isl_dim_out, isl_dim_div));
}

static int is_same(clc_Span a, clc_Span b) {
  return a.length == b.length && memcmp(a.start, b.start, a.length) == 0;
}

/* The set of a conjunct, kept for further texts. */
static isl_set *other_set(clc_Analysis *a, clc_Span domain, clc_Span conjunct) {
  char text[MAX_OTHER + 10];
  for (int i = 0; i < a->parts; i++)
    if (is_same(a->part[i].domain, domain) && is_same(a->part[i].conjunct, conjunct))
      return isl_set_copy(a->part[i].set);
  snprintf(text, sizeof text, "%.*s : (%.*s) }", (int)domain.length, domain.start,
           (int)conjunct.length, conjunct.start);
  isl_set *set = isl_set_read_from_str(a->ctx, text);
  if (a->parts < CLC_PARTS) a->part[a->parts++] = (clc_Part){domain, conjunct, isl_set_copy(set)};
  return set;
}

static isl_set *with_others(clc_Analysis *a, const Text *t, isl_set *set) {
  for (int i = 0; i < t->others; i++)
    set = isl_set_intersect(set, other_set(a, t->domain, t->other[i]));
  return set;
}

static isl_map *with_others_in_domain(clc_Analysis *a, const Text *t, isl_map *map) {
  for (int i = 0; i < t->others; i++)
    map = isl_map_intersect_domain(map, other_set(a, t->domain, t->other[i]));
  return map;
}

/* isl names neither the string nor the place. */
static void blame_text(clc_Analysis *a, const char *noun, const char *text) {
  if (clc_isfine(a) || a->error == isl_error_quota) return;
  snprintf(a->message, sizeof a->message, "isl does not understand the %s '%.300s'", noun, text);
}

/* isl's reader would call an exceeded budget a syntax error, so reading is free. Returns the
   budget. */
static unsigned long lift_budget(clc_Analysis *a) {
  const unsigned long budget = isl_ctx_get_max_operations(a->ctx);
  isl_ctx_set_max_operations(a->ctx, 0);
  return budget;
}

isl_set *clc_toset(clc_Analysis *a, const char *text) {
  if (!clc_isfine(a)) return NULL;
  const unsigned long budget = lift_budget(a);
  Text t;
  isl_set *set = take_text(&t, text) && t.tuples < 2 ? with_others(a, &t, plain_set(a->ctx, &t))
                                                     : isl_set_read_from_str(a->ctx, text);
  isl_ctx_set_max_operations(a->ctx, budget);
  if (set == NULL) blame_text(a, "set", text);
  return set;
}

isl_map *clc_tomap(clc_Analysis *a, const char *text) {
  if (!clc_isfine(a)) return NULL;
  const unsigned long budget = lift_budget(a);
  Text t;
  isl_map *map = take_text(&t, text) && t.tuples == 2
                     ? with_others_in_domain(a, &t, plain_map(a->ctx, &t))
                     : isl_map_read_from_str(a->ctx, text);
  isl_ctx_set_max_operations(a->ctx, budget);
  if (map == NULL) blame_text(a, "map", text);
  return map;
}
