-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"

local gate = helper.compile("gate", "-lOpenCL")

helper.describe_each("raw handles", function(d)
  it("are the queue, the context and the device id, always the same", function()
    local handles, again = table.pack(d:raw()), table.pack(d:raw())
    assert.equal(3, handles.n)
    for i = 1, 3 do
      assert.equal("userdata", type(handles[i]))
      assert.equal(handles[i], again[i])
    end
  end)

  it("of a further queue: a queue of its own in the same context", function()
    local queue, context = d:raw()
    local queue2, context2 = d:queue():raw()
    assert.not_equal(queue, queue2)
    assert.equal(context, context2)
  end)

  it("of a view: the memory of all, and where the view begins", function()
    local b = d:zeros("int", 6, 4)
    local memory, offset = b:raw()
    assert.equal(0, offset)
    local view_memory, view_offset = b:view(3, 4):view(2, 2):raw()
    assert.equal(memory, view_memory)
    assert.equal(12, view_offset)
  end)

  it("are refused once the object is released", function()
    helper.raises("buffer is released", function() return d:zeros("int", 1):release():raw() end)
  end)

  it("let wait cover what others put into the queue", function()
    if helper.is_simulator(d) then return pending "Oclgrind computes in clFlush, which the gate would hold" end
    local queue, context = d:raw()
    local closed, looks, wait = gate.close(queue, context), 0, d.wait
    debug.sethook(function() -- runs at every look: level 2 is what the library calls for it, 3 wait
      local caller = debug.getinfo(3, "f")
      if caller and caller.func == wait then looks = looks + 1 end
      if looks == 5 and closed then
        gate.open(closed)
        closed = nil
      end
    end, "c")
    local ok, message = pcall(wait, d)
    debug.sethook()
    local waited = closed == nil
    if closed then gate.open(closed) end
    assert.is_true(ok, message)
    assert.is_true(waited)
  end)
end)
