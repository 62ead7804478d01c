---@meta _
-- SPDX-License-Identifier: MIT

---A device: an OpenCL device with a context and an in-order queue. Commands are queued; what returns data to Lua waits.
---`tostring` is one line. `<close>` closes it.
---@class clcompute.Device
---@field name string
---@field vendor string
---@field platform string
---@field type "gpu"|"cpu"|"accelerator"|string
---@field version string
---@field c_version string
---@field il_version? string intermediate languages it takes, as "SPIR-V_1.2"; from OpenCL 2.1 on
---@field driver string
---@field extensions string
---@field compute_units integer
---@field clock_mhz integer
---@field global_memory integer bytes
---@field max_allocation integer bytes, as the driver says: NVIDIA's says a quarter of the memory, and gives all
---@field cache integer bytes
---@field cache_line integer bytes
---@field local_memory integer bytes
---@field local_memory_type "local"|"global"|"none" memory of its own, or a piece of the global one
---@field constant_memory integer bytes
---@field max_group_size integer work-items
---@field max_group_sizes integer[] along each dimension
---@field group_multiple integer the size whose multiples groups should have
---@field place string "0:1": platform and device from 0, as selectors have it; of a part "0:1 part 1 of 2"
---@field parent? clcompute.Device of a part: the device that was divided
---@field align integer bytes; a view that is a kernel's argument starts at a multiple
---@field address_bits integer
---@field vector_width_float integer
---@field vector_width_double integer
---@field timer_resolution_ns integer
---@field unified_memory boolean
---@field has_compiler boolean
---@field has_double boolean
---@field has_half boolean
---@field has_images boolean
---@field max_image_width integer pixels of an image of one or two dimensions
---@field max_image_height integer pixels
---@field max_image3d_width integer pixels
---@field max_image3d_height integer pixels
---@field max_image3d_depth integer pixels
---@field max_image_layers integer
---@field max_image_buffer integer pixels of an image on a buffer
---@field max_read_images integer that a kernel may read
---@field max_write_images integer that a kernel may write
---@field max_samplers integer that a kernel may use
---@field has_correct_division boolean whether float division and sqrt can be correctly rounded: options = "-cl-fp32-correctly-rounded-divide-sqrt"
---@field compute_capability? integer of NVIDIA's devices, 10 * major + minor: 90 is 9.0
---@field has_nonuniform_groups boolean whether a range may have remainder = "native"
---@field isolated boolean whether a worker process builds and runs its kernels
---@field careful boolean whether programs that its compiler may get wrong are built without optimisation
---@field limit? number seconds that a kernel may run there, once it is compiled; nil on other devices
---@field build_limit? number seconds that a build, or the compiling of a launch, may take there
---@field sandbox? string what keeps its worker from the rest of the machine, "files, system calls, tasks" or less, or "none" (docs/isolation.md)
local Device = {}

---Every property of the device.
---```lua
---print(d:info().name == d.name) --> true
---```
---@return table<string, any> # by name; memory in bytes
function Device:info() end

---Blocks until every command queued on the device has ended. A device whose context is not open has none.
---
---Errors: a queued command that failed; the message names it.
---```lua
---cl.saxpy(2, d:zeros("float", 8), d:zeros("float", 8))
---d:wait()
---```
---@return clcompute.Device
function Device:wait() end

---Hands the pool's memory to the driver. A buffer that is released leaves its memory in the pool, and a new one of about
---its size takes it from there: at most an eighth of a GPU's memory and a 64th of a processor's, each piece for ten
---seconds, and less where memory is short. `$CLCOMPUTE_POOL=off` has no pool; nor have isolated devices, Oclgrind, and
---buffers in check mode.
---```lua
---d:zeros("float", 1 << 20):release()
---print(cl.live().pooled > 0, d:trim() == d, cl.live().pooled) --> true	true	0
---```
---@return clcompute.Device # the device
function Device:trim() end

---A further in-order queue on the same memory, made when the device's own queue is empty. Its commands run beside the
---device's. It is a Device, and buffers of either may be used on both. A launch goes to the queue of its program; an
---operation to that of its first buffer, on which its result is made; a read, a fill and a copy to that of the buffer that is
---read, filled or copied to. A copy waits for the queue of what is copied. Nothing else waits for another queue: so what a launch
---of one queue writes is read on another one after `d:wait()`, or behind `Event:before`.
---```lua
---local q <close> = d:queue()
---local x = d:zeros("float", 8)
---d:wait()
---q:program "kernel void f(global float *x) { x[get_global_id(0)] = 1; }".f(8, x):wait()
---print(x[8]) --> 1.0
---```
---@return clcompute.Device
function Device:queue() end

---Has the launches that come from now on timed, or not: `Event.seconds` and `Event:profile` tell of timed ones alone.
---Waits for what is queued, and makes another queue: what `Device:raw` told is the old one. Off at first, but in the prompt
---and while `cl.profile` is on: NVIDIA's driver takes twice as long to queue a launch that is timed. A further queue begins
---as its device is.
---```lua
---local p = d:program "kernel void one(global int *x) { x[get_global_id(0)] = 1; }"
---d:timing(true)
---print(p.one(8, d:zeros("int", 8)).seconds > 0, d:timing()) --> true	true
---d:timing(false)
---```
---@param on? boolean
---@return clcompute.Device|boolean # the device; without `on`, whether launches are timed
function Device:timing(on) end

---@class clcompute.PartitionOptions one of these
---@field units? integer compute units of each part; those that are left over belong to none
---@field counts? integer[] compute units of the first part, of the second, ...
---@field domain? "numa"|"l4"|"l3"|"l2"|"l1"|"next" compute units that share such a memory or cache; "next" is the first of these that differ

---Divides a device into parts. Each is a Device with memory, programs and queue of its own: commands of two parts run
---beside each other, each on its own compute units. `b:copy(part)` moves a buffer. `place` is "0:0 part 1 of 2", `parent`
---the device that was divided, whose check mode and care the parts take over. A part lives as long as something refers
---to it or to what was made on it; closing the device closes its parts.
---
---Errors: a device that its driver does not divide that way (POCL divides by units and counts; Oclgrind and NVIDIA do
---not divide); more compute units than there are; an isolated device.
---```lua
---local divided, parts = pcall(d.partition, d, { units = 1 })
---print(not divided or parts[1].compute_units == 1 and parts[1].parent == d) --> true
---```
---@param options clcompute.PartitionOptions
---@return clcompute.Device[]
function Device:partition(options) end

---Switches check mode for buffers that are made after it, on the device and its further queues. A launch from Lua
---with such a buffer waits for its end. It raises where the kernel wrote up to 1 KiB before or after the buffer (of a
---view: into its neighbours), where an element of an output (a pointer that is not const) became NaN or infinity
---(those of compiled loops may, as in Lua), and, before it runs, where an output shares elements with a const argument.
---Elements that were never written are NaN, of integers 0xa5 in each byte. Check mode is on from the start where `$CLCOMPUTE_CHECK` is set, but not empty,
---0, off, no or false.
---
---It does not see a data race, a barrier that not all work-items of a group come to, an access beyond local memory, and
---an integer divided by zero. Oclgrind finds the first three: `oclgrind --data-races lua5.4 script.lua`
---(docs/isolation.md).
---```lua
---d:check(true)
---local y = d:empty("float", 7)
---d:check(false)
---local p = d:program "kernel void f(global float *y) { y[get_global_id(0)] = 1; }"
---print(pcall(p.f, 8, y)) --> false	kernel 'f' argument 1 'y' (global float*): element 8 was written, 1 after the last of 7
---```
---@param on boolean
---@return clcompute.Device
function Device:check(on) end

---The OpenCL handles behind the device, as light userdata for a C library. They stay the device's: never release
---them, and do not use them after it was closed or collected. The next wait also covers what was put into the queue
---since this call; so call it each time.
---```lua
---local queue, context, id = d:raw()
---print(type(queue), type(context), type(id)) --> userdata	userdata	userdata
---```
---@return userdata # cl_command_queue
---@return userdata # cl_context
---@return userdata # cl_device_id
function Device:raw() end

---Calls a function once, and keeps the launches, fills and copies that it queues on this device in place of running them.
---The sequence queues them from C as often as one likes, for little more than the driver's own time: for programs of many
---short launches, as an elimination step by step. A buffer that the function makes is there at once, its zeros at the first
---run; a write is kept with a copy of the values that it had. Operations of launches alone (`cl.saxpy`, `cl.map`,
---`cl.scan`, `cl.gemm`) are kept; other devices run at once.
---
---Errors, which leave nothing recorded: a call that waits for the device (a read, `cl.sum`, `cl.lu`, `d:wait`), for its
---commands have not run, or that takes a host array; commands of another queue of the device; buffers that are made in check mode,
---and kernels of a script on them; a recording or a sequence inside; an isolated device; what the function raises.
---```lua
---local q = cl.device(d.place, { isolated = false, check = false }) -- an isolated device records nothing
---local p = q:program [[kernel void blur(global const float *a, global float *b) {
---  int i = get_global_id(0), n = get_global_size(0);
---  b[i] = (a[max(i - 1, 0)] + a[min(i + 1, n - 1)]) / 2;
---}]]
---local a, b = q:buffer { 0, 0, 16, 0, 0 }, q:zeros("float", 5)
---local s = q:record(function()
---  p.blur(5, a, b)
---  p.blur(5, b, a)
---end)
---print(s, a[3]) --> sequence of 2 launches	16.0
---s(1000):wait()
---print(a[3] > 3 and a[3] < 4) --> true
---```
---@param f fun()
---@return clcompute.Sequence
function Device:record(f) end

---Waits for the queue, for further queues on the same memory and for parts, then releases all that anyone made on the
---device: buffers, programs, kernels, events, factors of `cl.lu`, the further queues and parts with what was made on them. Later use
---of them is an error; the next `cl.device` opens the hardware afresh. On a further queue it waits for that queue
---alone, and releases the queue and what was made on it. May be called twice.
---
---Errors: a queued command that failed; the message names it, and the device is closed all the same.
---```lua
---local device <close> = cl.device("cpu", { isolated = true })
---print(device.isolated) --> true
---```
---@return clcompute.Device
function Device:close() end

---A new buffer, from a (nested) table, or from packed bytes and a shape. The host's data is copied before the call
---returns.
---
---Errors: a table that is not rectangular; an element that is no number of the dtype; bytes that are not as many as the
---shape needs.
---```lua
---local m = d:buffer({ { 1, 2, 3 }, { 4, 5, 6 } }, "int")
---local v = d:buffer(string.pack("fff", 1, 2, 3), "float", 3)
---print(m.shape[1], m.shape[2], v[3]) --> 2	3	3.0
---```
---@param values clcompute.Values
---@param dtype? clcompute.Dtype "float" unless given
---@return clcompute.Buffer
---@overload fun(self: clcompute.Device, bytes: string, dtype: clcompute.Dtype, n?: integer, ...: integer): clcompute.Buffer
function Device:buffer(values, dtype) end

---A new host array of zeros: elements that Lua indexes, and which the device reads and writes at full speed while Lua goes
---on. Waits for what is queued.
---```lua
---local h, x = d:host("float", 3), d:zeros("float", 3)
---for i = 1, #h do h[i] = i * i end
---x:write(h)
---print(x[3]) --> 9.0
---```
---@param dtype clcompute.Dtype
---@param n integer
---@return clcompute.Host
function Device:host(dtype, n) end

---A new buffer of zeros.
---```lua
---print(d:zeros("int", 2, 3):get(2, 3)) --> 0
---```
---@param dtype clcompute.Dtype
---@param n integer rows
---@param ... integer further extents, 4 at most in all
---@return clcompute.Buffer
function Device:zeros(dtype, n, ...) end

---A new buffer whose elements are not set.
---```lua
---print(d:empty("double", 100).bytes) --> 800
---```
---@param dtype clcompute.Dtype
---@param n integer rows
---@param ... integer further extents, 4 at most in all
---@return clcompute.Buffer
function Device:empty(dtype, n, ...) end

---A new buffer of one value.
---
---Errors: a value that is no element of the dtype.
---```lua
---print(d:full("int", 7, 2, 3):get(2, 3)) --> 7
---```
---@param dtype clcompute.Dtype
---@param value number
---@param n integer rows
---@param ... integer further extents, 4 at most in all
---@return clcompute.Buffer
function Device:full(dtype, value, n, ...) end

---A new buffer of n numbers from a to b, with the same distance from each to the next. The first is a, the last b, rounded to
---the dtype. They are computed in double, in float on a device without it. One number is a.
---
---Errors: a dtype of integers; numbers that are not finite, or whose difference is not.
---```lua
---print(d:linspace(0, 1, 5)) --> float buffer 5 on ...: 0, 0.25, 0.5, 0.75, 1
---```
---@param a number
---@param b number
---@param n integer elements
---@param dtype? "half"|"float"|"double" "float" unless given
---@return clcompute.Buffer
function Device:linspace(a, b, n, dtype) end

---A new buffer with the numbers of `for i = first, last, step`; `d:arange(n)` has 1 to n. Of floats there are `(last - first) // step + 1`, each
---first + i * step rounded once, so that errors do not add up.
---
---Errors: numbers that are not finite or no elements of the dtype; a step of 0.
---```lua
---print(d:arange(4), d:arange(10, 1, -3, "int")) --> float buffer 4 ...: 1, 2, 3, 4	int buffer 4 ...: 10, 7, 4, 1
---```
---@param first number
---@param last number included, where a step meets it
---@param step? number 1 unless given
---@param dtype? clcompute.Dtype "float" unless given
---@return clcompute.Buffer
---@overload fun(self: clcompute.Device, first: number, last: number, dtype: clcompute.Dtype): clcompute.Buffer
---@overload fun(self: clcompute.Device, n: number, dtype?: clcompute.Dtype): clcompute.Buffer
function Device:arange(first, last, step, dtype) end

---A new matrix of n x m elements, 1 along its diagonal and 0 elsewhere.
---```lua
---print(d:eye(2):get(2, 2), d:eye(2, 3, "int"):get(2, 3)) --> 1.0	0
---```
---@param n integer rows
---@param m? integer columns; n unless given
---@param dtype? clcompute.Dtype "float" unless given
---@return clcompute.Buffer
---@overload fun(self: clcompute.Device, n: integer, dtype: clcompute.Dtype): clcompute.Buffer
function Device:eye(n, m, dtype) end

---@class clcompute.RandomOptions
---@field seed? integer a new one each time unless given: `cl.seed`
---@field distribution? "uniform"|"normal" "uniform" unless given; "normal" is for half, float and double
---@field low? number uniform: the least; 0 unless given
---@field high? number uniform: of floating types excluded, 1 unless given; of integers included, 100 unless given
---@field mean? number normal: 0 unless given
---@field sd? number normal: the standard deviation, 1 unless given
---@field first? integer the number of the seed's sequence that comes first, 1 unless given; 1 more than a multiple of 4

---A new buffer of random numbers: uniform ones, 0 <= x < 1, or integers 0 to 100, unless told otherwise. The device makes
---them, by Philox 4x32-10; an element depends on the seed and its place in the buffer alone. So a seed gives the same numbers,
---bit for bit, on every device and in buffers of every length; normal ones may differ in their last digits, where roots and
---quotients do. Integers are as likely each, to one part in 2^32. Not for secrets.
---
---In `Device:record` it is a launch like others: each run gives the numbers of its seed again.
---
---Errors: bounds that are no elements of the dtype, not finite, or in the wrong order; options of the other distribution; doubles on
---a device without them.
---```lua
---local x = d:random("float", 4, { seed = 1 })
---print(("%.4f"):format(x[1])) --> 0.8903
---local z = d:random("float", 1000, { distribution = "normal", mean = 20, sd = 2, seed = 2 })
---print(cl.min(z) > 10 and cl.max(z) < 30) --> true
---```
---@param dtype clcompute.Dtype
---@param n integer rows
---@param ... integer|clcompute.RandomOptions further extents, 4 at most in all; options last
---@return clcompute.Buffer
function Device:random(dtype, n, ...) end

---@class clcompute.PermutationOptions
---@field seed? integer a new one each time unless given: `cl.seed`

---A new buffer of the indices 1 to n in random order, uint, ulong from 2^31 elements on. The same seed gives the same order on
---every device. Small n have all orders, as likely each; of large n there are as many orders as seeds.
---```lua
---local order = d:permutation(5, { seed = 1 })
---print(order.dtype, cl.sum(order), cl.max(order)) --> uint	15	5
---```
---@param n integer
---@param options? clcompute.PermutationOptions
---@return clcompute.Buffer
function Device:permutation(n, options) end

---@class clcompute.LoadOptions
---@field dtype? clcompute.Dtype of the numbers of a .csv file; "float" unless given

---What a file holds, by its first bytes. A .npy file becomes a buffer: any dtype (uchar of numpy's bool), 1 to 4 dimensions (a single number
---becomes a buffer of one element), either byte order, C or Fortran order. A .npz file becomes a table of buffers by
---name. A picture (binary .pgm or .ppm, .png) becomes an image: gray ones `"r unorm8"` or `"r unorm16"`, all others
---`"rgba unorm8"` or `"rgba unorm16"`. Another file whose path ends in `.csv` holds numbers between commas, as many in
---each line; it becomes a buffer of two dimensions, or of one where each line has one number. A first line in which no column
---is a number has names and is skipped. Blocks.
---
---Errors: a file that cannot be read, is no plain file, or is not exactly what its header says; in a .csv file what is no
---number of the dtype, with its line and column; in a .npz file a wrong checksum, another kind of entry, zip64; a PNG
---that is interlaced; a PNG and a compressed .npz where Debian's lua-zlib is missing; a picture on a device that has no
---such image; `dtype` for a file that is no .csv.
---```lua
---local path = os.tmpname()
---d:buffer({ 1, 2, 3 }, "int"):save(path)
---print(d:load(path)[3]) --> 3
---io.open(path .. ".csv", "w"):write("1,2\n3,4\n"):close()
---print(d:load(path .. ".csv", { dtype = "int" }):get(2, 1)) --> 3
---os.remove(path)
---os.remove(path .. ".csv")
---```
---@param path string
---@param options? clcompute.LoadOptions
---@return clcompute.Buffer|clcompute.Image|table<string, clcompute.Buffer>
function Device:load(path, options) end

---A channel order and a channel type. A device may have others: `Device:image` lists them.
---@alias clcompute.ImageFormat
---| "rgba unorm8"
---| "rgba unorm16"
---| "rgba char"
---| "rgba short"
---| "rgba int"
---| "rgba uchar"
---| "rgba ushort"
---| "rgba uint"
---| "rgba half"
---| "rgba float"
---| "bgra unorm8"
---| "r unorm8"
---| "r unorm16"
---| "r char"
---| "r short"
---| "r int"
---| "r uchar"
---| "r ushort"
---| "r uint"
---| "r half"
---| "r float"
---| "rg unorm8"
---| "rg unorm16"
---| "rg char"
---| "rg short"
---| "rg int"
---| "rg uchar"
---| "rg ushort"
---| "rg uint"
---| "rg half"
---| "rg float"

---@class clcompute.ImageOptions
---@field layers? integer of an array of images; without it the image is none

---A new image, whose pixels are not set. A format is a channel order and a channel type. Orders: `r a rg ra rgb rgba bgra
---argb abgr intensity luminance srgba sbgra`. Types, and the dtype of a channel in memory where that is another:
---`snorm8` (char), `snorm16` (short), `unorm8` (uchar), `unorm16` (ushort), `char short int uchar ushort uint half float`,
---and for all channels together `unorm565` and `unorm555` (ushort), `unorm101010` (uint). With a buffer in place of sizes
---the image has one dimension, and its pixels are the buffer's elements.
---
---Errors: a format that the device has not, with a list of those that it has; a size beyond the device's; a buffer of
---check mode where the driver makes images of whole buffers alone, as POCL does.
---```lua
---print(d:image("r float", 64, 64, { layers = 6 }).kind) --> image2d_array
---local im = d:image("rgba unorm8", 640, 480)
---print(im.kind, im.width, im.bytes) --> image2d	640	1228800
---```
---@param format clcompute.ImageFormat
---@param width integer|clcompute.Buffer pixels; or the elements
---@param ... integer|clcompute.ImageOptions height and depth in pixels; options last
---@return clcompute.Image
function Device:image(format, width, ...) end

---@class clcompute.SamplerOptions
---@field filter? "nearest"|"linear" "nearest" unless given
---@field address? "none"|"clamp"|"clamp_to_edge"|"repeat"|"mirrored_repeat" what is read beyond the edges; "clamp_to_edge" unless given; the last two need normalized coordinates
---@field normalized? boolean whether coordinates go from 0 to 1 along an edge; false unless given

---A new sampler, for a kernel's argument of type `sampler_t`.
---
---Errors: a device without images.
---```lua
---print(d:sampler { filter = "linear" }) --> linear sampler, clamp_to_edge, pixel coordinates
---```
---@param options? clcompute.SamplerOptions
---@return clcompute.Sampler
function Device:sampler(options) end

---@class clcompute.ProgramOptions
---@field defines? table<string, string|number|boolean> { TS = 16 } is -DTS=16
---@field options? string of the compiler: "-cl-mad-enable -D N=4 -I folder"; -cl-..., -D, -I, -w and -Werror, which are OpenCL's, and -U, -W..., -g and -O..., of which drivers refuse some
---@field include? string[] folders of included files; the folder of the source file comes first
---@field name? string what build logs call the source

---Builds a program. Blocks. A source may `#include <clcompute/work_group.h>` for the work-group functions of OpenCL C
---2.0 on any device, and `<clcompute/complex.h>` for complex numbers (docs/programs.md).
---
---`{ files = { "a.cl", "b.cl" } }` is one program of several files, one after the other; messages name each by its path.
---`{ binary = path }` is a program that `Program:save` wrote, or SPIR-V where `d:info().il_version` names it. It takes no
---options.
---
---Warns of loops with barriers that the device's compiler is known to get wrong, or builds the program without
---optimisation where the device is careful (docs/devices.md).
---
---Errors: a build failure, with the build log and the source lines it points at; a file that cannot be read; a binary
---that is damaged, was saved for another device, driver or version of them, or has such a loop on a careful device; on POCL a kernel whose name is too long
---for the files that it keeps.
---```lua
---local p = d:program "kernel void twice(global float *x) { x[get_global_id(0)] *= 2; }"
---local x = d:buffer { 1, 2, 3 }
---p.twice(#x, x)
---print(x[3]) --> 6.0
---```
---@param source string|{file: string}|{files: string[]}|{binary: string} OpenCL C, or where it or a binary is
---@param options? clcompute.ProgramOptions
---@return clcompute.Program
function Device:program(source, options) end

---Whether a process has built what `Device:program` would build of the same arguments, which then takes milliseconds:
---the cache on disk holds the binary, or says that POCL's own cache does. Builds nothing.
---```lua
---local source = "kernel void nothing(global int *x) { x[0] = 1; }"
---print(type(d:is_built(source))) --> boolean
---```
---@param source string|{file: string}|{files: string[]} OpenCL C, or where it is
---@param options? clcompute.ProgramOptions
---@return boolean
function Device:is_built(source, options) end

---@class clcompute.KernelOptions
---@field dtype? clcompute.Dtype "float" unless given
---@field defines? table<string, string|number|boolean> parameters of the kernel's file
---@field preamble? string OpenCL C in front of it, with what the parameters use

---A prebuilt kernel by its name. The head of its file in kernels/ tells its arguments and the global and local size
---that it needs.
---
---Errors: an unknown name.
---```lua
---print(d:kernel("gemm_naive", { dtype = "float" }).name) --> gemm_naive
---```
---@param name string "saxpy", "gemm_naive", "gemm_tiled", ...
---@param options? clcompute.KernelOptions
---@return clcompute.Kernel
function Device:kernel(name, options) end
