-- SPDX-License-Identifier: MIT

--- Branches that part a wavefront: its work-items go each path one after the other. How far apart two branches must
-- be to cost nothing is the width of the wavefront.

local chain = require "clcompute.device_profile.chain"
local curve = require "clcompute.device_profile.curve"

local GROUP = 256
local PATHS = { 1, 2, 4, 8, 16, 32, 64 }
local BLOCKS = { 1, 2, 4, 8, 16, 32, 64, 128, 256 }
local MOST_STEPS = 1 << 22
local CHECKED = 1024 -- work-items whose results are looked at

-- Two branches cost 2t within a wavefront and t where each wavefront takes one. Times in between are neither: they are
-- noise, or another effect, and no width is read off them.
local APART, TOGETHER = 1.6, 1.25
local LEAST_WIDTH = 4 -- below it a single slow point would pass for a step

--- What a work-item computes, from 0: see kernels/probe_branches.cl.
local function expected(steps, block, paths)
  local results = {}
  for path = 0, paths - 1 do results[path] = chain.after(1664525 + 8 * path, 2 * path + 1, steps) end
  return function(i) return results[i // block % paths](i) end
end

--- A function that tells how to measure so many paths, each for so many neighbours: what the lab's `times` takes; and
-- the steps of a path.
local function points_of(lab, range, out)
  local kernel, count = lab:kernel "probe_branches", math.min(CHECKED, range.global[1])
  local steps = lab:size(4, MOST_STEPS, function(n) kernel(range, n, 1, 1, out) end)
  return function(name, block, paths)
    return {
      name = name, params = { block = block, paths = paths },
      launch = function() return kernel(range, steps, block, paths, out) end,
      check = function() return chain.check(out, count, expected(steps, block, paths)) end,
    }
  end, steps
end

--- Adds to each row how many times as long as one of them it takes.
local function relate(rows, first)
  local base = curve.time(first)
  for _, row in ipairs(rows) do
    local time = curve.time(row)
    if base and time then row.times = time / base end
  end
  return rows
end

local divergence = {}

--- The wavefront's width, from the time over the length of the blocks that branch alike: the first length from which
-- on two branches cost as much as one (the time of the longest), if all shorter ones cost twice as much.
-- @tparam table rows
-- @treturn ?integer nil where the curve has no such step, or misses a point
function divergence.width(rows)
  local points, apart = curve.of(rows, "params.block"), 0
  if #points < #rows then return nil end
  for i, point in ipairs(points) do
    local times = point.y / points[#points].y
    if times >= APART and apart == i - 1 then
      apart = i
    elseif times > TOGETHER then
      return nil
    end
  end
  local first = points[apart + 1]
  return apart < #points - 1 and first.x >= LEAST_WIDTH and first.x or nil -- two points at least are together
end

--- What the driver says of a width that was found; nothing where it prefers no multiple.
local function beside_driver(width, multiple)
  if multiple == width then return ", the multiple that the driver prefers for groups" end
  if multiple > 1 then return (", though the driver prefers groups of a multiple of %d"):format(multiple) end
  return ""
end

--- What the length of blocks says, in words.
-- @tparam table blocks rows over the length of blocks
-- @tparam integer multiple of work-items that the driver prefers; 1: none
-- @treturn table sentences
function divergence.read_blocks(blocks, multiple)
  local width = divergence.width(blocks)
  local points = curve.of(blocks, "params.block")
  if #points < 2 then return { curve.TOO_FEW } end
  if width then
    local across, along = curve.at(points, 1), curve.at(points, width)
    return {
      ("Two branches that alternate from item to item (id %% 2) take %.2f times as long as two that alternate every %d "
        .. "items (id / %d %% 2); from there on longer blocks gain nothing."):format(across / along, width, width),
      ("So a wavefront has %d work-items%s."):format(width, beside_driver(width, multiple)),
    }
  end
  local slowest = curve.highest(points).y / points[#points].y
  if slowest >= APART then
    return { ("Some blocks take up to %.2f times as long as the longest, but not in one step from twice the time to "
      .. "once: no width can be read off."):format(slowest) }
  end
  return { ("No step is visible: the slowest blocks take %.2f times as long as the longest, where branches that are "
    .. "gone one after the other would take twice as long. Work-items share no stream of instructions here, as on a "
    .. "processor that runs one after the other: no wavefront shows."):format(slowest) }
end

--- What the time over the number of paths says, in words.
function divergence.read_paths(rows, width)
  local points = curve.of(rows, "params.paths")
  local one, two, last = curve.at(points, 1), curve.at(points, 2), points[#points]
  if not (one and two) or last.x <= 2 then return { curve.TOO_FEW } end
  local measured = ("Two paths take %.2f times as long as one, %d paths %.1f times."):format(two / one, last.x,
    last.y / one)
  if two / one >= APART then
    local most = width and math.min(width, last.x) or last.x
    return { measured, ("Each path adds its own time: a wavefront goes all that its items need, at most %d here.")
      :format(most) }
  end
  if last.y / one < APART then
    return { measured, "A work-item pays for its own path alone: divergence costs nothing here." }
  end
  return { measured, "That is less than the sum of the paths, so they are not simply gone one after the other; many "
    .. "paths still cost something, as jumps that are foreseen badly and code that leaves the cache do." }
end

local function section(title, how, rows, x, xtitle, ylog, reading)
  return curve.section { title = title, how = how, rows = rows, x = x, xtitle = xtitle, y = "times",
    ytitle = "relative time", format = "%.2f", xlog = 2, ylog = ylog, reading = reading }
end

local function measure(lab)
  local group = math.min(GROUP, lab.device.max_group_size)
  local items = lab:items(group)
  local out <close> = lab.device:empty("uint", items)
  local point, steps = points_of(lab, { global = { items }, group = { group } }, out)
  local paths, blocks = {}, {}
  for i, count in ipairs(PATHS) do paths[i] = point(("%d paths"):format(count), 1, count) end
  for i, length in ipairs(BLOCKS) do blocks[i] = point(("blocks of %d"):format(length), length, 2) end
  paths, blocks = lab:times(paths), lab:times(blocks)
  relate(paths, paths[1])
  relate(blocks, blocks[#blocks])
  local width = divergence.width(blocks)
  local how = ("%s go through a chain of %d dependent steps each, x = a x + b modulo 2^32, with the constants of the "
    .. "branch that an item takes"):format(curve.items_text(items, group), steps)
  return {
    section("where two branches meet", how .. "; so many neighbours take the same of two branches. The relative time "
      .. "is the median beside that of the longest blocks.", blocks, "params.block",
      "neighbours that branch alike", nil, divergence.read_blocks(blocks, lab.device.group_multiple)),
    section("1 to 64 paths", how .. ": one of so many paths, neighbours different ones. The relative time is the "
      .. "median beside that of one path.", paths, "params.paths", "paths, taken by id % paths", 2,
      divergence.read_paths(paths, width)),
  }, { wavefront = width }
end

divergence.name = "divergence"
divergence.title = "Branches in a wavefront"
divergence.teaches = "Where work-items of a wavefront branch differently, the wavefront goes every path, one after the "
  .. "other, with those masked out that are not concerned: two branches of time t cost 2t (source 4, 1.3.2, example 1)."
divergence.measure = measure

return divergence
