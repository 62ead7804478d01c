-- SPDX-License-Identifier: MIT
--- The passes of clcompute.loops that need no arguments, in a row.

local face = require "clcompute.loops.front"

local front = {}

--- The tree of a function, a text or { file = path }.
function front.tree(source, options)
  return face.resolve(face.parse(face.origin(source, options)))
end

return front
