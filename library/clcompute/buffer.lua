---@meta _
-- SPDX-License-Identifier: MIT

---Typed elements in 1 to 4 dimensions, row-major, in a device's memory. Indices count from 1; `first` and `last` are
---inclusive and go along the first dimension, which is rows for a matrix. In one dimension `b[i]` and `b[i] = v` are an
---element; `b[i]` of a matrix is the view of row i; `b[#b + 1]` is nil, so that `ipairs` ends. `tostring` shows dtype,
---shape, device and the first elements.
---@class clcompute.Buffer
---@field [integer] number|clcompute.Buffer|any
---@field dtype clcompute.Dtype
---@field shape integer[] a fresh table
---@field bytes integer
---@field device clcompute.Device
---@operator len: integer
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

---Writes rows over those from `first` on. Queued; the host's data is copied before the call returns.
---
---Errors: rows that would reach beyond the end; elements that are no numbers of the dtype.
---```lua
---local b = d:zeros("float", 4)
---b:write({ 5, 6 }, 3)
---print(b[2], b[4]) --> 0.0	6.0
---```
---@param values clcompute.Values|string|clcompute.Buffer a nested table, packed bytes, or another buffer, of any device
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

---A new buffer with the same elements. Queued; between devices it blocks.
---```lua
---local b = d:buffer { 1, 2 }
---b:copy():fill(0)
---print(b[1]) --> 1.0
---```
---@param device? clcompute.Device where to
---@return clcompute.Buffer # the new one
function Buffer:copy(device) end

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

---Copies a rectangle to another buffer, or to another place of this one; the two may overlap. Queued; between devices of
---different contexts it blocks.
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
---of a kernel of your own its start must be a multiple of `d.align` bytes.
---```lua
---local b = d:buffer { 1, 2, 3, 4 }
---b:view(2, 3):fill(0)
---print(b[1], b[2], b[3], b[4]) --> 1.0	0.0	0.0	4.0
---```
---@param first integer
---@param last integer
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

---The OpenCL handle of the buffer's memory, as light userdata for a C library. It stays the buffer's: never release it,
---and do not use it after the buffer was released or collected. A view has the handle of the whole memory and begins at
---an offset in it.
---```lua
---local memory, offset = d:zeros("float", 8):view(3, 8):raw()
---print(type(memory), offset >= 2) --> userdata	true
---```
---@return userdata # cl_mem; NULL where there are no elements
---@return integer # elements before the buffer's first one
function Buffer:raw() end

---Writes the buffer as a .npy file: version 1.0, C order, the machine's byte order. It takes the place of a regular
---file, whose owner and mode stay, or of the one that a symbolic link names. Blocks.
---
---Errors: a file that cannot be written; the old one stays then.
---```lua
---local path = os.tmpname()
---d:buffer { 1, 2, 3 }:save(path)
---os.remove(path)
---```
---@param path string
---@return clcompute.Buffer # the buffer
function Buffer:save(path) end

---Releases the buffer at once instead of when it is collected; `<close>` does the same. The memory goes with its last
---view or other holder. May be called twice.
---```lua
---d:zeros("float", 1000):release()
---```
---@return clcompute.Buffer # the buffer
function Buffer:release() end
