-- SPDX-License-Identifier: MIT
local cl = require "clcompute"
local helper = require "spec.helper"

-- One program for all: what compiles takes long.
local SOURCE = [[
  kernel void sample(read_only image2d_t from, write_only image2d_t to, sampler_t s, float2 scale, float2 shift) {
    const int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imagef(to, at, read_imagef(from, s, convert_float2(at) * scale + shift));
  }
  kernel void volume(read_only image3d_t im, global float *out) {
    const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
    const int i = get_global_id(0);
    out[i] = read_imagef(im, s, (int4)(i % 3, i / 3 % 2, i / 6, 0)).x;
  }
  kernel void layers(read_only image2d_array_t im, read_only image1d_array_t lines, read_only image1d_t line,
                     global float *out) {
    const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
    out[0] = read_imagef(im, s, (int4)(1, 0, 2, 0)).x;
    out[1] = read_imagef(lines, s, (int2)(2, 1)).x;
    out[2] = read_imagef(line, s, 3).x;
  }
  kernel void elements(read_only image1d_buffer_t im, global float4 *out) {
    out[get_global_id(0)] = read_imagef(im, (int)get_global_id(0));
  }
  kernel void sizes(read_only image1d_buffer_t im, read_only image1d_t same, global int *out) {
    out[0] = get_image_width(im);
    out[1] = get_image_channel_order(im) - get_image_channel_order(same);
    out[2] = get_image_channel_data_type(im) - get_image_channel_data_type(same);
  }
  kernel void integers(read_only image2d_t from, write_only image2d_t to) {
    const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
    const int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imagei(to, at, read_imagei(from, s, at) * 2);
  }
  kernel void far(write_only image2d_t to, global float *x) {
    write_imagei(to, (int2)(0, 0), (int4)(7));
    x[1L << 40] = 1;
  }]]

--- The 1-based index of a pixel, and whether it is inside; nil where the border's 0 is read.
local function pixel(at, n, address)
  if address == "clamp" then return at >= 0 and at < n and at + 1 or nil end
  if address == "repeat" then return at % n + 1 end
  if address == "mirrored_repeat" then
    at = at % (2 * n)
    return (at < n and at or 2 * n - 1 - at) + 1
  end
  return math.max(0, math.min(n - 1, at)) + 1
end

--- What a sampler reads of rows at a place in pixels, by OpenCL's formulas.
local function oracle(rows, x, y, filter, address)
  local h, w = #rows, #rows[1]
  local function at(i, j)
    local column, row = pixel(i, w, address), pixel(j, h, address)
    return column and row and rows[row][column] or 0
  end
  if filter == "nearest" then return at(x // 1 | 0, y // 1 | 0) end
  local i, j = (x - 0.5) // 1 | 0, (y - 0.5) // 1 | 0
  local a, b = x - 0.5 - i, y - 0.5 - j
  return (1 - a) * (1 - b) * at(i, j) + a * (1 - b) * at(i + 1, j) + (1 - a) * b * at(i, j + 1)
    + a * b * at(i + 1, j + 1)
end

helper.describe_each("an image", function(d)
  if not d.has_images then return pending "no images" end
  local p = d:program(SOURCE)

  it("has the elements of a buffer, in every kind", function()
    local b = d:random("float", 48)
    for kind, sizes in pairs {
      image1d = { 12, shape = "12x4" }, image1d_array = { 4, { layers = 3 }, shape = "3x4x4" },
      image2d = { 4, 3, shape = "3x4x4" }, image2d_array = { 3, 2, { layers = 2 }, shape = "2x2x3x4" },
      image3d = { 3, 2, 2, shape = "2x2x3x4" },
    } do
      local im = d:image("rgba float", table.unpack(sizes))
      assert.equal(kind, im.kind)
      assert.equal(sizes.shape, table.concat(im.shape, "x"))
      assert.equal(192, im.bytes)
      assert.equal(im, im:write(b))
      assert.equal(b:string(), im:string())
      assert.equal(b:string(), im:copy():string())
      assert.equal(b:string(), im:buffer():string())
      assert.same(im.shape, im:buffer().shape)
      local last = {}
      for i, n in ipairs { im.width, im.height or im.layers, im.depth or im.height and im.layers } do last[i] = n end
      assert.same(b:read(45, 48), { im:get(table.unpack(last)) })
      assert.equal(im:string(), im:copy():write(im:read()):string())
      assert.equal(b:string(), d:image("rgba float", table.unpack(sizes)):write(im):string())
      local target = d:zeros("float", 60)
      local view = target:view(5, 52)
      assert.equal(view, im:buffer(view))
      assert.same(b:read(), view:read())
      assert.equal(0.0, target[4] + target[53])
    end
  end)

  it("moves through the host where a driver copies no array of lines from or to a buffer", function()
    local count = require "clcount"
    local b, im = d:random("float", 48), d:image("rgba float", 4, { layers = 3 })
    count.fail("clEnqueueCopyBufferToImage", -30)
    assert.equal(b:string(), im:write(b):string())
    count.fail("clEnqueueCopyImageToBuffer", -30)
    assert.equal(b:string(), im:buffer():string())
    count.fail("clEnqueueCopyBufferToImage", -30)
    helper.raises("CL_INVALID_VALUE", im.write, d:image("rgba float", 4, 3), b)
    count.fail()
  end)

  it("is written behind queued commands", function()
    local im = d:image("r int", 3, 2)
    for i = 1, 5 do im:fill(i):write { { i, 2, 3 }, { 4, 5, 6 } } end
    assert.same({ { 5, 2, 3 }, { 4, 5, 6 } }, im:read())
  end)

  it("is filled with a colour as a kernel writes it", function()
    assert.same({ 255, 0, 255, 255 }, { d:image("rgba unorm8", 5, 2):fill({ 1, 0, 1, 1 }):get(5, 2) })
    assert.same({ 3, 2, 1, 4 }, { d:image("bgra uchar", 5, 2):fill({ 1, 2, 3, 4 }):get(1, 2) })
    assert.same({ -7, -7, -7, -7 }, { d:image("rgba int", 5):fill(-7):get(5) })
    assert.same({ 0.5, 2, 3, 4 }, { d:image("rgba half", 5, 2):fill({ 0.5, 2, 3, 4 }):get(5, 2) })
  end)

  it("of single halves holds what kernels write and read, or is refused", function()
    for order, field in pairs { r = "x", a = "w" } do
      local made, im = pcall(d.image, d, order .. " half", 16, 3)
      if not made then
        assert.is_truthy(im:find("this device's kernels get '" .. order .. " half' wrong", 1, true)
          or im:find("this device has no image2d", 1, true), im)
      else
        local halves, x = d:program(([[
          kernel void put(write_only image2d_t im) {
            const int i = get_global_id(0);
            write_imagef(im, (int2)(i, 1), (float4)(i * 0.5f));
          }
          kernel void take(read_only image2d_t im, global float *x) {
            x[get_global_id(0)] = read_imagef(im, (int2)(get_global_id(0), 1)).%s;
          }]]):format(field)), d:zeros("float", 16)
        halves.put(16, im:fill(0))
        halves.take(16, im, x)
        for i = 1, 16 do assert.same({ (i - 1) / 2, (i - 1) / 2, 0 }, { x[i], im:get(i, 2), (im:get(i, 3)) }) end
      end
    end
  end)

  it("is read by a sampler as OpenCL's formulas say", function()
    local rows = d:random("float", 5, 6, { seed = 3 }):read()
    local from, to = d:image("r float", 6, 5):write(rows), d:image("r float", 9, 8)
    for _, filter in ipairs { "nearest", "linear" } do
      for _, address in ipairs { "clamp_to_edge", "clamp", "repeat", "mirrored_repeat" } do
        local normalized = address:find "repeat" ~= nil
        local s = d:sampler { filter = filter, address = address, normalized = normalized }
        local scale, shift = { 1.25, 1.375 }, { -1.3125, -1.1875 } -- no place is midway between two pixels
        local w, h = normalized and 6 or 1, normalized and 5 or 1
        p.sample({ 9, 8 }, from, to, s, { scale[1] / w, scale[2] / h }, { shift[1] / w, shift[2] / h })
        local read = to:read()
        for y = 0, 7 do
          for x = 0, 8 do
            local expected = oracle(rows, x * scale[1] + shift[1], y * scale[2] + shift[2], filter, address)
            assert.is_true(math.abs(read[y + 1][x + 1] - expected) <= 1 / 128, -- a weight may have 8 bits
              ("%s %s at %d, %d: %s, not %s"):format(filter, address, x, y, read[y + 1][x + 1], expected))
          end
        end
      end
    end
  end)

  it("of any kind is an argument", function()
    local out = d:zeros("float", 12)
    local b = d:random("float", 12)
    p.volume(12, d:image("r float", 3, 2, 2):write(b), out)
    assert.same(b:read(), out:read())
    local lines = d:image("r float", 3, { layers = 2 }):write { { 1, 2, 3 }, { 4, 5, 6 } }
    local line = d:image("r float", 4):write { 7, 8, 9, 10 }
    p.layers(1, d:image("r float", 2, 2, { layers = 3 }):write(b), lines, line, out)
    assert.same({ b[10], 6.0, 10.0 }, out:read(1, 3))
    local to = d:image("rgba int", 2, 2)
    p.integers({ 2, 2 }, d:image("rgba int", 2, 2):fill { 1, -2, 3, 4 }, to)
    assert.same({ 2, -4, 6, 8 }, { to:get(2, 2) })
  end)

  it("on a buffer tells a kernel its width and format, for which POCL has no functions", function()
    local out = d:zeros("int", 3)
    p.sizes(1, d:image("rgba short", d:zeros("short", 20)), d:image("rgba short", 3), out)
    assert.same({ 5, 0, 0 }, out:read())
  end)

  it("on a buffer has the buffer's elements", function()
    local b, out = d:random("float", 8), d:zeros("float", 8)
    local im, expected = d:image("rgba float", b), b:read()
    assert.equal("image1d_buffer", im.kind)
    helper.raises("an image has no field 'colour'", function() return im.colour end)
    helper.raises("cannot set field 'width' of an image", function() im.width = 3 end)
    assert.equal(2, im.width)
    b:release()
    p.elements(2, im, out)
    assert.same(expected, out:read())
    local n = d.align // 4
    b = d:random("float", n + 8)
    local view = b:view(n + 1, n + 8)
    local ok, image = pcall(d.image, d, "rgba float", view)
    if ok then
      p.elements(2, image, out)
      assert.same(view:read(), out:read())
    else
      assert.truthy(image:find("this device makes images of whole buffers: copy the view", 1, true), image)
    end
    for _, method in ipairs { "read", "string", "copy", "buffer" } do
      helper.raises(method .. ": the pixels of this image are the elements of a buffer", im[method], im)
    end
    helper.raises("3 elements are no whole pixels of 4", d.image, d, "rgba float", d:zeros("float", 3))
    helper.raises("float buffer expected, got int", d.image, d, "rgba float", d:zeros("int", 4))
    helper.raises("no multiple of this device's", d.image, d, "r float", d:zeros("float", 4):view(2, 3))
    helper.raises("a buffer brings its own size", d.image, d, "r float", out, 3)
    helper.raises("width 0 of an image1d_buffer is outside 1 ..", d.image, d, "r float", d:zeros("float", 0))
  end)

  it("on a buffer is written to by kernels where the driver survives that", function()
    local b = d:zeros("float", 4)
    local fill = d:program [[
      kernel void fill(write_only image1d_buffer_t im) { write_imagef(im, (int)get_global_id(0), 9.0f); }]].fill
    local im = d:image("r float", b)
    if d.platform == "Portable Computing Language" then
      return helper.raises({ "argument 1", "an image on a buffer" }, fill, 4, im)
    end
    local one_more = b + 1 -- computed before the kernel writes
    fill(4, im)
    assert.same({ 9, 9, 9, 9 }, b:read())
    assert.same({ 1, 1, 1, 1 }, one_more:read())
  end)

  it("goes on living in the queue when it was collected", function()
    local to = d:image("r float", 9, 8)
    for i = 1, 20 do
      p.sample({ 9, 8 }, d:image("r float", 6, 5):fill(i), to, d:sampler(), { 1, 1 }, { 0.5, 0.5 })
      collectgarbage()
    end
    assert.equal(20.0, (to:get(9, 8)))
  end)

  if d.isolated then
    it("outlives the worker that a kernel ends", function()
      local from, to = d:image("r int", 3, 2):fill(4), d:image("r int", 3, 2)
      helper.raises("kernel 'far': its worker process died of SIG", p.far, 1, to, d:zeros("float", 1))
      p.integers({ 3, 2 }, from, to)
      assert.same({ { 8, 8, 8 }, { 8, 8, 8 } }, to:read())
    end)
  end

  it("is refused as another argument than its own", function()
    local im, to, s = d:image("r float", 4, 4), d:image("r float", 4, 4), d:sampler()
    local function call(...) return p.sample({ 1, 1 }, ...) end
    local xy = { 0, 0 }
    helper.raises("argument 1 'from' (global image2d_t): image2d expected, got image3d", call,
      d:image("r float", 4, 4, 4), to, s, xy, xy)
    helper.raises("image2d expected, got float buffer", call, d:zeros("float", 1), to, s, xy, xy)
    helper.raises("image2d expected, got released image", call, d:image("r float", 4):release(), to, s, xy, xy)
    helper.raises("argument 2 'to' (global image2d_t): is written, and is also argument 1 'from', which is read", call,
      im, im, s, xy, xy)
    helper.raises("argument 3 's' (private sampler_t): sampler (d:sampler) expected, got image2d", call, im, to, im,
      xy, xy)
    helper.raises("got released sampler", call, im, to, d:sampler():release(), xy, xy)
    helper.raises("float buffer expected, got image2d", p.volume, 1, d:image("r float", 1, 1, 1), im)
  end)

  it("is made of a format, and of sizes, that the device has", function()
    helper.raises({ "this device has no image2d of 'rgb float'; it has\n", "\n  rgba ", "|float" }, d.image, d,
      "rgb float", 4, 4)
    for _, format in ipairs { "", "rgba", "rgba  float", "float rgba", "rgba float ", "RGBA float" } do
      helper.raises(("no format '%s'; a format is an order and a type, \"rgba unorm8\"; orders: r a"):format(format),
        d.image, d, format, 4)
    end
    helper.raises("width or buffer expected", d.image, d, "r float")
    helper.raises("size must be at least 1, got 0", d.image, d, "r float", 4, 0)
    local most = d.max_image_height
    helper.raises(("height %d of an image2d is outside 1 .. %d"):format(most + 1, most), d.image, d, "r float", 4,
      most + 1)
    helper.raises(("layers %d of an image1d_array is outside"):format(d.max_image_layers + 1), d.image, d, "r float", 4,
      { layers = d.max_image_layers + 1 })
    helper.raises("an image of three dimensions has none", d.image, d, "r float", 4, 4, 4, { layers = 2 })
    helper.raises({ "image of ", "MiB" }, d.image, d, "rgba float", d.max_image3d_width, d.max_image3d_height,
      d.max_image3d_depth)
    assert.equal("nearest sampler, clamp_to_edge, normalized coordinates", tostring(d:sampler { normalized = true }))
    helper.raises("'repeat' needs normalized = true", d.sampler, d, { address = "repeat" })
    helper.raises("no 'cubic'; there are nearest, linear", d.sampler, d, { filter = "cubic" })
  end)

  it("takes what fits it", function()
    local im = d:image("rgba unorm8", 3, 2)
    helper.raises("the image is 2x3x4 elements, got 2x3", im.write, im, { { 1, 2, 3 }, { 4, 5, 6 } })
    helper.raises("24 bytes expected, got 3", im.write, im, "abc")
    helper.raises("24 elements expected, got 6", im.write, im, d:zeros("uchar", 6))
    helper.raises("uchar buffer expected, got char", im.write, im, d:zeros("char", 24))
    helper.raises("24 elements expected, got 25", im.buffer, im, d:zeros("uchar", 25))
    helper.raises("pixels of 'rgba unorm8' expected, got 'rgba uchar'", im.write, im, d:image("rgba uchar", 3, 2))
    helper.raises("bad argument #1 to 'write' (image2d expected, got image1d)", function()
      im:write(d:image("rgba unorm8", 6))
    end)
    helper.raises("the image is 2x3x4 elements, got 3x2x4", im.write, im, d:image("rgba unorm8", 2, 3))
    helper.raises("table, string, buffer or image expected", im.write, im, 1)
    helper.raises("image expected, got clcompute.Sampler", im.write, im, d:sampler())
    helper.raises("a table of 4 numbers expected, got one of 3", im.fill, im, { 1, 2, 3 })
    for type, most in pairs { unorm8 = 255, unorm16 = 1.5, snorm8 = -1.5 } do
      local is_there, normalized = pcall(d.image, d, "rgba " .. type, 1, 1)
      local least = type == "snorm8" and "-1" or "0"
      if is_there or type ~= "snorm8" then -- which a GPU may lack
        helper.raises(("colours of %s are %s .. 1"):format(type, least), normalized.fill, normalized, most)
        helper.raises("got -2.0", normalized.fill, normalized, { 0, 1, -2, 0 })
      end
    end
    helper.raises("1.5 has no integer value", d:image("r int", 1).fill, d:image("r int", 1), 1.5)
    for format, number in pairs { ["rgba uchar"] = 256, ["rgba char"] = -129, ["rgba short"] = 32768, -- devices clamp
      ["rgba ushort"] = -1, ["rgba half"] = 65520 } do
      local narrow = d:image(format, 1)
      helper.raises(("%d does not fit %s"):format(number, narrow.dtype), narrow.fill, narrow, { 0, 0, number, 0 })
    end
    helper.raises("2 coordinates expected, got 1", im.get, im, 1)
    helper.raises("4 is outside 1 .. 3", im.get, im, 4, 1)
  end)

  it("is counted, and gone when it is released", function()
    collectgarbage()
    local before = cl.live()
    local im, s = d:image("rgba float", 64, 64), d:sampler()
    local live = cl.live()
    assert.equal(before.bytes + 65536, live.bytes)
    assert.equal(before.image + 1, live.image)
    assert.equal(before.sampler + 1, live.sampler)
    assert.equal(#before + 1, #live)
    assert.same({ "float", "64x64x4", 65536, false }, { live[#live].dtype, live[#live].shape, live[#live].bytes,
      live[#live].shared })
    assert.equal("rgba float image2d 64x64 on " .. d.name, tostring(im))
    assert.equal("nearest sampler, clamp_to_edge, pixel coordinates", tostring(s))
    assert.same({ "nearest", "clamp_to_edge", false, d }, { s.filter, s.address, s.normalized, s.device })
    im:release():release()
    s:release():release()
    live = cl.live()
    assert.equal(before.bytes, live.bytes)
    assert.equal(before.image + before.sampler, live.image + live.sampler)
    helper.raises("image is released", im.read, im)
    helper.raises("image is released", function() return im.width end)
  end)

  it("that nobody refers to gives its memory back", function()
    local side = (d.type == "cpu" or helper.is_simulator(d)) and 128 or 1024 -- of 256 KiB, and of 16 MiB
    for _ = 1, 100 do d:image("rgba float", side, side) end
    assert.is_true(cl.live().bytes < 100 * 16 * side * side)
  end)
end)

helper.describe_each("a kernel", function(d)
  if not d.has_images then return it("needs images", pending) end

  it("whose function is for colours of another type than an image's is refused", function()
    local p = d:program [[
      constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
      float4 of(read_only image2d_t im) { return read_imagef(im, s, (int2)(0)); }
      kernel void readf(read_only image2d_t im, global float *x) { x[0] = read_imagef(im, s, (int2)(0)).x; }
      kernel void readi(read_only image2d_t im, global float *x) { x[0] = read_imagei( im, s, (int2)(0)).x; }
      kernel void readui(read_only image2d_t im, global float *x) { x[0] = read_imageui(im, s, (int2)(0)).x; }
      kernel void writei(write_only image2d_t im) { write_imagei(im, (int2)(0), (int4)(7)); }
      kernel void unclear(read_only image2d_t im, global float *x, int i) {
        x[0] = i ? read_imagei(im, s, (int2)(0)).x : read_imagef(im, s, (int2)(0)).x;
      }
      kernel void some(read_only image2d_t im, global float *x) {
        #ifdef FLOATS
        x[0] = read_imagef(im, s, (int2)(0)).x;
        #endif
        x[0] = 3;
      }
      kernel void other(read_only image2d_t im, read_only image2d_t floats, global float *x) {
        x[0] = get_image_width(im) + read_imagef(floats, s, (int2)(0)).x;
      }
      kernel void indirect(read_only image2d_t im, global float *x) { x[0] = of(im).x; }]]
    local floats, ints, uints = d:image("r float", 2, 2), d:image("r int", 2, 2), d:image("r uint", 2, 2)
    local x, images = d:zeros("float", 1), { f = floats:fill(3), i = ints:fill(3), ui = uints:fill(3) }
    for suffix, im in pairs(images) do
      for _, other in pairs(images) do
        local f = p["read" .. suffix]
        if im == other then
          f(1, im, x)
          assert.equal(3, x[1])
        else
          helper.raises("colours, those of an image '" .. other.format, f, 1, other, x)
        end
      end
    end
    helper.raises({ "argument 1 'im' (global image2d_t): ",
      "the kernel reads float colours, those of an image 'r uint' are uint: call read_imageui" }, p.readf, 1, uints, x)
    helper.raises("writes int colours, those of an image 'r float' are float: call write_imagef", p.writei, 1, floats)
    p.unclear(1, ints, x, 1)
    assert.equal(3, x[1])
    p.some(1, ints, x)
    p.indirect(1, floats, x)
    p.other(1, ints, floats, x)
    assert.equal(5, x[1])
  end)
end)

describe("an image", function()
  it("is copied to another device", function()
    local devices = {}
    for _, d in ipairs(cl.devices()) do devices[#devices + 1] = d.has_images and d or nil end
    if #devices < 2 then return pending "one device with images" end
    local im = devices[1]:image("r float", 3, 2):write { { 1, 2, 3 }, { 4, 5, 6 } }
    local copy = im:copy(devices[2])
    assert.equal(devices[2], copy.device)
    assert.same(im:read(), copy:read())
    assert.same(im:read(), devices[2]:image("r float", 3, 2):write(im):read())
    local p = devices[2]:program "kernel void f(read_only image2d_t im, global int *x) { x[0] = get_image_width(im); }"
    local x = devices[2]:zeros("int", 1)
    helper.raises("the image lives on another device; im:copy(device) moves it", p.f, 1, im, x)
    p.f(1, copy, x)
    assert.equal(3, x[1])
    local f = devices[2]:program "kernel void f(sampler_t s, global int *x) { x[0] = 4; }".f
    helper.raises({ "argument 1 's'", "the sampler lives on another device" }, f, 1, devices[1]:sampler(), x)
    local far = devices[1]:zeros("float", 6)
    helper.raises("0 is outside 1 .. 3", copy.get, copy, 0, 1)
    helper.raises("3 is outside 1 .. 2", copy.get, copy, 1, 3)
    helper.raises("no option 'layer'", devices[2].image, devices[2], "r float", 4, { layer = 1 })
    helper.raises({ "#3", "the buffer lives on another device" }, devices[2].image, devices[2], "r float", far)
    helper.raises({ "#2", "the buffer lives on another device" }, copy.write, copy, far)
    assert.equal(copy, copy:write(copy))
  end)
end)
