---@meta clcompute.tune
-- SPDX-License-Identifier: MIT

---Looks for better numbers for an operation on a device: block sizes, groups, chunks. One number after the other is
---changed; each candidate is checked and measured in turns with the best one so far, and what is clearly faster stays.
---What was found is kept in `$CLCOMPUTE_TUNING`, else `$XDG_CONFIG_HOME/clcompute/tuning.lua` or
---`~/.config/clcompute/tuning.lua`, and used from then on.
---@class clcompute.tune
local tune = {}

---@class clcompute.tune.Options
---@field operations? string[] all unless given
---@field dtypes? string[] float, and double where the device has it, unless given
---@field seconds? number after which nothing more is tried; 120 unless given
---@field keep? boolean whether what is faster is written to the file; true unless given
---@field progress? fun(state: table) called with { operation =, dtype =, name =, faster =, status = } after each candidate

---@class clcompute.tune.Found
---@field operation string
---@field dtype string
---@field before table the numbers there were
---@field after table the best ones
---@field before_seconds? number
---@field after_seconds? number
---@field ratio? number of the times
---@field is_faster boolean
---@field tried clcompute.bench.Row[]
---@field reason? string why nothing was tried
---@field path? string the file that keeps the numbers

---The operations that can be tuned.
---```lua
---print(table.concat(require("clcompute.tune").operations(), " ")) --> gemm loops
---```
---@return string[] # sorted
function tune.operations() end

---Tunes operations of a device.
---
---Errors: wrong options; a file that cannot be written.
---```lua
---local tune = require "clcompute.tune"
---local found = tune.run(d, { operations = { "gemm" }, dtypes = { "float" }, seconds = 0.1, keep = false })
---print(#found, found[1].operation) --> 1	gemm
---```
---@param device clcompute.Device
---@param options? clcompute.tune.Options
---@return clcompute.tune.Found[] # for each operation and dtype
function tune.run(device, options) end

return tune
