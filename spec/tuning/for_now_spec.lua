-- SPDX-License-Identifier: MIT
local answers = require "clcompute.answers"
local cl = require "clcompute"
local helper = require "spec.helper"
local internal = require "clcompute.core.internal"
local behind = require "clcompute.tuning.behind" -- which needs the core
local tuning = require "clcompute.tuning"

describe("plain kernels for now", function()
  local answers_before, builds_all, builds = {}, internal.builds_all, behind.builds
  local kept, asked -- the verdict that is known; how often one was found out

  --- A GPU that nobody has, so that what is done is counted from the start.
  local number = 0
  local function gpu(changes)
    number = number + 1
    local device = { type = "gpu", name = "A GPU " .. number, vendor = "NVIDIA", platform = "CUDA", driver = "1",
      version = "3.0", place = "pretended", local_memory = 49152, max_group_size = 1024, compute_units = 132,
      compute_capability = 90, vector_width_float = 1, vector_width_double = 1 }
    for key, value in pairs(changes or {}) do device[key] = value end
    return device
  end

  before_each(function()
    kept, asked = nil, 0
    for _, name in ipairs { "verdict", "kept_verdict" } do answers_before[name] = answers[name] end
    answers.kept_verdict = function() return kept end
    answers.verdict = function()
      asked = asked + 1
      return kept or "ok"
    end
    internal.builds_all = false
  end)

  after_each(function()
    for name, f in pairs(answers_before) do answers[name] = f end
    internal.builds_all, behind.builds = builds_all, builds
  end)

  it("serve systems on a GPU until they have taken as long as the build, each dtype for itself", function()
    local d = gpu()
    for _ = 1, 3 do assert.equal(1, tuning.of(d, "lu", "float", 1 << 27).is_for_now) end
    assert.equal(1, tuning.of(d, "lu", "float", 0).is_for_now)
    assert.equal(0, asked)
    local row = tuning.of(d, "lu", "float", 1 << 27)
    assert.is_nil(row.is_for_now)
    assert.equal("lu_tournament", row.kernel)
    assert.equal(1, asked)
    assert.equal(1, tuning.of(d, "lu", "double", 1).is_for_now)
  end)

  it("are all there is where no process can be started", function()
    assert.equal("nil\n", helper.output([[
      require "clcompute"
      print(require "clcompute.core.internal".start_behind "")]], { CLCOMPUTE_LUA = "/nowhere/lua" }))
  end)

  it("raise what ends the judgement, after which the next call asks again", function()
    local d, judge = gpu(), answers.verdict
    answers.verdict = function() error("interrupted!", 0) end
    assert.has_error(function() tuning.of(d, "lu", "float", 1 << 29) end, "interrupted!")
    assert.has_error(function() tuning.of(d, "lu", "float", 1) end, "interrupted!")
    answers.verdict = judge
    assert.equal("lu_tournament", tuning.of(d, "lu", "float", 1).kernel)
    assert.equal(1, asked)
  end)

  it("do not serve where the verdict is known, the work is endless, or all is to be built at once", function()
    kept = "ok"
    assert.is_nil(tuning.of(gpu(), "lu", "float", 1).is_for_now)
    kept = nil
    assert.is_nil(tuning.of(gpu(), "lu", "float", math.huge).is_for_now)
    assert.is_nil(tuning.of(gpu(), "lu", "float").is_for_now)
    assert.is_nil(tuning.of(gpu { platform = "Oclgrind" }, "lu", "float", 1).is_for_now)
    internal.builds_all = true
    assert.is_nil(tuning.of(gpu(), "lu", "float", 1).is_for_now)
  end)

  it("give way to kernels that ask for less, where the device gets the fast ones wrong", function()
    kept = "fault"
    local row = tuning.of(gpu(), "lu", "float", 1)
    assert.is_nil(row.kernel)
    assert.is_nil(row.items)
    assert.is_nil(tuning.of(gpu(), "lu", "double", 1).kernel)
  end)

  it("serve no system on a CPU, whose kernels for small ones are built as soon", function()
    local row = tuning.of(gpu { type = "cpu", vector_width_float = 16, max_group_size = 4096 }, "lu", "float", 1)
    assert.equal(16, row.vector)
    assert.equal(0, asked)
  end)

  --- How behind.builds answers from now on; the builds that were asked for, by their keys.
  local function answer_builds(is_built)
    local asked_for = {}
    behind.builds = function(_, operation, dtype, key)
      assert(not asked_for[key] or asked_for[key] == operation .. " " .. dtype)
      asked_for[key] = operation .. " " .. dtype
      return is_built
    end
    return asked_for
  end

  local function cpu() return gpu { type = "cpu", vector_width_float = 16, compute_units = 2 } end

  it("serve on a GPU as long as another process builds, which is begun when they have served a while", function()
    local asked_for, d = answer_builds(true), gpu()
    assert.equal(1, tuning.of(d, "lu", "double", (1 << 26) - 1).is_for_now)
    assert.is_nil(next(asked_for))
    for _ = 1, 3 do assert.equal(1, tuning.of(d, "lu", "double", 1 << 30).is_for_now) end
    local key = next(asked_for)
    assert.same({ [key] = "lu double" }, asked_for)
    assert.equal(0, asked)
    asked_for = answer_builds(false)
    assert.is_nil(tuning.of(d, "lu", "double", 1).is_for_now)
    assert.same({ [key] = "lu double" }, asked_for)
    assert(asked >= 1)
  end)

  it("serve on a CPU until they have kept that process from its core as long as it builds", function()
    local asked_for, d = answer_builds(true), cpu()
    assert.equal("naive", tuning.of(d, "gemm", "float", (1 << 31) - 1).kernel)
    assert.equal("panels", tuning.of(d, "gemm", "float", 1).kernel)
    assert.equal("gemm float", asked_for[next(asked_for)])
    assert.equal(1, asked)
  end)

  it("leave a call that takes as long as the build to the fast ones, also while another process builds", function()
    local asked_for = answer_builds(true)
    assert.equal("panels", tuning.of(cpu(), "gemm", "float", 1 << 31).kernel)
    assert.is_nil(tuning.of(gpu(), "lu", "float", 1 << 31).is_for_now)
    assert.is_nil(next(asked_for))
  end)

  it("serve products", function()
    local d = cpu()
    assert.equal("naive", tuning.of(d, "gemm", "float", 1 << 30).kernel)
    assert.equal("panels", tuning.of(d, "gemm", "float", 1 << 30).kernel)
    assert.equal(1, asked)
  end)
end)

describe("plain kernels", function()
  helper.on_pocl("serve on where the fast ones do not build", function()
    local folder = helper.folder()
    assert.equal("unknown\tnaive\t6.0\nnaive\t6.0\nok\n", helper.output([[
      local answers, cl, tuning = require "clcompute.answers", require "clcompute", require "clcompute.tuning"
      local clcount, d, test = require "clcount", cl.device(), answers.operation_tests.rows["gemm float"]
      local a, b = d:buffer { { 2 } }, d:buffer { { 3 } }
      cl.gemm(a, b):read()
      clcount.fail("clBuildProgram", -11, 1, 1000)
      local function multiply() return tuning.of(d, "gemm", "float", math.huge).kernel, cl.gemm(a, b):read()[1][1] end
      print(answers.verdict(d, test), multiply())
      clcount.fail()
      print(multiply())
      print((answers.run(d, test)))]], { CLCOMPUTE_BUILD = "", CLCOMPUTE_CACHE = folder, CLCOMPUTE_DEVICE = "pocl" }))
    assert(os.execute("rm -r " .. folder))
  end)
end)

helper.describe_each("the kernels that serve systems for now", function(d)
  local slow = helper.is_simulator(d)

  it("solve alone and together as the others do", function()
    local row = tuning.for_now.lu
    for _, dtype in ipairs(d.has_double and not slow and { "float", "double" } or { "float" }) do
      for _, n in ipairs(slow and { 5 } or { 1, 17, 70 }) do
        local a, b = d:random(dtype, 2, n, n, { seed = n }), d:random(dtype, 2, n, 2, { seed = 2 })
        tuning.use(d, "lu", dtype, row)
        local all, many = cl.gauss(a, b)
        local x, one = cl.gauss(a:view(2, 2):reshape(n, n), b:view(2, 2):reshape(n, 2))
        tuning.use(d, "lu", dtype, nil)
        local _, expected = cl.gauss(a:view(2, 2):reshape(n, n), b:view(2, 2):reshape(n, 2), { kernel = "unblocked" })
        assert.equal(all:view(2, 2):string(), x:string())
        assert.same(expected.pivots, one.pivots)
        assert.same(expected.pivots, many.pivots[2])
        assert(one.backward_error < 30)
        assert.near(1, one.rcond / expected.rcond, 1e-2)
        assert.equal(one.rcond, many.rcond[2])
      end
    end
  end)
end)
