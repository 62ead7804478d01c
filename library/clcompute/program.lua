---@meta _
-- SPDX-License-Identifier: MIT
-- Programs, kernels, launches and their events.

---@class clcompute
local cl = {}

---OpenCL C that was built for a device. A kernel by its name is a field.
---@class clcompute.Program
---@field [string] clcompute.Kernel
---@field kernels string[] their names
---@field device clcompute.Device
local Program = {}

---The kernel of that name, the same object each time. `p.name` is the same, but for kernels named like a method.
---
---Errors: a name that is none; the message lists the kernels there are.
---```lua
---local p = d:program "kernel void kernel_1(global int *x) { x[0] = 1; }"
---print(p:kernel "kernel_1" == p.kernel_1, p.kernels[1]) --> true	kernel_1
---```
---@param name string
---@return clcompute.Kernel
function Program:kernel(name) end

---Writes the built program to a file, for `d:program { binary = path }` on the same device with the same driver. The file
---holds the binary, what arguments and ranges are checked by, and no source; a checksum tells damage. Blocks.
---
---Errors: a file that cannot be written, the old one stays then; a program of an isolated device.
---```lua
---local path, x = os.tmpname(), d:zeros("int", 2)
---local p = d:program("kernel void one(global int *x) { x[get_global_id(0)] = 1; }")
---if not d.isolated then p = p:save(path).device:program { binary = path } end
---p.one(2, x)
---print(x[2]) --> 1
---os.remove(path)
---```
---@param path string
---@return clcompute.Program # the program
function Program:save(path) end

---Releases the program at once instead of when it is collected; `<close>` does the same. May be called twice.
---```lua
---d:program "kernel void nothing(global int *x) { x[0] = 1; }":release()
---```
---@return clcompute.Program
function Program:release() end

---@class clcompute.RangeTable
---@field global integer|integer[] work-items, dimension 0 first
---@field group? integer|integer[]|"driver" of a work-group, as in `k({ global = 1024, group = 64 }, x)`; the kernel's required size, else a size of the library's choice, unless given. "driver" leaves it to the driver, for experiments
---@field offset? integer|integer[] of global ids, counted from 0
---@field remainder? "error"|"split"|"pad"|"native" where the group does not divide the range; "error" unless given. "split": the rest is a launch of its own; "pad": rounded up, for kernels with a bounds check; "native": groups of different sizes, of devices with `has_nonuniform_groups` and programs of "-cl-std=CL2.0" or later

---A number of work-items, a table as `{ global = 1024, group = 64 }`, a list of up to three extents, dimension 0 first (a
---rows x cols matrix is { cols, rows }), or one of these that `cl.range` prepared.
---@alias clcompute.Range integer|integer[]|clcompute.RangeTable|clcompute.PreparedRange

---A range that was checked. It cannot be changed; `tostring` tells all of it.
---@class clcompute.PreparedRange
---@field global integer[]
---@field group? integer[]|"driver" nil: the library's choice
---@field offset integer[]
---@field remainder "error"|"split"|"pad"|"native"

---Prepares a range: it is read and checked once, and a launch with it costs no more than one with a number. It serves
---every kernel, on every device.
---
---Errors: what is wrong with a range by itself, also a group that does not divide it where `remainder` is not given.
---Whether a kernel takes it shows at the launch.
---```lua
---local range = cl.range { global = { 1000, 500 }, group = { 16, 4 }, remainder = "split" }
---print(range) --> range 1000x500, group 16x4, remainder "split"
---```
---@param range clcompute.Range
---@return clcompute.PreparedRange
function cl.range(range) end

---@class clcompute.Argument
---@field name string
---@field type string
---@field space "global"|"constant"|"local"|"private"

---A kernel is called to launch it: `k(range, ...)` takes the range and then the kernel's arguments, and returns an
---event. The launch is queued.
---
---Arguments are checked against the kernel's own signature. A scalar takes a number in its range, an enum an integer
---of 32 bits, a vector a table of numbers, a pointer a buffer of its dtype or of the signed or unsigned kin, or
---`cl.null`; a pointer to char, uchar, void or a struct takes a buffer of any dtype. A `local` pointer takes
---`cl.scratch` by the same rules. A struct, and a vector too, takes a packed string of its size
---(`string.pack`), a scalar does not. One table with the names of all arguments stands for them. Under "split" a kernel may not call get_group_id, get_num_groups,
---get_global_size, get_global_offset, get_global_linear_id or get_enqueued_local_size, which would speak of one part.
---What a kernel has in local memory must fit the device's, `cl.scratch` included; its own arrays alone may exceed that
---where the device was seen to grant it.
---
---Errors: a wrong argument (the message says which, what was expected and what came), range or group; buffers of
---another device; a `b:slice` for a pointer that is not const, since what is written there would not be in b; in check
---mode also what the kernel did (`Device:check`).
---```lua
---local p = d:program "kernel void add(const float a, global float *x) { x[get_global_id(0)] += a; }"
---local x = d:buffer { 1, 2, 3 }
---local event = p.add(#x, 10, x)
---print(x[3], event.status) --> 13.0	complete
---p.add(#x, { x = x, a = 1 })
---print(x[3]) --> 14.0
---print(pcall(p.add, #x, 10, 7)) --> false	kernel 'add' argument 2 'x' (global float*): float buffer expected, got number
---```
---@class clcompute.Kernel
---@field name string
---@field args clcompute.Argument[]
---@field device clcompute.Device
---@overload fun(range: clcompute.Range, ...: number|string|table|clcompute.Buffer|clcompute.Scratch): clcompute.Event
---@overload fun(range: clcompute.Range, arguments: table<string, any>): clcompute.Event
local Kernel = {}

---@class clcompute.KernelInfo
---@field group_size integer the largest group
---@field group_multiple integer the size whose multiples groups should have
---@field local_memory integer bytes
---@field private_memory integer bytes
---@field required_group? integer[] { x, y, z } of the attribute reqd_work_group_size

---Limits of the kernel on its device.
---```lua
---print(d:kernel "gemm_naive":info().group_size > 0) --> true
---```
---@return clcompute.KernelInfo
function Kernel:info() end

---Launches the kernel as a call does, waits, and returns what it printed by `printf`. On a device that is not isolated the text
---holds what other threads of the process print meanwhile too. Raises what the launch raises, behind the text.
---```lua
---local p = d:program [[kernel void tell(int n) { printf("n is %d\n", n); }]]
---print(p.tell:capture(1, 42)) --> n is 42
---```
---@param range clcompute.Range
---@param ... number|string|table|clcompute.Buffer|clcompute.Scratch
---@return string
function Kernel:capture(range, ...) end

---Releases the kernel at once instead of when it is collected; `<close>` does the same. May be called twice.
---```lua
---local p = d:program "kernel void nothing(global int *x) { x[0] = 1; }"
---p.nothing:release()
---```
---@return clcompute.Kernel
function Kernel:release() end

---Local memory of each work-group, as an argument.
---@class clcompute.Scratch

---An argument for a `local` pointer: local memory for each work-group.
---```lua
---local p = d:program [[kernel void reverse(global int *x, local int *s) {
---  const int t = get_local_id(0), n = get_local_size(0);
---  s[t] = x[t];
---  barrier(CLK_LOCAL_MEM_FENCE);
---  x[t] = s[n - 1 - t];
---}]]
---local x = d:buffer({ 1, 2, 3, 4 }, "int")
---p.reverse({ global = 4, group = 4 }, x, cl.scratch("int", 4))
---print(x[1], x[4]) --> 4	1
---```
---@param dtype clcompute.Dtype
---@param n integer elements, at least 1
---@return clcompute.Scratch
function cl.scratch(dtype, n) end

---A struct of OpenCL C: how its fields lie on every device, and what tables they are packed from.
---@class clcompute.Struct
---@field name string
---@field size integer bytes
---@field align integer bytes
---@field offsets table<string, integer> bytes before each field
---@field source string its declaration, a typedef of OpenCL C
local Struct = {}

---A struct by its fields, as OpenCL C declares them: scalars, vectors, arrays and structs. `tostring` shows its size and its
---fields.
---
---Errors: a type that is none of these; what is no field.
---```lua
---local Particle = cl.struct("particle", "float4 position; float mass; uchar flags[4];")
---print(Particle.size, Particle.offsets.mass) --> 32	16
---local p = d:program(Particle.source .. [[
---  kernel void heavier(global particle *p, float by) { p[get_global_id(0)].mass *= by; }]])
---local b = Particle:buffer(d, { { mass = 2 }, { mass = 3, position = { 1, 2, 3, 4 } } })
---p.heavier(2, b, 10)
---print(Particle:read(b)[2].mass) --> 30.0
---```
---@param name string
---@param fields string "float4 position; int ids[3];"
---@param options? { structs: clcompute.Struct[] } structs: whose names are types of fields
---@return clcompute.Struct
function cl.struct(name, fields, options) end

---A struct as a packed string, an argument of a kernel for a struct by value. A vector is a list of its numbers, an array a
---list, a struct a table; fields that the table does not have are zero.
---
---Errors: a value that does not fit, with the name of its field; a key that is no field.
---```lua
---local Pair = cl.struct("pair", "int a; float2 b;")
---print(#Pair:pack { a = 1, b = { 2, 3 } }) --> 16
---```
---@param values table
---@return string
function Struct:pack(values) end

---The table that a packed string is of.
---
---Errors: a string that is no number of whole structs, or has no such struct.
---```lua
---local Pair = cl.struct("pair", "int a; float2 b;")
---print(Pair:unpack(Pair:pack { b = { 2, 3 } }).b[2]) --> 3.0
---```
---@param bytes string one struct or several
---@param i? integer which one; the first unless given
---@return table
function Struct:unpack(bytes, i) end

---A new buffer of structs, for a pointer to them: of dtype "uchar", with a struct a row.
---
---Errors: as of `Struct:pack`.
---```lua
---local Pair = cl.struct("pair", "int a; float2 b;")
---print(#Pair:buffer(d, { { a = 1 }, { a = 2 }, {} })) --> 3
---```
---@param device clcompute.Device
---@param list table[]
---@return clcompute.Buffer
function Struct:buffer(device, list) end

---The structs of rows `first` to `last` of a buffer. Blocks.
---
---Errors: a buffer whose rows have another size; rows outside the buffer.
---```lua
---local Pair = cl.struct("pair", "int a; float2 b;")
---local b = Pair:buffer(d, { { a = 1 }, { a = 2 } })
---print(Pair:read(b, 2)[1].a) --> 2
---```
---@param buffer clcompute.Buffer
---@param first? integer 1 unless given
---@param last? integer `#buffer` unless given
---@return table[]
function Struct:read(buffer, first, last) end

---A launch that can be waited for and timed. A split launch is one event, from the start of the first part to the end
---of the last.
---@class clcompute.Event
---@field status string "queued", "submitted", "running", "complete" or what failed; "recorded" of a launch that `Device:record` kept
---@field seconds number from start to end by the device's clock, of a launch that is timed (`Device:timing`); waits
---@field device clcompute.Device
local Event = {}

---Blocks until the launch has ended. Where launches have no OpenCL event, on a GPU unless they are timed, its end is seen
---by a barrier behind it and behind all that was queued meanwhile: the answer may come later than the end of the launch,
---never earlier. The same goes for `status`.
---
---Errors: a launch that failed on the device; the time ran out.
---```lua
---local p = d:program "kernel void one(global int *x) { x[get_global_id(0)] = 1; }"
---print(p.one(8, d:zeros("int", 8)):wait(10).status) --> complete
---```
---@param seconds? number how long to wait; for ever unless given
---@return clcompute.Event # the event
function Event:wait(seconds) end

---When a launch that is timed (`Device:timing`) passed each stage; waits for its end first. `print` shows the times since it was queued.
---```lua
---local p = d:program "kernel void one(global int *x) { x[get_global_id(0)] = 1; }"
---local times = p.one(8, d:timing(true):zeros("int", 8)):profile()
---print(times.queued <= times.started, times.started <= times.finished) --> true	true
---print(times) --> queued, submitted + ..., started + ..., finished + ...
---```
---@return {queued: number, submitted: number, started: number, finished: number} # seconds by the device's clock, whose zero is arbitrary
function Event:profile() end

---Makes the next command queued on another queue wait for this launch. On a device of another context it blocks until
---the launch has ended.
---```lua
---local q <close> = d:queue()
---local p = d:program "kernel void twice(global float *x) { x[get_global_id(0)] *= 2; }"
---local x = d:buffer { 1, 2, 3 }
---p.twice(3, x):before(q)
---local on_q = q:program "kernel void inc(global float *x) { x[get_global_id(0)] += 1; }"
---on_q.inc(3, x):wait()
---print(x[3]) --> 7.0
---```
---@param device clcompute.Device usually made by `Device:queue`
---@return clcompute.Event # the event
function Event:before(device) end

---Releases the event at once instead of when it is collected; `<close>` does the same. May be called twice.
---```lua
---local p = d:program "kernel void one(global int *x) { x[get_global_id(0)] = 1; }"
---p.one(8, d:zeros("int", 8)):release()
---```
---@return clcompute.Event # the event
function Event:release() end

---Launches, fills and copies that a function queued while `Device:record` kept them. A call queues all of them again, `n`
---times or once, and returns one event for all: from the start of the first to the end of the last. Memory, kernels and
---scratch that they use stay until the sequence is released, whatever a script releases.
---@class clcompute.Sequence
---@field launches string[] what is launched, in order: "kernel 'step'"; a split launch is one
---@field device clcompute.Device
---@overload fun(n?: integer): clcompute.Event
local Sequence = {}

---Has a launch of the sequence take another argument from its next call on. Calls that are queued already keep theirs.
---The argument is checked as at a launch; the range and local memory stay those of the recording.
---
---Errors: a launch that an operation made (`cl.saxpy`, ...); an argument that the kernel does not take.
---```lua
---local q = cl.device(d.place, { isolated = false, check = false })
---local p = q:program "kernel void add(global int *x, int y) { x[get_global_id(0)] += y; }"
---local x = q:zeros("int", 4)
---local s = q:record(function() p.add(4, x, 1) end)
---s()
---s:set(1, "y", 10)
---s(2)
---print(x[1]) --> 21
---```
---@param launch integer which, from 1; `s.launches` has their kernels
---@param argument string|integer its name, or its place from 1
---@param value number|string|table|clcompute.Buffer|clcompute.Image|clcompute.Sampler
---@return clcompute.Sequence # the sequence
function Sequence:set(launch, argument, value) end

---Releases the sequence at once instead of when it is collected; `<close>` does the same. May be called twice.
---```lua
---local s = cl.device(d.place, { isolated = false, check = false }):record(function() end)
---print(s:release()) --> sequence (released)
---```
---@return clcompute.Sequence # the sequence
function Sequence:release() end
