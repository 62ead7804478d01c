-- SPDX-License-Identifier: MIT

--- What is measured of a workload: its methods on every device, the sequential program, and where they are
-- asked for the libraries it is set against. A workload is a table of
--
-- - `name`, `size`, `dtype`, and `flops` or `bytes` of a run;
-- - `methods`; `prepare(device)` makes the operands, `run(operands, method)` queues a run and
--   `result(operands, method)` is what it computed, packed; `check(result)` the error as a share of its bound;
-- - `sequential()`, which returns result and seconds;
-- - `openblas(library, array)`: a function that runs it and returns seconds and the result's array;
-- - `clblast(library, operands)`, which queues a run, and `clblast_result(operands)`.
--
-- The names of candidates are unique; their `params` are `platform`, `method`, `n` and `dtype`.
-- @module clcompute.suite.workload.candidates

local blas = require "clcompute.blas"

local Candidates = {}
Candidates.__index = Candidates

local function add(self, platform, method, candidate)
  local work = self.work
  candidate.params = { platform = platform, method = method, n = work.size, dtype = work.dtype }
  candidate.flops, candidate.bytes, candidate.dtype = work.flops, work.bytes, work.dtype
  self.list[#self.list + 1] = candidate
  return candidate
end

local function own(self, operands)
  self.owned[#self.owned + 1] = operands
  return operands
end

--- What a device lacks for this workload, or nil.
local function lack(work, device)
  if work.dtype == "double" and not device.has_double then return "no double" end
end

local function add_device(self, device, method)
  local work = self.work
  local operands = not lack(work, device) and own(self, work.prepare(device))
  add(self, device.platform, method, {
    device = device, unsupported = lack(work, device),
    name = ("%s %s %s"):format(device.place, device.name, method),
    fn = operands and function() work.run(operands, method) end or nil,
    check = function() return work.check(work.result(operands, method)) end,
  })
end

local function add_sequential(self)
  local work = self.work
  add(self, "-", "", {
    name = "sequential", device = "sequential, one core", timed = true, check = work.check,
    fn = function()
      local result, seconds = work.sequential()
      return seconds, result
    end,
  })
end

local function add_openblas(self)
  local work = self.work
  if not work.openblas then return end
  local library, reason = blas.openblas()
  local run = library and work.openblas(library, blas.array)
  add(self, "OpenBLAS", "OpenBLAS", {
    name = "OpenBLAS", unsupported = reason, timed = true, fn = run or nil,
    device = library and ("%s, %d threads"):format(library.core, library.threads) or "host",
    check = function(result) return work.check(result:string()) end,
  })
end

local function add_clblast(self, device)
  local work = self.work
  if not work.clblast or lack(work, device) then return end
  local library, reason = blas.clblast()
  local operands = library and own(self, work.prepare(device))
  add(self, "CLBlast", "CLBlast", {
    device = device, name = "CLBlast on " .. device.place, unsupported = reason, split = false,
    fn = library and function() work.clblast(library, operands) end or nil,
    check = function() return work.check(work.clblast_result(operands)) end,
  })
end

--- Releases every operand. May be called twice.
function Candidates:release()
  for _, operands in ipairs(self.owned) do
    for _, operand in pairs(operands) do operand:release() end
  end
  self.owned = {}
end

Candidates.__close = Candidates.release

--- The candidates of a workload: the field `list`, whose `baseline` is the name of the sequential program.
-- @tparam table work
-- @tparam table options `devices`; `methods`, those to be measured (all of the workload); `against`: OpenBLAS and
--  CLBlast too
-- @treturn table with `list`, `baseline` and the method `release`, also called when it is closed
return function(work, options)
  local self = setmetatable({ work = work, list = {}, owned = {}, baseline = "sequential" }, Candidates)
  for _, device in ipairs(options.devices) do
    for _, method in ipairs(options.methods or work.methods) do add_device(self, device, method) end
    if options.against then add_clblast(self, device) end
  end
  if options.against then add_openblas(self) end
  add_sequential(self)
  return self
end
