/* SPDX-License-Identifier: MIT */
/*
 * Events: a launch that can be waited for and timed. A split launch is several commands and one
 * event, from the start of the first to the end of the last.
 */
#include "device.h"

#include <stdio.h>
#include <string.h>

static void event_release(clc_Handle *h) {
  clc_Event *e = (clc_Event *)h;
  if (e->first != e->last) clReleaseEvent(e->first);
  if (e->last != NULL) clReleaseEvent(e->last);
  e->first = e->last = NULL;
}

static cl_int get_fate(const clc_Event *e) {
  const clc_Failure *failure = clc_findfailure(&e->device->flight, e->ticket);
  return failure != NULL ? failure->code : CL_COMPLETE;
}

/* That of what ends with the launch, or behind it. */
static cl_int get_status(const clc_Event *e) {
  const clc_Command *c = clc_follow(&e->device->flight, e->ticket);
  cl_int status;
  if (c == NULL) return get_fate(e);
  const cl_int code =
      clGetEventInfo(c->event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
  return code == CL_SUCCESS ? status : code;
}

static void push_status(lua_State *L, const clc_Event *e) {
  if (e->is_recorded) {
    lua_pushliteral(L, "recorded");
    return;
  }
  clc_usedevice(L, e->device);
  const cl_int status = get_status(e);
  /* Asking is no flush: without one a script that polls might poll for ever. */
  if (status > CL_COMPLETE) clc_check(L, clFlush(e->device->queue), "clFlush");
  lua_pushstring(L, status == CL_QUEUED      ? "queued"
                    : status == CL_SUBMITTED ? "submitted"
                    : status == CL_RUNNING   ? "running"
                    : status == CL_COMPLETE  ? "complete"
                                             : clc_codename(status));
}

/* Until the event has ended or `seconds` (negative: no limit) have passed; returns its
   status, above CL_COMPLETE when the time ran out. */
static cl_int poll_event(lua_State *L, const clc_Event *e, double seconds) {
  const int top = lua_gettop(L);
  clc_Wait w = clc_beginwait(L);
  w.spin = e->device->flight.spin;
  clc_checkinterrupt(L);
  for (;;) {
    if (e->h.released) luaL_error(L, "%s: event" CLC_RELEASED, e->what);
    const cl_int status = get_status(e);
    if (status <= CL_COMPLETE || (seconds >= 0 && clc_now() - w.start >= seconds)) {
      lua_settop(L, top);
      return status;
    }
    clc_pauseflight(L, &e->device->flight, &w, top);
  }
}

static void refuse_recorded(lua_State *L, const clc_Event *e) {
  if (e->is_recorded)
    luaL_error(L, "%s was recorded, not queued: a call of the sequence returns an event", e->what);
}

/* Of an event that has ended. */
static void raise_failure(lua_State *L, const clc_Event *e) {
  const clc_Failure *failure = clc_findfailure(&e->device->flight, e->ticket);
  if (failure != NULL) clc_raisefailure(L, failure);
}

/* A failure of any command queued before is reported too, as by every call that blocks. */
static void wait_event(lua_State *L, clc_Event *e, double seconds) {
  cl_int status = CL_COMPLETE;
  refuse_recorded(L, e);
  clc_refuserecorded(L, e->device);
  clc_usedevice(L, e->device);
  if (clc_follow(&e->device->flight, e->ticket) != NULL) {
    const cl_int code = clFlush(e->device->queue); /* or the device might never begin */
    status = poll_event(L, e, code == CL_SUCCESS ? seconds : 0);
    if (status > CL_COMPLETE) clc_check(L, code, "clFlush");
  }
  if (status > CL_COMPLETE) luaL_error(L, "%s did not end within %f seconds", e->what, seconds);
  clc_report(L, e->device);
  raise_failure(L, e);
}

static void wait_timed(lua_State *L, clc_Event *e) {
  refuse_recorded(L, e);
  if (!e->is_timed)
    luaL_error(L,
               "%s was not timed: d:timing(true), or cl.device(s, {timing = true}), has the "
               "launches behind it timed",
               e->what);
  wait_event(L, e, -1);
}

/* The stages of a launch, in the order of `when`. */
enum { QUEUED, SUBMITTED, STARTED, FINISHED, STAGES };
static const char *const stages[STAGES] = {"queued", "submitted", "started", "finished"};

static cl_ulong get_time(lua_State *L, const clc_Event *e, int stage) {
  static const cl_profiling_info names[STAGES] = {
      CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT, CL_PROFILING_COMMAND_START,
      CL_PROFILING_COMMAND_END};
  const cl_event event = stage == FINISHED ? e->last : e->first;
  cl_ulong ns = e->when[stage];
  if (event != NULL)
    clc_check(L, clGetEventProfilingInfo(event, names[stage], sizeof ns, &ns, NULL),
              "clGetEventProfilingInfo");
  return ns;
}

static double seconds_between(cl_ulong start, cl_ulong end) {
  return end > start ? (double)(end - start) * 1e-9 : 0.0;
}

static void push_seconds(lua_State *L, clc_Event *e) {
  wait_timed(L, e);
  lua_pushnumber(L, seconds_between(get_time(L, e, STARTED), get_time(L, e, FINISHED)));
}

static const clc_Type event_type = {"event", "clcompute.Event", sizeof(clc_Event), event_release, 0,
                                    NULL};

static int event_field(lua_State *L) {
  clc_Event *e = clc_checkhandle(L, 1, &event_type);
  const char *key = lua_tostring(L, 2);
  if (key == NULL) return 0;
  if (strcmp(key, "status") == 0)
    push_status(L, e);
  else if (strcmp(key, "seconds") == 0)
    push_seconds(L, e);
  else if (strcmp(key, "device") == 0)
    clc_pushdevice(L, e->device);
  else
    return 0;
  return 1;
}

clc_Event *clc_newevent(lua_State *L, clc_Device *d, const char *what) {
  clc_Event *e = clc_newowned(L, &event_type, d, 0);
  e->device = d;
  e->is_timed = d->is_timed;
  strncpy(e->what, what, CLC_WHAT - 1);
  return e;
}

void clc_addcommand(clc_Event *e, const cl_event *command) {
  e->ticket = e->device->flight.queued;
  e->is_timed = e->device->is_timed;
  if (!e->is_timed) return;
  if (e->last != e->first) clReleaseEvent(e->last);
  clRetainEvent(e->last = *command);
  if (e->first == NULL) e->first = *command;
}

void clc_addended(clc_Event *e, const cl_ulong when[4]) {
  if (e->when[FINISHED] == 0) memcpy(e->when, when, sizeof e->when);
  e->when[FINISHED] = when[FINISHED];
}

static int event_wait(lua_State *L) {
  clc_Event *e = clc_checkhandle(L, 1, &event_type);
  lua_Number seconds = luaL_optnumber(L, 2, -1);
  luaL_argcheck(L, lua_isnoneornil(L, 2) || seconds >= 0, 2, "seconds must not be negative");
  wait_event(L, e, seconds);
  lua_settop(L, 1);
  return 1;
}

static double get_stage(lua_State *L, int stage) {
  lua_pushstring(L, stages[stage]);
  lua_rawget(L, 1);
  const double seconds = lua_tonumber(L, -1);
  lua_pop(L, 1);
  return seconds;
}

/* Times since the launch was queued: those of the clock itself differ in their last digits. */
static int profile_show(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  lua_pushstring(L, stages[QUEUED]);
  for (int i = SUBMITTED; i < STAGES; i++) {
    char text[32];
    const double seconds = get_stage(L, i) - get_stage(L, QUEUED);
    if (seconds < 1e-3)
      snprintf(text, sizeof text, "%.1f us", seconds * 1e6);
    else
      snprintf(text, sizeof text, "%.6g ms", seconds * 1e3);
    lua_pushfstring(L, ", %s + %s", stages[i], text);
  }
  lua_concat(L, STAGES);
  return 1;
}

static int event_profile(lua_State *L) {
  clc_Event *e = clc_checkhandle(L, 1, &event_type);
  wait_timed(L, e);
  lua_createtable(L, 0, STAGES);
  for (int i = 0; i < STAGES; i++) {
    lua_pushnumber(L, (double)get_time(L, e, i) * 1e-9);
    lua_setfield(L, -2, stages[i]);
  }
  if (luaL_newmetatable(L, "clcompute.EventProfile")) {
    lua_pushcfunction(L, profile_show);
    lua_setfield(L, -2, "__tostring");
  }
  lua_setmetatable(L, -2);
  return 1;
}

static int event_before(lua_State *L) {
  clc_Event *e = clc_checkhandle(L, 1, &event_type);
  clc_Device *d = clc_checkopen(L, 2);
  refuse_recorded(L, e);
  if (d->context != e->device->context)
    wait_event(L, e, -1);
  else if (d != e->device && !clc_waitbehind(L, d, e->device, e->ticket))
    raise_failure(L, e);
  lua_settop(L, 1);
  return 1;
}

static int event_show(lua_State *L) {
  const clc_Event *e = clc_checkhandle(L, 1, &event_type);
  lua_pushfstring(L, "event of %s", e->what);
  return 1;
}

void clc_openevents(lua_State *L) {
  static const clc_Function methods[] = {{"wait", event_wait, 1},
                                         {"profile", event_profile, 0},
                                         {"before", event_before, 1},
                                         {NULL, NULL, 0}};
  static const luaL_Reg metamethods[] = {{NULL, NULL}};
  clc_opentype(L, &event_type, event_field, "status seconds device", event_show, methods,
               metamethods);
  clc_addrelease(L, &event_type);
}
