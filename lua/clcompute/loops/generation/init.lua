-- SPDX-License-Identifier: MIT

--- From a tree whose loops are known to be parallel or not to a plan, and from that to OpenCL C and to the host's Lua.

return {
  chains = require "clcompute.loops.generation.chains",
  chunks = require "clcompute.loops.generation.chunks",
  faults = require "clcompute.loops.generation.faults",
  group_passes = require "clcompute.loops.generation.group_passes",
  group_sums = require "clcompute.loops.generation.group_sums",
  host = require "clcompute.loops.generation.host",
  indices = require "clcompute.loops.generation.indices",
  jamming = require "clcompute.loops.generation.jamming",
  keeping = require "clcompute.loops.generation.keeping",
  kernel_text = require "clcompute.loops.generation.kernel_text",
  local_slices = require "clcompute.loops.generation.local_slices",
  logged_sums = require "clcompute.loops.generation.logged_sums",
  meetings = require "clcompute.loops.generation.meetings",
  pairing = require "clcompute.loops.generation.pairing",
  partition = require "clcompute.loops.generation.partition",
  round_kernels = require "clcompute.loops.generation.round_kernels",
  sharing = require "clcompute.loops.generation.sharing",
  skewing = require "clcompute.loops.generation.skewing",
  tiling = require "clcompute.loops.generation.tiling",
  unrolling = require "clcompute.loops.generation.unrolling",
  work_estimate = require "clcompute.loops.generation.work_estimate",
}
