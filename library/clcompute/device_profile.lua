---@meta clcompute.device_profile
-- SPDX-License-Identifier: MIT

---Measures how a device executes: experiments, each a curve with its reading in words and the sentence of the
---literature that it illustrates. Every result is checked; what a device does not show is said to be not visible.
---Times are medians, rates are of the medians; only peaks are the best of several runs.
---@class clcompute.device_profile
local device_profile = {}

---@class clcompute.device_profile.Options
---@field only? string[] names of experiments; all of them unless given
---@field seconds? number of a point, about; 0.05 unless given
---@field quick? boolean true: the least sizes, each run once, as a test that all works there; its times say nothing
---@field progress? fun(event: {name: string, done: integer, total: integer, weights: number[]}) how many experiments are done, of how many; weights: the seconds that each takes somewhere

---A section of `clcompute.report`, with `how` instead of a text and `reading` instead of a caption.
---@class clcompute.device_profile.Section
---@field title? string
---@field how? string it was measured
---@field rows clcompute.bench.Row[]
---@field columns? table[]
---@field chart? table
---@field reading? string[] what the curve says, a sentence each

---@class clcompute.device_profile.Experiment
---@field name string
---@field title string
---@field teaches string the sentence that it illustrates
---@field seconds number that it took
---@field sections clcompute.device_profile.Section[]

---A level of memory: a stretch of sizes that is read as fast.
---@class clcompute.device_profile.Level
---@field level string "64 KiB to 1 MiB"
---@field from integer bytes
---@field to integer bytes
---@field bytes_per_second? number
---@field seconds? number of a read that is waited for

---Facts that were read off the curves; each is nil where no curve shows it. A quick profile has none.
---@class clcompute.device_profile.Found
---@field wavefront? integer work-items
---@field banks? integer of local memory, of 4 bytes
---@field local_is_memory? boolean local memory is a piece of the global one, by the driver's word
---@field local_bytes_per_second? number read by all work-items
---@field bandwidth? clcompute.device_profile.Level[] the fastest first
---@field latency? clcompute.device_profile.Level[]
---@field transaction? integer bytes that memory moves at once
---@field transfers? table<string, number> bytes a second at best, by "to the device, copied" and the like
---@field group? integer the smallest group of saxpy that is as good as the best
---@field load_latency? number seconds
---@field knee? number operations for each load from which on arithmetic binds
---@field launch_waited? number seconds
---@field launch_queued? number seconds
---@field flops? table<string, number> by dtype, a second
---@field peak_buffer? integer bytes of each buffer whose copy or update was the peak of memory
---@field peak? clcompute.bench.Peak for the option `peak` of clcompute.bench

---@class clcompute.device_profile.Profile
---@field device string
---@field date string ISO 8601, UTC
---@field quick? boolean
---@field seconds number
---@field found clcompute.device_profile.Found
---@field experiments clcompute.device_profile.Experiment[]

---The names of the experiments, in their order.
---```lua
---print(require("clcompute.device_profile").names()[1]) --> peaks
---```
---@return string[]
function device_profile.names() end

---Measures a device; all experiments take a minute or two. An experiment that fails is a section that says why.
---
---Errors: wrong options; Ctrl-C.
---```lua
---local device_profile = require "clcompute.device_profile"
---local profile = device_profile.measure(d, { only = { "launch" }, quick = true })
---print(profile.experiments[1].name) --> launch
---```
---@param device clcompute.Device
---@param options? clcompute.device_profile.Options
---@return clcompute.device_profile.Profile
function device_profile.measure(device, options) end

---A profile as a document for `clcompute.report`.
---```lua
---local device_profile, report = require "clcompute.device_profile", require "clcompute.report"
---local profile = device_profile.measure(d, { only = { "launch" }, quick = true })
---print(#report.text(device_profile.document(profile)) > 0) --> true
---```
---@param profile clcompute.device_profile.Profile what `measure` returned
---@return clcompute.report.Document
function device_profile.document(profile) end

return device_profile
