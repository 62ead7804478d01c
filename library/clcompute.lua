---@meta clcompute
-- SPDX-License-Identifier: MIT
-- The reference of the public names, which the Lua language server reads too. docs/api.md is made of it
-- (`make doc`); spec/whole/documentation_spec.lua compares it with the library and runs its examples, in which `cl` is
-- the library and `d` a device.

---OpenCL compute for Lua: devices, buffers, programs, kernels and prebuilt operations.
---@class clcompute
---@field _VERSION string
---@field null userdata an argument for a `global` or `constant` pointer: NULL
local cl = {}

---The type of a buffer's elements. An integer type takes an integral value within its range; `ulong` takes the 64
---bits of a Lua integer. A floating type rounds to the nearest number and refuses a finite number that would become
---infinite.
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

---A driver with its devices.
---@class clcompute.Platform
---@field name string
---@field vendor string
---@field version string
---@field devices clcompute.Device[]
---@field fault? string why the driver does not tell its devices

---@class clcompute.DeviceOptions
---@field careful? boolean true: a program with a loop that the device's compiler is known to get wrong is built with `-cl-opt-disable`, and a warning says so (docs/devices.md). Unchanged unless given; off at first, unless `$CLCOMPUTE_CAREFUL` is set, but not empty, 0, off, no or false
---@field check? boolean switches check mode as `Device:check` does
---@field isolated? boolean true: a worker process builds and runs the kernels of a CPU; a kernel that crashes or hangs is an error of its launch (docs/isolation.md). False unless given
---@field timing? boolean switches the timing of launches as `Device:timing` does
---@field limit? number seconds that a kernel may run on an isolated device, once it is compiled, for all who have that device: 60 at first, `math.huge` for no limit; unchanged unless given
---@field build_limit? number seconds that a build, or the compiling at the first launch of a kernel, may take there: 300 at first, `math.huge` for no limit; unchanged unless given

---The platforms of this machine. `print` shows a line for each.
---```lua
---for _, platform in ipairs(cl.platforms()) do print(platform.name, #platform.devices) end
---```
---@return clcompute.Platform[]
function cl.platforms() end

---Every device that a selector means, whatever `$CLCOMPUTE_DEVICE` says. Opens no context. `print` shows a line for
---each device.
---
---Errors: a selector that is none; no match, while a driver would not tell its devices.
---```lua
---for _, device in ipairs(cl.devices "cpu") do print(device.place, device.name) end
---print(#cl.devices "no such device") --> 0
---```
---@param selector? string "gpu", "cpu", "accelerator", a part of "platform/device" or the short name of a platform ("pocl") in any case, or "0:1": platform and device, from 0
---@return clcompute.Device[] # empty when none match
function cl.devices(selector) end

---The best device for a selector. Without a selector `$CLCOMPUTE_DEVICE` is the selector; without that the first GPU
---is taken, else an accelerator, else a CPU. Within a Lua state the same hardware is the same object; its context and
---queue open at first use. The isolated device of a CPU is an object beside the plain one.
---
---Errors: no device matches (the message lists what there is and what to install); the device cannot be isolated.
---```lua
---local cpu = cl.device "cpu"
---print(cpu.type, cpu == cl.device "cpu") --> cpu	true
---```
---@param selector? string "gpu", "cpu", "accelerator", a part of "platform/device" or the short name of a platform ("pocl") in any case, or "0:1": platform and device, from 0
---@param options? clcompute.DeviceOptions
---@return clcompute.Device
function cl.device(selector, options) end

---Monotonic time, for measuring.
---```lua
---local start = cl.clock()
---d:wait()
---print(cl.clock() - start < 60) --> true
---```
---@return number # seconds from an arbitrary start
function cl.clock() end

-- --- what holds memory, what took time, what a work-item sees -------------------------------------

---A buffer that holds device memory.
---@class clcompute.Holder
---@field dtype clcompute.Dtype
---@field shape string "3x4"
---@field bytes integer of the whole memory
---@field shared boolean whether views share it

---@class clcompute.Live
---@field [integer] clcompute.Holder
---@field bytes integer of all memory in use
---@field pooled integer bytes of memory that was released and is kept for buffers to come
---@field device integer how many are alive, as in the fields below
---@field part integer parts of devices
---@field queue integer further queues
---@field buffer integer
---@field image integer
---@field sampler integer
---@field program integer
---@field kernel integer
---@field event integer
---@field sequence integer

---Sets the seed of the next `d:random` or `d:permutation` that is given none; those behind it count up from there. Until it
---is called, the first seed is the system's, another one in each process.
---```lua
---cl.seed(7)
---local a, b = d:random("float", 100), d:random("float", 100)
---cl.seed(7)
---print(a[1] == b[1], a[1] == d:random("float", 100)[1], a[1] == d:random("float", 1, { seed = 7 })[1]) --> false	true	true
---```
---@param n integer
function cl.seed(n) end

---The objects that are alive, and the buffers and images that hold device memory: finds what was not released.
---```lua
---local x <close> = d:zeros("float", 1000)
---print(cl.live().bytes >= 4000) --> true
---```
---@return clcompute.Live
function cl.live() end

---The commands of one kernel, or of one kind of transfer, on one device. Times are the device's own, from the start
---of a command to its end, without the wait in the queue and without the host's part. Some drivers (POCL) measure 0
---for short commands; POCL compiles again at the first launch, which shows nowhere. Times of two queues that ran at
---once are both counted, so the sum may exceed the time that passed.
---@class clcompute.ProfileRow
---@field name string of the kernel or program; a transfer's is its kind
---@field kind "kernel"|"write"|"read"|"copy"|"fill"|"build"
---@field device string its name
---@field place string as the device's
---@field calls integer a split launch is one
---@field total number seconds; of a build wall time, of compiling or of loading what was kept
---@field mean number seconds of a call
---@field min number seconds
---@field max number seconds
---@field share? number 0 to 1, of the time of all commands; nil for a build
---@field bytes? integer that a transfer moved; of a kernel the sizes of its buffer arguments, each once a call, which is no measurement; nil for a build

---Counts what the commands of this Lua state took, by kernel and by kind of transfer. `true` clears the counts and
---starts, `false` stops; without an argument it waits for all queues and returns the rows. Commands of a closed
---device stay counted; commands that failed are not counted, nor those that a further queue was at when it was
---collected. `print` shows the rows as a table; their field `on` tells whether counting goes on.
---```lua
---cl.profile(true)
---cl.saxpy(2, d:zeros("float", 1000), d:zeros("float", 1000))
---local rows = cl.profile()
---cl.profile(false)
---print(#rows > 0, rows[1].kind ~= nil) --> true	true
---```
---@param on? boolean
---@return clcompute.ProfileRow[]? # the longest total first; nil when it starts or stops
function cl.profile(on) end

---What a work-item (with `each = "group"` a work-group) was told of its place. Lists go along the dimensions of the
---range, dimension 0 first.
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
---@field active? boolean of a work-item: false where `remainder = "pad"` has added it
---@field first_id? integer[] of a group: the global id of its first work-item
---@field items? integer of a group: its work-items that ran
---@field active_items? integer of a group: its work-items in the range

---@class clcompute.TraceOptions
---@field device? clcompute.Device `cl.device()` unless given
---@field each? "item"|"group" what has a row; "item" unless given

---Launches a kernel that writes down what each work-item of a range is told of its place. Blocks. `print` shows a
---table, with the work-groups by size below. Under "split" it shows what a kernel sees that may be split; without a
---group, the group of a kernel that asks for its group's number; "native" builds with `-cl-std=CL2.0` or later.
---
---Errors: as of a launch; more than 16384 rows.
---```lua
---local rows = cl.trace_range({ global = { 6, 5 }, group = { 4, 4 }, remainder = "split" })
---print(#rows, rows[30].part) --> 30	4
---```
---@param range clcompute.Range of at most 16384 work-items, or groups with `each = "group"`
---@param options? clcompute.TraceOptions
---@return clcompute.TraceRow[] # in the order of global ids, dimension 0 first
function cl.trace_range(range, options) end

---Builds and judges now what is fast on a device: products (`cl.gemm`), and on a GPU systems of equations. Where it was never
---built, plain kernels serve first, and another process builds meanwhile. The last bits of a result can differ between
---the two; both are within the bounds of `cl.gemm` and `cl.gauss`. With `CLCOMPUTE_BUILD=wait` the first call builds what is
---fast, as it does on other devices; with `here` no other process starts. Blocks.
---
---Errors: what is no device; what building raises.
---```lua
---cl.ready(d) -- from here on products and systems are as fast as they will be
---```
---@param device clcompute.Device
---@return clcompute.Device # the same
function cl.ready(device) end

---@class clcompute.DoctorOptions
---@field device? string a selector; every device unless given
---@field answers? boolean false leaves out the tests with known answers
---@field limit? number seconds that each process of its own may take; 120 unless given
---@field progress? fun(what: string) is told which tests begin

---@class clcompute.DoctorRow
---@field check string
---@field status "ok"|"warning"|"fault"|"skipped" a warning: a fault of a driver that the library avoids
---@field detail string
---@field remedy? string

---What is wrong with OpenCL on this machine, and the remedy; `tostring` of it is the report.
---@class clcompute.DoctorReport
---@field rows clcompute.DoctorRow[]
---@field faults integer how many rows are faults
---@field warnings integer how many are warnings
---@field loader? string its path
---@field core? string its path
---@field icds table[] { file =, library =, opens = } of each driver file
---@field platforms table[] { name =, ... }
---@field devices table[] { place =, platform =, name =, type =, version =, driver =, has_compiler = }

---Examines loader, drivers, devices, the folders of compiled programs and each device's compiler. Blocks. What a driver
---could end runs in processes of its own. `clcompute.doctor` does the same where this module does not load.
---
---Errors: wrong options alone; whatever is broken is a row.
---```lua
---local report = cl.doctor { answers = false }
---print(report.rows[1].check, report.rows[1].status ~= nil)
---```
---@param options? clcompute.DoctorOptions
---@return clcompute.DoctorReport
function cl.doctor(options) end

-- --- files and pictures --------------------------------------------------------------------------

---Writes buffers to a .npz file, which numpy reads as `numpy.load(path)["name"]`; `d:load(path)` gives the table back.
---The entries are in the order of their names and not compressed. The file takes the place of a regular one as with
---`Buffer:save`. Blocks.
---
---Errors: what is no table of buffers by name; a file that cannot be written, the old one stays then; more than 4 GiB in
---all.
---```lua
---local path = os.tmpname()
---cl.save_npz(path, { x = d:buffer { 1, 2, 3 }, steps = d:buffer({ 7 }, "int") })
---print(d:load(path).steps[1]) --> 7
---os.remove(path)
---```
---@param path string
---@param buffers table<string, clcompute.Buffer>
---@return string # the path
function cl.save_npz(path, buffers) end

---What `cl.plot` and `cl.picture` return: `print` and `tostring` show it in a terminal, as wide as that is.
---@class clcompute.Drawing
local Drawing = {}

---@class clcompute.DrawingSVGOptions
---@field width? integer pixels, 760 unless given

---The drawing as SVG, which may also stand in a page. A plot is the line chart of `clcompute.report`, a picture holds
---its pixels.
---
---Errors: nothing to draw, as no element is finite.
---```lua
---print(cl.plot({ 1, 4, 9 }):svg():sub(1, 4)) --> <svg
---```
---@param options? clcompute.DrawingSVGOptions
---@return string
function Drawing:svg(options) end

---A page of HTML that holds the drawing, and further ones below it, each with its title, and needs nothing else.
---
---Errors: as of `Drawing:svg`.
---```lua
---local page = cl.picture({ { 0, 1 }, { 1, 0 } }, { title = "a board" }):html(cl.plot({ 1, 4, 9 }, { title = "squares" }))
---print(page:match "<h1>.-</h1>", select(2, page:gsub("<svg", ""))) --> <h1>a board</h1>	2
---```
---@param ... clcompute.Drawing
---@return string
function Drawing:html(...) end

---@class clcompute.DrawingOptions
---@field title? string
---@field width? integer columns, 20 or more; those of the terminal unless given, else `$COLUMNS`, else 80
---@field height? integer lines at most; 12 of a plot, 24 of a picture unless given
---@field ascii? boolean true: no other characters; unless given, where the locale is not UTF-8
---@field colours? "24bit"|"256"|"none" what the terminal has; unless given, by `$COLORTERM`, `$TERM` and `$NO_COLOR`, none where standard output is no terminal

---@class clcompute.PlotOptions: clcompute.DrawingOptions
---@field x? clcompute.Buffer|number[] where the elements lie, as many as each line has; 1, 2, ... unless given
---@field names? string[] of the lines

---Numbers as lines in a terminal, drawn in dots of Braille; several lines without colours, and `ascii`, in marks. The
---axes tell the least and the largest number. What is not finite is a gap. Of a line of more than 1000 elements the
---least and the largest of each run are drawn. Reads the elements: blocks.
---
---Errors: what holds no numbers; more than 16 lines; `x` of another length.
---```lua
---print(cl.plot({ 0, 1, 4, 9, 16 }, { width = 24, height = 4, ascii = true })) --> ...16 +...
---cl.plot({ d:random("float", 100), d:random("float", 100) }, { names = { "a", "b" } })
---```
---@param x clcompute.Buffer|clcompute.Values|(clcompute.Buffer|number[])[] a buffer or list; several in a list, or the rows of a matrix, are a line each
---@param options? clcompute.PlotOptions
---@return clcompute.Drawing
function cl.plot(x, options) end

---@class clcompute.PictureOptions: clcompute.DrawingOptions
---@field map? "viridis"|"grey" the colours of a matrix; "viridis" unless given
---@field low? number where the colours begin; the least finite element unless given, 0 for three channels of uchar
---@field high? number where they end; the largest finite element unless given, 255 for three channels of uchar

---A matrix as colours in a terminal, two pixels a character; without colours, and `ascii`, in characters from light to
---dense. Below stand the least and the largest element and the size. A matrix that is larger than there is room for is
---shown by means; a small one is enlarged. Rows x columns x 3 or 4 elements are red, green, blue, and alpha, which is
---not shown. NaN is black. Reads the elements: blocks.
---
---Errors: what is no matrix; `low` not below `high`.
---```lua
---print(cl.picture({ { 0, 1 }, { 2, 3 } }, { ascii = true })) --> ...0 [ .:-=+*#%@] 3   2 x 2
---cl.picture(d:random("float", 40, 60), { map = "grey" })
---```
---@param m clcompute.Buffer|clcompute.Values rows x columns, or rows x columns x 3 or 4
---@param options? clcompute.PictureOptions
---@return clcompute.Drawing
function cl.picture(m, options) end

return cl
