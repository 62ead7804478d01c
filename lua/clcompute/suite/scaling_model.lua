-- SPDX-License-Identifier: MIT
--- What operations on a group move and take, by theory: bytes, and seconds of a machine that is given by a few rates.
--
-- A machine: rate= of products, panel= of factoring panels, solve= with triangles, in operations a second of one rank
-- while the others work, too; copy= bytes a second of rows in its memory; link= bytes a second that a rank sends or
-- receives, with all that this takes; latency= seconds of a message. Nothing overlaps, as in the groups of today.

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

--- Seconds of a factorization: the rank of each panel is waited for, and so is the row of ranks that solves.
local function lu(machine, n, p, q, block)
  local seconds = 0
  for k = 0, n - 1, block do
    local width = math.min(block, n - k)
    local rows, rest = n - k, n - k - width
    local apart = (p - 1) / p
    seconds = seconds + rows * width * width / machine.panel + 2 * moving(machine, SIZE * rows * width * apart, p - 1)
      + 2 * SIZE * 2 * width * (n / q) / p / machine.copy -- rows are gathered and put into place
      + moving(machine, SIZE * 2 * width * (n / q) * apart / p, p - 1)
      + width * width * rest / q / machine.solve
      + moving(machine, SIZE * width * rest * ((q - 1) / q / p + apart / q), (p > 1 and 1 or 0) + (q > 1 and 1 or 0))
      + 2 * rest * rest / p / q * width / machine.rate
  end
  return seconds
end

local SECONDS = { gemm = gemm, lu = lu }

--- Seconds of "gemm" or "lu" of n x n floats on a grid.
function model.seconds(name, machine, n, p, q, block) return SECONDS[name](machine, n, p, q, block) end

return model
