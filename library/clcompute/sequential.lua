---@meta clcompute.sequential
-- SPDX-License-Identifier: MIT

---The operations as plain C loops on one core, compiled with -O3: a baseline and an oracle. Operands and results are
---strings of packed elements (`Buffer:string`, `string.pack`); functions also return the seconds that their loops took.
---Needs no OpenCL.
---@class clcompute.sequential
local sequential = {}

---alpha * x + y.
---```lua
---local sequential = require "clcompute.sequential"
---local bytes, seconds = sequential.saxpy(2, string.pack("ff", 1, 2), string.pack("ff", 10, 10))
---print(string.unpack("ff", bytes)) --> 12.0	14.0	9
---```
---@param alpha number
---@param x string packed elements
---@param y string as many
---@param dtype? "float"|"double" "float" unless given
---@return string # the result
---@return number # seconds
function sequential.saxpy(alpha, x, y, dtype) end

---The running sums x[1], x[1] + x[2], ...
---```lua
---local sums = require("clcompute.sequential").scan(string.pack("fff", 1, 2, 3))
---print(string.unpack("fff", sums)) --> 1.0	3.0	6.0	13
---```
---@param x string packed elements
---@param dtype? "float"|"double" "float" unless given
---@return string # the result
---@return number # seconds
function sequential.scan(x, dtype) end

---The product of an m x k and a k x n matrix, row-major.
---```lua
---local a = string.pack("ffff", 1, 2, 3, 4)
---print(string.unpack("ffff", (require("clcompute.sequential").gemm(a, a, 2, 2, 2)))) --> 7.0	10.0	15.0	22.0	17
---```
---@param a string packed elements
---@param b string packed elements
---@param m integer
---@param n integer
---@param k integer
---@param dtype? "float"|"double" "float" unless given
---@return string # the m x n result
---@return number # seconds
function sequential.gemm(a, b, m, n, k, dtype) end

---Solves A X = B by Gauss elimination with partial pivoting, row-major.
---
---Errors: a column without a pivot.
---```lua
---local a, b = string.pack("ffff", 2, 0, 0, 4), string.pack("ff", 2, 4)
---print(string.unpack("ff", (require("clcompute.sequential").gauss(a, b, 2)))) --> 1.0	1.0	9
---```
---@param a string packed elements, n x n
---@param b string packed elements, n rows of any number of columns
---@param n integer
---@param dtype? "float"|"double" "float" unless given
---@return string # X, packed as b
---@return number # seconds
function sequential.gauss(a, b, n, dtype) end

---Generations of the Game of Life on a cube whose edges wrap round, by rule 4555 (Bays 1987).
---```lua
---print(#require("clcompute.sequential").life(("\0"):rep(64), 4, 10)) --> 64
---```
---@param field string a byte for each of n x n x n cells; 1 lives, all else is dead
---@param n integer
---@param generations integer
---@return string # the last generation
---@return number # seconds
function sequential.life(field, n, generations) end

---The largest |x - expected| / |expected| of numbers whose exact values are known.
---```lua
---local sequential = require "clcompute.sequential"
---print(sequential.relative_error(string.pack("f", 1.5), string.pack("d", 1.0))) --> 0.5
---```
---@param x string packed elements
---@param expected string as many packed doubles
---@param dtype? "float"|"double" of x; "float" unless given
---@return number # NaN where one of them is
function sequential.relative_error(x, expected, dtype) end

---The largest |x - expected| of numbers whose exact values are known.
---```lua
---local sequential = require "clcompute.sequential"
---print(sequential.absolute_error(string.pack("f", 2.5), string.pack("d", 2.0))) --> 0.5
---```
---@param x string packed elements
---@param expected string as many packed doubles
---@param dtype? "float"|"double" of x; "float" unless given
---@return number # NaN where one of them is
function sequential.absolute_error(x, expected, dtype) end

---How well x solves A x = b: ||A x - b|| / (||A|| ||x|| eps) in the 1-norm, computed in double, where eps is 2^-23 of
---float and 2^-52 of double. Backward stable methods give numbers of the order of 1, at most 30 where n is not huge.
---```lua
---local a, b = string.pack("ffff", 2, 0, 0, 4), string.pack("ff", 2, 4)
---print(require("clcompute.sequential").backward_error(a, b, string.pack("ff", 1, 1), 2)) --> 0.0
---```
---@param a string packed elements, n x n
---@param b string packed elements, n
---@param x string packed elements, n
---@param n integer
---@param dtype? "float"|"double" "float" unless given
---@return number
function sequential.backward_error(a, b, x, n, dtype) end

return sequential
