---@meta _
-- SPDX-License-Identifier: MIT
-- Groups: several devices behind the interface of one.

---@class clcompute
local cl = {}

---@class clcompute.GroupOptions
---@field grid? integer[] { rows, columns }, whose product is the number of devices: how matrices lie; the squarest with no more rows than columns unless given
---@field block? integer rows and columns of the blocks in which matrices lie; 256 unless given. Where it is given, small matrices are divided, too
---@field share? "speed"|integer[] unlike devices: what each has of the elements, by its measured speed or by whole shares, one for each device; evenly unless given. The grid is then one row unless given

---Several devices as one: the group makes buffers that are spread over them, and operations take those. Without an argument it
---is of all devices of the kind and driver that `cl.device()` chooses. A group of one device calls that device's own operations.
---
---Spread buffers go through `saxpy map reduce scan sum asum mean var std dot norm2 min max argmin argmax count any all gemm transpose gauss lu`,
---operators and functions of elements (`cl.abs`, `cl.gt`, ...) of buffers of one shape, and `cl.matmul` of matrices. Everything else works on one device and says so.
---
---Where mpirun started the process, the group is of all ranks of the job, each with its `mpi.device`; every rank makes the same
---calls.
---
---With `share = "speed"` each device is measured for some hundredths of a second, by `y <- x + y` for what lies in rows and by a
---product for matrices; one that would add little gets nothing. The last digits of sums depend on shares: those of `g.shares`, given
---as a list, make them those of that run.
---
---Errors: no device; a grid of another size; shares that are no whole numbers, one a device; an unknown option.
---```lua
---local g <close> = cl.group({ d, d }, { block = 64 })
---local a = g:random("float", 100, 100, { seed = 1 })
---print(#g, cl.sum(a) == cl.sum(g:random("float", 100, 100, { seed = 1 }))) --> 2	true
---```
---@param devices? string|clcompute.Device[] a selector as of `cl.devices`, or a list of devices, in which one may stand twice
---@param options? clcompute.GroupOptions
---@return clcompute.Group
function cl.group(devices, options) end

---Devices that compute together. `#g` is how many there are; `tostring` lists them.
---@class clcompute.Group
---@field devices clcompute.Device[] those of this process
---@field grid integer[]
---@field block integer
---@field shares? { vectors: integer[], rows: integer[], columns: integer[] } of devices in what lies in rows, of rows and of columns of the grid in matrices; nil where they share evenly
---@field bytes integer that went from device to device so far; of a rank those it sent
---@field rank? integer of a job of MPI, from 0; nil in one process
---@field has_double boolean all have it
---@field has_half boolean all have it
---@operator len: integer
local Group = {}

---A spread buffer with these elements, as `Device:buffer` takes them; or of a buffer of a device, or another spread one. Blocks.
---```lua
---print(cl.group({ d, d }):buffer({ 1, 2, 3 }, "int")[3]) --> 3
---```
---@param values clcompute.Values|string|clcompute.Buffer|clcompute.Spread
---@param dtype? clcompute.Dtype "float" unless given; that of a buffer stays
---@param ... integer of a string, the shape
---@return clcompute.Spread
function Group:buffer(values, dtype, ...) end

---A spread buffer of zeros. Queued.
---```lua
---print(cl.sum(cl.group({ d, d }):zeros("int", 10))) --> 0
---```
---@param dtype clcompute.Dtype
---@param n integer
---@param ... integer further extents, 4 at most in all
---@return clcompute.Spread
function Group:zeros(dtype, n, ...) end

---A spread buffer whose elements have no value yet.
---```lua
---print(#cl.group({ d, d }):empty("int", 10)) --> 10
---```
---@param dtype clcompute.Dtype
---@param n integer
---@param ... integer further extents, 4 at most in all
---@return clcompute.Spread
function Group:empty(dtype, n, ...) end

---A spread buffer of one value. Queued.
---```lua
---print(cl.sum(cl.group({ d, d }):full("int", 7, 10))) --> 70
---```
---@param dtype clcompute.Dtype
---@param value number
---@param n integer
---@param ... integer further extents, 4 at most in all
---@return clcompute.Spread
function Group:full(dtype, value, n, ...) end

---Random numbers, the same as `Device:random` makes of the seed, whatever the number of devices. Queued.
---```lua
---local g = cl.group { d, d }
---print(g:random("float", 9, { seed = 4 })[9] == d:random("float", 9, { seed = 4 })[9]) --> true
---```
---@param dtype clcompute.Dtype
---@param n integer
---@param ... integer|clcompute.RandomOptions further extents, 4 at most in all; options last
---@return clcompute.Spread
function Group:random(dtype, n, ...) end

---Numbers at even distances, as of `Device:linspace`; made on one device, and spread.
---```lua
---print(cl.group({ d, d }):linspace(0, 1, 5)[5]) --> 1.0
---```
---@param a number
---@param b number
---@param n integer elements
---@param dtype? "half"|"float"|"double" "float" unless given
---@return clcompute.Spread
function Group:linspace(a, b, n, dtype) end

---Numbers from a to b by steps, as of `Device:arange`; made on one device, and spread.
---```lua
---print(cl.group({ d, d }):arange(1, 5)[5]) --> 5.0
---```
---@param first number
---@param last number included, where a step meets it
---@param step? number 1 unless given
---@param dtype? clcompute.Dtype "float" unless given
---@return clcompute.Spread
function Group:arange(first, last, step, dtype) end

---The unit matrix, as of `Device:eye`; made on one device, and spread.
---```lua
---print(cl.group({ d, d }):eye(3):get(3, 3)) --> 1.0
---```
---@param n integer rows
---@param m? integer columns; n unless given
---@param dtype? clcompute.Dtype "float" unless given
---@return clcompute.Spread
function Group:eye(n, m, dtype) end

---The indices 1 to n in random order, as of `Device:permutation`; made on one device, and spread.
---```lua
---print(cl.sum(cl.group({ d, d }):permutation(5))) --> 15
---```
---@param n integer
---@param options? clcompute.PermutationOptions
---@return clcompute.Spread
function Group:permutation(n, options) end

---The array of a file, as `Device:load` reads it; a .npy file in pieces, so that it need not fit one device. Blocks.
---```lua
---local path = os.tmpname() .. ".npy"
---d:buffer({ 1, 2, 3 }):save(path)
---print(cl.sum(cl.group({ d, d }):load(path))) --> 6.0
---os.remove(path)
---```
---@param path string
---@param options? clcompute.LoadOptions
---@return clcompute.Spread
function Group:load(path, options) end

---Waits until all that was queued on the devices has ended.
---```lua
---cl.group({ d, d }):wait()
---```
---@return clcompute.Group # the group
function Group:wait() end

---Ends the use of the group, as `<close>` does; its devices stay open. May be called twice.
---```lua
---cl.group({ d, d }):close()
---```
---@return clcompute.Group # the group
function Group:close() end

---A buffer whose elements lie with the devices of a group: those of a matrix in blocks, rows of anything else in one part each,
---in the order of devices. Shape, indices, files and what is printed are those of a buffer on one device. `a[i]` is an element
---of one dimension; operators go between spread buffers of one shape, and numbers.
---@class clcompute.Spread
---@field [integer] number
---@field dtype clcompute.Dtype
---@field shape integer[] a fresh table
---@field count integer elements
---@field bytes integer
---@field group clcompute.Group
---@field device clcompute.Group the group
---@operator len: integer
---@operator add(clcompute.Spread|number): clcompute.Spread
---@operator sub(clcompute.Spread|number): clcompute.Spread
---@operator mul(clcompute.Spread|number): clcompute.Spread
---@operator div(clcompute.Spread|number): clcompute.Spread
---@operator unm: clcompute.Spread
local Spread = {}

---Elements as a table, nested as the shape. Blocks.
---```lua
---print(cl.group({ d, d }):buffer({ 1, 2, 3 }, "int"):read(2, 3)[2]) --> 3
---```
---@param first? integer 1 unless given
---@param last? integer `#a` unless given
---@return table
function Spread:read(first, last) end

---All elements in row-major order, packed in the machine's byte order. Blocks.
---```lua
---print(#cl.group({ d, d }):zeros("int", 3):string()) --> 12
---```
---@return string
function Spread:string() end

---Writes rows over those from `first` on. Blocks; of a spread buffer of the same shape, and without `first`, queued.
---
---Errors: rows that would reach beyond the end; elements of another dtype.
---```lua
---print(cl.group({ d, d }):zeros("int", 4):write({ 5, 6 }, 3)[4]) --> 6
---```
---@param values clcompute.Values|string|clcompute.Buffer|clcompute.Spread
---@param first? integer 1 unless given
---@return clcompute.Spread # the buffer
function Spread:write(values, first) end

---Sets rows `first` to `last` to one value. Queued.
---```lua
---print(cl.sum(cl.group({ d, d }):zeros("int", 4):fill(7, 2, 3))) --> 14
---```
---@param value number
---@param first? integer 1 unless given
---@param last? integer `#a` unless given
---@return clcompute.Spread # the buffer
function Spread:fill(value, first, last) end

---A new spread buffer with the same elements; of a device, a buffer there with all of them; of another group, one spread over that.
---```lua
---print(cl.group({ d, d }):buffer({ 1, 2, 3 }, "int"):copy(d)) --> int buffer 3 on ...: 1, 2, 3
---```
---@param target? clcompute.Device|clcompute.Group
---@return clcompute.Spread|clcompute.Buffer # the new one
function Spread:copy(target) end

---Rows `first` to `last` on the same memory.
---```lua
---local a = cl.group({ d, d }):zeros("int", 4)
---a:view(2, 3):fill(5)
---print(a[1], a[2]) --> 0	5
---```
---@param first integer
---@param last? integer the last row unless given
---@return clcompute.Spread
function Spread:view(first, last) end

---One element. Blocks.
---```lua
---print(cl.group({ d, d }):buffer({ { 1, 2 }, { 3, 4 } }, "int"):get(2, 1)) --> 3
---```
---@param i integer
---@param ... integer one index a dimension
---@return number
function Spread:get(i, ...) end

---Sets one element. Queued.
---```lua
---print(cl.group({ d, d }):zeros("int", 2, 2):set(2, 1, 9):get(2, 1)) --> 9
---```
---@param i integer
---@param ... number one index a dimension, then the value
---@return clcompute.Spread # the buffer
function Spread:set(i, ...) end

---Writes a file as `Buffer:save` does, byte for byte; a .npy or .csv file in pieces. Blocks.
---```lua
---local path = os.tmpname() .. ".npy"
---cl.group({ d, d }):buffer({ 1, 2, 3 }):save(path)
---print(d:load(path)[3]) --> 3.0
---os.remove(path)
---```
---@param path string
---@param options? clcompute.SaveOptions
---@return clcompute.Spread # the buffer
function Spread:save(path, options) end

---@class clcompute.Part
---@field rank integer which of the group's devices, from 1
---@field device clcompute.Device
---@field buffer clcompute.Buffer its elements: rows below each other, each with the columns it has of them
---@field rows integer[][] which rows of the whole these are: { first, last } of each run of them
---@field columns integer[][] which columns

---What each device has, for kernels of one's own.
---```lua
---local a = cl.group({ d, d }):zeros("int", 10)
---for _, part in ipairs(a:parts()) do part.buffer:fill(part.rank) end
---print(a[1], a[10]) --> 1	2
---```
---@return clcompute.Part[]
function Spread:parts() end

---Computes the elements of an expression now; queued.
---```lua
---local a = cl.group({ d, d }):buffer { 1, 2, 3 }
---print((2 * a + a):eval()[3]) --> 9.0
---```
---@return clcompute.Spread # the buffer
function Spread:eval() end

---Releases the memory at once, as `<close>` does. May be called twice.
---```lua
---cl.group({ d, d }):zeros("float", 1000):release()
---```
---@return clcompute.Spread # the buffer
function Spread:release() end

---LU factors with partial pivoting of a spread matrix, as `cl.lu` makes them.
---@class clcompute.SpreadFactors
---@field n integer
---@field dtype clcompute.Dtype
---@field device clcompute.Group
local SpreadFactors = {}

---The solution of A X = B: of the shape of b. Blocks.
---```lua
---local g = cl.group { d, d }
---print(cl.lu(g:buffer { { 2, 0 }, { 0, 4 } }):solve(g:buffer { 2, 4 })[2]) --> 1.0
---```
---@param b clcompute.Spread with as many rows
---@return clcompute.Spread
function SpreadFactors:solve(b) end

---The determinant.
---```lua
---print(cl.lu(cl.group({ d, d }):buffer { { 2, 0 }, { 0, 4 } }):det()) --> 8.0
---```
---@return number
function SpreadFactors:det() end

---The reciprocal condition number in the 1-norm, estimated. Blocks.
---```lua
---print(cl.lu(cl.group({ d, d }):eye(3)):rcond() > 0.99) --> true
---```
---@return number
function SpreadFactors:rcond() end

---Releases the memory at once, as `<close>` does. May be called twice.
---```lua
---cl.lu(cl.group({ d, d }):eye(3)):release()
---```
---@return clcompute.SpreadFactors # the factors
function SpreadFactors:release() end
