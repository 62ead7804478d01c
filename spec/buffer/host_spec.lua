-- SPDX-License-Identifier: MIT
--- Host arrays: elements that Lua indexes and devices read and write while Lua goes on.

local helper = require "spec.helper"
local cl = require "clcompute"

helper.describe_each("a host array", function(d)
  it("is zeros, takes elements, tables and bytes, and gives them back, for every dtype", function()
    for _, dtype in ipairs(helper.dtypes(d)) do
      local h = d:host(dtype, 5)
      assert.same({ 0, 0, 0, 0, 0 }, h:read())
      h[2] = 7
      h:write({ 1, 2 }, 4)
      assert.same({ 0, 7, 0, 1, 2 }, h:read())
      assert.same({ 7, 0 }, h:read(2, 3))
      assert.equal(7, h[2])
      assert.equal(nil, h[6])
      assert.equal(5, #h)
      assert.equal(dtype, h.dtype)
      assert.equal(d, h.device)
      local other = d:host(dtype, 5)
      other:write(h:string())
      assert.same(h:read(), other:read())
      assert.equal(#h:string(), h.bytes)
      h:release()
    end
    assert.same({}, d:host("int", 0):read())
    assert.same({}, d:host("int", 0):write({}):read())
    assert.equal(3, #d:host("int", 3):write({}):read())
    assert.same({}, d:zeros("int", 0):write(d:host("int", 0)):read())
    d:zeros("int", 0):read_async(d:host("int", 0)):wait()
    helper.raises("1 elements from 1 do not fit in 1 .. 0", function() d:host("int", 0):write { 1 } end)
    assert.equal("float host array 3 for ", tostring(d:host("float", 3)):sub(1, 23))
  end)

  it("goes to buffers and comes back, as rows, parts and views, while Lua goes on", function()
    local m, h = d:zeros("int", 4, 3), d:host("int", 6)
    h:write { 1, 2, 3, 4, 5, 6 }
    assert.equal(m, m:write(h, 2))
    assert.same({ { 0, 0, 0 }, { 1, 2, 3 }, { 4, 5, 6 }, { 0, 0, 0 } }, m:read())
    h[1] = 9 -- waits for the transfer, which has read it
    assert.same({ 1, 2, 3 }, m:read(2, 2)[1])
    m:fill(5, 4, 4)
    local e = m:view(3, 4):read_async(h)
    assert.same({ 4, 5, 6, 5, 5, 5 }, h:read())
    assert.equal("complete", e:wait().status)
    for turn = 1, 50 do
      local x = d:empty("int", 6)
      for i = 1, 6 do h[i] = turn * i end
      x:write(h)
      cl.map("x[i] + 1", { x = x }, { out = x })
      x:read_async(h)
      assert.equal(turn * 6 + 1, h[6])
    end
  end)

  it("goes to buffers of other queues and devices too", function()
    local q, h = d:queue(), d:host("float", 4)
    h:write { 1, 2, 3, 4 }
    local x = q:zeros("float", 4)
    x:write(h)
    h:write { 0, 0, 0, 0 }
    x:read_async(h):wait()
    assert.same({ 1, 2, 3, 4 }, h:read())
    q:close()
    for _, other in ipairs(helper.devices()) do
      local y = other:zeros("float", 4):write(h)
      assert.same({ 1, 2, 3, 4 }, y:read())
    end
  end)

  it("is collected while a transfer has it", function()
    local x = d:random("float", 1 << 16)
    for _ = 1, 20 do
      local h = d:host("float", 1 << 16)
      x:read_async(h)
      d:zeros("float", 1 << 16):write(h)
    end
    collectgarbage()
    d:wait()
  end)

  it("is released once the transfers have ended that it is in, as its memory goes then", function()
    local x, h, last = d:zeros("float", 1 << 20), d:host("float", 1 << 20), nil
    for _ = 1, 8 do last = x:read_async(h) end
    h:release()
    assert.equal("complete", last.status)
  end)

  it("makes room for others once nobody has it", function()
    local kept = setmetatable({}, { __mode = "v" })
    local bytes = (d.type == "cpu" or helper.is_simulator(d)) and 4 << 20 or 64 << 20
    for i = 1, 64 do kept[i] = d:host("uchar", bytes) end
    local n = 0
    for _ in pairs(kept) do n = n + 1 end
    assert.is_true(n < 32, n)
  end)

  it("may be released by a finalizer while it is used", function()
    local x, list, used = d:zeros("float", 1 << 16), {}, nil
    for i = 1, 1000 do list[i] = i end
    local uses = { function() used:read() end, function() used:write(list) end, function() x:write(used) end,
      function() x:read_async(used) end }
    local meta = {}
    function meta.__gc(t)
      if used then used:release() end
      if meta.__gc then setmetatable(t, meta) end
    end
    finally(function()
      meta.__gc = nil
      collectgarbage("incremental", 200, 100, 13)
    end)
    setmetatable({}, meta)
    collectgarbage("incremental", 1, 1000, 4)
    local released = 0
    for i = 1, 200 do
      local h = d:host("float", 1 << 16)
      used = h
      local ok, message = pcall(uses[i % #uses + 1])
      used = nil
      if not ok then
        assert.matches("released", message)
        released = released + 1
      end
    end
    assert.is_true(released > 0)
  end)

  it("has the values that an expression had before it is written over", function()
    local x, h = d:buffer { 1, 2 }, d:host("float", 2)
    local z = x + 1
    x:write(h)
    assert.same({ 2, 3 }, z:read())
    assert.same({ 0, 0 }, x:read())
  end)

  it("says what is wrong", function()
    local h, x = d:host("float", 4), d:zeros("int", 4)
    for _, case in ipairs {
      { "element 5 is outside 1 .. 4", function() h[5] = 1 end }, { "outside 1 .. 4", function() return h[0] end },
      { "h[1.5]: an index is an integer", function() return h[1.5] end },
      { "element 1: number expected, got string", function() h[1] = "1" end },
      { "cannot set field 'size' of a host array", function() h.size = 1 end },
      { "has no field 'size'", function() return h.size end },
      { "the left operand of '+': buffer or number expected, got host array; b:write(h)", function() return h + 1 end },
      { "2 elements from 4 do not fit in 1 .. 4", function() h:write({ 1, 2 }, 4) end },
      { "5 bytes are not whole elements of 4 bytes", function() h:write "12345" end },
      { "[2]: number expected, got string", function() h:write { 1, "x" } end },
      { "int host array expected, got float", function() x:write(h) end },
      { "int host array expected, got float", function() x:read_async(h) end },
      { "a host array of 3 elements expected, got 4", function() d:zeros("float", 3):read_async(h) end },
      { "4 elements are not whole rows of 3", function() d:zeros("float", 4, 3):write(h) end },
      { "host array expected, got no value", function() x:read_async() end },
      { "MiB exceeds the largest this device allocates", function() d:host("float", 1 << 40) end },
    } do
      helper.raises(case[1], case[2])
    end
    h:release()
    helper.raises("host array is released", h.read, h)
    helper.raises("host array is released", function() d:zeros("float", 4):write(h) end)
    if not d.isolated then
      local other = d:host("float", 4)
      local function read() d:zeros("float", 4):read_async(other) end
      helper.raises("cannot be recorded", d.record, d, read)
    end
  end)
end)
