-- SPDX-License-Identifier: MIT
--- Transfers of sizes round those from which memory is mapped, or comes in large pages.

local helper = require "spec.helper"

helper.describe_each("a buffer of many elements", function(d)
  local sizes = helper.is_simulator(d) and { 16383, 16385, 262145 }
    or { 16383, 16384, 16385, 1048575, 1048576, 1048577, 2500003 }

  it("has the same bytes as a string, as views of it, as a table and as what is made of them", function()
    for _, n in ipairs(sizes) do
      local x <close> = d:random("float", n, { seed = n })
      local text, half = x:string(), n // 2
      assert.equal(4 * n, #text)
      local first <close> = x:view(1, half)
      local rest <close> = x:view(half + 1, n)
      assert.is_true(text == first:string() .. rest:string())
      local y <close> = d:buffer(text, "float")
      assert.is_true(y:string() == text)
      local values = x:read()
      assert.equal(n, #values)
      for i = 1, n, 997 do assert.equal(string.unpack("f", text, 4 * i - 3), values[i]) end
      local z <close> = d:buffer(values, "float")
      assert.is_true(z:string() == text)
    end
  end)

  it("is read behind what is queued", function()
    local n = sizes[#sizes]
    local p <close> = d:program "kernel void f(global int *x) { x[get_global_id(0)] += 3; }"
    local x <close> = d:zeros("int", n)
    for _ = 1, 4 do p.f(n, x) end
    assert.is_true(x:string() == string.pack("i4", 12):rep(n))
    assert.equal(12, x:read(n, n)[1])
  end)
end)

describe("an error in a call for many elements", function()
  it("says where the script is", function()
    local d, count = helper.device(), require "clcount"
    local x <close> = d:zeros("float", 1 << 21)
    d:wait()
    local maps = d.type == "cpu" and x.string or nil
    for name, call in pairs { clEnqueueReadBuffer = x.read, clEnqueueMapBuffer = maps } do
      count.fail(name, -6)
      local ok, message = pcall(function() return (call(x)) end)
      count.fail()
      assert.is_false(ok)
      assert.matches("^spec/buffer/large_spec.lua:%d+: " .. name .. ": CL_OUT_OF_HOST_MEMORY", message)
    end
    assert.equal(8 << 20, #x:string())
  end)
end)
