-- SPDX-License-Identifier: MIT
--- Short launches on POCL: in the calling thread, in order with all that its threads do.

local cl = require "clcompute"

local helper = require "spec.helper"

local SOURCE = [[
kernel void step(global int *x, int n, int a) { int i = get_global_id(0); if (i < n) x[i] = x[i] * a + 1; }
kernel void spin(global int *x, int n, int rounds) {
  int i = get_global_id(0);
  for (int k = 0; k < rounds; k++) x[i % n] = x[i % n] * 3 + 1;
}
kernel void deep(global int *x) {
  int i = get_global_id(2);
  for (int k = 0; k < 1000; k++) x[i] = x[i] * 3 + 1;
}]]

--- Whether launches of a kernel come to have ended when their call returns, within so many that are waited for.
local function becomes_short(launch, most)
  for _ = 1, most do
    local ended = 0
    for _ = 1, 3 do ended = ended + (launch().status == "complete" and 1 or 0) end
    if ended == 3 then return true end
    launch():wait()
  end
  return false
end

describe("POCL's serial device", function()
  it("is asked for where a file of the loader names POCL 3.1, unless devices are asked for already", function()
    local folder, lua = helper.folder(), helper.lua
    finally(function()
      helper.lua = lua
      helper.shell("rm -r " .. folder)
    end)
    local function asked(words, library)
      helper.lua = ("env %s %s"):format(words, lua)
      helper.write(folder .. "/pocl.icd", library .. "\n")
      return helper.output("require 'clcompute' print(os.getenv 'POCL_DEVICES')", { OCL_ICD_VENDORS = folder })
    end
    assert.equal("pthread basic\n", asked("-u POCL_DEVICES", "libpocl.so.2.10.0"))
    assert.equal("pthread basic\n", asked("-u POCL_DEVICES", "/usr/local/lib/libpocl.so.2.10.0"))
    assert.equal("nil\n", asked("-u POCL_DEVICES", "libpocl.so.2.9.0"))
    assert.equal("pthread\n", asked("POCL_DEVICES=pthread", "libpocl.so.2.10.0"))
  end)
end)

for _, d in ipairs(cl.devices "pocl") do
  if d.isolated or d.type ~= "cpu" or os.getenv "POCL_DEVICES" ~= "pthread basic" then goto continue end

  describe("short launches on " .. d.name, function()
    local p = d:program(SOURCE)

    it("need no device of their own in lists", function()
      assert.equal(1, #cl.devices "pocl")
      assert.matches("^pthread", d.name)
      assert.matches(":0$", d.place)
    end)

    it("have ended when the call returns, after some that were waited for", function()
      local x = d:zeros("int", 256)
      assert.is_true(becomes_short(function() return p.step(256, x, 256, 1) end, 5000))
    end)

    it("are none where a launch takes long", function()
      local x = d:zeros("int", 4)
      local function launch() return p.spin(4, x, 4, 3000000) end
      assert.is_false(becomes_short(launch, 6))
    end)

    it("are none where a range is long in another dimension than the first", function()
      local x = d:zeros("int", 1 << 15)
      local function launch(items)
        return function() return p.deep({ global = { 1, 1, items } }, x) end
      end
      assert.is_true(becomes_short(launch(4), 5000))
      assert.is_false(becomes_short(launch(1 << 15), 3))
    end)

    it("come in order with long ones, transfers and other queues", function()
      local n = 64
      local x, y = d:zeros("int", n), d:zeros("int", n)
      local other <close> = d:queue()
      local expected, random, nines = 0, math.random, {}
      for i = 1, n do nines[i] = 9 end
      local function wrap(v) return (v + 0x80000000) % 0x100000000 - 0x80000000 end
      local steps = {
        function() p.step(n, x, n, 3) expected = wrap(expected * 3 + 1) end,
        function() p.step(n, x, n, 5):wait() expected = wrap(expected * 5 + 1) end,
        function()
          p.spin(n, x, n, 20000)
          for _ = 1, 20000 do expected = wrap(expected * 3 + 1) end
        end,
        function() x:fill(7) expected = 7 end,
        function() x:write(nines) expected = 9 end,
        function() y:write(x) x:write(y) end,
        function() assert.equal(expected, x[random(n)]) end,
        function() d:wait() end,
        function()
          local e = p.step(n, x, n, 2)
          e:before(other)
          other:program(SOURCE).step(n, x, n, 4):before(d)
          expected = wrap(wrap(expected * 2 + 1) * 4 + 1)
        end,
      }
      for _ = 1, 400 do steps[random(#steps)]() end
      for i = 1, n do assert.equal(expected, x[i]) end
    end)

    it("and short transfers come behind sequences, whose commands have no event", function()
      local x, y = d:zeros("int", 64), d:zeros("int", 64)
      local sequence = d:record(function() p.step(64, x, 64, 1) end)
      for i = 1, 500 do
        sequence()
        y:fill(i)
        if i % 10 == 0 then
          assert.equal(i, x[7])
          assert.equal(i, y[7])
        end
      end
    end)

    it("are timed and counted as others", function()
      local x = d:zeros("int", 256)
      d:timing(true)
      local e
      for _ = 1, 50 do e = p.step(256, x, 256, 1):wait() end
      d:timing(false)
      assert.is_true(e.seconds > 0 and e.seconds < 1)
    end)
  end)

  ::continue::
end
