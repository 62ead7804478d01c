-- SPDX-License-Identifier: MIT
--- What operations on a group move and take, by theory: bytes, and seconds of a machine that a few rates describe.
--
-- A machine, of one rank while the others work, too: product= of large inner extents, update= of those of
-- factorizations, whose inner extent is a block, panel= of factoring panels, solve= with triangles, in operations;
-- exchange= of rows, copy= in its memory, norm= of reading a matrix for its norm, link= of what a rank sends and
-- receives at once, send= of what goes one way alone, in bytes. Each is what a second does, or {fixed=, rate=} with
-- the seconds that the smallest takes. latency= of a message, step= of a step of a factorization on top of these, in
-- seconds. overlaps= whether transfers go on beside kernels, as those between devices of a process do.

local model = {}

local SIZE = 4 -- bytes of a float
local PANEL = 1024 -- columns that a product moves at a time, at least a block

--- Bytes that go from rank to rank on a grid of p rows and q columns.
local BYTES = {
  -- panels of A along rows, of B along columns
  gemm = function(n, p, q) return SIZE * n * n * (p + q - 2) end,
  -- multipliers along rows, rows of U along columns; both of two rows that are exchanged, where they are apart
  ["lu and solve"] = function(n, p, q) return SIZE * n * n * (p + q - 2) // 2 + SIZE * n * n * (p - 1) // p * 2 end,
  saxpy = function() return 0 end,
  sum = function() return 0 end,
}

function model.bytes(name, n, p, q) return BYTES[name](n, p, q) end

--- How many of n rows or columns, in blocks on a line of ranks, the first of these has.
local function first_share(n, block, count)
  return n // (block * count) * block + math.min(block, n % (block * count))
end

--- Bytes of a matrix that is gathered on the first rank.
function model.gathered(n, p, q, block)
  return SIZE * (n * n - first_share(n, block, p) * first_share(n, block, q))
end

--- Seconds of so much work.
local function cost(of, work)
  if work <= 0 then return 0 end
  if type(of) == "number" then return work / of end
  return of.fixed + work / of.rate
end

--- Seconds that a rank needs to receive so many bytes, and to send as many.
local function moving(machine, bytes, messages) return cost(machine.link, bytes) + messages * machine.latency end

--- Seconds of a product. Where transfers go on beside kernels, the panels of a step begin to move when the product two
-- steps before has ended, since the device packs them.
local function gemm(machine, n, p, q, block)
  local step = math.max(1, PANEL // block) * block
  local arrived, ended, before = 0, 0, 0 -- when panels are there; when the last products ended
  for first = 0, n - 1, step do
    local width = math.min(step, n - first)
    local blocks = math.ceil(width / block)
    local received = SIZE * width * (n / p * (q - 1) / q + n / q * (p - 1) / p)
    local messages = (q > 1 and blocks * (q - 1) / q or 0) + (p > 1 and blocks * (p - 1) / p or 0)
    arrived = math.max(arrived, machine.overlaps and before or ended) + moving(machine, received, messages)
    before, ended = ended, math.max(ended, arrived) + cost(machine.product, 2 * (n / p) * (n / q) * width)
  end
  return ended
end

--- Rows that the rank with the most has of the last `rest`, in blocks on a line of ranks.
local function most(rest, block, count)
  return math.min(rest, math.ceil(rest / block / count) * block)
end

--- Seconds of a factorization on a grid of several rows: the rank of each panel is waited for, and so is the row of
-- ranks that solves.
local function lu_of_rows(machine, n, p, q, block)
  local seconds = cost(machine.norm, SIZE * n * n / p / q)
  for k = 0, n - 1, block do
    local width = math.min(block, n - k)
    local rows, rest = n - k, n - k - width
    local apart, below, right = (p - 1) / p, most(rest, block, p), most(rest, block, q)
    -- what goes along rows and columns is copied beside the matrix where it is, too: the panel there and back
    local copied = SIZE * width * (2 * 2 * n / q / p + 3 * rows + below + 3 * right)
    local panel = SIZE * rows * width * apart
    local exchanged = SIZE * 2 * width * (n / q) * apart / p
    local spread = SIZE * width * ((q - 1) / q * below + apart * right)
    seconds = seconds + machine.step + cost(machine.copy, copied) + 2 * moving(machine, panel, p - 1)
      + moving(machine, exchanged, p - 1) + moving(machine, spread, 2) + cost(machine.panel, rows * width * width)
      + cost(machine.solve, width * width * right) + cost(machine.update, 2 * below * right * width)
  end
  return seconds
end

--- Columns behind column e - 1 that a rank of a row has.
local function columns_behind(n, e, block, q, rank)
  local count = 0
  for first = e, n - 1, block do
    if first // block % q == rank then count = count + math.min(block, n - first) end
  end
  return count
end

--- Seconds of a factorization on a grid of one row, by its ranks' clocks. In a step all ranks wait for the panel, then
-- exchange rows, solve and subtract; the home of the next panel has that factored, and on its way, before the rest.
local function lu_of_columns(machine, n, q, block)
  local norm = cost(machine.norm, SIZE * n * n / q)
  local function panel_of(k)
    local rows, width = n - k, math.min(block, n - k)
    return 3 * cost(machine.copy, SIZE * rows * width) + cost(machine.panel, rows * width * width)
  end
  local free = {} -- when each rank has ended what it has queued
  for rank = 0, q - 1 do free[rank] = norm end
  local ready = norm + panel_of(0)
  free[0] = ready
  for k = 0, n - 1, block do
    local width = math.min(block, n - k)
    local e, rows = k + width, n - k
    local next_home = e // block % q
    local start = ready + machine.step
    if q > 1 then start = start + cost(machine.send, SIZE * rows * width * (q - 1)) + machine.latency end
    if not machine.overlaps then -- and the home's own work waits for the transfer, others receive when theirs has ended
      for rank = 0, q - 1 do start = math.max(start, free[rank]) end
    end
    for rank = 0, q - 1 do
      local behind, own = columns_behind(n, e, block, q, rank), math.max(free[rank], start)
      own = own + cost(machine.exchange, 4 * SIZE * width * (n / q)) + cost(machine.solve, width * width * behind)
      if rank == next_home and e < n then
        local next_width = math.min(block, n - e)
        ready = own + cost(machine.update, 2 * (n - e) * next_width * width) + panel_of(e)
        own, behind = ready, behind - next_width
      end
      free[rank] = own + cost(machine.update, 2 * (n - e) * behind * width)
    end
  end
  local last = 0
  for rank = 0, q - 1 do last = math.max(last, free[rank]) end
  return last
end

local function lu(machine, n, p, q, block)
  if p > 1 then return lu_of_rows(machine, n, p, q, block) end
  return lu_of_columns(machine, n, q, block)
end

local SECONDS = { gemm = gemm, lu = lu }

--- Seconds of "gemm" or "lu" of n x n floats on a grid.
function model.seconds(name, machine, n, p, q, block) return SECONDS[name](machine, n, p, q, block) end

return model
