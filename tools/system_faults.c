/* SPDX-License-Identifier: MIT */
/*
 * Calls of the C library that fail: memory, files and processes. Preloaded (LD_PRELOAD), it stands
 * before the C library and lets the nth call that clcompute's core makes fail; those of Lua and of
 * the drivers go through. As the Lua module `system_faults` it is told which:
 *
 *     fail(nth, times)     from now on; times 0: all from the nth on; nth 0: none
 *     hits()               --> calls that failed since, the name of the first, what errno said
 *     fail_worker(nth, times, log)   the same in workers begun from now on
 *
 * $SYSTEM_FAULTS says it to a process from its beginning, $CLCOMPUTE_WORKER_FAULTS to the workers
 * of isolated devices: "nth times log", where log is a file to which each process appends the name
 * of its first call that failed.
 */
#define _GNU_SOURCE /* RTLD_NEXT, dl_iterate_phdr */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <sched.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <lauxlib.h>

/* All that follows is for others, but what is static. */
#pragma GCC visibility push(default)

#define CORE "/clcompute/core.so"

static struct {
  long nth, times, seen, hits;
  const char *first; /* the name of the first call that failed */
  int code;          /* in its errno, or its result */
  char log[1000];    /* the file that is told of it, or "" */
} plan;

static uintptr_t core_start, core_end; /* where the code of the core lies */

/* --- who calls --------------------------------------------------------- */

static int note_core(struct dl_phdr_info *info, size_t size, void *data) {
  (void)size, (void)data;
  const size_t n = strlen(info->dlpi_name), tail = strlen(CORE);
  if (n < tail || strcmp(info->dlpi_name + n - tail, CORE) != 0) return 0;
  for (int i = 0; i < info->dlpi_phnum; i++)
    if (info->dlpi_phdr[i].p_type == PT_LOAD && (info->dlpi_phdr[i].p_flags & PF_X) != 0) {
      core_start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
      core_end = core_start + info->dlpi_phdr[i].p_memsz;
    }
  return 1;
}

static void tell_log(const char *name) {
  FILE *log = plan.log[0] != '\0' ? fopen(plan.log, "a") : NULL;
  if (log == NULL) return;
  fprintf(log, "%s\n", name);
  fclose(log);
}

/* What writes down coverage at the exit lies within the core, but is not of it. */
static void stop(void) {
  plan.nth = 0;
}

static int must_fail(const char *name, int code, const void *caller) {
  if (plan.nth == 0) return 0;
  if (core_end == 0 && dl_iterate_phdr(note_core, NULL) != 0) atexit(stop);
  if ((uintptr_t)caller < core_start || (uintptr_t)caller >= core_end) return 0;
  if (++plan.seen < plan.nth || (plan.times > 0 && plan.hits == plan.times)) return 0;
  if (plan.hits++ > 0) return 1;
  plan.first = name;
  plan.code = code;
  tell_log(name);
  return 1;
}

#define MUST_FAIL(name, code) must_fail(#name, code, __builtin_return_address(0))

static void *next(const char *name) {
  return dlsym(RTLD_NEXT, name);
}

/* --- memory ------------------------------------------------------------ */

/* What dlsym itself needs must not be looked for by it. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *block, size_t size);

static void *no_memory(void) {
  errno = ENOMEM;
  return NULL;
}

void *malloc(size_t size) {
  return MUST_FAIL(malloc, ENOMEM) ? no_memory() : __libc_malloc(size);
}

void *calloc(size_t n, size_t size) {
  return MUST_FAIL(calloc, ENOMEM) ? no_memory() : __libc_calloc(n, size);
}

void *realloc(void *block, size_t size) {
  return MUST_FAIL(realloc, ENOMEM) ? no_memory() : __libc_realloc(block, size);
}

/* --- files and processes ------------------------------------------------ */

/* A function that returns `bad` and leaves `code` in errno where it must fail. */
#define FAILING(type, name, parameters, arguments, bad, code) \
  type name parameters {                                      \
    static type(*real) parameters;                            \
    if (MUST_FAIL(name, code)) {                              \
      errno = code;                                           \
      return bad;                                             \
    }                                                         \
    if (real == NULL) *(void **)&real = next(#name);          \
    return real arguments;                                    \
  }

/* One with a third argument that not every call has. */
#define FAILING_OPTIONAL(name, first, second, argument, bad, code) \
  int name(first a, second b, ...) {                               \
    static int (*real)(first, second, ...);                        \
    va_list rest;                                                  \
    va_start(rest, b);                                             \
    argument c = va_arg(rest, argument);                           \
    va_end(rest);                                                  \
    if (MUST_FAIL(name, code)) {                                   \
      errno = code;                                                \
      return bad;                                                  \
    }                                                              \
    if (real == NULL) *(void **)&real = next(#name);               \
    return real(a, b, c);                                          \
  }

FAILING_OPTIONAL(open, const char *, int, mode_t, -1, EMFILE)
FAILING_OPTIONAL(fcntl, int, int, void *, -1, EMFILE)
FAILING(FILE *, fdopen, (int fd, const char *mode), (fd, mode), NULL, ENOMEM)
FAILING(int, dup, (int fd), (fd), -1, EMFILE)
FAILING(int, dup2, (int fd, int to), (fd, to), -1, EMFILE)
FAILING(ssize_t, getrandom, (void *to, size_t n, unsigned flags), (to, n, flags), -1, ENOSYS)
FAILING(ssize_t, read, (int fd, void *to, size_t n), (fd, to, n), -1, EIO)
FAILING(ssize_t, pread, (int fd, void *to, size_t n, off_t at), (fd, to, n, at), -1, EIO)
FAILING(ssize_t, write, (int fd, const void *from, size_t n), (fd, from, n), -1, ENOSPC)
FAILING(off_t, lseek, (int fd, off_t at, int whence), (fd, at, whence), -1, EIO)
FAILING(int, stat, (const char *path, struct stat *s), (path, s), -1, EACCES)
FAILING(int, lstat, (const char *path, struct stat *s), (path, s), -1, EACCES)
FAILING(int, fstat, (int fd, struct stat *s), (fd, s), -1, EIO)
FAILING(int, fstatat, (int fd, const char *path, struct stat *s, int flags), (fd, path, s, flags),
        -1, EACCES)
FAILING(int, statvfs, (const char *path, struct statvfs *s), (path, s), -1, EACCES)
FAILING(int, access, (const char *path, int mode), (path, mode), -1, EACCES)
FAILING(int, faccessat, (int fd, const char *path, int mode, int flags), (fd, path, mode, flags),
        -1, EACCES)
FAILING(int, mkdir, (const char *path, mode_t mode), (path, mode), -1, EACCES)
FAILING(int, mkostemp, (char *path, int flags), (path, flags), -1, EACCES)
FAILING(int, rename, (const char *from, const char *to), (from, to), -1, EACCES)
FAILING(int, unlink, (const char *path), (path), -1, EACCES)
FAILING(int, remove, (const char *path), (path), -1, EACCES)
FAILING(int, unlinkat, (int fd, const char *path, int flags), (fd, path, flags), -1, EACCES)
FAILING(int, futimens, (int fd, const struct timespec times[2]), (fd, times), -1, EACCES)
FAILING(int, setrlimit, (__rlimit_resource_t what, const struct rlimit *limit), (what, limit), -1,
        EPERM)
FAILING(int, chmod, (const char *path, mode_t mode), (path, mode), -1, EPERM)
FAILING(int, fchmod, (int fd, mode_t mode), (fd, mode), -1, EPERM)
FAILING(int, fchown, (int fd, uid_t user, gid_t group), (fd, user, group), -1, EPERM)
FAILING(int, ftruncate, (int fd, off_t length), (fd, length), -1, ENOSPC)
FAILING(DIR *, opendir, (const char *path), (path), NULL, EMFILE)
FAILING(struct dirent *, readdir, (DIR * folder), (folder), NULL, EIO)
FAILING(char *, realpath, (const char *path, char *room), (path, room), NULL, EACCES)
FAILING(ssize_t, readlink, (const char *path, char *room, size_t n), (path, room, n), -1, EACCES)
FAILING(void *, mmap, (void *at, size_t n, int protection, int flags, int fd, off_t offset),
        (at, n, protection, flags, fd, offset), MAP_FAILED, ENOMEM)
FAILING(int, mprotect, (void *at, size_t n, int protection), (at, n, protection), -1, ENOMEM)
FAILING(int, madvise, (void *at, size_t n, int advice), (at, n, advice), -1, ENOMEM)
FAILING(int, memfd_create, (const char *name, unsigned flags), (name, flags), -1, EMFILE)
FAILING(int, socketpair, (int domain, int type, int protocol, int ends[2]),
        (domain, type, protocol, ends), -1, EMFILE)
FAILING(ssize_t, send, (int fd, const void *from, size_t n, int flags), (fd, from, n, flags), -1,
        ENOBUFS)
FAILING(ssize_t, recv, (int fd, void *to, size_t n, int flags), (fd, to, n, flags), -1, ENOBUFS)
FAILING(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags),
        -1, ENOBUFS)
FAILING(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags), -1,
        ENOBUFS)
FAILING(int, poll, (struct pollfd * fds, nfds_t n, int timeout), (fds, n, timeout), -1, ENOMEM)
FAILING(int, sched_getaffinity, (pid_t pid, size_t n, cpu_set_t *set), (pid, n, set), -1, EINVAL)
FAILING(int, dladdr, (const void *address, Dl_info *info), (address, info), 0, ENOENT)
FAILING(int, setenv, (const char *name, const char *value, int overwrite), (name, value, overwrite),
        -1, ENOMEM)
FAILING(int, posix_spawn_file_actions_adddup2, (posix_spawn_file_actions_t * files, int fd, int to),
        (files, fd, to), ENOMEM, ENOMEM)
FAILING(int, posix_spawn_file_actions_addopen,
        (posix_spawn_file_actions_t * files, int fd, const char *path, int flags, mode_t mode),
        (files, fd, path, flags, mode), ENOMEM, ENOMEM)
FAILING(int, posix_spawnp,
        (pid_t * pid, const char *file, const posix_spawn_file_actions_t *actions,
         const posix_spawnattr_t *attributes, char *const argv[], char *const environment[]),
        (pid, file, actions, attributes, argv, environment), EAGAIN, EAGAIN)

/* A stream that failed says so to ferror. */
#define FAILING_STREAM(name, memory, code)                   \
  size_t name(memory data, size_t size, size_t n, FILE *f) { \
    static size_t (*real)(memory, size_t, size_t, FILE *);   \
    if (MUST_FAIL(name, code)) {                             \
      f->_flags |= _IO_ERR_SEEN;                             \
      errno = code;                                          \
      return 0;                                              \
    }                                                        \
    if (real == NULL) *(void **)&real = next(#name);         \
    return real(data, size, n, f);                           \
  }

FAILING_STREAM(fread, void *, EIO)
FAILING_STREAM(fwrite, const void *, ENOSPC)

/* These do their work first: what is closed is closed, however it went. */
int close(int fd) {
  static int (*real)(int);
  const int fails = MUST_FAIL(close, EIO);
  if (real == NULL) *(void **)&real = next("close");
  const int result = real(fd);
  if (fails) errno = EIO;
  return fails ? -1 : result;
}

int fclose(FILE *f) {
  static int (*real)(FILE *);
  const int fails = MUST_FAIL(fclose, ENOSPC);
  if (real == NULL) *(void **)&real = next("fclose");
  const int result = real(f);
  if (fails) errno = ENOSPC;
  return fails ? EOF : result;
}

/* --- told by a script, or by the environment ---------------------------- */

static int fail(lua_State *L) {
  plan.nth = plan.seen = plan.hits = 0;
  plan.first = NULL;
  plan.times = (long)luaL_checkinteger(L, 2);
  plan.nth = (long)luaL_checkinteger(L, 1);
  return 0;
}

static int hits(lua_State *L) {
  lua_pushinteger(L, plan.hits);
  lua_pushstring(L, plan.first);
  lua_pushstring(L, strerror(plan.code));
  return 3;
}

static int fail_worker(lua_State *L) {
  const lua_Integer nth = luaL_checkinteger(L, 1), times = luaL_checkinteger(L, 2);
  lua_pushfstring(L, "%I %I %s", nth, times, luaL_checkstring(L, 3));
  return luaL_fileresult(L, setenv("CLCOMPUTE_WORKER_FAULTS", lua_tostring(L, -1), 1) == 0, NULL);
}

int luaopen_system_faults(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"fail", fail}, {"hits", hits}, {"fail_worker", fail_worker}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}

static int is_worker(void) {
  char words[1000] = "";
  FILE *f = fopen("/proc/self/cmdline", "r");
  const size_t n = f != NULL ? fread(words, 1, sizeof words - 1, f) : 0;
  if (f != NULL) fclose(f);
  for (size_t i = 0; i < n; i++)
    if (words[i] == '\0') words[i] = ' ';
  return strstr(words, "luaopen_clcompute_worker") != NULL;
}

__attribute__((constructor)) static void read_environment(void) {
  const char *text = getenv(is_worker() ? "CLCOMPUTE_WORKER_FAULTS" : "SYSTEM_FAULTS");
  long nth;
  if (text != NULL && sscanf(text, "%ld %ld %999s", &nth, &plan.times, plan.log) == 3)
    plan.nth = nth;
}
