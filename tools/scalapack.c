/* SPDX-License-Identifier: MIT */
/*
 * scalapack N P Q BLOCK ROUNDS: times psgemm and psgesv of ScaLAPACK, as ranks of a job on a grid
 * of P x Q. Prints the seconds of each round. The library is opened at run time (Debian:
 * libscalapack-openmpi2.2) and is what tools/scalapack.lua compares with; nothing depends on it.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libscalapack-openmpi.so.2.2"

static void (*blacs_get)(int, int, int *);
static void (*blacs_gridinit)(int *, const char *, int, int);
static void (*blacs_gridinfo)(int, int *, int *, int *, int *);
static int (*numroc)(int *, int *, int *, int *, int *);
static void (*descinit)(int *, int *, int *, int *, int *, int *, int *, int *, int *, int *);
static void (*psgemm)(const char *, const char *, int *, int *, int *, float *, float *, int *,
                      int *, int *, float *, int *, int *, int *, float *, float *, int *, int *,
                      int *);
static void (*psgesv)(int *, int *, float *, int *, int *, int *, int *, float *, int *, int *,
                      int *, int *);

static int open_library(void) {
  const struct {
    void *function;
    const char *name;
  } names[] = {{&blacs_get, "Cblacs_get"},
               {&blacs_gridinit, "Cblacs_gridinit"},
               {&blacs_gridinfo, "Cblacs_gridinfo"},
               {&numroc, "numroc_"},
               {&descinit, "descinit_"},
               {&psgemm, "psgemm_"},
               {&psgesv, "psgesv_"}};
  void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_GLOBAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 0;
  }
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    void *found = dlsym(library, names[i].name);
    if (found == NULL) {
      fprintf(stderr, "%s: no %s\n", LIBRARY, names[i].name);
      return 0;
    }
    memcpy(names[i].function, &found, sizeof found);
  }
  return 1;
}

static float *new_random(size_t count) {
  float *x = malloc((count + 1) * sizeof *x);
  if (x == NULL) abort();
  for (size_t i = 0; i < count; i++) x[i] = (float)rand() / (float)RAND_MAX * 2 - 1;
  return x;
}

static double now(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Wtime();
}

int main(int argc, char **argv) {
  int n, p, q, block, rounds, rank, context, row, column, zero = 0, one = 1, info = 0;
  int of_matrix[9], of_vector[9];
  float unit = 1, none = 0;
  if (argc != 6) {
    fprintf(stderr, "scalapack N P Q BLOCK ROUNDS\n");
    return 2;
  }
  n = atoi(argv[1]), p = atoi(argv[2]), q = atoi(argv[3]), block = atoi(argv[4]),
  rounds = atoi(argv[5]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!open_library()) MPI_Abort(MPI_COMM_WORLD, 3);
  blacs_get(-1, 0, &context);
  blacs_gridinit(&context, "Row", p, q);
  blacs_gridinfo(context, &p, &q, &row, &column);
  const int rows = numroc(&n, &block, &row, &zero, &p),
            columns = numroc(&n, &block, &column, &zero, &q);
  int ld = rows > 1 ? rows : 1;
  descinit(of_matrix, &n, &n, &block, &block, &zero, &zero, &context, &ld, &info);
  descinit(of_vector, &n, &one, &block, &one, &zero, &zero, &context, &ld, &info);
  const size_t count = (size_t)rows * (size_t)columns;
  srand(1 + (unsigned)rank);
  float *a = new_random(count), *b = new_random(count), *c = new_random(count),
        *x = new_random((size_t)rows);
  int *pivots = malloc(((size_t)rows + (size_t)block) * sizeof *pivots);
  if (pivots == NULL) abort();
  for (int round = 0; round < rounds; round++) {
    double start = now();
    psgemm("N", "N", &n, &n, &n, &unit, a, &one, &one, of_matrix, b, &one, &one, of_matrix, &none,
           c, &one, &one, of_matrix);
    const double product = now() - start;
    memcpy(c, a, count * sizeof *c);
    for (int i = 0; i < rows; i++) x[i] = 1;
    start = now();
    psgesv(&n, &one, c, &one, &one, of_matrix, pivots, x, &one, &one, of_vector, &info);
    const double solve = now() - start;
    if (rank == 0) printf("%.9f %.9f\n", product, solve);
    if (info != 0) MPI_Abort(MPI_COMM_WORLD, 4);
  }
  MPI_Finalize();
  free(a), free(b), free(c), free(x), free(pivots);
  return 0;
}
