-- SPDX-License-Identifier: MIT

--- Sequential loops several passes of which may go in two launches, a round, in place of a launch for each nest and
-- pass. What is computed lies along a line, by one subscript of what is written; a round goes over pieces of the
-- line, each for all of its passes, and what it touches stays in the cache meanwhile.
--
-- Two shapes of pieces are tried, both known from the literature; isl proves for each loop, and for any number of
-- passes, that no result depends on the new order:
--
-- Trapezoids, for stencils, where each nest reaches neighbours only: pieces that shrink at both ends from nest to nest,
-- so that none needs another one, then the gaps between them, which grow (split tiling, Grosser et al. 2013).
--
-- A front, for eliminations, where all that follows needs the rows of the passes: first the rows up to the last of
-- them, then all others, none of which needs another one of those (the panel and the rest, as in a blocked LU).

local affine = require("clcompute.loops.tree").affine
local bounds = require("clcompute.loops.tree").loop_bounds
local isl_text = require "clcompute.loops.analysis.isl_text"
local scops = require "clcompute.loops.analysis.scop"
local walk = require("clcompute.loops.tree").walk

local round_shapes = {}

local FARTHEST = 4 -- neighbours that a nest may reach
local BUDGET = 1000000 -- isl's operations for a shape
local SYMBOLS = { "first", "passes", "edge", "next_edge" } -- no name of a function's ends like these, without a number

-- --- places on the line ------------------------------------------------------------------------

--- How often a form has a variable; nil where it has quotients.
local function count_of(form, variable)
  local count, has_quotient = 0, false
  affine.each_term(form, function(term)
    if term.variable == variable then count = count + term.coefficient end
    has_quotient = has_quotient or term.quotient
  end)
  return not has_quotient and count or nil
end

--- The loop of a nest by whose variable a form goes on: one that is shared out, alone and in steps of one.
-- @treturn ?table nil: all passes are at one place
-- @treturn boolean whether it is so simple
local function loop_of(form, nest)
  local found, is_simple, is_shared = nil, true, {}
  for _, node in ipairs(nest.order) do is_shared[node] = true end
  walk.node(nest.node, function(node)
    local count = node.kind == "for" and count_of(form, node.variable)
    if node.kind ~= "for" or count == 0 then return end
    is_simple = is_simple and count == 1 and is_shared[node] and node.step == 1 and #form.terms == 1
    found = node
  end)
  return found, is_simple
end

--- Whether a bound of a nest's loops has a quotient of a variable, or is the least or greatest of sums with it: then
-- the first and the last pass do not tell how far the line goes.
local function is_bent(nest, variable)
  local function is_it(term) return term.variable == variable end
  local function bends(term) return term.quotient and affine.has_term(term.quotient, is_it) end
  for _, node in ipairs(nest.band) do
    for _, forms in ipairs { bounds.firsts(node), bounds.lasts(node) } do
      for _, form in ipairs(forms) do
        if affine.has_term(form, #forms > 1 and is_it or bends) then return true end
      end
    end
  end
  return false
end

--- Whether an expression names a local of a nest, which is not known where the nest begins.
local function names_local(node, nest)
  return walk.find({ node }, function(part)
    if part.kind ~= "name" or part.variable.role ~= "local" then return false end
    for _, loop in ipairs(part.variable.loops) do
      if loop == nest.node then return true end
    end
  end) ~= nil
end

--- What of a scop is in a nest, and where on the line a pass of it is: `{ loop=, offset= }`, or `{ form= }` where all
-- passes are at one place. nil where that is not so.
local function place_of(scop, nest, time, at)
  local place = {}
  place.accesses, place.outer = scops.within(scop, nest.node)
  local is_one = not is_bent(nest, time)
  for _, access in ipairs(place.accesses) do
    if access.write and access.is_array then
      local text = access.subscripts[at]
      is_one = is_one and text and (place.text or text) == text
      place.text, place.node = text, access.node.subscripts[at]
    end
  end
  if not place.text or not is_one then return nil end
  local is_simple
  place.form = affine.of(place.node)
  place.loop, is_simple = loop_of(place.form, nest)
  if not place.loop and names_local(place.node, nest) then return nil end
  place.offset, place.text = place.form.constant, isl_text.form(place.form)
  return is_simple and place or nil
end

--- The places of all nests of a loop.
local function places_of(scop, nests, time, at)
  local places = {}
  for i, nest in ipairs(nests) do
    places[i] = place_of(scop, nest, time, at)
    if not places[i] then return nil end
    places[i].position = i
  end
  return places
end

-- --- pairs that may not touch the same ---------------------------------------------------------

--- The places on the line that an access touches, whatever its other subscripts are, and those loops that the one on
-- the line does not speak of: more than it does, but isl has less to look at.
local function on_line(access, at)
  local own, constraints = access.subscripts[at], {}
  if not own then return access end -- of a number or a shorter array, which are at no place
  local function is_elsewhere(text)
    for _, loop in ipairs(access.statement.loops) do
      local name = "%f[%w_]" .. loop.variable.id .. "%f[^%w_]"
      if text:find(name) and not own:find(name) then return true end
    end
  end
  for _, text in ipairs(access.statement.constraints) do
    if not is_elsewhere(text) then constraints[#constraints + 1] = text end
  end
  local statement = setmetatable({ constraints = constraints }, { __index = access.statement })
  return setmetatable({ subscripts = { own }, statement = statement }, { __index = access })
end

local function line_of(access, at)
  access.lines = access.lines or {}
  access.lines[at] = access.lines[at] or on_line(access, at)
  return access.lines[at]
end

--- An access where a formula holds, as isl's text.
local function restricted(shape, access, formula)
  local formulas = { ("first <= %s < first + passes"):format(shape.time), "passes >= 1", formula }
  return isl_text.access(shape.scop, access, shape.outer, formulas, SYMBOLS)
end

--- A text in which the loop that is sequential is in a later pass, or in any other one.
local function at_other_time(shape, text)
  return (text:gsub("%f[%w_]" .. shape.time .. "%f[^%w_]", shape.time .. "_later"))
end

local function restricted_later(shape, access, formula)
  return at_other_time(shape, restricted(shape, access, formula))
end

--- The table that a table has under a key, made where there is none.
local function part_of(list, key)
  list[key] = list[key] or {}
  return list[key]
end

--- Adds a pair of places on the line, and of the elements there, once.
local function add_pair(asked, from, to, when)
  local known = part_of(part_of(part_of(asked.known, when or ""), from.line), to.line)
  if not known.elements then
    known.elements, known.has = {}, {}
    asked.lines[#asked.lines + 1] = { one = from.line, other = to.line, when = when }
    asked.elements[#asked.lines] = known.elements
  end
  local has = part_of(known.has, from.elements)
  if has[to.elements] then return end
  has[to.elements] = true
  table.insert(known.elements, { one = from.elements, other = to.elements, when = when })
end

--- What a function makes of a nest's accesses, on the line and of their elements, where a formula holds.
local function texts_of(shape, place, formula, make)
  local known = shape.loop.texts
  local key = place.position .. " " .. formula
  known[make] = known[make] or {}
  local list = known[make][key] or {}
  known[make][key] = list
  for i = #list + 1, #place.accesses do
    local access = place.accesses[i]
    list[i] = { access = access, line = make(shape, line_of(access, shape.at), formula),
      elements = make(shape, access, formula) }
  end
  return list
end

--- Adds the pairs of accesses of two nests one of which writes, by their texts, in certain passes if `when` is given.
local function add_pairs(asked, list, others, when)
  for _, from in ipairs(list) do
    for _, to in ipairs(others) do
      if from.access.variable == to.access.variable and (from.access.write or to.access.write) then
        add_pair(asked, from, to, when)
      end
    end
  end
end

--- Passes of one nest, and passes that come after them, of a nest that comes behind it or of any other.
local function later(shape, is_behind)
  local time = shape.time
  return ("[%s, %s_later] -> { : %s %s %s_later }"):format(time, time, time, is_behind and "<=" or "<", time)
end

--- The first of some pairs that touches the same, or false; nil where that takes too long to find out.
local function overlap(pairs)
  return require "clcompute.poly".overlap { pairs = pairs, budget = BUDGET }
end

--- Whether no pair touches the same element. Of those alone that meet on the line, of which isl has less to look at,
-- the elements are looked at. Where that takes too long to find out, nothing more is asked of the loop.
local function holds(asked, loop)
  local first, found = 1
  repeat
    local place = overlap(table.move(asked.lines, first, #asked.lines, 1, {}))
    found = place and overlap(asked.elements[first + place - 1])
    if not place then found = place end
    first = first + (place or 0)
  until not place or found ~= false or first > #asked.lines
  loop.is_given_up = found == nil
  return found == false
end

--- Whether no two nests touch the same element, one of both writing; `one` and `other` give formulas of a nest. If they
-- are ordered, only passes of the second that come after the first.
local function are_apart(shape, one, other, is_ordered)
  if shape.loop.is_given_up then return false end
  local asked = { lines = {}, elements = {}, known = {} }
  for _, a in ipairs(shape.places) do
    local list = texts_of(shape, a, one(a), restricted)
    for _, b in ipairs(shape.places) do
      add_pairs(asked, list, texts_of(shape, b, other(b), restricted_later),
        is_ordered and later(shape, a.position < b.position) or nil)
    end
  end
  return holds(asked, shape.loop)
end

-- --- the shapes --------------------------------------------------------------------------------

--- How far a piece has shrunk in a nest.
local function shrunk(shape, place)
  return ("%d * (%s - first) + %d"):format(shape.slope, shape.time, shape.steps[place.position])
end

--- A shape of a loop, of which nothing is asked yet; `slope` and what follows are results of `round_shapes.of`.
local function new_shape(loop, fields)
  fields.loop, loop.texts = loop, loop.texts or {}
  return setmetatable(fields, { __index = loop })
end

--- The shape of pieces that shrink by so much at each end before each nest, the first of them before its next pass; nil
-- where that is not proved.
local function trapezoids_of(loop, reaches)
  local shape = new_shape(loop, { steps = { 0 }, slope = reaches[1] })
  for i = 2, #reaches do
    shape.steps[i] = shape.steps[i - 1] + reaches[i]
    shape.slope = shape.slope + reaches[i]
  end
  local function left(place) return ("%s < edge - (%s)"):format(place.text, shrunk(shape, place)) end
  local function right(place) return ("%s >= edge + %s"):format(place.text, shrunk(shape, place)) end
  local function gap(place)
    return ("edge - (%s) <= %s < edge + %s"):format(shrunk(shape, place), place.text, shrunk(shape, place))
  end
  local function next_gap(place)
    return ("next_edge >= edge + %d * passes and next_edge - (%s) <= %s < next_edge + %s"):format(
      2 * shape.slope, shrunk(shape, place), place.text, shrunk(shape, place))
  end
  return are_apart(shape, left, right) -- pieces are independent,
    and are_apart(shape, gap, next_gap) -- so are gaps,
    and are_apart(shape, gap, left, true) -- and no piece needs a gap
    and are_apart(shape, gap, right, true) and shape or nil
end

--- The last row that the passes of a round name: how far it is from the sequential loop's variable.
local function reach_of(loop)
  local reach
  for _, place in ipairs(loop.places) do
    if not place.loop and count_of(place.form, loop.node.variable) == 1 and #place.form.terms == 1 then
      reach = math.max(reach or place.offset, place.offset)
    end
  end
  return reach or 0
end

--- Whether a nest leaves the rows before the passes alone, as the first launch would do all of that in one work-item.
local function goes_on(place, variable)
  local form = place.loop and affine.of(place.loop.from) or not place.loop and place.form
  return form and (count_of(form, variable) or 0) > 0
end

--- The shape of rows up to the last pass of a round and the rows behind them; nil where that is not proved.
local function front_of(loop)
  for _, place in ipairs(loop.places) do
    if not goes_on(place, loop.node.variable) then return nil end
  end
  local shape = new_shape(loop, { is_front = true, slope = 0, reach = reach_of(loop) })
  local last = ("first + passes + %d"):format(shape.reach - 1)
  local function before(place) return ("%s <= %s"):format(place.text, last) end
  local function behind(place) return ("%s > %s"):format(place.text, last) end
  local function at_edge(place) return ("edge > %s and %s = edge"):format(last, place.text) end
  local function beyond(place) return ("edge > %s and %s > edge"):format(last, place.text) end
  return are_apart(shape, at_edge, beyond) and are_apart(shape, behind, before, true) and shape or nil
end

--- The shape of trapezoids that reach equally far in all nests, as little as can be proved; and how far.
local function equal_trapezoids(loop)
  for reach = 1, FARTHEST do
    local reaches = {}
    for i in ipairs(loop.places) do reaches[i] = reach end
    local shape = trapezoids_of(loop, reaches)
    if shape then return shape, reaches end
  end
end

--- The shape of trapezoids that shrink as little as can be proved, or nil.
local function best_trapezoids(loop)
  local best, reaches = equal_trapezoids(loop)
  for i, reach in ipairs(reaches or {}) do
    reaches[i] = 0
    local shape = trapezoids_of(loop, reaches)
    if shape then best = shape else reaches[i] = reach end
  end
  return best
end

--- The shape of a sequential loop's round_shapes.
-- @tparam table scop of `clcompute.loops.analysis.scop`
-- @tparam table node the loop, in steps of one
-- @tparam {table,...} nests of its body: each its `node`, its `band` of parallel loops, and those of them that are
-- shared out in their `order`
-- @tparam integer at which subscript of what is written is on the line
-- @treturn ?table `is_front`; `slope`, by how much trapezoids shrink at each end in a pass, and `steps`, before each of
-- its nests; `reach`, of a front: the last row of a pass is so far beyond its number; `places`, of each nest where on
-- the line a pass is: at the value of `node`, which is that of the variable of `loop` plus `offset`, or the same in all
-- passes. nil where neither shape is proved
function round_shapes.of(scop, node, nests, at)
  local places = places_of(scop, nests, node.variable, at)
  if not places then return nil end
  local loop = { scop = scop, node = node, time = node.variable.id, places = places, at = at,
    outer = places[1].outer }
  return best_trapezoids(loop) or front_of(loop)
end

return round_shapes
