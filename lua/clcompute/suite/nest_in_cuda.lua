-- SPDX-License-Identifier: MIT
--- Nests of loops as CUDA C++, as a user would write them: a thread an iteration of the parallel loops.
--
-- It is made of the row's loops in C, or of `cuda`, the same result by loops in the order that a GPU wants
-- (`clcompute.suite.statements_in_c` reads both). A parallel loop is a kernel, and so are statements with arrays
-- outside of parallel loops, one thread for neighbours together. What holds parallel loops runs on the host. An array
-- that the text declares outside of all loops is made on the device before the clock starts.
--
-- Loops count in `int`, as users of CUDA have it. Bounds of a thread's loop may depend on one other thread, by sums:
-- all threads between the least and the largest are launched, and those outside return.

local c_text = require "clcompute.suite.c_text"
local cuda_prelude = require "clcompute.suite.cuda_prelude"
local statements_in_c = require "clcompute.suite.statements_in_c"

local nest_in_cuda = {}

local BLOCKS = { "dim3(256)", "dim3(32, 8)", "dim3(32, 4, 2)" }
local AXES = { "x", "y", "z" }
local WRAPPERS = { nil, "Matrix", "Cube" }

local function refuse(row, text, ...) error(("%s: " .. text):format(row.name, ...), 0) end

-- --- what a row has ---------------------------------------------------------------

--- The row's parameters: arrays; and values, in the order in which kernels take them.
local function parameters_of(row)
  local arrays, values, host, sizes, numbers = {}, {}, {}, 0, 0
  for _, parameter in ipairs(row.parameters) do
    local name = type(parameter) == "string" and parameter or parameter[1]
    if type(parameter) == "string" then
      values[#values + 1] = { name = name, type = "int" }
      host[#host + 1] = ("const int %s = (int)sizes[%d];"):format(name, sizes)
      sizes = sizes + 1
    elseif parameter.value then
      values[#values + 1] = { name = name, type = "real" }
      host[#host + 1] = ("const real %s = (real)numbers[%d];"):format(name, numbers)
      numbers = numbers + 1
    else
      local array = { name = name, type = parameter.integers and "long" or "real",
        extents = table.move(parameter, 2, #parameter, 1, {}) }
      host[#host + 1] = ("%s *%s = (%s *)arrays[%d];"):format(array.type, name, array.type, #arrays)
      arrays[#arrays + 1] = array
    end
  end
  return arrays, values, host
end

--- Arrays that the text declares.
local function scratch(c, node)
  local kind, name, extents = node.text:match "^(%a+)%s+([%a_][%w_]*)(%[.*%])%s*;$"
  if not name then return false end
  local array = { name = name, type = kind, extents = {} }
  for extent in extents:gmatch "%[(.-)%]" do array.extents[#array.extents + 1] = extent end
  c.arrays[#c.arrays + 1] = array
  c.host[#c.host + 1] = ("static Scratch %s_memory;"):format(name)
  c.host[#c.host + 1] = ("%s *%s = (%s *)reserve(%s_memory, sizeof(%s) * (size_t)(%s));"):format(kind, name, kind, name,
    kind, table.concat(array.extents, ") * ("))
  c.host[#c.host + 1] = ("if (%s == NULL) return -(double)cudaErrorMemoryAllocation;"):format(name)
  return true
end

-- --- kernels ----------------------------------------------------------------------

--- The array as a parameter, and how the kernel's text gets at its elements.
local function taken(array, text)
  local kind = (c_text.writes(text, array.name) and "" or "const ") .. array.type
  local wrapper = WRAPPERS[#array.extents]
  if not wrapper then return ("%s *__restrict__ %s"):format(kind, array.name) end
  local inner = table.concat(array.extents, ", ", 2)
  return ("%s *__restrict__ %s_"):format(kind, array.name),
    ("  const %s<%s> %s = {%s_, %s};"):format(wrapper, kind, array.name, array.name, inner)
end

--- Adds a kernel of a text.
-- @tparam table c
-- @tparam table lines before the text: which thread this is
-- @string text
-- @tparam table extra parameters that the launch gives: type and name, and the host's expression
-- @string range extents and block
local function add_kernel(c, lines, text, extra, range)
  local parameters, arguments, wrapped, all = {}, {}, {}, table.concat(lines, "\n") .. text
  local function add(parameter, argument)
    parameters[#parameters + 1], arguments[#arguments + 1] = parameter, argument
  end
  for _, array in ipairs(c.arrays) do
    if c_text.has_elements_of(text, array.name) then
      local parameter, wrapper = taken(array, text)
      add(parameter, array.name)
      wrapped[#wrapped + 1] = wrapper
    end
  end
  all = all .. table.concat(wrapped)
  for _, value in ipairs(extra) do add("const int " .. value.name, value.text) end
  for _, value in ipairs(c.values) do
    if c_text.mentions(all, value.name) then add(("const %s %s"):format(value.type, value.name), value.name) end
  end
  local name = ("kernel_%d"):format(#c.kernels + 1)
  c.kernels[#c.kernels + 1] = ("static __global__ void %s(%s) {\n%s\n%s\n  {\n    %s\n  }\n}\n"):format(name,
    table.concat(parameters, ", "), table.concat(lines, "\n"), table.concat(wrapped, "\n"), c_text.in_ints(text))
  c.host[#c.host + 1] = ("launch(%s, %s, %s);"):format(name, range, table.concat(arguments, ", "))
end

--- The loops of a parallel one whose iterations are threads, outermost first; and what they do.
local function threads_of(c, node)
  local loops, count = {}, #node.threads
  if count > #AXES then refuse(c.row, "threads have %d dimensions at most", #AXES) end
  for i, name in ipairs(node.threads) do
    if node.kind ~= "for" or node.variable ~= name then refuse(c.row, "no loop of %s is nested perfectly", name) end
    for _, array in ipairs(c.arrays) do
      if c_text.has_elements_of(node.head, array.name) then refuse(c.row, "an array bounds the threads of %s", name) end
    end
    loops[i], node = node, node.body
    if i < count and node.kind == "block" and #node.list == 1 then node = node.list[1] end
  end
  return loops, node
end

--- Bounds of a loop: the first iteration and the one past the last, for the host; and whether they depend on a thread.
local function bounds(c, loops, index)
  local loop, outer = loops[index], nil
  local first, past = loop.first, loop.compare == "<=" and ("(%s) + 1"):format(loop.last) or loop.last
  for i = 1, index - 1 do
    if c_text.mentions(first .. " " .. past, loops[i].variable) then
      if outer or loops[i].depends then refuse(c.row, "the bounds of %s depend on two threads", loop.variable) end
      outer = loops[i]
    end
  end
  if not outer then return first, past end
  if (first .. past):find "[^%w_%s+()-]" then refuse(c.row, "the bounds of %s are no sums", loop.variable) end
  local function ends(text, choose)
    return ("std::%s<int>(%s, %s)"):format(choose, c_text.replaced(text, outer.variable, outer.from),
      c_text.replaced(text, outer.variable, ("(%s) - 1"):format(outer.past)))
  end
  loop.depends = true
  return ends(first, "min"), ends(past, "max")
end

--- A parallel loop: its kernel, and the launch.
local function launch_loop(c, node)
  local loops, inner = threads_of(c, node)
  local lines, tests, extra, extents = {}, {}, {}, { "1", "1", "1" }
  for i, loop in ipairs(loops) do
    local axis, name = AXES[#loops + 1 - i], loop.variable
    loop.from, loop.past = bounds(c, loops, i)
    extents[#loops + 1 - i] = ("(int)((%s) - (%s))"):format(loop.past, loop.from)
    if loop.depends then
      extra[#extra + 1] = { name = name .. "_first", text = loop.from }
      tests[#tests + 1] = ("%s >= %s"):format(name, loop.first)
    end
    lines[i] = ("  const int %s = %s + (int)(blockIdx.%s * blockDim.%s + threadIdx.%s);"):format(name,
      loop.depends and name .. "_first" or ("(int)(%s)"):format(loop.first), axis, axis, axis)
    tests[#tests + 1] = ("%s %s %s"):format(name, loop.compare, loop.last)
  end
  lines[#lines + 1] = ("  if (!(%s)) return;"):format(table.concat(tests, " && "))
  add_kernel(c, lines, inner.text, extra, ("%s, %s"):format(table.concat(extents, ", "), BLOCKS[#loops]))
end

-- --- the host ---------------------------------------------------------------------

--- Names that a declaration declares get known to kernels.
local function declare(c, node)
  local kind, list = node.text:match "^const%s+(%a+)%s+(.-)%s*;$"
  if not kind then kind, list = node.text:match "^(%a+)%s+([%a_].-)%s*;$" end
  if not list then return end
  for part in (list:gsub("%b()", "") .. ","):gmatch "(.-)," do
    c.values[#c.values + 1] = { name = part:match "[%a_][%w_]*", type = kind }
  end
  return true
end

local function uses_arrays(c, text)
  for _, array in ipairs(c.arrays) do
    if c_text.has_elements_of(text, array.name) then return true end
  end
  return false
end

local function each(c, nodes, step)
  local count, pending = #c.values, {}
  local function flush()
    if #pending > 0 then add_kernel(c, {}, table.concat(pending, "\n    "), {}, "1, 1, 1, dim3(1)") end
    pending = {}
  end
  for _, node in ipairs(nodes) do
    if not statements_in_c.is_parallel(node) and uses_arrays(c, node.text) then
      if node.kind == "plain" and declare(c, node) then refuse(c.row, "the host reads an array: %s", node.text) end
      pending[#pending + 1] = node.text
    else
      flush()
      step(c, node)
    end
  end
  flush()
  for i = #c.values, count + 1, -1 do c.values[i] = nil end -- their block ends
end

--- A statement that the host runs.
local function on_host(c, node)
  local function add(text) c.host[#c.host + 1] = c_text.in_ints(text) end
  local function within(part)
    add "{"
    each(c, part.kind == "block" and part.list or { part }, on_host)
    add "}"
  end
  if node.threads then return launch_loop(c, node) end
  if not statements_in_c.is_parallel(node) then
    if node.kind == "plain" then declare(c, node) end
    return add(node.text)
  end
  if node.kind == "block" then return within(node) end
  if uses_arrays(c, node.head) then refuse(c.row, "an array decides what is launched: %s", node.head) end
  if node.variable then c.values[#c.values + 1] = { name = node.variable, type = "int" } end
  add(("%s %s"):format(node.kind, node.head))
  within(node.body)
  if node.otherwise then
    add "else"
    within(node.otherwise)
  end
  if node.variable then c.values[#c.values] = nil end
end

--- Definitions and functions, which stand before the kernels; and arrays. The other statements.
local function sorted(c, nodes)
  local rest, macros = {}, {}
  for _, node in ipairs(nodes) do
    if node.kind == "define" then
      c.before[#c.before + 1] = node.text
      macros[#macros + 1] = "#undef " .. node.text:match "^#define%s+([%w_]+)"
    elseif node.kind == "function" then
      c.before[#c.before + 1] = "static __device__ " .. node.text
    elseif not (node.kind == "plain" and scratch(c, node)) then
      rest[#rest + 1] = node
    end
  end
  return rest, macros
end

local FUNCTION = [[
extern "C" double %s(const long *sizes, const double *numbers, void *const *arrays) {
  (void)numbers;
  %s
  return finish(started);
}
]]

--- A row's kernels and the function that launches them, which C finds by the row's name.
local function section(row)
  local arrays, values, host = parameters_of(row)
  local c = { row = row, arrays = arrays, values = values, host = host, kernels = {}, before = {} }
  local rest, macros = sorted(c, statements_in_c.read(nest_in_cuda.text(row)))
  c.host[#c.host + 1] = "const double started = clock_now();"
  each(c, rest, on_host)
  return table.concat({ ("namespace in_%s {"):format(row.name), table.concat(c.before, "\n"),
    table.concat(c.kernels, "\n"), FUNCTION:format(row.name, table.concat(c.host, "\n  ")),
    table.concat(macros, "\n"), "}" }, "\n")
end

-- --- the face ---------------------------------------------------------------------

--- The loops that CUDA is given.
-- @tparam table row
-- @treturn string
function nest_in_cuda.text(row) return row.cuda or row.c end

--- Whether a loop of the row is parallel.
-- @tparam table row
-- @treturn boolean
function nest_in_cuda.is_parallel(row)
  for _, node in ipairs(statements_in_c.read(nest_in_cuda.text(row))) do
    if statements_in_c.is_parallel(node) then return true end
  end
  return false
end

--- Rows as one source, a function each: `double NAME(sizes, numbers, arrays)` on arrays of the device returns seconds,
-- or the number of an error of CUDA's below 0.
-- @tparam table rows
-- @string dtype "float" or "double"
-- @string[opt] head how kernels are launched
-- @treturn string
-- @raise for what is not of the form above
function nest_in_cuda.source(rows, dtype, head)
  local texts = { head or cuda_prelude.LAUNCH, cuda_prelude.ARRAYS, ("typedef %s real;\n"):format(dtype) }
  for _, row in ipairs(rows) do
    local text = section(row)
    texts[#texts + 1] = dtype == "float" and c_text.in_floats(text) or text
  end
  return table.concat(texts, "\n") .. "\n"
end

return nest_in_cuda
