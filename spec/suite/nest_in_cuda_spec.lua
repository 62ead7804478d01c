-- SPDX-License-Identifier: MIT
--- Nests in CUDA C++ compute what their loops in C do, in any order of the threads; g++ runs the kernels here.

local helper = require "spec.helper"
local baseline = require "clcompute.suite.baseline"
local data = require "clcompute.suite.data"
local nest_in_cuda = require "clcompute.suite.nest_in_cuda"
local process = require("clcompute.base").process
local rows = require "clcompute.suite.polykernels"
local write_file = require("clcompute.base").write_file

local SIZES = { 7, 40 }

-- What stands in for nvcc: the threads of a launch, one after the other, from the first or from the last.
local HEAD = [[
#include <cmath>
#include <cstdlib>
using std::exp; using std::fabs; using std::log; using std::sqrt;
#define __global__
#define __device__
#define __host__
struct dim3 {
  unsigned x, y, z;
  explicit dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
static dim3 threadIdx, blockIdx, blockDim, gridDim;
enum cudaError_t { cudaSuccess, cudaErrorMemoryAllocation = 2 };
static cudaError_t cudaGetLastError() { return cudaSuccess; }
static cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
static cudaError_t cudaFree(void *p) { free(p); return cudaSuccess; }
static cudaError_t cudaMalloc(void **p, size_t n) {
  *p = malloc(n);
  return *p == NULL ? cudaErrorMemoryAllocation : cudaSuccess;
}
static unsigned place(unsigned i, unsigned count) { return REVERSED ? count - 1 - i : i; }
template <typename... P, typename... A>
static void launch(void (*kernel)(P...), int x, int y, int z, dim3 block, A... arguments) {
  if (x <= 0 || y <= 0 || z <= 0) return;
  blockDim = block;
  const dim3 grid((x + block.x - 1) / block.x, (y + block.y - 1) / block.y, (z + block.z - 1) / block.z);
  const unsigned in_x = grid.x * block.x, in_y = grid.y * block.y, count = in_x * in_y * grid.z * block.z;
  for (unsigned i = 0; i < count; i++) {
    const unsigned at = place(i, count), column = at % in_x, row = at / in_x % in_y, layer = at / in_x / in_y;
    threadIdx = dim3(column % block.x, row % block.y, layer % block.z);
    blockIdx = dim3(column / block.x, row / block.y, layer / block.z);
    kernel(static_cast<P>(arguments)...);
  }
}
]]

local COMPILE = "g++ -O1 -ffp-contract=off -std=c++17 -Werror=narrowing -fPIC -shared -w -DREVERSED=%d"
  .. " -x c++ -o %s %s 2>&1"

--- Compiles rows as CUDA for this processor.
-- @treturn table with the method `run` of what `baseline.compile` returns
local function emulated(list, reversed, dtype)
  local source, object = os.tmpname(), os.tmpname()
  write_file(source, nest_in_cuda.source(list, dtype or "double", HEAD))
  local pipe = assert(io.popen(COMPILE:format(reversed and 1 or 0, object, source)))
  local message = pipe:read "a"
  local ok = pipe:close()
  os.remove(source)
  assert(ok, message)
  return setmetatable({ path = object }, baseline.Baseline)
end

--- Rows of all folders.
local function all_rows()
  local list = {}
  for _, names in ipairs { rows.NAMES, rows.NESTS, rows.IRREGULAR } do
    for _, name in ipairs(names) do list[#list + 1] = rows.load(name) end
  end
  return list
end

--- A row of a text that writes `a`, n x n, and `v`, n.
local function row_of(text)
  return { name = "own", parameters = { { "a", "n", "n" }, { "v", "n" }, { "factor", value = 0.5 }, "n" },
    results = { "a", "v" }, c = text }
end

--- Arguments of a row, packed as dtype.
local function packed_for(row, n, dtype)
  local arguments = row.arguments(n, 3, helper.seed)
  for i, value in ipairs(arguments) do
    local own = row.parameters[i].integers and "long" or dtype
    arguments[i] = type(value) == "table" and data.pack(value, own) or value
  end
  return baseline.pack(row, arguments)
end

local function compare(row, in_c, in_cuda, packed, name)
  local expected, found = in_c:run(row, packed), in_cuda:run(row, packed)
  for _, result in ipairs(row.results) do
    assert.is_true(expected[result] == found[result], ("%s: %s differs"):format(name, result))
  end
end

-- Of these no loop is parallel in an order that keeps the sums.
local SERIAL = { gs = true, sor = true, trisolv_if = true, prefix_sum = true, durbin = true, nussinov = true,
  edit_distance = true, lcs = true, seidel = true, histogram = true }

describe("nests in CUDA", function()
  if not process.find "g++" then
    it("are compiled by g++ here", function() pending "there is no g++" end)
    return
  end

  it("are all but those where no loop is parallel", function()
    for _, row in ipairs(all_rows()) do
      assert.equal(not SERIAL[row.name], nest_in_cuda.is_parallel(row), row.name)
    end
  end)

  for _, case in ipairs { { "double", false }, { "double", true }, { "float", false } } do
    local dtype, reversed = table.unpack(case)
    it(("compute what their loops in C do to the bit: %ss, the %s thread first"):format(dtype,
      reversed and "last" or "first"), function()
      local list = {}
      for _, row in ipairs(all_rows()) do
        if nest_in_cuda.is_parallel(row) then list[#list + 1] = row end
      end
      local in_c <close> = assert(baseline.compile(list, { dtype = dtype }))
      local in_cuda <close> = emulated(list, reversed, dtype)
      for _, row in ipairs(list) do
        for _, n in ipairs(SIZES) do
          compare(row, in_c, in_cuda, packed_for(row, n, dtype), ("%s, n = %d"):format(row.name, n))
        end
      end
    end)
  end

  --- Compares texts of their own, where the loops in C and in CUDA are one text.
  local function compare_own(text, sizes)
    local row = row_of(text)
    local in_c <close> = assert(baseline.compile { row })
    for _, reversed in ipairs { false, true } do
      local in_cuda <close> = emulated({ row }, reversed)
      for _, n in ipairs(sizes) do
        local random = data.generator(helper.seed)
        local packed = { sizes = { n }, numbers = { 0.5 }, names = { "a", "v" },
          arrays = { data.pack(data.array({ n, n }, random)), data.pack(data.array({ n }, random)) } }
        compare(row, in_c, in_cuda, packed, ("n = %d"):format(n))
      end
    end
  end

  it("take bounds that depend on another thread", function()
    for _, header in ipairs { "j = i; j < n", "j = 0; j <= i", "j = i + 1; j < n", "j = n - 1 - i; j < n" } do
      compare_own(([[
        #pragma omp parallel for // threads: i, j
        for (long i = 0; i < n; i++)
          for (long %s; j++) a[i][j] = factor * a[i][j] + v[j];]]):format(header), { 1, 2, 31, 33 })
    end
  end)

  it("have loops, choices and scalars on the host, and neighbours in a kernel of one thread", function()
    compare_own([[
      #define HALF(x) ((x) / 2)
      const real twice = 2 * factor, other = 1e-3;
      real sum = 0;
      for (long k = 0; k < HALF(n); k++) {
        v[k] = v[k] + other;
        for (long i = 0; i < n; i++) v[0] += a[i][k];
        if (k % 2 == 0) {
#pragma omp parallel for
          for (long i = k; i < n; i++) v[i] = v[i] - twice * a[i][k];
        } else if (k > 2) {
          // threads: i, j
          for (long i = 0; i < n; i++) {
            for (long j = 0; j < n; j++)
              a[i][j] = a[i][j] + k;
          }
        } else
          v[k] = 0;
      }]], { 1, 5, 34 })
  end)

  it("have macros of their own, which no other one in the file sees", function()
    local list = { row_of "#define TIMES 2\n// threads: i\nfor (long i = 0; i < n; i++) v[i] = TIMES * v[i];",
      row_of "const real TIMES = 3;\n// threads: i\nfor (long i = 0; i < n; i++) v[i] = TIMES * v[i];" }
    list[2].name = "other"
    local in_cuda <close> = emulated(list)
    for i, row in ipairs(list) do
      local after = in_cuda:run(row, { sizes = { 3 }, numbers = { 0.5 }, names = { "a", "v" },
        arrays = { data.pack { { 0, 0, 0 }, { 0, 0, 0 }, { 0, 0, 0 } }, data.pack { 1, 2, 4 } } })
      assert.is_true(after.v == data.pack { i + 1, 2 * (i + 1), 4 * (i + 1) })
    end
  end)

  it("have arrays of their own", function()
    local row = row_of "v[0] = 0;"
    row.cuda = [[
      real w[n][n];
      // threads: i, j
      for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++) w[i][j] = a[j][i];
      // threads: i, j
      for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++) a[i][j] = w[i][j];]]
    local in_cuda <close> = emulated({ row }, true)
    for _, n in ipairs { 3, 35, 2 } do
      local array = data.array({ n, n }, data.generator(helper.seed))
      local after = in_cuda:run(row, { sizes = { n }, numbers = { 0.5 }, names = { "a", "v" },
        arrays = { data.pack(array), data.pack(array[1]) } })
      local transposed = {}
      for i = 1, n do
        transposed[i] = {}
        for j = 1, n do transposed[i][j] = array[j][i] end
      end
      assert.is_true(after.a == data.pack(transposed))
    end
  end)
end)

describe("the source of nests in CUDA", function()
  local function source(text, dtype) return nest_in_cuda.source({ row_of(text) }, dtype or "double") end

  it("has constants of its type, integers and names as they are", function()
    local text = source([[
      // threads: i
      for (long i = 0; i < 300; i++) v[i] = 0.5 * v[i] + 1e30 - 1.5e-3 + x1 + 2;]], "float")
    assert.matches("v[i] = 0.5f * v[i] + 1e30f - 1.5e-3f + x1 + 2;", text, 1, true)
    assert.matches("i < 300", text, 1, true)
  end)

  it("has arrays that are only read as const", function()
    local text = source [[
      // threads: i
      for (long i = 0; i < n; i++)
        if (a[i][v[i] == 0] <= 1) v[i] += a[i][0];]]
    assert.matches("const real *__restrict__ a_, real *__restrict__ v,", text, 1, true)
  end)

  it("is refused where it would not be a user's", function()
    for text, message in pairs {
      ["// threads: i, j\nfor (long i = 0; i < n; i++) { v[i] = 0; for (long j = 0; j < n; j++) v[j] = 0; }"] = "of j",
      ["// threads: j\nfor (long i = 0; i < n; i++) v[i] = 0;"] = "of j",
      ["#pragma omp parallel for\nfor (long i = 0; i < n; i += 2) v[i] = 0;"] = "counts up by one",
      ["// threads: i\nv[0] = 1;"] = "counts up by one",
      ["// threads: i\nfor (long i = 0; i < v[0]; i++) a[i][0] = 0;"] = "bounds the threads of i",
      ["// threads: i, j\nfor (long i = 0; i < n; i++)\nfor (long j = i % 2; j < n; j++) a[i][j] = 0;"] = "no sums",
      ["// threads: i, j, k\nfor (long i = 0; i < n; i++)\nfor (long j = 0; j < n; j++)\n"
        .. "for (long k = i + j; k < n; k++) a[i][j] = 0;"] = "two threads",
      ["// threads: i, j, k, l\nfor (long i = 0; i < n; i++) v[i] = 0;"] = "3 dimensions",
      ["const real s = v[0];\n// threads: i\nfor (long i = 0; i < n; i++) v[i] = s;"] = "host reads an array",
      ["if (v[0] > 0)\n// threads: i\nfor (long i = 0; i < n; i++) v[i] = 0;"] = "decides what is launched",
    } do
      helper.raises(message, source, text)
    end
  end)
end)
