/* SPDX-License-Identifier: MIT */
/*
 * The terminal of a prompt: how wide it is, what comes from it, and two functions of readline that
 * lua-readline does not offer. They are looked up in the module that is linked with readline.
 */
#define _POSIX_C_SOURCE 200809L
#include "base.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <unistd.h>

static volatile sig_atomic_t was_resized; /* a variable of the process, as signal handlers are */

int clc_terminalcolumns(int stream) {
  struct winsize size;
  if (!isatty(stream)) return 0;
  return ioctl(stream, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/* terminal_columns([stream]) --> of the terminal that standard input is, or another stream (1 is
   standard output); nil where it is none. */
static int terminal_columns(lua_State *L) {
  const int columns = clc_terminalcolumns((int)luaL_optinteger(L, 1, STDIN_FILENO));
  if (columns == 0) return 0;
  lua_pushinteger(L, columns);
  return 1;
}

static void note_size(int signal) {
  (void)signal;
  was_resized = 1;
}

/* watch_size(): from now on `wait_input` tells of a new size. */
static int watch_size(lua_State *L) {
  (void)L;
  struct sigaction action = {.sa_handler = note_size, .sa_flags = SA_RESTART};
  sigemptyset(&action.sa_mask);
  sigaction(SIGWINCH, &action, NULL);
  return 0;
}

/* What has come. Both signals are blocked but for the wait, so that none is missed before it. */
static const char *next_event(const sigset_t *unblocked) {
  for (;;) {
    fd_set input;
    if (clc_takeinterrupts() > 0) return "interrupt";
    if (was_resized) {
      was_resized = 0;
      return "resize";
    }
    FD_ZERO(&input);
    FD_SET(STDIN_FILENO, &input);
    const int n = pselect(STDIN_FILENO + 1, &input, NULL, NULL, NULL, unblocked);
    if (n > 0 || (n < 0 && errno != EINTR)) return "input";
  }
}

/* wait_input() --> "input": standard input has something, or its end; "interrupt" or "resize". */
static int wait_input(lua_State *L) {
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGINT);
  sigaddset(&blocked, SIGWINCH);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const char *event = next_event(&before);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  lua_pushstring(L, event);
  return 1;
}

/* --- readline ------------------------------------------------------------ */

/* The address of a name in readline, by the path of a loaded module that is linked with it. */
static void *find(const char *path, const char *name) {
  void *module = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (module == NULL) return NULL;
  void *address = dlsym(module, name);
  dlclose(module);
  return address;
}

static void call(const char *path, const char *name) {
  void *address = find(path, name);
  void (*function)(void);
  if (address == NULL) return;
  memcpy(&function, &address, sizeof function);
  function();
}

/* give_up_line(path): ends a line that is not finished. The module's own function for that closes
   the terminal's stream first, in which readline then sets the terminal back. */
static int give_up_line(lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  FILE **in = find(path, "rl_instream"), **out = find(path, "rl_outstream");
  call(path, "rl_callback_handler_remove");
  if (in == NULL || out == NULL || *in == NULL || *in == stdin) return 0;
  fclose(*in);
  *in = stdin;
  *out = stdout;
  return 0;
}

/* resize_line(path): edits lines as wide as the terminal is now. */
static int resize_line(lua_State *L) {
  call(luaL_checkstring(L, 1), "rl_resize_terminal");
  return 0;
}

void clc_openterminal(lua_State *L) {
  static const luaL_Reg functions[] = {{"give_up_line", give_up_line},
                                       {"resize_line", resize_line},
                                       {"terminal_columns", terminal_columns},
                                       {"wait_input", wait_input},
                                       {"watch_size", watch_size},
                                       {NULL, NULL}};
  clc_addinternal(L, functions);
}
