-- SPDX-License-Identifier: MIT

--- How fast devices are, measured: by y <- x + y of vectors, which their memory bounds, and by products of matrices.

local core = require "clcompute.core"

local speed = {}

local ROUNDS = 4 -- of all devices in turns, as other work may disturb one of them
local LONG = 2e-3 -- seconds: what takes as long is measured well, or the largest size is

--- y <- x + y of n elements, and how many these are.
local function begin_vectors(device, n)
  local x, y = device:zeros("float", n), device:zeros("float", n)
  return { run = function() core.saxpy(1, x, y) end, buffers = { x, y }, work = n, n = n }
end

--- A product of n x n, and how many operations that has.
local function begin_product(device, n)
  local a, b, c = device:random("float", n, n), device:random("float", n, n), device:empty("float", n, n)
  return { run = function() core.gemm(a, b, { c = c }) end, buffers = { a, b, c }, work = 2 * n ^ 3, n = n }
end

local function seconds_of(device, trial)
  device:wait()
  local start = core.clock()
  trial.run()
  device:wait()
  return core.clock() - start
end

local function finish(trial)
  for _, buffer in ipairs(trial.buffers) do buffer:release() end
end

--- The smallest size of first, 2 first .. most that takes long enough, ready to be measured.
local function prepare(device, begin, first, most)
  local n = first
  while true do
    local trial = begin(device, n)
    seconds_of(device, trial) -- builds
    local seconds = seconds_of(device, trial)
    if seconds >= LONG or n >= most then return trial end
    finish(trial)
    n = 2 * n
  end
end

--- Rates of some devices: the most that a trial reaches, one device after the other.
local function rates_of(devices, begin, first, most)
  local trials, rates = {}, {}
  for k, device in ipairs(devices) do trials[k], rates[device] = prepare(device, begin, first, most), 0 end
  for _ = 1, ROUNDS do
    for k, device in ipairs(devices) do
      rates[device] = math.max(rates[device], trials[k].work / seconds_of(device, trials[k]))
    end
  end
  for _, trial in ipairs(trials) do finish(trial) end
  return rates
end

--- The devices of this process, each once.
local function distinct(ranks)
  local list, known = {}, {}
  for rank = 1, ranks.count do
    local device = ranks.devices[rank]
    if device and not known[device] then
      list[#list + 1], known[device] = device, true
    end
  end
  return list
end

--- Speeds of all ranks: elements and operations a second of their devices, each measured alone.
-- @treturn table {vectors = list, matrices = list}
function speed.measure(ranks)
  local devices, speeds = distinct(ranks), { vectors = {}, matrices = {} }
  local vectors = rates_of(devices, begin_vectors, 1 << 18, 1 << 26)
  local products = rates_of(devices, begin_product, 256, 4096)
  local found = ranks:collect(function(rank)
    local device = ranks.devices[rank]
    return { vectors[device], products[device] }
  end, "the speed of each")
  for rank, pair in ipairs(found) do speeds.vectors[rank], speeds.matrices[rank] = pair[1], pair[2] end
  return speeds
end

return speed
