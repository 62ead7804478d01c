/* SPDX-License-Identifier: MIT */
/*
 * Which system calls a worker can make: a filter of seccomp. The calls are those that a driver's
 * compiler, its threads and its linker were seen to make, and their relatives on other
 * processors. Every other one does not exist there.
 */
#define _GNU_SOURCE /* syscall */
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "message.h"

#if defined __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#define ARCHITECTURE 0 /* no filter was tried there */
#endif

/* Open to all arguments. Landlock says which files. */
static const int file_calls[] = {
    SYS_read,      SYS_write,      SYS_readv,      SYS_writev,     SYS_pread64,    SYS_pwrite64,
    SYS_lseek,     SYS_close,      SYS_openat,     SYS_fstat,      SYS_newfstatat, SYS_statx,
    SYS_faccessat, SYS_faccessat2, SYS_readlinkat, SYS_getdents64, SYS_getcwd,     SYS_mkdirat,
    SYS_renameat,  SYS_renameat2,  SYS_unlinkat,   SYS_umask,      SYS_fsync,      SYS_fdatasync,
    SYS_ftruncate, SYS_fallocate,  SYS_statfs,     SYS_fstatfs,    SYS_flock,      SYS_dup,
    SYS_dup3,      SYS_ppoll,      SYS_pipe2};
static const int memory_calls[] = {SYS_brk,     SYS_munmap,        SYS_mprotect,
                                   SYS_madvise, SYS_get_mempolicy, SYS_membarrier};
static const int thread_calls[] = {SYS_futex,        SYS_sched_yield,     SYS_sched_getaffinity,
                                   SYS_getcpu,       SYS_set_robust_list, SYS_set_tid_address,
                                   SYS_rseq,         SYS_gettid,          SYS_restart_syscall,
                                   SYS_rt_sigaction, SYS_rt_sigprocmask,  SYS_rt_sigreturn,
                                   SYS_sigaltstack};
static const int question_calls[] = {
    SYS_clock_gettime, SYS_clock_getres, SYS_clock_nanosleep, SYS_nanosleep, SYS_gettimeofday,
    SYS_getpid,        SYS_getppid,      SYS_getuid,          SYS_geteuid,   SYS_getgid,
    SYS_getegid,       SYS_getpgid,      SYS_sysinfo,         SYS_uname,     SYS_getrandom,
    SYS_getrusage,     SYS_times};
/* Programs are as confined as what starts them. */
static const int program_calls[] = {SYS_execve, SYS_wait4, SYS_waitid, SYS_exit, SYS_exit_group};
/* What newer processors do without. */
static const int old_calls[] = {
#ifdef __x86_64__
    SYS_open,     SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_mkdir,      SYS_rename,
    SYS_unlink,   SYS_dup2, SYS_poll,  SYS_time,   SYS_getpgrp,  SYS_arch_prctl,
#endif
    SYS_getrlimit};

/* What begins a task, or says where one runs: the supervisor decides (sandbox_tasks.c). Without one
   the first is how threads and linkers begin, the last how threads are placed. clone3, whose flags
   no filter sees, does not exist. */
static const int supervised_calls[] = {
#ifdef __x86_64__
    SYS_fork, SYS_vfork,
#endif
    SYS_clone, SYS_sched_setaffinity};

/* No path is looked at, so any file of the user's could be meant: they do nothing, and say that it
   is done. The linker makes a library executable, which does not need to be. */
static const int idle_calls[] = {
#ifdef __x86_64__
    SYS_chmod,
#endif
    SYS_fchmod, SYS_fchmodat, SYS_utimensat};

/* What depends on an argument: its bits in a mask are the value. Of several rows for a call one
   must hold. */
typedef struct {
  int call, argument;
  uint32_t mask, value;
} Condition;

#define ALL UINT32_MAX

/* The id of the process, as kill takes it, is the value of these. */
static const int self_calls[] = {SYS_kill, SYS_tgkill};

static const Condition conditions[] = {
    /* No memory that is shared and in no file: it counts towards no limit. */
    {SYS_mmap, 3, MAP_ANONYMOUS, 0},
    {SYS_mmap, 3, MAP_SHARED, 0},
    /* Not F_SETOWN and F_SETSIG, by which a descriptor sends signals to others. */
    {SYS_fcntl, 1, ~(uint32_t)7, 0},
    {SYS_fcntl, 1, ALL, F_DUPFD_CLOEXEC},
    {SYS_ioctl, 1, ALL, TCGETS},
    {SYS_prctl, 0, ALL, PR_SET_NAME},
    {SYS_prlimit64, 0, ALL, 0}, /* of itself; none can be raised */
    /* The one socket that there is. */
    {SYS_recvfrom, 0, ALL, CLC_SOCKET_FD},
    {SYS_recvmsg, 0, ALL, CLC_SOCKET_FD},
    {SYS_sendto, 0, ALL, CLC_SOCKET_FD},
    {SYS_sendmsg, 0, ALL, CLC_SOCKET_FD},
};

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* --- the filter ------------------------------------------------------------ */

#define MOST 512 /* instructions */

typedef struct {
  struct sock_filter code[MOST];
  unsigned short n;
} Filter;

static void put(Filter *f, uint16_t code, uint32_t k, uint8_t yes, uint8_t no) {
  if (f->n < MOST) f->code[f->n++] = (struct sock_filter){code, yes, no, k};
}

#define LOAD (BPF_LD | BPF_W | BPF_ABS)
#define IS (BPF_JMP | BPF_JEQ | BPF_K)
#define AND (BPF_ALU | BPF_AND | BPF_K)
#define GIVE (BPF_RET | BPF_K)

static void put_calls(Filter *f, const int *calls, size_t n, uint32_t action) {
  for (size_t i = 0; i < n; i++) {
    put(f, IS, (uint32_t)calls[i], 0, 1);
    put(f, GIVE, action, 0, 0);
  }
}

#define PUT_CALLS(f, calls, action) put_calls(f, calls, COUNT(calls), action)

/* The lower half of an argument; processors of both kinds have it first. What is compared here has
   no upper one for the system. */
static void put_condition(Filter *f, const Condition *c) {
  const uint32_t place = (uint32_t)(offsetof(struct seccomp_data, args) + 8 * (size_t)c->argument);
  put(f, IS, (uint32_t)c->call, 0, 5);
  put(f, LOAD, place, 0, 0);
  put(f, AND, c->mask, 0, 0);
  put(f, IS, c->value, 0, 1);
  put(f, GIVE, SECCOMP_RET_ALLOW, 0, 0);
  put(f, LOAD, offsetof(struct seccomp_data, nr), 0, 0);
}

/* No task with namespaces of its own, in which it would have rights again, and none that is the
   script's child instead of the worker's. */
static void put_clone(Filter *f) {
  const uint32_t refused = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                           CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_PARENT;
  put(f, IS, SYS_clone, 0, 4);
  put(f, LOAD, offsetof(struct seccomp_data, args), 0, 0);
  put(f, BPF_JMP | BPF_JSET | BPF_K, refused, 0, 1);
  put(f, GIVE, SECCOMP_RET_ERRNO | EPERM, 0, 0);
  put(f, LOAD, offsetof(struct seccomp_data, nr), 0, 0);
}

static void put_all(Filter *f, int is_supervised) {
  const uint32_t self = (uint32_t)getpid();
  put(f, LOAD, offsetof(struct seccomp_data, arch), 0, 0);
  put(f, IS, ARCHITECTURE, 1, 0);
  put(f, GIVE, SECCOMP_RET_KILL_PROCESS, 0, 0);
  put(f, LOAD, offsetof(struct seccomp_data, nr), 0, 0);
  PUT_CALLS(f, file_calls, SECCOMP_RET_ALLOW);
  PUT_CALLS(f, memory_calls, SECCOMP_RET_ALLOW);
  PUT_CALLS(f, thread_calls, SECCOMP_RET_ALLOW);
  PUT_CALLS(f, question_calls, SECCOMP_RET_ALLOW);
  PUT_CALLS(f, program_calls, SECCOMP_RET_ALLOW);
  PUT_CALLS(f, old_calls, SECCOMP_RET_ALLOW);
  put_clone(f);
  PUT_CALLS(f, supervised_calls, is_supervised ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ALLOW);
  PUT_CALLS(f, idle_calls, SECCOMP_RET_ERRNO);
  for (size_t i = 0; i < COUNT(conditions); i++) put_condition(f, &conditions[i]);
  for (size_t i = 0; i < COUNT(self_calls); i++)
    put_condition(f, &(Condition){self_calls[i], 0, ALL, self});
  put(f, GIVE, SECCOMP_RET_ERRNO | ENOSYS, 0, 0);
}

/* --- installing it --------------------------------------------------------- */

int clc_hascallspart(void) {
  const uint32_t action = SECCOMP_RET_KILL_PROCESS;
  return ARCHITECTURE != 0 && syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

/* That a supervisor may let a call go on came with Linux 5.5, which only its version tells; this
   call, which closes nothing, came with 5.9. */
int clc_hastaskspart(void) {
  return syscall(SYS_close_range, ~0U, ~0U, 0) == 0;
}

static long install(int is_supervised) {
  Filter f = {.n = 0};
  put_all(&f, is_supervised);
  const struct sock_fprog program = {f.n, f.code};
  const unsigned flags = is_supervised ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0;
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

int clc_confinecalls(int *supervisor) {
  long fd = -1;
  if (clc_hastaskspart()) fd = install(1);
  if (fd >= 0) *supervisor = (int)fd;
  /* A container's own supervisor allows no second one. */
  return fd >= 0 || install(0) == 0;
}
