/* SPDX-License-Identifier: MIT */
/*
 * Short launches: which of them the serial device runs, in the calling thread.
 *
 * The first launches of a kernel go to the device's threads, and so do all that find something in
 * flight. One that was waited for and seen to be short there is tried on the serial device, which
 * tells how long a work-item takes; from then on launches go there that will be short by that. What
 * was too long there is watched on the threads again, and tried after twice as many launches. A
 * launch for which POCL compiles the kernel anew goes to the threads: here it would keep the script
 * waiting without a word, and a linker that Ctrl-C ends would have it abort.
 */
#include "device.h"

#define SHORT 25e-6    /* seconds: as long as it takes to wake the threads and wait for them */
#define PROMISING 2e-3 /* seconds on one thread, as seen from here, of what is worth a trial */
#define MOST_TRIALS 20

static double count_items(const clc_Launch *l) {
  double items = 0;
  for (int i = 0; i < l->n; i++)
    items += (double)l->parts[i].global[0] * (double)l->parts[i].global[1] *
             (double)l->parts[i].global[2];
  return items;
}

/* Whether the last launch that was watched is this kernel's, and is worth a trial now. */
static int is_promising(clc_Pace *p, const clc_Device *d) {
  const clc_Flight *f = &d->flight;
  if (p->watched == 0 || p->watched != f->watched || f->lasted == 0) return 0;
  if (p->wait > 0) p->wait--;
  return p->wait == 0 && f->lasted * (double)d->context->compute_units <= PROMISING;
}

static int is_short(const clc_Device *d, const clc_Launch *l) {
  clc_Pace *p = l->pace;
  return p->is_known ? p->per_item * count_items(l) <= SHORT : is_promising(p, d);
}

#define LARGE 65536 /* work-items along a dimension, from which on POCL compiles anew */

/* What POCL compiles a kernel for: sizes of groups, an offset, a large range. Not 0. */
static uint64_t variant_of(const clc_Part *p) {
  const size_t *sizes = p->has_group ? p->group : p->global;
  uint64_t variant = 0;
  int is_large = 0;
  for (int i = 0; i < 3; i++) {
    variant = variant * 1000003 + sizes[i];
    is_large |= p->global[i] >= LARGE;
  }
  return variant << 3 | (uint64_t)clc_isshifted(p) << 2 | (uint64_t)is_large << 1 | 1;
}

static int is_compiled(const clc_Pace *p, uint64_t variant) {
  for (unsigned i = 0; i < CLC_VARIANTS; i++)
    if (p->variants[(p->latest - i) % CLC_VARIANTS] == variant) return 1;
  return 0;
}

/* Whether the threads have run such launches, and thus compiled the kernel for them. */
static int are_compiled(const clc_Launch *l) {
  for (int i = 0; i < l->n; i++)
    if (!is_compiled(l->pace, variant_of(&l->parts[i]))) return 0;
  return 1;
}

static void note_variants(const clc_Launch *l) {
  clc_Pace *p = l->pace;
  for (int i = 0; i < l->n; i++) {
    const uint64_t variant = variant_of(&l->parts[i]);
    if (!is_compiled(p, variant)) p->variants[++p->latest % CLC_VARIANTS] = variant;
  }
}

cl_command_queue clc_beginlaunch(clc_Device *d, const clc_Launch *l) {
  const int is_free = l->pace != NULL && l->n > 0 && clc_quickqueue(d) == d->serial;
  cl_command_queue queue = is_free && are_compiled(l) && is_short(d, l) ? d->serial : d->queue;
  if (l->pace != NULL && queue != d->serial) note_variants(l);
  d->begun = is_free && (queue == d->serial || !l->pace->is_known) ? clc_now() : 0;
  return queue;
}

/* How long the serial device has taken. Another process may have had the processor meanwhile: so
   what is known at most doubles. */
static void note_pace(clc_Pace *p, double items, double seconds) {
  const double pace = seconds / items, most = 2 * p->per_item;
  p->per_item = p->is_known && pace > most ? most : pace;
  p->is_known = p->per_item * items <= SHORT;
  p->watched = 0;
  p->trials = p->is_known ? 0 : p->trials < MOST_TRIALS ? p->trials + 1 : p->trials;
  p->wait = p->is_known ? 0 : 1ul << p->trials;
}

void clc_endlaunch(clc_Device *d, const clc_Launch *l, cl_command_queue queue) {
  if (d->begun == 0) return;
  if (queue == d->serial) {
    clFinish(queue);
    note_pace(l->pace, count_items(l), clc_now() - d->begun);
  } else {
    clc_watch(&d->flight, d->begun);
    l->pace->watched = d->flight.watched;
  }
}
