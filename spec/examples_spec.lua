-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"

local function run_example(name, arguments)
  local pipe = assert(io.popen(("%s examples/%s.lua %s 2>&1"):format(helper.lua, name, arguments or "")))
  local output = pipe:read("a")
  local ok = pipe:close()
  assert.is_true(ok, output)
  return output
end

describe("the example", function()
  it("eleven_steps computes what the paper's first listing does", function()
    assert.matches("1000 elements are right", run_example("eleven_steps"))
  end)

  it("user_kernel draws the Mandelbrot set, symmetric about the real axis", function()
    local lines = {}
    for line in run_example("user_kernel"):gmatch("([^\n]*)\n") do lines[#lines + 1] = line end
    assert.equal(24, #lines)
    for i = 2, 24 do assert.equal(lines[i], lines[26 - i]) end
    assert.matches("##########", lines[13])
  end)

  it("solve finds the parabola and refuses the singular system", function()
    local output = run_example("solve")
    assert.matches("a = 3.0000, b = 2.0000, c = 1.0000", output, 1, true)
    assert.matches("matrix is singular: column 3 has no pivot", output, 1, true)
  end)

  it("tables shows every device and the sequential program, all checked", function()
    local output = run_example("tables", "257 17 9 0.01")
    local _, rows = output:gsub(" ok\n", "")
    local _, wrong = output:gsub("WRONG", "")
    assert.equal(0, wrong)
    assert.equal(3 * (#helper.devices() + 1) + 3 * #helper.devices() + 1, rows)
  end)
end)
