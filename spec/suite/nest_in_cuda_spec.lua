-- SPDX-License-Identifier: MIT
--- Nests in CUDA C++ compute what their loops in C do, in any order of the threads; g++ runs the kernels here.

local helper = require "spec.helper"
local baseline = require "clcompute.suite.baseline"
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
local function emulated(list, reversed)
  local source, object = os.tmpname(), os.tmpname()
  write_file(source, nest_in_cuda.source(list, "double", HEAD))
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

  it("compute what their loops in C do to the bit, whichever thread is first", function()
    local list = {}
    for _, row in ipairs(all_rows()) do
      if nest_in_cuda.is_parallel(row) then list[#list + 1] = row end
    end
    local in_c <close> = assert(baseline.compile(list))
    for _, reversed in ipairs { false, true } do
      local in_cuda <close> = emulated(list, reversed)
      for _, row in ipairs(list) do
        for _, n in ipairs(SIZES) do
          local packed = baseline.pack(row, row.arguments(n, 3, helper.seed))
          compare(row, in_c, in_cuda, packed, ("%s, n = %d"):format(row.name, n))
        end
      end
    end
  end)
end)
