-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"
local blas = require "clcompute.blas"
local cl = require "clcompute"
local cuda = require "clcompute.suite.cuda"
local gpu_limits = require "clcompute.suite.gpu_limits"
local limits = require "clcompute.suite.limits"
local outsider = require "clcompute.suite.outsider"
local names = require "clcompute.suite.polykernels".NAMES
local report = require "clcompute.report"
local suite = require "clcompute.suite"

local d = helper.device()
local NEEDS_CUDA = "beside a GPU the report asks for CUDA's libraries"

local SMALL = {
  gemm = { { m = 5, n = 7, k = 3 }, { m = 4, n = 3, k = 5, batch = 3 }, { n = 9, precision = "tf32" } },
  lu = { { n = 9 }, { n = 9, batch = 20 } }, gauss = { { n = 9 } }, argmax = { { n = 5000 } }, sort = { { n = 5000 } },
  pairs = { { n = 5000 } }, unique = { { n = 5000 } }, compact = { { n = 5000 }, { n = 3 } },
  histogram = { { n = 5000 } }, saxpy = { { n = 100 } }, sum = { { n = 1000 } }, dot = { { n = 1000 } },
  scan = { { n = 1000 } },
  arrays = { { row = "operators", n = 101 }, { row = "sum, axis 1", n = 13 }, { row = "sum, axis 2", n = 13 },
    { row = "transpose", n = 13 }, { row = "sort", n = 101 }, { row = "unique", n = 101 },
    { row = "histogram", n = 500 }, { row = "random", n = 1000 } },
}

--- The rows and the document of a report on a group of its own.
local function measured(group)
  local document = suite.report("peers", { devices = { d }, quick = true, list = { group } })
  return document.sections[1].rows, document
end

--- Whether a check accepts what was found.
local function is_right(verdict) return verdict == true or math.type(verdict) ~= nil and verdict <= 1 end

describe("what is measured against others", function()
  local library = blas.openblas()

  -- What builds much is tried in floats; by `make long` all is in both types.
  local IN_FLOATS = { gemm = true, lu = true, arrays = true }

  local function dtypes_for(name)
    return IN_FLOATS[name] and not helper.long(true) and { "float" } or { "float", "double" }
  end

  for name, lines in pairs(SMALL) do
    it("is right, ours and theirs: " .. name, function()
      for _, line in ipairs(lines) do
        for _, dtype in ipairs(dtypes_for(name)) do
          local work = suite.workload(name, line, dtype)
          for _, method in ipairs(name == "lu" and work.methods or { false }) do
            local made = suite.candidate(work, d, method or nil)
            made.fn()
            assert.is_true(is_right(made.check()), name)
          end
          if library and work.others.OpenBLAS then
            local form = work.others.OpenBLAS(d, library)
            assert.is_true(form.run() >= 0)
            if form.result then assert.is_true(is_right(work.check(form.result()))) end
          end
        end
      end
    end)
  end

  it("counts the bytes of operands and of the result, each once", function()
    for row, arrays in pairs { transpose = 2, operators = 3 } do
      local work = suite.workload("arrays", { row = row, n = 13 }, "float")
      local operands = work.prepare(d)
      work.run(operands)
      assert.equal(arrays * #work.result(operands), work.bytes, row)
    end
  end)

  it("is right by NumPy and std::sort, where they are", function()
    for _, line in ipairs(SMALL.arrays) do
      local work = suite.workload("arrays", line, "float")
      for name, open in pairs(helper.long(work.others) or { NumPy = work.others.NumPy }) do
        local form, reason = open()
        if not form then return pending(reason) end
        assert.is_true(form.run() >= 0)
        assert.is_true(work.check(form.result()) <= 1, name .. " " .. line.row)
      end
    end
  end)

  it("is right by NVIDIA's libraries, where they are", function()
    local found, gpu = pcall(cl.device, "nvidia")
    if not found then return pending "there is no GPU of NVIDIA's" end
    local nvidia, reason = cuda.open(gpu)
    if not nvidia then return pending(reason) end
    for name, lines in pairs(SMALL) do
      for _, line in ipairs(lines) do
        local work = suite.workload(name, line, "float")
        for _, peer in ipairs { "cuBLAS", "cuSOLVER", "CUB" } do
          local form = work.others[peer] and work.others[peer](gpu, nvidia)
          if form then
            assert.is_true(form.run() >= 0)
            assert.is_true(is_right(work.check(form.result())), name .. ", " .. peer)
          end
        end
      end
    end
  end)

  helper.on_cpu("has rows with the reason where CUDA is missing", function()
    if cuda.open(d) then return pending "CUDA is here" end
    local rows = measured { title = "no GPU", workload = "gemm", dtype = "float", against = "cuBLAS",
      lines = { { n = 8 } } }
    assert.same({ "ok", "cuBLAS", true }, { rows[1].status, rows[1].against, rows[1].checked })
    assert.matches("^no CUDA: ", rows[1].reason)
    assert.is_nil(rows[1].times)
  end, NEEDS_CUDA)

  it("is no report on a GPU of NVIDIA's where CUDA is missing, and names the groups for one", function()
    local nowhere = { type = "gpu", platform = "NVIDIA CUDA", name = "none", place = "0:4711" }
    helper.raises({ "peers: no CUDA: " }, suite.report, "peers", { devices = { nowhere } })
    helper.raises({ "'mmm'", "dgemm", "sort of pairs" }, suite.report, "peers",
      { devices = { nowhere }, groups = { "mmm" } })
  end)

  it("may be a program that answers lines", function()
    local path = os.tmpname()
    helper.write(path, [[
      print "ready"
      for line in io.lines() do
        if line == "save" then io.open(arg[2], "wb"):write(io.open(arg[1], "rb"):read "a"):close() end
        print(0.25)
        io.stdout:flush()
      end]])
    local program = assert(outsider.start("echo", helper.lua .. " " .. path, { "bytes\0\n" }))
    assert.same({ 0.25, "bytes\0\n" }, { program:run(), (program:result()) })
    program:close()
    helper.write(path, 'print "ready" io.stdout:close() os.exit()')
    program = outsider.start("mute", helper.lua .. " " .. path, {})
    helper.raises("mute ended", program.run, program)
    program:close()
    os.remove(path)
    assert.same({ nil, "none: sh: 1: exec: /nowhere: not found" }, { outsider.start("none", "/nowhere", {}) })
  end)

  it("has a check that sees a wrong result", function()
    local function computed(name, shape)
      local work = suite.workload(name, shape, "float")
      local operands = work.prepare(d)
      work.run(operands)
      return work, work.result(operands)
    end
    local product, elements = computed("gemm", { m = 5, n = 7, k = 3 })
    assert.is_true(product.check(("\0"):rep(#elements)) > 1)
    for _, line in ipairs(SMALL.arrays) do
      local work = suite.workload("arrays", line, "float")
      local operands = work.prepare(d)
      work.run(operands)
      local whole = work.result(operands)
      assert.is_true(work.check(whole:sub(1, -5)) > 1, line.row)
      assert.is_true(work.check(("\xff"):rep(#whole)) > 1, line.row)
    end
    local sum, number = computed("sum", { n = 1000 })
    assert.is_true(sum.check(number * 1.001) > 1)
    local systems, x = computed("lu", { n = 9, batch = 20 })
    assert.is_true(systems.check(x:sub(1, -37) .. ("\0"):rep(36)) > 1)
    local argmax, found = computed("argmax", { n = 5000 })
    assert.is_false(argmax.check(found % 5000 + 1))
    local place, both = computed("pairs", { n = 5000 })
    assert.is_false(place.check { both[1], both[1] })
    for _, name in ipairs { "sort", "unique", "compact", "histogram" } do
      local work, bytes = computed(name, { n = 5000 })
      local spoiled = bytes:sub(1, 4) .. "\xff\xff\xff\x7f" .. bytes:sub(9)
      assert.is_false(is_right(work.check(spoiled)), name)
      assert.is_false(is_right(work.check(bytes:sub(1, -5))), name)
    end
  end)

  it("is compared as a whole up to 2^25 elements; beyond it each part of 2^22 at its start", function()
    local function parts(n)
      local list = {}
      for first, count, kept in suite.data.parts(n) do list[#list + 1] = { first, count, kept } end
      return list
    end
    assert.same({ { 0, 100, 100 } }, parts(100))
    assert.same({ 7 << 22, 1 << 22, 1 << 22 }, parts(1 << 25)[8])
    local list = parts((1 << 25) + 5)
    assert.same({ { 0, 1 << 22, 4096 }, { 1 << 25, 5, 5 } }, { list[1], list[9] })
  end)

  it("has limits with lines, for workloads that there are, and goals not below what must be", function()
    for _, list in ipairs { limits, gpu_limits } do
      for _, group in ipairs(list) do
        assert.is_not_nil(SMALL[group.workload] or group.workload == "loops", group.title)
        assert.is_true(#group.lines > 0)
        if group.must then assert.is_true(group.goal >= group.must) end
        for _, line in ipairs(group.lines) do
          if line.must then assert.is_true(line.goal >= line.must, line.label) end
        end
      end
    end
  end)

  helper.on_cpu("names the groups where one is asked for that there is not", function()
    helper.raises({ "peers", "'dot, n'", "sgemm, n = 128" }, suite.report, "peers",
      { devices = { d }, groups = { "sgemm", "dot, n" } })
  end, NEEDS_CUDA)

  helper.on_cpu("is a report with ratios", function()
    if not library then return pending "OpenBLAS is not installed" end
    local rows, document = measured { title = "tiny", workload = "gemm", dtype = "float", against = "OpenBLAS",
      lines = { { m = 8, n = 8, k = 8 } }, must = 0.1, goal = 0.2, floor = { 0, 0 } }
    assert.equal(2, #rows)
    assert.is_true(rows[1].times > 0)
    assert.is_true(rows[1].checked)
    assert.near(2 * 8 ^ 3, 1e9 * rows[1].gflops * rows[1].value, 1e-6)
    assert.near(2 * 8 ^ 3, 1e9 * rows[1].peer_gflops * rows[1].peer_value, 1e-6)
    assert.near(rows[1].times, rows[2].times, 1e-9 * rows[1].times)
    assert.matches("tiny", report.text(document), 1, true)
  end, NEEDS_CUDA)
end)

describe("loop nests beside others", function()
  --- Whether a form computes what is right.
  local function is_form_right(work, form)
    if form.reset then form.reset() end
    local seconds = form.run()
    assert.is_true(not form.timed or seconds >= 0)
    return is_right((form.check or work.check)(form.result()))
  end

  --- The rows and the document of nests in floats.
  local function measured_nests(...)
    return measured { title = "tiny nests", workload = "loops", dtype = "float", against = "gcc", lines = { ... } }
  end

  it("have a line for every one of the PolyKernels in both types, and limits for floats", function()
    for _, group in ipairs(limits) do
      local dtype, found = group.title:match "^loops in (%l+)s$", {}
      for _, line in ipairs(dtype and group.lines or {}) do
        found[line.row] = true
        assert.is_true(dtype == "float" or not line.must)
        assert.is_true(line.quick.n < line.n and not line.quick.must)
      end
      for _, name in ipairs(dtype and names or {}) do assert.is_true(found[name], name) end
    end
  end)

  for _, dtype in ipairs { "float", "double" } do
    it("are right, ours and C's, and a wrong element is noticed: " .. dtype, function()
      local step = dtype == "double" and not helper.long(true) and 5 or 1
      for i = 1, #names, step do
        local name = names[i]
        local work = suite.workload("loops", { row = name, n = 17, steps = 3 }, dtype)
        local operands = work.prepare(d)
        work.reset(operands)
        work.run(operands)
        assert.is_true(is_right(work.check(work.result(operands))), name)
        assert.is_true(is_form_right(work, work.others.gcc()), name)
        for array, bytes in pairs(work.result(operands)) do
          local size = #string.pack(dtype:sub(1, 1), 0)
          for _, wrong in ipairs { 0.1, 0 / 0 } do
            local found = work.result(operands)
            local last = string.unpack(dtype:sub(1, 1), bytes, #bytes - size + 1)
            found[array] = bytes:sub(1, #bytes - size) .. string.pack(dtype:sub(1, 1), last + wrong)
            assert.is_false(is_right(work.check(found)), ("%s of %s"):format(array, name))
          end
        end
      end
    end)
  end

  it("are right in other forms: tiles, another order with threads, Lua", function()
    for name, peers in pairs { mmm = { "tiles", "gcc, ikj, OpenMP", "Lua" }, jac2d = { "tiles", "Lua" } } do
      for _, n in ipairs { 1, 2, 15, 16, 17, 18, 19, 33 } do
        local work = suite.workload("loops", { row = name, n = n, steps = 3 }, "float")
        for _, peer in ipairs(n < 3 and name == "jac2d" and { "Lua" } or peers) do
          assert.is_true(is_form_right(work, work.others[peer](d)), ("%s, %s, n = %d"):format(name, peer, n))
        end
      end
    end
  end)

  helper.on_cpu("stand beside a further peer, where it has a loop that is parallel", function()
    local rows = measured { title = "tiny nests", workload = "loops", dtype = "double", against = "gcc",
      also = "gcc, OpenMP", lines = { { row = "conv2d", n = 9, label = "one" }, { row = "lcs", n = 9, label = "two" } },
      must = 1e-9, goal = 1e9, floor = { 1e-9, 1e9 } }
    assert.equal(3, #rows)
    assert.equal("gcc", rows[1].against)
    assert.near(rows[1].also_times, rows[1].also_value / rows[1].value, 1e-9 * rows[1].also_times)
    assert.is_nil(rows[2].also_times)
    local least = math.min(rows[1].times, rows[1].also_times, rows[2].times)
    assert.matches(("least %.2f"):format(least), rows[3].line, 1, true)
    assert.equal("must", rows[3].reached)
  end, NEEDS_CUDA)

  it("have a line for every further function in both types", function()
    local found = {}
    for _, group in ipairs(limits) do
      for _, line in ipairs(group.title:find "^further" and group.lines or {}) do
        found[line.row] = (found[line.row] or 0) + 1
      end
    end
    for _, name in ipairs(require("clcompute.suite.polykernels").NESTS) do assert.equal(2, found[name], name) end
  end)

  helper.on_cpu("are rows, of which one that fails does not end the table", function()
    local good = { row = "mmm", n = 9, label = "good", must = 1e-9, goal = 1e9 }
    local rows, document = measured_nests({ row = "nothing", n = 9, label = "bad" }, good)
    assert.equal(2, #rows)
    assert.same({ "failed", "bad" }, { rows[1].status, rows[1].line })
    assert.matches("nothing.lua", rows[1].reason, 1, true)
    assert.same({ "ok", "good", "gcc", "must", true }, { rows[2].status, rows[2].line, rows[2].against,
      rows[2].reached, rows[2].checked })
    assert.near(rows[2].times, rows[2].peer_value / rows[2].value, 1e-9 * rows[2].times)
    assert.is_number(rows[2].launches)
    assert.matches("Loop nests", report.text(document), 1, true)
  end, NEEDS_CUDA)

  helper.on_cpu("fail with the reason where the result is wrong", function()
    local loops = require "clcompute.loops"
    local compile = loops.compile
    finally(function() loops.compile = compile end)
    loops.compile = function(...)
      local f = assert(compile(...))
      return setmetatable({ stats = function() return f:stats() end },
        { __call = function(_, a, _, c, n) f(a, a, c, n) end })
    end
    local rows = measured_nests { row = "mmm", n = 9, label = "wrong" }
    assert.same({ "failed", false }, { rows[1].status, rows[1].checked })
    assert.matches("bound", rows[1].reason)
    assert.is_nil(rows[1].times)
    assert.is_true(rows[1].peer_value >= 0)
  end, NEEDS_CUDA)
end)
