-- SPDX-License-Identifier: MIT
--- What operations on a group move and take, by theory.

local model = {}

local SIZE = 4 -- bytes of a float

--- Bytes that go from rank to rank on a grid of p rows and q columns.
local BYTES = {
  -- panels of A along rows, of B along columns
  gemm = function(n, p, q) return SIZE * n * n * (p + q - 2) end,
  -- multipliers along rows, rows of U along columns; both of two rows that are exchanged, where they are apart
  ["lu and solve"] = function(n, p, q) return SIZE * n * n * (p + q - 2) // 2 + 2 * SIZE * n * n * (p - 1) // p end,
  saxpy = function() return 0 end,
  sum = function() return 0 end,
}

function model.bytes(name, n, p, q) return BYTES[name](n, p, q) end

return model
