-- SPDX-License-Identifier: MIT

--- One call of a compiled function: what it is given, where each nest runs, copies and launches.

return {
  arguments = require "clcompute.loops.runtime.arguments",
  call = require "clcompute.loops.runtime.call",
  computed_numbers = require "clcompute.loops.runtime.computed_numbers",
  costs = require "clcompute.loops.runtime.costs",
  decision = require "clcompute.loops.runtime.decision",
  kernel_target = require "clcompute.loops.runtime.kernel_target",
  profitability = require "clcompute.loops.runtime.profitability",
  storage = require "clcompute.loops.runtime.storage",
}
