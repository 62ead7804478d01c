-- SPDX-License-Identifier: MIT
--- Names that are nearly right.

local cl = require "clcompute"
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
    local names = { gemm = 1, gauss = 1, max = 1, map = 1, __gc = 1, [1] = 1 }
    for word, found in pairs { gem = "gemm", guass = "gauss", mas = "map", ["gaus"] = "gauss" } do
      assert.equal(("; did you mean '%s'?"):format(found), spelling.suggestion(word, names))
    end
    for _, word in ipairs { "", "solve", "__g", ("x"):rep(1000), 1 } do
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
    for _, word in ipairs { 0 / 0, {}, "_VERSION" } do
      assert.equal("", spelling.member(word, "event", methods, fields, cl))
    end
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
