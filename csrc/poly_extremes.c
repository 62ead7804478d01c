/* SPDX-License-Identifier: MIT */
/***
When accesses leave their array, and how far they go.
@module clcompute.poly
*/
#include "poly_extremes.h"

#include <isl/aff.h>

#include "poly_analysis.h"
#include "poly_expression.h"
#include "poly_input.h"

typedef struct {
  const char *map, *outside;
  int dimension; /* from 0 */
  int greatest;
} Question;

/* Two strings an answer: the condition, and where it can hold, the value. */
static void answer(clc_Analysis *a, const Question *q, isl_set *context, char **text) {
  isl_set *reached = isl_map_range(clc_tomap(a, q->map));
  isl_set *outside = clc_toset(a, q->outside);
  outside = isl_set_intersect(outside, isl_set_copy(reached));
  text[0] = clc_tocondition(a, context, isl_set_params(outside));
  if (text[0] == NULL)
    isl_set_free(reached);
  else if (q->dimension >= isl_set_dim(reached, isl_dim_set)) {
    isl_set_free(reached);
    clc_fail(a, "an access has fewer dimensions than are asked for");
  } else
    text[1] = clc_tovalue(a, context,
                          q->greatest ? isl_set_dim_max(reached, q->dimension)
                                      : isl_set_dim_min(reached, q->dimension));
}

static Question *read_questions(lua_State *L, size_t *n) {
  static const char *const keys[] = {"dimension", "greatest", "map", "outside", NULL};
  *n = clc_checklist(L, "questions");
  Question *question = lua_newuserdatauv(L, *n * sizeof *question, 0);
  lua_pushvalue(L, -2);
  for (size_t i = 0; i < *n; i++) {
    clc_checkrow(L, i, keys);
    question[i].map = clc_checktext(L, "map");
    question[i].outside = clc_checktext(L, "outside");
    question[i].dimension = (int)clc_checknumber(L, "dimension", 1, 1000) - 1;
    question[i].greatest = clc_toflag(L, "greatest");
    lua_pop(L, 1);
  }
  return question;
}

static void push_answers(lua_State *L, const clc_Texts *texts) {
  lua_createtable(L, (int)(texts->n / 2), 0);
  for (size_t i = 0; i < texts->n; i += 2) {
    lua_createtable(L, 0, 2);
    clc_settext(L, "condition", texts->text[i]);
    clc_settext(L, "value", texts->text[i + 1]);
    lua_rawseti(L, -2, (lua_Integer)(i / 2) + 1);
  }
}

/***
Finds for accesses the condition on the parameters under which they reach an element outside,
and the least or greatest index that they reach.
@function extremes
@tparam table input `context` (a parameter set: what is known of the parameters); `questions`, a
list: `map` (from a statement's iterations to elements, restricted to the domain), `outside` (the
set of elements that it should not reach), `dimension` (from 1), `greatest` (boolean; else the
least is found); and `budget`
@treturn {table,...} for each question `condition`, a Lua expression over the parameters, absent
where it never holds, and `value`, one that is meaningful where the condition holds; both may call
`max` and `min`. Or nil and a message where the budget is exceeded
@usage poly.extremes { context = "[n, d] -> { : d >= 0 }", questions = {
  { map = "[n] -> { S[i] -> a[i + 1] : 0 <= i < n }", outside = "[d] -> { a[x] : x >= d }",
    dimension = 1, greatest = true } } }
--> { { condition = "(d <= n and n >= 1)", value = "n" } }, or another way to say it
*/
int clc_extremes(lua_State *L) {
  static const char *const keys[] = {"budget", "context", "questions", NULL};
  clc_Analysis a;
  size_t n;
  clc_checkinput(L, keys);
  const unsigned long budget = clc_optbudget(L);
  const char *given = clc_checktext(L, "context");
  const Question *question = read_questions(L, &n);
  clc_Texts *texts = clc_newtexts(L, 2 * n);
  clc_begin(&a, budget);
  isl_set *context = clc_toset(&a, given);
  for (size_t i = 0; i < n && clc_isfine(&a); i++)
    answer(&a, &question[i], context, &texts->text[2 * i]);
  isl_set_free(context);
  const int failed = clc_end(L, &a);
  if (failed) return failed;
  push_answers(L, texts);
  return 1;
}
