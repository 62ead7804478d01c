---@meta clcompute.loops
-- SPDX-License-Identifier: MIT

---Loop nests of Lua functions as OpenCL kernels: what is parallel is proved, what pays is decided at each call, and
---results are those of the same function in Lua.
---@class clcompute.loops
local loops = {}

---A compiled function, called as the function is. Arrays are buffers or nested tables; it returns nothing.
---@class clcompute.loops.Compiled
---@overload fun(...: clcompute.Buffer|clcompute.Values|number)
local Compiled = {}

---@class clcompute.loops.Options
---@field base? 0|1 index of the first element, 1 unless given
---@field mode? "exact"|"fast" "exact" unless given: as Lua computes; "fast": in the arrays' own types
---@field heuristics? "model"|"paper"|"none" "model" unless given: what runs on the device, decided at each call
---@field force? boolean all parallel nests on the device, at once, or none; stronger than `heuristics`
---@field target? "cpu"|"gpu" what kind of device kernels are shaped for: what the device is, unless given
---@field tiles? table numbers in place of the device's own in clcompute.tuning.known
---@field device? clcompute.Device that of the buffers, or the best, unless given
---@field name? string which function of a text or file
---@field reduce? "sequential"|"tree" "sequential" unless given, in Lua's order; "tree": sums, products, minima and maxima are shared out

---What loops.compile has against a source; tostring() adds the source line and a caret.
---@class clcompute.loops.Failure
---@field [1] string "file:line:column: message"
---@field reason string the message alone
---@field line? integer
---@field column? integer

---Compiles the loop nests of a function. The kinds of arguments are analysed at the first call that has them.
---@param source function|string|{ file: string } a function of which Lua knows the file, or a text or file that holds it
---@param given? clcompute.loops.Options
---@return clcompute.loops.Compiled? # nil where the source is not accepted
---@return clcompute.loops.Failure?
function loops.compile(source, given) end

---What became of each loop at the latest call, where it ran and why, and the copies. Before the first call, as for tables.
---@return string
function Compiled:explain() end

---The OpenCL C for the latest call's kinds of arguments, each statement with its line in Lua; where there is no kernel, a
---comment that says why.
---@return string
function Compiled:source() end

---What the calls did until now.
---@return { launches: integer, uploads: integer, downloads: integer, bytes_up: integer, bytes_down: integer }
function Compiled:stats() end

---Lets go of the kernels; later use is an error.
function Compiled:close() end

return loops
