-- SPDX-License-Identifier: MIT
--- What operations on a group move and take, by theory: bytes, and seconds of a machine that a few rates describe.
--
-- A machine, in operations a second of one rank while the others work, too: rate= of products, update= of those of
-- factorizations, whose inner extent is a block, panel= of factoring panels, solve= with triangles. In bytes a second:
-- copy= of rows in its memory, norm= of reading a matrix for its norm, link= of what a rank sends and receives,
-- all told. In seconds: latency= of a message, step= of a step of a factorization however small the matrix is.
-- Nothing overlaps, as in the groups of today.

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

--- Seconds that a rank needs to receive so many bytes, and to send as many.
local function moving(machine, bytes, messages) return bytes / machine.link + messages * machine.latency end

--- Seconds of a product.
local function gemm(machine, n, p, q, block)
  local seconds, step = 0, math.max(1, PANEL // block) * block
  for first = 0, n - 1, step do
    local width = math.min(step, n - first)
    local blocks = math.ceil(width / block)
    local received = SIZE * width * (n / p * (q - 1) / q + n / q * (p - 1) / p)
    local messages = (q > 1 and blocks * (q - 1) / q or 0) + (p > 1 and blocks * (p - 1) / p or 0)
    seconds = seconds + moving(machine, received, messages) + 2 * (n / p) * (n / q) * width / machine.rate
  end
  return seconds
end

--- Rows that the rank with the most has of the last `rest`, in blocks on a line of ranks.
local function most(rest, block, count)
  return math.min(rest, math.ceil(rest / block / count) * block)
end

--- Seconds of a factorization: the rank of each panel is waited for, and so is the row of ranks that solves.
local function lu(machine, n, p, q, block)
  local seconds = SIZE * n * n / p / q / machine.norm
  for k = 0, n - 1, block do
    local width = math.min(block, n - k)
    local rows, rest = n - k, n - k - width
    local apart, below, right = (p - 1) / p, most(rest, block, p), most(rest, block, q)
    -- what goes along rows and columns is copied beside the matrix where it is, too: the panel there and back
    local copied = SIZE * width * (2 * 2 * n / q / p + 3 * rows + below + 3 * right)
    local panel = SIZE * rows * width * apart
    local exchanged = SIZE * 2 * width * (n / q) * apart / p
    local spread = SIZE * width * ((q - 1) / q * below + apart * right)
    seconds = seconds + machine.step + copied / machine.copy + 2 * moving(machine, panel, p - 1)
      + moving(machine, exchanged, p - 1) + moving(machine, spread, 2) + rows * width * width / machine.panel
      + width * width * right / machine.solve + 2 * below * right * width / machine.update
  end
  return seconds
end

local SECONDS = { gemm = gemm, lu = lu }

--- Seconds of "gemm" or "lu" of n x n floats on a grid.
function model.seconds(name, machine, n, p, q, block) return SECONDS[name](machine, n, p, q, block) end

return model
