-- SPDX-License-Identifier: MIT

--- What may run in which order, and what a call must check: found with isl, from a tree with types.

return {
  bounds = require "clcompute.loops.analysis.bounds",
  selections = require "clcompute.loops.analysis.selections",
  dependences = require "clcompute.loops.analysis.dependences",
  distribution = require "clcompute.loops.analysis.distribution",
  interchange = require "clcompute.loops.analysis.interchange",
  isl_text = require "clcompute.loops.analysis.isl_text",
  loop_reductions = require "clcompute.loops.analysis.loop_reductions",
  round_shapes = require "clcompute.loops.analysis.round_shapes",
  scattered_updates = require "clcompute.loops.analysis.scattered_updates",
  scop = require "clcompute.loops.analysis.scop",
  splitting = require "clcompute.loops.analysis.splitting",
  trip_counts = require "clcompute.loops.analysis.trip_counts",
  wavefronts = require "clcompute.loops.analysis.wavefronts",
}
