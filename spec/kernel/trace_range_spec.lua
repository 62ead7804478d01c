-- SPDX-License-Identifier: MIT
local cl = require "clcompute"
local helper = require "spec.helper"

-- --- what the rows must be -----------------------------------------------------------

--- Calls visit(place) for each place of a box of sizes, dimension 0 first.
local function each_place(sizes, visit)
  local n = 1
  for _, size in ipairs(sizes) do n = n * size end
  for i = 0, n - 1 do
    local place, rest = {}, i
    for d, size in ipairs(sizes) do
      place[d] = rest % size
      rest = rest // size
    end
    visit(place)
  end
end

local function map(list, f)
  local made = {}
  for d, value in ipairs(list) do made[d] = f(value, d) end
  return made
end

--- The launches of a range, { global=, group=, offset= }: formulas (6) and (7) of Baranov & Vlatskaya 2013 along each
-- dimension, dimension 0 first.
local function launches(range)
  if range.remainder ~= "split" then
    local is_padded = range.remainder == "pad"
    return { { group = range.group, offset = range.offset, global = map(range.global, function(size, d)
      return is_padded and (size + range.group[d] - 1) // range.group[d] * range.group[d] or size
    end) } }
  end
  local list = {}
  each_place(map(range.global, function() return 2 end), function(second)
    local part = { global = {}, group = {}, offset = {} }
    local is_empty = false
    for d, size in ipairs(range.global) do
      local whole = size // range.group[d] * range.group[d]
      part.global[d] = second[d] == 1 and size - whole or whole
      part.group[d] = second[d] == 1 and size - whole or range.group[d]
      part.offset[d] = range.offset[d] + (second[d] == 1 and whole or 0)
      is_empty = is_empty or part.global[d] == 0
    end
    if not is_empty then list[#list + 1] = part end
  end)
  return list
end

--- A place as a number, dimension 0 fastest.
local function linear(place, sizes)
  local n = 0
  for d = #place, 1, -1 do n = n * sizes[d] + place[d] end
  return n
end

local function is_before(place, last)
  for d, at in ipairs(place) do if at >= last[d] then return false end end
  return true
end

--- `enqueued`: whether the language tells the size of the launch's groups.
local function item_row(part, p, place, last, enqueued)
  local group_id = map(place, function(at, d) return at // part.group[d] end)
  local local_id = map(place, function(at, d) return at % part.group[d] end)
  local local_size = map(group_id, function(at, d)
    return math.min(part.group[d], part.global[d] - at * part.group[d])
  end)
  local global_id = map(place, function(at, d) return at + part.offset[d] end)
  return {
    part = p, global_id = global_id, local_id = local_id, group_id = group_id, local_size = local_size,
    num_groups = map(part.global, function(size, d) return (size + part.group[d] - 1) // part.group[d] end),
    enqueued_local_size = enqueued and part.group or local_size, global_size = part.global,
    global_offset = part.offset, global_linear_id = linear(place, part.global),
    local_linear_id = linear(local_id, local_size), active = is_before(global_id, last),
  }
end

local function expected_items(range)
  local rows = {}
  local last = map(range.global, function(size, d) return size + range.offset[d] end)
  for p, part in ipairs(launches(range)) do
    each_place(part.global, function(place)
      rows[#rows + 1] = item_row(part, p, place, last, range.remainder == "native")
    end)
  end
  local box = { 2 ^ 20 | 0, 2 ^ 20 | 0, 2 ^ 20 | 0 }
  table.sort(rows, function(a, b) return linear(a.global_id, box) < linear(b.global_id, box) end)
  return rows
end

--- The same by groups: counted, not computed.
local function expected_groups(range)
  local rows, found = {}, {}
  for _, item in ipairs(expected_items(range)) do
    local key = item.part .. ":" .. table.concat(item.group_id, ",")
    local row = found[key]
    if not row then
      row = item
      found[key], rows[#rows + 1] = row, row
      row.first_id, row.items, row.active_items = row.global_id, 0, 0
    end
    row.items, row.active_items = row.items + 1, row.active_items + (item.active and 1 or 0)
    item.global_id, item.local_id, item.global_linear_id, item.local_linear_id = nil, nil, nil, nil
  end
  for _, row in ipairs(rows) do row.active = nil end
  return rows
end

local function plain(rows) return table.move(rows, 1, #rows, 1, {}) end

local function random_range(dims, remainder)
  local most = ({ 24, 9, 5 })[dims]
  local range = { global = {}, group = {}, offset = {}, remainder = remainder }
  for d = 1, dims do
    range.global[d], range.group[d] = math.random(1, most), math.random(1, 4)
    range.offset[d] = math.random(0, 1) * math.random(1, 5)
    if not remainder then range.global[d] = range.group[d] * math.random(1, 3) end
  end
  return range
end

local function check(d, range)
  assert.same(expected_items(range), plain(cl.trace_range(range, { device = d })))
  assert.same(expected_groups(range), plain(cl.trace_range(range, { device = d, each = "group" })))
end

-- --- what they are -------------------------------------------------------------------

helper.describe_each("trace_range", function(d)
  for _, remainder in ipairs { "none", "split", "pad" } do
    it("tells what each work-item of random ranges is told, remainder: " .. remainder, function()
      for dims = 1, 3 do
        for _ = 1, 2 do check(d, random_range(dims, remainder ~= "none" and remainder or nil)) end
      end
    end)
  end

  it("shows native remainder work-groups where the device has them, and else says what to do", function()
    check(d, { global = { 8, 6 }, group = { 4, 3 }, offset = { 0, 2 } })
    local rows = cl.trace_range({ global = { 8, 6 }, group = { 4, 3 }, remainder = "native" }, { device = d })
    assert.same({ 48, { 4, 3 } }, { #rows, rows[48].local_size }) -- there is no remainder, so any device takes it
    if d.has_nonuniform_groups then
      for dims = 1, 3 do check(d, random_range(dims, "native")) end
      check(d, { global = { 3, 5 }, group = { 4, 4 }, offset = { 1, 0 }, remainder = "native" })
      check(d, { global = { 3, 5, 5 }, group = { 4, 4, 2 }, offset = { 0, 0, 1 }, remainder = "native" })
    else
      helper.raises({ "groups of different sizes", "global size of 10 in groups of 4", '"split"', '"pad"' },
        cl.trace_range, { global = 10, group = 4, remainder = "native" }, { device = d })
    end
  end)

  it("takes the ranges that kernels take", function()
    for _, range in ipairs { 5, { 5 }, { 4, 3 }, { 2, 3, 2 }, { global = 7, offset = 3 }, { global = { 6, 2 } } } do
      local rows = cl.trace_range(range, { device = d })
      local record = type(range) == "table" and range or { range }
      local global = record.global or record
      global = type(global) == "table" and global or { global }
      local offset = record.offset and { record.offset } or map(global, function() return 0 end)
      assert.same(expected_items { global = global, offset = offset, group = rows[1].local_size }, plain(rows))
    end
    assert.same({}, plain(cl.trace_range(0, { device = d })))
    assert.same({}, plain(cl.trace_range({ 3, 0 }, { device = d, each = "group" })))
  end)

  it("shows the group that the driver chooses", function()
    local rows = cl.trace_range({ global = { 12, 4 }, group = "driver" }, { device = d })
    local range = { global = { 12, 4 }, offset = { 0, 0 }, group = rows[1].local_size }
    assert.same(expected_items(range), plain(rows))
    rows = cl.trace_range({ global = { 12, 4 }, group = "driver" }, { device = d, each = "group" })
    range.group = rows[1].local_size
    assert.same(expected_groups(range), plain(rows))
  end)

  it("shows what a kernel of one's own sees, split too", function()
    local p = d:program [[kernel void k(global int *x, int width) {
      global int *seen = x + 4 * (get_global_id(0) + width * get_global_id(1));
      for (int i = 0; i < 2; i++) {
        seen[i] = get_local_id(i);
        seen[2 + i] = get_local_size(i);
      }
    }]]
    for _, range in ipairs { { global = { 7, 5 }, group = { 4, 2 }, remainder = "split" },
      { global = { 7, 3 }, remainder = "split" } } do
      local x = d:zeros("int", range.global[1] * range.global[2], 4)
      p.k(range, x, range.global[1])
      for i, seen in ipairs(x:read()) do
        local row = cl.trace_range(range, { device = d })[i]
        assert.same(seen, { row.local_id[1], row.local_id[2], row.local_size[1], row.local_size[2] })
      end
    end
  end)

  it("refuses what a launch refuses, and what it does not know", function()
    local function raises(texts, range, options)
      options = options or {}
      if options.device == nil then options.device = d end
      local message = helper.raises(texts, function() cl.trace_range(range, options) end)
      assert.truthy(message:find("kernel/trace_range_spec.lua", 1, true), "it points elsewhere: " .. message)
    end
    raises("bad argument #1 to 'trace_range' (range: n, {nx, ny} or {global=} expected, got nil", nil)
    raises("dimension 0: -1 is outside", -1)
    raises("integer expected, got 0.5", { 4, 0.5 })
    raises("1 to 3 dimensions expected, got 4", { 1, 1, 1, 1 })
    raises("option 'group': dimension 0: 0 is outside", { global = 8, group = 0 })
    raises("option 'group': dimension 1: -4 is outside", { global = { 8, 8 }, group = { 4, -4 } })
    raises("option 'group': dimension 0: integer expected, got 1.5", { global = 8, group = 1.5 })
    raises("no option 'groups'", { global = 8, groups = 4 })
    raises("no 'drop'; there are error, split, pad, native", { global = 8, remainder = "drop" })
    raises({ "no multiple of the group's 4", '"split"', '"pad"' }, { global = 10, group = 4 })
    raises("exceeds this device's", { global = 2 ^ 30 | 0, group = 2 ^ 30 | 0 })
    raises("more than 2^40 work-items", { 2 ^ 31 - 1, 2 ^ 31 - 1 })
    raises({ "16385 work-items are more than the 16384 rows", 'each="group"' }, 16385)
    raises({ "16385 work-groups are more than the 16384 rows", "larger groups" }, { global = 16385, group = 1 },
      { each = "group" })
    raises({ "unknown option 'limit'", "device, each" }, 4, { limit = 5 })
    raises("option 'each': group or item expected, got 'row'", 4, { each = "row" })
    raises("option 'device': Device expected, got string", 4, { device = "cpu" })
    helper.raises("table of options expected, got number", cl.trace_range, 4, 5)
  end)

  it("refuses a device that was closed, and takes a further queue", function()
    local queue = d:queue()
    assert.equal(6, #cl.trace_range({ 3, 2 }, { device = queue }))
    queue:close()
    helper.raises("trace_range: option 'device' (device is released)", cl.trace_range, 4, { device = queue })
  end)
end)

describe("the example of a picture of 800 x 600 in groups of 16 x 16", function()
  local d = helper.device()
  local function trace(remainder)
    return cl.trace_range({ global = { 800, 600 }, group = { 16, 16 }, remainder = remainder },
      { device = d, each = "group" })
  end

  --- How many groups of each size there are, and the work-items in them.
  local function tally(rows)
    local count, items, active = {}, 0, 0
    for _, row in ipairs(rows) do
      local size = table.concat(row.local_size, "x")
      count[size] = (count[size] or 0) + 1
      items, active = items + row.items, active + row.active_items
    end
    return { count, items, active }
  end

  it("has 50 x 37 whole groups and 50 of the remainder, or is padded to 800 x 608", function()
    assert.same({ { ["16x16"] = 50 * 37, ["16x8"] = 50 }, 480000, 480000 }, tally(trace "split"))
    assert.same({ { ["16x16"] = 50 * 38 }, 800 * 608, 480000 }, tally(trace "pad"))
    if d.has_nonuniform_groups then
      assert.same({ { ["16x16"] = 50 * 37, ["16x8"] = 50 }, 480000, 480000 }, tally(trace "native"))
    end
  end)

  it("is told below the first rows of its table", function()
    local text = tostring(trace "split")
    assert.truthy(text:find("\n... and 1860 more rows\npart 1: 50 x 37 groups of 16 x 16\n"
      .. "part 2: 50 x 1 groups of 16 x 8$"), text)
    text = tostring(trace "pad")
    assert.truthy(text:find("\n50 x 38 groups of 16 x 16\n6400 of 486400 work%-items are outside the range$"), text)
  end)
end)

describe("the table of a trace", function()
  local d = helper.device()

  it("shows single numbers in one dimension", function()
    local text = tostring(cl.trace_range({ global = 5, group = 4, remainder = "split", offset = 7 }, { device = d }))
    assert.equal([[
part  global id  local id  group id  groups  local size  enqueued  global size  offset  global linear  local linear
   1          7         0         0       1           4         4            4       7              0             0
   1          8         1         0       1           4         4            4       7              1             1
   1          9         2         0       1           4         4            4       7              2             2
   1         10         3         0       1           4         4            4       7              3             3
   2         11         0         0       1           1         1            1      11              0             0
part 1: 1 group of 4
part 2: 1 group of 1]], text)
  end)

  it("shows pairs in two dimensions, and which work-items were added", function()
    local text = tostring(cl.trace_range({ global = { 2, 1 }, group = { 2, 2 }, remainder = "pad" }, { device = d }))
    assert.equal([[
global id  local id  group id  groups  local size  enqueued  global size  offset  global linear  local linear  active
     0, 0      0, 0      0, 0    1, 1        2, 2      2, 2         2, 2    0, 0              0             0     yes
     1, 0      1, 0      0, 0    1, 1        2, 2      2, 2         2, 2    0, 0              1             1     yes
     0, 1      0, 1      0, 0    1, 1        2, 2      2, 2         2, 2    0, 0              2             2      no
     1, 1      1, 1      0, 0    1, 1        2, 2      2, 2         2, 2    0, 0              3             3      no
1 group of 2 x 2
2 of 4 work-items are outside the range]], text)
  end)

  it("shows groups, and nothing of an empty range", function()
    local text = tostring(cl.trace_range({ global = 4, group = 2 }, { device = d, each = "group" }))
    assert.equal([[
first id  group id  groups  local size  enqueued  global size  offset  items  active items
       0         0       2           2         2            4       0      2             2
       2         1       2           2         2            4       0      2             2
2 groups of 2]], text)
    text = tostring(cl.trace_range({ global = { 22, 2 }, group = { 2, 2 } }, { device = d }))
    assert.truthy(text:find "\n11 x 1 groups of 2 x 2$", text)
    text = tostring(cl.trace_range({ global = 22, group = 2 }, { device = d }))
    assert.truthy(text:find "\n11 groups of 2$", text)
    assert.equal("no work-items", tostring(cl.trace_range(0, { device = d })))
  end)
end)
