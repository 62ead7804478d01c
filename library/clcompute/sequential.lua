---@meta clcompute.sequential
-- SPDX-License-Identifier: MIT

---The operations as plain C loops on one core, over packed strings: a baseline and an oracle.
---@class clcompute.sequential
local sequential = {}

---alpha * x + y.
---@param alpha number
---@param x string packed elements
---@param y string as many
---@param dtype? "float"|"double"
---@return string result
---@return number seconds
function sequential.saxpy(alpha, x, y, dtype) end

---The running sums x[1], x[1] + x[2], ...
---@param x string packed elements
---@param dtype? "float"|"double"
---@return string result
---@return number seconds
function sequential.scan(x, dtype) end

---The product of an m x k and a k x n matrix, row-major.
---@param a string packed elements
---@param b string packed elements
---@param m integer
---@param n integer
---@param k integer
---@param dtype? "float"|"double"
---@return string result
---@return number seconds
function sequential.gemm(a, b, m, n, k, dtype) end

---Solves A X = B by Gauss elimination with partial pivoting.
---@param a string packed elements, n x n
---@param b string packed elements, n rows of any number of columns
---@param n integer
---@param dtype? "float"|"double"
---@return string x packed as b
---@return number seconds
function sequential.gauss(a, b, n, dtype) end

---Generations of the Game of Life on a cube whose edges wrap round, by rule 4555 (Bays 1987).
---@param field string a byte for each of n x n x n cells; 1 lives, all else is dead
---@param n integer
---@param generations integer
---@return string result the last generation
---@return number seconds
function sequential.life(field, n, generations) end

---The largest relative error of numbers whose exact values are known.
---@param x string packed elements
---@param expected string as many packed doubles
---@param dtype? "float"|"double" of x
---@return number error NaN where one of them is
function sequential.relative_error(x, expected, dtype) end

---The largest error of numbers whose exact values are known.
---@param x string packed elements
---@param expected string as many packed doubles
---@param dtype? "float"|"double" of x
---@return number error NaN where one of them is
function sequential.absolute_error(x, expected, dtype) end

---How well x solves A x = b: ||A x - b|| / (||A|| ||x|| eps) in the 1-norm.
---@param a string packed elements, n x n
---@param b string packed elements, n
---@param x string packed elements, n
---@param n integer
---@param dtype? "float"|"double"
---@return number ratio
function sequential.backward_error(a, b, x, n, dtype) end

return sequential
