-- SPDX-License-Identifier: MIT
--- Nests on a GPU of which a work-item has two passes.

local copies = require "spec.support.copies"
local helper = require "spec.helper"
local loops = require "clcompute.loops"

local NESTS = {
  [[function(a, b, n, m) for i = 1, n do for j = 1, m do b[i][j] = a[i][j] * 2 + i end end end]],
  [[function(a, b, n, m) for i = n, 1, -2 do for j = 1, m do
    local x = a[i][j]
    if x > 0.5 then b[i][j] = x else b[i][j] = -x end
  end end end]],
  [[function(a, b, n, m) for j = 1, m do for i = 1, n do a[i][j] = a[i][j] * 0.25 - j end end end]],
}

local ALONE = {
  [[function(a, b, n, m) for i = 1, n do for j = i, m do b[i][j] = a[i][j] + 1 end end end]], -- bounds that differ
  [[function(a, b, n, m) for i = 1, n do for j = 1, m do -- a loop in each pass
    for k = 1, m do b[i][j] = b[i][j] + a[i][k] end
  end end end]],
  [[function(a, b, n, m) for i = 1, n do b[i][1] = a[i][1] end end]], -- a range of one dimension
}

local function matrix(n, m)
  local list = {}
  for i = 1, n do
    list[i] = {}
    for j = 1, m do list[i][j] = math.random() end
  end
  return list
end

helper.describe_each("a nest on a GPU", function(device)
  local function compile(text, paired)
    return assert(loops.compile(text, { device = device, target = "gpu", force = true, tiles = { paired = paired } }))
  end

  local function is_paired(compiled) return compiled:source():find("_other", 1, true) ~= nil end

  it("has the same results where a work-item has two passes, for every size", function()
    for _, text in ipairs(NESTS) do
      local compiled, f = compile(text, 1), assert(load("return " .. text))()
      for n = 1, 10 do
        for _, m in ipairs { 1, 65 } do
          local given = { matrix(n, m), matrix(n, m), n, m }
          local expected = copies.of(given)
          f(table.unpack(expected))
          compiled(table.unpack(given))
          assert.same(expected, given)
        end
      end
      assert.is_true(is_paired(compiled))
    end
  end)

  it("has one for each where it has few, or passes are no pairs", function()
    for _, text in ipairs(ALONE) do
      local compiled = compile(text, 1)
      compiled(matrix(3, 3), matrix(3, 3), 3, 3)
      assert.is_false(is_paired(compiled))
    end
    local compiled = compile(NESTS[1], 100)
    compiled(matrix(9, 11), matrix(9, 11), 9, 11)
    assert.matches("if j_%d+_count %* i_%d+_count >= kernels.paired then", compiled.state.latest.spec.host_text)
  end)
end)
