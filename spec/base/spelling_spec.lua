-- SPDX-License-Identifier: MIT
--- Names that are nearly right.

local cl = require "clcompute"
local helper = require "spec.helper"
local reference = require "clcompute.reference"
local spelling = require("clcompute.base").spelling

describe("the spelling of names", function()
  it("counts letters that differ, are missing or changed places", function()
    for words, distance in pairs { ["gemm gemm"] = 0, ["gem gemm"] = 1, ["guass gauss"] = 1, ["sum dot"] = 3,
      [" abc"] = 3 } do
      assert.equal(distance, spelling.distance(words:match "^(%w*) (%w+)$"), words)
    end
  end)

  it("suggests the nearest name, the first of those as near", function()
    local names = { gemm = 1, gauss = 1, max = 1, map = 1, __gc = 1, T = 1, [1] = 1 }
    for word, found in pairs { gem = "gemm", guass = "gauss", mas = "map", ["gaus"] = "gauss" } do
      assert.equal(("; did you mean '%s'?"):format(found), spelling.suggestion(word, names))
    end
    for _, word in ipairs { "", "x", "solve", "__g", ("x"):rep(1000), 1 } do
      assert.equal("", spelling.suggestion(word, names), word)
    end
  end)

  it("says what members of objects are called here", function()
    local methods, fields = { wait = print, profile = print }, "status seconds"
    for word, found in pairs { second = "; did you mean 'seconds'?", wiat = "; did you mean 'wait'?",
      time = "; write e.seconds", sum = "; write cl.sum(...)", hist = "; write cl.histogram(x)",
      asin = "; write cl.map(\"asin(x[i])\", { x = x })", nothing_like_it = "" } do
      assert.equal(found, spelling.member(word, "event", methods, fields, cl))
    end
    assert.equal("; write b[2]", spelling.member("2", "buffer", { T = print }, "", cl))
    assert.equal("; write b:slice({ first, last }, ...)", spelling.member({}, "buffer", {}, "", cl))
    assert.equal("; write cl.compact(b, mask) or cl.gather(b, indices)",
      spelling.member(io.stdout, "buffer", {}, "", cl))
    assert.equal("; write cl.solve(a, d:eye(n))", spelling.member("inverse", "buffer", {}, "", cl))
    assert.equal("; write b:reshape(b.count)", spelling.member("flatten", "library", cl, "", cl)) -- a method of theirs
    for _, word in ipairs { 0 / 0, {}, "_VERSION" } do
      assert.equal("", spelling.member(word, "event", methods, fields, cl))
    end
  end)

  it("writes what runs in the place of names of other libraries", function()
    local d = helper.devices()[1]:timing(true)
    local kernel = d:program("kernel void fill(global float *x) { x[get_global_id(0)] = 1; }").fill
    local folder = helper.folder()
    local source, name = "kernel void f(global int *x) { *x = 1; }", folder .. "/x"
    local tried = 0
    d:buffer({ { 1, 2 }, { 3, 4 } }):save(name .. ".csv")
    for object, words in pairs(spelling.ELSEWHERE) do
      for word, text in pairs(words) do
        local x, a = d:buffer { 3, 1, 2 }, d:buffer { { 2, 1, 0 }, { 1, 3, 1 }, { 0, 1, 2 } }
        local event = kernel(3, x)
        event:wait()
        local env = { cl = cl, d = d, e = event, h = d:host("float", 3), k = kernel, p = cl.plot(x),
          io = io, x = x, y = x, matrix = a, a = a, n = 3, dtype = "float", low = 0, high = 1,
          b = (object == "buffer" or text:find "reshape") and x or a,
          indices = d:buffer({ 3, 1 }, "int"), values = { 1, 2 }, path = folder .. "/x.npy",
          name = name, source = source, range = 3, table = table, print = tostring }
        local f = assert(load("return " .. text, "=" .. word, "t", env))
        local ok, message = pcall(f, x)
        assert.is_true(ok, ("%s: %s"):format(text, message))
        tried = tried + 1
      end
    end
    d:timing(false)
    assert.is_true(tried > 90)
  end)

  it("gives the median of even and odd numbers, the inverse, the determinant, and elements backwards", function()
    local d = helper.device()
    local function value(word, x, n)
      return load("return " .. spelling.elsewhere(word), word, "t", { cl = cl, d = d, x = x, a = x, n = n })()
    end
    assert.equal(2, value("median", d:buffer { 9, 1, 2 }, 3))
    assert.equal(2.5, value("median", d:buffer { 9, 1, 2, 3 }, 4))
    assert.same({ { 0.5, 0 }, { 0, 0.25 } }, value("inverse", d:buffer { { 2, 0 }, { 0, 4 } }, 2):read())
    assert.equal(8, value("det", d:buffer { { 2, 0 }, { 0, 4 } }))
    assert.same({ 2, 1, 9 }, value("flip", d:buffer { 9, 1, 2 }, 3):read())
  end)

  it("knows the fields that objects of C have by the reference, and no others", function()
    local classes = 0
    for _, entry in ipairs(reference.read()) do
      local meta = debug.getregistry()[entry.name]
      local index = type(meta) == "table" and entry.kind == "class" and rawget(meta, "__index")
      local _, names = debug.getupvalue(type(index) == "function" and index or print, 4)
      local expected, known = {}, {}
      for _, field in ipairs(entry.fields) do
        if field.name:find "^%a" then expected[field.name] = true end
      end
      for name in (names or ""):gmatch "%S+" do known[name] = true end
      if names then
        assert.same(expected, known, entry.name)
        classes = classes + 1
      end
    end
    assert.equal(10, classes)
  end)
end)
