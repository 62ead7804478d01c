-- SPDX-License-Identifier: MIT
--- The width of texts, cutting and padding; aligned columns.

local columns = require "clcompute.base.columns"
local format = require("clcompute.base").format
local width = require("clcompute.base").width
require "spec.helper" -- seeds math.random

-- Texts and the columns that terminals give them.
local WIDTHS = { [""] = 0, abc = 3, ["行列の積"] = 8, ["é"] = 1, ["e\u{301}"] = 1, ["матрица"] = 7, ["αβγ"] = 3,
  ["\u{1F680}"] = 2, ["\xff\xfe"] = 2, ["a\xe8\xa1"] = 3, ["\u{200B}"] = 0 }

describe("a visible text", function()
  it("has tabs and line ends, and escapes what else a terminal would obey", function()
    for text, expected in pairs { ["a\tb\n"] = "a\tb\n", ["\27[31m\r\0"] = "\\x1B[31m\\x0D\\x00",
      ["\127é行"] = "\\x7Fé行", ["\u{9B}31m"] = "\\xC2\\x9B31m", ["\x9B31m"] = "\\x9B31m", [""] = "" } do
      assert.equal(expected, format.visible(text))
    end
  end)
end)

describe("the width of a text", function()
  it("is in columns of a terminal", function()
    for text, expected in pairs(WIDTHS) do assert.equal(expected, width.of(text), text) end
  end)

  it("is in another measure of its code points, if one is given", function()
    assert.equal(3 + 0x884C, width.of("a行", function(code) return code == 0x61 and 3 or code end))
  end)

  it("limits a cut text, which is the longest that fits", function()
    for text, expected in pairs(WIDTHS) do
      for limit = 0, expected + 1 do
        local cut = width.cut(text, limit)
        assert.is_true(width.of(cut) <= limit, text)
        assert.equal(limit >= expected, cut == text, text .. limit)
      end
    end
    assert.equal("行列…", width.cut("行列の積", 5))
    assert.equal("行列…", width.cut("行列の積", 6))
    assert.equal("…", width.cut("行列", 1))
    assert.equal("", width.cut("行列", 0))
    assert.equal("a…", width.cut("a  b c", 4)) -- no blanks before the mark
    assert.equal("e\u{301}…", width.cut("e\u{301}bc", 2)) -- a letter keeps its marks
  end)

  it("never leaves half a character", function()
    for limit = 0, 20 do assert.truthy(utf8.len(width.cut("aé行\u{1F680}αz", limit))) end
  end)

  it("is filled with blanks on either side or both", function()
    assert.equal("行  ", width.pad("行", 4))
    assert.equal("  行", width.pad("行", 4, "right"))
    assert.equal(" 行  ", width.pad("行", 5, "center"))
    assert.equal("行列", width.pad("行列", 3))
  end)
end)

describe("aligned columns", function()
  it("put numbers to the right and count the columns of wide characters", function()
    assert.equal("name   n\n行列  10\na      9", columns.format({ "name", "n" }, { { "行列", 10 }, { "a", 9 } }))
    assert.equal("a  b", columns.format({ "a", "b" }, {}))
  end)

  it("take the side of each column, and a limit", function()
    assert.equal("  name  n\nabcde…  1", columns.format({ "name", "n" }, { { "abcdefgh", 1 } }, { "right" }, 6))
  end)

  it("are as wide as their widest cell", function()
    for _ = 1, 20 do
      local lines = {}
      for i = 1, 5 do lines[i] = { ("行"):rep(math.random(0, 9)), ("x"):rep(math.random(0, 9)) } end
      local widths = columns.measure(lines)
      for j = 1, 2 do
        local widest = 0
        for _, cells in ipairs(lines) do widest = math.max(widest, utf8.len(cells[j]) * (3 - j)) end
        assert.equal(widest, widths[j])
      end
    end
  end)
end)

describe("a size in bytes", function()
  it("has the largest unit of which it is a multiple", function()
    for bytes, text in pairs { [0] = "0 B", [1023] = "1023 B", [1024] = "1 KiB", [1536] = "1536 B", [32768] = "32 KiB",
      [3 << 20] = "3 MiB", [1 << 30] = "1 GiB", [1 << 40] = "1024 GiB" } do
      assert.equal(text, format.size(bytes))
    end
  end)
end)
