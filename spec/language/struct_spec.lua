-- SPDX-License-Identifier: MIT
--- cl.struct: its layout against that of each device's compiler, and what it packs against what kernels see.

local cl = require "clcompute"
local helper = require "spec.helper"

--- Structs with a field of each dtype that the device has, of all widths, arrays and structs in structs.
local function structs_of(d)
  local text, n = {}, 0
  for _, dtype in ipairs(helper.dtypes(d)) do
    if dtype ~= "half" then
      n = n + 1
      text[n] = ("uchar pad%d; %s%s v%d;"):format(n, dtype, ({ "", "2", "3", "4", "8", "16" })[n % 6 + 1], n)
    end
  end
  local widths = cl.struct("widths", table.concat(text, "\n"))
  local cell = cl.struct("cell", "char a; float3 b; short c[3]; unsigned int d, e[2][2]; /* f */ uchar last; // end")
  local pair = cl.struct("pair", "uchar x; cell c[2]; struct cell d; long size;", { structs = { cell } })
  local bytes = cl.struct("bytes", "uchar a[5];")
  return { widths, cell, pair, bytes }
end

--- A kernel that tells size and offsets, in the order of the names.
local function layout_kernel(struct, names)
  local lines = { ("out[0] = sizeof(%s);"):format(struct.name) }
  for i, name in ipairs(names) do
    lines[i + 1] = ("out[%d] = (private char *)&s.%s - (private char *)&s;"):format(i, name)
  end
  return ("%skernel void layout_%s(global ulong *out) { %s s; %s }\n"):format(struct.source, struct.name, struct.name,
    table.concat(lines, " "))
end

local SEEN = [[
  kernel void see(global const struct pair *p, const pair q, global float *out) {
    out[0] = p[1].x; out[1] = p[1].d.b.z; out[2] = p[1].c[1].e[1][0]; out[3] = p[0].size;
    out[4] = q.c[0].a; out[5] = q.d.c[2]; out[6] = q.d.last; out[7] = p[0].c[0].b.y;
  }
  kernel void many(const bytes a, const bytes b, const bytes c, const bytes d, const bytes e, const bytes f,
                   const bytes g, global int *out) {
    out[0] = a.a[4] + b.a[4] + c.a[4] + d.a[4] + e.a[4] + f.a[4] + 10 * g.a[4];
  }
  kernel void move(global pair *p) { p[get_global_id(0)].d.b += (float3)(1, 2, 3); }]]

helper.describe_each("a struct", function(d)
  local structs, names, p = structs_of(d), {}, nil
  local _, _, Pair, Bytes = table.unpack(structs)

  setup(function()
    local text = {}
    for i, struct in ipairs(structs) do
      names[i] = {}
      for name in pairs(struct.offsets) do table.insert(names[i], name) end
      text[i] = layout_kernel(struct, names[i])
    end
    p = d:program(table.concat(text) .. SEEN)
  end)

  it("lies as the device's compiler lays it out", function()
    for i, struct in ipairs(structs) do
      local out, expected = d:zeros("ulong", #names[i] + 1), { struct.size }
      p["layout_" .. struct.name](1, out)
      for k, name in ipairs(names[i]) do expected[k + 1] = struct.offsets[name] end
      assert.same(expected, out:read())
    end
  end)

  it("is packed for kernels, by value and behind a pointer", function()
    local out = d:zeros("float", 8)
    local list = {
      { size = 5, c = { { b = { 1, 9, 3 } }, {} } },
      { x = 7, d = { b = { 1, 2, 3 } }, c = { {}, { e = { { 1, 2 }, { 4, 5 } } } } },
    }
    p.see(1, Pair:buffer(d, list), Pair:pack { c = { { a = -6 }, {} }, d = { c = { 1, 2, -8 }, last = 255 } }, out)
    assert.same({ 7, 3, 4, 5, -6, -8, 255, 9 }, out:read())
  end)

  it("is taken by value as often as a kernel has it", function()
    local out, b = d:zeros("int", 1), {}
    for i = 1, 7 do b[i] = Bytes:pack { a = { 0, 0, 0, 0, i } } end
    p.many(1, b[1], b[2], b[3], b[4], b[5], b[6], b[7], out)
    assert.equal(1 + 2 + 3 + 4 + 5 + 6 + 10 * 7, out[1])
  end)

  it("is read from buffers", function()
    local b = Pair:buffer(d, { {}, { x = 7 }, { d = { b = { 10, 20, 30 }, e = { { 1, 2 }, { 3, 4 } } } } })
    assert.same({ 3, Pair.size }, b.shape)
    p.move(3, b)
    local list = Pair:read(b)
    assert.equal(3, #list)
    assert.same({ 1, 2, 3 }, list[2].d.b)
    assert.same({ b = { 11, 22, 33 }, e = { { 1, 2 }, { 3, 4 } }, a = 0, c = { 0, 0, 0 }, d = 0, last = 0 }, list[3].d)
    assert.same({ list[2] }, Pair:read(b, 2, 2))
    b:write(Pair:pack { size = -1 }, 2)
    assert.equal(-1, Pair:read(b, 2)[1].size)
    assert.same({}, Pair:read(Pair:buffer(d, {})))
    helper.raises("rows of " .. Pair.size .. " bytes expected, got 16 bytes in rows of 4", Pair.read, Pair,
      d:zeros("int", 4))
  end)
end)

describe("a struct", function()
  local Cell = cl.struct("cell", "char a; float3 b; half h; ulong size;")

  it("gives back what it packed", function()
    local values = { a = -3, b = { 1.5, -0.0, 1 / 0 }, h = 0.25, size = -1 }
    assert.same(values, Cell:unpack(Cell:pack(values)))
    local two = Cell:pack {} .. Cell:pack(values)
    assert.same(values, Cell:unpack(two, 2))
    assert.same({ a = 0, b = { 0.0, 0.0, 0.0 }, h = 0.0, size = 0 }, Cell:unpack(two))
    assert.equal(("\0"):rep(48), Cell:pack {})
  end)

  it("tells size, alignment, offsets and declaration", function()
    assert.same({ 48, 16, { a = 0, b = 16, h = 32, size = 40 } }, { Cell.size, Cell.align, Cell.offsets })
    assert.equal("typedef struct cell {\n  char a;\n  float3 b;\n  half h;\n  ulong size;\n} cell;\n", Cell.source)
    assert.equal("struct cell, 48 bytes aligned on 16: char a, float3 b, half h, ulong size", tostring(Cell))
    assert.equal("typedef struct s {\n  int a[2][3];\n} s;\n", cl.struct("s", " int  a [2] [ 3 ] ").source)
  end)

  it("refuses values that do not fit, naming the field", function()
    for message, values in pairs {
      ["cell: no field 'colour'; there are a, b, h, size"] = { colour = 1 },
      ["cell: no field '1'"] = { 1 },
      ["cell.a: 128 does not fit char"] = { a = 128 },
      ["cell.a: 0.5 has no integer value"] = { a = 0.5 },
      ["cell.a: number expected, got table"] = { a = {} },
      ["cell.b: table of 3 numbers expected, got number"] = { b = 1 },
      ["cell.b: table of 3 numbers expected, got one of 4"] = { b = { 1, 2, 3, 4 } },
      ["cell.b[2]: number expected, got string"] = { b = { 1, "2", 3 } },
      ["cell.h: 65536 does not fit half"] = { h = 65536 },
      ["cell: table of fields expected, got number"] = 7,
    } do helper.raises(message, Cell.pack, Cell, values) end
    local Nest = cl.struct("nest", "cell c[2][2]; int i[3];", { structs = { Cell } })
    helper.raises("nest.c[2][1].a: 300 does not fit char", Nest.pack, Nest, { c = { { {}, {} }, { { a = 300 }, {} } } })
    helper.raises("nest.c: table of 2 elements expected, got one of 1", Nest.pack, Nest, { c = { {} } })
    helper.raises("nest.i[2]: 0.5 has no integer value", Nest.pack, Nest, { i = { 1, 0.5, 2 } })
    helper.raises("cell[2].a: 300 does not fit char", Cell.buffer, Cell, helper.device(), { {}, { a = 300 } })
    helper.raises("a list has no other keys than 1 .. 1", Cell.buffer, Cell, helper.device(), { {}, a = 1 })
    assert.equal(6, #Cell:buffer(helper.device(), { {}, {}, {}, {}, [6] = {}, [5] = {} }))
    helper.raises("buffer: device expected, got nil", Cell.buffer, Cell, nil, {})
    helper.raises("read: buffer expected, got string", Cell.read, Cell, "cell")
    helper.raises("read: rows 1 to 2 of 0", Cell.read, Cell, Cell:buffer(helper.device(), {}), 1, 2)
    helper.raises("read: rows 1.5 to 0 of 0", Cell.read, Cell, Cell:buffer(helper.device(), {}), 1.5)
    helper.raises("a multiple of 48 bytes expected, got 47", Cell.unpack, Cell, ("x"):rep(47))
    helper.raises("unpack: struct 2 of 1", Cell.unpack, Cell, ("x"):rep(48), 2)
    helper.raises("pack: struct expected, got string; a method is called with a colon", Cell.pack, "cell")
  end)

  it("refuses text that is no list of fields", function()
    for text, message in pairs {
      [""] = "no fields", [";"] = "no fields", ["int"] = "'int' is no field", ["float *p;"] = "'float *p' is no field",
      ["quat q;"] = "no type 'quat'; there are char to ulong", ["float5 x;"] = "no type 'float5'",
      ["struct float x;"] = "no type 'struct float'",
      ["int a[0];"] = "'a[0]' is no field: a name, or one with extents", ["int a[2;"] = "'a[2' is no field",
      ["int a, ;"] = "'' is no field", ["int a; float a;"] = "field 'a' comes twice",
      ["float a b;"] = "no type 'float a'",
      ["int a[4611686018427387904];"] = "an array of more than 2147483648 bytes",
      ["int a[99999999999999999999];"] = "an array of more than", ["char a[2147483648]; char b;"] = "struct: more than",
    } do helper.raises(message, cl.struct, "s", text) end
    for _, text in ipairs { "int kernel;", "float4 a, kernel[2];" } do
      helper.raises("'kernel' is a word of OpenCL C, no name of a field", cl.struct, "s", text)
    end
    helper.raises("'int' is a word of OpenCL C, no name of a field", cl.struct, "s", "unsigned int;")
    helper.raises("'float4' is a word of OpenCL C, no name of a struct", cl.struct, "float4", "int a;")
    assert.equal(4, cl.struct("int5", "int float5;").size)
    helper.raises("a name expected, got 1s", cl.struct, "1s", "int a;")
    helper.raises("text of fields expected, got table", cl.struct, "s", {})
    helper.raises("option 'structs': [1] is no struct but string", cl.struct, "s", "int a;", { structs = { "cell" } })
    local small, large = cl.struct("cell", "int a;"), cl.struct("cell", "int a, b;")
    local message = "option 'structs': [%d] is a second struct of the name 'cell'"
    helper.raises(message:format(2), cl.struct, "s", "cell x;", { structs = { small, large } })
    helper.raises(message:format(1), cl.struct, "cell", "cell x;", { structs = { small } })
    assert.equal(8, cl.struct("s", "struct cell x[2];", { structs = { small, small } }).size)
  end)
end)
