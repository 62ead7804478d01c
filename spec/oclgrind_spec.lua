-- SPDX-License-Identifier: MIT
--- Every prebuilt kernel, and the work-group functions, once under Oclgrind with all its checks on, in a process of its
--- own.

local cl = require "clcompute"
local helper = require "spec.helper"

if #cl.devices("oclgrind") == 0 then
  pending("every prebuilt kernel under Oclgrind: it is not installed")
  return
end

--- Fresh operands for each launch, written as a whole and never released: after fills, partial
-- writes and reused memory Oclgrind 21.10 takes what was written for uninitialised.
local PREAMBLE = [[
  local cl = require "clcompute"
  local d = cl.device "oclgrind"
  local keep = {}
  local function buffer(n, value, dtype)
    local t = {}
    for i = 1, n do t[i] = value(i) end
    keep[#keep + 1] = d:buffer(t, dtype or T)
    return keep[#keep]
  end
  local function reals(n) return buffer(n, function(i) return i % 7 - 3.5 end) end
  local function random(n) return buffer(n, function() return math.random() - 0.5 end) end
  local function ints(n) return buffer(n, function(i) return i - 1 end, "int") end
  local function words(n) return buffer(n, function(i) return i * 2654435761 & 0xffffffff end, "uint") end
  local function run(name, range, defines)
    return function(...) d:kernel(name, {dtype = T, defines = defines})(range, ...) end
  end
]]

--- By kernel file: launches with odd shapes, padded as the library pads them.
local LAUNCHES = {
  saxpy = [[run("saxpy", 512)(300, 2, reals(301), 1, reals(300), 0, reals(302), 2)]],
  gemm_naive = [[for ta = 0, 1 do for tb = 0, 1 do
    run("gemm_naive", {global = {32, 20}, group = {16, 4}}, {TRANSA = ta, TRANSB = tb})(
      17, 19, 5, 2, reals(103), 3, ta == 1 and 20 or 5, reals(100), 0, tb == 1 and 5 or 20, 1,
      reals(400), 1, 20) end end]],
  gemm_tiled = [[for ta = 0, 1 do for tb = 0, 1 do
    run("gemm_tiled", {32, 32}, {TRANSA = ta, TRANSB = tb})(
      17, 19, 18, 2, reals(400), 3, 20, reals(400), 0, 20, 1, reals(400), 1, 20) end end]],
  gemm_panels = [[for _, steps in ipairs {2, 3, 6} do for ta = 0, 1 do for tb = 0, steps == 2 and 0 or 1 do
    local a, b, packed, c = reals(2 * 500), reals(2 * 500), reals(2 * 24 * 9), reals(2 * 400)
    local function launch(step, gy)
      local nc = step == 3 and 16 or 8
      run("gemm_panels", {global = {step == 3 and 2 or 3, gy, 2}, group = {1, 1, 1}}, {V = 4, ROWS = 6, BLOCK = 84})(
        step, 11, 19, 9, step == 3 and 12 or 6, nc, 5, 2, a, 3, 20, 300, ta, b, 1, 20, 300, tb, packed,
        1, c, 1, 20, 300)
    end
    if steps == 6 then launch(1, 2) end
    launch(steps, steps == 3 and 1 or 2) end end end]],
  gemm_blocks = [[for ta = 0, 1 do for tb = 0, 1 do for aligned = 0, 1 do
    run("gemm_blocks", {global = {8, 8, 2}, group = {4, 4, 1}},
      {TRANSA = ta, TRANSB = tb, ALIGNED = aligned, BM = 16, BN = 16, BK = 4, TM = 4, TN = 4, BAND = 1})(
      17, 19, 12, 2, reals(1000), 4, 20, 400, reals(1000), 0, 20, 400, 1, reals(1000), 1, 20, 400) end end end]],
  gemm_pipelined = [[for stages = 2, 3 do for wide = 0, 1 do
    run("gemm_pipelined", {global = {2 * 3 * 32, 1, 2}, group = {32, 1, 1}},
      {BM = 32, BN = 16, BK = 8, TM = 4, TN = 4, STAGES = stages, WIDE = wide})(
      33, 41, 3, 2, reals(4000), 4, 64, 1600, reals(4000), 0, 48, 1600, 1, reals(4000), 4, 44, 1600) end end]],
  gemm_pack = [[for transpose = 0, 1 do
    run("gemm_pack", {global = {2 * 8, 2 * 2, 2}, group = {8, 2, 1}}, {TRANSPOSE = transpose, SIDE = 8, ROWS = 2})(
      11, 9, 16, 12, reals(500), 1, 13, 200, reals(2 * 16 * 12)) end]],
  gauss_fwd_pre = [[run("gauss_fwd_pre", 9)(9, 2, reals(90), reals(9))
    run("gauss_fwd_pre", 6, {SHRINK = 1})(9, 2, reals(90), reals(9))]],
  gauss_fwd = [[run("gauss_fwd", {10, 9})(9, 2, reals(90), reals(9))
    run("gauss_fwd", {7, 6}, {SHRINK = 1})(9, 2, reals(90), reals(9))
    run("gauss_fwd", {10, 9}, {RECORD = 1})(9, 2, reals(90), reals(9), d:empty("uint", 2))]],
  gauss_bwd_prepare = [[run("gauss_bwd_prepare", 1)(9, 2, reals(90), reals(9))]],
  gauss_bwd = [[run("gauss_bwd", 9)(9, 5, reals(90), reals(9))
    run("gauss_bwd", 5, {SHRINK = 1})(9, 5, reals(90), reals(9))]],
  life = [[local function cells() return buffer(125, function(i) return i % 3 end, "uchar") end
    run("life", {global = {5, 5, 5}, group = {4, 4, 1}, remainder = "pad"})(5, cells(), cells())]],
  lu_pivot = [[run("lu_pivot", 64)(70, 3, reals(5040), 72, ints(70), reals(70))]],
  lu_swap = [[local diagonal = reals(9)
    local pivots = buffer(9, function() return 6 end, "int")
    run("lu_swap", 64)(9, 2, 1, 8, reals(90), 10, pivots, diagonal)]],
  lu_update = [[run("lu_update", {16, 16})(9, 2, 8, reals(90), 10)]],
  lu_batch = [[for group = 1, 8, 7 do
    run("lu_batch", 2 * group, {GROUP = group})(7, random(99), 1, reals(98), ints(14), reals(16)) end]],
  lu_batch_solve = [[for group = 1, 8, 7 do for columns = 1, 3, 2 do
    run("lu_batch_solve", 2 * group, {GROUP = group})(7, columns, random(98),
      buffer(14, function(i) return (i - 1) % 7 end, "int"), reals(14 * columns + 1), 1, reals(14 * columns)) end end]],
  lu_load = [[for v = 1, 4, 3 do
    run("lu_load", {16, 4}, {V = v, VECTORS = 2, SPAN = 1, CHUNK = 16})(
      17, 20, reals(291), 2, reals(400), 20, reals(60)) end]],
  lu_panel = [[for columns = 6, 8, 2 do
    run("lu_panel", 1, {V = 4})(19, 8, columns, random(576), 24, reals(192), 24, ints(19), reals(19)) end]],
  lu_rows = [[for lower = 0, 1 do
    run("lu_rows", 4, {V = 4, LOWER = lower})(8, 7, 7, random(576), 24,
      buffer(24, function(i) return (i + 7) % 16 end, "int"), random(768), 32, 0, 1, 16, 27) end
    run("lu_rows", 8, {V = 1})(8, 7, 7, random(576), 24, ints(24), random(768), 32, 0, 4, 16, 22)]],
  lu_vector = [[for transposed = 0, 1 do
    run("lu_vector", 2, {V = 4})(9, random(144), 12, ints(9), transposed, 2, reals(19), 1, reals(24), 12, reals(18))
    end]],
  lu_substitute = [[for lower = 0, 1 do for unit = 0, 1 do for transpose = 0, 1 do
    run("lu_substitute", 128, {LOWER = lower, UNIT = unit, TRANSPOSE = transpose})(
      9, 2, reals(90), 10, reals(18)) end end end]],
  gather_rows = [[run("gather_rows", {16, 16})(9, 5, ints(9), reals(50), 5, reals(54), 6)]],
  copy_matrix = [[run("copy_matrix", {16, 16})(9, 5, reals(70), 3, 7, reals(60), 2, 6)]],
  reverse_axes = [[run("reverse_axes", 64)(0, 60, {3, 4, 5, 1}, reals(60), reals(60))]],
  column_sums = [[run("column_sums", 16)(9, 5, reals(50), 5, reals(5))]],
  peak_fma = [[run("peak_fma", 3, {WIDTH = 2, CHAINS = 3, UNROLL = 2})(2, 1, 1, reals(6), reals(18))
    run("peak_fma", 3, {CHAINS = 3, UNROLL = 2})(2, 1, 1, reals(3), reals(9))
    d:kernel("peak_fma", {dtype = "int", defines = {INTEGER = 1, CHAINS = 3, UNROLL = 2}})(3, 2, 1, 1, ints(3),
      d:empty("int", 9))]],
  peak_copy = [[run("peak_copy", 64, {NEGATE = 1})(reals(1024), reals(1024))]],
  trace_range = [[for groups = 0, 1 do
    local function zeros(n, dtype) return buffer(n, function() return 0 end, dtype) end
    run("trace_range", {global = {4, 3, 2}, group = {2, 3, 1}, offset = {1, 0, 2}}, {GROUPS = groups})(
      1, 24, 4, 3, 4, zeros(24 * 26, "ulong"), zeros(48, "uint")) end]],
  probe_reads = [[for space = 0, 2 do
    run("probe_reads", 128, {SPACE = space, ENTRIES = 64})(3, 5, 3, reals(72), d:empty(T, 128)) end]],
  probe_stride = [[run("probe_stride", 128)(3, 1, words(3073), d:empty("uint", 128))]],
  probe_stream = [[for operation = 0, 2 do for neighbours = 0, 1 do
    run("probe_stream", 128, {OPERATION = operation, NEIGHBOURS = neighbours})(
      1, 511, words(2048), d:empty("uint", 2048)) end end]],
  probe_links = [[local chain, at = d:empty("uint", 2048), buffer(1, function() return 0 end, "uint")
    run("probe_table", 64)(63, 32, chain)
    run("probe_links", 1)(100, chain, at)]],
  probe_branches = [[run("probe_branches", 70)(2, 1, 64, d:empty("uint", 70))]],
  probe_nothing = [[run("probe_nothing", 8)(7, d:empty("uint", 1))]],
  probe_barrier = [[for with = 0, 1 do
    run("probe_barrier", {global = {16}, group = {8}}, {BARRIER = with})(3, d:empty("uint", 16)) end]],
  probe_atomic_global = [[run("probe_atomic_global", 16)(2, 3, 2,
    buffer(6, function() return 0 end, "uint"))]],
  probe_atomic_local = [[run("probe_atomic_local", {global = {16}, group = {8}})(2, 3, d:empty("uint", 6),
    cl.scratch("uint", 8))]],
  probe_table = [[run("probe_table", 64)(63, 1, d:empty("uint", 64))]],
  probe_chase = [[run("probe_chase", {global = {16}, group = {8}})(2, 1, 8, 7, 15,
    buffer(16, function(i) return (5 * i) & 15 end, "uint"), d:empty("uint", 16), cl.scratch("uint", 8))]],
  probe_intensity = [[run("probe_intensity", 10, {WIDTH = 2, CHAINS = 2})(2, 1, 1, reals(40), reals(40))]],
  probe_uneven = [[run("probe_uneven", 70)(2, 3, 5, d:empty("uint", 70))]],
  saxpy_chunks = [[run("saxpy_chunks", 2)(300, 200, 2, reals(301), 1, reals(300), 0, reals(302), 2)]],
  saxpy_vectors = [[run("saxpy_vectors", 80)(302, 2, reals(306), 4, reals(302), 0, reals(310), 8)]],
  map_chunks = [[run("map_chunks", 2)(300, 200, reals(302), 2, reals(301), 1)]],
  map_vectors = [[run("map_vectors", 320)(300, reals(302), 2, reals(301), 1)
    run("map_vectors", 80, {LANES = 4, EXPRESSION = "arg_x",
      PARAMETERS = ", __global const REAL *x, const ulong x_first", LOADS = "const REAL arg_x = x[x_first + i];",
      VECTORS = "REAL lanes_x[4]; vstore4(vload4(0, x + x_first + first), 0, lanes_x);",
      LANE_LOADS = "const REAL arg_x = lanes_x[lane];"})(302, reals(310), 8, reals(306), 4)]],
  reduce_chunks = [[for ordered = 0, 1 do
    run("reduce_chunks", 2, {LANES = 16, BLOCK = 3, ORDERED = ordered})(
      301, 200, reals(3), 1, 1, 2, reals(302), 1) end]],
  reduce_groups = [[for ordered = 0, 1 do for _, n in ipairs {1, 9, 301} do
    local chunk = n > 200 and 200 or n
    run("reduce_groups", {global = {n > 200 and 32 or 16}, group = {16}}, {GROUP = 16, UNROLL = 4, ORDERED = ordered})(
      n, chunk, reals(3), 1, 1, 2, reals(302), 1) end end]],
  scan_chunks = [[for exclusive = 0, 1 do
    run("scan_chunks", 2, {EXCLUSIVE = exclusive})(301, 200, reals(303), 2, reals(3), 1, 1, 2, reals(302), 1)
    run("scan_chunks", 2, {EXCLUSIVE = exclusive, OPERATION = "a + b"})(301, 200, reals(303), 2, reals(3), 1, 1, 2,
      reals(302), 1) end]],
  scan_groups = [[for exclusive = 0, 1 do
    run("scan_groups", {global = {48}, group = {16}}, {GROUP = 16, SHARE = 3, EXCLUSIVE = exclusive})(301, 120,
      reals(303), 2, reals(4), 1, 1, 2, reals(302), 1) end]],
  residual = [[run("residual", {16, 16})(9, 3, reals(82), 1, reals(28), 1, reals(29), 2, reals(27))]],
  residual_vectors = [[for across = 0, 1 do for wide = 0, T == "float" and 1 or 0 do
    run("residual_vectors", {3, 3}, {V = 4, ACROSS = across, WIDE = wide})(
      9, across == 1 and 11 or 3, reals(82), 1, reals(100), 1, reals(101), 2, reals(99)) end end]],
}

--- The check for uninitialised reads stops at LLVM's `freeze`, which a quotient and a remainder of the same numbers
-- become, and crashes at a shuffle with a part that is undefined, which a longer vector made of shorter ones becomes.
local UNCHECKED = { reverse_axes = true, scan_chunks = true, gemm_panels = true, gemm_blocks = true,
  lu_panel = true, lu_vector = true, lu_batch = true, lu_batch_solve = true }

--- What Oclgrind has to say about a script.
local function faults_of(script, is_unchecked)
  local log = os.tmpname()
  local ok, output = helper.run(script,
    { OCLGRIND_UNINITIALIZED = not is_unchecked and 1 or nil, OCLGRIND_DATA_RACES = 1, OCLGRIND_LOG = log })
  local file = assert(io.open(log))
  local faults = file:read("a")
  file:close()
  os.remove(log)
  assert.is_true(ok, output)
  return faults:sub(1, 1000)
end

describe("under Oclgrind with races and uninitialised reads watched", function()
  for path in io.popen("ls kernels/*.cl"):lines() do
    local name = path:match("([%w_]+)%.cl$")
    it("the kernel " .. name .. " is clean", function()
      local launch = assert(LAUNCHES[name], "no launch of this kernel")
      for _, dtype in ipairs { "float", "double" } do
        local script = ("local T = '%s'"):format(dtype) .. PREAMBLE .. launch .. " d:wait()"
        assert.equal("", faults_of(script, UNCHECKED[name]))
      end
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
