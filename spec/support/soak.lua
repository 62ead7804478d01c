-- SPDX-License-Identifier: MIT
--- A soak: random sizes, views, queues, sequences, expressions and host arrays for a time, each value known. Arguments:
-- the place of a device, seconds, a seed, the bits of the largest size. Fails at a value that is wrong and at growth.

local cl = require "clcompute"

local PLACE, SECONDS, SEED, LARGEST = arg[1], arg[2], arg[3], arg[4]
local MOST = 24 -- items alive
local MODULUS = 1 << 32

math.randomseed(SEED)
local random = math.random
local d = cl.device(PLACE)

local KERNELS = [[
kernel void start(global uint *v, uint base) { v[get_global_id(0)] = base + (uint)get_global_id(0); }
kernel void add(global uint *v, uint by) { v[get_global_id(0)] += by; }]]

local queues = { d }
if not d.isolated then queues[2], queues[3] = d:queue(), d:queue() end
local programs = {}
for k, q in ipairs(queues) do programs[k] = q:program(KERNELS) end

-- --- items: a buffer whose element i is base + i - 1 -----------------------------------------------

local items, checks = {}, 0

--- Makes a queue's next command wait for what wrote to an item last.
local function order(item, k)
  if item.at ~= k then item.last:before(queues[k]) end
  item.at = k
end

local function add(item, k, by)
  order(item, k)
  item.last = programs[k].add(item.n, item.buffer, by)
  item.base = (item.base + by) % MODULUS
end

local function make()
  local k, n, base = random(#queues), random(1 << random(0, LARGEST)), random(0, MODULUS - 1)
  local buffer = queues[k]:empty("uint", n)
  return { buffer = buffer, n = n, base = base, owner = k, at = k, last = programs[k].start(n, buffer, base) }
end

--- An item of the same queue, of a buffer made of the first one's, which is not to be written before it was read.
local function like(item, buffer, by)
  local k = item.owner
  local made = { buffer = buffer, n = item.n, base = (item.base + by) % MODULUS, owner = k, at = k }
  made.last = programs[k].add(made.n, buffer, 0)
  item.last = made.last
  return made
end

local function expect(item, i, value)
  checks = checks + 1
  local right = (item.base + i - 1) % MODULUS
  if value ~= right then error(("element %d of %d is %s instead of %d"):format(i, item.n, value, right)) end
end

-- --- what is done with them -------------------------------------------------------------------------

local ACTS = {}

function ACTS.add(item) add(item, random(#queues), random(0, 1000)) end

function ACTS.read(item)
  order(item, item.owner)
  local i = random(item.n)
  expect(item, i, item.buffer:get(i))
end

function ACTS.view(item)
  order(item, item.owner)
  local first = random(item.n)
  local view = item.buffer:view(first, random(first, item.n))
  local i = random(#view)
  expect(item, first + i - 1, view[i])
  if random(2) == 1 then view:release() end
end

function ACTS.host(item)
  order(item, item.owner)
  local host <close> = queues[item.owner]:host("uint", item.n)
  item.buffer:read_async(host)
  local i = random(item.n)
  expect(item, i, host[i])
end

function ACTS.copy(item)
  order(item, item.owner)
  return like(item, item.buffer:copy(), 0)
end

function ACTS.expression(item)
  order(item, item.owner)
  local by = random(0, 1000)
  local sum = item.buffer + by
  if random(3) > 1 then return like(item, sum:eval(), by) end
  local i = random(item.n)
  expect(item, i, (sum[i] - by) % MODULUS)
end

function ACTS.sequence(item)
  local k = item.owner
  if queues[k].isolated then return end
  order(item, k)
  local by, times = random(0, 9), random(20)
  local sequence <close> = queues[k]:record(function() programs[k].add(item.n, item.buffer, by) end)
  item.last = sequence(times)
  item.base = (item.base + by * times) % MODULUS
end

local names = {}
for name in pairs(ACTS) do names[#names + 1] = name end
table.sort(names)

--- Drops an item, whose commands may still be queued, by a release or for the collector.
local function drop(at)
  local item = table.remove(items, at)
  if random(2) == 1 then item.buffer:release() end
end

local function round()
  if #items == 0 or #items < MOST and random(4) == 1 then items[#items + 1] = make() end
  local made = ACTS[names[random(#names)]](items[random(#items)])
  items[#items + 1] = made
  if #items > random(MOST) then drop(random(#items)) end
  if random(5000) == 1 then d:trim() end
  if random(2000) == 1 then collectgarbage() end
end

-- --- growth -------------------------------------------------------------------------------------------

local function resident()
  for line in io.lines "/proc/self/status" do
    local kib = line:match "^VmRSS:%s*(%d+)"
    if kib then return math.tointeger(kib) // 1024 end
  end
  return 0
end

--- What is alive where nothing is in flight: objects, MB of the process and of Lua.
local function alive()
  while #items > 0 do drop(#items) end
  for _, q in ipairs(queues) do q:wait() end
  collectgarbage()
  collectgarbage()
  local live = cl.live()
  return { buffers = live.buffer, events = live.event, sequences = live.sequence, lua = collectgarbage "count" // 1024,
    resident = resident() }
end

local ROOM = { buffers = 0, events = 0, sequences = 0, lua = 2, resident = 64 }
local HALVES = 6 -- at most: what leaks grows in each, what a process takes at first does not

local rounds = 0

--- Half of the time, of one pass at least; returns what is alive then.
local function half()
  local start = cl.clock()
  repeat
    for _ = 1, 50 do round() end
    rounds = rounds + 50
  until cl.clock() - start > SECONDS / 2
  return alive()
end

--- In words what has grown, or nil.
local function growth(before, after)
  for name, most in pairs(ROOM) do
    if after[name] > before[name] + most then
      return ("%s grew from %d to %d in %d rounds"):format(name, before[name], after[name], rounds)
    end
  end
end

local after, grown = half(), nil
for _ = 2, HALVES do
  local before = after
  after = half()
  grown = growth(before, after)
  if not grown then break end
end
if grown then error(grown) end
print(("%d rounds, %d checks right, %d MB resident"):format(rounds, checks, after.resident))
