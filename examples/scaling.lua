-- SPDX-License-Identifier: MIT
--- What a few measured rates say of products and factorizations on more devices: the rates of this machine, what they
-- predict, and what is measured; then machines on paper (docs/scaling.md).
--
--     mpirun -n 2 lua5.4 examples/scaling.lua [n,n ... [block]]      lua5.4 examples/scaling.lua paper
--     lua5.4 examples/scaling.lua 8192,16384,32768                   devices of this process

local model = require "clcompute.suite.scaling_model"

--- Hosts of H200, as this example measured two of them; between hosts 4 x 50 GB/s, and latencies, assumed.
local function hosts_of(link, send, latency, overlaps)
  return { product = { fixed = 5.1e-5, rate = 50.1e12 }, update = { fixed = 3.3e-5, rate = 39.4e12 },
    panel = { fixed = 4.8e-4, rate = 3.88e12 }, solve = { fixed = 8.1e-5, rate = 4.9e12 },
    copy = { fixed = 1.6e-5, rate = 0.85e12 }, norm = { fixed = 7.3e-5, rate = 0.79e12 },
    exchange = { fixed = 7.7e-5, rate = 6.5e12 }, link = link, send = send, latency = latency, step = 1.2e-4,
    overlaps = overlaps }
end

local HOST = hosts_of({ fixed = 1.1e-4, rate = 45e9 }, { fixed = 4.5e-5, rate = 49e9 }, 2e-5, true)
local NETWORK = hosts_of(200e9 / 8, 200e9 / 8, 3e-5, false)

local function paper()
  print(("%-24s %8s %9s %10s %6s %10s %6s %9s"):format("machine", "n", "GB each", "gemm", "of", "lu", "of", "moved TB"))
  for _, m in ipairs { { "8 GPUs of a host", HOST, 1, 8, 65536 }, { "8 GPUs of a host", HOST, 2, 4, 65536 },
    { "8 GPUs of a host", HOST, 1, 8, 262144 }, { "8 GPUs of a host", HOST, 2, 4, 262144 },
    { "64 hosts of 8", NETWORK, 16, 32, 262144 }, { "64 hosts of 8", NETWORK, 16, 32, 1048576 },
    { "1,000 hosts of 8", NETWORK, 80, 100, 1048576 }, { "1,000 hosts of 8", NETWORK, 80, 100, 4194304 } } do
    local name, machine, p, q, n = table.unpack(m)
    local block = p == 1 and 256 or 1024
    local product = model.seconds("gemm", machine, n, p, q, block)
    local factors = model.seconds("lu", machine, n, p, q, block)
    print(("%-24s %8d %9.1f %8.1f s %4.0f %% %8.1f s %4.0f %% %9.1f"):format(("%s, %dx%d"):format(name, p, q), n,
      3 * 4 * n * n / (p * q) / 1e9, product, 200 * n ^ 3 / machine.product.rate / p / q / product, factors,
      200 / 3 * n ^ 3 / machine.product.rate / p / q / factors, model.bytes("gemm", n, p, q) / 1e12))
  end
end

if arg[1] == "paper" then return paper() end

local cl = require "clcompute"
local internal = require "clcompute.core.internal"
local world = require "clcompute.mpi".world

local sizes, block = {}, math.tointeger(arg[2] or 256)
for n in (arg[1] or "2048"):gmatch "%d+" do sizes[#sizes + 1] = math.tointeger(n) end
local ROUNDS = 7
local BYTES = { copy = true, norm = true, exchange = true, link = true, send = true }

local selector = os.getenv "CLCOMPUTE_DEVICE"
local g = cl.group(selector, { block = block })
local p, q = g.grid[1], g.grid[2]
local device = g.ranks.devices[world.rank + 1]

--- The least seconds of a call on all ranks at once: the slowest of them.
local function time(f)
  local least = math.huge
  for _ = 1, ROUNDS do
    g:wait()
    world:barrier()
    local start = cl.clock()
    f()
    g:wait()
    least = math.min(least, world:allreduce(cl.clock() - start, "max"))
  end
  return least
end

local function random(rows, columns) return device:random("float", rows, columns, { seed = 1, low = -1 }) end

--- What ranks move that each send block columns to the next one, of a matrix twice as wide, which devices pack; or the
-- first rank alone, of a matrix that has no others.
local function ring(rows, count, is_one_way)
  local list, sources, targets = {}, {}, {}
  for rank, own in pairs(g.ranks.devices) do
    sources[rank] = own:zeros("float", rows, is_one_way and block or 2 * count * block)
    targets[rank] = own:empty("float", rows, count * block)
  end
  for from = 1, is_one_way and 1 or #g do
    local to = from % #g + 1
    for k = 0, count - 1 do
      list[#list + 1] = { from = from, source = sources[from], at = { 1, k * block + 1 }, to = to,
        target = targets[to], to_at = { 1, k * block + 1 }, size = { rows, block } }
    end
  end
  return function() g.ranks:move_all(list) end
end

--- Trials of each rate at rows x columns of a rank: {work, what is measured}.
local function trials_of(rows, columns)
  local trials, width = {}, math.min(columns, 1024)
  local c, a, b = random(rows, columns), random(rows, width), random(width, columns)
  trials.product = { 2.0 * rows * width * columns, function() cl.gemm(a, b, { c = c, beta = 1 }) end }
  local left, above = random(rows, block), random(block, columns)
  trials.update = { 2.0 * rows * columns * block, function() cl.gemm(left, above, { c = c, alpha = -1, beta = 1 }) end }
  local padded, row = internal.panel_room(device:empty("float", 0), rows, block)
  local pivots, diagonal, panel = device:empty("int", block), device:empty("float", block), random(padded, row)
  trials.panel = { 1.0 * rows * block * block, function() internal.panel(panel, rows, block, pivots, diagonal) end }
  local triangle = random(block, block)
  trials.solve = { 1.0 * block * block * columns, function()
    local steps = require "clcompute.groups.steps"
    steps.solve_rows(triangle, c, { width = block, own_row = 0 }, 0, columns):release()
  end }
  trials.copy = { 4.0 * rows * block, function() c:copy_rect { to = left, size = { rows, block } } end }
  local places = {}
  for k = 0, block - 1 do places[k + 1] = k + (k * 37) % (rows - k) end
  local exchanges, swap = device:buffer(places, "int"), device:kernel("lu_exchange", { dtype = "float" })
  trials.exchange = { 4 * 4.0 * block * columns, function()
    swap({ global = columns, group = 64, remainder = "pad" }, block, columns, 0, exchanges, c)
  end }
  trials.norm = { 4.0 * rows * columns, function()
    cl.sum(cl.map("fabs(x[i])", { x = c:copy() }), { axis = 1 }):read()
  end }
  if #g > 1 then
    trials.link, trials.send = { 4.0 * rows * block, ring(rows, 1) }, { 4.0 * rows * block, ring(rows, 1, true) }
  end
  return trials
end

--- The rates of this machine: of two sizes what all take, and what grows.
local function measure()
  local n = sizes[#sizes]
  local large, small = trials_of(n // p, n // q), trials_of(math.max(block, n // p // 8), math.max(block, n // q // 8))
  local machine = { latency = 0, step = 0, overlaps = not world.launcher and device.type ~= "cpu",
    link = math.huge, send = math.huge }
  for _, name in ipairs { "product", "update", "panel", "solve", "copy", "exchange", "norm", "link", "send" } do
    if large[name] then
      local a, b = time(small[name][2]), time(large[name][2])
      local rate = (large[name][1] - small[name][1]) / math.max(b - a, 0.1 * b)
      machine[name] = { fixed = math.max(0, a - small[name][1] / rate), rate = rate }
    end
  end
  if #g > 1 then machine.latency = math.max(0, time(ring(block, 8)) - time(ring(8 * block, 1))) / 7 end
  local few = g:random("float", 8 * block, 8 * block, { seed = 1, low = -1 })
  local seconds = time(function() cl.lu(few):release() end)
  machine.step = math.max(0, seconds - model.seconds("lu", machine, 8 * block, p, q, block)) / 8
  return machine
end

local machine = measure()
if world.rank == 0 then
  print(("%d ranks, grid %dx%d, blocks of %d; step %.3f ms, message %.3f ms"):format(#g, p, q, block,
    machine.step * 1e3, machine.latency * 1e3))
  for _, name in ipairs { "product", "update", "panel", "solve", "copy", "exchange", "norm", "link", "send" } do
    local of = machine[name]
    if type(of) == "table" then
      print(("  %-8s %8.3f ms and %9.2f G%s/s"):format(name, of.fixed * 1e3, of.rate / 1e9,
        BYTES[name] and "B" or "op"))
    end
  end
end
for _, n in ipairs(sizes) do
  local a, b = g:random("float", n, n, { seed = 1, low = -1 }), g:random("float", n, n, { seed = 2, low = -1 })
  local c = g:empty("float", n, n)
  for _, one in ipairs { { "gemm", function() cl.gemm(a, b, { c = c }) end },
    { "lu", function() cl.lu(a):release() end } } do
    local name, measured = one[1], time(one[2])
    local predicted = model.seconds(name, machine, n, p, q, block)
    if world.rank == 0 then
      print(("n = %d: %-4s predicted %8.2f ms, measured %8.2f ms: %.2f"):format(n, name, predicted * 1e3,
        measured * 1e3, predicted / measured))
    end
  end
  for _, buffer in ipairs { a, b, c } do buffer:release() end
end
