---@meta clcompute.blas
-- SPDX-License-Identifier: MIT

---Peers to be compared with: OpenBLAS on the CPU, CLBlast on an OpenCL device. Both are opened when asked (Debian's
---`libopenblas0`, `libclblast1`); nothing else of clcompute needs them.
---@class clcompute.blas
local blas = {}

---Packed elements in host memory. OpenBLAS computes with them where they are, so that a measurement copies nothing.
---@class clcompute.Array
---@field dtype "float"|"double"
---@operator len: integer
local Array = {}

---@class clcompute.OpenBLAS
---@field name string
---@field version string
---@field config string
---@field core string the processor that it chose its kernels for
---@field threads integer
---@field path string
local OpenBLAS = {}

---@class clcompute.CLBlast
---@field name string
---@field path string ends with the version
local CLBlast = {}

---@class clcompute.ProductOptions
---@field alpha? number 1 unless given
---@field beta? number 0 unless given
---@field transa? boolean
---@field transb? boolean

---A new array, which begins at a multiple of 64 bytes.
---```lua
---local blas = require "clcompute.blas"
---print(#blas.array(100), #blas.array(string.pack("ff", 1, 2))) --> 100	2
---```
---@param elements integer|string how many zeros; or packed elements, which are copied
---@param dtype? "float"|"double" "float" unless given
---@return clcompute.Array
function blas.array(elements, dtype) end

---@class clcompute.OpenBLASOptions
---@field threads? integer as many as the library takes, which is one a core, unless given

---Opens OpenBLAS. `$CLCOMPUTE_OPENBLAS` is the path of the library, if it is no system library.
---```lua
---local openblas = assert(require("clcompute.blas").openblas { threads = 1 })
---print(openblas.threads) --> 1
---```
---@param options? clcompute.OpenBLASOptions
---@return clcompute.OpenBLAS? # nil where it does not open
---@return string? # why not
function blas.openblas(options) end

---Opens CLBlast. `$CLCOMPUTE_CLBLAST` is the path of the library, if it is no system library.
---```lua
---print(assert(require("clcompute.blas").clblast()).name) --> CLBlast
---```
---@return clcompute.CLBlast? # nil where it does not open
---@return string? # why not
function blas.clblast() end

---All elements, packed in the machine's byte order.
---```lua
---print(#require("clcompute.blas").array(3, "double"):string()) --> 24
---```
---@return string
function Array:string() end

---Sets all elements.
---```lua
---local array = require("clcompute.blas").array(2):write(string.pack("ff", 1, 2))
---print(string.unpack("f", array:string(), 5)) --> 2.0	9
---```
---@param from clcompute.Array|string as many elements of the same dtype, or these packed
---@return clcompute.Array # the array
function Array:write(from) end

---C <- alpha * op(A) * op(B) + beta * C, packed and row-major (cblas_sgemm, cblas_dgemm).
---```lua
---local blas = require "clcompute.blas"
---local a, c = blas.array(string.pack("ffff", 1, 2, 3, 4)), blas.array(4)
---assert(blas.openblas()):gemm(a, a, c, 2, 2, 2)
---print((string.unpack("f", c:string()))) --> 7.0
---```
---@param a clcompute.Array m x k, or k x m with `transa`
---@param b clcompute.Array of the dtype of a: k x n, or n x k with `transb`
---@param c clcompute.Array of the dtype of a: m x n, another array
---@param m integer
---@param n integer
---@param k integer
---@param options? clcompute.ProductOptions
---@return number # seconds that the library took
function OpenBLAS:gemm(a, b, c, m, n, k, options) end

---y <- alpha * x + y (cblas_saxpy, cblas_daxpy).
---```lua
---local blas = require "clcompute.blas"
---local x, y = blas.array(string.pack("ff", 1, 2)), blas.array(2)
---assert(blas.openblas()):axpy(3, x, y)
---print((string.unpack("f", y:string()))) --> 3.0
---```
---@param alpha number
---@param x clcompute.Array
---@param y clcompute.Array of the dtype and length of x
---@return number # seconds that the library took
function OpenBLAS:axpy(alpha, x, y) end

---The sum of x[i] * y[i] (cblas_sdot, cblas_ddot).
---```lua
---local blas = require "clcompute.blas"
---local x = blas.array(string.pack("ff", 3, 4))
---print((assert(blas.openblas()):dot(x, x))) --> 25.0
---```
---@param x clcompute.Array
---@param y clcompute.Array of the dtype and length of x
---@return number
---@return number # seconds that the library took
function OpenBLAS:dot(x, y) end

---The sum of |x[i]| (cblas_sasum, cblas_dasum).
---```lua
---local blas = require "clcompute.blas"
---print((assert(blas.openblas()):asum(blas.array(string.pack("ff", 3, -4))))) --> 7.0
---```
---@param x clcompute.Array
---@return number
---@return number # seconds that the library took
function OpenBLAS:asum(x) end

---Solves A X = B by Gauss elimination with partial pivoting (LAPACK's sgesv, dgesv), row-major; a and b stay as they
---are.
---
---Errors: a column without a pivot.
---```lua
---local blas = require "clcompute.blas"
---local a, b, x = blas.array(string.pack("ffff", 2, 0, 0, 4)), blas.array(string.pack("ff", 2, 4)), blas.array(2)
---assert(blas.openblas()):gesv(a, b, x, 2)
---print((string.unpack("f", x:string()))) --> 1.0
---```
---@param a clcompute.Array n x n
---@param b clcompute.Array of the dtype of a: n x nrhs
---@param x clcompute.Array the solution, as b
---@param n integer
---@param nrhs? integer columns of b; 1 unless given
---@return number # seconds that the library took, without the transposition that LAPACK needs
function OpenBLAS:gesv(a, b, x, n, nrhs) end

---C <- alpha * op(A) * op(B) + beta * C, packed and row-major (CLBlastSgemm, CLBlastDgemm). Queued on the device of
---c; the first call for a device compiles.
---```lua
---local clblast <close> = assert(require("clcompute.blas").clblast())
---local a, c = d:buffer { { 1, 2 }, { 3, 4 } }, d:zeros("float", 2, 2)
---clblast:gemm(a, a, c, 2, 2, 2)
---print(c:get(1, 1)) --> 7.0
---```
---@param a clcompute.Buffer float or double: m x k, or k x m with `transa`
---@param b clcompute.Buffer of the dtype and device of a: k x n, or n x k with `transb`
---@param c clcompute.Buffer of the dtype and device of a: m x n; does not overlap a or b
---@param m integer at least 1
---@param n integer at least 1
---@param k integer at least 1
---@param options? clcompute.ProductOptions
---@return clcompute.Buffer # c
function CLBlast:gemm(a, b, c, m, n, k, options) end

---y <- alpha * x + y (CLBlastSaxpy, CLBlastDaxpy). Queued on the device of y.
---```lua
---local clblast <close> = assert(require("clcompute.blas").clblast())
---print(clblast:axpy(3, d:buffer { 1, 2 }, d:buffer { 1, 1 })[2]) --> 7.0
---```
---@param alpha number
---@param x clcompute.Buffer float or double
---@param y clcompute.Buffer of the dtype, length and device of x
---@return clcompute.Buffer # y
function CLBlast:axpy(alpha, x, y) end

---out <- the sum of x[i] * y[i] (CLBlastSdot, CLBlastDdot). Queued on the device of out.
---```lua
---local clblast <close> = assert(require("clcompute.blas").clblast())
---print(clblast:dot(d:buffer { 3, 4 }, d:buffer { 3, 4 }, d:zeros("float", 1))[1]) --> 25.0
---```
---@param x clcompute.Buffer float or double
---@param y clcompute.Buffer of the dtype, length and device of x
---@param out clcompute.Buffer of the dtype and device of x, one element
---@return clcompute.Buffer # out
function CLBlast:dot(x, y, out) end

---Drops the programs that CLBlast compiled, for all devices: they would keep the contexts of closed devices. Done
---when the object is collected, at the latest; `<close>` does the same. May be called twice.
---```lua
---assert(require("clcompute.blas").clblast()):release()
---```
---@return clcompute.CLBlast # the object
function CLBlast:release() end

return blas
