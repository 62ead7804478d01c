-- SPDX-License-Identifier: MIT
--- A nest of loops on a GPU of NVIDIA's by others: in CUDA, which nvcc compiles, and by the routines of cuBLAS.

local baseline = require "clcompute.suite.baseline"
local nest_check = require "clcompute.suite.nest_check"
local nest_in_cublas = require "clcompute.suite.nest_in_cublas"
local nest_in_cuda = require "clcompute.suite.nest_in_cuda"
local polykernels = require "clcompute.suite.polykernels"
local process = require("clcompute.base").process

local nest_on_nvidia = {}

local COMPILE = "nvcc -O3 -std=c++17 -arch=native %s -shared -Xcompiler -fPIC -w -x cu -o %s %s 2>&1"

-- As ours in mode "exact", doubles are not fused.
local FLAGS = { float = "", double = "-fmad=false" }

local ROUNDINGS = 4 -- of a term of a sum, at most: two products after each other, each with a factor

-- --- CUDA -------------------------------------------------------------------------

--- All rows that have a parallel loop.
local function parallel_rows()
  local list = {}
  for _, names in ipairs { polykernels.NAMES, polykernels.NESTS, polykernels.IRREGULAR } do
    for _, name in ipairs(names) do
      local row = polykernels.load(name)
      if nest_in_cuda.is_parallel(row) then list[#list + 1] = row end
    end
  end
  return list
end

local function compile(dtype)
  if not process.find "nvcc" then return nil, "there is no nvcc: install NVIDIA's CUDA toolkit" end
  return baseline.object("nvcc", COMPILE:format(FLAGS[dtype], "%s", "%s"), nest_in_cuda.source(parallel_rows(), dtype))
end

local compiled = {} -- by dtype: nvcc takes seconds; its object goes with this Lua state

local function object_of(dtype)
  compiled[dtype] = compiled[dtype] or table.pack(compile(dtype))
  return table.unpack(compiled[dtype], 1, 2)
end

-- --- forms ------------------------------------------------------------------------

--- A form on copies of the arrays in memory of CUDA's.
-- @tparam table task a row with arguments (`clcompute.suite.nest`)
-- @tparam table library
-- @tparam function run takes arguments, packed, and memory: a list, also by the name of the array; returns seconds
local function form_of(task, library, run)
  local packed, memory, given = baseline.pack(task.row, task.bytes), {}, {}
  for i, bytes in ipairs(packed.arrays) do
    memory[i], given[i] = library.memory(bytes), library.memory(bytes)
    memory[packed.names[i]] = memory[i]
  end
  local function copy_all()
    for i, from in ipairs(given) do library.queue_copy(from, memory[i]) end
  end
  local function reset() library.seconds(copy_all) end
  local function result()
    local found = {}
    for _, name in ipairs(task.row.results) do found[name] = library.string(memory[name]) end
    return found
  end
  return { timed = true, reset = reset, result = result, run = function() return run(packed, memory) end }
end

--- By CUDA, a thread an iteration of the parallel loops.
-- @tparam table task
-- @param _ the device, which the library knows
-- @tparam table library the functions of tools/cuda.cu
-- @treturn ?table a form (`clcompute.suite.workload`)
-- @treturn ?string why there is none
function nest_on_nvidia.CUDA(task, _, library)
  local row = task.row
  if not nest_in_cuda.is_parallel(row) then return nil, "no loop is parallel in this order" end
  local object, reason = object_of(task.dtype)
  if not object then return nil, reason end
  return form_of(task, library, function(packed, memory)
    return library.nest(object.path, row.name, packed.sizes, packed.numbers, memory)
  end)
end

--- By routines of cuBLAS, whose sums stand in an order of their own.
-- @tparam table task
-- @param _ the device, which the library knows
-- @tparam table library the functions of tools/cuda.cu
-- @treturn ?table a form
-- @treturn ?string why there is none
function nest_on_nvidia.cuBLAS(task, _, library)
  local row, n = task.row, task.shape.n
  local calls = nest_in_cublas.calls[row.name]
  if not calls then return nil, "cuBLAS has no routine of it" end
  local routines, numbers = nest_in_cublas.routines(library, task.dtype, n), {}
  for i, parameter in ipairs(row.parameters) do
    if parameter.value then numbers[parameter[1]] = task.bytes[i] end
  end
  local form = form_of(task, library, function(_, memory)
    return library.seconds(function() calls(routines, memory, numbers) end)
  end)
  if task.dtype == "double" then
    local check
    function form.check(found)
      check = check or nest_check.of_sums(row, task.bytes, ROUNDINGS * n)
      return check(found)
    end
  end
  return form
end

return nest_on_nvidia
