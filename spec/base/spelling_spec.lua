-- SPDX-License-Identifier: MIT
--- Names that are nearly right.

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
end)
