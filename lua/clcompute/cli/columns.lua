-- SPDX-License-Identifier: MIT

--- Rows as text in aligned columns: numbers to the right, all else to the left.
-- @module clcompute.cli.columns

local width = require "clcompute.cli.width"

local columns = {}

local GAP = "  "

--- For each column its width, and whether every value in it is a number.
local function measure(header, rows)
  local widths, numeric = {}, {}
  for i, title in ipairs(header) do
    widths[i], numeric[i] = width.of(title), #rows > 0
    for _, row in ipairs(rows) do
      widths[i] = math.max(widths[i], width.of(tostring(row[i])))
      numeric[i] = numeric[i] and type(row[i]) == "number"
    end
  end
  return widths, numeric
end

--- Aligned text, a line for the header and one for each row.
-- @tparam table header list of titles
-- @tparam table rows list of lists, as long as the header, of values without nil
-- @treturn string without a newline at its end
function columns.format(header, rows)
  local widths, numeric = measure(header, rows)
  local function line(row)
    local cells = {}
    for i = 1, #header do cells[i] = width.pad(tostring(row[i]), widths[i], numeric[i]) end
    return (table.concat(cells, GAP):gsub(" +$", ""))
  end
  local lines = { line(header) }
  for _, row in ipairs(rows) do lines[#lines + 1] = line(row) end
  return table.concat(lines, "\n")
end

return columns
