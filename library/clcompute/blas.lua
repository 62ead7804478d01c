---@meta clcompute.blas
-- SPDX-License-Identifier: MIT

---Peers to be compared with, opened when asked: OpenBLAS on the CPU, CLBlast on an OpenCL device.
---@class clcompute.blas
local blas = {}

---Packed elements in host memory, which OpenBLAS computes with where they are.
---@class clcompute.Array
---@field dtype "float"|"double"
---@operator len: integer
local Array = {}

---@class clcompute.OpenBLAS
---@field name string
---@field version string
---@field config string
---@field core string the processor it chose its kernels for
---@field threads integer
---@field path string
local OpenBLAS = {}

---@class clcompute.CLBlast
---@field name string
---@field path string
local CLBlast = {}

---@class clcompute.ProductOptions
---@field alpha? number 1 unless given
---@field beta? number 0 unless given
---@field transa? boolean
---@field transb? boolean

---A new array that begins at a multiple of 64 bytes.
---@param elements integer|string how many zeros; or packed elements
---@param dtype? "float"|"double"
---@return clcompute.Array
function blas.array(elements, dtype) end

---Opens OpenBLAS, or what $CLCOMPUTE_OPENBLAS names.
---@param options? {threads: integer}
---@return clcompute.OpenBLAS? # nil where it is not installed
---@return string? reason
function blas.openblas(options) end

---Opens CLBlast, or what $CLCOMPUTE_CLBLAST names.
---@return clcompute.CLBlast? # nil where it is not installed
---@return string? reason
function blas.clblast() end

---All elements, packed in the machine's byte order.
---@return string
function Array:string() end

---Sets all elements.
---@param from clcompute.Array|string
---@return clcompute.Array
function Array:write(from) end

---C <- alpha * op(A) * op(B) + beta * C, packed and row-major.
---@param a clcompute.Array m x k, or k x m with `transa`
---@param b clcompute.Array k x n, or n x k with `transb`
---@param c clcompute.Array m x n
---@param m integer
---@param n integer
---@param k integer
---@param options? clcompute.ProductOptions
---@return number seconds
function OpenBLAS:gemm(a, b, c, m, n, k, options) end

---y <- alpha * x + y.
---@param alpha number
---@param x clcompute.Array
---@param y clcompute.Array
---@return number seconds
function OpenBLAS:axpy(alpha, x, y) end

---The sum of x[i] * y[i].
---@param x clcompute.Array
---@param y clcompute.Array
---@return number
---@return number seconds
function OpenBLAS:dot(x, y) end

---The sum of |x[i]|.
---@param x clcompute.Array
---@return number
---@return number seconds
function OpenBLAS:asum(x) end

---Solves A X = B, row-major; a and b stay as they are.
---@param a clcompute.Array n x n
---@param b clcompute.Array n x nrhs
---@param x clcompute.Array n x nrhs
---@param n integer
---@param nrhs? integer 1 unless given
---@return number seconds
function OpenBLAS:gesv(a, b, x, n, nrhs) end

---C <- alpha * op(A) * op(B) + beta * C, packed and row-major. Queued on the device of c.
---@param a clcompute.Buffer m x k, or k x m with `transa`
---@param b clcompute.Buffer k x n, or n x k with `transb`
---@param c clcompute.Buffer m x n
---@param m integer
---@param n integer
---@param k integer
---@param options? clcompute.ProductOptions
---@return clcompute.Buffer # c
function CLBlast:gemm(a, b, c, m, n, k, options) end

---y <- alpha * x + y. Queued on the device of y.
---@param alpha number
---@param x clcompute.Buffer
---@param y clcompute.Buffer
---@return clcompute.Buffer # y
function CLBlast:axpy(alpha, x, y) end

---out <- the sum of x[i] * y[i]. Queued on the device of out.
---@param x clcompute.Buffer
---@param y clcompute.Buffer
---@param out clcompute.Buffer one element
---@return clcompute.Buffer # out
function CLBlast:dot(x, y, out) end

---Drops the programs that CLBlast compiled, for all devices. May be called twice.
---@return clcompute.CLBlast
function CLBlast:release() end

return blas
