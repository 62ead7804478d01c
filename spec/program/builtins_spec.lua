-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"

-- On POCL 3.1 a program gets declarations of the functions that it names alone (csrc/program/builtins.c).

local d = helper.device()

local function platform_version()
  for _, platform in ipairs(require("clcompute").platforms()) do
    if platform.name == d.platform then return platform.version end
  end
end

--- What a kernel with this body makes of x = 2.0.
local function value(body, before, options)
  local x = d:buffer({ 2 }, "float")
  d:program((before or "") .. "\nkernel void f(global float *x) { " .. body .. " }", options).f(1, x)
  return x[1]
end

describe("a program on a CPU calls built-in functions", function()
  helper.on_pocl("that it names", function()
    assert.near(math.sin(2), value "x[0] = sin(x[0]);", 1e-6)
    assert.equal(6, value "float v[8] = {1, 1, 1}; x[0] = dot((float8)(x[0]), vload8(0, v));")
    assert.equal(-3, value "x[0] = convert_int_sat_rtn(-x[0] - 0.5f);")
    assert.equal(2, value "x[0] = as_float(atomic_xchg((volatile global int *)x, 7));")
  end)

  it("that macros name, of the text, of defines and of options", function()
    assert.equal(4, value("x[0] = F(x[0], 2.0f);", "#define F pow"))
    assert.equal(4, value("x[0] = F(x[0], 2.0f);", nil, { defines = { F = "pow" } }))
    assert.equal(4, value("x[0] = F(x[0], 2.0f);", nil, { options = "-DF=pow" }))
  end)

  it("whose names macros make of parts", function()
    local join = "#define JOIN_(a, b) a##b\n#define JOIN(a, b) JOIN_(a, b)\n#define TO long\n"
    assert.equal(2, value("x[0] = JOIN(convert_, TO)(x[0]);", join))
    assert.equal(2, value("x[0] = JOIN(JOIN(convert_, TO), _rte)(x[0]);", join))
    assert.near(math.sin(2), value("x[0] = JOIN(s, in)(x[0]);", join), 1e-6) -- of no word that has three letters
  end)

  it("that headers of the library call", function()
    assert.equal(8, value("x[0] = work_group_reduce_add(x[0]) * 4;", "#include <clcompute/work_group.h>"))
  end)

  it("and is refused as ever where there is none", function()
    local body = "kernel void f(global float *x) { x[0] = %s(x[0]); }"
    helper.raises({ "f.cl:1", "zin" }, d.program, d, body:format "zin", { name = "f.cl" })
    helper.raises("sin", d.program, d, "float sin(float x) { return x; } " .. body:format "sin")
  end)

  helper.on_pocl("but such as POCL declares and lacks, at whose launch it dies", function()
    for _, call in ipairs { "fast_length((double2)(x[0]))", "length((float8)(x[0]))", "length((double16)(x[0]))",
      "normalize((float16)(x[0])).x" } do
      helper.raises({ "'" .. call:match "^[%w_]+" .. "' is unavailable: POCL 3.1 does not have it", "source:1 |" },
        d.program, d, "kernel void f(global float *x) { x[0] = " .. call .. "; }")
    end
    assert.equal(3, value("x[0] = length((float8)(x[0]));",
      "float __attribute__((overloadable)) length(float8 v) { return v.s0 + 1; }"))
    assert.equal(2, value "x[0] = fast_length(x[0]) * length((float4)(1, 0, 0, 0)) * normalize((double2)(1, 0)).x;")
  end)

  it("whose declarations take a small part of a build", function()
    if not platform_version():find "PoCL 3.1" then return pending "POCL 3.1 alone" end
    if os.getenv "SANITIZED" or os.getenv "COVERED" then return pending "counters slow down what is no compiler's" end
    local function seconds(body) -- of the quickest of five builds
      local least = math.huge
      for i = 1, 5 do
        local start = os.clock()
        d:program(("#define JOIN(a, b) a##b\nkernel void f%d(global float *x) { %s }"):format(i, body))
        least = math.min(least, os.clock() - start)
      end
      return least
    end
    seconds "x[0] = cos(x[0]);" -- the process' first build loads POCL's functions
    assert.is_true(seconds "x[0] = sin(x[0]);" < 0.5 * seconds "x[0] = JOIN(s, in)(x[0]);")
  end)
end)
