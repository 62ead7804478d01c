/* SPDX-License-Identifier: MIT */
/* Calls that open no other files than a worker does, in a thread of the process that has the
   worker; and none that say other things to each process, or each time. */
#define _DEFAULT_SOURCE /* pthread_sigmask */
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>

#include "sandbox.h"
#include "worker.h"

#define STACK ((size_t)64 << 20) /* what a compiler needs in the worker, it needs here */

typedef struct {
  void (*f)(void *);
  void *data;
  clc_Folders folders;
  int is_called;
} Call;

static void *run(void *given) {
  Call *c = given;
  c->is_called = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && clc_confinefiles(&c->folders);
  if (c->is_called) c->f(c->data);
  return NULL;
}

/* Signals are for the other threads. */
static int begin(pthread_t *thread, Call *c) {
  pthread_attr_t attributes;
  sigset_t all, before;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, STACK);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int code = pthread_create(thread, &attributes, run, c);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return code == 0;
}

int clc_callconfined(void (*f)(void *), void *data, const char *writable, const char *readable) {
  Call c = {f, data, {writable, readable, 0}, 0};
  pthread_t thread;
  if (!(clc_sandboxparts() & CLC_FILESPART)) {
    f(data);
    return 1;
  }
  if (!begin(&thread, &c)) return 0;
  pthread_join(thread, NULL);
  return c.is_called;
}
