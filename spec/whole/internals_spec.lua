-- SPDX-License-Identifier: MIT
--- What the C side refuses of the library's own Lua, and answers to odd questions: a mistake there is an error in
--- words, and no access beyond memory.

local cl = require "clcompute"
local helper = require "spec.helper"
local internal = require "clcompute.core.internal"
local known = require "clcompute.tuning.known"

local d = helper.device()

--- Asserts that each row {message, f, ...} raises.
local function refused(rows)
  for _, row in ipairs(rows) do helper.raises(row[1], table.unpack(row, 2)) end
end

describe("a field that no string names", function()
  it("is none, of every object", function()
    local p = d:program "kernel void f(global int *x) { x[0] = 1; }"
    local objects = { d, p, p.f, p.f(1, d:zeros("int", 1)), d:zeros("int", 1), d:host("int", 1), d:sampler(),
      d:image("r float", 2), d:record(function() end), cl.lu(d:buffer { { 1 } }) }
    for _, object in ipairs(objects) do
      helper.raises("has no field 'table: 0x", function() return object[{}] end)
    end
  end)
end)

describe("panels", function()
  it("refuse buffers without the room that they need", function()
    local x, pivots, diagonal = d:zeros("float", 32, 32), d:zeros("int", 8), d:zeros("float", 8)
    local view = d:zeros("float", 64, 32):view(33, 64)
    refused {
      { "at most as many columns as rows", internal.panel_room, x, 3, 0 },
      { "at most as many columns as rows", internal.panel_room, x, 2, 3 },
      { "no room", internal.panel, d:zeros("float", 1024), 8, 8, pivots, diagonal },
      { "no room", internal.panel, x, 33, 8, pivots, diagonal },
      { "no room", internal.panel, x, 7, 8, pivots, diagonal },
      { "no room", internal.panel, d:zeros("float", 32, 16), 8, 8, pivots, diagonal },
      { "no room", internal.panel, view, 8, 8, pivots, diagonal },
      { "#4", internal.panel, x, 8, 8, d:zeros("float", 8), diagonal },
      { "too few places", internal.panel, x, 9, 9, pivots, d:zeros("float", 9) },
      { "too few places", internal.panel, x, 8, 8, pivots, d:zeros("float", 7) },
      { "no room", internal.substitute, d:zeros("float", 1024), 8, true, false, d:zeros("float", 8, 1) },
      { "no room", internal.substitute, x, 33, true, false, d:zeros("float", 33, 1) },
      { "no room", internal.substitute, d:zeros("float", 32, 16), 8, true, false, d:zeros("float", 8, 1) },
      { "no room", internal.substitute, view, 8, true, false, d:zeros("float", 8, 1) },
      { "n rows expected", internal.substitute, x, 8, true, false, d:zeros("float", 8) },
      { "n rows expected", internal.substitute, x, 8, true, false, d:zeros("float", 9, 1) },
      { "n rows expected", internal.substitute, x, 8, true, false, d:zeros("float", 16, 1):view(9, 16) },
    }
  end)

  it("have rows of their own where the numbers of the device say so alone", function()
    local rows, q = known.lu, d:queue()
    known.lu = { { where = {}, vector = 1, group = 64, columns = 8, block = 32, large = 0, few = 8, rows = 32,
      warp = 1 } }
    cl.lu(q:buffer { { 1 } }):release() -- asks for them
    known.lu = rows
    local function has(...) return internal.has_panel_rows(q:zeros("float", 1), ...) end
    assert.same({ true, false, false, false, false },
      { has(32, 4), has(31, 4), has(32, 0), has(32, 3), internal.has_panel_rows(d:zeros("double", 1), 32, 4) })
    refused {
      { "has_panel_rows says no", internal.panel_rows, q:zeros("float", 2048) },
      { "has_panel_rows says no", internal.panel_rows, d:zeros("double", 32, 36) },
      { "has_panel_rows says no", internal.panel_rows, q:zeros("float", 31, 36) },
      { "has_panel_rows says no", internal.panel_rows, q:zeros("float", 32, 32) },
      { "has_panel_rows says no", internal.panel_rows, q:zeros("float", 32, 35) },
      { "has_panel_rows says no", internal.panel_rows, q:zeros("float", 64, 36):view(33, 64) },
    }
    q:close()
  end)
end)

describe("what is queued for operations", function()
  it("has work-items, and the arguments that its kernel takes", function()
    local enqueue = internal.enqueue
    local p = d:program [[
      kernel void f(global int *x, ulong offset, int n) { x[offset] = n; }
      typedef struct { int a; } part;
      kernel void packed_struct(const part v) { }
      kernel void sampled(sampler_t s) { }
      kernel void two(int a, int b) { }
      kernel void wide(int2 v) { }]]
    local x = d:zeros("int", 2)
    refused {
      { "at least one element", enqueue.take, d, "spec", "int", 0 },
      { "at least one element", enqueue.spread, d, "map", 0 },
      { "at least one work-item", enqueue.launch, p.f, 0, 1, x, 1 },
      { "at least one work-item", enqueue.launch, p.f, 1, 0, x, 1 },
      { "released", enqueue.launch, p.f, 1, 1, 1, 1 },
      { "'f'", enqueue.launch, p.f, 1, 1, x },
      { "'n'", enqueue.launch, p.f, 1, 1, x, 0.5 },
      { "'wide'", enqueue.launch, p.wide, 1, 1, 1 },
      { "'packed_struct'", enqueue.launch, p.packed_struct, 1, 1, 1 },
      { "'sampled'", enqueue.launch, p.sampled, 1, 1, 1 },
      { "got a float buffer", enqueue.launch, p.f, 1, 1, d:zeros("float", 1), 1 },
      { "'f'", enqueue.launch, p.f, 1, 1, x, x },
      { "got a int buffer", enqueue.launch, p.two, 1, 1, x },
      { "no slot", enqueue.expect, d, 0 },
      { "no slot", enqueue.hear, x, 33 },
    }
    enqueue.launch(p.f, 1, 1, x:view(2, 2), 7)
    assert.same({ 0, 7 }, x:read())
  end)

  it("takes elements of bytes that are there", function()
    assert.same({ 2 }, internal.unpack_elements("int", string.pack("<i4i4", 1, 2), 5, 1))
    refused {
      { "beyond the bytes", internal.unpack_elements, "int", "abcd", 1, 2 },
      { "beyond the bytes", internal.unpack_elements, "int", "abcd", 6, 0 },
      { "beyond the bytes", internal.unpack_elements, "int", "abcd", 2, 1 },
    }
  end)
end)

describe("the number of a process", function()
  it("that is no child tells whether it has ended", function()
    assert.is_false(internal.has_ended(1))
    assert.is_true(internal.has_ended(1 << 22)) -- more than Linux gives
  end)
end)
