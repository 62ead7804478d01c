-- SPDX-License-Identifier: MIT

--- Sections of experiments: rows with the columns that tell them apart and a line chart of one quantity over another.
-- @module clcompute.device_profile.figure

local format = require("clcompute.base").format

local figure = {}

local STEADY = 1.25 -- times, within a plateau: if it varies by more, that is told

--- What is said of a curve that lost too many of its points.
figure.TOO_FEW = "Too few points could be measured to say anything."

--- A time as it is told in words: "78.9 µs".
function figure.seconds(value)
  return format.engineering(value, "s")
end

--- Work-items as they are told in words: "16384 work-items in groups of 256".
function figure.items(items, group)
  return ("%d work-items in groups of %d"):format(items, group)
end

--- A plateau's value in words: "238 GB/s", or "238 GB/s (111 GB/s to 284 GB/s)" where it is no level stretch.
-- @number value
-- @tparam ?number low the least
-- @tparam ?number high the most
-- @tparam string unit
-- @treturn string
function figure.level(value, low, high, unit)
  local text = format.engineering(value, unit)
  if not low or high < STEADY * low then return text end
  return ("%s (%s to %s)"):format(text, format.engineering(low, unit), format.engineering(high, unit))
end

--- A section with a line chart.
-- @tparam table given `title`; `how` its rows were measured, in a sentence or two; `rows`; `x` and `y`,
--  fields; `xtitle`, `ytitle`, `yunit`, `format` of the column y; `series`, a field, and its title
--  `series_title`; `xlog`, `ylog`; `hollow`, a field true in rows that were not measured; `reading`
-- @treturn table
function figure.lines(given)
  local y = given.y or "value"
  local columns = { { key = given.x, title = given.xtitle } }
  if given.series then table.insert(columns, 1, { key = given.series, title = given.series_title or "" }) end
  columns[#columns + 1] = { key = "value", title = "median" }
  columns[#columns + 1] = { key = { "q1", "q3" }, title = "quartiles" }
  if y ~= "value" then
    columns[#columns + 1] = { key = y, title = given.ytitle, unit = given.yunit, format = given.format }
  end
  return {
    title = given.title, how = given.how, rows = given.rows, columns = columns, reading = given.reading,
    chart = { kind = "line", x = given.x, y = y, series = given.series, xlog = given.xlog, ylog = given.ylog,
      xtitle = given.xtitle, ytitle = given.ytitle, yunit = given.yunit, hollow = given.hollow },
  }
end

return figure
