-- SPDX-License-Identifier: MIT
--- Buffers as pictures.

local helper = require "spec.helper"

local folder = helper.folder()

teardown(function() os.execute("rm -rf " .. folder) end)

local function path_of(extension) return folder .. "/picture." .. extension end

--- The pixels of a buffer's picture: those behind the head of a .pgm or .ppm.
local function pixels(buffer, options)
  local extension = buffer.shape[3] and "ppm" or "pgm"
  buffer:save(path_of(extension), options)
  return select(2, helper.read(path_of(extension)):match "^(P[56]\n%d+ %d+\n255\n)(.*)$")
end

helper.describe_each("a matrix saved as a picture", function(d)
  it("of uchar has its elements as pixels, gray or of three channels; a .ppm leaves alpha out", function()
    d:buffer({ { 0, 7, 200 }, { 9, 1, 255 } }, "uchar"):save(path_of "pgm")
    assert.equal("P5\n3 2\n255\n\0\7\200\9\1\255", helper.read(path_of "pgm"))
    d:buffer({ { { 1, 2, 3 } }, { { 4, 5, 6 } } }, "uchar"):save(path_of "PPM")
    assert.equal("P6\n1 2\n255\n\1\2\3\4\5\6", helper.read(path_of "PPM"))
    assert.equal("\1\2\3", pixels(d:buffer({ { { 1, 2, 3, 4 } } }, "uchar")))
  end)

  it("of another dtype is spread from its least to its largest element", function()
    for _, dtype in ipairs(helper.dtypes(d)) do
      if dtype ~= "uchar" then
        assert.equal("\0\128\255\64", pixels(d:buffer({ { 10, 14 }, { 18, 12 } }, dtype)), dtype)
      end
    end
    assert.equal("\0\255\128", pixels(d:buffer({ { -2, 2, 0 } }, "char")))
    assert.equal("\0\255", pixels(d:buffer({ { 0, -1 } }, "ulong"))) -- the largest of all
    assert.equal("\0\255", pixels(d:buffer({ { math.mininteger, math.maxinteger } }, "long")))
  end)

  it("is black where it is not a number, at its ends where it is infinite, mid gray where all are equal", function()
    local nan, inf = 0 / 0, math.huge
    assert.equal("\0\255\0\255\0", pixels(d:buffer { { nan, inf, 1, 2, -inf } }))
    assert.equal("\128\128\0", pixels(d:buffer { { 3, 3, nan } }))
    assert.equal("\0\0", pixels(d:buffer { { nan, nan } }))
    assert.equal("\255\0\0", pixels(d:buffer { { inf, -inf, nan } }))
    assert.equal("\128", pixels(d:buffer({ { 1 << 40 } }, "long")))
    if d.has_double then
      assert.equal("\0\255\128", pixels(d:buffer({ { -1.7e308, 1.7e308, 0 } }, "double")))
    end
  end)

  it("takes what is black and what is white", function()
    local m = d:buffer { { -1, 0, 0.5, 1, 9 } }
    assert.equal("\0\0\128\255\255", pixels(m, { low = 0, high = 1 }))
    assert.equal("\0\26\38\51\255", pixels(m, { low = -1 }))
    assert.equal("\0\0\128\255\255", pixels(m, { high = 1, low = 0.0 }))
    assert.equal("\0\255\255", pixels(d:buffer({ { 1, 2, 3 } }, "uchar"), { low = 1, high = 2 }))
  end)
end)

describe("a matrix saved as a picture", function()
  local d = helper.device()

  it("is read back as an image of the same pixels", function()
    if not d.has_images then return pending "no images" end
    for _, shape in ipairs { { 1, 1 }, { 1, 7 }, { 13, 1 }, { 5, 9, 3 }, { 300, 200, 4 } } do
      local b = d:random("uchar", table.unpack(shape))
      if pcall(require, "zlib") then
        assert.equal(b, b:save(path_of "png"))
        local im, bytes = d:load(path_of "png"), b:string()
        assert.equal(shape[3] and "rgba unorm8" or "r unorm8", im.format)
        assert.equal(shape[3] == 3 and bytes:gsub("...", "%0\255") or bytes, im:string())
      end
    end
  end)

  it("is a valid .png also without lua-zlib", function()
    local script = ([[package.preload.zlib = function() error "none" end
      local d = require("clcompute").device()
      d:random("uchar", 300, 300, { seed = 5 }):save(%q)]]):format(path_of "png")
    assert.is_true(helper.run(script))
    assert.equal(300 * 301 + 2 * 5 + 6 + 57, #helper.read(path_of "png")) -- two blocks that are not compressed
    if not (pcall(require, "zlib") and d.has_images) then return end
    assert.equal(d:random("uchar", 300, 300, { seed = 5 }):string(), d:load(path_of "png"):string())
  end)

  it("refuses shapes that are no picture, and options that say nothing", function()
    local path = path_of "png"
    for shape, b in pairs { ["7"] = d:zeros("float", 7), ["2x2x2"] = d:zeros("float", 2, 2, 2),
      ["1x1x1x3"] = d:zeros("float", 1, 1, 1, 3) } do
      helper.raises({ path .. ": a picture is rows x columns", "this buffer is " .. shape }, b.save, b, path)
    end
    local b = d:zeros("float", 2, 2)
    for shape, none in pairs { ["0x2"] = d:zeros("int", 0, 2), ["2x0x3"] = d:zeros("int", 2, 0, 3) } do
      helper.raises("this buffer is " .. shape, none.save, none, path)
    end
    helper.raises("1 to 1048576 rows", function() d:zeros("uchar", 1, (1 << 20) + 1):save(path) end)
    helper.raises("matrices are kept as .pgm or .png", b.save, b, path_of "ppm")
    local colours = d:zeros("uchar", 2, 2, 3)
    helper.raises("matrices of 3 channels are kept as .ppm or .png", colours.save, colours, path_of "pgm")
    helper.raises("option 'low': a number below 'high' expected, got 1 and 1", b.save, b, path, { low = 1, high = 1 })
    helper.raises("option 'high': a finite number expected, got inf", b.save, b, path, { high = math.huge })
    helper.raises("option 'low': number expected, got string", b.save, b, path, { low = "0" })
    helper.raises("option 'low' is for pictures", b.save, b, path_of "npy", { low = 1 })
    helper.raises("unknown option 'min'; there are: header, high, low", b.save, b, path, { min = 1 })
  end)

  it("that fails leaves the old file", function()
    helper.write(path_of "png", "old")
    assert.is_false(pcall(function() d:zeros("float", 3):save(path_of "png") end))
    assert.equal("old", helper.read(path_of "png"))
  end)
end)
