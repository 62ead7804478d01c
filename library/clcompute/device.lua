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
---@field driver string
---@field extensions string
---@field compute_units integer
---@field clock_mhz integer
---@field global_memory integer bytes
---@field max_allocation integer bytes
---@field cache integer bytes
---@field cache_line integer bytes
---@field local_memory integer bytes
---@field local_memory_type "local"|"global"|"none" memory of its own, or a piece of the global one
---@field constant_memory integer bytes
---@field max_group_size integer work-items
---@field max_group_sizes integer[] along each dimension
---@field group_multiple integer the size whose multiples groups should have
---@field place string "0:1": platform and device from 0, as selectors have it
---@field align integer bytes; a view that is a kernel's argument starts at a multiple
---@field address_bits integer
---@field vector_width_float integer
---@field vector_width_double integer
---@field timer_resolution_ns integer
---@field unified_memory boolean
---@field has_compiler boolean
---@field has_double boolean
---@field has_half boolean
---@field has_correct_division boolean whether float division and sqrt can be correctly rounded: options = "-cl-fp32-correctly-rounded-divide-sqrt"
---@field compute_capability? integer of NVIDIA's devices, 10 * major + minor: 90 is 9.0
---@field has_nonuniform_groups boolean whether a range may have remainder = "native"
---@field isolated boolean whether a worker process builds and runs its kernels
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

---A further in-order queue on the same memory. Its commands run beside the device's. It is a Device: what is
---made on it is queued there, and buffers of either may be used on both. `Event:before` orders the two.
---```lua
---local q <close> = d:queue()
---local x = d:zeros("float", 8)
---d:wait()
---q:program "kernel void f(global float *x) { x[get_global_id(0)] = 1; }".f(8, x):wait()
---print(x[8]) --> 1.0
---```
---@return clcompute.Device
function Device:queue() end

---Switches check mode for buffers that are made after it, on the device and its further queues. A launch from Lua
---with such a buffer waits for its end. It raises where the kernel wrote up to 1 KiB before or after the buffer (of a
---view: into its neighbours), where an element of an output (a pointer that is not const) became NaN or infinity,
---and, before it runs, where an output shares elements with a const argument. Elements that were never written are
---NaN, of integers 0xa5 in each byte. Check mode is on from the start where `$CLCOMPUTE_CHECK` is set, but not empty,
---0, off, no or false.
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

---Waits for the queue and for further queues on the same memory, then releases all that anyone made on the device:
---buffers, programs, kernels, events, factors of `cl.lu`, and the further queues with what was made on them. Later use
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

---@class clcompute.RandomOptions
---@field seed? integer 0 unless given
---@field low? number the least; 0 unless given
---@field high? number floating types: excluded, 1 unless given; integer types: included, 100 unless given

---A new buffer of uniformly distributed numbers, 0 <= x < 1, or integers 0 to 100, unless told otherwise. The same seed
---gives the same numbers on every device.
---```lua
---local x = d:random("float", 4, { seed = 1 })
---print(("%.4f"):format(x[1])) --> 0.5666
---```
---@param dtype clcompute.Dtype
---@param n integer rows
---@param ... integer|clcompute.RandomOptions further extents, 4 at most in all; options last
---@return clcompute.Buffer
function Device:random(dtype, n, ...) end

---A new buffer with the array of a .npy file: any dtype, 1 to 4 dimensions (a single number becomes a buffer of one
---element), either byte order, C or Fortran order. Blocks.
---
---Errors: a file that cannot be read, is no plain file, or is not exactly what its header says.
---```lua
---local path = os.tmpname()
---d:buffer({ 1, 2, 3 }, "int"):save(path)
---print(d:load(path)[3]) --> 3
---os.remove(path)
---```
---@param path string
---@return clcompute.Buffer
function Device:load(path) end

---@class clcompute.ProgramOptions
---@field defines? table<string, string|number|boolean> { TS = 16 } is -DTS=16
---@field options? string of the compiler: "-cl-mad-enable"
---@field include? string[] folders of included files; the folder of the source file comes first
---@field name? string what build logs call the source

---Builds a program. Blocks. A source may `#include <clcompute/work_group.h>` for the work-group functions of OpenCL C
---2.0 on any device (docs/programs.md).
---
---Errors: a build failure, with the build log and the source lines it points at; a file that cannot be read.
---```lua
---local p = d:program "kernel void twice(global float *x) { x[get_global_id(0)] *= 2; }"
---local x = d:buffer { 1, 2, 3 }
---p.twice(#x, x)
---print(x[3]) --> 6.0
---```
---@param source string|{file: string} OpenCL C, or where it is
---@param options? clcompute.ProgramOptions
---@return clcompute.Program
function Device:program(source, options) end

---Whether the cache on disk holds what `Device:program` would build of the same arguments, which then takes
---milliseconds. Builds nothing.
---```lua
---local source = "kernel void nothing(global int *x) { x[0] = 1; }"
---print(type(d:is_built(source))) --> boolean
---```
---@param source string|{file: string} OpenCL C, or where it is
---@param options? clcompute.ProgramOptions
---@return boolean
function Device:is_built(source, options) end

---@class clcompute.KernelOptions
---@field dtype? clcompute.Dtype "float" unless given
---@field defines? table<string, string|number|boolean> parameters of the kernel's file

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
