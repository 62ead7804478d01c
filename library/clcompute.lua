---@meta clcompute
-- SPDX-License-Identifier: MIT
-- What the Lua language server knows of clcompute: completion, signatures and types in the editor.
-- Never run; spec/whole/documentation_spec.lua compares it with the library.

---OpenCL compute for Lua: devices, buffers, programs, kernels and prebuilt operations.
---@class clcompute
---@field _VERSION string
local cl = {}

---@alias clcompute.Dtype
---| "char"
---| "uchar"
---| "short"
---| "ushort"
---| "int"
---| "uint"
---| "long"
---| "ulong"
---| "half"
---| "float"
---| "double"

---Numbers, nested as deep as the buffer has dimensions.
---@alias clcompute.Values (number|clcompute.Values)[]

-- --- devices -------------------------------------------------------------------------------------

---@class clcompute.Platform
---@field name string
---@field vendor string
---@field version string
---@field devices clcompute.Device[]
---@field fault? string why the driver does not tell its devices

---@class clcompute.DeviceOptions
---@field check? boolean switches check mode as `Device:check` does
---@field isolated? boolean a worker process builds and runs the kernels of a CPU, so that one that crashes or hangs is an error; default false
---@field limit? number seconds that a launch has on an isolated device; 60 at first, math.huge: no limit

---The platforms of this machine.
---@return clcompute.Platform[]
function cl.platforms() end

---Every device a selector means, whatever `$CLCOMPUTE_DEVICE` says. Opens none.
---@param selector? string "gpu", "cpu", "accelerator", part of "platform/device", or "0:1"
---@return clcompute.Device[] # empty when none match; tostring() of it is a line for each
function cl.devices(selector) end

---The best device for a selector; without one `$CLCOMPUTE_DEVICE` is it, and without that the first GPU,
---else accelerator, else CPU. No match is an error.
---@param selector? string "gpu", "cpu", "accelerator", part of "platform/device", or "0:1"
---@param options? clcompute.DeviceOptions
---@return clcompute.Device
function cl.device(selector, options) end

---Seconds from an arbitrary start that only go forward.
---@return number
function cl.clock() end

---@class clcompute.Holder what holds device memory
---@field dtype clcompute.Dtype
---@field shape string "3x4"
---@field bytes integer of the whole memory
---@field shared boolean with views

---@class clcompute.Live
---@field [integer] clcompute.Holder
---@field bytes integer all memory in use
---@field device integer how many are alive
---@field queue integer further queues of these
---@field buffer integer
---@field program integer
---@field kernel integer
---@field event integer

---What is alive and what holds device memory.
---@return clcompute.Live
function cl.live() end

---@class clcompute.ProfileRow
---@field name string of the kernel or program; a transfer's is its kind
---@field kind "kernel"|"write"|"read"|"copy"|"fill"|"build"
---@field device string its name
---@field place string "0:1", as selectors have it
---@field calls integer a launch that was split is one
---@field total number seconds on the device; of a build on the host
---@field mean number of a call
---@field min number
---@field max number
---@field share? number 0 to 1, of the time of all commands; nil for a build
---@field bytes? integer moved by a transfer; of a kernel the sizes of its buffer arguments; nil for a build

---What the commands of this state took, by kernel and kind of transfer: true clears and starts, false stops, without
---an argument it waits for all queues and returns the rows, whose tostring() is a table.
---@param on? boolean
---@return clcompute.ProfileRow[]? # the longest total first; nil when it starts or stops
function cl.profile(on) end

---What a work-item (or each="group": a work-group) was told of its place; lists go along the dimensions of the range.
---@class clcompute.TraceRow
---@field part integer which of the launches, where a range is split
---@field group_id integer[]
---@field num_groups integer[]
---@field local_size integer[]
---@field enqueued_local_size integer[] before OpenCL C 2.0 the local size
---@field global_size integer[]
---@field global_offset integer[]
---@field global_id? integer[] of a work-item
---@field local_id? integer[] of a work-item
---@field global_linear_id? integer of a work-item
---@field local_linear_id? integer of a work-item
---@field active? boolean of a work-item: false where remainder="pad" has added it
---@field first_id? integer[] of a group: the global id of its first work-item
---@field items? integer of a group: its work-items that ran
---@field active_items? integer of a group: those in the range

---@class clcompute.TraceOptions
---@field device? clcompute.Device cl.device() unless given
---@field each? "item"|"group" what has a row: "item" unless given

---What each work-item of a range is told of its place, by a kernel that writes it down. Blocks.
---@param range clcompute.Range of at most 16384 work-items, or groups with each="group"
---@param options? clcompute.TraceOptions
---@return clcompute.TraceRow[] # in the order of global ids; tostring() of it is a table, with the groups by size below
function cl.trace_range(range, options) end

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
---@field max_group_size integer
---@field max_group_sizes integer[] along each dimension
---@field group_multiple integer
---@field place string "0:1": platform and device from 0, as selectors have it
---@field align integer bytes a view must start on to be a kernel's argument
---@field address_bits integer
---@field vector_width_float integer
---@field vector_width_double integer
---@field timer_resolution_ns integer
---@field unified_memory boolean
---@field has_compiler boolean
---@field has_double boolean
---@field has_half boolean
---@field has_correct_division boolean whether float division and sqrt can be correctly rounded: options="-cl-fp32-correctly-rounded-divide-sqrt"
---@field compute_capability? integer of NVIDIA's devices, 10 * major + minor: 90 is 9.0
---@field has_nonuniform_groups boolean whether a range may have remainder="native"
---@field isolated boolean whether a worker process builds and runs its kernels
---@field limit? number seconds that a launch has there; nil on other devices
local Device = {}

---Every property as a table.
---@return table<string, any>
function Device:info() end

---Blocks until every command queued on the device has ended; raises when one failed.
---@return clcompute.Device
function Device:wait() end

---A further in-order queue on the same memory; `Event:before` orders the two.
---@return clcompute.Device
function Device:queue() end

---Switches check mode for buffers that are made after it: launches from Lua with them wait, and raise where the kernel
---wrote round a buffer, made NaN or infinity, or would write what another argument reads as const.
---@param on boolean
---@return clcompute.Device
function Device:check(on) end

---The OpenCL handles behind it, for other libraries. The next wait covers what they queue.
---@return userdata # cl_command_queue
---@return userdata # cl_context
---@return userdata # cl_device_id
function Device:raw() end

---Waits, then releases all that was made on the device. May be called twice.
---@return clcompute.Device
function Device:close() end

---A new buffer from a (nested) table, or from packed bytes and a shape.
---@param values clcompute.Values
---@param dtype? clcompute.Dtype "float" unless given
---@return clcompute.Buffer
---@overload fun(self: clcompute.Device, bytes: string, dtype: clcompute.Dtype, n: integer, ...: integer): clcompute.Buffer
function Device:buffer(values, dtype) end

---A new buffer of zeros.
---@param dtype clcompute.Dtype
---@param n integer
---@param ... integer up to 4 extents
---@return clcompute.Buffer
function Device:zeros(dtype, n, ...) end

---A new buffer whose elements are not set.
---@param dtype clcompute.Dtype
---@param n integer
---@param ... integer up to 4 extents
---@return clcompute.Buffer
function Device:empty(dtype, n, ...) end

---@class clcompute.RandomOptions
---@field seed? integer 0 unless given
---@field low? number 0 unless given
---@field high? number floating types: excluded, 1 unless given; integer types: included, 100

---A new buffer of uniformly distributed numbers, the same on every device.
---@param dtype clcompute.Dtype
---@param n integer
---@param ... integer|clcompute.RandomOptions up to 4 extents, options last
---@return clcompute.Buffer
function Device:random(dtype, n, ...) end

---A new buffer with the array of a .npy file.
---@param path string
---@return clcompute.Buffer
function Device:load(path) end

---@class clcompute.ProgramOptions
---@field defines? table<string, string|number|boolean>
---@field options? string "-cl-mad-enable"
---@field include? string[] folders
---@field name? string what build logs call the source

---Builds a program; raises with the build log.
---@param source string|{file: string} OpenCL C
---@param options? clcompute.ProgramOptions
---@return clcompute.Program
function Device:program(source, options) end

---Whether the cache on disk holds what `program` would build of the same arguments.
---@param source string|{file: string} OpenCL C
---@param options? clcompute.ProgramOptions
---@return boolean
function Device:is_built(source, options) end

---@class clcompute.KernelOptions
---@field dtype? clcompute.Dtype "float" unless given
---@field defines? table<string, string|number|boolean>

---A prebuilt kernel by its name; the head of its file tells its arguments.
---@param name string "saxpy", "gemm_naive", "gemm_tiled", ...
---@param options? clcompute.KernelOptions
---@return clcompute.Kernel
function Device:kernel(name, options) end

-- --- buffers -------------------------------------------------------------------------------------

---An element of one dimension, or the view of row i.
---@class clcompute.Buffer
---@field [integer] number|clcompute.Buffer|any
---@field dtype clcompute.Dtype
---@field shape integer[] a fresh table
---@field bytes integer
---@field device clcompute.Device
---@operator len: integer
local Buffer = {}

---Elements as a table, nested as the shape. Blocks.
---@param first? integer
---@param last? integer
---@return table
function Buffer:read(first, last) end

---All elements, packed in the machine's byte order. Blocks.
---@return string
function Buffer:string() end

---Writes rows over those from `first` on.
---@param values clcompute.Values|string|clcompute.Buffer
---@param first? integer
---@return clcompute.Buffer
function Buffer:write(values, first) end

---Sets rows `first` to `last` to one value.
---@param value number
---@param first? integer
---@param last? integer
---@return clcompute.Buffer
function Buffer:fill(value, first, last) end

---A new buffer with the same elements.
---@param device? clcompute.Device where to
---@return clcompute.Buffer
function Buffer:copy(device) end

---One element. Blocks.
---@param i integer
---@param ... integer one index a dimension
---@return number
function Buffer:get(i, ...) end

---Sets one element.
---@param i integer
---@param ... number one index a dimension, then the value
---@return clcompute.Buffer
function Buffer:set(i, ...) end

---Rows `first` to `last` as a buffer on the same memory.
---@param first integer
---@param last integer
---@return clcompute.Buffer
function Buffer:view(first, last) end

---The same elements in another shape, on the same memory.
---@param n integer
---@param ... integer up to 4 extents
---@return clcompute.Buffer
function Buffer:reshape(n, ...) end

---The OpenCL handle of its memory, for other libraries.
---@return userdata # cl_mem
---@return integer # elements before the first one
function Buffer:raw() end

---Writes the buffer as a .npy file. Blocks.
---@param path string
---@return clcompute.Buffer
function Buffer:save(path) end

---Releases it at once instead of when it is collected. May be called twice.
---@return clcompute.Buffer
function Buffer:release() end

-- --- programs, kernels, events -------------------------------------------------------------------

---A kernel by its name is a field.
---@class clcompute.Program
---@field [string] clcompute.Kernel
---@field kernels string[] names
---@field device clcompute.Device
local Program = {}

---The kernel of that name, the same object each time.
---@param name string
---@return clcompute.Kernel
function Program:kernel(name) end

---Releases it at once instead of when it is collected. May be called twice.
---@return clcompute.Program
function Program:release() end

---@class clcompute.RangeTable
---@field global integer|integer[] dimension 0 first
---@field group? integer|integer[]|"driver"
---@field offset? integer|integer[] counted from 0
---@field remainder? "error"|"split"|"pad"|"native" native: groups of different sizes, of devices that have them

---@alias clcompute.Range integer|integer[]|clcompute.RangeTable

---@class clcompute.Argument
---@field name string
---@field type string
---@field space "global"|"constant"|"local"|"private"

---A launch is a call: the range, then the kernel's arguments.
---@class clcompute.Kernel
---@field name string
---@field args clcompute.Argument[]
---@field device clcompute.Device
---@overload fun(range: clcompute.Range, ...: number|string|table|clcompute.Buffer|clcompute.Scratch): clcompute.Event
local Kernel = {}

---@class clcompute.KernelInfo
---@field group_size integer
---@field group_multiple integer
---@field local_memory integer bytes
---@field private_memory integer bytes
---@field required_group? integer[]

---Limits of the kernel on its device.
---@return clcompute.KernelInfo
function Kernel:info() end

---Releases it at once instead of when it is collected. May be called twice.
---@return clcompute.Kernel
function Kernel:release() end

---@class clcompute.Scratch local memory of each work-group

---An argument for a `local` pointer.
---@param dtype clcompute.Dtype
---@param n integer
---@return clcompute.Scratch
function cl.scratch(dtype, n) end

---@class clcompute.Event
---@field status string
---@field seconds number from start to end; waits
---@field device clcompute.Device
local Event = {}

---Blocks until the launch has ended; raises when it failed or the time ran out.
---@param seconds? number
---@return clcompute.Event
function Event:wait(seconds) end

---When the launch passed each stage, in seconds of the device's clock; waits.
---@return {queued: number, submitted: number, started: number, finished: number}
function Event:profile() end

---Makes the next command queued on another queue wait for this launch.
---@param device clcompute.Device
---@return clcompute.Event
function Event:before(device) end

---Releases it at once instead of when it is collected. May be called twice.
---@return clcompute.Event
function Event:release() end

-- --- prebuilt operations -------------------------------------------------------------------------

---y <- alpha * x + y, or with `out` out <- alpha * x + y. Queued.
---@param alpha number
---@param x clcompute.Buffer float or double
---@param y clcompute.Buffer same dtype, shape and device
---@param options? {out: clcompute.Buffer}
---@return clcompute.Buffer # y, or out
function cl.saxpy(alpha, x, y, options) end

---@class clcompute.MapOptions
---@field out? clcompute.Buffer for the result; may be one of the operands
---@field dtype? clcompute.Dtype of the result

---An expression of OpenCL C for every element; buffers are x[i], i counts from 0. Queued.
---@param expression string "a*x[i] + y[i]"
---@param operands table<string, number|clcompute.Buffer> by the names in the expression
---@param options? clcompute.MapOptions
---@return clcompute.Buffer # out, or a new one
function cl.map(expression, operands, options) end

---@class clcompute.ReduceOptions
---@field init? number combined with the result, which it is where there are no elements
---@field map? string the expression of an element, "x[i]" unless given
---@field dtype? clcompute.Dtype of the result; integers have 64 bits

---All elements combined into one number. Blocks.
---@param operation string in a and b, associative and commutative: "max(a, b)"
---@param x clcompute.Buffer|table<string, number|clcompute.Buffer> a buffer, or operands of `map`
---@param options? clcompute.ReduceOptions
---@return number
function cl.reduce(operation, x, options) end

---@class clcompute.ScanOptions
---@field exclusive? boolean true: without element i itself, so the first result is init
---@field init? number before the first element
---@field out? clcompute.Buffer for the result; may be x
---@field dtype? clcompute.Dtype of the result, that of x unless given

---Running results: the operation over all elements up to each one. Queued.
---@param operation string in a and b, associative: "a + b"
---@param x clcompute.Buffer
---@param options? clcompute.ScanOptions
---@return clcompute.Buffer # out, or a new one
function cl.scan(operation, x, options) end

---The sum of all elements; integers have 64 bits. Blocks.
---@param x clcompute.Buffer
---@return number
function cl.sum(x) end

---The sum of the magnitudes of all elements, asum of BLAS; integers have 64 bits. Blocks.
---@param x clcompute.Buffer
---@return number
function cl.asum(x) end

---The sum of x[i] * y[i]; integers have 64 bits. Blocks.
---@param x clcompute.Buffer
---@param y clcompute.Buffer with as many elements
---@return number
function cl.dot(x, y) end

---The smallest element, or NaN where one is. Blocks.
---@param x clcompute.Buffer
---@return number
function cl.min(x) end

---The largest element, or NaN where one is. Blocks.
---@param x clcompute.Buffer
---@return number
function cl.max(x) end

---Where the smallest element is, the first of equals, or the first NaN. Blocks.
---@param x clcompute.Buffer
---@return integer # from 1, in row-major order
---@return number # the element
function cl.argmin(x) end

---Where the largest element is, the first of equals, or the first NaN. Blocks.
---@param x clcompute.Buffer
---@return integer # from 1, in row-major order
---@return number # the element
function cl.argmax(x) end

---The Euclidean norm, also where squares overflow or vanish. Blocks.
---@param x clcompute.Buffer
---@return number
function cl.norm2(x) end

---@class clcompute.GemmOptions
---@field c? clcompute.Buffer the result
---@field alpha? number 1 unless given
---@field beta? number 0 unless given; other values need `c`
---@field transa? boolean
---@field transb? boolean
---@field kernel? "fast"|"naive"|"tiled"
---@field precision? "float"|"float-tensor"|"tf32" what the result promises; any device keeps it
---@field m? integer
---@field n? integer
---@field k? integer
---@field lda? integer elements from row to row of a
---@field ldb? integer
---@field ldc? integer

---C <- alpha * op(A) * op(B) + beta * C, row-major. Queued.
---@param a clcompute.Buffer float or double
---@param b clcompute.Buffer same dtype and device
---@param options? clcompute.GemmOptions
---@return clcompute.Buffer # c
function cl.gemm(a, b, options) end

---@class clcompute.GaussOptions
---@field kernel? "blocked"|"unblocked"|"paper"
---@field refine? boolean nil: when needed
---@field group? integer for "paper": work-group size
---@field range? "fixed"|"shrink" for "paper"
---@field remainder? "split"|"host" for "paper"

---@class clcompute.GaussInfo tostring() of it shows the fields
---@field backward_error number|number[] at most 30 is good; of a batch a list, as the others
---@field steps integer of refinement
---@field rcond? number|number[]
---@field pivots? integer[]|integer[][] row i was exchanged with row pivots[i]

---Solves A X = B; a and b stay as they are. Blocks.
---@param a clcompute.Buffer float or double, n x n, or count x n x n
---@param b clcompute.Buffer n, or n x columns; or count x n, or count x n x columns
---@param options? clcompute.GaussOptions
---@return clcompute.Buffer x of b's shape
---@return clcompute.GaussInfo info
function cl.gauss(a, b, options) end

---@class clcompute.Factors of a square matrix, P A = L U
---@field n integer rows and columns
---@field count? integer how many, of a batch
---@field dtype clcompute.Dtype
---@field device clcompute.Device
local Factors = {}

---Solves A X = B. Queued.
---@param b clcompute.Buffer n, or n x columns; of a batch count x n, or count x n x columns
---@return clcompute.Buffer x of b's shape
function Factors:solve(b) end

---The determinant; of a batch a list.
---@return number|number[]
function Factors:det() end

---The reciprocal condition number in the 1-norm; of a batch a list. Blocks.
---@return number|number[]
function Factors:rcond() end

---Releases the factors at once.
---@return clcompute.Factors
function Factors:release() end

---Factors a square matrix with partial pivoting; a stays as it is. Blocks.
---@param a clcompute.Buffer float or double, n x n, or count x n x n
---@return clcompute.Factors
function cl.lu(a) end

-- --- the doctor ----------------------------------------------------------------------------------

---@class clcompute.DoctorOptions
---@field device? string a selector; every device unless given
---@field answers? boolean false leaves out the tests with known answers
---@field limit? number seconds for each process that looks at something that could hang

---@class clcompute.DoctorRow
---@field check string
---@field status "ok"|"fault"|"skipped"
---@field detail string
---@field remedy? string

---What is wrong with OpenCL on this machine, and the remedy; tostring() of it is the report.
---@class clcompute.DoctorReport
---@field rows clcompute.DoctorRow[]
---@field faults integer

---Examines loader, drivers, devices, folders and compilers. Blocks.
---@param options? clcompute.DoctorOptions
---@return clcompute.DoctorReport
function cl.doctor(options) end

return cl
