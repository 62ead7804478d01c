---@meta clcompute.loops
-- SPDX-License-Identifier: MIT

---Loop nests of Lua functions as OpenCL kernels. Which loops are parallel is proved; where a nest runs is decided at
---each call; results are the same as in Lua. Needs isl (Debian's `libisl-dev`). docs/loops.md is its
---guide.
---@class clcompute.loops
local loops = {}

---A compiled function, called as the function is, with no more arguments than it has parameters. Arrays are buffers or
---nested tables; it returns what the function does: numbers, arrays that it was given, and tables that it makes, which
---are buffers where an argument is one.
---@class clcompute.loops.Compiled
---@overload fun(...: clcompute.Buffer|clcompute.Values|number)
local Compiled = {}

---@class clcompute.loops.Options
---@field base? 0|1 index of the first element; 1 unless given
---@field mode? "exact"|"fast" "exact" unless given: in double, as Lua computes; only the last digits of exp, log, sin, cos, tan, asin, acos, atan and ^ may differ. "fast": in the arrays' own types
---@field heuristics? "model"|"paper"|"none" "model" unless given: a nest runs on the device where its estimated time is shorter. "none": each parallel nest. "paper": the rule of Belevantsev, Kravets & Monakov 2012
---@field force? boolean true: each parallel nest on the device, at once; false: none; stronger than `heuristics`
---@field reduce? "sequential"|"tree" "sequential" unless given: sums in Lua's order; sums of integers, and the smallest and largest of floats that are surely not -0.0, such as those of `math.abs`, are the same in any order, and shared out. "tree": a loop that is sequential only for sums, products, minima or maxima, or for sums in elements of which data say where they are, is shared out, on processors where no loop around is parallel; floats are then rounded otherwise, the same at every call on a device
---@field target? "cpu"|"gpu" the kind of device that kernels are shaped for: "cpu", whose work-items go through tiles, or "gpu", whose work-items are many; what the device is unless given
---@field tiles? table numbers in place of the device's own in `clcompute.tuning.known`: { rows = 4, columns = 2, lane = 256 }; `clcompute tune loops` finds better ones
---@field device? clcompute.Device where nests run: the buffers' device, or the best, unless given
---@field name? string which function of a text or file

---What `loops.compile` refuses a source for; `tostring` adds the source line and a caret.
---@class clcompute.loops.Failure
---@field [1] string "file:line:column: message"
---@field reason string the message alone
---@field line? integer
---@field column? integer

---Compiles the loop nests of a function. The result is called as the function is, with buffers or nested tables as
---arrays; the kinds of arguments are analysed at the first call that has them. A source outside the subset or with a
---syntax error, or a file that cannot be read, is no error: it returns nil and the failure, which `assert` shows.
---
---Errors: wrong options, or a source that is no function, text or `{ file = path }`.
---```lua
---local loops = require "clcompute.loops"
---local double = assert(loops.compile("function(x, n) for i = 1, n do x[i] = 2 * x[i] end end"))
---local x = { 1.0, 2.0, 3.0 }
---double(x, #x)
---print(x[3]) --> 6.0
---print(select(2, loops.compile("function(x) x.y = 1 end"))[1]) --> ...:1:13: ...
---```
---@param source function|string|{ file: string } a function of which Lua knows the file, or a text or file that holds it
---@param options? clcompute.loops.Options
---@return clcompute.loops.Compiled? # nil where the source is not accepted
---@return clcompute.loops.Failure?
function loops.compile(source, options) end

---What became of each loop at the latest call: parallel, or which access depends on which; where it ran and why, with
---the numbers of both sides; copies. Before the first call, as for tables of floats (or integers).
---```lua
---local loops = require "clcompute.loops"
---local double = assert(loops.compile("function(x, n) for i = 1, n do x[i] = 2 * x[i] end end"))
---print(double:explain():match "parallel") --> parallel
---```
---@return string
function Compiled:explain() end

---The OpenCL C for the latest call's kinds of arguments, each statement with its line in Lua; where there is no
---kernel, a comment that says why.
---```lua
---local loops = require "clcompute.loops"
---local double = assert(loops.compile("function(x, n) for i = 1, n do x[i] = 2 * x[i] end end"))
---print(double:source():match "kernel void nest_1") --> kernel void nest_1
---```
---@return string
function Compiled:source() end

---@class clcompute.loops.Stats
---@field launches integer
---@field uploads integer copies of whole arrays
---@field downloads integer
---@field bytes_up integer
---@field bytes_down integer

---What the calls did until now.
---```lua
---local loops = require "clcompute.loops"
---local double = assert(loops.compile("function(x, n) for i = 1, n do x[i] = 2 * x[i] end end"))
---double({ 1.0 }, 1)
---print(double:stats().launches) --> 0
---```
---@return clcompute.loops.Stats
function Compiled:stats() end

---Lets go of the kernels; later use is an error. `<close>` does the same.
---```lua
---local loops = require "clcompute.loops"
---local double = assert(loops.compile("function(x, n) for i = 1, n do x[i] = 2 * x[i] end end"))
---double:close()
---```
function Compiled:close() end

return loops
