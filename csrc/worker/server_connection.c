/* SPDX-License-Identifier: MIT */
/* The worker's end of the connection: requests, answers, and descriptors that come with them. */
#define _GNU_SOURCE /* MSG_CMSG_CLOEXEC */
#include "server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void clc_giveup(const char *what) {
  fprintf(stderr, "%s: %s\n", what, strerror(errno));
  exit(EXIT_FAILURE);
}

void clc_closedescriptor(clc_Connection *c) {
  if (c->arena >= 0) close(c->arena);
  c->arena = -1;
}

static void keep_descriptor(clc_Connection *c, struct msghdr *message) {
  const struct cmsghdr *part = CMSG_FIRSTHDR(message);
  if (part == NULL || part->cmsg_type != SCM_RIGHTS) return;
  clc_closedescriptor(c);
  memcpy(&c->arena, CMSG_DATA(part), sizeof c->arena);
}

static int receive(clc_Connection *c, void *to, size_t size) {
  char *at = to;
  while (size > 0) {
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
    struct iovec part = {at, size};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = CMSG_LEN(sizeof(int))};
    const ssize_t n = recvmsg(CLC_SOCKET_FD, &message, MSG_WAITALL | MSG_CMSG_CLOEXEC);
    if (n < 0) clc_giveup("the connection broke");
    if (n == 0) return 0;
    keep_descriptor(c, &message);
    at += n;
    size -= (size_t)n;
  }
  return 1;
}

static uint64_t mark; /* of the last request */

int clc_receiverequest(clc_Connection *c) {
  if (!receive(c, &c->request, sizeof c->request)) return 0;
  mark = c->request.mark;
  const size_t size = (size_t)c->request.bytes;
  if (size >= c->room) {
    free(c->bytes);
    c->room = size + 1;
    c->bytes = malloc(c->room);
    if (c->bytes == NULL) clc_giveup("a request");
  }
  c->bytes[size] = '\0';
  return receive(c, c->bytes, size);
}

void clc_sendanswer(const clc_Answer *answer, int descriptor) {
  _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {0};
  clc_Answer copy = *answer;
  copy.mark = mark;
  struct iovec part = {&copy, sizeof copy};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (descriptor >= 0) {
    message.msg_control = control;
    message.msg_controllen = CMSG_LEN(sizeof(int));
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    *header = (struct cmsghdr){
        .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  }
  if (sendmsg(CLC_SOCKET_FD, &message, MSG_NOSIGNAL) < 0) clc_giveup("the connection broke");
}
