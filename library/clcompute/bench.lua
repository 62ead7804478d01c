---@meta clcompute.bench
-- SPDX-License-Identifier: MIT

---Measures functions: queued work of devices, or anything else. A measurement is a row; nothing is printed.
---@class clcompute.bench
local bench = {}

---@class clcompute.bench.Candidate
---@field fn? function queues the work or does it; missing only where `unsupported` is given
---@field name? string
---@field params? table<string, any> plain values that identify it
---@field device? clcompute.Device|clcompute.Device[]|string what each run waits for, or the name of what needs no waiting
---@field flops? number of a call
---@field bytes? number of a call
---@field dtype? "float"|"double" whose peak counts; "float" unless given
---@field check? fun(result: any): (number|boolean), string? error as a share of its bound, or whether it is right
---@field reset? function called before each run, which then is one call
---@field timed? boolean fn returns its seconds, then its result
---@field split? boolean false: cl.profile cannot see what it does, as work that another library queues
---@field unit? "s"|"ms"|"us"|"ns"
---@field needs? "double"|"half"
---@field unsupported? string why it cannot run

---@class clcompute.bench.Progress
---@field stage "cold"|"peak"|"calibrate"|"run"
---@field name? string
---@field device? string
---@field round? integer
---@field rounds? integer

---@class clcompute.bench.Settings
---@field seconds? number of warm runs of a candidate; 1 unless given
---@field rounds? integer fixes the number of runs
---@field peak? boolean|clcompute.bench.Peak false: none; default: measured where it is needed
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
---@field cold? number seconds of the first call
---@field compile? number seconds, of the first call; these four are nil where cl.profile does not see the work
---@field upload? number seconds, of a warm call
---@field kernel? number seconds, of a warm call
---@field download? number seconds, of a warm call
---@field flops? number
---@field bytes? number
---@field gflops? number
---@field gbs? number
---@field peak_share? number share of the peak that binds; above 1 where the data stay in a cache
---@field checked boolean
---@field max_error? number share of its bound
---@field status "ok"|"unsupported"|"skipped"|"failed"
---@field reason? string why it is not "ok", or what else it lacks: rates, a peak, a ratio that repeats
---@field baseline? string
---@field ratio? number of the times, to the baseline's
---@field ratio_low? number
---@field ratio_high? number
---@field ratio_confidence? number 0.999, less after few rounds
---@field agrees? boolean the ratio, taken three times, is the same within 10 %
---@field elapsed? number seconds that a sweep needed for this row, its share of those measured together
---@field setup? string how a sweep measured it: a row of its file stands only for one measured alike

---Measures one function; a failure is a row too.
---@param fn function
---@param given? clcompute.bench.MeasureOptions
---@return clcompute.bench.Row
function bench.measure(fn, given) end

---Measures candidates in turns and relates them to one of them by the runs of the same round.
---@param list clcompute.bench.Candidate[]
---@param given? clcompute.bench.CompareOptions
---@return clcompute.bench.Row[]
function bench.compare(list, given) end

---@class clcompute.bench.Peak
---@field flops? number a second
---@field bytes_per_second? number
---@field buffer? integer bytes of each buffer that was copied or updated
---@field dtype? "float"|"double"|"half"|"int"

---The most that a device does, by kernels whose results are checked.
---@param device clcompute.Device
---@param given? {seconds?: number, dtype?: "float"|"double"|"half"|"int", only?: "flops"|"bytes_per_second"}
---@return clcompute.bench.Peak
function bench.peak(device, given) end

---@class clcompute.bench.SweepProgress
---@field done integer
---@field total integer
---@field point? table<string, any> the next one
---@field elapsed number
---@field remaining? number seconds; nil while nothing is known

---@class clcompute.bench.SweepOptions
---@field devices? (clcompute.Device|string)[]
---@field kernels? any[]
---@field sizes? any[]
---@field groups? any[]
---@field axes? table[] further axes, each { name, values }
---@field run fun(point: table): clcompute.bench.Candidate?, string?
---@field file? string .jsonl; rows in it that were measured alike, on a device of this process, are kept
---@field together? string[] axes whose points are measured in turns and related to the first that is well
---@field limit? number seconds
---@field work? fun(point: table): number
---@field progress? fun(state: clcompute.bench.SweepProgress)
---@field seconds? number
---@field rounds? integer
---@field peak? boolean|clcompute.bench.Peak

---Measures every combination of the values of some axes; goes on where it was cut off.
---@param given clcompute.bench.SweepOptions
---@return clcompute.bench.Row[]
function bench.sweep(given) end

return bench
