/* SPDX-License-Identifier: MIT */
/*
 * probe_links: one work-item follows a chain of links through memory, for the latency of a
 * read: each address is what the read before it returned.
 *
 *     p = at[0];
 *     for (k = 0; k < n; k++) p = links[p];
 *     at[0] = p;
 *
 * Under LINK the chain is written instead: place i, a word at i * LINE, links to
 * place (1664525 i + 1013904223) % places, which visits all of them before it comes back.
 *
 *     for (i = 0; i <= mask; i++) links[i * LINE] = (1664525 * i + 1013904223) % (mask + 1) * LINE;
 *
 * `mask` is the number of places less one, a power of two less one.
 * Global size: 1, under LINK the number of places; local size: any.
 */
#ifndef LINK
#define LINK 0 /* 1: writes the chain */
#endif
#ifndef LINE
#define LINE 32 /* words from one place to the next: a line of the cache */
#endif

#if LINK
__kernel void probe_links(const uint n, const uint mask, __global uint *links, __global uint *at) {
  const uint i = get_global_id(0);
  links[(size_t)i * LINE] = (1664525u * i + 1013904223u & mask) * LINE;
}
#else
__kernel void probe_links(const uint n, const uint mask, __global const uint *links,
                          __global uint *at) {
  uint p = at[0];
  for (uint k = 0; k < n; k++) p = links[p];
  at[0] = p;
}
#endif
