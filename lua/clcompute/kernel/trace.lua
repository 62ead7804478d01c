-- SPDX-License-Identifier: MIT

--- The rows of clcompute.trace_range as text: their table, and the work-groups by size below it.
-- @module clcompute.kernel.trace

local columns = require("clcompute.base").columns
local places = require("clcompute.base").places

local Trace = {} -- metatable of the rows

local SHOWN = 40 -- rows

--- Whether a column tells something: there are several parts, or work-items outside the range.
local function tells(rows, key)
  if rows[1][key] == nil then return false end
  if key ~= "part" and key ~= "active" then return true end
  for _, row in ipairs(rows) do
    if row[key] ~= (key == "part" and 1 or true) then return true end
  end
  return false
end

local function table_of(rows)
  local header, lines, aligns = {}, {}, {}
  for r = 1, math.min(#rows, SHOWN) do lines[r] = {} end
  for _, field in ipairs(places.FIELDS) do
    local key, title = field[1], field[2]
    if tells(rows, key) then
      header[#header + 1], aligns[#aligns + 1] = title, "right"
      for r, line in ipairs(lines) do line[#line + 1] = places.text(rows[r][key]) end
    end
  end
  return columns.format(header, lines, aligns)
end

--- The work-groups of each part by their size, each { part=, size=, ids= {{[id] = true, ...} along each dimension} }.
local function kinds_of_groups(rows)
  local kinds, found = {}, {}
  for _, row in ipairs(rows) do
    local key = row.part .. ": " .. places.size(row.local_size)
    local kind = found[key]
    if not kind then
      kind = { part = row.part, place = #kinds, size = row.local_size, ids = {} }
      found[key], kinds[#kinds + 1] = kind, kind
      for d = 1, #row.group_id do kind.ids[d] = {} end
    end
    for d, id in ipairs(row.group_id) do kind.ids[d][id] = true end
  end
  table.sort(kinds, function(a, b) return a.part < b.part or a.part == b.part and a.place < b.place end)
  return kinds
end

local function number_of(set)
  local count = 0
  for _ in pairs(set) do count = count + 1 end
  return count
end

--- A line for each kind: "part 2: 50 x 1 groups of 16 x 8".
local function put_groups(rows, lines)
  local has_parts = tells(rows, "part")
  for _, kind in ipairs(kinds_of_groups(rows)) do
    local numbers, is_one = {}, true
    for d, ids in ipairs(kind.ids) do
      numbers[d] = number_of(ids)
      is_one = is_one and numbers[d] == 1
    end
    lines[#lines + 1] = ("%s%s of %s"):format(has_parts and ("part %d: "):format(kind.part) or "",
      is_one and "1 group" or places.size(numbers) .. " groups", places.size(kind.size))
  end
end

--- How many work-items there are, and how many of them the range asked for.
local function count_items(rows)
  local items, active = 0, 0
  for _, row in ipairs(rows) do
    items = items + (row.items or 1)
    active = active + (row.active_items or (row.active and 1 or 0))
  end
  return items, active
end

function Trace.__tostring(rows)
  if #rows == 0 then return "no work-items" end
  local lines = { table_of(rows) }
  if #rows > SHOWN then lines[2] = ("... and %d more rows"):format(#rows - SHOWN) end
  put_groups(rows, lines)
  local items, active = count_items(rows)
  if active < items then
    lines[#lines + 1] = ("%d of %d work-items are outside the range"):format(items - active, items)
  end
  return table.concat(lines, "\n")
end

return Trace
