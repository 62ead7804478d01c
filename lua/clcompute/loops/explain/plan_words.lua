-- SPDX-License-Identifier: MIT

--- A plan in words: what each loop becomes, and what runs where.

local chains = require("clcompute.loops.generation").chains
local dependences = require("clcompute.loops.analysis").dependences
local local_slices = require("clcompute.loops.generation").local_slices
local never = require("clcompute.loops.generation").meetings.NEVER
local plans = require("clcompute.loops.tree").plan
local sharing = require("clcompute.loops.generation").sharing
local walk = require("clcompute.loops.tree").walk
local wavefronts = require("clcompute.loops.analysis").wavefronts

local plan_words = {}

-- --- what loops become ----------------------------------------------------------------------

local function name_loops(nodes, role, list)
  walk.nodes(nodes, function(node)
    if node.kind == "for" then list[node] = role end
  end)
end

--- How many passes of sequential loops are done at a time, or why not several.
local function name_jams(tiles, list)
  for _, jam in ipairs(tiles.jams) do
    for node, role in pairs(list) do
      if node.variable == jam.loop then
        list[node] = jam.obstacle and ("%s, pass by pass: %s"):format(role, jam.obstacle)
          or ("%s, %d passes at a time"):format(role, jam.passes)
      end
    end
  end
end

--- Sums in elements of which data say where they are, in words.
function plan_words.scattered(scop, updates)
  local texts = {}
  for i, update in ipairs(updates) do
    local node = update.node or update
    texts[i] = ("%s (line %d)"):format(dependences.source_of(scop, node.target), node.line)
  end
  return "sums where data say: " .. table.concat(texts, ", ")
end

local function name_pipeline(order, list)
  list[order[1]], list[order[2]] = "blocks of rows, each behind the one before", "tiles of a row"
end

local function name_tiles(tiles, list)
  name_jams(tiles, list)
  for i, node in ipairs(tiles.order) do
    list[node] = ("work-items of dimension %d, in tiles"):format(#tiles.order - i)
  end
end

--- What is to be said of the sums of a loop that work-items share.
local function order_of(loop) return chains.are_in(loop) and ", its sums in Lua's order" or "" end

--- The loops of a task that groups share: all go through those around the parallel ones.
local function name_shared(kernel, list)
  local sharer = kernel.in_group and "work-item" or "group"
  name_loops({ kernel.node }, "a loop of each " .. sharer, list)
  walk.nodes(sharing.apply(plans.statements(kernel), kernel.in_group), function(part)
    if part.kind == "alone" then name_loops(part.body, "a loop of one " .. sharer, list) end
    if part.kind ~= "shared" then return part.kind ~= "alone" end
    name_loops(part.loop.body, "a loop in a " .. sharer, list)
    list[part.loop] = ("shared by %ss"):format(sharer) .. order_of(part.loop)
    return false
  end)
end

local name_plan

local NAMED = {
  kernel = function(part, list)
    name_loops({ part.node }, part.is_task and "a loop of one work-item" or "a loop inside a work-item", list)
    if part.is_shared then name_shared(part, list) end
    if part.instead then
      for node, role in pairs(plan_words.roles(part.instead)) do
        if role ~= list[node] then list[node] = ("%s, or %s"):format(list[node], role) end
      end
    end
    if part.behind then return name_pipeline(part.tiles.order, list) end
    if part.tiles then return name_tiles(part.tiles, list) end
    if part.wavefront then list[part.wavefront.follower] = "follows from the wavefront" end
    for _, node in ipairs(part.band) do
      list[node] = (part.accumulators or part.scattered or part.logged) and "shared out to work-items"
        or ("work-items of dimension %d"):format(part.mapping[node].dimension)
    end
    for _, node in ipairs(part.grouped and part.grouped.loops or {}) do
      list[node] = "a loop inside a work-item, or shared by those of a group" .. order_of(node)
    end
  end,
  loop = function(part, list)
    list[part.node] = "a loop on the host"
    name_plan(part.body, list)
  end,
  ["if"] = function(part, list)
    for _, arm in ipairs(part.arms) do name_plan(arm.body, list) end
    if part.otherwise then name_plan(part.otherwise, list) end
  end,
  either = function(part, list)
    name_plan(part.many, list)
    for node, role in pairs(plan_words.roles(part.few)) do
      if list[node] ~= role then list[node] = list[node] .. ", or " .. role end
    end
  end,
  lua = function(part, list) name_loops(part.nodes, "Lua", list) end,
}

function name_plan(plan, list)
  for _, part in ipairs(plan) do NAMED[part.kind](part, list) end
end

--- The role of each loop, in words.
-- @tparam table plan of `clcompute.loops.generation.partition`
-- @treturn table by `for` node
function plan_words.roles(plan)
  local list = {}
  name_plan(plan, list)
  return list
end

-- --- what runs where ------------------------------------------------------------------------

local function add(lines, text, ...)
  lines[#lines + 1] = text:format(...)
end

--- The names of variables.
function plan_words.names(variables)
  local list = {}
  for i, variable in ipairs(variables) do list[i] = variable.name end
  return list
end

local function names_of(variables)
  return #variables > 0 and table.concat(plan_words.names(variables), ", ") or "nothing"
end

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
  local list = plan_words.names(kernel.writes)
  for i, array in ipairs(kernel.writes) do
    if kernel.undecided[array] then list[i] = list[i] .. " where data say so" end
  end
  return table.concat(list, ", ")
end

-- What is special about tiles, by their class.
local TILES = { flat = "", loops = "", jumps = "", sunk = ", the first innermost", registers = ", sums in registers",
  pipelined = ", whose rows overlap", wide = ", sums in registers", rows = ", sums of rows side by side",
  steps = ", rows side by side", masked = ", passes that end where data say so side by side" }

--- What is special about a nest in tiles, as words.
local function tiles_of(tiles)
  local slices = tiles.slices and ", in local memory " .. local_slices.describe(tiles.slices, tiles.registers)
  return (" in tiles%s%s"):format(TILES[tiles.class], slices or "")
end

local function way_of(kernel)
  if kernel.is_shared then
    if not kernel.in_group then return "one launch, whose groups share the parallel loops" end
    local groups, from = "one group,", kernel.spread or never
    if from < never then groups = ("one group, or all for loops of %d passes and more,"):format(from) end
    return groups .. " whose work-items share the parallel loops" .. (kernel.team and " and sums" or "")
  end
  if kernel.is_task then return "one work-item" end
  if kernel.accumulators then return ("reduces, work-items share (%s)"):format(range_of(kernel)) end
  if kernel.scattered then
    return ("work-items share (%s), sums in copies of %s"):format(range_of(kernel),
      names_of(kernel.scattered.arrays))
  end
  if kernel.logged then
    return ("work-items share (%s), sums of %s by a log, in Lua's order"):format(range_of(kernel),
      names_of(kernel.logged.arrays))
  end
  if kernel.wavefront then
    return ("in wavefronts %s, work-items (%s)"):format(wavefronts.sum(kernel.wavefront), range_of(kernel))
  end
  return ("work-items (%s)%s"):format(range_of(kernel), kernel.tiles and tiles_of(kernel.tiles)
    or kernel.grouped and ", or a work-group for " .. (kernel.grouped.by_rows and "each pass" or "passes side by side")
    or "")
end

local function rounds_of(round)
  local text = "; in rounds of several passes: "
  if round.is_front then
    text = ("%sthe %s they name, then all others"):format(text, round.at == 1 and "rows" or "columns")
  elseif round.slope == 0 then
    text = text .. "pieces that need no other one"
  else
    text = ("%spieces that shrink by %d at both ends in each, then the gaps"):format(text, round.slope)
  end
  return round.in_groups and text .. "; a piece is a work-group's" or text
end

local PARTS = {
  kernel = function(part, indent, lines)
    add(lines, "%s%s, line %d: %s; reads %s, writes %s%s", indent, part.name, part.node.line, way_of(part),
      names_of(part.reads), #part.writes > 0 and writes_of(part) or "nothing", copies_of(part))
    if not part.instead then return end
    add(lines, "%sor, instead of it:", indent)
    plan_words.explain(part.instead, indent .. "  ", lines)
  end,
  loop = function(part, indent, lines)
    add(lines, "%sloop on the host over %s, line %d%s", indent, part.node.word and ("passes of `%s`"):format(
      part.node.word) or part.node.variable.name, part.node.line,
      part.round and rounds_of(part.round) or "")
    plan_words.explain(part.body, indent .. "  ", lines)
  end,
  ["if"] = function(part, indent, lines)
    add(lines, "%s`if` on the host, line %d: reads %s", indent, part.node.line, names_of(part.reads))
    for i, arm in ipairs(part.arms) do
      if i > 1 then add(lines, "%selseif, line %d", indent, arm.condition.line) end
      plan_words.explain(arm.body, indent .. "  ", lines)
    end
    if not part.otherwise then return end
    add(lines, "%selse", indent)
    plan_words.explain(part.otherwise, indent .. "  ", lines)
  end,
  either = function(part, indent, lines)
    plan_words.explain(part.many, indent, lines)
    add(lines, "%sor, where %s:", indent, part.words)
    plan_words.explain(part.few, indent .. "  ", lines)
  end,
  lua = function(part, indent, lines)
    add(lines, "%sLua, from line %d: reads %s, writes %s", indent, part.nodes[1].line, names_of(part.reads),
      names_of(part.writes))
  end,
}

--- Adds a plan's lines.
-- @tparam table plan of `clcompute.loops.generation.partition`
-- @string indent
-- @tparam {string,...} lines
function plan_words.explain(plan, indent, lines)
  for _, part in ipairs(plan) do PARTS[part.kind](part, indent, lines) end
end

return plan_words
