-- SPDX-License-Identifier: MIT
--- Ordering and choosing of many elements as workloads, beside CUB. The results are checked by plain kernels: that
-- elements are in order, that they are those that were given, by a sum of mixed bits of each, or that each is what a
-- loop over the operand makes.

local cl = require "clcompute"
local data = require "clcompute.suite.data"

local keys = {}

local CHUNK = 4096 -- elements that a work-item of a check goes through
local BINS = 256
local DISTINCT = 1 << 20 -- keys, of which many are equal
local HALF = 0.5

local SOURCE = [=[
  ulong mixed(ulong v) {
    v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9UL;
    v = (v ^ (v >> 27)) * 0x94d049bb133111ebUL;
    return v ^ (v >> 31);
  }
  /* Of each chunk the sum of mixed pairs, and how many are less than the one before. */
  kernel void order(global const uint *x, global const uint *y, uint n, global ulong *sums, global uint *wrong) {
    const uint first = get_global_id(0) * CHUNK, end = min(first + CHUNK, n);
    ulong sum = 0, before = 0;
    uint count = 0;
    if (first > 0) before = (ulong)x[first - 1] << 32 | y[first - 1];
    for (uint i = first; i < end; i++) {
      const ulong pair = (ulong)x[i] << 32 | y[i];
      sum += mixed(pair);
      count += pair < before;
      before = pair;
    }
    sums[get_global_id(0)] = sum;
    wrong[get_global_id(0)] = count;
  }
  kernel void mark(global const uint *x, uint n, global uchar *seen) {
    const uint first = get_global_id(0) * CHUNK, end = min(first + CHUNK, n);
    for (uint i = first; i < end; i++) seen[x[i]] = 1;
  }
  /* Of each chunk how many are kept; then how many of these do not stand where they should. */
  kernel void kept(global const float *x, uint n, global uint *counts) {
    const uint first = get_global_id(0) * CHUNK, end = min(first + CHUNK, n);
    uint count = 0;
    for (uint i = first; i < end; i++) count += x[i] > HALF;
    counts[get_global_id(0)] = count;
  }
  kernel void misplaced(global const float *x, uint n, global const uint *starts, global const float *found,
                        global uint *wrong) {
    const uint first = get_global_id(0) * CHUNK, end = min(first + CHUNK, n);
    uint count = 0, place = starts[get_global_id(0)];
    for (uint i = first; i < end; i++)
      if (x[i] > HALF) count += found[place++] != x[i];
    wrong[get_global_id(0)] = count;
  }
  kernel void tally(global const float *x, uint n, global uint *counts) {
    const uint first = get_global_id(0) * CHUNK, end = min(first + CHUNK, n);
    for (uint i = first; i < end; i++) atomic_inc(&counts[(int)(x[i] * BINS)]);
  }
  kernel void largest(global const float *x, uint n, global float *values, global uint *places) {
    const uint first = get_global_id(0) * CHUNK, end = min(first + CHUNK, n);
    uint place = first;
    for (uint i = first; i < end; i++)
      if (x[i] > x[place]) place = i;
    values[get_global_id(0)] = x[place];
    places[get_global_id(0)] = place;
  }
]=]

-- --- checks -----------------------------------------------------------------------------

local function plain(device)
  return device:program(SOURCE, { defines = { CHUNK = CHUNK, BINS = BINS, HALF = HALF .. "f" } })
end

local function chunks(n) return math.ceil(n / CHUNK) end

local function total(list)
  local sum = 0
  for _, v in ipairs(list) do sum = sum + v end
  return sum
end

--- The sum of mixed pairs, and how many are out of order.
local function survey(x, y)
  local count, device = chunks(#x), x.device
  local sums, wrong = device:empty("ulong", count), device:empty("uint", count)
  plain(device).order(count, x, y, #x, sums, wrong)
  return total(sums:read()), total(wrong:read())
end

--- A check that elements, with what moved along, are those that were given, in order.
local function ordered(x, y)
  local expected
  return function(bytes, moved)
    if #bytes ~= x.bytes then return math.huge end
    expected = expected or survey(x, y or x)
    local found = x.device:buffer(bytes, "uint", #x)
    local sum, wrong = survey(found, moved and x.device:buffer(moved, "uint", #x) or found)
    return sum == expected and wrong == 0
  end
end

-- --- what all have in common ---------------------------------------------------------------

--- A workload on n elements.
-- @tparam table given `dtype`; `high`, of integers; `bytes` of an element that are read and written
-- @treturn table the workload
-- @treturn string the packed elements
-- @treturn Buffer the same for the check
local function new(name, n, given)
  local input = data.random(given.dtype, n, 13, 0, given.high or 1)
  local work = { name = name, size = n, dtype = "float", bytes = given.bytes * n, methods = {}, others = {} }
  function work.prepare(d) return { x = d:buffer(input, given.dtype, n) } end
  return work, input, cl.device():buffer(input, given.dtype, n)
end

--- The form of an operation of CUB's, whose results have so many bytes.
-- @tparam function result of the library, the memory of the results, and the number
local function by_cub(work, operation, inputs, sizes, result)
  function work.others.CUB(_, library)
    local memory, results, number = {}, {}, nil
    for i, bytes in ipairs(inputs) do memory[i] = library.memory(bytes) end
    for i, bytes in ipairs(sizes) do
      results[i] = library.memory(bytes)
      memory[#memory + 1] = results[i]
    end
    return { timed = true, result = function() return result(library, results, number) end, run = function()
      local seconds
      seconds, number = library.cub(operation, work.size, table.unpack(memory))
      return seconds
    end }
  end
end

local function whole(library, results) return library.string(results[1]) end

-- --- the workloads -------------------------------------------------------------------------

--- Keys of 32 bits in order.
-- @tparam table shape `n`
-- @treturn table a workload (`clcompute.suite.workload`)
function keys.sort(shape)
  local n = shape.n
  local work, input, x = new("sort", n, { dtype = "uint", high = 0xFFFFFFFF, bytes = 8 })
  work.check = ordered(x)
  function work.run(o) o.found = cl.sort(o.x, { out = o.found }) end
  function work.result(o) return o.found:string() end
  by_cub(work, "sort", { input }, { #input }, whole)
  return work
end

--- Keys with a number of 32 bits each, which says where they were.
function keys.pairs(shape)
  local n = shape.n
  local work, input, x = new("pairs", n, { dtype = "uint", high = DISTINCT - 1, bytes = 16 })
  local places = x.device:arange(0, n - 1, "uint")
  local check = ordered(x, places)
  function work.prepare(d) return { x = d:buffer(input, "uint", n), y = d:arange(0, n - 1, "uint") } end
  function work.run(o) o.found, o.moved = cl.sort(o.x, { with = o.y }) end
  function work.result(o) return { o.found:string(), o.moved:string() } end
  function work.check(found) return check(found[1], found[2]) end
  by_cub(work, "pairs", { input, places:string() }, { #input, #input }, function(library, results)
    return { library.string(results[1]), library.string(results[2]) }
  end)
  return work
end

--- The distinct ones of keys, in order.
function keys.unique(shape)
  local n = shape.n
  local work, input, x = new("unique", n, { dtype = "uint", high = DISTINCT - 1, bytes = 12 })
  local expected
  local function distinct()
    local marks, list = x.device:zeros("uchar", DISTINCT), {}
    plain(x.device).mark(chunks(n), x, n, marks)
    local text = marks:string()
    local at = text:find("\1", 1, true)
    while at do
      list[#list + 1] = string.pack("<I4", at - 1)
      at = text:find("\1", at + 1, true)
    end
    return table.concat(list)
  end
  function work.check(found)
    expected = expected or distinct()
    return found == expected
  end
  function work.run(o) o.found = cl.unique(o.x) end
  function work.result(o) return o.found:string() end
  by_cub(work, "unique", { input }, { #input, #input }, function(library, results, number)
    return library.string(results[2], 4 * string.unpack("<i8", number))
  end)
  return work
end

--- Those of floats above a half.
function keys.compact(shape)
  local n = shape.n
  local work, input, x = new("compact", n, { dtype = "float", bytes = 6 })
  function work.check(found)
    local device = x.device
    local counts, wrong = device:empty("uint", chunks(n)), device:empty("uint", chunks(n))
    plain(device).kept(chunks(n), x, n, counts)
    local starts, sum = {}, 0
    for i, count in ipairs(counts:read()) do starts[i], sum = sum, sum + count end
    if #found ~= 4 * sum or sum == 0 then return math.huge end
    local kept = device:buffer(found, "float", sum)
    plain(device).misplaced(chunks(n), x, n, device:buffer(starts, "uint"), kept, wrong)
    return total(wrong:read()) == 0
  end
  function work.run(o) o.found = cl.compact("x > t", { x = o.x, t = HALF }) end
  function work.result(o) return o.found:string() end
  by_cub(work, "compact", { input }, { #input }, function(library, results, number)
    return library.string(results[1], 4 * string.unpack("<i8", number))
  end)
  return work
end

--- How many floats are in each of BINS bins.
function keys.histogram(shape)
  local n = shape.n
  local work, input, x = new("histogram", n, { dtype = "float", bytes = 4 })
  function work.check(found)
    local device = x.device
    local counts = device:zeros("uint", BINS)
    plain(device).tally(chunks(n), x, n, counts)
    return found == counts:string()
  end
  function work.run(o) o.found = cl.histogram(o.x, { bins = BINS, low = 0, high = 1 }) end
  function work.result(o) return o.found:string() end
  by_cub(work, "histogram", { input }, { 4 * BINS }, whole)
  return work
end

--- Where the largest of floats is, the first of equals.
function keys.argmax(shape)
  local n = shape.n
  local work, input, x = new("argmax", n, { dtype = "float", bytes = 4 })
  function work.check(found)
    local device = x.device
    local values, places = device:empty("float", chunks(n)), device:empty("uint", chunks(n))
    plain(device).largest(chunks(n), x, n, values, places)
    local list, best = values:read(), 1
    for i, v in ipairs(list) do
      if v > list[best] then best = i end
    end
    return found == places[best] + 1
  end
  function work.run(o) o.found = cl.argmax(o.x) end
  function work.result(o) return o.found end
  by_cub(work, "argmax", { input }, {}, function(_, _, number) return string.unpack("<i8", number) + 1 end)
  return work
end

return keys
