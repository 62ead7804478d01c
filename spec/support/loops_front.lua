-- SPDX-License-Identifier: MIT
--- The passes of clcompute.loops that need no arguments, in a row.

local lexer = require "clcompute.loops.front.lexer"
local origin = require "clcompute.loops.front.origin"
local parser = require "clcompute.loops.front.parser"
local resolve = require "clcompute.loops.front.resolve"
local restrictions = require "clcompute.loops.front.restrictions"

local front = {}

--- The tree of a function, a text or { file = path }.
function front.tree(source, options)
  local from = origin.of(source, options)
  return restrictions.check(resolve.run(parser.parse(from, lexer.read(from))))
end

return front
