/* SPDX-License-Identifier: MIT */
/* Conditions and values over parameters, written as Lua expressions. */
#include "poly.h"

#include <isl/ast.h>
#include <isl/ast_build.h>
#include <isl/id.h>
#include <isl/printer.h>
#include <isl/val.h>
#include <stdlib.h>
#include <string.h>

/* More digits might exceed 2^53: floats, in which the expressions compute, are exact below. */
#define MAX_DIGITS 15

/* How an operation is written: what stands before, between and after its arguments. Lua's own
   // and % round down, which all three divisions of isl agree with. */
typedef struct {
  enum isl_ast_expr_op_type type;
  const char *before, *between, *after;
} Notation;

static const Notation notations[] = {
    {isl_ast_expr_op_and, "(", " and ", ")"},   {isl_ast_expr_op_and_then, "(", " and ", ")"},
    {isl_ast_expr_op_or, "(", " or ", ")"},     {isl_ast_expr_op_or_else, "(", " or ", ")"},
    {isl_ast_expr_op_max, "max(", ", ", ")"},   {isl_ast_expr_op_min, "min(", ", ", ")"},
    {isl_ast_expr_op_minus, "(-", "", ")"},     {isl_ast_expr_op_add, "(", " + ", ")"},
    {isl_ast_expr_op_sub, "(", " - ", ")"},     {isl_ast_expr_op_mul, "(", " * ", ")"},
    {isl_ast_expr_op_div, "(", " // ", ")"},    {isl_ast_expr_op_fdiv_q, "(", " // ", ")"},
    {isl_ast_expr_op_pdiv_q, "(", " // ", ")"}, {isl_ast_expr_op_pdiv_r, "(", " % ", ")"},
    {isl_ast_expr_op_zdiv_r, "(", " % ", ")"},  {isl_ast_expr_op_eq, "(", " == ", ")"},
    {isl_ast_expr_op_le, "(", " <= ", ")"},     {isl_ast_expr_op_lt, "(", " < ", ")"},
    {isl_ast_expr_op_ge, "(", " >= ", ")"},     {isl_ast_expr_op_gt, "(", " > ", ")"},
};

static const Notation *find_notation(enum isl_ast_expr_op_type type) {
  for (size_t i = 0; i < sizeof notations / sizeof notations[0]; i++)
    if (notations[i].type == type) return &notations[i];
  return NULL;
}

static isl_printer *print_expression(isl_printer *p, isl_ast_expr *e, clc_Analysis *a);

static isl_printer *print_argument(isl_printer *p, isl_ast_expr *e, int i, clc_Analysis *a) {
  isl_ast_expr *argument = isl_ast_expr_op_get_arg(e, i);
  p = print_expression(p, argument, a);
  isl_ast_expr_free(argument);
  return p;
}

/* condition and value or other: the value is a number, so it is true. */
static isl_printer *print_choice(isl_printer *p, isl_ast_expr *e, clc_Analysis *a) {
  p = isl_printer_print_str(p, "(");
  p = print_argument(p, e, 0, a);
  p = isl_printer_print_str(p, " and ");
  p = print_argument(p, e, 1, a);
  p = isl_printer_print_str(p, " or ");
  p = print_argument(p, e, 2, a);
  return isl_printer_print_str(p, ")");
}

static isl_printer *print_operation(isl_printer *p, isl_ast_expr *e, clc_Analysis *a) {
  const enum isl_ast_expr_op_type type = isl_ast_expr_op_get_type(e);
  if (type == isl_ast_expr_op_cond || type == isl_ast_expr_op_select) return print_choice(p, e, a);
  const Notation *notation = find_notation(type);
  if (notation == NULL) {
    clc_fail(a, "an operation of isl has no form in Lua");
    return p;
  }
  p = isl_printer_print_str(p, notation->before);
  for (int i = 0; i < isl_ast_expr_op_get_n_arg(e); i++) {
    if (i > 0) p = isl_printer_print_str(p, notation->between);
    p = print_argument(p, e, i, a);
  }
  return isl_printer_print_str(p, notation->after);
}

static isl_printer *print_integer(isl_printer *p, isl_ast_expr *e, clc_Analysis *a) {
  isl_val *value = isl_ast_expr_get_val(e);
  char *digits = isl_val_to_str(value);
  isl_val_free(value);
  if (digits != NULL && strlen(digits) > MAX_DIGITS)
    clc_giveup(a, "the analysis meets constants beyond 10^14");
  p = isl_printer_print_str(p, digits != NULL ? digits : "0");
  free(digits);
  return p;
}

static isl_printer *print_name(isl_printer *p, isl_ast_expr *e) {
  isl_id *id = isl_ast_expr_get_id(e);
  p = isl_printer_print_str(p, isl_id_get_name(id));
  isl_id_free(id);
  return p;
}

static isl_printer *print_expression(isl_printer *p, isl_ast_expr *e, clc_Analysis *a) {
  switch (isl_ast_expr_get_type(e)) {
    case isl_ast_expr_op: return print_operation(p, e, a);
    case isl_ast_expr_id: return print_name(p, e);
    case isl_ast_expr_int: return print_integer(p, e, a);
    default: return isl_printer_free(p);
  }
}

static char *to_text(clc_Analysis *a, __isl_take isl_ast_expr *e) {
  if (e == NULL) return NULL;
  isl_printer *p = print_expression(isl_printer_to_str(a->ctx), e, a);
  char *text = isl_printer_get_str(p);
  isl_printer_free(p);
  isl_ast_expr_free(e);
  return text;
}

static char *to_always(clc_Analysis *a) {
  isl_printer *p = isl_printer_print_str(isl_printer_to_str(a->ctx), "true");
  char *text = isl_printer_get_str(p);
  isl_printer_free(p);
  return text;
}

char *clc_tocondition(clc_Analysis *a, isl_set *context, __isl_take isl_set *set) {
  set =
      isl_set_intersect_params(isl_set_coalesce(isl_set_compute_divs(set)), isl_set_copy(context));
  if (isl_set_is_empty(set) != isl_bool_false) {
    isl_set_free(set);
    return NULL;
  }
  if (isl_set_is_subset(context, set) == isl_bool_true) { /* isl would write 1 */
    isl_set_free(set);
    return to_always(a);
  }
  isl_ast_build *build = isl_ast_build_from_context(isl_set_copy(context));
  char *text = to_text(a, isl_ast_build_expr_from_set(build, set));
  isl_ast_build_free(build);
  return text;
}

char *clc_tovalue(clc_Analysis *a, isl_set *context, __isl_take isl_pw_aff *value) {
  isl_ast_build *build = isl_ast_build_from_context(isl_set_copy(context));
  char *text = to_text(a, isl_ast_build_expr_from_pw_aff(build, isl_pw_aff_coalesce(value)));
  isl_ast_build_free(build);
  return text;
}
