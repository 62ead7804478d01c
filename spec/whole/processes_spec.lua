-- SPDX-License-Identifier: MIT
--- No call of the library starts a process. In Lua only io.popen and os.execute could, and here they raise; in C only
-- the worker of an isolated device is started. POCL starts its linker.

local helper = require "spec.helper"

local SCRIPT = [[
  for library, name in pairs { [io] = "popen", [os] = "execute" } do
    library[name] = function(command) error("a process is started: " .. tostring(command)) end
  end
  local cl = require "clcompute"
  local d = cl.device()
  local x, y = d:buffer { 1, 2, 3 }, d:buffer { 4, 5, 6 }
  local a, b = d:buffer { { 2, 1 }, { 1, 3 } }, d:buffer { 3, 5 }
  print(cl.saxpy(2, x, y)[3], cl.gemm(a, a):read()[2][2], cl.sum(cl.map("2 * v[i]", { v = x })))
  print(("%.3f\t%.3f"):format(table.unpack(cl.gauss(a, b):read())))
  local p = d:program "kernel void twice(global float *x) { x[get_global_id(0)] *= 2; }"
  p.twice(3, x)
  print(x[3])
  d:program "kernel void loop(global int *x) { for (int i = 0; i < get_local_size(0); i++) barrier(1); }"
  x:save(FOLDER .. "/x.npy")
  local tuning = require "clcompute.tuning"
  tuning.store.keep(tuning.store.key(d, "gemm", "float"), tuning.of(d, "gemm", "float"))
  print(d:load(FOLDER .. "/x.npy")[1])]]

describe("the library", function()
  it("starts no process, on an empty cache or a full one, and keeps verdicts and numbers all the same", function()
    local folder = helper.folder()
    finally(function() os.execute("rm -r " .. folder) end)
    local environment = { CLCOMPUTE_CACHE = folder .. "/new/cache", CLCOMPUTE_DEVICE = helper.device().place,
      CLCOMPUTE_TUNING = folder .. "/new/config/tuning.lua" }
    for _ = 1, 2 do
      local output = helper.output(("FOLDER = %q\n"):format(folder) .. SCRIPT, environment)
      assert.matches("12.0\t10.0\t12.0\n0.800\t1.400\n6.0\n2.0\n", output, 1, true)
      for _, kept in ipairs { "/new/cache/verdicts", "/new/config/tuning.lua" } do
        assert.matches(" | ", helper.read(folder .. kept), 1, true)
      end
    end
  end)
end)
