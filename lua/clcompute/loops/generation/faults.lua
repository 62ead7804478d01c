-- SPDX-License-Identifier: MIT

--- What Lua would raise an error for while a kernel runs: an element that is not there, an integer that is divided by
-- 0, a step of 0, a float that is no integer. A work-item that meets such a place notes it and ends; the call raises
-- it.
--
-- A place has a number, its site. The buffer `faults` has the first one that was met, and the index that was used. The
-- launches of a call take two such buffers in turns: each work-item begins with what the launch `before` it met, so
-- that no kernel works on what another one left undone, and none reads what its own launch writes.

local ast = require("clcompute.loops.tree").ast
local size_of = require("clcompute.loops.tree").ast.size
local walk = require("clcompute.loops.tree").walk

local faults = {}

-- --- where they are ---------------------------------------------------------------------------

--- Whether all subscripts of an element that are looked at are known to be inside.
local function is_known(node, known)
  for dimension in pairs(node.checked or {}) do
    if not (known[node] and known[node][dimension]) then return false end
  end
  return node.kind == "index"
end

--- Whether a node itself may be one.
-- @tparam table node
-- @tparam ?table known dimensions by element whose subscripts were looked at before
function faults.is_one(node, known)
  return ast.may_fail(node) and not (known and is_known(node, known))
end

--- Whether something in a list of nodes may be.
-- @tparam {table,...} nodes
-- @tparam ?table known as for `is_one`
function faults.are_in(nodes, known)
  return walk.find(nodes, function(node) return faults.is_one(node, known) end) ~= nil
end

--- Whether data decide passes, or where elements are, in a node.
function faults.has_data(node)
  return walk.find({ node }, function(part)
    return part.kind == "for" and part.irregular ~= nil or ast.may_fail(part)
  end) ~= nil
end

-- --- in C -------------------------------------------------------------------------------------

--- The number of a site, noted with what describes it.
-- @tparam table context of `clcompute.loops.generation.c_expression`, with `sites`
-- @tparam table site `what`, `node`; of an index `dimension`
function faults.number(context, site)
  context.sites[#context.sites + 1] = site
  context.helpers.Fault = true
  return #context.sites
end

--- The lines with which a kernel begins that may meet one; `ends` is whether a work-item may end there.
function faults.open(add, output, ends)
  output.context.helpers.Fault = true
  add(output, "Fault fault = { before[0], before[1] };")
  if ends then add(output, "STOP") end
end

-- --- in words ---------------------------------------------------------------------------------

local NIL = "line %d: attempt to perform arithmetic on a nil value (%s)"
local ABSENT = "line %d: %s is stored, which is no element"
faults.ADVICE = "; arrays do not get longer, so give them all elements before" -- behind the latter

local function source_of(origin, node)
  return (origin.text:sub(node.offset, node.finish):gsub("%s+", " "))
end

--- What this Lua says of an integer that is divided by 0.
local function message_of(division)
  local _, message = pcall(load("local a, b = 1, 0 return " .. division, "=zero", "t", { math = math }))
  return message:match "^zero:1: (.*)$"
end

local OF_ZERO = { ["//"] = message_of "a // b", ["%"] = message_of "a % b", fmod = message_of "math.fmod(a, b)" }

local WORDS = {
  index = function(site, value, origin, numbers, base)
    local node, size = site.node, numbers[size_of(site.node.array, site.dimension)]
    local which = node.array.rank > 1 and (" of dimension %d"):format(site.dimension) or ""
    local what = node.array.pitches and "row" or "index"
    local text = (node.is_stored and ABSENT or NIL) .. ": %s %d%s is outside of %d .. %d"
    return text:format(node.line, source_of(origin, node), what, value, node.array.pitches and "" or which, base,
      size + base - 1) .. (node.is_stored and faults.ADVICE or "")
  end,
  zero = function(site)
    return ("line %d: %s"):format(site.node.line, OF_ZERO[site.node.op or site.node.name])
  end,
  step = function(site) return ("line %d: 'for' step is zero"):format(site.node.line) end,
  integer = function(site, _, origin)
    if site.node.is_operand then return ("line %d: number has no integer representation"):format(site.node.line) end
    return NIL:format(site.node.line, source_of(origin, site.node))
  end,
}

--- A fault as Lua would call it.
-- @tparam table site
-- @tparam integer value the index
-- @tparam table tree of the function
-- @tparam table numbers the sizes of the call, by name
function faults.describe(site, value, tree, numbers)
  return WORDS[site.what](site, value, tree.origin, numbers, tree.base)
end

return faults
