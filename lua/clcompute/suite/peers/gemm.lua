-- SPDX-License-Identifier: MIT
--- The matrix product against OpenBLAS, CLBlast and the peak of the device.
-- @module clcompute.suite.peers.gemm

local bench = require "clcompute.bench"
local cl = require "clcompute"
local data = require "clcompute.suite.workload.data"
local sequential = require "clcompute.sequential"

local CHECKED = 16 -- rows of the first matrix, evenly spread

--- Rows of packed elements, the first and the last among them.
local function some_rows(bytes, rows, columns, size)
  local list, count = {}, math.min(rows, CHECKED)
  for i = 1, count do
    local row = count == 1 and 0 or (i - 1) * (rows - 1) // (count - 1)
    list[i] = bytes:sub(row * columns * size + 1, (row + 1) * columns * size)
  end
  return table.concat(list), count
end

--- A check of the first product, within u (k + 2) for positive terms, and as much of the oracle.
local function checker(line, dtype, a, b)
  local size = data.SIZE[dtype]
  local some, count = some_rows(a, line.m, line.k, size)
  local exact = sequential.gemm(data.doubles(some, dtype), data.doubles(b, dtype), count, line.n, line.k, "double")
  local bound = 2 * (line.k + 2) * data.UNIT[dtype]
  return function(bytes)
    local got = some_rows(bytes:sub(1, line.m * line.n * size), line.m, line.n, size)
    return sequential.relative_error(got, exact, dtype) / bound
  end
end

--- @tparam table line `m`, `n`, `k`, `batch`
-- @tparam string dtype
-- @tparam Device device
-- @treturn table `flops` of all products; `ours()`, waited for, and `result()`, `check(bytes)`; `peers` by name
return function(line, dtype, device)
  local m, n, k, batch = line.m, line.n, line.k, line.batch or 1
  local left, right = data.random(dtype, batch * m * k, 3), data.random(dtype, batch * k * n, 4)
  local a, b, c
  if line.batch then
    a, b = device:buffer(left, dtype, batch, m, k), device:buffer(right, dtype, batch, k, n)
    c = device:empty(dtype, batch, m, n)
  else
    a, b, c = device:buffer(left, dtype, m, k), device:buffer(right, dtype, k, n), device:empty(dtype, m, n)
  end
  local size = data.SIZE[dtype]
  local work = { flops = 2 * batch * m * n * k, peers = {} }
  work.check = checker(line, dtype, left:sub(1, m * k * size), right:sub(1, k * n * size))
  function work.ours()
    cl.gemm(a, b, { c = c })
    device:wait()
  end
  function work.result() return c:string() end

  function work.peers.OpenBLAS(library, array)
    local function piece(bytes, elements, i)
      return array(bytes:sub((i - 1) * elements * size + 1, i * elements * size), dtype)
    end
    local products = {}
    for i = 1, batch do
      products[i] = { piece(left, m * k, i), piece(right, k * n, i), array(m * n, dtype) }
    end
    return function()
      local seconds = 0.0
      for _, p in ipairs(products) do seconds = seconds + library:gemm(p[1], p[2], p[3], m, n, k) end
      return seconds
    end, function() return products[1][3]:string() end
  end

  function work.peers.CLBlast(library)
    local out = device:empty(dtype, m, n)
    return function()
      library:gemm(a, b, out, m, n, k)
      device:wait()
    end, function() return out:string() end
  end

  --- The seconds of so many operations at the device's peak, measured now.
  function work.peers.peak()
    local peak = bench.peak(device, { dtype = dtype }).flops
    return function() return work.flops / peak end
  end

  return work
end
