-- SPDX-License-Identifier: MIT
--- What a workload is, and how it becomes candidates of `clcompute.bench`.
--
-- A workload is a table of
--
-- - `name`, `dtype`, `size`; `flops` or `bytes` of a call; `anywhere`: a device may lack the dtype;
-- - `methods`: names of the ways in which this library computes it; without a method (nil) the library chooses;
-- - `prepare(device, method)`: makes the operands, a table; returns nil and the reason where the device cannot;
-- - `run(operands, method)`: queues a call; with `timed` it does the call and returns its seconds;
-- - `reset(operands)`, optional: sets back what a call changes; called before each call, which then is a run;
-- - `result(operands, method)`: what the first call computed;
-- - `check(result)`: the error as a share of its bound, or whether the result is right, and why not;
-- - `counts(operands)`, optional: what the latest call did;
-- - `others`: who else computes it, by name. Each is a function of a device and, for OpenBLAS and CLBlast, of the
--   library. It returns a form: a table of `run`, `timed` and `reset` as above; `result`, where it is checked, and its
--   own `check`, where it computes something else; `device` and `operands`, where it uses a device; or nil and why
--   there is none.
-- @module clcompute.suite.workload

local blas = require "clcompute.blas"

local workload = {}

-- The module of each workload.
local MODULES = { saxpy = "vectors", sum = "vectors", dot = "vectors", scan = "vectors", gemm = "gemm",
  gauss = "systems", lu = "systems", loops = "nest" }

--- Makes a workload.
-- @string name "saxpy", "sum", "dot", "scan", "gemm", "gauss", "lu" or "loops"
-- @tparam table shape `n`; for gemm perhaps `m`, `k` and `batch`; for loops what `clcompute.suite.nest` takes
-- @string dtype "float" or "double"
-- @treturn table
function workload.new(name, shape, dtype)
  return require("clcompute.suite." .. MODULES[name])[name](shape, dtype)
end

--- A form of a function that returns what it computed, and its seconds.
function workload.in_c(f, ...)
  local arguments, result = table.pack(...), nil
  return { timed = true, result = function() return result end, run = function()
    local seconds
    result, seconds = f(table.unpack(arguments, 1, arguments.n))
    return seconds
  end }
end

-- --- candidates -------------------------------------------------------------------

local function candidate(work, fields)
  fields.flops, fields.bytes, fields.dtype = work.flops, work.bytes, work.dtype
  return fields
end

--- What a device lacks for a workload, or nil.
function workload.lack(work, device)
  return work.dtype == "double" and not (device.has_double or work.anywhere) and "no double" or nil
end

--- A workload on a device as a candidate, which has no name yet.
-- @tparam table work
-- @tparam Device device
-- @tparam[opt] string method
-- @treturn table
-- @treturn ?table its operands
function workload.ours(work, device, method)
  local operands, reason = nil, workload.lack(work, device)
  if not reason then operands, reason = work.prepare(device, method) end
  if not operands then return candidate(work, { device = device, unsupported = reason }) end
  return candidate(work, {
    device = device, timed = work.timed,
    fn = function() return work.run(operands, method) end,
    reset = work.reset and function() work.reset(operands) end,
    check = function() return work.check(work.result(operands, method)) end,
  }), operands
end

--- Releases operands, all of them buffers.
function workload.release(operands)
  for _, buffer in pairs(operands) do buffer:release() end
end

-- Functions that open a library, or return nil and why it cannot be opened.
local OPEN = { OpenBLAS = blas.openblas, CLBlast = blas.clblast }

--- What runs a form: its device, or the host in words.
local function place_of(form, library)
  return form.device or library and ("%s, %d threads"):format(library.core, library.threads) or "host"
end

--- A workload by somebody else as a candidate, which has no name yet.
-- @tparam table work
-- @tparam string name of `work.others`
-- @tparam[opt] Device device
-- @tparam[opt] integer threads of OpenBLAS; its own choice unless given
-- @treturn table
-- @treturn ?table its operands on the device
function workload.theirs(work, name, device, threads)
  local library, form, reason
  if OPEN[name] then library, reason = OPEN[name](threads and { threads = threads }) end
  if library or not OPEN[name] then form, reason = work.others[name](device, library) end
  if not form then return candidate(work, { device = device or "host", unsupported = reason }) end
  return candidate(work, {
    device = place_of(form, library), timed = form.timed, split = false, fn = form.run, reset = form.reset,
    check = form.result and function() return (form.check or work.check)(form.result()) end,
  }), form.operands
end

return workload
