-- SPDX-License-Identifier: MIT
--- The fields of rows: nested tables laid flat, and the order in which fields are written.
-- @module clcompute.report.fields

local fields = {}

--- Fields of a measurement in the order of reading; others follow, sorted.
fields.ORDER = {
  "section", "name", "params", "device", "driver", "date", "status", "reason", "value", "unit", "min", "q1", "q3",
  "runs", "cold", "compile", "upload", "kernel", "download", "flops", "bytes", "gflops", "gbs", "peak_share",
  "ratio", "ratio_low", "ratio_high", "agrees", "checked", "max_error",
}

local RANK = {}
for i, name in ipairs(fields.ORDER) do RANK[name] = i end

local function rank(name)
  return RANK[name:match "^[^.]+"] or #fields.ORDER + 1
end

--- A row without nested tables: params.n is the field "params.n".
function fields.flatten(row, into, prefix)
  into = into or {}
  for key, value in pairs(row) do
    local name = (prefix or "") .. tostring(key)
    if type(value) == "table" then
      fields.flatten(value, into, name .. ".")
    elseif type(value) ~= "function" then
      into[name] = value
    end
  end
  return into
end

--- The names in any of the flat rows, in order.
function fields.names(rows)
  local seen, names = {}, {}
  for _, row in ipairs(rows) do
    for name in pairs(row) do
      if not seen[name] then
        seen[name] = true
        names[#names + 1] = name
      end
    end
  end
  table.sort(names, function(a, b)
    local rank_a, rank_b = rank(a), rank(b)
    if rank_a ~= rank_b then return rank_a < rank_b end
    return a < b
  end)
  return names
end

return fields
