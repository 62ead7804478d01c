-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"

local N, ROUNDS, ATTEMPTS, LIMIT = 1000000, 9, 4, 1.4

-- Seconds of processor time, the driver's threads included, which bears busy
-- neighbours better than the clock on the wall.
local function time(f, ...)
  collectgarbage()
  local start = os.clock()
  local result = f(...)
  return os.clock() - start, result
end

local function median(list)
  table.sort(list)
  return list[(#list + 1) // 2]
end

-- What each way costs, in times of the bare loop: medians of rounds in turns.
local function measure(bare, device, values)
  local there, back, bare_there, bare_back = {}, {}, {}, {}
  for round = 1, ROUNDS do
    local floats, buffer
    bare_there[round], floats = time(bare.get, values, N)
    there[round], buffer = time(device.buffer, device, values)
    bare_back[round] = time(bare.set, floats, N)
    back[round] = time(buffer.read, buffer)
    buffer:release()
  end
  return median(there) / median(bare_there), median(back) / median(bare_back)
end

describe("a million numbers", function()
  it(("go from a table to a buffer, and back, within %g times a bare loop"):format(LIMIT), function()
    local bare, device, values = helper.compile "bare", helper.device(), {}
    for i = 1, N do values[i] = i * 0.25 end
    device:buffer(values):read() -- opens the device
    local there, back
    for _ = 1, ATTEMPTS do -- a busy machine may spoil one
      there, back = measure(bare, device, values)
      print(("transfer: %.2f there, %.2f back, times a bare loop"):format(there, back))
      if math.max(there, back) <= LIMIT then break end
    end
    assert.is_true(there <= LIMIT, ("to a buffer: %.2f times a bare loop"):format(there))
    assert.is_true(back <= LIMIT, ("to a table: %.2f times a bare loop"):format(back))
  end)
end)
