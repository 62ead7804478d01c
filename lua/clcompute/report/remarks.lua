-- SPDX-License-Identifier: MIT

--- Cells whose number must not be taken as it stands: how they are marked, and the footnote that says why.
-- @module clcompute.report.remarks

local remarks = {}

-- By the key of a column: which cells, how they are marked, and what stands under the table.
local REMARKS = {
  ratio = {
    applies = function(_, row) return row.agrees == false end,
    mark = function(text) return text .. " ?" end,
    note = "?: the ratio is uncertain: taken three times, it moved by more than 10 %.",
  },
  peak_share = {
    applies = function(value, _, column)
      return column.format == "percent" and type(value) == "number" and value > 1
    end,
    mark = function() return "> 100 %" end,
    note = "> 100 %: faster than the peak that was measured in the same run; part of the data may come from a cache.",
  },
}

--- The remark on the cell of a column with this value.
-- @treturn ?table `mark`, a function from the cell's text to the one to be shown; `note`, the footnote
function remarks.on(column, value, row)
  local remark = REMARKS[column.key]
  return remark and value ~= nil and remark.applies(value, row, column) and remark or nil
end

return remarks
