-- SPDX-License-Identifier: MIT
--- Products and systems of ranks beside those of ScaLAPACK, in turns: `make scalapack`, which builds the program that
-- times it. Prints a table, and as rows what `clcompute report FILE` shows:
--
--     scalapack.lua PROGRAM [FILE [n,n.. [RANKS]]]
--     scalapack.lua ours N P Q BLOCK ROUNDS       what each rank runs: prints the seconds of each round

local TURNS, ROUNDS = 3, 3
local BLOCKS = { ours = { 128, 256 }, theirs = { 64, 128 } }
local ENVIRONMENT = "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OPENBLAS_NUM_THREADS=1"

local function time_ours(n, p, q, block, rounds)
  local cl = require "clcompute"
  local world = require "clcompute.mpi".world
  local g = cl.group("portable", { grid = { p, q }, block = block })
  local a, b = g:random("float", n, n, { seed = 1, low = -1 }), g:random("float", n, n, { seed = 2, low = -1 })
  local c, y = g:empty("float", n, n), g:full("float", 1, n)
  local function now()
    g:wait()
    world:barrier()
    return cl.clock()
  end
  for _ = 1, rounds do
    local start = now()
    cl.gemm(a, b, { c = c })
    local product = now() - start
    start = now()
    local f <close> = cl.lu(a)
    f:solve(y)
    local solve = now() - start
    if g.rank == 0 then print(("%.9f %.9f"):format(product, solve)) end
  end
end

if arg[1] == "ours" then
  local given = {}
  for k = 2, 6 do given[#given + 1] = math.tointeger(arg[k]) end
  return time_ours(table.unpack(given))
end

-- --- turns ----------------------------------------------------------------------------------------------

local program, file, ranks = arg[1], arg[2], math.tointeger(arg[4] or 2)
local commands = { ours = "lua5.4 tools/scalapack.lua ours", theirs = program }

--- Adds the least times of a run, after a first round that builds, to lists: of the product and of the system.
local function run(who, n, p, q, block, times)
  local pipe = assert(io.popen(("%s mpirun --oversubscribe -n %d %s %d %d %d %d %d"):format(ENVIRONMENT, p * q,
    commands[who], n, p, q, block, ROUNDS + 1)))
  local least, count = { math.huge, math.huge }, 0
  for product, solve in pipe:read "a":gmatch "([%d.]+) ([%d.]+)\n" do
    count = count + 1
    if count > 1 then least = { math.min(least[1], tonumber(product)), math.min(least[2], tonumber(solve)) } end
  end
  assert(pipe:close() and count > 1, who .. " failed")
  for k = 1, 2 do table.insert(times[k], least[k]) end
end

--- The least time over blocks and turns, the best that each can: what else the machine does only adds.
local function best(of_blocks, k)
  local found, at = math.huge, nil
  for block, times in pairs(of_blocks) do
    local least = math.min(table.unpack(times[k]))
    if least < found then found, at = least, block end
  end
  return found, at
end

local rows = {}
for n in (arg[3] or "2048,4096"):gmatch "%d+" do
  for _, grid in ipairs { { 1, ranks }, { ranks, 1 } } do
    local times = { ours = {}, theirs = {} }
    for _ = 1, TURNS do
      for who, blocks in pairs(BLOCKS) do
        for _, block in ipairs(blocks) do
          times[who][block] = times[who][block] or { {}, {} }
          run(who, math.tointeger(n), grid[1], grid[2], block, times[who][block])
        end
      end
    end
    for k, name in ipairs { "gemm", "lu and solve" } do
      local ours, own_block = best(times.ours, k)
      local theirs, block = best(times.theirs, k)
      rows[#rows + 1] = { name = name, params = { n = math.tointeger(n) }, grid = ("%dx%d"):format(grid[1], grid[2]),
        value = ours, unit = "s", block = own_block, against = "ScaLAPACK", peer_value = theirs, peer_block = block,
        ratio = theirs / ours, date = os.date "!%Y-%m-%dT%H:%M:%SZ", status = "ok" }
      print(("%-13s n %5d %s  %7.1f ms by %3d  ScaLAPACK %7.1f ms by %3d  %.2f times"):format(name, n,
        rows[#rows].grid, ours * 1e3, own_block, theirs * 1e3, block, theirs / ours))
      io.stdout:flush()
    end
  end
end

if file then
  local out <close> = assert(io.open(file, "w"))
  out:write(require "clcompute.report".jsonl(rows))
end
