-- SPDX-License-Identifier: MIT

--- What each loop of a plan becomes: work-items of a dimension, a loop inside a work-item, on the host or in Lua.
-- @module clcompute.loops.generation.roles

local walk = require "clcompute.loops.tree.walk"

local roles = {}

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

local function name_tiles(tiles, list)
  name_jams(tiles, list)
  for i, node in ipairs(tiles.order) do
    list[node] = ("work-items of dimension %d, in tiles"):format(#tiles.order - i)
  end
end

local name_plan

local PARTS = {
  kernel = function(part, list)
    name_loops({ part.node }, part.is_task and "a loop of one work-item" or "a loop inside a work-item", list)
    if part.tiles then return name_tiles(part.tiles, list) end
    if part.wavefront then list[part.wavefront.follower] = "follows from the wavefront" end
    for _, node in ipairs(part.band) do
      list[node] = part.accumulators and "shared out to work-items"
        or ("work-items of dimension %d"):format(part.mapping[node].dimension)
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
    for node, role in pairs(roles.of(part.few)) do
      if list[node] ~= role then list[node] = list[node] .. ", or " .. role end
    end
  end,
  lua = function(part, list) name_loops(part.nodes, "Lua", list) end,
}

function name_plan(plan, list)
  for _, part in ipairs(plan) do PARTS[part.kind](part, list) end
end

--- The role of each loop, in words.
-- @tparam table plan of `clcompute.loops.generation.nests`
-- @treturn table by `for` node
function roles.of(plan)
  local list = {}
  name_plan(plan, list)
  return list
end

return roles
