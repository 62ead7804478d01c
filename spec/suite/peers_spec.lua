-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"
local blas = require "clcompute.blas"
local limits = require "clcompute.suite.peers.limits"
local nests = require "clcompute.suite.peers.nests"
local operations = require "clcompute.suite.peers.operations"
local names = require "clcompute.suite.papers.polykernels.rows".NAMES
local report = require "clcompute.report"

local d = helper.device()

local SMALL = {
  gemm = { { m = 5, n = 7, k = 3 }, { m = 4, n = 3, k = 5, batch = 3 } }, lu = { { n = 9 } }, gauss = { { n = 9 } },
  saxpy = { { n = 100 } }, sum = { { n = 1000 } }, dot = { { n = 1000 } }, scan = { { n = 1000 } },
}

describe("what is measured against others", function()
  local library = blas.openblas()

  for name, lines in pairs(SMALL) do
    it("is right, ours and theirs: " .. name, function()
      for _, line in ipairs(lines) do
        for _, dtype in ipairs { "float", "double" } do
          local work = operations[name](line, dtype, d)
          work.ours()
          assert.is_true(work.check(work.result()) <= 1)
          if library and work.peers.OpenBLAS then
            local run, result = work.peers.OpenBLAS(library, blas.array)
            assert.is_true(run() >= 0)
            if result then assert.is_true(work.check(result()) <= 1) end
          end
        end
      end
    end)
  end

  it("has a check that sees a wrong result", function()
    local work = operations.gemm({ m = 5, n = 7, k = 3 }, "float", d)
    work.ours()
    local right = work.result()
    assert.is_true(work.check(("\0"):rep(#right)) > 1)
    work = operations.sum({ n = 1000 }, "float", d)
    work.ours()
    assert.is_true(work.check(work.result() * 1.001) > 1)
  end)

  it("has limits with lines, operations that there are, and goals not below what must be", function()
    for _, group in ipairs(limits) do
      assert.is_function(operations[group.operation], group.title)
      assert.is_true(#group.lines > 0)
      if group.must then assert.is_true(group.goal >= group.must) end
      for _, line in ipairs(group.lines) do
        if line.must then assert.is_true(line.goal >= line.must, line.label) end
      end
    end
  end)

  it("names the groups where one is asked for that there is not", function()
    helper.raises({ "peers", "'dot, n'", "sgemm, n = 128" }, require "clcompute.suite.peers".measure,
      { devices = { d }, groups = { "sgemm", "dot, n" } })
  end)

  it("is a report with ratios", function()
    if not library then return pending "OpenBLAS is not installed" end
    local kept = limits[1]
    limits[1] = { title = "tiny", operation = "gemm", dtype = "float", against = "OpenBLAS",
      lines = { { m = 8, n = 8, k = 8 } }, must = 0.1, goal = 0.2, floor = { 0, 0 } }
    local ok, document = pcall(require "clcompute.suite.peers".measure, { devices = { d }, quick = true,
      groups = { "tiny" } })
    limits[1] = kept
    assert.is_true(ok, document)
    local rows = document.sections[1].rows
    assert.equal(2, #rows)
    assert.is_true(rows[1].times > 0)
    assert.is_true(rows[1].checked)
    assert.near(rows[1].times, rows[2].times, 1e-9 * rows[1].times)
    assert.matches("tiny", report.text(document), 1, true)
  end)
end)

describe("loop nests beside others", function()
  local SMALL_NEST = { n = 17, steps = 3 }

  local function work_of(name, dtype)
    return operations.loops({ row = name, n = SMALL_NEST.n, steps = SMALL_NEST.steps }, dtype, d)
  end

  --- Whether a check accepts what was found.
  local function is_right(work, result)
    local verdict = work.check(result())
    return verdict == true or math.type(verdict) ~= nil and verdict <= 1
  end

  --- Calls f with a document of a group of its own.
  local function measured(lines, f)
    local count = #limits
    limits[count + 1] = { title = "tiny nests", operation = "loops", dtype = "float", against = "gcc", lines = lines }
    local ok, document = pcall(require "clcompute.suite.peers".measure, { devices = { d }, quick = true,
      groups = { "tiny nests" } })
    limits[count + 1] = nil
    assert.is_true(ok, document)
    f(document.sections[1].rows, document)
  end

  it("have a line for every one of the PolyKernels in both types, and limits for floats", function()
    for _, dtype in ipairs { "float", "double" } do
      local found = {}
      for _, line in ipairs(nests.lines(dtype)) do
        found[line.row] = true
        assert.is_true(dtype == "float" or not line.must)
        assert.is_true(line.quick.n < line.n and not line.quick.must)
      end
      for _, name in ipairs(names) do assert.is_true(found[name], name) end
    end
  end)

  for _, dtype in ipairs { "float", "double" } do
    it("are right, ours and C's, and a wrong element is noticed: " .. dtype, function()
      for _, name in ipairs(names) do
        local work = work_of(name, dtype)
        assert.is_true(work.ours() > 0)
        assert.is_true(is_right(work, work.result), name)
        local run, result = work.peers.gcc()
        assert.is_true(run() >= 0)
        assert.is_true(is_right(work, result), name)
        for array, bytes in pairs(work.result()) do
          local size = #string.pack(dtype:sub(1, 1), 0)
          for _, wrong in ipairs { 0.1, 0 / 0 } do
            local found = work.result()
            local last = string.unpack(dtype:sub(1, 1), bytes, #bytes - size + 1)
            found[array] = bytes:sub(1, #bytes - size) .. string.pack(dtype:sub(1, 1), last + wrong)
            assert.is_false(is_right(work, function() return found end), ("%s of %s"):format(array, name))
          end
        end
      end
    end)
  end

  it("are right in other forms: tiles, another order with threads, Lua", function()
    for name, peers in pairs { mmm = { "tiles", "gcc, ikj, OpenMP", "Lua" }, jac2d = { "tiles", "Lua" } } do
      for _, n in ipairs { 1, 2, 15, 16, 17, 18, 19, 33 } do
        local work = operations.loops({ row = name, n = n, steps = 3 }, "float", d)
        for _, peer in ipairs(n < 3 and name == "jac2d" and { "Lua" } or peers) do
          local run, result = work.peers[peer]()
          assert.is_true(run() >= 0)
          assert.is_true(is_right(work, result), ("%s, %s, n = %d"):format(name, peer, n))
        end
      end
    end
  end)

  it("are rows, of which one that fails does not end the table", function()
    local good = { row = "mmm", n = 9, label = "good", must = 1e-9, goal = 1e9 }
    measured({ { row = "nothing", n = 9, label = "bad" }, good }, function(rows, document)
      assert.equal(2, #rows)
      assert.same({ "failed", "bad" }, { rows[1].status, rows[1].line })
      assert.matches("nothing.lua", rows[1].reason, 1, true)
      assert.same({ "ok", "good", "gcc", "must", true }, { rows[2].status, rows[2].line, rows[2].against,
        rows[2].reached, rows[2].checked })
      assert.near(rows[2].times, rows[2].peer_value / rows[2].value, 1e-9 * rows[2].times)
      assert.is_number(rows[2].launches)
      assert.matches("Loop nests", report.text(document), 1, true)
    end)
  end)

  it("fail with the reason where the result is wrong", function()
    local loops = require "clcompute.loops"
    local compile = loops.compile
    loops.compile = function(...)
      local f = assert(compile(...))
      return setmetatable({ stats = function() return f:stats() end },
        { __call = function(_, a, _, c, n) f(a, a, c, n) end })
    end
    local ok, failure = pcall(measured, { { row = "mmm", n = 9, label = "wrong" } }, function(rows)
      assert.same({ "failed", false }, { rows[1].status, rows[1].checked })
      assert.matches("bound", rows[1].reason)
      assert.is_nil(rows[1].times)
      assert.is_true(rows[1].peer_value >= 0)
    end)
    loops.compile = compile
    assert.is_true(ok, failure)
  end)
end)
