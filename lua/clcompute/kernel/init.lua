-- SPDX-License-Identifier: MIT

--- What each work-item of a range is told of its place: the rows of cl.trace_range.

local arity = require("clcompute.base").arity
local columns = require("clcompute.base").columns
local find_device = require "clcompute.core".device
local internal = require "clcompute.core.internal"
local options = require("clcompute.base").options
local places = require("clcompute.base").places

-- --- the rows as text ------------------------------------------------------------------

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

-- --- the rows ----------------------------------------------------------------------------

local LIMIT = 16384 -- rows

-- What a record of kernels/trace_range.cl holds: these, along three dimensions each, then the linear ids.
local ALONG = { "global_id", "local_id", "group_id", "num_groups", "local_size", "enqueued_local_size", "global_size",
  "global_offset" }
local RECORD = 3 * #ALONG + 2

local OPTIONS = { device = "Device", each = "string" }
local EACH = { item = true, group = true }

local function product(sizes)
  local n = 1
  for _, size in ipairs(sizes) do n = n * size end
  return n
end

-- --- launching -----------------------------------------------------------------------

local RANGE, DEVICE = "bad argument #1 to 'trace_range'", "trace_range: option 'device'"

--- Calls a function of the core; what it raises does not name this file as the place. `subject`: what its first
-- argument is to the script.
local function call(subject, f, ...)
  local results = table.pack(pcall(f, ...))
  local message = results[2]
  if results[1] then return table.unpack(results, 2, results.n) end
  if type(message) == "string" then message = message:gsub("^bad argument #1 to '[^']*'", subject) end
  error(message, 0)
end

--- How many records a launch writes; where the driver chooses the group, as many as there can be.
local function records_of(part, is_by_group)
  if not is_by_group then return product(part.global) end
  if part.group == "driver" then return math.min(product(part.global), LIMIT) end
  local groups = {}
  for d, size in ipairs(part.global) do groups[d] = -(-size // part.group[d]) end
  return product(groups)
end

local function check_number(number, is_by_group)
  if number <= LIMIT then return end
  local advice = is_by_group and "take a smaller range or larger groups"
    or 'take a smaller range, or each="group" for a row of each work-group'
  error(("trace_range: %d work-%s are more than the %d rows of a trace; %s"):format(number,
    is_by_group and "groups" or "items", LIMIT, advice), 0)
end

--- The kernel, built as a launch with groups of different sizes needs it.
local function native_kernel(device, defines)
  local standard = tonumber(device.version:match "OpenCL (%d)") >= 3 and "CL3.0" or "CL2.0"
  local program = call(DEVICE, device.program, device, { file = internal.kernel_folder .. "/trace_range.cl" },
    { defines = defines, options = "-cl-std=" .. standard })
  return program:kernel "trace_range"
end

--- Launches the parts, of which each writes so many records as wanted; returns the numbers of all records and counts.
local function launch(device, kernel, range, parts, wanted, capacity)
  local records, counts = device:zeros("ulong", capacity * RECORD), device:zeros("uint", capacity * 2)
  local ends, first = { 1, 1, 1 }, 0
  for d, size in ipairs(range.global) do ends[d] = range.offset[d] + size end
  for p, part in ipairs(parts) do
    call(DEVICE, kernel, part, first, capacity, ends[1], ends[2], ends[3], records, counts)
    first = first + wanted[p]
  end
  local numbers, seen = records:read(), counts:read()
  records:release()
  counts:release()
  return numbers, seen
end

-- --- rows ------------------------------------------------------------------------------

--- The record whose numbers begin behind `at`.
local function read_record(numbers, at, dims)
  local row = {}
  for k, name in ipairs(ALONG) do
    local place = {}
    for d = 1, dims do place[d] = numbers[at + 3 * (k - 1) + d] end
    row[name] = place
  end
  row.global_linear_id, row.local_linear_id = numbers[at + RECORD - 1], numbers[at + RECORD]
  return row
end

--- What only a work-item has gives way to what a group has.
local function to_group(row, items, active_items)
  row.first_id, row.items, row.active_items = row.global_id, items, active_items
  row.global_id, row.local_id, row.global_linear_id, row.local_linear_id = nil, nil, nil, nil
end

--- By place, dimension 0 first.
local function in_order(a, b)
  local p, q = a.global_id or a.first_id, b.global_id or b.first_id
  for d = #p, 2, -1 do
    if p[d] ~= q[d] then return p[d] < q[d] end
  end
  return p[1] < q[1]
end

local function make_rows(wanted, dims, is_by_group, numbers, seen)
  local rows, number = {}, 0
  for p, count in ipairs(wanted) do
    for _ = 1, count do
      local row = read_record(numbers, number * RECORD, dims)
      local items, active = seen[2 * number + 1], seen[2 * number + 2]
      row.part = p
      if is_by_group then to_group(row, items, active) else row.active = active == 1 end
      rows[#rows + 1] = row
      number = number + 1
    end
  end
  table.sort(rows, in_order)
  return setmetatable(rows, Trace)
end

local function trace(given, range)
  local o = options.check("trace_range", given or {}, OPTIONS)
  options.one_of("trace_range", o, "each", EACH)
  local device, is_by_group = o.device or call(DEVICE, find_device), o.each == "group"
  local defines = { GROUPS = is_by_group and 1 or 0 }
  local kernel = call(DEVICE, device.kernel, device, "trace_range", { defines = defines })
  local asked, parts = call(RANGE, internal.plan_range, range, kernel)
  if #parts == 0 then return setmetatable({}, Trace) end
  local wanted, capacity = {}, 0
  for p, part in ipairs(parts) do
    wanted[p] = records_of(part, is_by_group)
    capacity = capacity + wanted[p]
  end
  check_number(capacity, is_by_group)
  if parts[1].remainder == "native" then kernel = native_kernel(device, defines) end
  local numbers, seen = launch(device, kernel, asked, parts, wanted, capacity)
  if is_by_group and parts[1].group == "driver" then
    wanted[1] = product(read_record(numbers, 0, 3).num_groups)
    check_number(wanted[1], true)
  end
  return make_rows(wanted, #asked.global, is_by_group, numbers, seen)
end

local function trace_range(range, given)
  local ok, result = pcall(trace, given, range)
  if ok then return result end
  error(result, 2)
end

return arity.functions { trace_range = trace_range }
