-- SPDX-License-Identifier: MIT

--- What may run in which order, and what a call must check: found with isl, from a tree with types.

return {
  beginnings = require "clcompute.loops.analysis.beginnings", -- `local s = 0` that is returned, and given floats before
  bounds = require "clcompute.loops.analysis.bounds", -- when an access leaves its array; what is written whole
  selections = require "clcompute.loops.analysis.selections", -- an `if` that only chooses a value, as one assignment
  dependences = require "clcompute.loops.analysis.dependences", -- which loops are parallel, and why others are not
  diagonals = require "clcompute.loops.analysis.diagonals", -- loops over those of sequential nests
  distribution = require "clcompute.loops.analysis.distribution", -- nests of their own for statements beside deep loops
  expansion = require "clcompute.loops.analysis.expansion", -- an element of an array for each pass's local
  interchange = require "clcompute.loops.analysis.interchange", -- sequential loops, moved inwards
  isl_text = require "clcompute.loops.analysis.isl_text", -- forms, conditions, sets and maps as isl reads them
  local_tables = require "clcompute.loops.analysis.local_tables", -- `local t = {}`: how large, and stored before read
  loop_reductions = require "clcompute.loops.analysis.loop_reductions", -- `x = x op e` that alone hinder
  pass_orders = require "clcompute.loops.analysis.pass_orders", -- passes that may come earlier or later
  peeling = require "clcompute.loops.analysis.peeling", -- what only the first pass of a loop does
  pipelines = require "clcompute.loops.analysis.pipelines", -- rows of sequential nests that overlap
  preserving = require "clcompute.loops.analysis.preserving", -- a copy of what later passes read as it was
  privatising = require "clcompute.loops.analysis.privatising", -- an array of its own for each pass that fills one
  recomputing = require "clcompute.loops.analysis.recomputing", -- what earlier passes stored, from what was before them
  recurrences = require "clcompute.loops.analysis.recurrences", -- `x = f(x, e)` that alone hinder, in their order
  right_looking = require "clcompute.loops.analysis.right_looking", -- sums of later passes, updated by each pass
  round_shapes = require "clcompute.loops.analysis.round_shapes", -- several passes of a sequential loop in two launches
  scattered_updates = require "clcompute.loops.analysis.scattered_updates", -- `h[k[i]] = h[k[i]] + e`, for any order
  scop = require "clcompute.loops.analysis.scop", -- domains, schedules and accesses as sets of isl
  separation = require "clcompute.loops.analysis.separation", -- a nest of its own for what hinders others
  splitting = require "clcompute.loops.analysis.splitting", -- a sequential loop, cut at the pass of a loop around it
  triangles = require "clcompute.loops.analysis.triangles", -- those whose rows are sequential, column by column
  trip_counts = require "clcompute.loops.analysis.trip_counts", -- the most passes of loops, as Lua expressions
  unblocking = require "clcompute.loops.analysis.unblocking", -- strips of a loop, put together
  wavefronts = require "clcompute.loops.analysis.wavefronts", -- passes of sequential nests that run side by side
}
