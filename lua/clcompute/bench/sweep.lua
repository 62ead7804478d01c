-- SPDX-License-Identifier: MIT
--- Every combination of the values of some axes, measured one after the other; what a file already holds
-- is not repeated.
-- @module clcompute.bench.sweep

local Journal = require "clcompute.bench.journal"
local clock = require "clcompute.bench.clock"
local estimate = require "clcompute.bench.estimate"

local sweep = {}

sweep.OPTIONS = { devices = "table", kernels = "table", sizes = "table", groups = "table", axes = "table",
  run = "function", file = "string", limit = "number", work = "function" }

local AXES = { { "device", "devices" }, { "kernel", "kernels" }, { "size", "sizes" }, { "group", "groups" } }

local function axes_of(given)
  local axes = {}
  for _, axis in ipairs(AXES) do
    if given[axis[2]] then axes[#axes + 1] = { axis[1], given[axis[2]] } end
  end
  for i, axis in ipairs(given.axes or {}) do
    if type(axis) ~= "table" or type(axis[1]) ~= "string" or type(axis[2]) ~= "table" then
      error(("sweep: option 'axes': element %d: { name, values } expected"):format(i), 0)
    end
    axes[#axes + 1] = axis
  end
  if #axes == 0 then error("sweep: no axis: give sizes, groups, devices, kernels or axes", 0) end
  return axes
end

--- The cartesian product, the last axis varying first.
local function points_of(axes)
  local points = { {} }
  for _, axis in ipairs(axes) do
    local longer = {}
    for _, point in ipairs(points) do
      for _, value in ipairs(axis[2]) do
        local copy = { [axis[1]] = value }
        for key, other in pairs(point) do copy[key] = other end
        longer[#longer + 1] = copy
      end
    end
    points = longer
  end
  return points
end

--- A value as a file holds it: groups like {16, 16} and devices as text.
local function plain(value)
  if type(value) == "table" then return table.concat(value, "x") end
  if type(value) == "number" or type(value) == "boolean" then return value end
  return tostring(value)
end

local function plain_point(point)
  local params = {}
  for key, value in pairs(point) do params[key] = plain(value) end
  return params
end

--- What tells a point from the others, the same from a file as before it was written.
local function key_of(params, axes)
  local words = {}
  for i, axis in ipairs(axes) do
    local value = params[axis[1]]
    words[i] = type(value) == "number" and ("%.14g"):format(value) or tostring(value)
  end
  return table.concat(words, "\0")
end

local function status_row(status, reason, params, name)
  return { name = name, params = params, date = clock.date(), unit = "s", checked = false, status = status,
    reason = reason }
end

--- The row of a point: run() may decline it or raise, and the candidate may fail.
local function measure_point(given, point, params, measure)
  local ok, candidate, reason = pcall(given.run, point)
  if not ok then
    if tostring(candidate):find "interrupted!$" then error(candidate, 0) end
    return status_row("failed", tostring(candidate), params)
  end
  if candidate == nil then
    return status_row("unsupported", reason or "no candidate for this point", params)
  end
  local row = measure(candidate)
  local all = plain_point(row.params)
  for key, value in pairs(params) do all[key] = value end
  row.params = all
  return row
end

local function done_rows(journal, axes)
  local done = {}
  for _, row in ipairs(journal and journal.rows or {}) do done[key_of(row.params, axes)] = row end
  return done
end

--- Runs it.
-- @tparam table given the checked options
-- @tparam function measure makes a row of a candidate
-- @treturn table rows
function sweep.run(given, measure)
  if not given.run then error("sweep: option 'run': function expected, got nil", 0) end
  local axes = axes_of(given)
  local points, journal = points_of(axes), given.file and Journal.open(given.file)
  local done, rows, start = done_rows(journal, axes), {}, clock.now()
  local left = estimate.new(given.work)
  for i, point in ipairs(points) do
    rows[i] = done[key_of(plain_point(point), axes)]
    left:add(point, rows[i])
  end
  for i, point in ipairs(points) do
    local elapsed, params = clock.now() - start, plain_point(point)
    if not rows[i] and given.limit and elapsed >= given.limit then
      rows[i] = status_row("skipped", ("the limit of %g s was reached"):format(given.limit), params)
    elseif not rows[i] then
      given.progress { done = left.done, total = #points, point = point, elapsed = elapsed,
        remaining = left:seconds() }
      local row = measure_point(given, point, params, measure)
      row.elapsed = clock.now() - start - elapsed
      if journal then journal:append(row) end
      rows[i] = row
      left:finish(point, row)
    end
  end
  given.progress { done = left.done, total = #points, elapsed = clock.now() - start, remaining = 0 }
  return rows
end

return sweep
