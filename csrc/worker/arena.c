/* SPDX-License-Identifier: MIT */
/* Arenas: memory in a file without a name, of which another process can map single pieces. */
#define _GNU_SOURCE /* memfd_create, MADV_REMOVE, F_ADD_SEALS */
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* What prints goes to 1 and 2, whatever they are: a process may have closed them. */
static int above_standard(int fd) {
  if (fd < 0 || fd > STDERR_FILENO) return fd;
  const int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  close(fd);
  return moved;
}

void clc_closearena(clc_Arena *a) {
  if (a->fd >= 0) close(a->fd);
  a->fd = -1;
}

/* Nobody can make it shorter, for a worker that a kernel took over has it while it maps pieces: a
   look at what were gone would end this process. */
static int seal(int fd) {
  return fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) == 0;
}

int clc_openarena(clc_Arena *a) {
  if (a->fd >= 0) return 1;
  a->fd = above_standard(memfd_create("clcompute", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  a->end = (uint64_t)sysconf(_SC_PAGESIZE); /* so that 0 is where no piece begins */
  if (a->fd >= 0 && !seal(a->fd)) clc_closearena(a);
  return a->fd >= 0;
}

static size_t whole_pages(size_t bytes) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  return (bytes + page - 1) / page * page;
}

/* Beyond `ulimit -f` there is a signal, which would end the process. A kernel may have made it
   longer than it should be. */
static int grow(int fd, off_t size) {
  sigset_t beyond, before;
  struct stat file;
  const struct timespec now = {0, 0};
  if (fstat(fd, &file) == 0 && file.st_size >= size) return 1;
  sigemptyset(&beyond);
  sigaddset(&beyond, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &beyond, &before);
  const int fails = ftruncate(fd, size) != 0, code = errno;
  if (fails && code == EFBIG && !sigismember(&before, SIGXFSZ)) sigtimedwait(&beyond, NULL, &now);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = code;
  return !fails;
}

/* The file only grows: the places of freed pieces are holes, which take no memory. */
void *clc_newpiece(clc_Arena *a, size_t bytes, uint64_t *start) {
  const size_t room = whole_pages(bytes);
  if (!grow(a->fd, (off_t)(a->end + room))) return NULL;
  void *piece = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED, a->fd, (off_t)a->end);
  if (piece == MAP_FAILED) return NULL;
  *start = a->end;
  a->end += room;
  return piece;
}

int clc_readarena(const clc_Arena *a, uint64_t start, size_t bytes, void *to) {
  return pread(a->fd, to, bytes, (off_t)start) == (ssize_t)bytes;
}

void clc_freepiece(void *piece, size_t bytes) {
  const size_t room = whole_pages(bytes);
  madvise(piece, room, MADV_REMOVE); /* the worker may have it mapped still */
  munmap(piece, room);
}
