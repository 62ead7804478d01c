-- SPDX-License-Identifier: MIT
--- Corners of the C core that no other spec comes to, as `make coverage` tells.

local cl = require "clcompute"
local helper = require "spec.helper"

helper.describe_each("in a corner", function(d)
  it("an element of a matrix is not set by one index", function()
    local m = d:zeros("float", 2, 3)
    helper.raises("b[i] = v is for one dimension; this buffer has 2", function() m[1] = 5 end)
  end)

  it("names of arguments that are too long keep both ends", function()
    local name = "a" .. ("b"):rep(200) .. "c"
    local p = d:program(("kernel void f(global int *%s) { %s[0] = 7; }"):format(name, name))
    local x = d:zeros("int", 1)
    p.f(1, x)
    assert.equal(7, x[1])
    assert.matches("^ab+%.%.%.b+c$", p.f.args[1].name)
  end)

  it("programs and kernels tell their device", function()
    local p = d:program "kernel void f(global int *x) { x[0] = 1; }"
    assert.equal(d, p.device)
    assert.equal(d, p.f.device)
  end)

  it("a kernel is called with a range, and has no field that is no name", function()
    local k = d:program("kernel void f(global int *x) { x[0] = 1; }").f
    helper.raises("kernel 'f' is called with a range first", k)
    helper.raises("has no field '1'", function() return k[1] end)
    helper.raises("has no field '1'", function() return k(1, d:zeros("int", 1))[1] end)
  end)

  it("a source in a folder with a blank is built, and finds nothing beside it", function()
    local folder = helper.folder()
    os.execute(("mkdir '%s/a b'"):format(folder))
    finally(function() os.execute("rm -r " .. folder) end)
    local path = folder .. "/a b/f.cl"
    local function write(text)
      local file <close> = assert(io.open(path, "w"))
      file:write(text)
    end
    write "kernel void f(global int *x) { x[0] = 5; }"
    local x = d:zeros("int", 1)
    d:program({ file = path }).f(1, x)
    assert.equal(5, x[1])
    write "#include \"g.h\"\nkernel void f(global int *x) { x[0] = 5; }"
    assert.is_false(pcall(d.program, d, { file = path }))
  end)

  it("directives may be empty, deep and left open around kernels that use work-group functions", function()
    local deep = {}
    for i = 1, 70 do deep[i] = "#if 1\n" end
    local p = d:program(([[
      #include <clcompute/work_group.h>
      #
      # /* nothing */
      #ifdef NOWHERE
      kernel void f(global int *x) {
      #elif 1
      %s
      kernel void f(global int *x) {
      %s
      #else
      kernel void f(global int *x, int y) {
      #endif
        const int sum = work_group_reduce_add((int)get_local_id(0));
        x[get_global_id(0)] = sum;
      }]]):format(table.concat(deep), ("#endif\n"):rep(70)))
    local x = d:zeros("int", 16)
    p.f({ global = 16, group = 8 }, x)
    assert.equal(28, x[16])
  end)

  it("a file is included by its absolute path", function()
    local header, source = os.tmpname(), os.tmpname()
    local write = helper.write
    write(header, "#define SEVEN 7\n")
    write(source, ('#include "%s"\nkernel void f(global int *x) { x[0] = SEVEN; }'):format(header))
    local x = d:zeros("int", 1)
    d:program({ file = source }).f(1, x)
    assert.equal(7, x[1])
    os.remove(header)
    os.remove(source)
  end)

  it("a file that is included may hold bytes that are no text, and is left to the compiler", function()
    local path = os.tmpname()
    helper.write(path, "#define A 3\n\0\n")
    local x = d:zeros("int", 1)
    local p = d:program(('#include "%s"\nkernel void k(global int *x) { x[0] = A; }'):format(path))
    p.k(1, x)
    os.remove(path)
    assert.equal(3, x[1])
  end)

  it("a view of a view that nowhere starts where one may is refused without advice", function()
    local copy = d:program("kernel void f(global float *x) { x[0] = 1; }").f
    helper.raises("no other first of that buffer is one", copy, 1, d:zeros("float", 16):view(2, 8):view(2, 3))
  end)

  it("mapped writes take all bytes of a buffer", function()
    local write = require("clcompute.core.internal").write_mapped
    helper.raises("8 bytes expected, got 3", write, d:zeros("int", 2), "abc")
  end)

  it("a product of empty matrices may be too large for any memory", function()
    helper.raises("elements do not fit in memory", cl.gemm, d:empty("float", 1 << 31, 0), d:empty("float", 0, 1 << 31))
  end)
end)

describe("in a corner", function()
  it("the sequential scan takes floats", function()
    local sequential = require "clcompute.sequential"
    local out = sequential.scan(("<ffff"):pack(1, 2, 3, 4), "float")
    assert.same({ 1, 3, 6, 10 }, table.move({ ("<ffff"):unpack(out) }, 1, 4, 1, {}))
  end)

  it("POCL's threads are pinned only where one process has all processors, and follow its affinity mask", function()
    if #cl.devices "portable" == 0 then return pending "no POCL" end
    local lua = helper.lua
    finally(function() helper.lua = lua end)
    local script = "require 'clcompute' print(os.getenv 'POCL_AFFINITY', os.getenv 'POCL_MAX_PTHREAD_COUNT')"
    local function variables(words, environment)
      helper.lua = "env -u POCL_AFFINITY -u POCL_MAX_PTHREAD_COUNT " .. words .. lua
      return helper.output(script, environment)
    end
    local processors = io.popen "getconf _NPROCESSORS_ONLN":read "n"
    local is_one = processors == 1
    assert.equal("1\tnil\n", variables(""))
    assert.equal(is_one and "1\tnil\n" or "nil\t1\n", variables("taskset -c 0 "))
    for _, launched in ipairs { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "SLURM_PROCID" } do
      assert.equal("nil\tnil\n", variables("", { [launched] = "2" }))
    end
    helper.lua = "env " .. lua -- what the user says stays
    assert.equal("0\t1\n", helper.output(script, { POCL_AFFINITY = "0", POCL_MAX_PTHREAD_COUNT = "1" }))
    helper.lua = "env -u POCL_MAX_PTHREAD_COUNT " .. lua
    assert.equal("0\tnil\n", helper.output(script, { POCL_AFFINITY = "0" }))
    helper.lua = "env -u POCL_AFFINITY " .. lua
    assert.equal(is_one and "1\t1\n" or "nil\t1\n", helper.output(script, { POCL_MAX_PTHREAD_COUNT = "1" }))
  end)

  it("a finalizer that runs after the library has ended makes nothing", function()
    local output = helper.output [[
      local cl
      local last = setmetatable({}, { __gc = function() print(select(2, pcall(cl.device))) end })
      cl = require "clcompute"
      cl.device():zeros("int", 1):read() ]]
    assert.matches("cannot make a device: the Lua state is closing", output)
  end)
end)

describe("at the edges of what is allowed", function()
  local d = helper.device()
  local x, m, e = d:zeros("int", 4), d:zeros("int", 3, 4), d:zeros("int", 3, 0)
  local p = d:program "kernel void f(global int *x) { x[0] = 1; }"

  local function refused(rows)
    for _, row in ipairs(rows) do helper.raises(row[1], table.unpack(row, 2)) end
  end

  it("lists have whole keys from 1 to their length", function()
    for _, key in ipairs { 1.5, 0, -1, 9, "1", true } do
      helper.raises(("a list has no key '%s'"):format(key), d.buffer, d, { 1, 2, [key] = 3 })
    end
    refused {
      { "no elements of its own", d.buffer, d, setmetatable({}, { __index = {} }) },
      { "no elements of its own", d.buffer, d, setmetatable({}, { __len = function() return 2 end }) },
    }
  end)

  it("cuts begin and end within", function()
    for _, key in ipairs { 0, 4, 1.5, "a" } do
      helper.raises(("got the key '%s'"):format(key), m.slice, m, { [key] = 1 })
    end
    refused {
      { "0 .. 2 is outside 1 .. 4", x.slice, x, { 0, 2 } }, { "1 .. 5 is outside 1 .. 4", x.slice, x, { 1, 5 } },
      { "4 .. 2 is outside 1 .. 4", x.slice, x, { 4, 2 } }, { "5 .. 5 is outside 1 .. 4", x.slice, x, 5 },
      { "0 .. 0 is outside 1 .. 4", x.slice, x, 0 }, { "4 .. 4 is outside 1 .. 3", m.slice, m, 4 },
    }
    assert.equal(0, x:slice({ 5, 4 }).count)
  end)

  it("rectangles have two or three sides, within", function()
    local to = d:zeros("int", 3, 4)
    local function copy(options)
      options.to = to
      return m:copy_rect(options)
    end
    refused {
      { "list of 2 or 3 integers", copy, { size = { 2 } } }, { "list of 2 or 3 integers", copy, { size = {} } },
      { "list of 2 or 3 integers", copy, { size = { 1, 1, 1, 1 } } }, { "outside 1 .. 3", copy, { size = { 4, 1 } } },
      { "outside 1 .. 4", copy, { size = { 1, 5 } } }, { "outside 1 .. 3", copy, { size = { 2, 2 }, at = { 3, 4 } } },
      { "outside 1 .. 3", copy, { at = { 4, 1 } } }, { "a buffer of 1 dimension needs it", x.copy_rect, x, { to = x } },
    }
    assert.equal(m, copy { size = { 0, 2 } })
  end)

  it("rectangles within one memory arrive as they were, whatever their pitches", function()
    for _, row in ipairs { { 8, 40 }, { 4, 3 }, { 4, 2 }, { 4, 4 }, { 8, 2 }, { 5, 10 } } do -- to_pitch, to_at
      local before = {}
      for i = 1, 64 do before[i] = i end
      local b = d:buffer(before, "int")
      b:copy_rect { to = b, size = { 3, 2 }, pitch = 4, to_pitch = row[1], to_at = row[2] }
      local expected = table.move(before, 1, 64, 1, {})
      for i = 0, 2 do
        for j = 0, 1 do expected[row[2] + i * row[1] + j] = before[1 + i * 4 + j] end
      end
      assert.same(expected, b:read(), row[1] .. ", " .. row[2])
    end
  end)

  it("rows without elements take nothing else", function()
    for _, nothing in ipairs { "", {}, e, d:host("int", 0) } do assert.equal(e, e:write(nothing)) end
    refused {
      { "4 bytes are not whole rows of 0 bytes", e.write, e, "abcd" }, { "table expected", e.write, e, { 1 } },
      { "1 elements are not whole rows of 0", e.write, e, d:host("int", 1) }, { "rows of 0 elements", e.write, e, x },
    }
  end)

  it("launches have 2^40 work-items, buffers for buffers, and arguments that the kernel has", function()
    local s = d:record(function()
      x:fill(2)
      p.f(1, x)
    end)
    refused {
      { "2097152x2097152 is more than 2^40 work-items", p.f, { 1 << 21, 1 << 21 }, x },
      { "int buffer expected, got sampler", p.f, 1, d:sampler() },
      { "takes 1 arguments, got 0", s.set, s, 1, 0, x }, { "takes 1 arguments, got 2", s.set, s, 1, 2, x },
    }
    assert.equal("kernel 'f'", tostring(s.launches))
    assert.same({ 4, 2 }, cl.range({ global = { 8, 4 }, group = { 4, 2 } }).group)
    assert.equal("image1d", d:image("r float", 4, {}).kind)
    local h = d:host("int", 3)
    for _, first in ipairs { 0, 5 } do
      helper.raises(("1 elements from %d do not fit in 1 .. 3"):format(first), h.write, h, { 1 }, first)
    end
    assert.equal(h, h:write({}, 4))
  end)

  it("texts have directives that say nothing, and quotes in quotes", function()
    local quotes = d:program "#\nkernel void f(global int *x) { x[0] = '\\'' + '\"'; }"
    quotes.f(1, x)
    assert.equal(39 + 34, x[1])
  end)

  it("a batch has pivots of each system, and no method of one", function()
    local a, b = d:random("float", 3, 4, 4, { seed = 1 }), d:random("float", 3, 4, 1, { seed = 2 })
    local _, info = cl.gauss(a, b)
    assert.equal(4, #info.pivots[3])
    for _, key in ipairs { 0, 4, "x" } do assert.is_nil(info.pivots[key]) end
    helper.raises("does not go with a batch", cl.gauss, a, b, { kernel = "paper" })
  end)

  it("paths have the length that the system takes", function()
    helper.raises("save: ", x.save, x, ("x"):rep(5000))
  end)

  it("operators take buffers of one device", function()
    local other
    for _, device in ipairs(cl.devices()) do other = device.place ~= d.place and device or other end
    if not other then return pending "one device" end
    helper.raises("lives on another device", function() return x + other:zeros("int", 4) end)
  end)
end)
