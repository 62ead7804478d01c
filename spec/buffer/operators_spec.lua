-- SPDX-License-Identifier: MIT
--- Operators on buffers, judged by plain Lua, and expressions that keep the values they were written with.

local helper = require "spec.helper"
local cl = require "clcompute"

local ORDER = { "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "float", "double" }
local FORMAT = { char = "i1", uchar = "I1", short = "i2", ushort = "I2", int = "i4", uint = "I4", long = "i8",
  ulong = "i8" }
local RANK = {}
for k, name in ipairs(ORDER) do RANK[name] = k end

local function is_floating(dtype) return dtype == "half" or dtype == "float" or dtype == "double" end

--- A result as an element of a dtype holds it; half stays float.
local function rounded(dtype, v)
  if dtype == "double" then return v + 0.0 end
  if is_floating(dtype) then return (string.unpack("f", string.pack("f", v))) end
  local size = string.packsize(FORMAT[dtype])
  return (string.unpack("<" .. FORMAT[dtype], string.pack("<i8", v):sub(1, size)))
end

local function truth(v) return v and 1 or 0 end

-- --- integers of 64 bits without a sign -------------------------------------------------------

local function divide_unsigned(a, b)
  if b == 0 then return 0 end
  if b < 0 then return math.ult(a, b) and 0 or 1 end
  local quotient = (a >> 1) // b << 1
  return math.ult(a - quotient * b, b) and quotient or quotient + 1
end

local function to_float(a) return a >= 0 and a + 0.0 or ((a >> 1 | a & 1) + 0.0) * 2 end

local UNSIGNED = {
  ["//"] = divide_unsigned, ["%"] = function(a, b) return b == 0 and 0 or a - divide_unsigned(a, b) * b end,
  lt = function(a, b) return truth(math.ult(a, b)) end, le = function(a, b) return truth(not math.ult(b, a)) end,
  gt = function(a, b) return truth(math.ult(b, a)) end, ge = function(a, b) return truth(not math.ult(a, b)) end,
  minimum = function(a, b) return math.ult(a, b) and a or b end,
  maximum = function(a, b) return math.ult(a, b) and b or a end,
}

--- What operators are in Lua, on numbers of the dtype that the operands become.
local BINARY = {
  { "+", function(a, b) return a + b end }, { "-", function(a, b) return a - b end },
  { "*", function(a, b) return a * b end }, { "/", function(a, b) return a / b end, real = true },
  { "//", function(a, b) return math.type(a) == "integer" and (b == 0 and 0 or a // b) or a // b end },
  { "%", function(a, b) return math.type(a) == "integer" and (b == 0 and 0 or a % b) or a % b end },
  { "&", function(a, b) return a & b end, whole = true }, { "|", function(a, b) return a | b end, whole = true },
  { "~", function(a, b) return a ~ b end, whole = true },
}
local FUNCTIONS = {
  { "eq", function(a, b) return truth(a == b) end }, { "ne", function(a, b) return truth(a ~= b) end },
  { "lt", function(a, b) return truth(a < b) end }, { "le", function(a, b) return truth(a <= b) end },
  { "gt", function(a, b) return truth(a > b) end }, { "ge", function(a, b) return truth(a >= b) end },
  { "minimum", math.min, keeps = true }, { "maximum", math.max, keeps = true },
}

local function apply(symbol, a, b)
  return load(("local a, b = ... return a %s b"):format(symbol))(a, b)
end

--- The dtype that operands make; numbers beside buffers are weak.
local function common_of(real, ...)
  local common, has_float
  for _, v in ipairs { ... } do
    if type(v) == "number" then has_float = has_float or math.type(v) == "float"
    elseif not common or RANK[v.dtype] > RANK[common] then common = v.dtype end
  end
  return (real or has_float) and not is_floating(common) and "float" or common
end

--- Elements of an operand at every place of a shape, converted.
local function spread(v, shape, common)
  local list, count = {}, 1
  for _, extent in ipairs(shape) do count = count * extent end
  if type(v) == "number" then
    for i = 1, count do list[i] = is_floating(common) and v + 0.0 or v end
    return list
  end
  local flat = v.values
  for i = 0, count - 1 do
    local rest, at, step = i, 0, 1
    for k = #shape, 1, -1 do
      local place = rest % shape[k]
      rest = rest // shape[k]
      local own = v.shape[k - #shape + #v.shape] or 1
      if own > 1 then at = at + place * step end
      step = step * own
    end
    local element = flat[at + 1]
    local as_float = type(v) == "table" and v.dtype == "ulong" and to_float or function(e) return e + 0.0 end
    list[i + 1] = rounded(common, is_floating(common) and as_float(element) or element)
  end
  return list
end

local SIZE = { char = 1, uchar = 1, short = 2, ushort = 2, int = 4, uint = 4, long = 8, ulong = 8, half = 2, float = 4,
  double = 8 }
local function flat_of(b) return b:reshape(b.bytes // SIZE[b.dtype]):read() end

--- A buffer with a copy of its values: {buffer=, values=, shape=, dtype=}.
local function operand(d, dtype, shape, seed)
  local options = { seed = helper.seed + seed, low = dtype:find "^u" and 0 or -9, high = 9 }
  local extents = { table.unpack(shape) }
  extents[#extents + 1] = options
  local buffer = d:random(dtype, table.unpack(extents))
  return { buffer = buffer, values = flat_of(buffer), shape = shape, dtype = dtype }
end

local function buffer_of(v) return type(v) == "number" and v or v.buffer end

--- Asserts that a buffer has the elements of a list, the last digits of floats aside.
local function has(expected, got, dtype, what)
  assert.equal(#expected, #got, what)
  local unit = dtype == "half" and 2 ^ -10 or dtype == "float" and 2 ^ -22 or 2 ^ -51
  for i, v in ipairs(expected) do
    if is_floating(dtype) then
      local close = v == got[i] or (v ~= v and got[i] ~= got[i])
        or math.abs(v - got[i]) <= unit * math.max(math.abs(v), 1)
      if not close then error(("%s: element %d is %s, not %s"):format(what, i, got[i], v)) end
    elseif v ~= got[i] then
      error(("%s: element %d is %s, not %s"):format(what, i, got[i], v))
    end
  end
end

--- What an operator makes of two operands in Lua: {values=, shape=, dtype=}.
local function expected_of(name, f, shape, a, b, common, dtype)
  f = common == "ulong" and UNSIGNED[name] or f
  local left, right, values = spread(a, shape, common), spread(b, shape, common), {}
  for i = 1, #left do values[i] = rounded(dtype, f(left[i], right[i])) end
  return { values = values, shape = shape, dtype = dtype }
end

--- What cl.profile has in a field of the rows of a kind while a function runs.
local function profiled(kind, field, f)
  local sum = 0
  cl.profile(true)
  f()
  for _, row in ipairs(cl.profile()) do if row.kind == kind then sum = sum + row[field] end end
  cl.profile(false)
  return sum
end

--- How many kernels a function launches.
local function launches_of(f) return profiled("kernel", "calls", f) end

helper.describe_each("operators", function(d)
  local dtypes = helper.dtypes(d)

  --- Asserts what an operator or function makes of two operands, buffers or a buffer and a number.
  local function check(name, f, a, b, common, result, got)
    local want = expected_of(name, f, { 7 }, a, b, common, result)
    assert.equal(result, got.dtype)
    has(want.values, got:read(), result, ("%s %s, as %s"):format(a.dtype, name, common))
  end

  it("have Lua's meaning for every dtype, beside buffers and numbers", function()
    for k, dtype in ipairs(dtypes) do
      local turn = k
      local a, b = operand(d, dtype, { 7 }, k), operand(d, dtypes[k % #dtypes + 1], { 7 }, k + 50)
      -- Each is a kernel to build, which a simulator does soonest: it tries all, other devices a third.
      local function is_tried()
        turn = turn + 1
        return turn % 3 == 0 or helper.is_simulator(d) or helper.long(true)
      end
      for _, other in ipairs { b, k % 2 == 0 and 3 or is_floating(dtype) and -2.5 or 2 } do
        for _, row in ipairs(BINARY) do
          local common = common_of(row.real, a, other)
          if is_tried() and not (row.whole and is_floating(common)) then
            check(row[1], row[2], a, other, common, common, apply(row[1], a.buffer, buffer_of(other)))
          end
        end
      end
      local common = common_of(false, a, b)
      for _, row in ipairs(FUNCTIONS) do
        local result = row.keeps and common or "uchar"
        if is_tried() then check(row[1], row[2], a, b, common, result, cl[row[1]](a.buffer, b.buffer)) end
      end
      local negated = expected_of("-", function(v) return -v end, { 7 }, a, 0, dtype, dtype)
      has(negated.values, (-a.buffer):read(), dtype, "-a")
    end
  end)

  it("put rows, columns, single elements and missing extents beside one another", function()
    local shapes = { { 1 }, { 5 }, { 3, 1 }, { 1, 5 }, { 3, 5 }, { 2, 3, 5 }, { 2, 1, 1 }, { 2, 1, 5 }, { 1, 3, 1 },
      { 2, 2, 3, 5 }, { 2, 2, 1, 5 }, { 2, 1, 3, 1 } }
    for k, left in ipairs(shapes) do
      for j, right in ipairs(shapes) do
        local a, b, shape = operand(d, "float", left, k), operand(d, "int", right, j), {}
        while #shape < math.max(#left, #right) do
          table.insert(shape, 1, math.max(left[#left - #shape] or 1, right[#right - #shape] or 1))
        end
        local want = expected_of("-", function(x, y) return x - y end, shape, a, b, "float", "float")
        local got = a.buffer - b.buffer
        assert.same(shape, got.shape)
        has(want.values, flat_of(got), "float", table.concat(left, "x") .. " - " .. table.concat(right, "x"))
      end
    end
  end)

  it("joined at random are what Lua makes of them", function()
    local random = math.random
    math.randomseed(helper.seed)
    local shapes = { { 4, 6 }, { 6 }, { 4, 1 }, { 1 } }
    for trial = 1, helper.long(200) or 12 do
      local leaves = {}
      for k = 1, 4 do leaves[k] = operand(d, dtypes[random(#dtypes)], shapes[random(#shapes)], trial * 10 + k) end
      local function grow(depth)
        if depth == 0 or random(4) == 1 then
          local leaf = leaves[random(#leaves)]
          return leaf.buffer, leaf
        end
        local left, a = grow(depth - 1)
        local right, b = random(-4, 4), nil
        if random(4) > 1 then right, b = grow(depth - 1) end
        b = b or right
        local row = BINARY[random(5)] -- up to //: a rest is far off where a quotient is near a whole number
        local ok, common = pcall(common_of, row.real, a, b)
        assert(ok, common)
        if type(b) == "number" and not is_floating(common) and b < 0 and common:find "^u" then right, b = 3, 3 end
        if row[1] == "//" and is_floating(common) then row = BINARY[1] end
        local shape = {}
        while #shape < math.max(#a.shape, type(b) == "table" and #b.shape or 0) do
          local own, other = a.shape[#a.shape - #shape] or 1, type(b) == "table" and b.shape[#b.shape - #shape] or 1
          table.insert(shape, 1, math.max(own, other))
        end
        local want = expected_of(row[1], row[2], shape, a, b, common, common)
        if common == "half" then return leaves[1].buffer, leaves[1] end -- rounded when it is stored alone
        return apply(row[1], left, right), want
      end
      local got, want = grow(4)
      assert.equal(want.dtype, got.dtype)
      assert.same(want.shape, got.shape)
      local largest = 1
      for _, v in ipairs(want.values) do
        if math.abs(v) < math.huge then largest = math.max(largest, math.abs(v)) end
      end
      local list = flat_of(got)
      for i, v in ipairs(want.values) do
        local near = v == list[i] or (v ~= v and list[i] ~= list[i]) or math.abs(v) >= 1e30
          or is_floating(want.dtype) and math.abs(v - list[i]) <= 1e-4 * largest
        if not near then error(("trial %d: element %d is %s, not %s"):format(trial, i, list[i], v)) end
      end
    end
  end)

  it("are one launch of one kernel, whatever joins them", function()
    local x, y = d:random("float", 100), d:random("float", 100)
    assert.equal(1, launches_of(function() return (2 * x + y * y - cl.sqrt(cl.abs(x)) / 3):eval() end))
  end)

  it("compute what several expressions have once, where that is much", function()
    local x = d:random("float", 10)
    local much = x
    for _ = 1, 8 do much = much * x end
    local little = x - 1
    assert.equal(3, launches_of(function()
      local a, b = much + 1, much + 2
      a:eval()
      b:eval()
    end))
    assert.equal(1, launches_of(function() return (little * little + little):eval() end))
  end)

  it("read what was computed meanwhile, not what it was computed from", function()
    local x, y = d:random("float", 100), d:random("float", 100)
    local sum = x + y
    local twice = 2 * sum
    sum:eval()
    assert.equal(sum.bytes + twice.bytes, profiled("kernel", "bytes", function() twice:eval() end))
  end)

  it("build nothing for a matrix that lies as a vector does, and was computed as one", function()
    local x = d:random("float", 60)
    local vector = (x * x + 5):eval()
    local matrix, cube = x:reshape(6, 10), x:reshape(3, 4, 5)
    assert.equal(0, profiled("build", "calls", function()
      assert.equal(vector:string(), (matrix * matrix + 5):string())
      assert.equal(vector:string(), (cube * cube + 5):string())
    end))
  end)

  it("compute a chain in parts where it has more than 32 operands", function()
    local x = d:buffer({ 1, 2 }, "int")
    local sum = x
    for _ = 1, 99 do sum = sum + x end
    assert.same({ 100, 200 }, sum:read())
    local doubled = x
    for _ = 1, 20 do doubled = doubled + doubled end
    assert.same({ 2 ^ 20, 2 ^ 21 }, doubled:read())
  end)

  it("compute what would have more bytes of arguments than a device takes in parts", function()
    local x, sum = d:full("int", 1, 4, 4, 4, 4), nil
    local launches = launches_of(function()
      for i = 0, 31 do
        local first = i // 16 -- so that steps differ, and memory is found at 32 places
        local part = x:slice({ 1 + (i & 1), 4, 2 }, { 1 + (i >> 1 & 1), 4, 2 }, { 1 + (i >> 2 & 1), 4, 2 },
          { 1 + (i >> 3 & 1), 3 + (i >> 3 & 1) - first, 2 - first })
        sum = sum and sum + part or part
      end
      sum:eval()
    end)
    if d.platform == "Portable Computing Language" then assert.is_true(launches > 1) end -- it takes 1024 bytes
    assert.equal(32, sum:get(2, 1, 2, 1))
  end)

  it("round each result, and divide the smallest numbers", function()
    for _, dtype in ipairs(d.has_double and { "float", "double" } or { "float" }) do
      local a = d:full(dtype, 1 + (dtype == "float" and 2 ^ -12 or 2 ^ -29), 33)
      local product = (a * a):eval()
      assert.equal(0, (a * a - product):get(1))
      local least = dtype == "float" and 1e-30 or 1e-200
      local rest = (d:buffer({ -least, least, -least }, dtype) % (3 * least)):read()
      for i, v in ipairs { 2, 1, 2 } do assert.near(v, rest[i] / least, 1e-6) end
    end
  end)

  it("of one operand in each other are no deeper than a compiler takes", function()
    local x = d:buffer { 1, -1 }
    local negative, squared = x, x
    for _ = 1, 200 do negative, squared = -negative, squared ^ 2 end
    assert.same({ 1, -1 }, negative:read())
    assert.same({ 1, 1 }, squared:read())
  end)

  it("have a shape, a dtype, a length and no elements yet", function()
    local x = d:zeros("float", 2, 3)
    local z = x + 1
    assert.same({ 2, 3 }, z.shape)
    assert.equal("float", z.dtype)
    assert.equal(2, #z)
    assert.equal(24, z.bytes)
    assert.equal(d, z.device)
    assert.equal(z, z:eval())
    assert.equal(1, z:get(2, 3))
    local none = d:zeros("float", 0) + d:zeros("float", 1)
    assert.equal(0, #none)
    assert.same({}, none:read())
  end)
end)

helper.describe_each("an expression", function(d)
  local records = pcall(d.record, d, function() end)
  local function fresh(at) return (at or d):buffer({ 1, 2, 3, 4 }, "float") end

  local SET = "kernel void f(global float *x) { x[get_global_id(0)] = 9; }"

  --- Ways to write to a buffer of four floats, with others of a device or queue.
  local WRITES = {
    write = function(x) x:write { 9, 9, 9, 9 } end,
    bytes = function(x) x:write(helper.pack({ 9, 9, 9, 9 }, "float")) end,
    ["write of a buffer"] = function(x, at) x:write(at:buffer { 9, 9 }, 2) end,
    host = function(x, at) x:write(at:host("float", 4):write { 9, 9, 9, 9 }) end,
    fill = function(x) x:fill(9) end,
    set = function(x) x:set(1, 9) end,
    ["an element"] = function(x) x[2] = 9 end,
    ["a view"] = function(x) x:view(2, 3):fill(9) end,
    ["another dtype"] = function(x) x:as("uint"):fill(0) end,
    ["another shape"] = function(x) x:reshape(2, 2):set(1, 1, 9) end,
    rectangle = function(x, at) at:zeros("float", 2, 2):copy_rect { to = x:reshape(2, 2) } end,
    ["write_rect of rows"] = function(x) x:reshape(2, 2):write_rect({ { 9 }, { 9 } }, { at = { 1, 1 } }) end,
    mapped = function(x)
      require("clcompute.core.internal").write_mapped(x, helper.pack({ 9, 9, 9, 9 }, "float"))
    end,
    ["write_rect"] = function(x) x:write_rect({ { 9 } }, { at = 1, pitch = 2 }) end,
    ["a kernel"] = function(x, at) at:program(SET).f(4, x) end,
    ["a kernel by names"] = function(x, at) at:program(SET).f(4, { x = x:view(1, 4) }) end,
    recording = function(x, at)
      if not records then return x:fill(9) end
      local p = at:program(SET)
      local s = at:record(function() p.f(4, at:zeros("float", 4)) end)
      s:set(1, "x", x)
      s()
    end,
    compiled = function(x)
      require("clcompute.loops").compile("return function(x) for i = 1, #x do x[i] = 9 end end")(x)
    end,
    saxpy = function(x, at) cl.saxpy(1, at:buffer { 1, 1, 1, 1 }, x) end,
    map = function(x) cl.map("x[i] + 1", { x = x }, { out = x }) end,
    ["map into"] = function(x) cl.map("1.0f", {}, { out = x }) end,
    scan = function(x) cl.scan("a + b", x, { out = x }) end,
    sort = function(x) cl.sort(x, { out = x, descending = true }) end,
    ["sort into"] = function(x, at) cl.sort(at:buffer { 9, 8, 7, 6 }, { out = x }) end,
    where = function(x) cl.where("x > 2", x, 9, { out = x }) end,
    scatter = function(x, at) cl.scatter(at:buffer { 9 }, at:buffer({ 3 }, "int"), x) end,
    gemm = function(x)
      local m = x:reshape(2, 2)
      cl.gemm(m:copy(), m:copy(), { c = m })
    end,
    release = function(x) x:release() end,
    close = function(x) local _ <close> = x end,
    collect = function() collectgarbage() end,
  }

  it("has the values of its operands when it was written, whichever queue has these and which one writes", function()
    local q <close> = d:queue()
    for _, case in ipairs { { d, d }, { q, q }, { d, q } } do
      local own, at = case[1], case[2]
      for name, write in pairs(WRITES) do
        local x, y = fresh(own), fresh()
        own:wait()
        local z = y * 2 + x
        local of_z = z * 1
        local ok, fault = pcall(write, x, at)
        if not ok then error(name .. ": " .. tostring(fault)) end
        at:wait()
        assert.same({ 3, 6, 9, 12 }, z:read(), name)
        assert.same({ 3, 6, 9, 12 }, of_z:read(), name)
      end
    end
  end)

  it("is computed before a C library has the memory of an operand", function()
    local x, is_deferred = fresh(), require("clcompute.core.internal").is_deferred
    local z = x:view(2, 3) + 1
    assert.is_true(is_deferred(z))
    x:raw()
    assert.is_false(is_deferred(z))
  end)

  it("has them where it is itself written to", function()
    local x = fresh()
    local a = x * 2
    local b = a + 1
    a:fill(0)
    assert.same({ 3, 5, 7, 9 }, b:read())
    assert.same({ 0, 0, 0, 0 }, a:read())
  end)

  it("of more than the device has is refused where it is shown, too", function()
    local wide = d:zeros("float", 1 << 19, 1) + d:zeros("float", 1, 1 << 19)
    assert.matches("^buffer %(buffer of 1048576 MiB exceeds the largest this device allocates", tostring(wide))
    helper.raises("read: buffer of 1048576 MiB exceeds", wide.read, wide)
  end)

  it("has them where another queue reads it at once", function()
    local n, turns = 1 << 16, 3000
    if d.platform == "Oclgrind" then n, turns = 16, 10 end
    local q, x = d:queue(), d:full("float", 1, n)
    local slow = d:program([[kernel void f(global float *x) {
      float s = x[get_global_id(0)];
      for (int i = 0; i < TURNS; i++) s = s * 0.5f + 0.5f;
      x[get_global_id(0)] = s;
    }]], { defines = { TURNS = turns } }).f
    local y = q:full("float", 2, n)
    q:wait()
    local event = slow(n, x)
    local z = x + 1
    assert.equal(4, (y + z):get(5)) -- of q
    assert.equal("complete", event.status)
    event = slow(n, x)
    z = x * 2
    z:eval()
    assert.equal("complete", event.status)
    q:close()
  end)

  it("of a constant argument waits on", function()
    local x, out = fresh(), d:zeros("float", 4)
    local z = x + 1
    local f = d:program "kernel void f(global const float *x, global float *out) { out[get_global_id(0)] = *x; }".f
    assert.equal(1, launches_of(function() f(4, x, out) end))
    assert.same({ 2, 3, 4, 5 }, z:read())
  end)

  it("is a buffer to kernels, operations, views, copies and lists", function()
    local x, out = fresh(), d:zeros("float", 4)
    d:program("kernel void f(global const float *x, global float *out) { int i = get_global_id(0); out[i] = x[i]; }")
      .f(4, x + 1, out)
    assert.same({ 2, 3, 4, 5 }, out:read())
    assert.equal(14, cl.sum(x + 1))
    assert.equal(30, cl.dot(x + 0, x))
    assert.same({ 3, 4 }, (x + 1):view(2, 3):read())
    assert.same({ { 2, 3 }, { 4, 5 } }, (x + 1):reshape(2, 2):read())
    assert.same({ 2, 3, 4, 5 }, (x + 1):copy():read())
    assert.same({ 2, 3, 4, 5 }, cl.map("y[i]", { y = x + 1 }):read())
    assert.same({ 6, 8, 10, 12 }, cl.saxpy(2, x + 1, x + 1 - x + 1 ):read())
    local m = x:reshape(2, 2)
    assert.same({ { 7, 10 }, { 15, 22 } }, cl.gemm(m + 0, m * 1):read())
    assert.equal("float buffer 4", tostring(x + 1):match "^%w+ %w+ %d+")
    local z = x + 1
    local found = false
    for _, row in ipairs(cl.live()) do found = found or row.bytes == 0 end
    assert.is_true(found)
    assert.equal(2, z[1])
  end)

  it("that nobody has any more keeps no recording from its beginning", function()
    if not records then return end
    collectgarbage "stop"
    finally(function() collectgarbage "restart" end)
    local a, b = d:zeros("float", 1 << 19, 1), d:zeros("float", 1, 1 << 19)
    do local _ = a + b end -- of more than the device has
    d:record(function() a:fill(1) end):release()
    local wide = a + b
    helper.raises("record: buffer of 1048576 MiB exceeds", d.record, d, function() end)
    assert.equal(1 << 19, wide.shape[1])
  end)

  it("that is written within a recording is launched by it", function()
    local x = fresh()
    if not records then return end
    local out = d:zeros("float", 4)
    local s = d:record(function() out:write(x + 1) end)
    x:fill(5)
    s()
    assert.same({ 6, 6, 6, 6 }, out:read())
    local z = out + 1
    x:fill(7)
    s()
    assert.same({ 7, 7, 7, 7 }, z:read())
    assert.same({ 8, 8, 8, 8 }, out:read())
  end)

  it("has them where a kernel writes to an image on an operand", function()
    if d.platform == "Portable Computing Language" then return pending "POCL writes to no such image" end
    if not pcall(d.image, d, "r float", d:zeros("float", 4)) then return pending "there are no images" end
    local x = fresh()
    local im, z = d:image("r float", x), x + 1
    d:program "kernel void f(write_only image1d_buffer_t i) { write_imagef(i, (int)get_global_id(0), 9.0f); }".f(4, im)
    assert.same({ 2, 3, 4, 5 }, z:read())
    assert.same({ 9, 9, 9, 9 }, x:read())
  end)

  it("may be released by a finalizer while it is computed", function()
    local x = fresh()
    finally(function() collectgarbage("incremental", 200, 100, 13) end)
    for i = 1, 100 do
      local z = x + 1
      z = z * z - x
      setmetatable({}, { __gc = function() z:release() end })
      collectgarbage("incremental", 1, 100 + i % 10 * 100, 4 + i % 7)
      local ok, result = pcall(z.read, z)
      if ok then assert.same({ 3, 7, 13, 21 }, result) else assert.matches("released", result) end
    end
    assert.same({ 1, 2, 3, 4 }, x:read())
  end)

  it("may be computed by a finalizer while it is computed, and so may a part of it", function()
    local x = fresh()
    finally(function() collectgarbage("incremental", 200, 100, 13) end)
    for i = 1, 40 do
      collectgarbage("incremental", 1, 100 + i % 10 * 100, 4 + i % 7)
      local part = x + 1
      local z = (part + 1) * 2 - x
      setmetatable({}, { __gc = function()
        part:eval()
        z:eval()
      end })
      assert.same({ 5, 6, 7, 8 }, z:read())
      assert.same({ 2, 3, 4, 5 }, part:read())
    end
  end)

  it("may be made by a finalizer while much is read", function()
    local x, much, made, is_armed = fresh(), d:zeros("float", 1 << 19), {}, true
    local function arm()
      setmetatable({}, { __gc = function()
        if not is_armed then return end
        made[#made + 1] = x + 1
        arm()
      end })
    end
    arm()
    for _ = 1, 3 do
      much:read()
      collectgarbage()
    end
    is_armed = false
    assert.is_true(#made > 0)
    local function overwrite(n) return n > 0 and #("z"):rep(n) + overwrite(n - 1) or 0 end
    overwrite(100)
    made = nil
    collectgarbage()
    assert.same({ 2, 3, 4, 5 }, (x + 1):read())
  end)

  it("that nobody has any more is released where a finalizer writes to an operand", function()
    local x, message = fresh(), nil
    do
      local z = x + 1
      setmetatable({}, { __gc = function()
        x:fill(0)
        message = select(2, pcall(z.read, z))
      end })
    end
    collectgarbage()
    assert.matches("buffer is released", message, 1, true)
  end)

  it("is released, collected and closed like any other", function()
    local x = fresh()
    local z = x + 1
    z:release()
    helper.raises("buffer is released", z.read, z)
    for _ = 1, 100 do local _ = x + 1 end
    collectgarbage()
    assert.same({ 1, 2, 3, 4 }, x:read())
    local q = d:queue()
    local of_q = q:buffer { 1, 2 } + 1
    local both = x:view(1, 2) + of_q
    q:close()
    helper.raises("released", of_q.read, of_q)
    assert.same({ 3, 5 }, both:read())
  end)

  it("says what is wrong with its operands", function()
    local x, whole = fresh(), d:buffer({ 1, 2 }, "uchar")
    local released = fresh()
    released:release()
    for _, case in ipairs {
      { "the right operand of '+': buffer or number expected, got string", function() return x + "1" end },
      { "the left operand of '-': buffer or number expected, got nil", function() return nil - x end },
      { "expected, got table; d:buffer(t) makes one", function() return x + { 1, 2, 3 } end },
      { "cl.concat(a, b) has the elements", function() return x .. x end },
      { "the right operand of '*': buffer or number expected, got a released one",
        function() return x * released end },
      { "do not go together; keep = true of a reduction keeps the axis", function()
        local m = d:zeros("float", 2, 3)
        return m - cl.mean(m, { axis = 2 })
      end },
      { "'+': shapes 4 and 2 do not go together", function() return x + whole end },
      { "'&' takes integers, got float", function() return x & 1 end },
      { "'&' takes integers, got a float", function() return whole & 1.5 end },
      { "the right operand of '+': 300 does not fit uchar", function() return whole + 300 end },
      { "cl.lt(a, b)", function() return x < x end },
      { "cl.le(a, b) compares the elements, cl.ge(a, b) for a >= b", function() return x >= x end },
      { "eq: argument 1: buffer or number expected, got table", function() return cl.eq({}, x) end },
      { "eq: a buffer expected among the arguments, got two numbers", function() return cl.eq(1, 2) end },
      { "sqrt: argument 1: buffer expected, got number", function() return cl.sqrt(1) end },
      { "sqrt: argument 1: buffer expected, got nil", function() return cl.sqrt() end },
    } do
      helper.raises(case[1], case[2])
    end
    assert.is_true(x == x)
    assert.is_false(x == fresh())
  end)
end)

--- What a slice takes along a dimension: places from 0, and whether the dimension stays.
local function places_of(cut, extent)
  if type(cut) == "number" then return { cut - 1 }, false end
  local list = {}
  for i = cut and cut[1] or 1, cut and cut[2] or extent, cut and cut[3] or 1 do list[#list + 1] = i - 1 end
  return list, true
end

--- A slice of values in Lua: {values=, shape=}.
local function sliced(v, cuts)
  local made = { values = {}, shape = {} }
  local function walk(dimension, at)
    if dimension > #v.shape then
      made.values[#made.values + 1] = v.values[at + 1]
      return
    end
    for _, place in ipairs((places_of(cuts[dimension], v.shape[dimension]))) do
      walk(dimension + 1, at * v.shape[dimension] + place)
    end
  end
  walk(1, 0)
  for dimension, extent in ipairs(v.shape) do
    local list, stays = places_of(cuts[dimension], extent)
    if stays then made.shape[#made.shape + 1] = #list end
  end
  if #made.shape == 0 then made.shape[1] = 1 end
  return made
end

helper.describe_each("a slice", function(d)
  it("is not written to, since its buffer would stay as it is; its copy is", function()
    local m, one = d:full("float", 2, 3, 2), d:zeros("float", 1, 1)
    local like, at = d:full("float", 1, 3, 1), d:buffer({ { 1 }, { 2 }, { 3 } }, "int")
    local p = d:program "kernel void f(global float *x) { x[get_global_id(0)] = 9; }"
    local compiled = require("clcompute.loops").compile("return function(x) for i = 1, #x do x[i][1] = 9 end end")
    for _, write in ipairs {
      function(s) s:fill(7) end, function(s) s[1][1] = 9 end, function(s) s:set(1, 1, 9) end,
      function(s) s:write { { 1 }, { 2 }, { 3 } } end, function(s) s:write_rect { { 1 } } end,
      function(s) one:copy_rect { to = s } end, function(s) s:reshape(3):fill(1) end,
      function(s) p.f(3, s) end, function(s) p.f(3, { x = s:as "int":as "float" }) end, compiled,
      function(s) cl.saxpy(1, like, s) end, function(s) cl.saxpy(1, like, like, { out = s }) end,
      function(s) cl.map("1.0f", {}, { out = s }) end, function(s) cl.scan("a + b", like, { out = s }) end,
      function(s) cl.gemm(like, one, { c = s }) end, function(s) cl.sort(s, { out = s }) end,
      function(s) cl.where("x > 0", like, 1, { out = s }) end, function(s) cl.scatter(like, at, s) end,
    } do
      helper.raises("b:write_rect, copy_rect{ to = b } and cl.where", write, m:slice(nil, { 2, 2 }))
      helper.raises("b:write_rect, copy_rect{ to = b } and cl.where", write, m:view(nil, { 2, 2 }))
    end
    assert.same({ { 4 }, { 4 }, { 4 } }, m:slice(nil, { 2, 2 }):copy():fill(4):read())
    assert.same({ { 2, 2 }, { 2, 2 }, { 2, 2 } }, m:read())
  end)

  it("is read by kernels that say const, and through images", function()
    local m, out = d:buffer { { 1, 2 }, { 3, 4 } }, d:zeros("float", 2)
    local p = d:program [[
      kernel void f(global const float *x, global float *out) { int i = get_global_id(0); out[i] = x[i]; }
      kernel void g(read_only image1d_buffer_t x, global float *out) {
        int i = get_global_id(0);
        out[i] = read_imagef(x, i).x + 1;
      }]]
    p.f(2, m:slice(nil, 2), out)
    assert.same({ 2, 4 }, out:read())
    local ok, image = pcall(d.image, d, "r float", m:slice(nil, 1))
    if not ok then return end -- there are none on buffers
    p.g(2, image, out)
    assert.same({ 2, 4 }, out:read())
    helper.raises("cl.where change parts of b", image.buffer, d:image("r float", 2, 1), m:slice({ 1, 1 }))
  end)

  it("takes what it says along every dimension, for every dtype", function()
    math.randomseed(helper.seed)
    local dtypes = helper.dtypes(d)
    for trial = 1, helper.long(300) or 18 do
      local shape, cuts = {}, {}
      for k = 1, math.random(4) do shape[k] = math.random(0, 9) > 0 and math.random(7) or 0 end
      for k, extent in ipairs(shape) do
        local first = math.random(1, math.max(extent, 1))
        local kind = math.random(4)
        if kind == 1 and extent > 0 then cuts[k] = first
        elseif kind == 2 then cuts[k] = { first, math.min(extent, math.random(first - 1, extent)), math.random(3) }
        elseif kind == 3 then cuts[k] = { 1, nil, math.random(3) } end
      end
      local v = operand(d, dtypes[math.random(#dtypes)], shape, trial)
      local want, got = sliced(v, cuts), v.buffer:slice(table.unpack(cuts, 1, #shape))
      assert.same(want.shape, got.shape)
      assert.same(want.values, flat_of(got))
    end
  end)

  it("goes into operators, views of views, and keeps the values that it had", function()
    local m = operand(d, "float", { 6, 8 }, 3)
    local inner = m.buffer:slice({ 2, 5 }, { 2, 7 })
    local left, right = m.buffer:slice({ 2, 5 }, { 1, 6 }), m.buffer:slice({ 2, 5 }, { 3, 8 })
    local z = (left + right) / 2 - inner
    assert.equal(1, launches_of(function() z:eval() end))
    local want = {}
    for i = 1, 4 do
      for j = 1, 6 do
        local at = i * 8 + j
        want[#want + 1] = (m.values[at] + m.values[at + 2]) / 2 - m.values[at + 1]
      end
    end
    -- sums of up to 18 are rounded, halved, and rounded once more
    for i, v in ipairs(flat_of(z)) do assert.near(want[i], v, 27 * 2 ^ -24) end
    local column = m.buffer:view(2, 6):slice(nil, 3):slice({ 1, 5, 2 })
    m.buffer:fill(0)
    assert.same({ m.values[11], m.values[27], m.values[43] }, column:read())
    assert.near(m.values[11] + m.values[27] + m.values[43], cl.sum(column), 1e-5)
  end)

  it("is computed once for all that is made of it", function()
    local x = d:buffer { 1, 2, 3, 4, 5, 6 }
    local odd = x:slice { 1, 6, 2 }
    local above, below = odd + 1, odd - 1
    assert.same({ 1, 3, 5 }, odd:read())
    x:release()
    assert.same({ 2, 4, 6 }, above:read())
    assert.same({ 0, 2, 4 }, below:read()) -- and the layer that counts finds no memory left
  end)

  it("says what is wrong", function()
    local m = d:zeros("float", 3, 4)
    for _, case in ipairs {
      { "4 .. 4 is outside 1 .. 3", 4 }, { "0 .. 0 is outside 1 .. 3", 0 },
      { "1 .. 5 is outside 1 .. 4", nil, { 1, 5 } },
      { "a step is 1 or more, got 0", { 1, 2, 0 } }, { "{first, last, step} of integers expected", { 1, 2.5 } },
      { "{first, last, step} expected, got 4 values", { 1, 2, 1, 1 } },
      { "{first, last, step} expected, got the key 'first'", { first = 2 } },
      { "{first, last, step} expected, got the key '5'", { 2, [5] = 3 } },
      { "index, {first, last, step} or nil expected, got string", "1" },
      { "slice: at most 2 arguments expected, got 3", 1, 1, 1 },
    } do
      helper.raises(case[1], m.slice, m, case[2], case[3], case[4])
    end
    helper.raises("write b:slice({ 2, 4 })", m.slice, m:reshape(12), 2, 4)
    helper.raises("4 .. 4 is outside 1 .. 3", m.view, m, 4, { 1, 2 })
    helper.raises("view: at most 2 arguments expected, got 3", m.view, m, 1, 2, 3)
  end)

  it("is what a view of lists is", function()
    local m = operand(d, "int", { 10, 6 }, 1)
    for _, cuts in ipairs { { { 1, 10, 2 }, { 3, 5 } }, { { 2, 9, 3 } }, { 4, { 1, 6, 5 } }, { { 3, 2 }, 6 } } do
      local want, got = sliced(m, cuts), m.buffer:view(table.unpack(cuts))
      assert.same(want.shape, got.shape)
      assert.same(want.values, flat_of(got))
    end
  end)
end)
