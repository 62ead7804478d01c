-- SPDX-License-Identifier: MIT
--- Operations on arrays as workloads, beside NumPy and, for sorting, gcc's parallel std::sort: each is computed in
-- plain Lua too, with which all results are compared.

local cl = require "clcompute"
local data = require "clcompute.suite.data"
local outsider = require "clcompute.suite.outsider"
local process = require("clcompute.base").process
local write_file = require("clcompute.base").write_file

-- --- what is computed -----------------------------------------------------------------

local FORMAT = { float = "<f", uint = "<I4" }
local BINS = 256

--- A float, as a sum or a product is rounded to it.
local function rounded(v) return (string.unpack("<f", string.pack("<f", v))) end

local function by_axis(x, n, axis)
  local sums = {}
  for row = 1, n do
    for column = 1, n do
      local at = axis == 1 and column or row
      sums[at] = (sums[at] or 0.0) + x[(row - 1) * n + column]
    end
  end
  return sums
end

-- Of each row: the dtype and the operands, of n or n x n numbers; in Lua, NumPy, and ours. `bound`: of the error, else
-- it is the same bits.
local ROWS = {
  operators = { dtype = "float", operands = 2, numpy = "2 * x + y * y",
    lua = function(n, x, y)
      local list = {}
      for i = 1, n do list[i] = rounded(rounded(2 * x[i]) + rounded(y[i] * y[i])) end
      return list
    end,
    ours = function(o) return (2 * o.x + o.y * o.y):eval() end },
  ["sum, axis 1"] = { dtype = "float", square = true, numpy = "x.sum(axis=0)", bound = 2.0 ^ -16,
    lua = function(n, x) return by_axis(x, n, 1) end, ours = function(o) return cl.sum(o.x, { axis = 1 }) end },
  ["sum, axis 2"] = { dtype = "float", square = true, numpy = "x.sum(axis=1)", bound = 2.0 ^ -16,
    lua = function(n, x) return by_axis(x, n, 2) end, ours = function(o) return cl.sum(o.x, { axis = 2 }) end },
  transpose = { dtype = "float", square = true, numpy = "np.ascontiguousarray(x.T)",
    lua = function(n, x)
      local list = {}
      for i = 0, n * n - 1 do list[i + 1] = x[i % n * n + i // n + 1] end
      return list
    end,
    ours = function(o) return cl.transpose(o.x) end },
  sort = { dtype = "uint", numpy = "np.sort(x)", ours = function(o) return cl.sort(o.x) end,
    lua = function(_, x)
      table.sort(x)
      return x
    end },
  unique = { dtype = "uint", high = 9999, numpy = "np.unique(x)", ours = function(o) return (cl.unique(o.x)) end,
    lua = function(_, x)
      local list, seen = {}, {}
      for _, v in ipairs(x) do
        if not seen[v] then list[#list + 1], seen[v] = v, true end
      end
      table.sort(list)
      return list
    end },
  histogram = { dtype = "float", numpy = ("np.histogram(x, bins=%d, range=(0, 1))[0]"):format(BINS), counts = true,
    lua = function(_, x)
      local list = {}
      for bin = 1, BINS do list[bin] = 0 end
      for _, v in ipairs(x) do list[v * BINS // 1 + 1] = list[v * BINS // 1 + 1] + 1 end
      return list
    end,
    ours = function(o) return (cl.histogram(o.x, { bins = BINS, low = 0, high = 1 })) end },
  -- No two make the same numbers: what counts is that they are in the range, and spread evenly.
  random = { dtype = "float", numpy = "np.random.Generator(np.random.Philox(1)).random(len(x), dtype=np.float32)",
    is_random = true, ours = function(o, n) return o.x.device:random("float", n, { seed = 1 }) end },
}

local arrays = {}

-- --- checks ------------------------------------------------------------------------------

local function unpacked(bytes, format)
  local list = {}
  for at = 1, #bytes, 4 do list[#list + 1] = string.unpack(format, bytes, at) end
  return list
end

local function packed(list, format)
  local words = {}
  for i, v in ipairs(list) do words[i] = string.pack(format, v) end
  return table.concat(words)
end

--- The largest error as a share of the bound; huge where the numbers are others, or more or less.
local function error_of(found, wanted, bound)
  if #found ~= #wanted then return math.huge end
  local largest = 0.0
  for i, v in ipairs(wanted) do
    local off = math.abs(found[i] - v) / (bound and bound * math.abs(v) or 1)
    if off > largest or off ~= off then largest = off == off and off or math.huge end
  end
  return bound and largest or largest == 0 and 0.0 or math.huge
end

--- How far the mean and the spread of uniform numbers are from theirs, as a share of five standard deviations.
local function unevenness(list, n)
  local sum, squares = 0.0, 0.0
  for _, v in ipairs(list) do
    if not (v >= 0 and v < 1) then return math.huge end
    sum, squares = sum + v, squares + v * v
  end
  if #list ~= n then return math.huge end
  local bound = 5 / math.sqrt(12 * n)
  return math.max(math.abs(sum / n - 0.5), math.abs(squares / n - 1 / 3)) / bound
end

-- --- others --------------------------------------------------------------------------------

local NUMPY = [[
import sys, time
import numpy as np
x = np.fromfile(sys.argv[1], dtype=np.%s)%s
y = np.fromfile(sys.argv[2], dtype=np.%s) if len(sys.argv) > 3 else None
print("ready", flush=True)
for line in sys.stdin:
    if line == "run\n":
        start = time.perf_counter()
        found = %s
        print(time.perf_counter() - start, flush=True)
    else:
        found%s.tofile(sys.argv[-1])
        print("saved", flush=True)
]]
local TYPE = { float = "float32", uint = "uint32" }

local SORT = [[
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>
int main(int, char **argv) {
  std::FILE *file = std::fopen(argv[1], "rb");
  std::vector<uint32_t> given, found;
  uint32_t number;
  while (std::fread(&number, sizeof number, 1, file) == 1) given.push_back(number);
  std::fclose(file);
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    if (line == "run") {
      found = given;
      const auto start = std::chrono::steady_clock::now();
      std::sort(found.begin(), found.end());
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      std::cout << seconds.count() << std::endl;
    } else {
      file = std::fopen(argv[2], "wb");
      std::fwrite(found.data(), sizeof number, found.size(), file);
      std::fclose(file);
      std::cout << "saved" << std::endl;
    }
  }
}
]]
local COMPILE = "g++ -O3 -march=native -fopenmp -D_GLIBCXX_PARALLEL -x c++ %s -o %s 2>&1"

--- A form of a program that was started.
local function form_of(program, reason, file)
  if not program then return nil, reason end
  program.files[#program.files + 1] = file
  return { timed = true, run = function() return program:run() end, result = function() return program:result() end }
end

local function numpy(row, shape, inputs)
  local python = process.find "python3"
  if not python or process.output(python .. " -c 'import numpy' 2>&1") ~= "" then
    return nil, "there is no NumPy: apt-get install python3-numpy, or a python3 in PATH that has it"
  end
  local script, type = os.tmpname(), TYPE[row.dtype]
  write_file(script, NUMPY:format(type, row.square and (".reshape(%d, %d)"):format(shape.n, shape.n) or "", type,
    row.numpy, row.counts and ".astype(np.uint32)" or ""))
  local program, reason = outsider.start("NumPy", ("%s %s"):format(python, process.quote(script)), inputs)
  if not program then os.remove(script) end
  return form_of(program, reason, script)
end

local function parallel_sort(inputs)
  if not process.find "g++" then return nil, "there is no g++: apt-get install g++" end
  local source, binary = os.tmpname(), os.tmpname()
  write_file(source, SORT)
  local message = process.output(COMPILE:format(process.quote(source), process.quote(binary)))
  os.remove(source)
  if message ~= "" then
    os.remove(binary)
    return nil, "g++: " .. message
  end
  local program, reason = outsider.start("std::sort", process.quote(binary), inputs)
  if not program then os.remove(binary) end
  return form_of(program, reason, binary)
end

-- --- the workload ----------------------------------------------------------------------------

--- An element of an operand: below 1, or an integer up to the row's `high`.
local function element(row, v)
  if row.dtype == "uint" then return math.floor(v * ((row.high or 0xFFFFFFFF) + 1)) end
  return rounded(v * (1 - 2.0 ^ -20))
end

--- An operation on arrays.
-- @tparam table shape `row`, a name; `n`, elements, of a matrix rows and columns
-- @string dtype in the report; a row has elements of its own
-- @treturn table a workload (`clcompute.suite.workload`)
function arrays.arrays(shape, dtype)
  local row, n = ROWS[shape.row], shape.n
  local count, format, random = row.square and n * n or n, FORMAT[row.dtype], data.generator(n)
  local lists, inputs, wanted = {}, {}, nil
  for k = 1, row.operands or 1 do
    lists[k] = {}
    for i = 1, count do lists[k][i] = element(row, random()) end
    inputs[k] = packed(lists[k], format)
  end
  local out_format = row.counts and FORMAT.uint or format
  local work = { name = shape.row, size = n, dtype = dtype, anywhere = true, bytes = (#inputs + 1) * 4 * count,
    methods = {}, others = {} }

  function work.prepare(device)
    local x = device:buffer(inputs[1], row.dtype, count)
    return { x = row.square and x:reshape(n, n) or x, y = inputs[2] and device:buffer(inputs[2], row.dtype, count) }
  end

  function work.run(o) o.found = row.ours(o, count) end

  function work.result(o)
    return row.counts and cl.map("x[i]", { x = o.found }, { dtype = "uint" }):string() or o.found:string()
  end

  function work.check(bytes)
    local found = unpacked(bytes, out_format)
    if row.is_random then return unevenness(found, count) end
    wanted = wanted or row.lua(n, table.unpack(lists))
    return error_of(found, wanted, row.bound)
  end

  function work.others.NumPy() return numpy(row, shape, inputs) end
  if shape.row == "sort" then work.others["std::sort"] = function() return parallel_sort(inputs) end end
  return work
end

return arrays
