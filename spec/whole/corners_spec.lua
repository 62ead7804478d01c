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
