/* SPDX-License-Identifier: MIT */
/* The loops of plain.c, included once for each REAL; NAME(f) is f of that type. */

void NAME(saxpy)(size_t n, REAL alpha, const REAL *x, const REAL *y, REAL *out) {
  for (size_t i = 0; i < n; i++) out[i] = alpha * x[i] + y[i];
}

void NAME(scan)(size_t n, const REAL *x, REAL *out) {
  REAL sum = 0;
  for (size_t i = 0; i < n; i++) out[i] = sum += x[i];
}

/* The order i, l, j keeps the innermost loop on neighbouring elements. */
void NAME(gemm)(size_t m, size_t n, size_t k, const REAL *a, const REAL *b, REAL *c) {
  for (size_t i = 0; i < m; i++) {
    for (size_t j = 0; j < n; j++) c[i * n + j] = 0;
    for (size_t l = 0; l < k; l++)
      for (size_t j = 0; j < n; j++) c[i * n + j] += a[i * k + l] * b[l * n + j];
  }
}

void NAME(eliminate)(size_t rows, size_t cols, REAL *w, size_t ld, const REAL *l, const REAL *top) {
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < cols; j++) w[i * ld + j] -= l[i] * top[j];
}

static size_t NAME(find_pivot)(size_t n, size_t k, const REAL *a) {
  size_t p = k;
  for (size_t i = k + 1; i < n; i++)
    if (fabs((double)a[i * n + k]) > fabs((double)a[p * n + k])) p = i;
  return p;
}

static void NAME(swap_rows)(size_t cols, REAL *x, REAL *y) {
  for (size_t j = 0; j < cols; j++) {
    const REAL t = x[j];
    x[j] = y[j];
    y[j] = t;
  }
}

size_t NAME(gauss)(size_t n, size_t columns, REAL *a, REAL *b) {
  for (size_t k = 0; k < n; k++) {
    const size_t p = NAME(find_pivot)(n, k, a);
    const REAL pivot = a[p * n + k];
    if (pivot == 0) return k + 1;
    if (p != k) {
      NAME(swap_rows)(n, a + k * n, a + p * n);
      NAME(swap_rows)(columns, b + k * columns, b + p * columns);
    }
    for (size_t i = k + 1; i < n; i++) {
      const REAL l = a[i * n + k] / pivot;
      NAME(eliminate)(1, n - k - 1, a + i * n + k + 1, n, &l, a + k * n + k + 1);
      NAME(eliminate)(1, columns, b + i * columns, columns, &l, b + k * columns);
    }
  }
  for (size_t k = n; k-- > 0;) {
    for (size_t j = 0; j < columns; j++) b[k * columns + j] /= a[k * n + k];
    for (size_t i = 0; i < k; i++)
      NAME(eliminate)(1, columns, b + i * columns, columns, a + i * n + k, b + k * columns);
  }
  return 0;
}

double NAME(relative_error)(size_t n, const REAL *x, const double *expected) {
  double worst = 0;
  for (size_t i = 0; i < n; i++) {
    const double off = fabs((double)x[i] - expected[i]);
    const double error = off == 0 ? 0 : off / fabs(expected[i]);
    if (!(error <= worst)) worst = error; /* NaN stays */
    if (isnan(worst)) break;
  }
  return worst;
}

double NAME(absolute_error)(size_t n, const REAL *x, const double *expected) {
  double worst = 0;
  for (size_t i = 0; i < n; i++) {
    const double error = fabs((double)x[i] - expected[i]);
    if (!(error <= worst)) worst = error; /* NaN stays */
    if (isnan(worst)) break;
  }
  return worst;
}

/* Column sums of |A| gather in `sums`, n of them. */
double NAME(backward_error)(size_t n, const REAL *a, const REAL *b, const REAL *x, double *sums) {
  double residual = 0, norm_a = 0, norm_x = 0;
  for (size_t j = 0; j < n; j++) sums[j] = 0;
  for (size_t i = 0; i < n; i++) {
    double r = -(double)b[i];
    for (size_t j = 0; j < n; j++) {
      r += (double)a[i * n + j] * (double)x[j];
      sums[j] += fabs((double)a[i * n + j]);
    }
    residual += fabs(r);
    norm_x += fabs((double)x[i]);
  }
  for (size_t j = 0; j < n; j++)
    if (!(sums[j] <= norm_a)) norm_a = sums[j];
  return residual == 0 ? 0 : residual / (norm_a * norm_x);
}
