-- SPDX-License-Identifier: MIT
--- What a few measured rates say of products and factorizations on more devices: the rates of this machine, what they
-- predict, and what is measured; then machines on paper (docs/scaling.md).
--
--     mpirun -n 2 lua5.4 examples/scaling.lua [n [block]]     lua5.4 examples/scaling.lua paper

local model = require "clcompute.suite.scaling_model"

--- Hosts of H200: products of floats 50 Tflop/s (n = 8192 in 21.7 ms), devices of a host 52 GB/s each way, both
-- measured; between hosts 4 x 50 GB/s, and latencies, assumed.
local HOST = { rate = 50e12, update = 40e12, panel = 4e12, solve = 20e12, copy = 2e12, norm = 2e12,
  link = 52e9, latency = 20e-6, step = 2e-3 }
local NETWORK = { rate = 50e12, update = 40e12, panel = 4e12, solve = 20e12, copy = 2e12, norm = 2e12,
  link = 200e9 / 8, latency = 30e-6, step = 2e-3 }

local function paper()
  print(("%-24s %8s %9s %10s %6s %10s %6s %9s"):format("machine", "n", "GB each", "gemm", "of", "lu", "of", "moved TB"))
  for _, m in ipairs { { "8 GPUs of a host", HOST, 2, 4, 65536 }, { "8 GPUs of a host", HOST, 2, 4, 262144 },
    { "64 hosts of 8", NETWORK, 16, 32, 262144 }, { "64 hosts of 8", NETWORK, 16, 32, 1048576 },
    { "1,000 hosts of 8", NETWORK, 80, 100, 1048576 }, { "1,000 hosts of 8", NETWORK, 80, 100, 4194304 } } do
    local name, machine, p, q, n = table.unpack(m)
    local product, factors = model.seconds("gemm", machine, n, p, q, 1024), model.seconds("lu", machine, n, p, q, 1024)
    print(("%-24s %8d %9.1f %8.1f s %4.0f %% %8.1f s %4.0f %% %9.1f"):format(name, n, 3 * 4 * n * n / (p * q) / 1e9,
      product, 200 * n ^ 3 / machine.rate / p / q / product, factors,
      200 / 3 * n ^ 3 / machine.rate / p / q / factors, model.bytes("gemm", n, p, q) / 1e12))
  end
end

if arg[1] == "paper" then return paper() end

local cl = require "clcompute"
local internal = require "clcompute.core.internal"
local world = require "clcompute.mpi".world

local n, block = math.tointeger(arg[1] or 2048), math.tointeger(arg[2] or 256)
local ROUNDS = 7
local BYTES = { copy = true, norm = true, link = true }

local g = cl.group(os.getenv "CLCOMPUTE_DEVICE", { block = block })
local p, q = g.grid[1], g.grid[2]
local device = g.ranks.devices[world.rank + 1] or g.devices[1]

--- The least seconds of a call on all ranks at once: the slowest of them.
local function time(f)
  local least = math.huge
  for _ = 1, ROUNDS do
    g:wait()
    world:barrier()
    local start = cl.clock()
    f()
    device:wait()
    least = math.min(least, world:allreduce(cl.clock() - start, "max"))
  end
  return least
end

--- The rates of this machine, each measured alone, in all ranks at once.
local function measure()
  local rows, columns, width = n // p, n // q, math.min(n, 1024)
  local a, b = device:random("float", rows, width, { low = -1 }), device:random("float", width, columns, { low = -1 })
  local c = device:empty("float", rows, columns)
  local machine = { latency = 50e-6 }
  machine.rate = 2.0 * rows * width * columns / time(function() cl.gemm(a, b, { c = c, beta = 0 }) end)
  local left, above = device:random("float", rows, block, { low = -1 }), device:random("float", block, columns)
  machine.update = 2.0 * rows * columns * block / time(function()
    cl.gemm(left, above, { c = c, alpha = -1, beta = 1 })
  end)
  local padded, row = internal.panel_room(device:empty("float", 0), n, block)
  local pivots, diagonal = device:empty("int", block), device:empty("float", block)
  local random = device:random("float", padded, row, { low = -1 })
  machine.panel = n * block * block / time(function()
    internal.panel(random:copy(), n, block, pivots, diagonal)
    pivots:read()
  end)
  local triangle, right = device:random("float", block, block), device:random("float", block, columns)
  machine.solve = 1.0 * block * block * columns / time(function() cl.lu(triangle):solve(right) end)
  local few = device:empty("float", 2 * block, columns)
  machine.copy = 4.0 * 2 * block * columns / time(function()
    for k = 1, 2 * block do
      c:copy_rect { to = few, size = { 1, columns }, at = { (k * 37) % rows + 1, 1 }, to_at = { k, 1 } }
    end
  end)
  machine.norm = 4.0 * rows * columns / time(function()
    cl.sum(cl.map("fabs(x[i])", { x = c:copy() }), { axis = 1 }):read()
  end)
  local small = cl.group(os.getenv "CLCOMPUTE_DEVICE", { block = 8 }):random("float", 64, 64, { low = -1 })
  machine.step = time(function() cl.lu(small) end) / 8
  if world.size > 1 then
    local target = device:empty("float", rows, block)
    local list = {}
    for from = 0, world.size - 1 do
      list[#list + 1] = { from = from + 1, source = c, at = { 1, 1 }, to = (from + 1) % world.size + 1, target = target,
        to_at = { 1, 1 }, size = { rows, block } }
    end
    machine.link = 4.0 * rows * block / time(function() g.ranks:move_all(list) end)
  else
    machine.link = math.huge
  end
  return machine
end

local machine = measure()
local a, b = g:random("float", n, n, { seed = 1, low = -1 }), g:random("float", n, n, { seed = 2, low = -1 })
local c = g:empty("float", n, n)
local measured = { gemm = time(function() cl.gemm(a, b, { c = c }) end), lu = time(function() cl.lu(a) end) }
if world.rank == 0 then
  print(("%d ranks, grid %dx%d, n = %d, blocks of %d"):format(world.size, p, q, n, block))
  print(("  %-6s %8.2f ms"):format("step", machine.step * 1e3))
  for _, name in ipairs { "rate", "update", "panel", "solve", "copy", "norm", "link" } do
    print(("  %-6s %8.2f G%s/s"):format(name, machine[name] / 1e9, BYTES[name] and "B" or "op"))
  end
  for _, name in ipairs { "gemm", "lu" } do
    local predicted = model.seconds(name, machine, n, p, q, block)
    print(("  %-6s predicted %7.1f ms, measured %7.1f ms: %.2f"):format(name, predicted * 1e3, measured[name] * 1e3,
      predicted / measured[name]))
  end
end
