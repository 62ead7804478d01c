-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"
local blas = require "clcompute.blas"
local limits = require "clcompute.peers.limits"
local operations = require "clcompute.peers.operations"
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
    end
  end)

  it("names the groups where one is asked for that there is not", function()
    helper.raises({ "peers", "'dot, n'", "sgemm, n = 128" }, require "clcompute.peers".measure,
      { devices = { d }, groups = { "sgemm", "dot, n" } })
  end)

  it("is a report with ratios", function()
    if not library then return pending "OpenBLAS is not installed" end
    local kept = limits[1]
    limits[1] = { title = "tiny", operation = "gemm", dtype = "float", against = "OpenBLAS",
      lines = { { m = 8, n = 8, k = 8 } }, must = 0.1, goal = 0.2, floor = { 0, 0 } }
    local ok, document = pcall(require "clcompute.peers".measure, { devices = { d }, quick = true,
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
