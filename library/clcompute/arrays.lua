---@meta _
-- SPDX-License-Identifier: MIT
-- Arrays: what orders, chooses and moves the elements of buffers of any dtype, views of any start included.

---@class clcompute
local cl = {}

---@class clcompute.SortOptions
---@field descending? boolean true: the greatest first
---@field out? clcompute.Buffer for the result, of the dtype of x; may be x
---@field with? clcompute.Buffer|clcompute.Buffer[] what moves along: buffers with as many elements, of any dtype

---A copy of x with its elements in ascending order. Queued. All elements are ordered, in row-major order; equal ones keep their
---order, also with `descending`. -0 and 0 are equal; NaN is last, also with `descending`.
---
---There is no `axis`: a matrix is sorted as one row. `cl.sort(m[i], { out = m[i] })` sorts row i alone, in place.
---
---The buffers of `with` stay as they are; their elements come back in new buffers, in the order in which those of x are. A
---sort takes memory for as many elements more, and what moves along as much more.
---
---Errors: an `out` of another dtype, size or device, one that overlaps x shifted, or one that moves along.
---```lua
---local ages, names = d:buffer({ 31, 7, 19 }, "int"), d:buffer({ 1, 2, 3 }, "uchar")
---local sorted, moved = cl.sort(ages, { with = names })
---print(sorted[1], moved[1], cl.sort(ages, { descending = true })[1]) --> 7	2	31
---```
---@param x clcompute.Buffer
---@param options? clcompute.SortOptions
---@return clcompute.Buffer # out, or a new one of the shape of x
---@return nil|clcompute.Buffer|clcompute.Buffer[] # what moved along, where there is a `with`: a list for a list
function cl.sort(x, options) end

---Where the elements of x are in ascending order: element i of the result is the index, from 1 in row-major order, of the
---element that is i-th. Queued. Order as in `cl.sort`.
---```lua
---local order = cl.argsort(d:buffer { 0.5, 0.1, 0.3 })
---print(order[1], order[2], order[3]) --> 2	3	1
---```
---@param x clcompute.Buffer
---@param options? { descending?: boolean }
---@return clcompute.Buffer # of the shape of x; uint, from 2^32 elements on ulong
function cl.argsort(x, options) end

---The distinct elements of x in ascending order, and with `counts` how often each is there. Blocks. -0 and 0 are equal, the
---first of them stays; every NaN is equal, and last.
---```lua
---local values, counts = cl.unique(d:buffer({ 3, 1, 3 }, "int"), { counts = true })
---print(values[2], counts[2]) --> 3	2
---```
---@param x clcompute.Buffer
---@param options? { counts?: boolean }
---@return clcompute.Buffer # of one dimension
---@return clcompute.Buffer? # with `counts`: uint, from 2^32 elements on ulong
function cl.unique(x, options) end

---The elements for which a condition holds, in their order. Blocks, as their number must be known.
---
---A condition is an expression of `cl.map`, in which `x` also stands for `x[i]`; elements are kept where it is not 0. It may
---mention `i` alone, which counts from 0: `cl.compact("i % 2 == 0", x)`.
---
---Errors: a wrong expression or operand; a mask of another size; elements of one byte before a mask of more, which looks like a
---mask before the elements.
---```lua
---local x = d:buffer({ 4, -1, 7 }, "int")
---print(#cl.compact("x > 0", x), cl.compact("x > t", { x = x, t = 5 })[1]) --> 2	7
---print(cl.compact(x, d:buffer({ 0, 1, 0 }, "uchar"))[1]) --> -1
---```
---@param x string|clcompute.Buffer a condition, or the elements
---@param mask clcompute.Buffer|table<string, number|clcompute.Buffer> behind a condition the elements, or operands, of which those of `x` are kept; else a mask, whose elements other than 0 keep
---@return clcompute.Buffer # of one dimension
function cl.compact(x, mask) end

---How many elements a condition holds for. Blocks. Conditions as in `cl.compact`. With `axis` a new buffer of long; then
---nothing blocks.
---```lua
---local x = d:buffer({ 4, 0, 7 }, "int")
---print(cl.count("x > 5", x), cl.count(x)) --> 1	2
---print(cl.count("x > 1", d:buffer { { 1, 2 }, { 3, 4 } }, { axis = 1 })[1]) --> 1
---```
---@param condition string|clcompute.Buffer or a mask, whose elements other than 0 count
---@param x? clcompute.Buffer|table<string, number|clcompute.Buffer> the operands of a condition; behind a mask the options
---@param options? clcompute.AxisOptions
---@return integer|clcompute.Buffer
function cl.count(condition, x, options) end

---Whether a condition holds for an element; false where there is none. Blocks. Conditions as in `cl.compact`. With
---`axis` a new buffer of uchar, 1 or 0 for each place along the others; then nothing blocks.
---```lua
---print(cl.any("x < 0", d:buffer { 1, -2 }), cl.any(d:buffer { 0, 0 })) --> true	false
---```
---@param condition string|clcompute.Buffer or a mask
---@param x? clcompute.Buffer|table<string, number|clcompute.Buffer> the operands of a condition; behind a mask the options
---@param options? clcompute.AxisOptions
---@return boolean|clcompute.Buffer
function cl.any(condition, x, options) end

---Whether a condition holds for all elements; true where there is none. Blocks. Conditions as in `cl.compact`, `axis` as
---in `cl.any`.
---```lua
---print(cl.all("isfinite(x)", d:buffer { 1, 2 }), cl.all(d:buffer { 1, 0 })) --> true	false
---```
---@param condition string|clcompute.Buffer or a mask
---@param x? clcompute.Buffer|table<string, number|clcompute.Buffer> the operands of a condition; behind a mask the options
---@param options? clcompute.AxisOptions
---@return boolean|clcompute.Buffer
function cl.all(condition, x, options) end

---@class clcompute.WhereOptions
---@field out? clcompute.Buffer for the result; may be one of the operands
---@field dtype? clcompute.Dtype of the result
---@field operands? table<string, number|clcompute.Buffer> further ones of the condition, by their names

---The elements of a where a condition holds, those of b elsewhere. Queued. Conditions as in `cl.compact`; `a` and `b` are the
---operands there, and `x` is the first of them that is a buffer. The result has the dtype that `cl.map` gives
---to a and b alone: a mask and what only the condition mentions choose. Of two numbers and a mask it is int, or float; of two
---numbers and a condition that of its operands.
---
---Shapes that differ go together as those of operators do: an extent of 1 or a missing one goes with any other.
---
---Errors: a wrong expression or operand; shapes that do not go together.
---```lua
---local x = d:buffer({ 4, -1, 7 }, "int")
---print(cl.where("x > 0", x, 0)[2], cl.where("a > b", x, d:buffer({ 5, 5, 5 }, "int"))[1]) --> 0	5
---print(cl.where(d:buffer({ 1, 0, 1 }, "uchar"), x, 9)[2]) --> 9
---```
---@param condition string|clcompute.Buffer or a mask, whose elements other than 0 choose a
---@param a number|clcompute.Buffer
---@param b number|clcompute.Buffer
---@param options? clcompute.WhereOptions
---@return clcompute.Buffer # out, or a new one of the shape of a buffer
function cl.where(condition, a, b, options) end

---@class clcompute.HistogramOptions
---@field bins? integer 10 unless given, at most 2^24
---@field low? number the first edge; the least element unless given
---@field high? number the last edge; the greatest element unless given

---How many elements lie in each of some bins of equal width: element k of the counts is how many x have
---edges[k] <= x < edges[k + 1]; the last bin has its right edge too. NaN and what lies outside is not counted. Blocks only for an
---extreme that is not given. Where all elements are the same the range is half a unit to both sides.
---
---The edges are those that the device compares with, of floats and halves rounded to float.
---
---Errors: a range that is infinite, NaN or empty, or beyond that of the elements' 64 bits or floats.
---```lua
---local counts, edges = cl.histogram(d:buffer({ 0, 3, 5, 9 }, "uchar"), { bins = 2, low = 0, high = 10 })
---print(counts[1], counts[2], edges[2]) --> 2	2	5.0
---```
---@param x clcompute.Buffer
---@param options? clcompute.HistogramOptions
---@return clcompute.Buffer # counts: uint, from 2^32 elements on ulong
---@return number[] # edges, one more than bins
function cl.histogram(x, options) end

---The elements of x at given indices. Blocks until the indices are found right; the rest is queued.
---
---Errors: an index below 1 or above the number of elements; the message names the first one.
---```lua
---local x = d:buffer { 10, 20, 30 }
---print(cl.gather(x, d:buffer({ 3, 1 }, "int"))[1], cl.gather(x, cl.argsort(x))[1]) --> 30.0	10.0
---```
---@param x clcompute.Buffer
---@param indices clcompute.Buffer of an integer dtype: from 1 in row-major order
---@return clcompute.Buffer # of the dtype of x and the shape of indices
function cl.gather(x, indices) end

---Puts values at given indices: element indices[i] of `out` becomes element i of `values`. Of several values for one element the
---last one stays. Blocks until the indices are found right; the rest is queued.
---
---Errors: an index below 1 or above the number of elements, of which the message names the first, and nothing is
---written then; dtypes or sizes that differ; an `out` that overlaps an operand.
---```lua
---local out = cl.scatter(d:buffer { 7, 8, 9 }, d:buffer({ 4, 1, 4 }, "int"), d:zeros("float", 4))
---print(out[1], out[4]) --> 8.0	9.0
---```
---@param values clcompute.Buffer
---@param indices clcompute.Buffer with as many elements, of an integer dtype: from 1 in row-major order
---@param out clcompute.Buffer of the dtype of values
---@return clcompute.Buffer # out
function cl.scatter(values, indices, out) end

---@class clcompute.ConcatOptions
---@field axis? integer along which, from 1; 1 unless given

---Buffers behind one another, along their first dimension, or along another one by a table of options behind them. Queued.
---
---Errors: dtypes that differ, or extents of other axes; an axis that there is not.
---```lua
---print(cl.concat(d:zeros("float", 2, 3), d:zeros("float", 2, 3), { axis = 2 }).shape[2]) --> 6
---print(#cl.concat(d:zeros("float", 2, 3), d:zeros("float", 1, 3))) --> 3
---```
---@param a clcompute.Buffer
---@param ... clcompute.Buffer|clcompute.ConcatOptions
---@return clcompute.Buffer
function cl.concat(a, ...) end
