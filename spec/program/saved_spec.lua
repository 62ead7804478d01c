-- SPDX-License-Identifier: MIT
--- p:save and d:program { binary = path }.

local helper = require "spec.helper"
local isolated = require "spec.support.isolated"

local SOURCE = [[
  #include <clcompute/work_group.h>
  typedef float real;
  typedef struct { int a; float4 b; } part;
  enum kind { A, B = 5 };
  kernel void scale(global real *x, const part s, enum kind k, real4 v) {
    x[get_global_id(0)] *= s.a + k + v.y;
  }
  kernel void groups(global int *x) { x[get_group_id(0)] = 1; }
  kernel void sums(global int *x) {
    const int sum = work_group_reduce_add(1);
    if (get_local_id(0) == 0) x[get_group_id(0)] = sum;
  }
  enum wide { WIDE = 0x100000000L };
  kernel void widen(global long *x, enum wide v) { x[0] = v; }
  kernel void dot(global int *x) { x[0] = 7; }]]
SOURCE = SOURCE:gsub("real4", "float4")

local PART = string.pack("i4 xxxx i8 ffff", 3, 0, 1, 2, 3, 4)

--- Runs f(path) with a path for a new file, which is gone afterwards.
local function with_path(f)
  local path = os.tmpname()
  local ok, message = pcall(f, path)
  os.remove(path)
  if not ok then error(message, 0) end
end

--- What the kernels of the program do, and what they refuse.
local function check(d, p)
  local x, y = d:buffer { 1, 2 }, d:zeros("int", 8)
  p.scale(2, x, PART, 5, { 0, 1, 0, 0 })
  assert.same({ 9, 18 }, x:read())
  p.sums({ global = 8, group = 4 }, y)
  p.dot(1, y:view(1, 1))
  local wide = d:zeros("long", 1)
  p.widen(1, wide, 1 << 40)
  assert.equal(1 << 40, wide[1])
  assert.same({ 7, 4, 0 }, { y[1], y[2], y[3] })
  helper.raises({ "kernel 'scale' argument 2 's' (part)", "packed string of 32 bytes expected", "got 3" }, p.scale,
    2, x, "abc", 5, { 0, 0, 0, 0 })
  helper.raises({ "argument 1 'x'", "float buffer expected, got double" }, p.scale, 2, d:zeros("double", 2), PART, 5,
    { 0, 0, 0, 0 })
  helper.raises({ "argument 3 'k'", "0.5 has no integer value" }, p.scale, 2, x, PART, 0.5, { 0, 0, 0, 0 })
  helper.raises("kernel 'groups' calls get_group_id", p.groups, { global = 3, group = 2, remainder = "split" }, y)
  p.scale({ global = 3, group = 2, remainder = "split" }, d:zeros("float", 3), PART, 5, { 0, 0, 0, 0 })
  local names = p.kernels
  table.sort(names)
  assert.same({ "dot", "groups", "scale", "sums", "widen" }, names)
end

--- The strings of a file of p:save: identity, declarations, binary.
local function strings_of(bytes)
  local _, _, _, a, b = string.unpack("<I8I8I8I8I8", bytes)
  return bytes:sub(49, 48 + a), bytes:sub(49 + a, 48 + a + b), bytes:sub(49 + a + b)
end

--- A file with other strings, f(identity, declarations, binary).
local function reseal(bytes, f)
  local parts = { f(strings_of(bytes)) }
  local tail = string.pack("<I8I8I8", #parts[1], #parts[2], #parts[3]) .. table.concat(parts)
  local hash = 0xcbf29ce484222325
  for i = 1, #tail do hash = (hash ~ tail:byte(i)) * 0x100000001b3 end
  return bytes:sub(1, 16) .. string.pack("<i8", hash) .. tail
end

helper.describe_each("a saved program", function(d)
  local case = os.getenv "ISOLATED" and pending or it

  case("does without its source what it did with it", function()
    with_path(function(path)
      local p = d:program(SOURCE, { options = "-cl-mad-enable" })
      assert.equal(p, p:save(path))
      check(d, d:program { binary = path })
      if d.place == isolated.PLACE then
        local i = isolated.device()
        local q = i:program { binary = path }
        check(i, q)
        helper.raises(('makes no binaries; cl.device("%s", {isolated = false}) does'):format(i.place), q.save, q, path)
      end
    end)
  end)

  case("knows nothing of what a macro includes", function()
    local folder, x = helper.folder(), d:zeros("int", 3)
    helper.write(folder .. "/seven.h", "#define N 7\n")
    with_path(function(path)
      local p = d:program("#define FILE \"seven.h\"\n#include FILE\nkernel void f(global int *x) { x[0] = N; }",
        { options = "-I " .. folder })
      os.execute("rm -r " .. folder)
      p:save(path)
      assert.matches("#include MISSING\n", strings_of(helper.read(path)), 1, true)
      local saved, split = d:program { binary = path }, { global = 3, group = 2, remainder = "split" }
      saved.f(1, x)
      assert.equal(7, x[1])
      assert.equal(helper.raises("split", p.f, split, x), helper.raises("split", saved.f, split, x))
    end)
  end)

  case("is saved again as it was", function()
    with_path(function(path)
      d:program(SOURCE, { options = "-cl-mad-enable" }):save(path)
      local identity, declarations = strings_of(helper.read(path))
      assert.matches("\n%-cl%-mad%-enable \n", identity)
      local p = d:program { binary = path }
      os.remove(path)
      p:save(path)
      local again, kernels = strings_of(helper.read(path))
      assert.same({ identity, declarations }, { again, kernels })
      check(d, d:program { binary = path })
    end)
  end)

  case("is refused where it was damaged, or made elsewhere", function()
    with_path(function(path)
      d:program(SOURCE):save(path)
      local bytes = helper.read(path)
      local function refused(text, changed)
        helper.write(path, changed)
        helper.raises({ "option 'binary': " .. path, text }, d.program, d, { binary = path })
      end
      for _, at in ipairs { 9, 17, 25, 40, 49, #bytes // 2, #bytes } do
        refused("is damaged, or of another version", bytes:sub(1, at - 1) .. string.char(bytes:byte(at) ~ 1)
          .. bytes:sub(at + 1))
      end
      refused("is damaged", bytes:sub(1, -2))
      refused("is damaged", bytes .. "x")
      refused("is damaged", bytes:sub(1, 48))
      local lines = {}
      for line in strings_of(bytes):gmatch "[^\n]*\n" do lines[#lines + 1] = line end
      for n = 0, 8 do -- of them: the library, six that name the device, options and suspects
        refused(n < 7 and "was saved for " or "is damaged", reseal(bytes, function(_, ...)
          return table.concat(lines, "", 1, n), ...
        end))
      end
      refused("is no saved program (p:save), and no SPIR-V", bytes:sub(1, 47))
      refused("is no saved program (p:save), and no SPIR-V", "kernel void f() {}")
      refused(("was saved for driver 'another', here is '%s': build the source again"):format(d.driver),
        reseal(bytes, function(identity, ...) return identity:gsub("\n" .. d.driver:gsub("%p", "%%%0") .. "\n",
          "\nanother\n", 1), ... end))
      refused(("was saved for platform 'else', here is '%s'"):format(d.platform),
        reseal(bytes, function(identity, ...) return (identity:gsub("\n[^\n]+", "\nelse", 1)), ... end))
      refused("has other kernels than it says", reseal(bytes, function(identity, kernels, binary)
        return identity, (kernels:gsub("kernel groups", "kernel grapes")), binary
      end))
      helper.write(path, reseal(bytes, function(...) return ... end))
      check(d, d:program { binary = path })
    end)
  end)

  it("of SPIR-V is taken by a device with such a compiler alone", function()
    if d:info().il_version and d:info().il_version:find "SPIR%-V" then return pending "this device takes SPIR-V" end
    with_path(function(path)
      for _, order in ipairs { "<", ">" } do
        helper.write(path, string.pack(order .. "I4I4I4I4I4", 0x07230203, 0x10000, 0, 1, 0))
        helper.raises({ "option 'binary': " .. path, "is SPIR-V, which this device does not take" }, d.program, d,
          { binary = path })
      end
    end)
  end)
end)

describe("a saved program", function()
  local d = helper.device()

  it("takes one path and no options", function()
    local p = d:program "kernel void f(global int *x) { x[0] = 1; }"
    helper.raises("bad argument #1 to 'save' (path expected, got none)", p.save, p)
    helper.raises("the path holds a NUL byte", p.save, p, "a\0b")
    helper.raises("/none/a: ", p.save, p, "/none/a")
    helper.raises({ "/none/a", "No such file" }, d.program, d, { binary = "/none/a" })
    helper.raises("no option 'defines'; there are none", d.program, d, { binary = "a" }, { defines = {} })
    helper.raises("no option 'file'; there are binary", d.program, d, { binary = "a", file = "b" })
    helper.raises("string expected, got number", d.program, d, { binary = 1 })
    p:release()
    helper.raises("program is released", p.save, p, "a")
  end)
end)
