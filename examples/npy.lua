-- SPDX-License-Identifier: MIT
--- Arrays in .npy files, which numpy reads and writes: whole buffers, views, rows.

local cl = require "clcompute"
local device = cl.device()
local path = arg[1] or os.tmpname()

-- Python: a = numpy.load(path)
local matrix = device:random("double", 1000, 300, { seed = 1, low = -1 })
matrix:save(path)
local again = device:load(path)
print(again)
assert(again.dtype == "double" and again:string() == matrix:string())

-- A view is saved as the array it shows, a row of a matrix as a vector.
matrix:view(11, 20):save(path)
local rows = device:load(path)
print(("rows 11 to 20: %d x %d"):format(table.unpack(rows.shape)))
assert(rows:string() == matrix:view(11, 20):string())

matrix[17]:save(path)
local row = device:load(path)
print(("row 17: %d elements"):format(#row))
assert(row[300] == matrix:get(17, 300))

-- A file that is not what it says is an error that names file and fault; nothing was allocated.
local file = assert(io.open(path, "ab"))
file:write("trailing rubbish")
file:close()
local ok, message = pcall(device.load, device, path)
assert(not ok)
print((message:gsub("^load: .-: ", "refused: ")))

if not arg[1] then os.remove(path) end
print("everything came back as it was saved")
