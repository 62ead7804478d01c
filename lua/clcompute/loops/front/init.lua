-- SPDX-License-Identifier: MIT

--- From a function's text to a resolved tree, and to one with types.

local delinearising = require "clcompute.loops.front.delinearising"
local denotations = require "clcompute.loops.front.denotations"
local grammar = require "clcompute.loops.front.grammar"
local lexer = require "clcompute.loops.front.lexer"
local made_tables = require "clcompute.loops.front.made_tables"
local mixtures = require "clcompute.loops.front.mixtures"
local origin = require "clcompute.loops.front.origin"
local resolve = require "clcompute.loops.front.resolve"
local restrictions = require "clcompute.loops.front.restrictions"
local subscripts = require "clcompute.loops.front.subscripts"
local types = require "clcompute.loops.front.types"
local unassigned = require "clcompute.loops.front.unassigned"

local front = { as_matrices = delinearising.apply, check_fixed = denotations.check_fixed, choose = origin.choose,
  infer_types = types.infer, origin = origin.of, settle_mixtures = types.settle, MOST_ADDED = mixtures.ADDED,
  simplify_subscripts = subscripts.simplify }

--- The function that an origin means, as it is written.
-- @tparam table from of `front.origin`
-- @treturn table of `ast.parsed`
function front.parse(from)
  return grammar.parse(from, lexer.read(from))
end

--- The outermost functions of an origin's text that hold a loop.
-- @tparam table from of `front.origin`
-- @treturn table a list, as `front.choose` returns one
function front.with_loops(from)
  return origin.with_loops(lexer.read(from))
end

--- The tree of a parsed function, which keeps to the subset.
-- @tparam table parsed of `front.parse`
-- @tparam ?integer base of the arrays, 1 unless given
-- @tparam ?boolean is_cautious no number is computed before a call
-- @tparam ?table left_out the places of parameters that calls leave out, as keys
-- @treturn table of `ast.node`, without types
function front.resolve(parsed, base, is_cautious, left_out)
  local tree = delinearising.find(resolve.run(parsed, base, is_cautious, left_out))
  return unassigned.check(restrictions.check(made_tables.settle(tree)))
end

return front
