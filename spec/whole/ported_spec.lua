-- SPDX-License-Identifier: MIT
--- The programs of examples/ported compute what their oracles do: on every driver, as `clcompute run` runs them, and
-- under Oclgrind with races and uninitialised reads watched. A program fails where its result is wrong.

local cl = require "clcompute"
local command = require "spec.support.command"
local helper = require "spec.helper"

--- Arguments, small and by no work-group divided, and what is printed.
local PROGRAMS = {
  image_filter = { "21", "^21 x 21 blurred, off by [%d.e-]+; 39 x 26 resized, off by [%d.]+ of 255\n$" },
  particles = { "70 2", "^70 particles, 2 steps, off by [%d.e-]+\n$" },
  sparse = { "90", "^90 rows, %d+ elements, off by [%d.e-]+\n$" },
  fft = { "128", "^128 numbers, off by [%d.e-]+ of [%d.]+\n$" },
  radix_sort = { "150", "^150 numbers sorted, from %d+ to %d+\n$" },
  shallow_water = { "19 5", "^19 x 12 cells, 5 steps, off by [%d.e-]+; mass ([%d.]+), was ([%d.]+)\n$" },
}

local function run(environment, runner, name, more)
  local arguments, facts = PROGRAMS[name][1], PROGRAMS[name][2]
  local output, ok = helper.shell(("%s %s examples/ported/%s.lua %s %s"):format(environment, runner, name, arguments,
    more or ""))
  assert.is_true(ok, output)
  assert.matches(facts, output)
  return output
end

local device = helper.device()
local HERE = "CLCOMPUTE_DEVICE=" .. device.place

describe("the ported program", function()
  for name in pairs(PROGRAMS) do
    it(name .. " computes what its oracle does", function()
      run(HERE, helper.lua .. " -W", name)
    end)

    it(name .. " runs isolated, in check mode and on a careful device", function()
      run(HERE .. " CLCOMPUTE_CAREFUL=1", command.text .. "run", name)
    end)

    it(name .. " has no race and reads nothing that was not written", function()
      if #cl.devices "oclgrind" == 0 then return pending "Oclgrind is not installed" end
      local log = os.tmpname()
      run("CLCOMPUTE_DEVICE=oclgrind CLCOMPUTE_CACHE=off OCLGRIND_DATA_RACES=1 OCLGRIND_UNINITIALIZED=1"
        .. " OCLGRIND_BUILD_OPTIONS=-cl-opt-disable OCLGRIND_LOG=" .. log, helper.lua, name)
      assert.equal("", helper.read(log):sub(1, 1000))
      os.remove(log)
    end)
  end

  it("image_filter saves its picture", function()
    local base = os.tmpname()
    local path = base .. ".pgm"
    run(HERE, helper.lua, "image_filter", path)
    local picture = device:load(path)
    assert.same({ 26, 39 }, picture.shape)
    assert.is_true(picture:get(15, 13) > 200 and picture:get(1, 1) < 40)
    os.remove(path)
    os.remove(base)
  end)

  it("stands in this spec", function()
    local names = {}
    for path in io.popen("ls examples/ported/*.cl"):lines() do names[path:match "([%w_]+)%.cl$"] = true end
    for name in pairs(PROGRAMS) do
      assert.is_true(names[name], name)
      names[name] = nil
    end
    assert.is_nil(next(names))
  end)
end)
