-- SPDX-License-Identifier: MIT
--- b:copy_rect, b:read_rect and b:write_rect against loops over lists of all elements.

local cl = require "clcompute"
local helper = require "spec.helper"

local random = math.random

--- A list 1 .. n, and a buffer of it.
local function counting(d, n)
  local list = {}
  for i = 1, n do list[i] = i end
  return list, d:buffer(list, "int")
end

--- The places of a box's elements in a list, in order. box: { first =, row =, slice =, size = { slices, rows, cols } }.
local function places(box)
  local list = {}
  for k = 0, box.size[1] - 1 do
    for j = 0, box.size[2] - 1 do
      for i = 0, box.size[3] - 1 do list[#list + 1] = box.first + k * box.slice + j * box.row + i end
    end
  end
  return list
end

--- A random box of a size, with the options that tell of it, in a list: { buffer's shape or nil, at, pitch, box }.
local function random_place(size)
  local n = #size
  local whole = n == 3 and size or { 1, size[1], size[2] }
  local pad = { random(0, 2), random(0, 2), random(0, 3) }
  local row, rows = whole[3] + pad[3], whole[2] + pad[2]
  if random(2) == 1 then -- by shape
    local shape, at = { whole[1] + pad[1], rows, row }, { random(0, pad[1]), random(0, pad[2]), random(0, pad[3]) }
    local first = 1 + (at[1] * rows + at[2]) * row + at[3]
    local from = 4 - n
    if n == 2 then shape[1], at[1], first = 1, 0, 1 + at[2] * row + at[3] end
    for i = 1, 3 do at[i] = at[i] + 1 end
    return { shape = { table.unpack(shape, from) }, at = { table.unpack(at, from) }, count = shape[1] * rows * row,
      box = { first = first, row = row, slice = rows * row, size = whole } }
  end
  local first = random(1, 9)
  local last = first + (whole[1] - 1) * rows * row + (whole[2] - 1) * row + whole[3] - 1
  return { at = first, pitch = n == 3 and { rows * row, row } or row, count = last + random(0, 2),
    box = { first = first, row = row, slice = rows * row, size = whole } }
end

--- A buffer for such a place, which is a view within a larger one now and then.
local function random_buffer(d, place)
  local before = random(0, 1) * random(1, 7)
  local _, whole = counting(d, place.count + before)
  local line = whole:view(before + 1, place.count + before)
  return line, place.shape and line:reshape(table.unpack(place.shape)) or line
end

helper.describe_each("a rectangle", function(d)
  it("is copied, read and written as by loops, wherever it lies", function()
    for _ = 1, helper.is_simulator(d) and 40 or 150 do
      local size = { random(1, 3), random(1, 4), random(1, 5) }
      if random(2) == 1 then table.remove(size, 1) end
      local a, b = random_place(size), random_place(size)
      local from_line, from = random_buffer(d, a)
      local to_line, to = random_buffer(d, b)
      local source, expected = from_line:read(), to_line:read()
      local sources, targets, values = places(a.box), places(b.box), {}
      for i, at in ipairs(sources) do values[i] = source[at] end
      for i, at in ipairs(targets) do expected[at] = values[i] end
      assert.equal(from, from:copy_rect { to = to, size = size, at = a.at, to_at = b.at, pitch = a.pitch,
        to_pitch = b.pitch })
      assert.same(expected, to_line:read())
      local read = from:read_rect { size = size, at = a.at, pitch = a.pitch }
      assert.same(values, d:buffer(read, "int"):reshape(#values):read())
      for i, at in ipairs(targets) do expected[at] = -values[i] end
      for i in ipairs(values) do values[i] = -values[i] end
      local bytes = string.pack(("i4"):rep(#values), table.unpack(values))
      if random(2) == 1 then
        to:write_rect(bytes, { size = size, at = b.at, pitch = b.pitch })
      else
        to:write_rect(d:buffer(bytes, "int", table.unpack(size)):read(), { at = b.at, pitch = b.pitch })
      end
      assert.same(expected, to_line:read())
    end
  end)

  it("may overlap the one it is copied to", function()
    for _ = 1, helper.is_simulator(d) and 20 or 60 do
      local dims = { random(3, 5), random(3, 6), random(3, 7) }
      local list, line = counting(d, dims[1] * dims[2] * dims[3])
      local size, at, to = {}, {}, {}
      for i, n in ipairs(dims) do
        size[i] = random(1, n - 1)
        at[i], to[i] = random(1, n - size[i] + 1), random(1, n - size[i] + 1)
      end
      local box = { row = dims[3], slice = dims[2] * dims[3], size = size }
      local function first(p) return 1 + ((p[1] - 1) * dims[2] + p[2] - 1) * dims[3] + p[3] - 1 end
      box.first = first(at)
      local values = {}
      for i, place in ipairs(places(box)) do values[i] = list[place] end
      box.first = first(to)
      for i, place in ipairs(places(box)) do list[place] = values[i] end
      local cube = line:reshape(table.unpack(dims))
      cube:copy_rect { to = cube, size = size, at = at, to_at = to }
      assert.same(list, line:read())
    end
  end)

  it("in a line goes on in the next slice, beside or over the one it is copied to", function()
    local list, line = counting(d, 40)
    for _, o in ipairs {
      { size = { 1, 2, 2 }, at = 3, pitch = { 4, 2 }, to_at = 5, to_pitch = { 4, 2 } },
      { size = { 2, 2, 3 }, at = 15, pitch = { 6, 3 }, to_at = 2, to_pitch = { 6, 3 } },
      { size = { 2, 1, 2 }, at = 3, pitch = { 12, 4 }, to_at = 21, to_pitch = { 6, 2 } },
    } do
      local values = {}
      local from = { size = o.size, first = o.at, slice = o.pitch[1], row = o.pitch[2] }
      local to = { size = o.size, first = o.to_at, slice = o.to_pitch[1], row = o.to_pitch[2] }
      for i, place in ipairs(places(from)) do values[i] = list[place] end
      for i, place in ipairs(places(to)) do list[place] = values[i] end
      o.to = line
      line:copy_rect(o)
      assert.same(list, line:read())
    end
  end)

  it("is what follows 'at' unless its size is given", function()
    local m = d:buffer({ { 1, 2, 3 }, { 4, 5, 6 }, { 7, 8, 9 } }, "int")
    assert.same({ { 5, 6 }, { 8, 9 } }, m:read_rect { at = { 2, 2 } })
    assert.same(m:read(), m:read_rect())
    local n = d:zeros("int", 2, 4)
    m:copy_rect { to = n, at = { 2, 2 }, to_at = { 1, 3 } }
    assert.same({ { 0, 0, 5, 6 }, { 0, 0, 8, 9 } }, n:read())
    n:write_rect({ { 1 }, { 2 } }, { at = { 1, 4 } })
    assert.same({ { 0, 0, 5, 1 }, { 0, 0, 8, 2 } }, n:read())
  end)

  it("without elements moves nothing", function()
    local m = d:zeros("int", 2, 3)
    m:copy_rect { to = m, size = { 0, 3 } }
    m:write_rect("", { size = { 2, 0 } })
    assert.same({ {}, {} }, m:read_rect { size = { 2, 0 } })
    assert.same({}, d:zeros("int", 0):read_rect { size = { 0, 4 }, pitch = 4 })
  end)

  it("of one slice takes any pitch of slices", function()
    local line, slice = d:buffer({ 1, 2, 0, 0, 3, 4 }, "int"), (1 << 62) + 4 -- in bytes more than 64 bits hold
    assert.same({ { { 1, 2 }, { 3, 4 } } }, line:read_rect { size = { 1, 2, 2 }, pitch = { slice, 4 } })
  end)

  it("goes to another device", function()
    for _, other in ipairs(helper.devices()) do
      local m, n = d:buffer({ { 1, 2 }, { 3, 4 } }, "int"), other:zeros("int", 3, 3)
      m:copy_rect { to = n, to_at = { 2, 2 } }
      assert.same({ { 0, 0, 0 }, { 0, 1, 2 }, { 0, 3, 4 } }, n:read())
    end
  end)

  it("waits behind queued commands, in their order", function()
    local m, n = d:zeros("int", 64, 64), d:zeros("int", 64, 64)
    for i = 1, 200 do
      m:write_rect({ { i, i }, { i, i } }, { at = { 3, 3 } })
      m:copy_rect { to = n, size = { 2, 2 }, at = { 3, 3 }, to_at = { 5, 1 + i % 60 } }
    end
    assert.same({ { 199, 200, 200, 142 } }, { n:read_rect { size = { 1, 4 }, at = { 5, 20 } }[1] })
  end)

  it("is counted by cl.profile", function()
    local m = d:zeros("float", 8, 8)
    cl.profile(true)
    m:copy_rect { to = m, size = { 2, 2 }, to_at = { 4, 4 } }
    m:write_rect({ { 1, 2 }, { 3, 4 } })
    m:read_rect { size = { 2, 8 } }
    d:wait()
    local seen = {}
    for _, row in ipairs(cl.profile()) do if row.place == d.place then seen[row.kind] = row.bytes end end
    cl.profile(false)
    assert.same({ copy = 16, write = 16, read = 64 }, seen)
  end)
end)

describe("a wrong rectangle", function()
  local d = helper.device()
  local m, line = d:zeros("int", 4, 5), d:zeros("int", 20)

  it("says what is wrong", function()
    for _, case in ipairs {
      { "table expected, got nil", m.copy_rect, m },
      { "option 'to': buffer expected, got nil", m.copy_rect, m, {} },
      { "option 'to': int buffer expected, got float", m.copy_rect, m, { to = d:zeros("float", 4, 5) } },
      { "no option 'from'; there are to, size", m.copy_rect, m, { from = m } },
      { "option 'at': a size of 3 from 3 on is outside 1 .. 4 along dimension 1", m.read_rect, m,
        { at = { 3, 1 }, size = { 3, 1 } } },
      { "option 'to_at': a size of 4 from 2 on is outside 1 .. 4 along dimension 1", m.copy_rect, m,
        { to = m, to_at = { 2, 1 } } },
      { "option 'at': a size of 5 from 9 on is outside 1 .. 5 along dimension 2", m.read_rect, m, { at = { 1, 9 } } },
      { "option 'at': list of 2 integers expected", m.read_rect, m, { at = { 1 } } },
      { "option 'at': integer of at least 1 expected, got 0", m.read_rect, m, { at = { 1, 0 } } },
      { "option 'at': integer of at least 1 expected, got 1.5", m.read_rect, m, { at = { 1, 1.5 } } },
      { "option 'at': integer of at least 1 expected, got 1", m.read_rect, m, { at = { 1, "1" } } },
      { "option 'size': list of 2 or 3 integers expected", m.read_rect, m, { size = 4 } },
      { "option 'size': integer of at least 0 expected, got -1", m.read_rect, m, { size = { 1, -1 } } },
      { "option 'size': a buffer of 1 dimension needs it", line.read_rect, line, { pitch = 5 } },
      { "option 'pitch': it is for a buffer of one dimension; this one is 4x5", m.read_rect, m, { pitch = 5 } },
      { "option 'pitch': a buffer of one dimension needs it", line.read_rect, line, { size = { 2, 2 } } },
      { "option 'pitch': rows of 3 elements do not fit in 2", line.read_rect, line, { size = { 2, 3 }, pitch = 2 } },
      { "option 'pitch': 6 from slice to slice is no multiple of 4 that holds 2 rows", line.read_rect, line,
        { size = { 2, 2, 3 }, pitch = { 6, 4 } } },
      { "option 'pitch': 4 from slice to slice is no multiple of 4 that holds 2 rows", line.read_rect, line,
        { size = { 2, 2, 3 }, pitch = { 4, 4 } } },
      { "option 'at': 3x5 elements from 7 on do not fit in 20", line.read_rect, line,
        { size = { 3, 5 }, at = 7, pitch = 5 } },
      { "do not fit in 20", line.read_rect, line, { size = { 1 << 62, 4 }, pitch = 4 } },
      { "do not fit in 20", line.read_rect, line, { size = { 2, 1 << 62 }, pitch = 1 << 62 } },
      { "is outside 1 .. 4", m.read_rect, m, { size = { math.maxinteger, 2 }, at = { 2, 1 } } },
      { "a rectangle of 3 dimensions is none of a buffer of 2 (4x5); reshape it", m.read_rect, m,
        { size = { 1, 2, 2 } } },
      { "table or string expected, got nil", m.write_rect, m },
      { "tables nested 2 or 3 deep expected, got 1", m.write_rect, m, { 1, 2 } },
      { "option 'size': a table brings its own", m.write_rect, m, { { 1 } }, { size = { 1, 1 } } },
      { "[1][2]: 1.5 has no integer value", m.write_rect, m, { { 1, 1.5 } } },
      { "4x5 int elements are 80 bytes, got 4", m.write_rect, m, "abcd" },
    } do helper.raises(table.unpack(case, 1, 5)) end
    local c = d:zeros("int", 2, 2)
    c:release()
    helper.raises("option 'to': buffer expected, got userdata", m.copy_rect, m, { to = c })
  end)
end)
