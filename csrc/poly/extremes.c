/* SPDX-License-Identifier: MIT */
/* When accesses leave their array, and how far they go. */
#include "poly.h"

typedef struct {
  const char *context, *map, *outside;
  int greatest;
} Question;

static isl_set *to_subscripts(clc_Analysis *a, const char *text) {
  isl_set *reached = isl_map_range(clc_tomap(a, text));
  if (reached != NULL && isl_set_dim(reached, isl_dim_set) != 1)
    clc_fail(a, "a subscript is one integer");
  return reached;
}

static char *to_extreme(clc_Analysis *a, isl_set *context, isl_set *reached, int greatest) {
  reached = isl_set_copy(reached);
  isl_pw_aff *extreme = greatest ? isl_set_dim_max(reached, 0) : isl_set_dim_min(reached, 0);
  return clc_tovalue(a, context, extreme);
}

/* Two strings an answer: the condition, and where it can hold, the value. */
static void answer(clc_Analysis *a, const Question *q, char **text) {
  isl_set *context = clc_toset(a, q->context);
  isl_set *reached = to_subscripts(a, q->map);
  isl_set *outside = clc_toset(a, q->outside);
  if (clc_isfine(a)) {
    isl_set *both = isl_set_intersect(isl_set_copy(outside), isl_set_copy(reached));
    text[0] = clc_tocondition(a, context, isl_set_params(both));
    if (text[0] != NULL) text[1] = to_extreme(a, context, reached, q->greatest);
  }
  isl_set_free(context);
  isl_set_free(reached);
  isl_set_free(outside);
}

static Question *read_questions(lua_State *L, size_t *n) {
  static const char *const keys[] = {"context", "greatest", "map", "outside", NULL};
  *n = clc_checklist(L, "questions");
  Question *question = lua_newuserdatauv(L, *n * sizeof *question, 0);
  lua_pushvalue(L, -2);
  for (size_t i = 0; i < *n; i++) {
    clc_checkrow(L, i, keys);
    question[i].context = clc_checktext(L, "context");
    question[i].map = clc_checktext(L, "map");
    question[i].outside = clc_checktext(L, "outside");
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

int clc_extremes(lua_State *L) {
  static const char *const keys[] = {"budget", "questions", NULL};
  clc_Analysis a;
  size_t n;
  clc_checkinput(L, keys);
  const unsigned long budget = clc_optbudget(L);
  const Question *question = read_questions(L, &n);
  clc_Texts *texts = clc_newtexts(L, 2 * n);
  clc_begin(&a, budget);
  for (size_t i = 0; i < n && clc_isfine(&a); i++) answer(&a, &question[i], &texts->text[2 * i]);
  const int failed = clc_end(L, &a);
  if (failed) return failed;
  push_answers(L, texts);
  return 1;
}
