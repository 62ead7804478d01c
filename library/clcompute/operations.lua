---@meta _
-- SPDX-License-Identifier: MIT
-- The prebuilt operations of clcompute. Operands are buffers of one device, views of any start included.

---@class clcompute
local cl = {}

---@class clcompute.SaxpyOptions
---@field out? clcompute.Buffer for the result, of the shape of y

---y <- alpha * x + y, or with `out` out <- alpha * x + y (Borisov 2015, listing 1). Queued.
---
---Errors: dtypes, shapes or devices that differ; a dtype other than float and double.
---```lua
---local x, y = d:buffer { 1, 2, 3 }, d:buffer { 10, 10, 10 }
---cl.saxpy(2, x, y)
---print(y[1], y[2], y[3]) --> 12.0	14.0	16.0
---```
---@param alpha number
---@param x clcompute.Buffer float or double
---@param y clcompute.Buffer of the dtype, shape and device of x
---@param options? clcompute.SaxpyOptions
---@return clcompute.Buffer # y, or out
function cl.saxpy(alpha, x, y, options) end

---@class clcompute.MapOptions
---@field out? clcompute.Buffer for the result; may be one of the operands
---@field dtype? clcompute.Dtype of the result
---@field preamble? string OpenCL C in front of the kernel: what the expression uses

---out[i] <- expression, for every element. Queued.
---
---The expression is OpenCL C. Buffers are `x[i]`, where `i` counts from 0 over all elements in row-major order; Lua's
---numbers are names. Operators, numbers, the mathematical, integer, common and relational functions of OpenCL C, its
---constants and its casts to scalar types may stand there.
---
---The result has the dtype that comes last in `char uchar short ushort int uint long ulong half float double` of the
---dtypes of the buffers. A Lua float among buffers of integers makes the result float; `dtype`, or the dtype of
---`out`, is another choice. Lua's numbers take the type that the operands make, or the given dtype if that comes
---later. C's rules hold within an expression: two chars make an int, of which a result of char keeps the low bits;
---integer division by zero is undefined. Half is computed in float. A combination of expression and dtypes is built
---once.
---
---A `preamble` has functions, types, macros and constants for the expression, written as in any program; it may
---`#include <clcompute/complex.h>`, and files by their whole paths. Behind one an expression may also have structs,
---vectors and their fields.
---
---Errors: an unknown name, an operand that is not used, an assignment, operands of different lengths; the message shows
---the expression.
---```lua
---local x, y = d:buffer { 1, 2, 3 }, d:buffer { 4, 5, 6 }
---local z = cl.map("a*x[i] + y[i]", { a = 2, x = x, y = y })
---cl.map("sqrt(x[i])", { x = x }, { out = x })
---print(z[3]) --> 12.0
---local clip = [[
---  float clip(float v, float limit) { return v < -limit ? -limit : fmin(v, limit); }
---]]
---print(cl.map("clip(x[i], 5)", { x = y }, { preamble = clip })[3]) --> 5.0
---```
---@param expression string
---@param operands table<string, number|clcompute.Buffer> by the names in the expression; buffers have the same number of elements, not necessarily the same shape; none is needed where `out` is given
---@param options? clcompute.MapOptions
---@return clcompute.Buffer # out, or a new one of the shape of the operand whose name is first in the alphabet
function cl.map(expression, operands, options) end

---@class clcompute.ReduceOptions
---@field init? number|table combined with the result; the result of no elements. For a struct a table of its fields
---@field map? string the expression of an element; "x[i]" unless given
---@field dtype? clcompute.Dtype|clcompute.Struct of the result, the operands' unless given
---@field preamble? string OpenCL C in front of the kernel: what both expressions use
---@field axis? integer along which to combine, from 1: the results are a buffer without it; of numbers alone
---@field keep? boolean true: the result has an extent of 1 there

---Combines all elements: operation(a, b) of two results, until one is left. Blocks.
---
---The operation must be associative and must commute, as the library chooses the order, the same each time on one
---device. Integers are computed in 64 bits (ulong in ulong) and wrap around there; half is computed in float. A sum
---of floats goes through some hundred additions, whatever the length: its error is within a few hundred roundings of
---the sum of the magnitudes.
---
---With a struct as `dtype` several results come of one pass: a, b, the expression of an element and the result are such
---structs. Both expressions then name its fields, and make one of its type, `(range){ low, high }`. The declaration
---goes before the preamble.
---
---With `axis` the elements along it are combined, for each place along the other axes: of rows x columns `axis = 1` gives a
---number a column. That is a new buffer, of `dtype` if given, else long or ulong for integers and the operands' dtype for
---floats; then nothing blocks. The shape is that of the operand whose name is first in the alphabet.
---
---Errors: a wrong expression or operand; no elements and no `init`; a struct of more than 16384 bytes; an axis that there
---is not.
---```lua
---local x, y = d:buffer { -1, 2, -3 }, d:buffer { 1, 1, 1 }
---print(cl.reduce("max(a, b)", x, { map = "fabs(x[i])" })) --> 3.0
---print(cl.reduce("a + b", { x = x, y = y }, { map = "x[i]*y[i]" })) --> -2.0
---local Range = cl.struct("range", "float low, high;")
---local r = cl.reduce("(range){ min(a.low, b.low), max(a.high, b.high) }", x,
---  { dtype = Range, map = "(range){ x[i], x[i] }" })
---print(r.low, r.high) --> -3.0	2.0
---print(cl.reduce("a * b", d:buffer { { 1, 2 }, { 3, 4 } }, { axis = 1 })[2]) --> 8.0
---```
---@param operation string an expression of OpenCL C in a and b: "max(a, b)"
---@param x clcompute.Buffer|table<string, number|clcompute.Buffer> a buffer, or operands as `cl.map` takes them
---@param options? clcompute.ReduceOptions
---@return number|table|clcompute.Buffer # an integer where the type is one; of a struct the table of its fields
function cl.reduce(operation, x, options) end

---@class clcompute.ScanOptions
---@field exclusive? boolean true: leaves out element i, so that the first result is `init`
---@field init? number before the first element; 0 for sums and 1 for products unless given
---@field out? clcompute.Buffer for the result; may be x
---@field dtype? clcompute.Dtype of the result, x's unless given
---@field axis? integer along which the results run, from 1; in row-major order through all elements unless given

---Running results (prefix sums and their kind): out[i] is the operation over all elements up to and with element i.
---Queued. The operation must be associative; the order of the elements is kept. It is computed in the dtype of the
---result, half in float; integers wrap around there. With `axis` each row or column along it has results of its own.
---A device gives the same bits at every call; sums of floats can have other last bits where `out` is x.
---
---Errors: a wrong expression; an exclusive scan without `init`, other than of sums and products; an axis that there is
---not.
---```lua
---local counts = d:buffer({ 3, 1, 2 }, "int")
---local ends, starts = cl.scan("a + b", counts), cl.scan("a + b", counts, { exclusive = true })
---print(ends[3], starts[3]) --> 6	4
---print(cl.scan("a + b", d:buffer { { 1, 2 }, { 3, 4 } }, { axis = 1 }):get(2, 1)) --> 4.0
---```
---@param operation string an expression of OpenCL C in a and b: "a + b"
---@param x clcompute.Buffer of any shape, in row-major order
---@param options? clcompute.ScanOptions
---@return clcompute.Buffer # out, or a new one of the shape of x
function cl.scan(operation, x, options) end

---@class clcompute.AxisOptions
---@field axis? integer from 1: the results are a buffer without this axis, a number for each place along the others
---@field keep? boolean true: the result has an extent of 1 there

---The sum of all elements; 0 where there are none. Blocks. Integers are added in 64 bits and wrap around there; the
---error of a sum of floats is within a few hundred roundings of the sum of the magnitudes, whatever the length.
---With `axis` a new buffer of long or ulong for integers, else of x's dtype; then nothing blocks.
---
---Errors: an axis that there is not.
---```lua
---print(cl.sum(d:buffer({ 1, 2, 3 }, "int"))) --> 6
---print(cl.sum(d:buffer { { 1, 2 }, { 3, 4 } }, { axis = 1 })[2]) --> 6.0
---```
---@param x clcompute.Buffer
---@param options? clcompute.AxisOptions
---@return number|clcompute.Buffer # an integer for integers
function cl.sum(x, options) end

---The sum of the magnitudes of all elements, BLAS' asum; 0 where there are none. Blocks. Integers as in `cl.sum`.
---With `axis` as in `cl.sum`.
---
---Errors: an axis that there is not.
---```lua
---print(cl.asum(d:buffer { 1, -2, 3 })) --> 6.0
---print(cl.asum(d:buffer { { 1, 2 }, { 3, 4 } }, { axis = 2 })[2]) --> 7.0
---```
---@param x clcompute.Buffer
---@param options? clcompute.AxisOptions
---@return number|clcompute.Buffer # an integer for integers
function cl.asum(x, options) end

---The sum of x[i] * y[i]; 0 where there are no elements. Blocks. Integers as in `cl.sum`. Matrices make one number too:
---`x:dot(y)` is their product, as `cl.matmul(x, y)` is.
---```lua
---print(cl.dot(d:buffer { 1, 2 }, d:buffer { 3, 4 })) --> 11.0
---```
---@param x clcompute.Buffer
---@param y clcompute.Buffer with as many elements
---@return number # an integer for integers
function cl.dot(x, y) end

---The smallest element; NaN where one is NaN. Blocks.
---With `axis` a new buffer of x's dtype; then nothing blocks.
---
---Errors: a buffer without elements; an axis that there is not.
---```lua
---print(cl.min(d:buffer { 3, 1, 2 })) --> 1.0
---print(cl.min(d:buffer { { 1, 2 }, { 3, 4 } }, { axis = 1 })[2]) --> 2.0
---```
---@param x clcompute.Buffer
---@param options? clcompute.AxisOptions
---@return number|clcompute.Buffer
function cl.min(x, options) end

---The largest element; NaN where one is NaN. Blocks.
---With `axis` a new buffer of x's dtype; then nothing blocks.
---
---Errors: a buffer without elements; an axis that there is not.
---```lua
---print(cl.max(d:buffer { 3, 1, 2 })) --> 3.0
---print(cl.max(d:buffer { { 1, 2 }, { 3, 4 } }, { axis = 2 })[2]) --> 4.0
---```
---@param x clcompute.Buffer
---@param options? clcompute.AxisOptions
---@return number|clcompute.Buffer
function cl.max(x, options) end

---Where the smallest element is, or the first NaN where one is. Blocks.
---With `axis` two new buffers, places along it as long and elements; then nothing blocks.
---
---Errors: a buffer without elements; an axis that there is not.
---```lua
---print(cl.argmin(d:buffer { 3, 1, 1 })) --> 2	1.0
---print(cl.argmin(d:buffer { { 1, 2 }, { 3, 4 } }, { axis = 1 })[2]) --> 1
---```
---@param x clcompute.Buffer
---@param options? clcompute.AxisOptions
---@return integer|clcompute.Buffer # from 1 in row-major order, of the first of equals
---@return number|clcompute.Buffer # the element
function cl.argmin(x, options) end

---Where the largest element is, or the first NaN where one is. Blocks.
---With `axis` two new buffers, places along it as long and elements; then nothing blocks.
---
---Errors: a buffer without elements; an axis that there is not.
---```lua
---print(cl.argmax(d:buffer { 3, 7, 7 })) --> 2	7.0
---print(cl.argmax(d:buffer { { 1, 2 }, { 3, 4 } }, { axis = 2 })[2]) --> 2
---```
---@param x clcompute.Buffer
---@param options? clcompute.AxisOptions
---@return integer|clcompute.Buffer # from 1 in row-major order, of the first of equals
---@return number|clcompute.Buffer # the element
function cl.argmax(x, options) end

---The Euclidean norm; 0 where there are no elements. Blocks. It is right where the squares themselves would overflow or
---vanish, and computed in double where the device has it.
---With `axis` a new buffer of x's dtype, float for integers; then nothing blocks.
---
---Errors: an axis that there is not.
---```lua
---print(cl.norm2(d:buffer { 3, 4 })) --> 5.0
---print(cl.norm2(d:buffer { { 3, 4 }, { 0, 1 } }, { axis = 2 })[1]) --> 5.0
---```
---@param x clcompute.Buffer
---@param options? clcompute.AxisOptions
---@return number|clcompute.Buffer # a float
function cl.norm2(x, options) end

---The mean of all elements. Blocks. It is computed in double where the device has it. With `axis` a new buffer of x's
---dtype, float for integers; then nothing blocks.
---
---Errors: no elements; an axis that there is not.
---```lua
---print(cl.mean(d:buffer { 1, 2, 6 }), cl.mean(d:buffer { { 1, 2 }, { 3, 4 } }, { axis = 1 })[2]) --> 3.0	3.0
---```
---@param x clcompute.Buffer
---@param options? clcompute.AxisOptions
---@return number|clcompute.Buffer # a float
function cl.mean(x, options) end

---@class clcompute.VarOptions
---@field axis? integer from 1: the results are a buffer without this axis, a number for each place along the others
---@field keep? boolean true: the result has an extent of 1 there
---@field ddof? number what is taken from the number of elements to divide by; 0 unless given, 1 for a sample

---The variance: the mean of the squares of differences to the mean. Blocks. It keeps its digits where the mean is large;
---it is computed in double where the device has it. With `axis` a new buffer of x's dtype, float for integers; then
---nothing blocks.
---
---Errors: no elements, or no more than `ddof`; an axis that there is not.
---```lua
---print(cl.var(d:buffer { 1, 2, 3 }), cl.var(d:buffer { 1, 2, 3 }, { ddof = 1 })) --> 0.66666666666667	1.0
---print(cl.var(d:buffer { { 1, 2 }, { 3, 6 } }, { axis = 1 })[2]) --> 4.0
---```
---@param x clcompute.Buffer
---@param options? clcompute.VarOptions
---@return number|clcompute.Buffer # a float
function cl.var(x, options) end

---The standard deviation, the square root of `cl.var`. Blocks, but with `axis`.
---
---Errors: no elements, or no more than `ddof`; an axis that there is not.
---```lua
---print(cl.std(d:buffer { 1, 3, 1, 3 }), cl.std(d:buffer { { 1, 2 }, { 3, 6 } }, { axis = 1 })[2]) --> 1.0	2.0
---```
---@param x clcompute.Buffer
---@param options? clcompute.VarOptions
---@return number|clcompute.Buffer # a float
function cl.std(x, options) end

---@class clcompute.TransposeOptions
---@field axes? integer[] the axes of x, each once, in the order of the result's; the opposite order unless given

---The axes in another order: of a matrix its transpose. A new buffer; queued.
---
---Errors: an axis that there is not, or not once.
---```lua
---local x = d:buffer { { 1, 2, 3 }, { 4, 5, 6 } }
---print(cl.transpose(x):get(3, 1), cl.transpose(x:reshape(1, 2, 3), { axes = { 3, 1, 2 } }):get(3, 1, 2)) --> 3.0	6.0
---```
---@param x clcompute.Buffer
---@param options? clcompute.TransposeOptions
---@return clcompute.Buffer
function cl.transpose(x, options) end

---@class clcompute.GemmOptions
---@field c? clcompute.Buffer the result, a new buffer unless given
---@field alpha? number 1 unless given
---@field beta? number 0 unless given; other values need `c`
---@field transa? boolean true: op(A) is the transpose of a
---@field transb? boolean true: op(B) is the transpose of b
---@field kernel? "fast"|"naive"|"tiled" "fast", which is tuned for device and shape, unless given; the others are listings 2 and 3 of Borisov 2015
---@field precision? "float"|"float-tensor"|"tf32" what a product of floats promises on every device; "float" unless given. "float-tensor": at most twice its error, by tensor cores where they are right (numbers below 2^-100 lose digits); "tf32": operands rounded to eleven bits, subnormal ones to fewer. Doubles are multiplied as doubles
---@field m? integer rows of op(A), for a part of a buffer
---@field n? integer columns of op(B)
---@field k? integer columns of op(A)
---@field lda? integer elements from row to row of a as stored
---@field ldb? integer
---@field ldc? integer

---Multiplies matrices: C <- alpha * op(A) * op(B) + beta * C, where op(A) is m x k, op(B) k x n and C m x n,
---row-major. Queued.
---Three-dimensional operands are batches, multiplied matrix by matrix in one launch; a two-dimensional operand beside
---them is the same for all. With `m`, `n`, `k`, `lda`, `ldb` and `ldc` the operands are any parts of one-dimensional
---buffers, read where they are. A slice is copied first.
---
---Errors: shapes that do not fit, dtypes or devices that differ, a c that overlaps an operand, `beta` without `c`.
---```lua
---local a = d:buffer { { 1, 2 }, { 3, 4 } }
---local c = cl.gemm(a, a, { transb = true })
---print(c:get(1, 1), c:get(1, 2)) --> 5.0	11.0
---```
---@param a clcompute.Buffer float or double: m x k, or k x m with `transa`; or count x m x k
---@param b clcompute.Buffer of the dtype and device of a: k x n, or n x k with `transb`; or count x k x n
---@param options? clcompute.GemmOptions
---@return clcompute.Buffer # c
function cl.gemm(a, b, options) end

---a b, of vectors, matrices and stacks: the last extent of a and the last but one of b are summed over, and that of a vector
---goes. Two vectors make a number, as `cl.dot` does of every dtype, and wait; all else is of floats and doubles, and queued. Of
---a float and a double buffer the result is double. `a:dot(b)` is the same.
---
---Errors: extents that differ; a matrix of another dtype than float and double; a matrix before a stack.
---```lua
---local a, v = d:buffer { { 1, 2 }, { 3, 4 } }, d:buffer { 5, 6 }
---print(cl.matmul(a, v)[2], a:dot(a):get(2, 2), cl.matmul(v, v)) --> 39.0	22.0	61.0
---```
---@param a clcompute.Buffer of 1 to 3 dimensions
---@param b clcompute.Buffer of 1 to 3 dimensions
---@return clcompute.Buffer|number
function cl.matmul(a, b) end

---@class clcompute.GaussOptions
---@field kernel? "blocked"|"unblocked"|"paper" the fastest that pivots unless given: "blocked", or for up to 128 rows (on a GPU 64) and 8 right-hand sides the kernels of a batch. "unblocked": partial pivoting column by column, what the other is tested against; "paper": the four kernels of Baranov & Vlatskaya 2013, without pivoting, for one right-hand side
---@field refine? boolean nil: refines when needed; true: at least once; false: never
---@field rcond? number 0 to 1: a system whose reciprocal condition number is below it is an error; 0 unless given
---@field group? integer for "paper": the work-group size
---@field range? "fixed"|"shrink" for "paper"
---@field remainder? "split"|"host" for "paper"

---What a solution tells; `tostring` shows the fields. Of a batch all but `steps` and `warning` are lists.
---@class clcompute.GaussInfo
---@field backward_error number|number[] the ratio ||A x - b|| / (||A|| ||x|| eps) in the 1-norm: of the order of 1, at most 30
---@field steps integer of refinement
---@field rcond? number|number[] the reciprocal condition number; not of "paper"
---@field pivots? integer[]|integer[][] row i was exchanged with row pivots[i]; not of "paper"
---@field warning? string where a system is singular to working precision (`rcond` below eps): x solves a nearby system and may have no correct digit; of a batch it names the system of the least `rcond`

---Solves the linear equations A X = B; a and b stay as they are. Blocks. The matrix is factored by blocks with partial pivoting; on GPUs
---matrices of more than a few hundred rows are factored with tournament pivoting (Grigori, Demmel & Xiang 2011), where
---multipliers may be larger than 1. The result is checked. A batch is solved in one launch. A matrix that is singular to
---working precision gets a `warn()` and `info.warning`.
---
---Errors: an exactly singular matrix; `rcond` below the option `rcond`; NaN or infinity in an operand; a backward error
---above 30 that refinement does not mend. Of a batch the message names the system.
---```lua
---local a = d:buffer { { 4, 1 }, { 1, 3 } }
---local x, info = cl.gauss(a, d:buffer { 1, 2 })
---print(("%.4f %.4f"):format(x[1], x[2])) --> 0.0909 0.6364
---print(info.steps, info.pivots[1]) --> 0	1
---```
---@param a clcompute.Buffer float or double, n x n, or count x n x n
---@param b clcompute.Buffer of the dtype and device of a: n, or n x columns; or count x n, or count x n x columns
---@param options? clcompute.GaussOptions
---@return clcompute.Buffer # x, of b's shape
---@return clcompute.GaussInfo # info
function cl.gauss(a, b, options) end

---The same as `cl.gauss`.
---```lua
---print(cl.solve(d:buffer { { 2, 0 }, { 0, 4 } }, d:buffer { 2, 2 })[2]) --> 0.5
---```
---@param a clcompute.Buffer
---@param b clcompute.Buffer
---@param options? clcompute.GaussOptions
---@return clcompute.Buffer
---@return clcompute.GaussInfo
function cl.solve(a, b, options) end

---The factors of a square matrix, P A = L U.
---@class clcompute.Factors
---@field n integer rows and columns
---@field count? integer how many matrices, of a batch
---@field dtype clcompute.Dtype
---@field device clcompute.Device
local Factors = {}

---Solves A X = B with the factors. Blocks until they were made, not for the solution, which is queued. Neither the
---backward error nor the right-hand side is looked at, as `cl.gauss` does.
---```lua
---local factors <close> = cl.lu(d:buffer { { 2, 0 }, { 0, 4 } })
---local x, y = factors:solve(d:buffer { 2, 4 }), factors:solve(d:buffer { 4, 4 })
---print(x[1], x[2], y[1], y[2]) --> 1.0	1.0	2.0	1.0
---```
---@param b clcompute.Buffer of the matrix's dtype and device: n, or n x columns; of a batch count x n, or count x n x columns
---@return clcompute.Buffer # x, of b's shape
function Factors:solve(b) end

---The determinant; it is infinite or zero where no number is as large or as small. Blocks.
---```lua
---print(cl.lu(d:buffer { { 2, 0 }, { 0, 4 } }):det()) --> 8.0
---```
---@return number|number[] # of a batch a list
function Factors:det() end

---The reciprocal condition number in the 1-norm, estimated from above and usually exact: a solution loses about as many
---digits as it has zeros behind the point. Blocks.
---```lua
---print(cl.lu(d:buffer { { 2, 0 }, { 0, 4 } }):rcond()) --> 0.5
---```
---@return number|number[] # of a batch a list
function Factors:rcond() end

---Releases the factors at once instead of when they are collected; `<close>` does the same. May be called twice.
---```lua
---cl.lu(d:buffer { { 1 } }):release()
---```
---@return clcompute.Factors
function Factors:release() end

---Factors a square matrix, P A = L U, as `cl.gauss` does; a stays as it is. Blocks. The factors serve any number of
---right-hand sides.
---
---Errors: a matrix that is exactly singular, whose elimination overflows, or that holds NaN or infinity.
---```lua
---local factors <close> = cl.lu(d:buffer { { 4, 1 }, { 1, 3 } })
---print(("%.1f"):format(factors:det())) --> 11.0
---```
---@param a clcompute.Buffer float or double, n x n; or count x n x n, small systems that are factored in one launch
---@return clcompute.Factors
function cl.lu(a) end
