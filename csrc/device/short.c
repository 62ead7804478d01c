/* SPDX-License-Identifier: MIT */
/*
 * Short launches: which of them the serial device runs, in the calling thread.
 *
 * The first launches of a kernel go to the device's threads, and so do all that find something in
 * flight. One that was waited for and seen to be short there is tried on the serial device, which
 * tells how long a work-item takes; from then on launches go there that will be short by that. What
 * was too long there is watched on the threads again, and tried after twice as many launches.
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

cl_command_queue clc_beginlaunch(clc_Device *d, const clc_Launch *l) {
  const int is_free = l->pace != NULL && l->n > 0 && clc_quickqueue(d) == d->serial;
  cl_command_queue queue = is_free && is_short(d, l) ? d->serial : d->queue;
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
