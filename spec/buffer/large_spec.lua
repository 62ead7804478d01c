-- SPDX-License-Identifier: MIT
--- Transfers of sizes round those from which memory is mapped, or comes in large pages.

local cl = require "clcompute"
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

describe("a fill", function()
  local d = helper.device()

  --- Fills a part of a buffer, and asserts that it alone is filled.
  local function check(dtype, n, first, last)
    local x <close> = d:full(dtype, 1, n)
    x:fill(3, first, last)
    assert.equal(n + 2 * (last - first + 1), cl.sum(x), ("%d %ss, %d .. %d"):format(n, dtype, first, last))
    for i, value in pairs { [first - 1] = 1, [first] = 3, [last] = 3, [last + 1] = 1 } do
      if i >= 1 and i <= n then assert.equal(value, x[i]) end
    end
  end

  it("has each element, wherever it begins and ends", function()
    for _, dtype in ipairs { "uchar", "ushort", "int", "double" } do
      if dtype ~= "double" or d.has_double then
        for _ = 1, 20 do
          local n = math.random(1, 100)
          local first = math.random(n)
          check(dtype, n, first, math.random(first, n))
          check(dtype, 70000 + n, first, 70000 + math.random(first, n)) -- long enough for several elements at once
        end
      end
    end
  end)

  -- More are not filled in one command: NVIDIA's driver fills a part of what lies beyond 2^31.
  it("has each of more than 2^30 elements, and of those behind them", function()
    local n = (1 << 30) + 70001
    if math.min(d.global_memory // 4, d.max_allocation) < n then return pending "less memory" end
    check("uchar", n, 1, n)
    check("uchar", n, 17, n - 16 - 70001 % 16)
    check("uchar", n, n - 65537, n - 1)
    check("uchar", n, n - 2, n)
    if d.type == "gpu" and d.global_memory > 1 << 35 then check("int", (1 << 31) + 70001, 1, (1 << 31) + 70000) end
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

describe("a string of mapped memory", function()
  local d = helper.device()

  --- What b:string() gives where a hook runs f(buffer) at its n-th call.
  local function string_within(n, f)
    local x, calls = d:zeros("float", 1 << 21), 0
    d:wait()
    local read = x.string
    debug.sethook(function()
      calls = calls + 1
      if calls == n then f(x) end
    end, "c")
    local ok, result = pcall(read, x)
    debug.sethook()
    return ok, result
  end

  it("is refused where a hook releases the buffer meanwhile, and nothing stays mapped", function()
    local n, ok, result = 0
    repeat
      n = n + 1
      ok, result = string_within(n, function(x) x:release() end)
      if not ok then assert.matches("buffer is released%)?$", result) end
    until ok or n == 1000 -- behind the last call in it
    assert.equal(8 << 20, #result)
    local y <close> = d:zeros("float", 1 << 21)
    assert.is_true(y:string() == ("\0"):rep(8 << 20))
  end)
end)

describe("a state of Lua", function()
  it("has its own allocator again when it closes, after calls for many elements of which one failed", function()
    if os.getenv "SANITIZED" then return pending "the sanitizer has an allocator of its own" end
    local script = ([[
      local x = require "clcompute".device("%s"):zeros("float", 1 << 21)
      local bytes = #x:string()
      require "clcount".fail("clEnqueueReadBuffer", -6)
      print(bytes, (pcall(x.read, x)))]]):format(helper.device().place)
    local overwrites = { MALLOC_PERTURB_ = "85", GLIBC_TUNABLES = "glibc.malloc.tcache_count=0" } -- what is freed
    assert.equal("8388608\tfalse\n", helper.output(script, overwrites))
  end)
end)

describe("a processor's memory", function()
  local d = helper.device()

  it("that the process may not have is an error", function()
    if d.type ~= "cpu" or os.getenv "SANITIZED" then return pending "needs a limit of the address space" end
    local script = ([[
      local d = require("clcompute").device(%q)
      local ok, message = pcall(function()
        local kept = {}
        for i = 1, 1000 do kept[i] = d:zeros("float", 1 << 24) end
      end)
      collectgarbage()
      print(ok, message)
      print(d:zeros("float", 1 << 24)[7])]]):format(d.place)
    local output = helper.output(script, { ["ulimit -v 1500000; X"] = "" })
    assert.matches("^false\t[^\n]*: clCreateBuffer: CL_OUT_OF_HOST_MEMORY %(%-6%): 64 MiB, .*\n0.0\n$", output)
  end)
end)
