---@meta _
-- SPDX-License-Identifier: MIT

---Pixels in a device's memory, which kernels read through samplers (`read_imagef`) and write (`write_imagef`). In Lua an
---image has the elements of a buffer of its shape, as they are stored: depth or layers, height, width and, where a pixel
---has several, channels. `tostring` shows format, kind, size and device.
---@class clcompute.Image
---@field format clcompute.ImageFormat
---@field kind "image1d"|"image1d_array"|"image1d_buffer"|"image2d"|"image2d_array"|"image3d"
---@field width integer pixels
---@field height? integer pixels; nil of one dimension
---@field depth? integer pixels; nil unless there are three dimensions
---@field layers? integer nil unless it is an array
---@field dtype clcompute.Dtype of a stored channel
---@field shape integer[] of the elements, a fresh table
---@field bytes integer
---@field device clcompute.Device
local Image = {}

---Elements as a table, nested as the shape. Blocks.
---
---Errors: an image on a buffer; read the buffer. So do all methods that move pixels.
---```lua
---local im = d:image("r float", 2, 2):write { { 1, 2 }, { 3, 4 } }
---print(im:read()[2][1]) --> 3.0
---```
---@return table
function Image:read() end

---All elements, packed in the machine's byte order. Blocks.
---```lua
---print(d:image("rgba uchar", 1, 1):write("RGBA"):string()) --> RGBA
---```
---@return string
function Image:string() end

---The stored channels of one pixel, by its coordinates from 1 on, in the order of `Device:image`; of an array the layer
---comes last. Blocks.
---```lua
---print(d:image("rgba uchar", 4, 2):fill({ 1, 2, 3, 4 }):get(4, 2)) --> 1	2	3	4
---```
---@param x integer
---@param ... integer y; z or the layer
---@return number # the first channel
---@return number ... the others
function Image:get(x, ...) end

---Writes all pixels: a table nested as the shape, packed bytes, a buffer on the same device with as many elements of the
---dtype, or an image of the same kind, format and size. Queued; the host's data is copied before the call returns.
---
---Errors: another number of elements; another dtype or format.
---```lua
---local b = d:buffer({ { 1, 2 }, { 3, 4 } }, "float")
---print(d:image("r float", 2, 2):write(b):get(2, 1)) --> 2.0
---```
---@param data table|string|clcompute.Buffer|clcompute.Image
---@return clcompute.Image # the image
function Image:write(data) end

---Sets every pixel to a colour, as a kernel writes it: red, green, blue and alpha, of a `unorm` format from 0 to 1; a
---number stands for all four. The channels that the format has are stored. Queued.
---
---Errors: a colour outside 0 .. 1 of a `unorm` format, -1 .. 1 of a `snorm` format.
---```lua
---print((d:image("r unorm8", 8, 8):fill(1):get(8, 8))) --> 255
---```
---@param colour number|number[]
---@return clcompute.Image # the image
function Image:fill(colour) end

---A new image with the same pixels. Queued.
---
---Errors: a format that the other device has not.
---```lua
---print(d:image("r float", 3):fill(2):copy():get(3)) --> 2.0
---```
---@param device? clcompute.Device the image's own unless given
---@return clcompute.Image
function Image:copy(device) end

---Copies the elements to a buffer. Queued.
---
---Errors: a buffer with another dtype or number of elements, or on another device.
---```lua
---local b = d:image("r float", 2, 3):fill(1):buffer()
---print(cl.sum(b)) --> 6.0
---```
---@param buffer? clcompute.Buffer on the same device; a new one of the image's shape unless given
---@return clcompute.Buffer # the one with the elements
function Image:buffer(buffer) end

---Writes an image of two dimensions as a picture. The path's extension says how: `.pgm` takes one channel, `.ppm` leaves
---the alpha out, `.png` takes both. Channels are `unorm8`, `unorm16`, `uchar` or `ushort`. A PNG is compressed where
---Debian's lua-zlib is installed. The file takes the place of a regular one as with `Buffer:save`. Blocks.
---
---Errors: another extension or format; a file that cannot be written, the old one stays then.
---```lua
---local path = os.tmpname() .. ".png"
---d:image("r unorm8", 4, 4):fill(0.5):save(path)
---os.remove(path)
---```
---@param path string
---@return clcompute.Image # the image
function Image:save(path) end

---Releases the image at once instead of when it is collected; `<close>` does the same. May be called twice.
---```lua
---d:image("r float", 64, 64):release()
---```
---@return clcompute.Image # the image
function Image:release() end

---How a kernel reads an image between its pixels and beyond its edges. `tostring` shows it.
---@class clcompute.Sampler
---@field filter "nearest"|"linear"
---@field address "none"|"clamp"|"clamp_to_edge"|"repeat"|"mirrored_repeat"
---@field normalized boolean
---@field device clcompute.Device
local Sampler = {}

---Releases the sampler at once instead of when it is collected; `<close>` does the same. May be called twice.
---```lua
---d:sampler():release()
---```
---@return clcompute.Sampler # the sampler
function Sampler:release() end
