---@meta _
-- SPDX-License-Identifier: MIT

---Typed elements in 1 to 4 dimensions, row-major, in a device's memory. Indices count from 1; `first` and `last` are
---inclusive and go along the first dimension, which is rows for a matrix. In one dimension `b[i]` and `b[i] = v` are an
---element; `b[i]` of a matrix is the view of row i; `b[#b + 1]` is nil, so that `ipairs` ends. `tostring` shows dtype,
---shape, device and the first elements.
---
---Operators make expressions: `z = 2 * x + y * y` is a buffer whose elements one kernel computes when something needs
---them: reading or printing them, an operation, a kernel, `z:eval()`. It has the values of when it was written: before
---something writes to x or y it is computed. Operands are buffers of one device, or numbers; `+ - * / // % ^`, unary `-`,
---and `& | ~` of integers are there, with `cl.eq` and its kin for comparisons. Where shapes differ the rule of NumPy
---holds: they are compared from the last extent on, and an extent of 1, or a missing one, goes with any other. The result
---has the dtype that comes last of those of the buffers, in the order of `cl.map`; a Lua float beside integers makes it
---float, and so do `/` and `^`. `//` rounds down and `%` is its rest as in Lua; for integers both are 0 where one divides
---by 0. Every operator's result is rounded to its dtype, but half stays float within an expression. One of more than 32
---operands, or of what would have more arguments than the device takes, is computed in parts. What others write to memory behind the library's back (`raw`) it does not see.
---@class clcompute.Buffer
---@field [integer] number|clcompute.Buffer|any
---@field dtype clcompute.Dtype
---@field shape integer[] a fresh table
---@field count integer how many elements; `#b` is the first extent
---@field bytes integer
---@field device clcompute.Device
---@operator len: integer
---@operator add(clcompute.Buffer|number): clcompute.Buffer
---@operator sub(clcompute.Buffer|number): clcompute.Buffer
---@operator mul(clcompute.Buffer|number): clcompute.Buffer
---@operator div(clcompute.Buffer|number): clcompute.Buffer
---@operator idiv(clcompute.Buffer|number): clcompute.Buffer
---@operator mod(clcompute.Buffer|number): clcompute.Buffer
---@operator pow(clcompute.Buffer|number): clcompute.Buffer
---@operator band(clcompute.Buffer|number): clcompute.Buffer
---@operator bor(clcompute.Buffer|number): clcompute.Buffer
---@operator bxor(clcompute.Buffer|number): clcompute.Buffer
---@operator unm: clcompute.Buffer
---@operator bnot: clcompute.Buffer
local Buffer = {}

---Elements as a table, nested as the shape. Blocks.
---
---Errors: rows outside the buffer; a shape of more than 2^20 rows without elements.
---```lua
---local rows = d:buffer({ { 1, 2 }, { 3, 4 } }, "int"):read()
---print(rows[2][1]) --> 3
---```
---@param first? integer 1 unless given
---@param last? integer `#b` unless given
---@return table
function Buffer:read(first, last) end

---All elements, packed in the machine's byte order (see `string.unpack`). Blocks.
---```lua
---print(string.unpack("i4", d:buffer({ 7 }, "int"):string())) --> 7	5
---```
---@return string
function Buffer:string() end

---Reads all elements into a host array of as many elements, of the same dtype. Queued: the call returns at once, and a
---look at an element of the array waits for the end. Where the array was made for another device or queue, it blocks.
---```lua
---local x, h = d:buffer { 1, 2, 3 }, d:host("float", 3)
---x:read_async(h)
---print(h[3]) --> 3.0
---```
---@param host clcompute.Host
---@return clcompute.Event
function Buffer:read_async(host) end

---Writes rows over those from `first` on. Queued; the host's data is copied before the call returns, but for a host
---array, which keeps it until the device has read it.
---
---Errors: rows that would reach beyond the end; elements that are no numbers of the dtype.
---```lua
---local b = d:zeros("float", 4)
---b:write({ 5, 6 }, 3)
---print(b[2], b[4]) --> 0.0	6.0
---```
---@param values clcompute.Values|string|clcompute.Buffer|clcompute.Host a nested table, packed bytes, another buffer, of any device, or a host array
---@param first? integer 1 unless given
---@return clcompute.Buffer # the buffer
function Buffer:write(values, first) end

---Sets rows `first` to `last` to one value. Queued.
---```lua
---local b = d:empty("int", 4):fill(7):fill(0, 2, 3)
---print(b[1], b[2], b[4]) --> 7	0	7
---```
---@param value number
---@param first? integer 1 unless given
---@param last? integer `#b` unless given
---@return clcompute.Buffer # the buffer
function Buffer:fill(value, first, last) end

---A new buffer with the same elements. Queued; to a device of another context it waits until all is read.
---```lua
---local b = d:buffer { 1, 2 }
---b:copy():fill(0)
---print(b[1]) --> 1.0
---```
---@param device? clcompute.Device where to
---@return clcompute.Buffer # the new one
function Buffer:copy(device) end

---The axes in the opposite order, of a matrix the transpose: a new buffer, as `cl.transpose` makes it. Queued.
---```lua
---print(d:buffer({ { 1, 2, 3 }, { 4, 5, 6 } }):T():get(3, 1)) --> 3.0
---```
---@return clcompute.Buffer
function Buffer:T() end

---A rectangle of a buffer, or a stack of them. In a buffer of as many dimensions as `size` has, the shape says where the
---rows are, and `at` has an index for each dimension. In a buffer of one dimension `pitch` says it, and `at` is one index.
---@class clcompute.RectOptions
---@field size? integer[] { rows, columns } or { slices, rows, columns }; all from `at` on unless given
---@field at? integer|integer[] the first element; the buffer's first unless given
---@field pitch? integer|integer[] elements from row to row; in three dimensions { from slice to slice, from row to row }

---@class clcompute.CopyRectOptions: clcompute.RectOptions
---@field to clcompute.Buffer of the same dtype, on any device
---@field to_at? integer|integer[] the first element there
---@field to_pitch? integer|integer[] the pitch there

---Copies a rectangle to another buffer, or to another place of this one; the two may overlap. Queued; to a device of
---another context it waits until all is read.
---
---Errors: rectangles that reach beyond a buffer; pitches in which the rows do not fit.
---```lua
---local m, n = d:buffer({ { 1, 2, 3 }, { 4, 5, 6 } }, "int"), d:zeros("int", 2, 2)
---m:copy_rect { to = n, size = { 2, 2 }, at = { 1, 2 } }
---print(n:get(1, 1), n:get(2, 2)) --> 2	6
---```
---@param options clcompute.CopyRectOptions
---@return clcompute.Buffer # the buffer
function Buffer:copy_rect(options) end

---The elements of a rectangle as a table, nested as its size. Blocks.
---
---Errors: as of `Buffer:copy_rect`.
---```lua
---local line = d:buffer({ 1, 2, 3, 4, 5, 6 }, "int")
---local rows = line:read_rect { size = { 2, 2 }, at = 2, pitch = 3 }
---print(rows[1][1], rows[2][1]) --> 2	5
---```
---@param options? clcompute.RectOptions
---@return table
function Buffer:read_rect(options) end

---Writes over a rectangle. Queued; the host's data is copied before the call returns.
---
---Errors: as of `Buffer:copy_rect`; a table with a `size` beside it; elements that are no numbers of the dtype.
---```lua
---local m = d:zeros("int", 3, 3)
---m:write_rect({ { 1, 2 }, { 3, 4 } }, { at = { 2, 2 } })
---print(m:get(2, 2), m:get(3, 3)) --> 1	4
---```
---@param values clcompute.Values|string a table nested 2 or 3 deep, which has its size, or packed bytes
---@param options? clcompute.RectOptions
---@return clcompute.Buffer # the buffer
function Buffer:write_rect(values, options) end

---One element. Blocks. `b[i]` is the same in one dimension.
---
---Errors: an index outside the shape, or a wrong number of indices.
---```lua
---print(d:buffer({ { 1, 2 }, { 3, 4 } }, "int"):get(2, 1)) --> 3
---```
---@param i integer
---@param ... integer one index a dimension
---@return number
function Buffer:get(i, ...) end

---Sets one element. Queued. `b[i] = v` is the same in one dimension.
---
---Errors: an index outside the shape; a value that is no number of the dtype.
---```lua
---local m = d:zeros("int", 2, 2)
---m:set(2, 1, 9)
---print(m:get(2, 1)) --> 9
---```
---@param i integer
---@param ... number one index a dimension, then the value
---@return clcompute.Buffer # the buffer
function Buffer:set(i, ...) end

---Rows `first` to `last` as a buffer on the same memory. Prebuilt operations take a view of any start; as an argument
---of a kernel of your own its start must be a multiple of `d.align` bytes. With a list, `{ first, last, step }`, for a
---dimension it is `slice`, whose elements are a copy.
---```lua
---local b = d:buffer { 1, 2, 3, 4 }
---b:view(2, 3):fill(0)
---print(b[1], b[2], b[3], b[4]) --> 1.0	0.0	0.0	4.0
---print(d:arange(1, 60):reshape(10, 6):view({ 1, 10, 2 }, { 3, 5 }):get(2, 1)) --> 15.0
---```
---@param first integer|integer[]
---@param last? integer|integer[] the last row unless given
---@return clcompute.Buffer
function Buffer:view(first, last) end

---The same elements in another shape, on the same memory.
---
---Errors: extents whose product is not the number of elements.
---```lua
---print(d:buffer({ 1, 2, 3, 4, 5, 6 }, "int"):reshape(2, 3):get(2, 1)) --> 4
---```
---@param n integer rows
---@param ... integer further extents, 4 at most in all
---@return clcompute.Buffer
function Buffer:reshape(n, ...) end

---The same bytes as elements of another dtype, on the same memory. The last dimension has as many bytes as before.
---
---Errors: a last dimension that is no whole number of such elements; a view whose first byte may not begin one.
---```lua
---print(d:buffer({ 1.0 }, "float"):as "uint"[1] == 0x3f800000) --> true
---```
---@param dtype clcompute.Dtype
---@return clcompute.Buffer
function Buffer:as(dtype) end

---A new buffer of the elements converted to another dtype, as C converts: towards an integer type fractions drop, and a
---number out of its range makes any number. Queued.
---
---Errors: no such dtype; double or half on a device that has none.
---```lua
---print(d:buffer({ 1.75, -1.75 }):astype("int")) --> int buffer 2 ...: 1, -1
---```
---@param dtype clcompute.Dtype
---@return clcompute.Buffer
function Buffer:astype(dtype) end

---Part of the elements along every dimension: an index, which drops the dimension, `{ first, last, step }`, of which all may
---be missing, or nil for all. An expression, as operators make: nothing is copied until something needs the elements, and
---operators read them where they are. A `view` of rows shares the memory, which a slice does not: it has the values of when
---it was written, and to write to it is an error, for kernels with a pointer that is not const too.
---
---Errors: what is outside of the buffer; a step below 1; an argument more than dimensions.
---```lua
---local m = d:buffer { { 1, 2, 3, 4 }, { 5, 6, 7, 8 } }
---print(m:slice(nil, 2)[2], m:slice(1, { 1, 4, 2 })[2]) --> 6.0	3.0
---print((m:slice(nil, { 2, 4 }) - m:slice(nil, { 1, 3 })):get(2, 3)) --> 1.0
---```
---@param ... integer|integer[]|nil for each dimension
---@return clcompute.Buffer
function Buffer:slice(...) end

---`cl.matmul(a, b)`: the product of vectors, matrices and stacks.
---```lua
---print(d:buffer({ 1, 2 }):dot(d:buffer { 3, 4 })) --> 11.0
---```
---@param b clcompute.Buffer
---@return clcompute.Buffer|number
function Buffer:dot(b) end

---Computes the elements of an expression now; queued. Any other buffer has them already.
---```lua
---local x, y = d:buffer { 1, 2, 3 }, d:buffer { 4, 5, 6 }
---local z = (2 * x + y * y):eval()
---print(z[1], z[3]) --> 18.0	42.0
---local m = d:buffer { { 1, 2, 3 }, { 4, 5, 6 } }
---print((m - d:buffer { 1, 2, 3 }):get(2, 3)) --> 3.0
---```
---@return clcompute.Buffer # the buffer
function Buffer:eval() end

---The OpenCL handle of the buffer's memory, as light userdata for a C library. It stays the buffer's: never release it,
---and do not use it after the buffer was released or collected. A view has the handle of the whole memory and begins at
---an offset in it. Expressions that wait for its elements are computed; those that a script writes later see what the
---library wrote by then.
---```lua
---local memory, offset = d:zeros("float", 8):view(3, 8):raw()
---print(type(memory), offset >= 2) --> userdata	true
---```
---@return userdata # cl_mem; NULL where there are no elements
---@return integer # elements before the buffer's first one
function Buffer:raw() end

---@class clcompute.SaveOptions
---@field low? number of a picture: what is black; the least finite element unless given
---@field high? number of a picture: what is white; the largest finite element unless given
---@field header? string[] of a .csv file: a name for each column, in quotes in a first line

---Writes the buffer to a file, as the path's extension says. It takes the place of a regular file, whose owner and mode
---stay, or of the one that a symbolic link names. Blocks.
---
---`.png`, `.pgm`: rows x columns as a gray picture. `.png`, `.ppm`: rows x columns x 3 or 4 as red, green, blue, and
---alpha, which a .ppm leaves out. Elements of uchar are the pixels; those of other dtypes are spread from `low` to
---`high`, NaN is black, and a matrix of equal elements is gray. A PNG is compressed where Debian's lua-zlib is installed.
---
---`.csv`: a line for each element, or for each row of two dimensions, with as many digits as give the same bits back.
---
---`.npy`, no extension, or one of your own: numpy's .npy, version 1.0, C order, the machine's byte order. Extensions of other
---formats, as `.txt` and `.json`, are refused. `cl.save_npz` writes several buffers.
---
---Errors: a file that cannot be written, the old one stays then; a shape that the format does not have; options of
---another format; `low` not below `high`; as many names as there are columns are not given.
---```lua
---local path = os.tmpname()
---d:buffer({ { 0.1, 1 } }):save(path .. ".csv")
---for line in io.lines(path .. ".csv") do print(line) end --> 0.100000001,1
---d:random("float", 48, 64):save(path .. ".png", { low = 0, high = 1 })
---for _, name in ipairs { path, path .. ".csv", path .. ".png" } do os.remove(name) end
---```
---@param path string
---@param options? clcompute.SaveOptions
---@return clcompute.Buffer # the buffer
function Buffer:save(path, options) end

---Releases the buffer at once instead of when it is collected; `<close>` does the same. The memory goes with its last
---view or other holder. May be called twice.
---```lua
---d:zeros("float", 1000):release()
---```
---@return clcompute.Buffer # the buffer
function Buffer:release() end

-- --- host arrays ------------------------------------------------------------------------------------

---Typed elements in the host's memory, which Lua indexes from 1 and a device reads and writes at full speed while Lua goes
---on: `b:write(h)` and `b:read_async(h)` return at once. On a GPU the memory is pinned, which takes half a second for each
---GiB. Looking at an element, or changing one, waits for the transfer that moves them.
---@class clcompute.Host
---@field [integer] number|any
---@field dtype clcompute.Dtype
---@field bytes integer
---@field device clcompute.Device
---@operator len: integer
local Host = {}

---Elements as a table.
---```lua
---local h = d:host("int", 4)
---h[2] = 7
---print(h:read(2, 3)[1]) --> 7
---```
---@param first? integer 1 unless given
---@param last? integer `#h` unless given
---@return table
function Host:read(first, last) end

---All elements, packed in the machine's byte order.
---```lua
---print(#d:host("double", 4):string()) --> 32
---```
---@return string
function Host:string() end

---Writes elements over those from `first` on.
---
---Errors: elements that do not fit, or are none of the dtype.
---```lua
---local h = d:host("float", 4):write({ 1, 2 }, 3)
---print(h[2], h[3]) --> 0.0	1.0
---```
---@param values number[]|string a table, or packed bytes
---@param first? integer 1 unless given
---@return clcompute.Host # the array
function Host:write(values, first) end

---Gives the memory back at once, as `<close>` does; waits for a transfer that has it. May be called twice.
---```lua
---d:host("float", 1000):release()
---```
---@return clcompute.Host # the array
function Host:release() end
