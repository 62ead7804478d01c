-- SPDX-License-Identifier: MIT

--- What the passes of `clcompute.loops` hand on: the tree and the plan, and how both are gone through and written.

return {
  affine = require "clcompute.loops.tree.affine",
  ast = require "clcompute.loops.tree.ast",
  clone = require "clcompute.loops.tree.clone",
  failure = require "clcompute.loops.tree.failure",
  flat_arrays = require "clcompute.loops.tree.flat_arrays",
  loop_bounds = require "clcompute.loops.tree.loop_bounds",
  lua_text = require "clcompute.loops.tree.lua_text",
  plan = require "clcompute.loops.tree.plan",
  walk = require "clcompute.loops.tree.walk",
}
