-- SPDX-License-Identifier: MIT

--- Tasks that all groups of a GPU share, whose work-items have every so manieth pass of a loop and meet behind it.
--
-- OpenCL does not promise that groups run at once. So those that have begun take part: the first one waits a while for
-- the others and then counts them, and one that begins later has nothing to do. None waits for a group that may not
-- have begun, and those that run go on on the devices that this is for (as in Sorensen and others, Portable
-- Inter-Workgroup Barrier Synchronisation for GPUs, 2016).

local faults = require "clcompute.loops.generation.faults"
local plans = require("clcompute.loops.tree").plan

local meetings = {}

meetings.NEVER = math.maxinteger -- passes from which on all groups share a task, where launches are better

-- --- which tasks ------------------------------------------------------------------------------

--- Whether a loop on the host is in rounds with fewer meetings: those of one dimension, and of eliminations.
local function has_rounds(part)
  local round, dimensions = part.round, 0
  for _, nest in ipairs(round and round.parts or {}) do dimensions = math.max(dimensions, #(nest.band or {})) end
  return round and (round.is_front or round.slope == 0 or dimensions < 2)
end

--- Whether launches in place of a task have more work-items for a pass, sums in registers, or rounds.
local function are_better(plan)
  for _, part in ipairs(plan or {}) do
    if part.grouped or part.tiles and part.tiles.registers or has_rounds(part) then return true end
    for _, body in ipairs(plans.bodies(part)) do
      if are_better(body) then return true end
    end
  end
  return false
end

--- Marks tasks that all groups may share.
-- @tparam table plan whose nests have their tiles, and loops their rounds
-- @tparam ?integer spread passes of a loop from which on they do; nil: never
function meetings.mark(plan, spread)
  for _, kernel in ipairs(spread and plan.kernels or {}) do
    if kernel.in_group and not kernel.team then
      local is_alone = are_better(kernel.instead)
      kernel.spread = not is_alone and spread or faults.are_in { kernel.node } and meetings.NEVER or nil
    end
  end
end

-- --- in C -------------------------------------------------------------------------------------

local HEAD = [[
#ifdef __NV_CL_C_VERSION // whose fences of OpenCL are those of a group, and whose words are read at once
#define TELL_ALL asm volatile("fence.acq_rel.gpu;" ::: "memory");
#define LOOK(word) (*(word))
#else
#define TELL_ALL mem_fence(CLK_GLOBAL_MEM_FENCE);
#define LOOK(word) atomic_or(word, 0)
#endif
#define CAME progress // how many groups have begun
#define MEMBERS (progress + 16) // how many of them take part; 0: not known yet
#define MET (progress + 32) // how many have come to meetings; may go round
#define ENDED (progress + 48) // how many have ended
#define COUNTED (1 << 30) // in CAME: groups that begin now are late
#define PATIENCE 256 // looks
int join(volatile global int *progress) { // the number of a group, or -1: it is late
  const int number = atomic_inc(CAME);
  if (number == 0) {
    for (int i = 0; i < PATIENCE && LOOK(CAME) < (int)get_num_groups(0); i++) {}
    atomic_xchg(MEMBERS, atomic_or(CAME, COUNTED));
  }
  if (number >= COUNTED) return -1;
  while (LOOK(MEMBERS) == 0) {}
  return number;
}
void meet(volatile global int *progress, uint all) {
  TELL_ALL
  atomic_inc(MET);
  while ((int)((uint)LOOK(MET) - all) < 0) {}
  TELL_ALL
}
int meet_unless(volatile global int *progress, uint all, volatile global int *site) { // 1: there is a fault
  TELL_ALL
  atomic_inc(MET);
  while ((int)((uint)LOOK(MET) - all) < 0 && LOOK(site) == 0) {}
  TELL_ALL
  return LOOK(site) != 0;
}
void leave(volatile global int *progress) { // the last one prepares the next launch
  if (atomic_inc(ENDED) < (int)get_num_groups(0) - 1) return;
  for (int i = 0; i < 4; i++) atomic_xchg(progress + 16 * i, 0);
}
#define LEAVE if (get_local_id(0) == 0) leave(progress);
#define MEETING                                    \
  EVERYBODY                                        \
  if (groups > 1) {                                \
    all += groups;                                 \
    if (get_local_id(0) == 0) meet(progress, all); \
    EVERYBODY                                      \
  }
#define MEETING_OR_END                                                    \
  if (fault.site) report(&fault, faults);                                 \
  EVERYBODY                                                               \
  all += groups;                                                          \
  if (get_local_id(0) == 0)                                               \
    told = meet_unless(progress, all, (volatile global int *)faults);     \
  EVERYBODY                                                               \
  if (told) { LEAVE return; }
]]

--- What stands before kernels of such tasks; none where there are none.
function meetings.head(nests)
  for _, nest in ipairs(nests) do
    if nest.spread then return HEAD end
  end
  return ""
end

--- Prints which work-item of how many of all groups it is.
function meetings.print_place(output, tools)
  for _, line in ipairs {
    "local int told, members; // what the first work-item of a group tells the others",
    "if (get_local_id(0) == 0) told = join(progress), members = LOOK(MEMBERS);",
    "EVERYBODY",
    "const int number = told;",
    "if (number < 0) { LEAVE return; }",
    "const uint groups = (uint)members, items = (uint)get_local_size(0);",
    "const long slice = (long)(number * items + get_local_id(0)), slices = (long)(groups * items);",
    "uint all = 0; // how many will have come to the next meeting",
  } do tools.add(output, line) end
end

--- Prints the end of the kernel.
function meetings.print_end(output, tools) tools.add(output, "LEAVE") end

--- Prints statements, and the meeting behind them: a work-item that meets a fault goes there at once.
-- @tparam {table,...} nodes
-- @tparam table output
-- @tparam table tools `add` of `clcompute.loops.generation.c_statements`
-- @tparam function print the statements
function meetings.print(nodes, output, tools, print)
  local may_fail = faults.are_in(nodes)
  if may_fail then
    output.meetings = (output.meetings or 0) + 1
    output.stop = ("if (fault.site) goto meeting_%d;"):format(output.meetings)
  end
  print()
  output.stop = nil
  if may_fail then tools.add(output, ("meeting_%d:;"):format(output.meetings)) end
  meetings.print_meeting(output, tools)
end

--- Prints a meeting.
function meetings.print_meeting(output, tools)
  tools.add(output, output.has_faults and "MEETING_OR_END" or "MEETING")
end

return meetings
