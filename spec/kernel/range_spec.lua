-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"
local cl = require "clcompute"
local internal = require "clcompute.core.internal"

--- Counts for each global id how often it came; the box is sizes[1] x sizes[2] x sizes[3].
local COUNT = [[
  kernel void count(global int *c, int width, int height) {
    atomic_inc(&c[get_global_id(0) + width * (get_global_id(1) + height * get_global_id(2))]);
  }
  kernel void bounded(global int *c, int width, int height, int depth) {
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    if (x < width && y < height && z < depth) atomic_inc(&c[x + width * (y + height * z)]);
  }
  kernel void groups(global int *c, int width, int height) {
    c[get_global_id(0) + width * (get_global_id(1) + height * get_global_id(2))] =
      get_local_size(0) + 100 * get_local_size(1) + 10000 * get_local_size(2);
  }
  kernel __attribute__((reqd_work_group_size(4, 2, 1))) void required(global int *c, int width,
    int height) {
    atomic_inc(&c[get_global_id(0) + width * (get_global_id(1) + height * get_global_id(2))]);
  }
  kernel void touch(global int *c) { c[0] = 1; }
  kernel void meets(global int *c) { c[get_global_id(0)] = 1; barrier(CLK_GLOBAL_MEM_FENCE); }
]]

local function text(sizes) return table.concat(sizes, "x") end

helper.describe_each("a range", function(d)
  local p = d:program(COUNT)

  --- Asserts that the range reaches each item of its box once and nothing before its offset.
  local function covers(range, kernel)
    local function list(sizes) return type(sizes) == "table" and sizes or { sizes } end
    local record = type(range) == "table" and range.global ~= nil
    local global, offset = list(record and range.global or range), list(record and range.offset or nil)
    local size, n = {}, 1
    for i = 1, 3 do
      size[i] = (global[i] or 1) + (offset[i] or 0)
      n = n * size[i]
    end
    -- written, not zeros: Oclgrind 21.10 takes filled memory for uninitialised
    local counts = d:buffer(("\0"):rep(4 * math.max(n, 1)), "int", math.max(n, 1))
    if kernel == "bounded" then
      p.bounded(range, counts, size[1], size[2], size[3])
    else
      p:kernel(kernel or "count")(range, counts, size[1], size[2])
    end
    local got, wrong = counts:read(), 0
    for at = 0, n - 1 do
      local x, y, z = at % size[1], at // size[1] % size[2], at // (size[1] * size[2])
      local inside = x >= (offset[1] or 0) and y >= (offset[2] or 0) and z >= (offset[3] or 0)
      if got[at + 1] ~= (inside and 1 or 0) then wrong = wrong + 1 end
    end
    assert.equal(0, wrong, ("global %s offset %s: %d wrong counts"):format(text(global), text(offset), wrong))
  end

  it("without a group covers each item once, in one dimension", function()
    for _, n in ipairs { 0, 1, 2, 3, 5, 7, 15, 16, 17, 31, 251, 255, 256, 257, 1000, 1009 } do
      covers(n)
      covers { n }
      covers { global = { n }, offset = { 3 } }
    end
    covers { global = 17, offset = 5 }
  end)

  it("without a group covers each item once, in two and three dimensions", function()
    for _, global in ipairs {
      { 1, 1 }, { 7, 13 }, { 16, 16 }, { 17, 3 }, { 1, 257 }, { 257, 1 }, { 3, 0 }, { 0, 3 },
      { 3, 5, 7 }, { 1, 1, 11 }, { 17, 2, 3 }, { 33, 9, 5 }, { 2, 3, 0 },
    } do
      covers(global)
      covers { global = global, offset = { 2, 1, #global == 3 and 3 or nil } }
    end
  end)

  it("without a group on a CPU has few launches, fixed groups where they are few, others where not", function()
    if d.type ~= "cpu" then return pending "another device" end
    local keeps = d:program("kernel void keeps(global int *c, int n) { int t[3] = { 0 }; t[n] = 1; *c = t[0]; }").keeps
    local kernel = keeps
    local function plan(...)
      local _, parts = internal.plan_range({ ... }, kernel)
      for i, part in ipairs(parts) do parts[i] = text(part.global) .. " by " .. text(part.group) end
      return table.concat(parts, ", ")
    end
    assert.equal("999936 by 256, 67 by 1", plan(1000003))
    assert.equal("48 by 16, 13 by 1", plan(61))
    assert.equal("256x20 by 256x1, 44x20 by 1x1", plan(300, 20))
    assert.equal("512x3000 by 256x1", plan(512, 3000))
    assert.equal("500x500 by 250x1", plan(500, 500))
    assert.equal("61x2000 by 61x4", plan(61, 2000))
    assert.equal("1536x2990 by 256x1, 163x2990 by 163x1", plan(1699, 2990))
    assert.equal("5x50x40 by 5x50x1", plan(5, 50, 40))
    kernel = p.count -- whose work-items keep no arrays: whole rows, where there are enough
    assert.equal("500x500 by 500x1", plan(500, 500))
    assert.equal("900x30x40 by 900x1x1", plan(900, 30, 40))
    assert.equal("61x2000 by 61x4", plan(61, 2000))
    assert.equal("512x3000 by 256x1", plan(512, 3000))
    kernel = p.meets
    assert.equal("500x500 by 250x1", plan(500, 500))
    for i = 1, 300 do
      local global, items = { math.random(3000), math.random(3000), math.random(40) }, 0
      local _, parts = internal.plan_range(global, i % 2 == 0 and p.count or keeps)
      local most = i % 2 == 0 and d.max_group_size or 256
      for _, part in ipairs(parts) do
        items = items + part.global[1] * part.global[2] * part.global[3]
        assert.is_true(part.group[1] * part.group[2] * part.group[3] <= most)
        for k = 1, 3 do assert.equal(0, part.global[k] % part.group[k]) end
      end
      assert.equal(global[1] * global[2] * global[3], items)
      assert.is_true(#parts <= 2)
    end
  end)

  it("goes by whole rows of a kernel only where no text may keep an array for a work-item", function()
    if d.type ~= "cpu" then return pending "another device" end
    local function keeps(body, before)
      local program = d:program((before or "") .. " kernel void k(global float *x, int n) { int i = get_global_id(0); "
        .. body .. " }")
      local _, parts = internal.plan_range({ 900, 900 }, program.k)
      return parts[1].group[1] < 900
    end
    for _, body in ipairs { "x[i] = 2 * x[i + 1];", "float s = x[i] * x[i + 1]; x[0] = s; x[i] = n * x[n];",
      "if (n) x[i] = 1; else x[i] = 2; switch (n) { case 1: x[1] = 1; } do x[i] = 2; while (0); return;" } do
      assert.is_false(keeps(body), body)
    end
    assert.is_false(keeps("x[i] = c[n];", "constant float c[3] = { 1, 2, 3 };"))
    for body, before in pairs {
      ["float t[4]; t[n] = x[i]; x[i] = t[0];"] = "", ["float s = 1, t[4]; t[n] = s; x[i] = t[0];"] = "",
      ["global float *t[4]; t[n] = x; x[i] = t[0][0];"] = "", ["const float *t[2]; x[i] = t[0] == 0;"] = "",
      ["ARRAY(t); t[n] = x[i]; x[i] = t[0];"] = "#define ARRAY(t) float t[4]\n",
      ["T t; t[n] = x[i]; x[i] = t[0];"] = "typedef float T[4];",
      ["struct S s; s.t[n] = x[i]; x[i] = s.t[0];"] = "struct S { float t[4]; };",
      ["x[i] = f(n);"] = "float f(int n) { float t[9]; for (int i = 0; i < 9; i++) t[i] = i; return t[n]; }",
    } do assert.is_true(keeps(body, before), body) end
  end)

  it("is prepared once for every kernel and device", function()
    local prepared = cl.range { global = { 13, 7 }, group = { 4, 3 }, offset = { 1, 2 }, remainder = "split" }
    for _ = 1, 2 do
      local counts = d:zeros("int", 14 * 9)
      p.count(prepared, counts, 14, 9)
      p.count(cl.range(1), counts, 14, 9)
      local sum = 0
      for i, n in ipairs(counts:read()) do
        sum = sum + n
        if i > 1 then assert.equal(((i - 1) % 14 >= 1 and i - 1 >= 28) and 1 or 0, n) end
      end
      assert.equal(13 * 7 + 1, sum)
    end
    assert.equal('range 13x7, group 4x3, offset 1x2, remainder "split"', tostring(prepared))
    assert.equal(tostring(prepared), tostring(cl.range(prepared)))
    assert.same({ { 13, 7 }, { 4, 3 }, { 1, 2 }, "split" },
      { prepared.global, prepared.group, prepared.offset, prepared.remainder })
    assert.equal('range 3, group "driver"', tostring(cl.range { global = 3, group = "driver" }))
    assert.same({ global = { 5 }, offset = { 0 } }, (internal.plan_range(cl.range(5), p.count)))
    assert.is_nil(cl.range(5).group)
    assert.equal("driver", cl.range({ global = 3, group = "driver" }).group)
    local show, own = debug.getmetatable(cl.range(3)).__tostring, debug.getmetatable(d)
    helper.raises("range expected, got table", show, {})
    local ok, message = pcall(function()
      debug.setmetatable(d, debug.getmetatable(cl.range(3)))
      return show(d)
    end)
    debug.setmetatable(d, own)
    assert.is_true(not ok and message:find("range expected", 1, true) ~= nil, message)
    helper.raises("a range has no field 'size'", function() return prepared.size end)
    helper.raises("a range cannot be changed ('global')", function() prepared.global = { 4 } end)
    helper.raises("requires a group of 4x2x1, got 4x3", p.required, prepared, d:zeros("int", 1), 1, 1)
    for _, wrong in ipairs { "5", -1, { 2, 0.5 }, { global = 4, size = 2 }, {} } do
      assert.is_false(pcall(cl.range, wrong))
    end
  end)

  it("that compiled loops have is set for each launch, with whole groups", function()
    local cover, range = internal.enqueue.cover, cl.range { global = { 4, 2 }, group = { 4, 2 } }
    assert.equal(range, cover(range, 8, 9, 3))
    assert.same({ { 16, 4 }, { 8, 2 } }, { range.global, range.group })
    assert.same({ 0, 2 }, cover(range, 4, 0, 1).global)
    for _, wrong in ipairs { { { 4 }, 4, 1, 1 }, { range, 4, 1 }, { range, 4, 1, -1 }, { range, 0, 1, 1 },
      { range, 4, math.maxinteger, 1 } } do
      assert.is_false(pcall(cover, table.unpack(wrong)))
    end
  end)

  it("is refused as a launch would refuse it, where a given group does not divide it", function()
    for _, given in ipairs { { global = 10, group = 4 }, { global = { 8, 9 }, group = { 4, 2 } } } do
      local launch = helper.raises("no multiple of the group's", p.count, given, d:zeros("int", 99), 10, 9)
      helper.raises(launch:match "(global size .*)$", cl.range, given)
    end
    for _, taken in ipairs { { global = 10, group = 4, remainder = "pad" }, { global = 10 }, { global = 0, group = 4 },
      { global = { 8, 0 }, group = { 3, 1 } }, { global = 10, group = "driver" } } do
      p.count(taken, d:zeros("int", 99), 10, 9)
      cl.range(taken)
    end
  end)

  it("with a group that divides it covers each item once", function()
    covers { global = { 12 }, group = { 4 } }
    covers { global = 12, group = 4, offset = 1 }
    covers { global = { 12, 9 }, group = { 4, 3 }, offset = { 1, 2 } }
    covers { global = { 4, 6, 8 }, group = { 2, 3, 4 }, remainder = "split" }
  end)

  it("split covers each item once", function()
    for _, case in ipairs {
      { { 10 }, { 4 } }, { { 3 }, { 8 } }, { { 1 }, { 16 } }, { { 257 }, { 16 } }, { { 17 }, { 16 } },
      { { 15 }, { 16 } }, { { 13, 7 }, { 4, 3 } }, { { 3, 8 }, { 4, 4 } }, { { 8, 3 }, { 4, 4 } },
      { { 5, 3, 7 }, { 2, 2, 2 } }, { { 4, 3, 1 }, { 2, 2, 2 } }, { { 0 }, { 4 } }, { { 5, 0 }, { 2, 2 } },
    } do
      local global, group = case[1], case[2]
      covers { global = global, group = group, remainder = "split" }
      covers { global = global, group = group, remainder = "split",
        offset = { 2, #global > 1 and 1 or nil, #global > 2 and 5 or nil } }
    end
  end)

  it("padded covers each item once, for a kernel with a bounds check", function()
    for _, case in ipairs { { { 10 }, { 4 } }, { { 3 }, { 8 } }, { { 13, 7 }, { 4, 3 } },
      { { 5, 3, 7 }, { 2, 2, 2 } } } do
      covers({ global = case[1], group = case[2], remainder = "pad" }, "bounded")
      covers({ global = case[1], remainder = "pad" }, "bounded")
    end
  end)

  it("with the driver's group covers each item once", function()
    for _, global in ipairs { { 1 }, { 257 }, { 13, 7 }, { 3, 5, 7 } } do
      covers { global = global, group = "driver" }
      covers { global = global, group = "driver", offset = { 1, #global > 1 and 2 or nil, #global > 2 and 3 or nil } }
    end
  end)

  it("has groups of the size asked for", function()
    for _, case in ipairs { { { 12 }, { 4 } }, { { 12, 6 }, { 3, 2 } }, { { 4, 4, 6 }, { 2, 1, 3 } } } do
      local global, group = case[1], case[2]
      local width, height = global[1], global[2] or 1
      local sizes = d:zeros("int", width * height * (global[3] or 1))
      p.groups({ global = global, group = group }, sizes, width, height)
      for _, size in ipairs(sizes:read()) do
        assert.equal(group[1] + 100 * (group[2] or 1) + 10000 * (group[3] or 1), size)
      end
    end
  end)

  it("splits into SZ1 = OGS * floor(M / OGS) and the rest", function()
    local sizes = d:zeros("int", 11)
    p.groups({ global = { 11 }, group = { 4 }, remainder = "split" }, sizes, 11, 1)
    assert.same({ 4, 4, 4, 4, 4, 4, 4, 4, 3, 3, 3 }, (function()
      local got = sizes:read()
      for i, size in ipairs(got) do got[i] = size % 100 end
      return got
    end)())
  end)

  it("tells the number of work-items to a kernel that asks, when nothing was said of groups", function()
    local k = d:program("kernel void k(global int *c) { c[get_global_id(0)] = get_global_size(0); }").k
    for _, n in ipairs { 1, 17, 251, 257 } do
      local c = d:zeros("int", n)
      k(n, c)
      for _, size in ipairs(c:read()) do assert.equal(n, size) end
    end
  end)

  it("takes the group that a kernel requires", function()
    covers({ 8, 6 }, "required")
    covers({ global = { 8, 6 }, group = { 4, 2 } }, "required")
    covers({ global = { 8, 6, 3 }, group = { 4, 2, 1 }, offset = { 4, 2, 1 } }, "required")
    covers({ global = { 8, 6 }, group = "driver" }, "required")
    covers({ 0, 6 }, "required")
    local c = d:zeros("int", 100)
    for _, case in ipairs {
      { { 9, 6 }, "requires groups of 4x2x1, which do not divide 9x6" },
      { { 8 }, "requires a group of 4x2x1, more dimensions than the range has" },
      { { global = { 8 }, remainder = "pad" }, "more dimensions than the range has" },
      { 8, "more dimensions than the range has" },
      { { global = { 9, 6 }, remainder = "split" }, "requires groups of 4x2x1" },
      { { global = { 9, 6 }, group = "driver" }, "requires groups of 4x2x1" },
      { { global = { 8, 6 }, group = { 2, 2 } }, "requires a group of 4x2x1, got 2x2" },
      { { global = { 8, 6 }, group = { 4, 1 } }, "requires a group of 4x2x1, got 4x1" },
    } do helper.raises({ "kernel 'required'", case[2] }, p.required, case[1], c, 10, 10) end
  end)

  it("refuses a remainder unless told what to do with it", function()
    local c = d:zeros("int", 100)
    for _, range in ipairs {
      { global = { 10 }, group = { 4 } }, { global = { 10 }, group = { 4 }, remainder = "error" },
      { global = { 10 }, group = { 16 } }, { global = { 8, 9 }, group = { 4, 2 } },
    } do
      helper.raises({ "kernel 'count'", "no multiple of the group's", "split", "pad" }, p.count, range, c, 10, 10)
    end
    helper.raises("in dimension 1", p.count, { global = { 8, 9 }, group = { 4, 2 } }, c, 10, 10)
  end)

  it("with native remainder groups covers each item once where the device has them", function()
    for _, case in ipairs { { { 12 }, { 4 } }, { { 12, 9 }, { 4, 3 } } } do -- uniform: every device takes these
      covers { global = case[1], group = case[2], remainder = "native" }
    end
    local c = d:zeros("int", 100)
    local NATIVE = { global = { 10 }, group = { 4 }, remainder = "native" }
    if not d.has_nonuniform_groups then
      return helper.raises({ "kernel 'count'", "groups of different sizes", '"split"', '"pad"' }, p.count, NATIVE, c,
        10, 1)
    end
    local old = d:program(COUNT, { options = "-cl-std=CL1.2" })
    helper.raises({ "CL_INVALID_WORK_GROUP_SIZE", "-cl-std=CL2.0" }, old.count, NATIVE, c, 10, 1)
    local sizes = d:zeros("int", 10)
    d:program(COUNT, { options = "-cl-std=CL2.0" }).groups(NATIVE, sizes, 10, 1)
    for i, size in ipairs(sizes:read()) do assert.equal(i <= 8 and 4 or 2, size % 100) end
    helper.raises("requires groups of 4x2x1", p.required, { global = { 9, 6 }, remainder = "native" }, c, 10, 10)
  end)

  it("refuses groups beyond the limits of device and kernel", function()
    local c = d:zeros("int", 1)
    local most = p.touch:info().group_size
    helper.raises({ "kernel 'touch'", tostring(most + 1) }, p.touch, { global = { most + 1 }, group = { most + 1 } }, c)
    helper.raises({ "kernel 'touch'", most .. "x2 exceeds" }, p.touch, { global = { most, 2 }, group = { most, 2 } }, c)
    helper.raises({ "kernel 'touch'", tostring(2 ^ 31 - 1 | 0) }, p.touch,
      { global = { 2 ^ 31 - 1 }, group = { 2 ^ 31 - 1 } }, c)
    p.touch({ global = { most }, group = { most } }, c):wait()
    assert.equal(1, c[1])
  end)

  it("refuses what is no range", function()
    local c = d:zeros("int", 1)
    local huge, nan = math.huge, 0.0 / 0.0
    for _, case in ipairs {
      { nil, "range: n, {nx, ny} or {global=} expected, got nil" }, { "8", "range" }, { true, "range" },
      { print, "range" }, { c, "range" }, { -1, "dimension 0: -1 is outside" },
      { 0.5, "dimension 0: integer expected, got 0.5" },
      { nan, "integer expected" }, { huge, "integer expected" }, { -huge, "integer expected" }, { 2 ^ 31, "outside" },
      { 1e300, "integer expected" }, { math.maxinteger, "outside" }, { math.mininteger, "outside" },
      { { 1, -1 }, "dimension 1: -1" }, { { 1, 1, 0.5 }, "dimension 2" },
      { { { 128 }, { 64 } }, "dimension 0: integer expected, got table; { global = {...}, group = {...} } has two" },
      { { 1, "2" }, "dimension 1: integer expected, got 2" },
      { { 1, 2, 3, 4 }, "1 to 3 dimensions expected, got 4" }, { { {} }, "dimension 0" },
      { { 1, nil, 3 }, "dimension" }, { { 2 ^ 31 - 1, 2 ^ 31 - 1 }, "more than 2^40 work-items" },
      { { 2 ^ 31 - 1, 2 ^ 31 - 1, 2 ^ 31 - 1 }, "more than 2^40 work-items" },
      { {}, "range expected: n, {nx, ny} or {global=}, got a table without sizes" },
      { { global = {} }, "1 to 3 dimensions expected, got 0" },
      { { global = "8" }, "option 'global'" }, { { global = { 8 }, groups = { 4 } }, "no option 'groups'" },
      { { global = { 8 }, ["local"] = { 4 } }, "no option 'local'; write group = {...}" },
      { { 8, group = { 4 } }, "takes no 'group'" }, { { 8, group = 4 }, "takes no 'group'" },
      { { 8, offset = { 4 } }, "takes no 'offset'" },
      { { group = { 4 } }, "range expected: n, {nx, ny} or {global=}, got a table without sizes" },
      { { global = { 8 }, group = { 0 } }, "option 'group': dimension 0: 0" },
      { { global = { 8 }, group = { -4 } }, "option 'group'" },
      { { global = { 8 }, group = { 0.5 } }, "option 'group'" },
      { { global = { 8 }, group = { nan } }, "option 'group'" },
      { { global = { 8 }, group = { 2, 2 } }, "option 'group'" },
      { { global = { 8, 8 }, group = { 2 } }, "option 'group'" },
      { { global = { 8, 8 }, group = 2 }, "option 'group'" },
      { { global = { 8 }, group = "auto" }, 'sizes or "driver" expected, got "auto"' },
      { { global = { 8 }, group = true }, "option 'group'" },
      { { global = { 8 }, offset = { -1 } }, "option 'offset'" },
      { { global = { 8 }, offset = { 0.5 } }, "option 'offset'" },
      { { global = { 8 }, offset = { 1, 1 } }, "option 'offset'" },
      { { global = { 8 }, offset = "1" }, "option 'offset'" },
      { { global = { 2 }, offset = { 2 ^ 31 - 1 } }, "offset and global size pass 2^31 in dimension 0" },
      { { global = { 8 }, offset = { math.maxinteger } }, "option 'offset'" },
      { { global = { 8 }, remainder = "drop" }, "option 'remainder': no 'drop'; there are error, split, pad, native" },
      { { global = { 8 }, remainder = true }, "option 'remainder'" },
    } do helper.raises(case[2], p.touch, case[1], c) end
    assert.equal(0, c[1])
  end)

  it("of size 0 checks its arguments and returns a finished event", function()
    local c = d:zeros("int", 1)
    for _, range in ipairs { 0, { 0, 5 }, { 5, 0, 5 }, { global = 0, group = 64 },
      { global = { 0 }, offset = { 7 } } } do
      assert.equal("complete", p.touch(range, c):wait().status)
      helper.raises("int buffer expected", p.touch, range, 1)
      helper.raises("takes 1 argument", p.touch, range)
    end
    assert.equal(0, c[1])
  end)

  it("is right for a kernel whose calls hide behind the preprocessor", function()
    local folder = helper.folder()
    helper.write(folder .. "/total.h", "int total(void) { return (int)get_global_size(0); }\n")
    local head = "kernel void f(global int *x) { x[get_global_id(0)] = "
    local chain = "int h0(void) { return (int)get_global_size(0); }\n"
    for i = 1, 150 do chain = chain .. ("int h%d(void) { return h%d(); }\n"):format(i, i - 1) end
    for name, source in pairs {
      include = '#include "total.h"\n' .. head .. "total(); }",
      ["a macro of a CRLF file"] = "#define G(d) \\\r\n get_global_size(d)\r\n" .. head .. "G(0); }\r\n",
      ["a macro whose line goes on behind blanks"] = "#define W \\ \n get_global_size(0)\n" .. head .. "W; }",
      ["a macro whose line goes on in a comment"] = "#define W /*\n*/ get_global_size(0)\n" .. head .. "W; }",
      ["a spliced line"] = head .. "get_glo\\\nbal_size(0); }",
      ["branches that close a block twice"] = "kernel void f(global int *x) { int i = get_global_id(0); if (x) {\n"
        .. "#ifndef A\n x[i] = 0; }\n#else\n x[i] = 1; }\n#endif\n x[i] = get_global_size(0); }",
      ["branches that open one twice"] = "int h(void);\n" .. head .. "h(); }\n#ifdef A\nint u(int a) {\n#else\n"
        .. "int u(float a) {\n#endif\n return 1; }\nint h(void) { return (int)get_global_size(0); }",
      ["a long chain of calls"] = chain .. head .. "h150(); }",
    } do
      local k, x = d:program(source, { include = { folder } }).f, d:zeros("int", 300)
      k(300, x)
      for i, v in ipairs(x:read()) do assert.equal(300, v, name .. " at " .. i) end
      helper.raises("speak of one part", k, { global = 300, group = 16, remainder = "split" }, x)
    end
    os.remove(folder .. "/total.h")
    os.remove(folder)
  end)
end)

describe("a split range", function()
  local d = helper.device()
  local SPLIT = { global = { 10 }, group = { 4 }, remainder = "split" }
  local HEAD, USE = "kernel void k(global int *c) { c[get_global_id(0)] = ", "; }\n"

  local function launch(source, options) return pcall(d:program(source, options).k, SPLIT, d:zeros("int", 10)) end

  local function refused(call, source, options)
    local ok, message = launch(source, options)
    assert.is_false(ok, source)
    assert.truthy(message:find("kernel 'k' calls " .. call, 1, true), message)
    assert.truthy(message:find("pad", 1, true), message)
  end

  it("is refused for a kernel that asks for its group's number or the size of the range", function()
    for _, call in ipairs { "get_group_id", "get_num_groups", "get_global_size" } do
      refused(call, HEAD .. call .. "(0)" .. USE)
    end
    -- OpenCL C 1.x lacks this one
    refused("get_enqueued_local_size", "#include <clcompute/work_group.h>\n" .. HEAD
      .. "get_enqueued_local_size(0)" .. USE)
    refused("get_group_id", HEAD .. "get_group_id /* which */ (0)" .. USE)
  end)

  it("is refused when the call hides in a function, a macro or a define", function()
    refused("get_group_id", "int f(int i) { return i + get_group_id(0); }\n" .. HEAD .. "f(1)" .. USE)
    refused("get_group_id", "int f(int i);\n" .. HEAD .. "f(1)" .. USE .. "int f(int i) { return get_group_id(0); }")
    refused("get_num_groups",
      "int g(void) { return get_num_groups(0); }\nint f(int i) { return g() + i; }\n" .. HEAD .. "f(1)"
        .. USE)
    refused("get_group_id", "#define GROUP get_group_id(0)\n" .. HEAD .. "GROUP" .. USE)
    refused("get_group_id", "#define GROUP(d) \\\n  (1 + get_group_id(d))\n" .. HEAD .. "GROUP(0)" .. USE)
    refused("get_group_id", "#define ONE get_group_id(0)\n#  define TWO (2 * ONE)\n" .. HEAD .. "TWO" .. USE)
    refused("get_group_id", "void f(void) {\n#define GROUP get_group_id(0)\n}\n" .. HEAD .. "GROUP" .. USE)
    refused("get_group_id", HEAD .. "GROUP" .. USE, { defines = { GROUP = "get_group_id(0)" } })
    refused("get_group_id", HEAD .. "GROUP" .. USE, { options = "-w -DGROUP=get_group_id(0)" })
  end)

  it("is refused when the kernel's head is a macro's or carries attributes", function()
    refused("get_group_id", "#define HEAD(name) kernel void name(global int *c)\n"
      .. "HEAD(k) { c[get_global_id(0)] = get_group_id(0); }")
    refused("get_group_id",
      "#define MAKE(n, T) kernel void n(global T *c) { c[get_global_id(0)] = get_group_id(0); }\n"
      .. "MAKE(k, int)")
    refused("get_group_id", "kernel __attribute__((work_group_size_hint(4, 1, 1))) void k(global int *c)"
      .. "{ c[0] = get_group_id(0); }")
    refused("get_group_id", "__attribute__((work_group_size_hint(4, 1, 1)))\nkernel void k(global int *c)"
      .. "{ c[0] = get_group_id(0); }")
    refused("get_group_id", "kernel void k(global int *c) __attribute__((work_group_size_hint(4, 1, 1)))"
      .. "{ c[0] = get_group_id(0); }")
  end)

  it("is refused when a macro can paste the name together, or that of a function that calls it", function()
    local paste = "#define PASTE(a, b) a##b\n"
    refused("get_group_id", paste .. HEAD .. "PASTE(get_gro, up_id)(0)" .. USE)
    refused("get_group_id", "#define GET(what) get_##what##_id(0)\n" .. HEAD .. "GET(group)" .. USE)
    refused("get_num_groups", "int f_1(void) { return get_num_groups(0); }\n#define F(n) f_##n()\n" .. HEAD .. "F(1)"
      .. USE)
  end)

  it("is refused when a macro writes the function that calls it, or a symbol's name stands for it", function()
    local call = "(void) { return get_group_id(0); }\n"
    refused("get_group_id", "#define WRITE(n) int n##_f" .. call .. "WRITE(my)\n" .. HEAD .. "my_f()" .. USE)
    refused("get_group_id", "#define NAME(n) n##_f\nint NAME(my)" .. call .. HEAD .. "my_f()" .. USE)
    refused("get_group_id", "#define NAME f\nint NAME" .. call .. HEAD .. "f()" .. USE)
    if d.type ~= "cpu" then return end -- whose compiler finds no function by the name of its symbol
    refused("what asm or redefine_extname", 'int f(uint d) __asm__("_Z12get_group_idj");\n' .. HEAD .. "f(0)" .. USE)
    refused("what asm or redefine_extname",
      "#pragma redefine_extname f _Z12get_group_idj\nint f(uint d);\n" .. HEAD .. "f(0)" .. USE)
  end)

  it("has its rest in one group for a kernel that asks for its group by a name that a macro pastes", function()
    local sizes = d:zeros("int", 10)
    d:program("#define PASTE(a, b) a##b\n" .. HEAD .. "PASTE(get_lo, cal_size)(0)" .. USE).k(SPLIT, sizes)
    assert.same({ 4, 4, 4, 4, 4, 4, 4, 4, 2, 2 }, sizes:read())
  end)

  it("is taken when what macros paste is another name", function()
    local paste = "#define PASTE(a, b) a##b\n"
    for _, source in ipairs {
      paste .. "kernel void other(global int *c) { int b = get_group_id(0), a = 1, r = 2, i = 3, e = 4; "
        .. 'c[b] = a + r + i + e; }\n#define UNROLL _Pragma("unroll")\n' .. HEAD
        .. "PASTE(1, u); UNROLL for (int i = 0; i < 2; i++) c[0] = 1" .. USE,
      paste .. HEAD .. "PASTE(1, u)" .. USE,
      paste .. "kernel void other(global int *c) { c[0] = get_group_id(0); }\n" .. HEAD .. "1" .. USE,
      paste .. "int get_group_identity(void) { return 1; }\n" .. HEAD .. "PASTE(get_group_, identity)()" .. USE,
    } do
      local ok, message = launch(source)
      assert.is_true(ok, source .. "\n" .. tostring(message))
    end
    local x, out = d:buffer { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 }, d:zeros("float", 10)
    d:kernel("map_vectors")(SPLIT, 10, out, 0, x, 0)
    assert.same(x:read(), out:read())
  end)

  it("is taken when the name stands in a comment, a string, another kernel or a longer name", function()
    for _, source in ipairs {
      "// get_group_id(0)\n" .. HEAD .. "1 /* get_group_id(0)\n get_num_groups(0) */" .. USE,
      HEAD .. "1 // get_group_id(0)\n" .. USE,
      "// as in \\\n get_group_id(0)\n" .. HEAD .. "1 // or \\\n get_group_id(0)\n" .. USE,
      HEAD .. "1" .. USE .. "kernel void other(global int *c) { c[0] = get_group_id(0); }",
      "kernel void other(global int *c) { if (c[0]) { c[0] = get_group_id(0); } }\n" .. HEAD .. "1" .. USE,
      "int get_group_identity(void) { return 1; }\n" .. HEAD .. "get_group_identity()" .. USE,
      "#define UNUSED get_group_id(0)\nint f(void) { return UNUSED; }\n" .. HEAD .. "1" .. USE,
      "kernel void k(global int *c) { constant char *s = \"get_group_id(0) \\\" }\";"
        .. "c[get_global_id(0)] = s[0] == 'g'; }",
      "struct S { int a; };\nconstant int table[2] = { 1, 2 };\n" .. HEAD .. "table[0]" .. USE,
    } do
      local ok, message = launch(source)
      assert.is_true(ok, source .. "\n" .. tostring(message))
    end
  end)

  it("is taken in texts that end in a directive or a comment", function()
    -- the scanner must not run past the end
    for _, tail in ipairs { "// end", "/* end */", "#define X", "#define X \\\n", "#pragma x '", "#undef Y" } do
      assert.is_true((launch(HEAD .. "1" .. USE .. tail)))
    end
  end)

  it("is one event for all its parts", function()
    local c = d:zeros("int", 10)
    d:timing(true)
    local e = d:program(HEAD .. "1" .. USE).k(SPLIT, c)
    d:timing(false)
    local times = e:profile()
    assert.is_true(times.queued <= times.submitted and times.submitted <= times.started
      and times.started <= times.finished)
    assert.near(times.finished - times.started, e.seconds, 1e-6)
  end)

  it("lets a kernel that calls them have a range without a group", function()
    local c = d:zeros("int", 17)
    d:program(HEAD .. "get_group_id(0) * 1000 + get_local_size(0)" .. USE).k(17, c)
    local got = c:read()
    assert.equal(got[1] % 1000, got[17] % 1000)
    assert.equal(17 // (got[1] % 1000) - 1, got[17] // 1000)
  end)
end)
