-- SPDX-License-Identifier: MIT
--- Kernels for GPUs compute places in 32 bits where numbers and sizes of a call allow it, else in 64.

local copies = require "spec.support.copies"
local helper = require "spec.helper"
local indices = require "clcompute.loops.generation.indices"
local loops = require "clcompute.loops"

--- Runs a function in Lua and on a device; returns whether its program was built for 32 bits.
local function check(text, device, ...)
  local expected, got = copies.of { ... }, copies.of { ... }
  assert(load("return " .. text))()(table.unpack(expected))
  local compiled = assert(loops.compile(text, { force = true, target = "gpu", device = device }))
  compiled(table.unpack(got))
  assert.same(expected, got)
  local spec = compiled.state.latest.spec
  assert.equal(spec.largest and "INDEX" or nil, compiled:source():match "INDEX")
  return spec.programs[device][true] ~= nil, spec.largest
end

describe("places in kernels for GPUs", function()
  local device = helper.device()

  it("have 32 bits where all integers are places and small", function()
    local text = "function(a, b, n) for i = 2, n do for j = 1, i do b[i] = b[i] + a[i - 1] * j end end end"
    local list = { 1.0, 2.0, 3.0, 4.0 }
    local is_small, largest = check(text, device, list, { 0.0, 0.0, 0.0, 0.0 }, 4)
    assert.is_true(is_small)
    assert.equal((1 << 29) // 2 // 2 // 2, largest) -- i - 1 is at most twice the largest
  end)

  it("have 32 bits where bounds are the least of sums", function()
    local text = "function(a, n, m) for i = 2, math.min(n, m) - 1 do a[i] = a[i] * 2 end end"
    assert.is_true((check(text, device, { 1.0, 2.0, 3.0, 4.0 }, 4, 7)))
  end)

  it("have 64 bits for numbers that are larger", function()
    local text = "function(a, n, x) for i = 1, n do a[i] = a[i] + x end end"
    assert.is_true((check(text, device, { 1.0, 2.0, 3.0 }, 3, 1 << 20)))
    for _, x in ipairs { 1 << 31, -(1 << 31), 1 << 40, 1 << 52 } do
      assert.is_false((check(text, device, { 1.0, 2.0, 3.0 }, 3, x)))
    end
  end)

  it("have 64 bits where integers are computed with, as they wrap in Lua", function()
    for _, value in ipairs { "i * i", "i << 33", "(i * 65536) // 3", "math.max(i, 7) * i" } do
      local is_small, largest = check(("function(a, n) for i = 1, n do a[i] = %s end end"):format(value), device,
        { 0, 0, 0 }, 3)
      assert.is_false(is_small)
      assert.is_nil(largest)
    end
  end)

  it("have 64 bits where a step or a factor is as large as they", function()
    local text = "function(a, n) for i = 1, n, 1 << 33 do a[i] = 2.0 end end"
    assert.is_false((check(text:gsub("1 << 33", "8589934592"), device, { 0.0, 0.0 }, 2)))
    local _, largest = check("function(a, n) for i = 1, n do a[1000 * i - 999] = 2.0 end end", device, { 0.0 }, 1)
    assert.is_true(largest < 1 << 21)
  end)

  it("have 64 bits where a loop around the kernel goes further", function()
    local text = [[function(a, n) for t = 100 * n, 100 * n + 1 do
      if t > 5 then for i = 1, 3 do a[i] = a[i] * 0.5 + t end end
    end end]]
    assert.is_false((check(text, device, { 1.0, 2.0, 3.0 }, 30000000)))
    assert.is_true((check(text, device, { 1.0, 2.0, 3.0 }, 300)))
  end)

  it("have 64 bits where the numbers of wavefronts or of work-items are larger", function()
    local _, plain = check("function(a, n) for i = 1, n do for j = 1, n do a[i][j] = a[i][j] * 0.5 end end end",
      device, { { 1.0 } }, 1)
    local _, fronts = check([[function(a, n) for t = 1, n do for i = 2, n do for j = 2, n - 1 do
      a[i][j] = a[i - 1][j + 1] + a[i][j - 1] end end end end]], device, { { 1.0 } }, 1) -- in wavefronts 2 t + 2 i + j
    local _, shared = check([[function(a, n) for i = 1, n do for j = 1, n do for k = 1, n do for l = 1, n do
      a[i][j][k][l] = 2.0 end end end end end]], device, { { { { 1.0 } } } }, 1)
    assert.equal(1 << 29, plain)
    assert.equal((1 << 29) // 5 // 2 // 2 // 2, fronts)
    assert.is_true(shared ^ 2 < plain)
  end)

  it("have 64 bits where an array has more elements", function()
    local names, small = { { id = "n" } }, { count = 10 }
    assert.is_true(indices.are_small(100, { n = 100 }, names, { small }))
    assert.is_false(indices.are_small(100, { n = 101 }, names, { small }))
    assert.is_false(indices.are_small(100, { n = -101 }, names, { small }))
    assert.is_true(indices.are_small(100, { n = 1e9 }, names, { small })) -- is no place
    assert.is_false(indices.are_small(100, { n = 100 }, names, { small, { count = 1 << 31 } }))
    assert.is_false(indices.are_small(nil, { n = 1 }, names, { small }))
  end)
end)
