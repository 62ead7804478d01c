-- SPDX-License-Identifier: MIT
--- Loops of processors that store every other element: which ones go as vectors, and that they compute what Lua does.

local copies = require "spec.support.copies"
local helper = require "spec.helper"
local loops = require "clcompute.loops"

-- Functions of a matrix a of 2 * n + 2 columns, lists u and v of as many, w of n, and x.
local STRIDED = {
  ["in steps of two"] = "for j = 2, 2 * n, 2 do u[j] = x * v[j] - u[j + 1] end",
  ["a chess board"] = [[for i = 2, n - 1 do for j = 2 + i % 2, 2 * n, 2 do
    a[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]) end end]],
  ["both colours, again and again"] = [[for t = 1, 3 do for c = 0, 1 do for i = 2, n - 1 do
    for j = 2 + (i + c) % 2, 2 * n, 2 do a[i][j] = x * (a[i - 1][j] + a[i][j - 1]) - a[i][j + 1] end end end end]],
  ["one of two lists"] = "for j = 1, n do local s = w[j] * x u[2 * j - 1] = s - v[2 * j] w[j] = s + v[2 * j] end",
  ["the last elements that there are"] = "for j = 1, n + 1 do v[2 * j] = u[2 * j] / w[1] end",
  ["twice as many, of a row"] = "for i = 1, n do for j = 1, n do a[i][2 * j] = -u[j] * a[i][2 * n + 1] end end",
}

local OTHERS = {
  ["steps of three"] = "for j = 3, 2 * n, 3 do u[j] = v[j] + x end",
  ["downwards"] = "for j = 2 * n, 2, -2 do u[j] = v[j] + x end",
  ["passes that wait for each other"] = "for j = 3, 2 * n, 2 do u[j] = u[j - 2] + x end",
  ["a condition"] = "for j = 2, 2 * n, 2 do if v[j] > x then u[j] = x end end",
  ["a function"] = "for j = 2, 2 * n, 2 do u[j] = math.sin(v[j]) end",
  ["pairs that become one"] = "for j = 1, n do w[j] = u[2 * j - 1] * u[2 * j - 1] + u[2 * j] * u[2 * j] end",
  ["products of complex numbers"] = [[for j = 1, n do local re, im = u[2 * j - 1], u[2 * j]
    u[2 * j - 1] = re * v[2 * j - 1] - im * v[2 * j] u[2 * j] = re * v[2 * j] + im * v[2 * j - 1] end]],
  ["neighbours"] = "for j = 2, n do u[j] = v[j] + v[j - 1] end",
}

local function function_of(body) return ("return function(a, u, v, w, x, n) %s end"):format(body) end

local function values_of(n)
  math.randomseed(n + 1)
  local function list(count)
    local made = {}
    for i = 1, count do made[i] = math.random() * 4 - 2 end
    return made
  end
  local a = {}
  for i = 1, n + 1 do a[i] = list(2 * n + 2) end
  return { a, list(2 * n + 2), list(2 * n + 2), list(n + 1), 0.75, n }
end

--- The function for a device, each nest on it, with vectors.
local function compiled(body, device)
  return assert(loops.compile(assert(load(function_of(body)))(), { device = device, force = true, target = "cpu" }))
end

helper.describe_each("a loop that stores every other element", function(device)
  if not device.has_double then return it("needs doubles", pending) end

  for name, body in pairs(STRIDED) do
    it("does what it does in Lua: " .. name, function()
      local in_lua, f = assert(load(function_of(body)))(), compiled(body, device)
      for _, n in ipairs(helper.is_simulator(device) and { 3, 10, 17 } or { 0, 1, 2, 7, 8, 9, 15, 16, 17, 33, 50 }) do
        local expected = values_of(n)
        local got = copies.in_buffers(copies.of(expected), device, "double")
        in_lua(table.unpack(expected))
        f(table.unpack(got))
        for i, value in ipairs(copies.read(got)) do
          assert(copies.are_equal(expected[i], value), ("n = %d, argument %d"):format(n, i))
        end
      end
      assert.matches("vload8[^\n]*even", f:source())
    end)
  end
end)

describe("a loop", function()
  for name, body in pairs(OTHERS) do
    it("has no such vectors: " .. name, function()
      local values = values_of(8)
      local f = compiled(body, helper.device())
      f(table.unpack(values))
      assert.is_nil(f:source():find("EVERY_OTHER", 1, true))
    end)
  end

  it("of floats reads and writes what it does by itself", function()
    local device = helper.device()
    local f = assert(loops.compile(assert(load(function_of(STRIDED["a chess board"])))(),
      { device = device, force = true, target = "cpu" }))
    local values = values_of(20)
    local got = copies.in_buffers(copies.of(values), device, "float")
    local rounded = copies.read(copies.in_buffers(copies.of(values), device, "float"))
    assert(load(function_of(STRIDED["a chess board"])))()(table.unpack(rounded))
    f(table.unpack(got))
    for i, row in ipairs(got[1]:read()) do
      for j, value in ipairs(row) do assert.near(rounded[1][i][j], value, 2.0 ^ -22) end
    end
  end)
end)
