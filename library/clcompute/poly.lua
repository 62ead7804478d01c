---@meta clcompute.poly
-- SPDX-License-Identifier: MIT

---The analyses of loop nests, by the integer set library (isl): sets and maps go in as isl's own strings, tables and
---Lua expressions come out. A call has a budget of isl's operations, 3,000,000 unless `budget` says otherwise; a call
---that exceeds it, or meets numbers too large for it, returns nil and a message; all other failures are errors. The
---module needs neither OpenCL nor the rest of clcompute. `make` builds it where isl is (Debian's `libisl-dev`).
---@class clcompute.poly
local poly = {}

---@class clcompute.poly.NestAccess
---@field array string name
---@field map string from a statement's iterations to elements, restricted to its domain
---@field write? boolean
---@field loops? integer[] numbers of the loops around it, outermost first; -3 is loop 3, counting down; of dependences

---@class clcompute.poly.Dependence
---@field loop integer
---@field from integer position of the access in the earlier pass
---@field to integer position of the access in the later pass
---@field kind "flow"|"anti"|"output"

---@class clcompute.poly.Question
---@field context string what is known of the parameters
---@field map string from a statement's iterations to one subscript, restricted to its domain
---@field outside string the integers that should not be reached
---@field greatest? boolean the least one is found unless true

---@class clcompute.poly.Extreme
---@field condition? string a Lua expression over the parameters; absent where it never holds
---@field value? string the extreme subscript, as such an expression

---@class clcompute.poly.TimedAccess
---@field map string from a statement's iterations to elements, restricted to its domain
---@field schedule string from the iterations to times, which are ordered lexicographically
---@field write? boolean true: it writes for certain; a write that may happen is left out

---Finds the loops that carry a dependence: two accesses of one element, at least one of them a write, in different
---passes of the loop and the same pass of every loop around it. A loop without one is parallel. There is one example
---for each loop, array and kind.
---```lua
---local poly = require "clcompute.poly"
---local found = poly.dependences { accesses = {
---  { array = "a", map = "[n] -> { S[i] -> a[i] : 0 < i < n }", write = true, loops = { 1 } },
---  { array = "a", map = "[n] -> { S[i] -> a[i - 1] : 0 < i < n }", loops = { 1 } } } }
---print(found[1].loop, found[1].from, found[1].to, found[1].kind) --> 1	1	2	flow
---```
---@param nest { accesses: clcompute.poly.NestAccess[], budget?: integer }
---@return clcompute.poly.Dependence[]? # nil where the budget is exceeded
---@return string? # a message
function poly.dependences(nest) end

---Finds the conditions on the parameters under which subscripts leave their range, and how far.
---```lua
---local poly = require "clcompute.poly"
---local found = poly.extremes { questions = { { map = "[n] -> { S[i] -> [i + 1] : 0 <= i < n }",
---  outside = "[d] -> { [x] : x >= d }", greatest = true, context = "[d] -> { : d >= 0 }" } } }
---print(found[1].value) --> n
---```
---@param input { questions: clcompute.poly.Question[], budget?: integer }
---@return clcompute.poly.Extreme[]? # one for each question; nil where the budget is exceeded
---@return string? # a message
function poly.extremes(input) end

---Finds the first of some pairs of accesses that touch the same element, whatever the parameters. Parameters of the
---same name are the same.
---```lua
---local poly = require "clcompute.poly"
---print(poly.overlap { pairs = { { one = "[n] -> { S[i] -> a[i] : i < n }",
---  other = "[n] -> { T[i] -> a[i - 1] : i > n }" } } }) --> false
---```
---@param input { pairs: { one: string, other: string, when?: string }[], budget?: integer } `when`: for which parameters
---@return integer|boolean|nil # its position; false: none does; nil: the budget is exceeded
---@return string? # a message
function poly.overlap(input) end

---Finds the condition on the parameters under which a nest needs what an array held before: some element is not
---written, or is read before it is written. Without `extent` it is asked what is read alone.
---```lua
---local poly = require "clcompute.poly"
---print(poly.uncovered { context = "[n, d] -> { : d >= 0 }", extent = "[d] -> { a[x] : 0 <= x < d }",
---  accesses = { { map = "[n] -> { S[i] -> a[i] : 0 <= i < n }", schedule = "{ S[i] -> [i] }",
---    write = true } } }) --> d >= ...
---```
---@param input { context: string, extent?: string, accesses: clcompute.poly.TimedAccess[], budget?: integer }
---@return string|boolean|nil # a Lua expression over the parameters; false: never; nil: the budget is exceeded
---@return string? # a message
function poly.uncovered(input) end

---Finds a time for each pass of a sequential nest, a sum of multiples of its loops' variables, such that passes of
---one time do not depend on each other and each comes after all that it depends on: a wavefront, as isl's scheduler
---with outer coincidence makes it. `steps` has 1 or -1 of each loop, outermost first, which are the first dimensions
---of the maps.
---```lua
---local poly = require "clcompute.poly"
---local times = poly.wavefront { steps = { 1, 1 }, accesses = {
---  { array = "a", map = "[n] -> { S[i, j] -> a[i, j] : 0 < i, j < n }", write = true },
---  { array = "a", map = "[n] -> { S[i, j] -> a[i - 1, j] : 0 < i, j < n }" },
---  { array = "a", map = "[n] -> { S[i, j] -> a[i, j - 1] : 0 < i, j < n }" } } }
---print(times[1], times[2]) --> 1	1
---```
---@param nest { steps: integer[], accesses: clcompute.poly.NestAccess[], budget?: integer }
---@return integer[]|boolean|nil # a coefficient for each loop; false: there is none; nil: the budget is exceeded
---@return string? # a message
function poly.wavefront(nest) end

---The version of isl.
---```lua
---print(require("clcompute.poly").version()) --> isl-
---```
---@return string # "isl-0.25-GMP"
function poly.version() end

return poly
