-- SPDX-License-Identifier: MIT
--- What a workload is, how it becomes candidates of `clcompute.bench`, and the section of a report that comes of them.
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
-- - `others`: functions of a device and of the library that is opened, by the name of who else computes it. Each
--   returns how, which is called a form: a table of `run`, `timed` and `reset` as above, `result` where it is checked,
--   `check` where it computes something else, `device` and `operands` where it uses a device; or nil and why not.

local bench = require "clcompute.bench"
local blas = require "clcompute.blas"
local cuda = require "clcompute.suite.cuda"

local workload = {}

-- The module of each workload.
local MODULES = { saxpy = "vectors", sum = "vectors", dot = "vectors", scan = "vectors", gemm = "matrices",
  gauss = "matrices", lu = "matrices", loops = "nest", arrays = "arrays", argmax = "keys", sort = "keys",
  pairs = "keys", unique = "keys", compact = "keys", histogram = "keys" }

--- Makes a workload.
-- @string name of those in MODULES
-- @tparam table shape `n`; for gemm perhaps `m`, `k`, `batch` and `precision`, for lu `batch`; for loops and arrays
--  what `clcompute.suite.nest` and `clcompute.suite.arrays` take
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

-- --- a candidate ---------------------------------------------------------------------

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
local OPEN = {
  OpenBLAS = function(_, threads) return blas.openblas(threads and { threads = threads }) end,
  CLBlast = function() return blas.clblast() end,
  cuBLAS = cuda.open, cuSOLVER = cuda.open, CUB = cuda.open, CUDA = cuda.open,
}

--- What runs a form: its device, or the host in words.
local function place_of(form, library)
  if form.device or not library then return form.device or "host" end
  return library.threads and ("%s, %d threads"):format(library.core, library.threads) or library.name
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
  if OPEN[name] then library, reason = OPEN[name](device, threads) end
  if library or not OPEN[name] then form, reason = work.others[name](device, library) end
  if not form then return candidate(work, { device = device or "host", unsupported = reason }) end
  return candidate(work, {
    device = place_of(form, library), timed = form.timed, split = false, fn = form.run, reset = form.reset,
    check = form.result and function() return (form.check or work.check)(form.result()) end,
  }), form.operands
end

-- --- candidates: every method on every device, the sequential program, libraries --

local Candidates = {}
Candidates.__index = Candidates

--- Adds a candidate with its operands, to be released with the others.
local function add(self, name, platform, method, made, operands)
  made.name, made.params = name, { platform = platform, method = method, n = self.work.size, dtype = self.work.dtype }
  self.list[#self.list + 1], self.owned[#self.owned + 1] = made, operands
end

local function add_device(self, device, options)
  local work = self.work
  for _, method in ipairs(options.methods or work.methods) do
    add(self, ("%s %s %s"):format(device.place, device.name, method), device.platform, method,
      workload.ours(work, device, method))
  end
  if options.against and work.others.CLBlast and not workload.lack(work, device) then
    add(self, "CLBlast on " .. device.place, "CLBlast", "CLBlast", workload.theirs(work, "CLBlast", device))
  end
end

--- Releases every operand. May be called twice.
function Candidates:release()
  for _, operands in ipairs(self.owned) do workload.release(operands) end
  self.owned = {}
end

Candidates.__close = Candidates.release

--- The candidates of a workload, every method on every device: the field `list`, whose `baseline` is the name of the
-- sequential program. The names are unique; `params` are `platform`, `method`, `n` and `dtype`.
-- @tparam table work
-- @tparam table options `devices`; `methods`, those to be measured (all of the workload); `against`: OpenBLAS and
--  CLBlast too
-- @treturn table with `list`, `baseline` and the method `release`, also called when it is closed
function workload.candidates(work, options)
  local self = setmetatable({ work = work, list = {}, owned = {}, baseline = "sequential" }, Candidates)
  for _, device in ipairs(options.devices) do add_device(self, device, options) end
  if options.against and work.others.OpenBLAS then
    add(self, "OpenBLAS", "OpenBLAS", "OpenBLAS", workload.theirs(work, "OpenBLAS"))
  end
  local sequential = workload.theirs(work, "sequential")
  sequential.device = "sequential, one core"
  add(self, self.baseline, "-", "", sequential)
  return self
end

-- --- candidates: others, then every method on every device ------------------------

--- Candidates named after their methods, and the counts of those of this library.
-- @tparam table work with `counts`
-- @tparam table others names of `work.others`, the baseline first
-- @tparam table devices
-- @treturn table the candidates
-- @treturn table by candidate of this library, its operands
function workload.methods(work, others, devices)
  local list, operands = {}, {}
  local function add_method(name, method, device, made)
    made.name, made.params, made.device = name, { method = method }, device
    list[#list + 1] = made
  end
  for _, name in ipairs(others) do add_method(name, name, name, (workload.theirs(work, name))) end
  for _, device in ipairs(devices) do
    for _, method in ipairs(work.methods) do
      local made, own = workload.ours(work, device, method)
      operands[made] = own
      add_method(("%s, %s"):format(method, device.place), method, device, made)
    end
  end
  return list, operands
end

-- --- a section --------------------------------------------------------------------

local RATE = {
  flops = { key = "gflops", title = "GFLOP/s" },
  bytes = { key = "gbs", title = "GB/s" },
}

--- How many times as fast as the baseline.
local function speed_up(ratio)
  local times = 1 / ratio
  return (times >= 99.5 and "%.0f" or times >= 9.95 and "%.1f" or "%.2f"):format(times)
end

local function columns(work, has_peak)
  local list = {
    { key = "device" },
    { key = "params.method", title = "method" },
    { key = "cold", title = "cold", unit = "s" },
    { key = "value", title = "median" },
    { key = { "q1", "q3" }, title = "quartiles" },
    RATE[work.flops and "flops" or "bytes"],
    { key = "ratio", title = "speed-up", format = speed_up, align = "right" },
    { key = "max_error", title = "error/bound", format = "%.3f" },
  }
  if has_peak then table.insert(list, 7, { key = "peak_share", title = "of peak", format = "percent" }) end
  return list
end

--- Measures a workload.
-- @tparam table work
-- @tparam table options those of `workload.candidates`, and `title`, `text`; `seconds` of warm runs a candidate (1),
--  `rounds`, `peak` (false) and `progress` of `bench.compare`; `paper`: rows of others to stand beside, with
--  `paper=true`
-- @treturn table a section of a report (`clcompute.report`), with the rows
function workload.section(work, options)
  local list <close> = workload.candidates(work, options)
  local rows = bench.compare(list.list, { seconds = options.seconds, rounds = options.rounds,
    peak = options.peak or false, baseline = list.baseline, progress = options.progress })
  table.move(options.paper or {}, 1, #(options.paper or {}), #rows + 1, rows)
  return {
    title = options.title, text = options.text, rows = rows, columns = columns(work, options.peak),
    chart = { kind = "bar", x = "name", y = "value", low = "q1", high = "q3", ylog = 10, ytitle = "time of a run",
      hollow = "paper" },
  }
end

return workload
