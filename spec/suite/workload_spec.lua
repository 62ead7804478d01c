-- SPDX-License-Identifier: MIT
local bench = require "clcompute.bench"
local cl = require "clcompute"
local helper = require "spec.helper"
local suite = require "clcompute.suite"
local workload = require "clcompute.suite.workload"

local NAMES = { "saxpy", "gemm", "gauss" }

--- The same bytes with one element made a little larger than rounding explains.
local function spoil(bytes, dtype, at)
  local format, size = dtype == "float" and "f" or "d", dtype == "float" and 4 or 8
  local first = (at - 1) * size + 1
  local value = string.unpack(format, bytes, first)
  return bytes:sub(1, first - 1) .. string.pack(format, value * 1.5 + 1) .. bytes:sub(first + size)
end

describe("a workload", function()
  for _, name in ipairs(NAMES) do
    for _, dtype in ipairs { "float", "double" } do
      it(("of %s, %s, takes the sequential program's result for right and a spoiled one for wrong"):format(name, dtype),
        function()
          for _, n in ipairs { 1, 7, 70 } do
            local work = suite.workload(name, { n = n }, dtype)
            local form = work.others.sequential()
            assert.is_true(form.run() >= 0)
            local result = form.result()
            assert.is_true(work.check(result) <= 1)
            local elements = #result // (dtype == "float" and 4 or 8)
            for _, at in ipairs { 1, elements } do
              assert.is_false(work.check(spoil(result, dtype, at)) <= 1, ("element %d of n = %d"):format(at, n))
            end
            assert.is_false(work.check((dtype == "float" and string.pack("f", 0 / 0) or string.pack("d", 0 / 0))
              .. result:sub(dtype == "float" and 5 or 9)) <= 1)
          end
        end)
    end
  end

  it("is measured by every method on every device, with the sequential program as baseline", function()
    for _, name in ipairs(NAMES) do
      local work = suite.workload(name, { n = 8 }, "float")
      local made = suite.section(work, { title = name, devices = helper.devices(), seconds = 0.01, rounds = 3,
        against = true })
      local seen, names = {}, {}
      for _, row in ipairs(made.rows) do
        assert.is_nil(names[row.name], "the name twice: " .. row.name)
        names[row.name] = true
        assert.is_true(row.status == "ok" or row.status == "unsupported", row.reason)
        assert.equal(row.status == "ok", row.checked or false)
        seen[row.device .. " " .. row.params.method] = row
      end
      for _, device in ipairs(helper.devices()) do
        for _, method in ipairs(work.methods) do assert.is_table(seen[device.name .. " " .. method]) end
      end
      assert.equal(1, names.sequential and seen["sequential, one core "].ratio)
    end
  end)

  it("says what a device lacks, and what is not installed", function()
    local device = { name = "old", place = "7:1", platform = "none", has_double = false }
    local list <close> = workload.candidates(suite.workload("gemm", { n = 3 }, "double"), { devices = { device } })
    assert.equal("no double", list.list[1].unsupported)
    for _, candidate in ipairs(list.list) do -- a name stands in for the device that is none
      if candidate.device == device then candidate.device = "old" end
    end
    assert.equal("unsupported", bench.compare(list.list, { rounds = 1, seconds = 0.01 })[1].status)
    assert.equal("7:1 old naive", list.list[1].name)
    local output = helper.output([[
      local work = require "clcompute.suite".workload("gauss", { n = 3 }, "float")
      local list <close> = require "clcompute.suite.workload".candidates(work, { devices = {}, against = true })
      print(list.list[1].name, list.list[1].unsupported)]], { CLCOMPUTE_OPENBLAS = "/none" })
    assert.matches("OpenBLAS\t.*/none", output)
  end)

  it("releases its operands when it is closed", function()
    local before = cl.live().bytes
    local work = suite.workload("saxpy", { n = 1000 }, "float")
    local list = workload.candidates(work, { devices = helper.devices(), against = true })
    assert.is_true(cl.live().bytes > before)
    list:release()
    list:release()
    assert.equal(before, cl.live().bytes)
  end)
end)
