---@meta clcompute.bench
-- SPDX-License-Identifier: MIT

---Measures functions: queued work of devices, or anything else. A measurement is a row, a plain table; nothing is
---printed.
---@class clcompute.bench
local bench = {}

---What is measured.
---@class clcompute.bench.Candidate
---@field fn? function queues the work or does it, without arguments; missing only where `unsupported` is given
---@field name? string
---@field params? table<string, any> plain values that identify it
---@field device? clcompute.Device|clcompute.Device[]|string whose queues each run waits for, or the name of what runs it without a queue; all devices, and the device of the Event or Buffer that fn returns, unless given
---@field flops? number operations of a call
---@field bytes? number moved by a call
---@field dtype? "float"|"double" whose peak counts; "float" unless given
---@field check? fun(result: any): (number|boolean), string? called once with what the first call returned: the largest error as a share of its bound, or whether the result is right and why not
---@field reset? function called before each run, which then is one call
---@field timed? boolean true: fn returns the seconds it took, then its result
---@field split? boolean false: `cl.profile` cannot see what it does, as work that another library queues
---@field unit? "s"|"ms"|"us"|"ns"
---@field needs? "double"|"half"
---@field unsupported? string why it cannot run

---@class clcompute.bench.Progress
---@field stage "cold"|"peak"|"calibrate"|"run"
---@field name? string
---@field device? string
---@field round? integer
---@field rounds? integer
---@field share? number of the runs of all candidates that are done, 0 to 1

---@class clcompute.bench.Settings
---@field seconds? number of warm runs of a candidate; 1 unless given
---@field rounds? integer fixes the number of runs
---@field peak? boolean|clcompute.bench.Peak false: none; or what `bench.peak` returned; measured where `flops` or `bytes` and one device are known unless given
---@field progress? fun(state: clcompute.bench.Progress)

---@class clcompute.bench.MeasureOptions: clcompute.bench.Candidate, clcompute.bench.Settings

---@class clcompute.bench.CompareOptions: clcompute.bench.Settings
---@field baseline? string name of a candidate; the first unless given

---@class clcompute.bench.Row
---@field name? string
---@field params table<string, any>
---@field device? string
---@field driver? string
---@field date string ISO 8601, UTC
---@field value? number median of a call, in `unit`
---@field unit string
---@field min? number
---@field q1? number
---@field q3? number
---@field runs? integer
---@field batch? integer calls of a run
---@field cold? number seconds of the first call, with what it compiled
---@field compile? number seconds, of the first call; this and the next three are nil where `cl.profile` does not see the work, while the script itself profiles, and while rows of its are left, which a further `cl.profile(true)` clears
---@field upload? number seconds, of a warm call
---@field kernel? number seconds, of a warm call
---@field download? number seconds, of a warm call
---@field flops? number
---@field bytes? number
---@field gflops? number
---@field gbs? number
---@field peak_share? number share of the peak that binds; above 1 where the data stay in a cache, as the peak is the memory's
---@field checked boolean
---@field max_error? number share of its bound
---@field status "ok"|"unsupported"|"skipped"|"failed"
---@field reason? string why it is not "ok", or what else it lacks: rates, a peak, a ratio that repeats
---@field baseline? string
---@field ratio? number of the times, to the baseline's; below 1 is faster
---@field ratio_low? number
---@field ratio_high? number
---@field ratio_confidence? number with which the ratio lies between the two: 0.999, less after few rounds
---@field agrees? boolean the ratio, taken three times, is the same within 10 %
---@field elapsed? number seconds that a sweep needed for this row, its share where several were measured together
---@field setup? string how a sweep measured it: a row of its file stands only for one measured alike

---Measures one function. It is called once, then so often that a run lasts, in at least five runs. A function that
---fails is a row too.
---
---Errors: wrong options.
---```lua
---local bench = require "clcompute.bench"
---local x, y = d:zeros("float", 1000), d:zeros("float", 1000)
---local row = bench.measure(function() cl.saxpy(2, x, y) end, { device = d, seconds = 0.01, peak = false })
---print(row.status, row.value > 0) --> ok	true
---```
---@param fn function
---@param options? clcompute.bench.MeasureOptions
---@return clcompute.bench.Row
function bench.measure(fn, options) end

---Measures candidates in turns, in an order that is fair to each, and relates them to one of them by the runs of the
---same round. It takes eleven rounds at least; five where eleven take five times the `seconds`.
---
---Errors: wrong options.
---```lua
---local bench = require "clcompute.bench"
---local a = d:random("float", 64, 64)
---local function product(kernel) return function() cl.gemm(a, a, { kernel = kernel }) end end
---local rows = bench.compare({ { name = "naive", fn = product "naive" }, { name = "fast", fn = product "fast" } },
---  { seconds = 0.01, peak = false })
---print(rows[1].ratio, rows[2].ratio > 0) --> 1	true
---```
---@param candidates clcompute.bench.Candidate[]
---@param options? clcompute.bench.CompareOptions
---@return clcompute.bench.Row[] # in the order of the candidates
function bench.compare(candidates, options) end

---@class clcompute.bench.Peak
---@field flops? number operations a second; a multiply-add is two
---@field bytes_per_second? number read and written, by buffers that exceed the cache where the device's memory allows
---@field buffer? integer bytes of each buffer that was copied or updated
---@field dtype? "float"|"double"|"half"|"int"

---@class clcompute.bench.PeakOptions
---@field seconds? number of each of the two; 0.2 unless given
---@field only? "flops"|"bytes_per_second" the one of the two that is measured; both unless given
---@field dtype? "float"|"double"|"half"|"int" of the operations; "float" unless given

---The most that a device does: operations by a loop of multiply-adds, bytes by a copy and an update in place.
---
---Errors: the device computes a wrong result, or has no such dtype.
---```lua
---local peak = require("clcompute.bench").peak(d, { seconds = 0.01 })
---print(peak.flops > 0, peak.bytes_per_second > 0) --> true	true
---```
---@param device clcompute.Device
---@param options? clcompute.bench.PeakOptions
---@return clcompute.bench.Peak
function bench.peak(device, options) end

---@class clcompute.bench.SweepProgress
---@field done integer
---@field total integer
---@field point? table<string, any> the next one
---@field elapsed number
---@field remaining? number seconds; nil while nothing is known

---@class clcompute.bench.SweepOptions
---@field devices? (clcompute.Device|string)[] an axis: a point has `device`
---@field kernels? any[] an axis: a point has `kernel`
---@field sizes? any[] an axis: a point has `size`
---@field groups? any[] an axis: a point has `group`
---@field axes? table[] further axes, each { name, values }; the last one varies first
---@field run fun(point: table): clcompute.bench.Candidate?, string? the candidate of a point, or nil and why there is none
---@field file? string .jsonl; rows in it that were measured alike, on a device of this process, are kept; one file is for one sweep
---@field together? string[] axes whose points are measured in turns, as by `bench.compare`, and related to the first that is well
---@field limit? number seconds, after which what is left becomes rows "skipped", which are not written
---@field work? fun(point: table): number how much there is to do, for the estimate
---@field progress? fun(state: clcompute.bench.SweepProgress)
---@field seconds? number for each point, as in `bench.measure`
---@field rounds? integer
---@field peak? boolean|clcompute.bench.Peak

---Measures every combination of the values of some axes. Rows are appended to a file as they come; called again, the
---sweep goes on where it was cut off. What failed, and what was measured with other settings, another device or driver,
---is measured again.
---
---Errors: wrong options; a file that cannot be written, holds no rows, or belongs to a sweep over other axes. They
---come before anything is measured.
---```lua
---local bench = require "clcompute.bench"
---local rows = bench.sweep { sizes = { 100, 200 }, seconds = 0.01, peak = false, run = function(point)
---  local x = d:zeros("float", point.size)
---  return { device = d, fn = function() cl.saxpy(2, x, x:copy()) end }
---end }
---print(#rows, rows[2].params.size) --> 2	200
---```
---@param options clcompute.bench.SweepOptions
---@return clcompute.bench.Row[] # in the order of the points; their `params` hold the point
function bench.sweep(options) end

return bench
