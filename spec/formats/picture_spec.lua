-- SPDX-License-Identifier: MIT
--- Pictures: what `save` writes, and what others wrote.

local crc = require "spec.support.crc"
local helper = require "spec.helper"
local png_format = require "clcompute.formats.png" -- not every device has images of gray and alpha

local d = helper.device()
local folder = helper.folder()

teardown(function() os.execute("rm -rf " .. folder) end)

local function path_of(extension) return folder .. "/picture." .. extension end

--- The image of a file's text.
local function load(text, extension)
  helper.write(path_of(extension or "pgm"), text)
  return d:load(path_of(extension or "pgm"))
end

local function refused(message, text, extension)
  return helper.raises({ path_of(extension or "pgm") .. ": ", message }, load, text, extension)
end

local function chunk(name, data)
  return string.pack(">I4", #data) .. name .. data .. string.pack(">I4", crc(name .. data))
end

--- A PNG with one block of deflate that is not compressed; `rows` begin with their filters.
local function png(width, height, depth, kind, rows, extra, interlace)
  local a, b = 1, 0
  for i = 1, #rows do
    a = (a + rows:byte(i)) % 65521
    b = (b + a) % 65521
  end
  local header = string.pack(">I4I4BBBBB", width, height, depth, kind, 0, 0, interlace or 0)
  return "\x89PNG\r\n\x1a\n" .. chunk("IHDR", header) .. (extra or "")
    .. chunk("IDAT", "\x78\x01\1" .. string.pack("<I2I2", #rows, ~#rows & 0xffff) .. rows
      .. string.pack(">I2I2", b, a)) .. chunk("IEND", "")
end

local has_zlib = pcall(require, "zlib")

describe("a picture", function()
  if not d.has_images then return pending "no images" end

  it("gives back what was saved, in every format", function()
    for _, row in ipairs { { "r unorm8", "pgm" }, { "r unorm16", "pgm" }, { "r unorm8", "png" }, { "r unorm16", "png" },
      { "rgba unorm8", "png" }, { "rgba unorm16", "png" } } do
      if row[2] == "pgm" or has_zlib then
        local im = d:image(row[1], 7, 5)
        im:write(d:random(im.dtype, #im:string() // (row[1]:find "16" and 2 or 1), { high = 255 }))
        assert.equal(im, im:save(path_of(row[2])))
        local copy = d:load(path_of(row[2]))
        assert.equal(row[1], copy.format)
        assert.equal(im:string(), copy:string())
      end
    end
  end)

  it("of other orders and types is turned to that of the file, a .ppm without alpha", function()
    for order, pixel in pairs { rgba = "\1\2\3\4", bgra = "\3\2\1\4", argb = "\4\1\2\3" } do
      for _, type in ipairs { "unorm8", "uchar" } do
        d:image(order .. " " .. type, 1, 2):write(pixel .. pixel):save(path_of "ppm")
        assert.equal("P6\n1 2\n255\n\1\2\3\1\2\3", helper.read(path_of "ppm"))
      end
    end
    assert.equal("\1\2\3\255\1\2\3\255", d:load(path_of "ppm"):string())
    d:image("rgba ushort", 1, 1):write({ { { 1, 2, 3, 4 } } }):save(path_of "ppm")
    assert.equal("P6\n1 1\n65535\n\0\1\0\2\0\3", helper.read(path_of "ppm"))
    assert.same({ 1, 2, 3, 65535 }, { d:load(path_of "ppm"):get(1, 1) })
  end)

  it("in PGM may have comments, and a largest value of its own", function()
    assert.equal("\0\128\255", load("P5 # a comment\n#another 9\n 3\t1\n# and one\n2\n\0\1\2"):string())
    local im = load "P5 2 1 256 \0\0\1\0"
    assert.equal("r unorm16", im.format)
    assert.same({ { 0, 65535 } }, im:read())
    assert.equal("\7\8", load("P5\n1 2\n255\n\7\8"):string())
  end)

  it("that lies is an error", function()
    refused("2x2 pixels are 4 bytes, but 3 follow the header", "P5 2 2 255\nabc")
    refused("but 5 follow", "P5 2 2 255\nabcde")
    refused("the width expected at byte 4", "P5 -2 2 255\nabcd")
    refused("the height expected", "P5 2")
    refused("a blank expected behind its first two letters", "P52 2 255\nabcd")
    refused("a blank expected behind the largest value", "P5 2 2 255abcd")
    refused("a picture of 0x2 pixels", "P5 0 2 255\n")
    refused("a largest value of 65536", "P5 1 1 65536\n\0\0")
    refused("a value of 3, above the largest, 2", "P5 1 1 2\n\3")
    refused("outside 1 ..", "P5 " .. d.max_image_width + 1 .. " 1 255\n" .. ("\0"):rep(d.max_image_width + 1))
    refused("no .npy, .npz or .csv file and no picture (.png, binary .pgm or .ppm): it starts with 'P4", "P4 1 1\n\0")
    refused("it starts with ''", "")
  end)

  it("in PNG has rows by any filter", function()
    if not has_zlib then return pending "no lua-zlib" end
    -- Each row is 10 20 30 40, 50 60 70 80; above the first there are zeros.
    local rows = "\0\10\20\30\40\50\60\70\80" .. "\1\10\20\30\40\40\40\40\40" .. "\2\0\0\0\0\0\0\0\0"
      .. "\3\5\10\15\20\20\20\20\20" .. "\4\0\0\0\0\0\0\0\0"
    assert.equal(("\10\20\30\40\50\60\70\80"):rep(5), load(png(2, 5, 8, 6, rows), "png"):string())
  end)

  it("in PNG has any colour type and depth", function()
    if not has_zlib then return pending "no lua-zlib" end
    local palette = chunk("PLTE", "\1\2\3\4\5\6") .. chunk("tRNS", "\7")
    for _, row in ipairs {
      { png(10, 1, 1, 0, "\0\x55\x80"), "r unorm8", ("\0\255"):rep(4) .. "\255\0" },
      { png(3, 1, 2, 0, "\0\x6c"), "r unorm8", "\85\170\255" },
      { png(1, 2, 4, 0, "\0\x5f\0\x1f"), "r unorm8", "\85\17" },
      { png(1, 1, 8, 2, "\0\1\2\3"), "rgba unorm8", "\1\2\3\255" },
      { png(1, 1, 8, 4, "\0\1\2"), "rgba unorm8", "\1\1\1\2" },
      { png(3, 1, 1, 3, "\0\x40", palette), "rgba unorm8", "\1\2\3\7\4\5\6\255\1\2\3\7" },
      { png(3, 1, 2, 3, "\0\x43", palette), "rgba unorm8", "\4\5\6\255\1\2\3\7\1\2\3\7" },
      { png(2, 1, 8, 3, "\0\1\0", palette), "rgba unorm8", "\4\5\6\255\1\2\3\7" },
    } do
      local im = load(row[1], "png")
      assert.equal(row[2], im.format)
      assert.equal(row[3], im:string())
    end
    assert.same({ { { { 258, 772, 1286, 65535 } } } }, { load(png(1, 1, 16, 2, "\0\1\2\3\4\5\6"), "png"):read() })
  end)

  it("in PNG may be of gray and alpha", function()
    if not has_zlib then return pending "no lua-zlib" end
    helper.write(path_of "png", png_format.write({ width = 2, height = 1, channels = 2, bytes = 1 }, "\1\2\3\4"))
    assert.equal("\1\1\1\2\3\3\3\4", d:load(path_of "png"):string())
  end)

  it("in PNG that lies is an error", function()
    if not has_zlib then return pending "no lua-zlib" end
    local good = png(2, 1, 8, 0, "\0\1\2")
    refused("truncated", good:sub(1, -2), "png")
    refused("the checksum of its chunk IHDR is wrong", good:gsub("\0\0\0\2", "\0\0\0\3", 1), "png")
    refused("its pixels are not the 4 bytes", png(3, 1, 8, 0, "\0\1\2"), "png")
    refused("its pixels are not the 2 bytes", png(1, 1, 8, 0, "\0\1\2"), "png")
    refused("row 1 has filter 5", png(2, 1, 8, 0, "\5\1\2"), "png")
    refused("no picture has colour type 2 with 4 bits", png(2, 1, 4, 2, "\0\1\2\3"), "png")
    refused("no picture has colour type 9", png(2, 1, 8, 9, "\0\1\2"), "png")
    refused("interlaced", png(2, 1, 8, 0, "\0\1\2", nil, 1), "png")
    refused("colour 1 of a palette of 1", png(1, 1, 8, 3, "\0\1", chunk("PLTE", "\1\2\3")), "png")
    refused("transparent colour", png(1, 1, 8, 0, "\0\1", chunk("tRNS", "\0\1")), "png")
    refused("a picture of 0x1 pixels", png(0, 1, 8, 0, "\0"), "png")
    refused("its header is not the first chunk", "\x89PNG\r\n\x1a\n" .. chunk("IEND", ""), "png")
    refused("unknown chunk ABcD", png(2, 1, 8, 0, "\0\1\2", chunk("ABcD", "")), "png")
    assert.equal("\1\2", load(png(2, 1, 8, 0, "\0\1\2", chunk("aBcD", "\3")), "png"):string())
    local bomb = require("zlib").deflate()(("\0"):rep(1 << 20), "finish")
    refused("its pixels are not the 2 bytes", (png(1, 1, 8, 0, ""):gsub("IDAT.*", "") .. ""):sub(1, -5)
      .. chunk("IDAT", bomb) .. chunk("IEND", ""), "png")
  end)

  it("in PNG needs no zlib to be saved, but to be loaded, and says so", function()
    local script = ([[
      local cl = require "clcompute"
      package.preload.zlib = function() error "there is none" end
      local im = cl.device(%q):image("r unorm8", 300, 300):write(("\1\2\3"):rep(30000)):save(%q)
      print(pcall(im.device.load, im.device, %q))]]):format(d.place, path_of "png", path_of "png")
    local output = helper.output(script)
    local message = "picture.png: to read PNG takes the Lua module zlib: apt install lua-zlib"
    assert.truthy(output:find(message, 1, true), output)
    if has_zlib then assert.equal(("\1\2\3"):rep(30000), d:load(path_of "png"):string()) end
  end)

  it("is refused where its pixels, its kind or its path are none of a picture's", function()
    local im = d:image("r unorm8", 2, 2)
    for _, name in ipairs { "a.jpg", "a", "a.png/", "png" } do
      helper.raises("a picture's path ends in .pgm, .ppm or .png", im.save, im, folder .. "/" .. name)
    end
    helper.raises("pixels of 'r unorm8' are kept as .pgm or .png", im.save, im, path_of "ppm")
    im = d:image("rgba unorm8", 2, 2)
    helper.raises("pixels of 'rgba unorm8' are kept as .ppm or .png", im.save, im, path_of "pgm")
    im = d:image("r float", 2, 2)
    helper.raises({ "no picture has pixels of 'r float'", "image:buffer():save(path)" }, im.save, im, path_of "png")
    im = d:image("r unorm8", 2)
    helper.raises("a picture is an image2d, this is an image1d", im.save, im, path_of "png")
    helper.raises("bad argument #1 to 'save' (path expected, got none)", im.save, im)
    helper.raises("missing/a.png: ", im.save, d:image("r unorm8", 1, 1), folder .. "/missing/a.png")
  end)
end)
