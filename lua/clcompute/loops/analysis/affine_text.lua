-- SPDX-License-Identifier: MIT

--- Affine forms as isl reads them.
-- @module clcompute.loops.analysis.affine_text

local affine = require "clcompute.loops.tree.affine"
local size_of = require "clcompute.loops.tree.variables".size

local affine_text = {}

--- What a term is a multiple of.
local function unknown(term)
  if term.variable then return term.variable.id end
  if term.array then return size_of(term.array, term.dimension) end
  return ("floor((%s) / %d)"):format(affine_text.of_form(term.quotient), term.divisor)
end

local function multiple(term)
  if term.coefficient == 1 then return unknown(term) end
  return ("%d * %s"):format(term.coefficient, unknown(term))
end

--- A form of `clcompute.loops.analysis.affine`.
function affine_text.of_form(form)
  local parts = {}
  for i, term in ipairs(form.terms) do parts[i] = multiple(term) end
  if form.constant ~= 0 or #parts == 0 then parts[#parts + 1] = tostring(form.constant) end
  return (table.concat(parts, " + "):gsub("%+ %-", "- "))
end

--- An expression in isl's words, or nil where it is not affine in integers.
-- @tparam table node with a type
-- @tparam ?integer offset what is added to it
-- @treturn ?string
function affine_text.of(node, offset)
  local form = node.type == "int" and affine.of(node)
  return form and affine_text.of_form { constant = form.constant + (offset or 0), terms = form.terms } or nil
end

return affine_text
