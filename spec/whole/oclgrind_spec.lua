-- SPDX-License-Identifier: MIT
--- Prebuilt kernels, and the work-group functions, once under Oclgrind with all checks on, in a process of their own.
--- All specs watch races and overruns; `make long` watches every kernel for uninitialised reads, a test a few.

local cl = require "clcompute"
local helper = require "spec.helper"
local launches = require "spec.support.kernel_launches"

local PREAMBLE = launches.PREAMBLE

-- Where a read of what nobody wrote is likeliest: edges of tiles, remainders of chunks. And what no other spec runs so.
local SOME = { compact_lookback = true, gemm_tiled = true, lu_pivot = true, lu_sweep = true, peak_copy = true,
  peak_fma = true, reduce_groups = true, scan_groups = true, scan_lookback = true }

if #cl.devices("oclgrind") == 0 then
  pending("every prebuilt kernel under Oclgrind: it is not installed")
  return
end

--- What Oclgrind has to say about a script. Without optimizations: those remove reads whose result does not matter and
-- put in `freeze`, at which its check for uninitialised reads stops. The cache knows nothing of that option.
local function faults_of(script, is_unwatched)
  local log = os.tmpname()
  local ok, output = helper.run(script, { OCLGRIND_UNINITIALIZED = not is_unwatched and 1 or nil,
    OCLGRIND_DATA_RACES = 1, OCLGRIND_LOG = log, OCLGRIND_BUILD_OPTIONS = "-cl-opt-disable",
    CLCOMPUTE_CACHE = "off", CLCOMPUTE_CHECK = "" })
  local faults = helper.read(log)
  os.remove(log)
  assert.is_true(ok, output)
  return faults:sub(1, 1000)
end

local function faults_of_launch(launch, is_unwatched, is_of_floats)
  local more = is_of_floats and "" or "'double'"
  return faults_of(("local kept = {} for _, T in ipairs { 'float', %s } do "):format(more)
    .. PREAMBLE .. launch .. " d:wait() kept[T] = keep end", is_unwatched)
end

describe("under Oclgrind with races and uninitialised reads watched", function()
  for path in io.popen("ls kernels/*.cl"):lines() do
    local name = path:match("([%w_]+)%.cl$")
    local watched = (helper.long(true) or SOME[name]) and it or function() end
    watched("the kernel " .. name .. " is clean", function()
      local launch = launches.by_kernel[name] or error "no launch of this kernel"
      assert.equal("", faults_of_launch(launch, false, launches.of_floats[name]))
    end)
  end

  for name, launch in pairs(helper.long(launches.unwatched) or {}) do
    it("the kernel " .. name .. " is clean, but for uninitialised reads", function()
      assert.equal("", faults_of_launch(launch, true))
    end)
  end

  it("the work-group functions for kernels of users are clean", function()
    local text = [[
      kernel void f(global const float *x, global float *out) {
        const size_t i = get_global_id(0);
        float y = work_group_scan_inclusive_max(x[i]) + work_group_scan_exclusive_add(x[i]);
        for (uint k = 0; k < 2; k++) {
          y += work_group_broadcast(x[i], k % get_local_size(0));
          y += work_group_reduce_add(y);
          y += work_group_broadcast(y, k % get_local_size(0)) + work_group_broadcast(y, 0);
          y += work_group_scan_inclusive_add(y);
        }
        out[i] = work_group_all(y > 0) + work_group_any(y < 0) + y;
      }]]
    for _, source in ipairs { "#include <clcompute/work_group.h>\n" .. text, helper.with_lanes(4, text),
      helper.with_lanes(32, text) } do
      assert.equal("", faults_of("local T, source = 'float'," .. ("%q"):format(source) .. PREAMBLE .. [[
        local p = d:program(source)
        for _, group in ipairs { 1, 7, 33, 40 } do
          p.f({ global = 2 * group, group = group }, reals(2 * group), buffer(2 * group, function() return 0 end))
        end
        d:wait()]]))
    end
  end)

  --- The launches of a kernel with a fault planted in its text.
  local function faults_of_planted(name, from, to)
    local planted, times = helper.read("kernels/" .. name .. ".cl"):gsub(from, to)
    assert(times > 0, "the text to be changed is gone")
    return faults_of(("local T, planted = 'float', %q "):format(planted) .. PREAMBLE .. [[
      run = function(name, range, defines)
        defines = defines or {}
        defines.REAL = T
        local kernel = d:program(planted, { defines = defines, name = name, include = { "kernels" } })[name]
        return function(...) kernel(range, ...) end
      end ]] .. launches.by_kernel[name] .. " d:wait()")
  end

  for name, plant in pairs {
    saxpy = { "if %(i < n%) ", "", "Invalid read" }, -- no check of bounds
    copy_matrix = { "%[b0 %+", "[b0 + 3 +", "Invalid write" },
    gemm_tiled = { "barrier%(CLK_LOCAL_MEM_FENCE%);", ";", "data race" },
    lu_sweep = { "barrier%(CLK_LOCAL_MEM_FENCE%);", ";", "data race" },
    lu_pivot = { "REAL most = %-1;", "REAL most;", "Uninitialized" },
    gemm_naive = { "beta == 0 %? ", "beta < 0 ? ", "Uninitialized" }, -- reads C where it should not
  } do
    it("a fault planted in " .. name .. " is found", function()
      assert.matches(plant[3], faults_of_planted(name, plant[1], plant[2]))
    end)
  end

  it("a race would be found", function()
    assert.matches("data race", faults_of("local T = 'float'" .. PREAMBLE .. [[
      d:program("kernel void f(global float *x) { x[0] = get_global_id(0); }").f(4, reals(4))
      d:wait()]]))
  end)

  it("an uninitialised read would be found", function()
    assert.matches("Uninitialized", faults_of("local T = 'float'" .. PREAMBLE .. [[
      d:program("kernel void f(global float *x, global float *y) { x[0] = y[0]; }").f(1, reals(4),
        d:empty("float", 4))
      d:wait()]]))
  end)

  it("a kernel that reads past its buffer would be found", function()
    assert.matches("Invalid read", faults_of("local T = 'float'" .. PREAMBLE .. [[
      d:program("kernel void f(global float *x) { x[0] = x[get_global_size(0)]; }").f(4, reals(4))
      d:wait()]]))
  end)
end)
