---@meta clcompute.poly
-- SPDX-License-Identifier: MIT

---The analyses of loop nests, by the integer set library (isl): its strings go in, tables and Lua expressions come out.
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
---@field write? boolean it writes for certain

---Finds the loops that carry a dependence, with one example for each loop, array and kind.
---@param nest { accesses: clcompute.poly.NestAccess[], budget?: integer }
---@return clcompute.poly.Dependence[]? # nil where the budget is exceeded
---@return string? message
function poly.dependences(nest) end

---Finds the conditions under which subscripts leave their range, and how far.
---@param input { questions: clcompute.poly.Question[], budget?: integer }
---@return clcompute.poly.Extreme[]? # one for each question; nil where the budget is exceeded
---@return string? message
function poly.extremes(input) end

---Finds the first of some pairs of accesses that touch the same element, whatever the parameters.
---@param input { pairs: { one: string, other: string }[], budget?: integer }
---@return integer|boolean|nil # its position; false: none does; nil: the budget is exceeded
---@return string? message
function poly.overlap(input) end

---Finds the condition under which a nest needs what an array held before.
---@param input { context: string, extent: string, accesses: clcompute.poly.TimedAccess[], budget?: integer }
---@return string|boolean|nil # a Lua expression over the parameters; false: never; nil: the budget is exceeded
---@return string? message
function poly.uncovered(input) end

---Finds a time for each pass of a sequential nest, a sum of multiples of its loops' variables, such that passes of one
---time do not depend on each other and each comes after all that it depends on.
---@param nest { steps: integer[], accesses: clcompute.poly.NestAccess[], budget?: integer }
---@return integer[]|boolean|nil # a coefficient for each loop; false: there is none; nil: the budget is exceeded
---@return string? message
function poly.wavefront(nest) end

---The version of isl.
---@return string
function poly.version() end

return poly
