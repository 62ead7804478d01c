-- SPDX-License-Identifier: MIT
--- Special points, such as primes: a ring around the marker, or a frame around the cell, with an entry in the legend.
-- @module clcompute.report.marks

local markup = require "clcompute.report.markup"

local marks = {}

local STEP = 3 -- a point may have several marks, one outside the other

--- Rings around a point.
function marks.rings(point, x, y, radius)
  local parts = {}
  for i, index in ipairs(point.marks) do
    parts[i] = markup.element("circle", { class = "mark m" .. index, cx = x + 0.0, cy = y + 0.0,
      r = radius + STEP * i + 0.0 })
  end
  return table.concat(parts)
end

--- Frames within a cell.
function marks.frames(point, x, y, width, height)
  local parts = {}
  for i, index in ipairs(point.marks) do
    local inset = STEP * i - 1.5
    parts[i] = markup.element("rect", { class = "mark m" .. index, x = x + inset, y = y + inset,
      width = math.max(1.0, width - 2 * inset), height = math.max(1.0, height - 2 * inset), rx = 2 })
  end
  return table.concat(parts)
end

--- Items for series.legend of the marks that some point has.
function marks.legend(spec, list)
  local used, items = {}, {}
  for _, point in ipairs(list) do
    for _, index in ipairs(point.marks or {}) do used[index] = true end
  end
  for index, mark in ipairs(spec.marks or {}) do
    if used[index] then
      items[#items + 1] = { name = mark.title or mark.key, draw = function(x, y)
        if spec.kind == "line" then return marks.rings({ marks = { index } }, x, y, 3) end
        return marks.frames({ marks = { index } }, x - 9, y - 9, 18, 18)
      end }
    end
  end
  return items
end

return marks
