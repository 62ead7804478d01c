-- SPDX-License-Identifier: MIT

--- What the compiler found and chose, in words.
-- @module clcompute.loops.explain

local arithmetic = require "clcompute.loops.arithmetic"
local dependences = require "clcompute.loops.analysis.dependences"
local explain_call = require "clcompute.loops.explain_call"
local local_slices = require "clcompute.loops.generation.local_slices"
local presumption = require "clcompute.loops.runtime.presumption"
local reductions = require "clcompute.loops.analysis.reductions"
local roles = require "clcompute.loops.generation.roles"
local static_copies = require "clcompute.loops.analysis.static_copies"
local wavefront = require "clcompute.loops.generation.wavefront"

local explain = {}

local MOST_REASONS = 3 -- of a loop

local function add(lines, text, ...)
  lines[#lines + 1] = text:format(...)
end

local function names(variables)
  local list = {}
  for i, variable in ipairs(variables) do list[i] = variable.name end
  return list
end

local function names_of(variables)
  return #variables > 0 and table.concat(names(variables), ", ") or "nothing"
end

-- --- loops --------------------------------------------------------------------------------

-- Where a loop that is a reduction runs.
local PLACES = {
  shared = "shared out",
  ["work-item"] = "sequential in a work-item, as loops around are shared out",
  either = "sequential in a work-item, or shared out where the loop around has few passes",
}

local function explain_loop(spec, node, role, lines)
  local place = ("%4d: %sfor %s"):format(node.line, ("  "):rep(#node.variable.loops), node.variable.name)
  if node.parallel then
    return add(lines, "  %-20s parallel%s -> %s", place, node.obstacle and ", but no kernel: " .. node.obstacle or "",
      role)
  end
  if node.reductions then
    return add(lines, "  %-20s reduction: %s; %s", place, reductions.describe(spec.scop, node.reductions),
      node.obstacle and "no kernel: " .. node.obstacle or PLACES[node.place]
        or "sequential, as loops in it are parallel")
  end
  local reasons = {}
  for i, dependence in ipairs(node.carried) do
    if i <= MOST_REASONS then reasons[i] = dependences.describe(spec.scop, dependence) end
  end
  if #node.carried > MOST_REASONS then reasons[#reasons + 1] = ("%d more"):format(#node.carried - MOST_REASONS) end
  if #reasons == 0 then reasons[1] = spec.given_up or "not analysed" end
  add(lines, "  %-20s sequential: %s%s -> %s", place, table.concat(reasons, "; "), node.is_moved and "; moved inwards"
    or "", role)
end

-- --- plan ---------------------------------------------------------------------------------

--- The loops of a band by dimension, dimension 0 first: "(j, i)".
local function range_of(kernel)
  local dimensions = {}
  for i, node in ipairs(kernel.tiles and kernel.tiles.order or kernel.band) do
    local d = kernel.tiles and #kernel.tiles.order + 1 - i or kernel.mapping[node].dimension + 1
    dimensions[d] = (dimensions[d] and dimensions[d] .. " * " or "") .. node.variable.name
  end
  return table.concat(dimensions, ", ")
end

--- Which arrays need not be copied in; a nest that reads what it writes mostly needs what was there before.
local function copies_of(kernel)
  local text, is_read = "", {}
  for _, array in ipairs(kernel.reads) do is_read[array] = true end
  for _, array in ipairs(kernel.writes) do
    local needed = kernel.needed[array]
    if not needed or needed ~= true and not is_read[array] then
      text = ("%s; %s is not copied in%s"):format(text, array.name, needed and " if all of it is written" or "")
    end
  end
  return text
end

--- What a nest writes, and of which of it data decide whether it does.
local function writes_of(kernel)
  local list = names(kernel.writes)
  for i, array in ipairs(kernel.writes) do
    if kernel.undecided[array] then list[i] = list[i] .. " where data say so" end
  end
  return table.concat(list, ", ")
end

-- What is special about tiles, by their class.
local TILES = { flat = "", loops = "", sunk = ", the first innermost", registers = ", sums in registers",
  wide = ", sums in registers", rows = ", sums of rows side by side" }

--- What is special about a nest in tiles, as words.
local function tiles_of(tiles)
  local slices = tiles.slices and ", in local memory " .. local_slices.describe(tiles.slices, tiles.registers)
  return (" in tiles%s%s"):format(TILES[tiles.class], slices or "")
end

local function way_of(kernel)
  if kernel.is_task then return "one work-item" end
  if kernel.accumulators then return ("reduces, work-items share (%s)"):format(range_of(kernel)) end
  if kernel.wavefront then
    return ("in wavefronts %s, work-items (%s)"):format(wavefront.sum(kernel.wavefront), range_of(kernel))
  end
  return ("work-items (%s)%s"):format(range_of(kernel), kernel.tiles and tiles_of(kernel.tiles) or "")
end

local function rounds_of(round)
  if round.is_front then return "; in rounds of several passes: the rows they name, then all others" end
  return ("; in rounds of several passes: pieces that shrink by %d at both ends in each%s"):format(round.slope,
    round.slope > 0 and ", then the gaps" or "")
end

local explain_plan

local PARTS = {
  kernel = function(part, indent, lines)
    add(lines, "%s%s, line %d: %s; reads %s, writes %s%s", indent, part.name, part.node.line, way_of(part),
      names_of(part.reads), #part.writes > 0 and writes_of(part) or "nothing", copies_of(part))
  end,
  loop = function(part, indent, lines)
    add(lines, "%sloop on the host over %s, line %d%s", indent, part.node.variable.name, part.node.line,
      part.round and rounds_of(part.round) or "")
    explain_plan(part.body, indent .. "  ", lines)
  end,
  ["if"] = function(part, indent, lines)
    add(lines, "%s`if` on the host, line %d: reads %s", indent, part.node.line, names_of(part.reads))
    for i, arm in ipairs(part.arms) do
      if i > 1 then add(lines, "%selseif, line %d", indent, arm.condition.line) end
      explain_plan(arm.body, indent .. "  ", lines)
    end
    if not part.otherwise then return end
    add(lines, "%selse", indent)
    explain_plan(part.otherwise, indent .. "  ", lines)
  end,
  either = function(part, indent, lines)
    explain_plan(part.many, indent, lines)
    add(lines, "%sor, where %s:", indent, part.words)
    explain_plan(part.few, indent .. "  ", lines)
  end,
  lua = function(part, indent, lines)
    add(lines, "%sLua, from line %d: reads %s, writes %s", indent, part.nodes[1].line, names_of(part.reads),
      names_of(part.writes))
  end,
}

function explain_plan(plan, indent, lines)
  for _, part in ipairs(plan) do PARTS[part.kind](part, indent, lines) end
end

-- --- copies -------------------------------------------------------------------------------

local NOWHERE = {}

local program_of

local function block_of(part, line, is_kernel)
  return { kind = "block", on = is_kernel and "device" or "host", reads = names(part.reads),
    writes = names(part.writes), name = part.name or ("line %d"):format(line) }
end

local OPERATORS = {
  loop = function(part, on_device, operators)
    operators[#operators + 1] = { kind = "loop", body = program_of(part.body, on_device),
      name = ("over %s, line %d"):format(part.node.variable.name, part.node.line) }
  end,
  kernel = function(part, on_device, operators)
    operators[#operators + 1] = block_of(part, part.node.line, on_device == NOWHERE or on_device[part.index])
  end,
  -- The paper has no conditions: what may not run is a loop that may run no time.
  ["if"] = function(part, on_device, operators)
    operators[#operators + 1] = block_of(part, part.node.line, false)
    local bodies = {}
    for i, arm in ipairs(part.arms) do bodies[i] = arm.body end
    bodies[#bodies + 1] = part.otherwise
    for _, body in ipairs(bodies) do
      operators[#operators + 1] = { kind = "loop", body = program_of(body, on_device),
        name = ("of at most one pass, `if` of line %d"):format(part.node.line) }
    end
  end,
  either = function(part, on_device, operators)
    for _, body in ipairs { part.many, part.few } do
      operators[#operators + 1] = { kind = "loop", body = program_of(body, on_device),
        name = ("of at most one pass, line %d"):format(part.node.line) }
    end
  end,
  lua = function(part, _, operators) operators[#operators + 1] = block_of(part, part.nodes[1].line, false) end,
}

--- A plan as the program of loops and blocks that `clcompute.loops.analysis.static_copies` takes.
function program_of(plan, on_device)
  local operators = {}
  for _, part in ipairs(plan) do OPERATORS[part.kind](part, on_device, operators) end
  return operators
end

--- Where the paper's algorithm, which knows nothing of a call but its verdict, would copy.
local function explain_copies(spec, latest, lines)
  if #spec.plan.kernels == 0 then return end
  local program = program_of(spec.plan, latest and latest.verdict.on_device or NOWHERE)
  add(lines, "copies if all arrays are tables, as Belevantsev et al. 2012 place them (a call makes no more):")
  for line in static_copies.show(static_copies.place(program, { initial = "host" })):gmatch "[^\n]+" do
    if not line:find "^%s*%-%-" then add(lines, "  %s", line) end
  end
end

-- --- the latest call ----------------------------------------------------------------------

local function explain_counters(counters, lines)
  add(lines, "until now: %d launches, %d uploads of %d bytes, %d downloads of %d bytes", counters.launches,
    counters.uploads, counters.bytes_up, counters.downloads, counters.bytes_down)
end

-- --- all ----------------------------------------------------------------------------------

--- What is presumed before the first call.
local function presumed(state)
  state.presumed = state.presumed or presumption.of(state)
  return state.presumed.spec
end

--- The specialisation of the latest call, or what one on tables would have.
function explain.specialisation(state)
  return state.latest and state.latest.spec or presumed(state)
end

local function kinds_of(state, spec)
  local texts = {}
  for i, variable in ipairs(state.variables) do
    local own = spec.own[variable]
    local kind = own.type or "unused"
    if own.role == "array" then
      kind = ("%s of %s, rank %d"):format(own.is_buffer and "buffer" or "table", own.element or "?", own.rank)
    end
    texts[i] = ("%s: %s"):format(own.name, kind)
  end
  return table.concat(texts, "; ")
end

local function add_loops(state, spec, lines)
  add(lines, "%s of %s", state.name, state.tree.origin.file)
  add(lines, "for %s%s", kinds_of(state, spec), state.latest and "" or " (presumed: it was not called yet)")
  add(lines, "loops:")
  local role_of = roles.of(spec.plan)
  for _, node in ipairs(spec.scop.loops) do explain_loop(spec, node, role_of[node], lines) end
  if spec.given_up then add(lines, "  %s", spec.given_up) end
  add(lines, "plan:")
  explain_plan(spec.plan, "  ", lines)
end

--- What the loops are, and what is made of them: the part of the explanation that no call changes.
-- @tparam table state of `clcompute.loops`
-- @treturn string
function explain.loops(state)
  local lines = {}
  add_loops(state, explain.specialisation(state), lines)
  return table.concat(lines, "\n")
end

--- Where the nests of the latest call ran, and why.
-- @tparam table state of `clcompute.loops`, of a function that was called
-- @treturn string
function explain.latest(state)
  local lines = {}
  explain_call.add(state.latest, lines)
  return table.concat(lines, "\n")
end

--- The explanation.
-- @tparam table state of `clcompute.loops`
-- @treturn string
function explain.text(state)
  local spec, latest, lines = explain.specialisation(state), state.latest, {}
  add_loops(state, spec, lines)
  explain_copies(spec, latest, lines)
  arithmetic.explain(spec, state.options.mode, lines)
  if latest then
    add(lines, "the latest call, on %s:", latest.place.name)
    explain_call.add(latest, lines)
    explain_counters(state.counters, lines)
  end
  return table.concat(lines, "\n")
end

return explain
