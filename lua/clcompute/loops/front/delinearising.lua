-- SPDX-License-Identifier: MIT

--- Finds flat arrays that are used as matrices, `a[(i - 1) * n + j]`, whose rows have n elements: their pitch. Such an
-- element is a[i][j] for the analysis, which multiplies no variables: within a row no two j are one element. That j
-- stays in its row is looked at in each call; where it does not, the array is flat.

local affine = require("clcompute.loops.tree").affine
local bounds = require("clcompute.loops.tree").loop_bounds
local lua_text = require("clcompute.loops.tree").lua_text
local polynomials = require "clcompute.loops.front.polynomials"
local walk = require("clcompute.loops.tree").walk

local delinearising = {}

local MOST_PITCHES = 3 -- dimensions of a buffer, but for one

-- --- within a row ---------------------------------------------------------------------------

--- The term of the loop variable that is declared furthest inside.
local function innermost(form)
  local found
  for _, term in ipairs(form.terms) do
    local is_loop = term.variable and term.variable.loop
    if is_loop and not (found and #found.variable.loops > #term.variable.loops) then found = term end
  end
  return found
end

--- Whether a form without loop variables is at most 0, as rows have at least one element.
local function is_at_most_zero(form, pitch)
  local term, factor = pitch.terms[1], 0
  for _, other in ipairs(term and form.terms or {}) do
    local is_same = other.variable == term.variable and other.array == term.array and other.dimension == term.dimension
    if is_same then factor = other.coefficient // term.coefficient end
  end
  local rest = affine.sum(form, pitch, -factor)
  return rest ~= nil and #rest.terms == 0 and factor <= 0 and rest.constant + factor <= 0
end

--- Whether a form is at most 0 in all passes of the loops that it speaks of, by the bounds of these.
local function is_never_above(form, pitch)
  local term = innermost(form)
  if not term then return is_at_most_zero(form, pitch) end
  local loop = term.variable.loop
  local list = ((term.coefficient > 0) == (loop.step > 0) and bounds.lasts or bounds.firsts)(loop)
  local variable = { constant = 0, terms = { { variable = term.variable, coefficient = 1 } }, depth = 0 }
  for _, bound in ipairs(list or {}) do
    local rest = affine.sum(form, variable, -term.coefficient)
    rest = rest and affine.sum(rest, bound, term.coefficient)
    if rest and is_never_above(rest, pitch) then return true end
  end
  return false
end

--- Whether a place, from 0, is known to stay in rows of a pitch.
local function stays(place, pitch, at)
  local length, form = affine.of(pitch.node), affine.of(polynomials.node(place, at))
  if not form then return false end
  local below = affine.sum({ constant = 0, terms = {}, depth = 0 }, form, -1)
  local above = affine.sum(form, length, -1)
  above = above and affine.sum(above, { constant = 1, terms = {}, depth = 0 }, 1)
  return below ~= nil and above ~= nil and is_never_above(below, length) and is_never_above(above, length)
end

local SHIFTS = { 0, -1, 1 } -- `a[i * n - j]` is in the row before

--- The row and the place in it of a place, from 0; and whether it may be taken for that: it multiplies the pitch, or is
-- known to stay in the first row. Else it may be the place in a loop over all elements.
local function split(polynomial, pitch, at)
  local row, place = polynomials.divided(polynomial, pitch)
  for _, rows in ipairs(SHIFTS) do
    local other = polynomials.plus(place, polynomials.single(pitch), -rows)
    if other and stays(other, pitch, at) then
      return polynomials.plus(row, polynomials.constant(rows), 1), other, true
    end
  end
  return row, place, #row > 0
end

-- --- an array -------------------------------------------------------------------------------

local find_pitches

--- The pitches of places that are divided by one, which comes last; nil where what is left has products, or data say
-- where in a row it is. They may say which row.
local function find_further(places, divisor, depth)
  local rows = {}
  for i, polynomial in ipairs(places) do
    local rest
    rows[i], rest = polynomials.divided(polynomial, divisor)
    if polynomials.product_in(rest) or polynomials.has_data(rest) then return nil end
  end
  local list = find_pitches(rows, depth + 1)
  if list then list[#list + 1] = divisor end
  return list
end

--- The pitches that divide all places so that no products are left, outermost first.
function find_pitches(places, depth)
  local product
  for _, polynomial in ipairs(places) do product = product or polynomials.product_in(polynomial) end
  if not product then return {} end
  if depth > MOST_PITCHES then return nil end
  for _, unknown in ipairs(product.unknowns) do
    local list = unknown.is_steady and find_further(places, unknown, depth)
    if list then return list end
  end
end

--- The subscripts of an element as one of a matrix, or nil.
local function subscripts_of(polynomial, pitches, base, at)
  local list = {}
  for d = #pitches, 1, -1 do
    local place, is_in_rows
    polynomial, place, is_in_rows = split(polynomial, pitches[d], at)
    if not is_in_rows then return nil end
    list[d + 1] = polynomials.node(polynomials.plus(place, polynomials.constant(base), 1) or place, at)
  end
  list[1] = polynomials.node(polynomials.plus(polynomial, polynomials.constant(base), 1) or polynomial, at)
  return list
end

--- An expression without locals, by the numbers of the call.
local function without_locals(node)
  return walk.replaced(node, function(part)
    if part.kind ~= "name" or part.variable.role ~= "local" then return nil end
    return without_locals(part.variable.definition)
  end)
end

--- The places of elements, from 0; nil where one is no polynomial.
local function places_of(elements, base)
  local places = {}
  for i, node in ipairs(elements) do
    local polynomial = polynomials.of(node.subscripts[1])
    places[i] = polynomial and polynomials.plus(polynomial, polynomials.constant(base), -1)
    if not places[i] then return nil end
  end
  return places
end

--- Notes the subscripts of an array's elements, if all of them are those of a matrix.
local function note(array, elements, base)
  local places, rows = places_of(elements, base), {}
  local pitches = places and find_pitches(places, 1)
  if not pitches or #pitches == 0 then return end
  for i, node in ipairs(elements) do
    rows[i] = subscripts_of(places[i], pitches, base, node.subscripts[1])
    if not rows[i] then return end
  end
  for i, node in ipairs(elements) do node.in_rows = rows[i] end
  array.pitches, array.first = {}, base
  for d, pitch in ipairs(pitches) do array.pitches[d] = without_locals(pitch.node) end
end

--- Finds the arrays of a tree: of these `pitches` and `first`, of their elements `in_rows`.
-- @tparam table tree of `clcompute.loops.front.resolve`
-- @treturn table the tree
function delinearising.find(tree)
  local arrays, elements = {}, {}
  walk.nodes(tree.body, function(node)
    local array = node.kind == "index" and node.array
    if not array or array.rank ~= 1 or array.is_result then return end
    if not elements[array] then arrays[#arrays + 1], elements[array] = array, {} end
    table.insert(elements[array], node)
  end)
  for _, array in ipairs(arrays) do note(array, elements[array], tree.base) end
  return tree
end

-- --- in a call ------------------------------------------------------------------------------

local function pitches_text(array)
  local texts = {}
  for d, pitch in ipairs(array.pitches or {}) do texts[d] = lua_text.expression(pitch) end
  return table.concat(texts, ", ")
end

--- Whether arrays that are one have the same rows.
local function agree(twins)
  for array, twin in pairs(twins) do
    if pitches_text(array) ~= pitches_text(twin) then return false end
  end
  return true
end

local function as_flat(node)
  if not node.array or node.array.is_made then return end
  node.array.pitches = nil
  if node.kind == "index" then node.in_rows = nil end
end

--- A length is that of the flat array, which is none of the matrix's.
local function as_matrix(node)
  if node.kind == "length" and node.array.pitches then node.dimension = 0 end
  if not node.in_rows then return end
  node.subscripts, node.in_rows = node.in_rows, nil
  node.checked = polynomials.is_data(node.subscripts[1]) and { true } or nil
  node.is_stored = node.is_stored and (node.checked ~= nil or node.has_default)
end

--- The variables that a tree speaks of, as keys.
local function used_in(tree)
  local is_used = {}
  walk.nodes(tree.body, function(node)
    if node.kind == "name" then is_used[node.variable] = true end
  end)
  return is_used
end

--- Whether a statement gives a local that nothing speaks of a value that cannot fail.
local function is_useless(node, is_used)
  if node.kind ~= "local" or is_used[node.variable] then return false end
  local value = polynomials.of(node.value)
  return value ~= nil and not polynomials.has_data(value)
end

--- Removes locals that were there for places in flat arrays, `local row = (i - 1) * n`, so that loops are nested
-- perfectly; returns whether there were some.
local function remove_useless(nodes, is_used)
  local has_removed = false
  for i = #nodes, 1, -1 do
    for _, body in ipairs(walk.bodies(nodes[i])) do has_removed = remove_useless(body, is_used) or has_removed end
    if is_useless(nodes[i], is_used) then
      table.remove(nodes, i)
      has_removed = true
    end
  end
  return has_removed
end

--- Makes matrices of the arrays of a copied tree, or flat ones where two arrays are one that do not agree; tables that
-- the function makes are matrices in any case, whose length is not known otherwise.
-- @tparam table tree
-- @tparam table twins of arrays that are another one, which
-- @tparam ?boolean is_flat whether to make flat ones
function delinearising.apply(tree, twins, is_flat)
  if is_flat or not agree(twins) then walk.nodes(tree.body, as_flat) end
  local has_rows = false
  for _, list in ipairs { tree.parameters, tree.captures, tree.scratch or {} } do
    for _, variable in ipairs(list) do
      walk.nodes(variable.pitches or {}, as_matrix)
      if variable.pitches then variable.rank, has_rows = 1 + #variable.pitches, true end
    end
  end
  walk.nodes(tree.body, as_matrix)
  while has_rows and remove_useless(tree.body, used_in(tree)) do end -- one may be that of another's value
end

return delinearising
