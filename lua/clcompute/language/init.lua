-- SPDX-License-Identifier: MIT

--- Structs of OpenCL C: cl.struct reads their fields, lays them out as each device does, and packs tables into them.

local arity = require("clcompute.base").arity
local internal = require "clcompute.core.internal"
local options = require("clcompute.base").options

local SIZES = {
  char = 1, uchar = 1, short = 2, ushort = 2, int = 4, uint = 4, long = 8, ulong = 8, half = 2, float = 4, double = 8,
}
local WIDTHS = { [""] = 1, ["2"] = 2, ["3"] = 3, ["4"] = 4, ["8"] = 8, ["16"] = 16 }

--- Words of OpenCL C that name nothing of a script: compilers of some drivers take a field of such a name for none.
local RESERVED = {}
for word in ([[auto bool break case char const constant continue default do double else enum extern float for generic
  global goto half if inline int kernel local long pipe private read_only read_write register restrict return short
  signed sizeof static struct switch typedef uchar uint ulong uniform union unsigned ushort void volatile while
  write_only]]):gmatch "%S+" do
  RESERVED[word] = true
end

local Struct = { __name = "clcompute.Struct" } -- metatable

local function fail(...)
  error(string.format(...), 0)
end

-- --- types -------------------------------------------------------------------------------------
-- A type is {size=, align=} with {dtype=, width=} (a scalar or vector), {of=, count=} (an array) or {fields=} (a
-- struct, with its name and the set of its fields' names, `has`).

--- A vector of three has the size of four; each is aligned on its size.
local function number_type(dtype, width)
  local size = SIZES[dtype] * (width == 3 and 4 or width)
  return { dtype = dtype, width = width, size = size, align = size }
end

local function array_type(of, count)
  return { of = of, count = count, size = of.size * count, align = of.align }
end

--- Raises where a name is a word of the language: "field" or "struct" is what has it.
local function check_name(what, name)
  local is_vector = name:find "^%l+%d+$" and SIZES[name:match "^%l+"] and WIDTHS[name:match "%d+$"]
  if RESERVED[name] or is_vector then fail("struct: '%s' is a word of OpenCL C, no name of a %s", name, what) end
end

--- "unsigned int" is uint; "struct cell" is cell.
local function find_type(words, known)
  local spaced = words:gsub("%s+", " ")
  local name = spaced:gsub("^unsigned$", "uint"):gsub("^unsigned ", "u")
  local dtype, digits = name:match "^(%l+)(%d*)$"
  local of = known[spaced:gsub("^struct ", "")]
  if of then return of end
  if SIZES[dtype] and WIDTHS[digits] then return number_type(dtype, WIDTHS[digits]) end
  fail("struct: no type '%s'; there are char to ulong, half, float, double, their vectors of 2, 3, 4, 8 and 16, "
    .. "and what option 'structs' holds", name)
end

local function round_up(n, multiple) return -(-n // multiple) * multiple end

-- --- fields ------------------------------------------------------------------------------------

local LARGEST = 1 << 31 -- bytes

--- The type of an array with extents such as "[2][3]", and the extents as they are written.
local function with_extents(of, text)
  local counts = {}
  for digits in text:gmatch "%d+" do counts[#counts + 1] = tonumber(digits) end
  for i = #counts, 1, -1 do
    if counts[i] > LARGEST // of.size then fail("struct: an array of more than %d bytes", LARGEST) end
    of = array_type(of, counts[i])
  end
  return of, #counts > 0 and ("[%s]"):format(table.concat(counts, "][")) or ""
end

--- Adds the field of a declarator such as "weights[2][3]" behind those that are there.
local function add_field(layout, words, of, declarator)
  local name, extents = declarator:match "^%s*([%a_][%w_]*)%s*([%[%]%d%s]*)$"
  if not name or extents:gsub("%[%s*[1-9]%d*%s*%]", ""):find "%S" then
    fail("struct: '%s' is no field: a name, or one with extents as in name[4], expected",
      declarator:match "^%s*(.-)%s*$")
  end
  check_name("field", name)
  if layout.has[name] then fail("struct: field '%s' comes twice", name) end
  local field = { name = name, type = words, offset = round_up(layout.size, of.align) }
  field.kind, field.extents = with_extents(of, extents)
  layout.fields[#layout.fields + 1], layout.has[name] = field, true
  layout.size, layout.align = field.offset + field.kind.size, math.max(layout.align, of.align)
  if layout.size > LARGEST then fail("struct: more than %d bytes", LARGEST) end
end

--- Type and declarators of a declaration: "float4", "a, b[2]".
local function split_declaration(text)
  local words, declarators = text:match "^([%a_][%w_%s]-)%s+([%a_][%w_]*%s*[%[,].*)$"
  if not words then words, declarators = text:match "^([%a_][%w_%s]-)%s+([%a_][%w_]*)$" end
  if not words then fail("struct: '%s' is no field: a type and a name expected", text) end
  return words, declarators
end

--- The type of a struct with these fields.
local function read_fields(name, text, known)
  local layout = { name = name, fields = {}, has = {}, size = 0, align = 1 }
  for declaration in text:gsub("/%*.-%*/", " "):gsub("//[^\n]*", ""):gmatch "%s*([^;]+)" do
    if declaration:find "%S" then
      local words, declarators = split_declaration(declaration:match "^(.-)%s*$")
      local of = find_type(words, known)
      for declarator in (declarators .. ","):gmatch "(.-)," do add_field(layout, words, of, declarator) end
    end
  end
  if #layout.fields == 0 then fail "struct: no fields" end
  layout.size = round_up(layout.size, layout.align)
  return layout
end

--- The names of its fields, as messages have them.
local function names_of(layout)
  local names = {}
  for i, field in ipairs(layout.fields) do names[i] = field.name end
  return table.concat(names, ", ")
end

-- --- packing -----------------------------------------------------------------------------------

local pack_value

local function check_list(value, count, what, where)
  if type(value) ~= "table" then fail("%s: table of %d %s expected, got %s", where, count, what, type(value)) end
  if #value ~= count then fail("%s: table of %d %s expected, got one of %d", where, count, what, #value) end
end

local function pack_numbers(kind, value, where)
  if kind.width > 1 then check_list(value, kind.width, "numbers", where) end
  local bytes, place, reason = internal.pack_elements(kind.dtype, kind.width > 1 and value or { value })
  if not bytes and kind.width > 1 then where = ("%s[%d]"):format(where, place) end
  if not bytes then fail("%s: %s", where, reason or ("number expected, got " .. type(value))) end
  return bytes .. ("\0"):rep(kind.size - #bytes)
end

local function pack_array(kind, value, where)
  check_list(value, kind.count, "elements", where)
  local parts = {}
  for i = 1, kind.count do parts[i] = pack_value(kind.of, value[i], ("%s[%d]"):format(where, i)) end
  return table.concat(parts)
end

--- Fields that the table does not have are zero, as in an initializer of C.
local function pack_fields(kind, values, where)
  if type(values) ~= "table" then fail("%s: table of fields expected, got %s", where, type(values)) end
  for key in next, values do
    if not kind.has[key] then fail("%s: no field '%s'; there are %s", where, tostring(key), names_of(kind)) end
  end
  local parts, at = {}, 0
  for _, field in ipairs(kind.fields) do
    parts[#parts + 1] = ("\0"):rep(field.offset - at)
    parts[#parts + 1] = pack_value(field.kind, values[field.name], where .. "." .. field.name)
    at = field.offset + field.kind.size
  end
  parts[#parts + 1] = ("\0"):rep(kind.size - at)
  return table.concat(parts)
end

function pack_value(kind, value, where)
  if value == nil then return ("\0"):rep(kind.size) end
  if kind.dtype then return pack_numbers(kind, value, where) end
  if kind.of then return pack_array(kind, value, where) end
  return pack_fields(kind, value, where)
end

--- The value of a type whose first byte is bytes:byte(at).
local function unpack_value(kind, bytes, at)
  if kind.dtype then
    local numbers = internal.unpack_elements(kind.dtype, bytes, at, kind.width)
    return kind.width > 1 and numbers or numbers[1]
  end
  local value = {}
  for i = 1, kind.count or 0 do value[i] = unpack_value(kind.of, bytes, at + (i - 1) * kind.of.size) end
  for _, field in ipairs(kind.fields or {}) do
    value[field.name] = unpack_value(field.kind, bytes, at + field.offset)
  end
  return value
end

-- --- methods -------------------------------------------------------------------------------------

local KIND = {} -- the key of a struct's own type

--- The type of the struct that a method was called on.
local function kind_of(self, method)
  if type(self) ~= "table" or getmetatable(self) ~= Struct then
    error(("%s: struct expected, got %s; a method is called with a colon"):format(method, type(self)), 3)
  end
  return rawget(self, KIND)
end

--- Calls f, whose errors stand at the script that called the method.
local function at_caller(f, ...)
  local ok, result = pcall(f, ...)
  if ok then return result end
  if type(result) ~= "string" then error(result, 0) end -- of a debug hook: not ours
  -- The core's own messages start with the line of the library's file that called it.
  error((result:gsub("^[^\n]-clcompute/%l+/%l+%.lua:%d+: ", "")), 3)
end

local function pack_list(kind, list)
  if type(list) ~= "table" then fail("buffer: list of tables expected, got %s", type(list)) end
  local parts, keys = {}, 0
  for i, values in ipairs(list) do parts[i] = pack_fields(kind, values, ("buffer: %s[%d]"):format(kind.name, i)) end
  for _ in next, list do keys = keys + 1 end
  if keys > #parts then fail("buffer: a list has no other keys than 1 .. %d", #parts) end
  return table.concat(parts), #parts
end

--- Raises unless an argument is a "device" or a "buffer".
local function check_object(method, value, what)
  local meta = type(value) == "userdata" and debug.getmetatable(value)
  local name = meta and meta.__name or type(value)
  if name:lower() ~= "clcompute." .. what then fail("%s: %s expected, got %s", method, what, name) end
end

local methods = {}

function methods:pack(values)
  local kind = kind_of(self, "pack")
  return (at_caller(pack_fields, kind, values, "pack: " .. kind.name))
end

function methods:unpack(bytes, i)
  local kind = kind_of(self, "unpack")
  return (at_caller(function()
    if type(bytes) ~= "string" then fail("unpack: packed string expected, got %s", type(bytes)) end
    local n = #bytes // kind.size
    local place = math.tointeger(i == nil and 1 or i)
    if #bytes % kind.size ~= 0 then fail("unpack: a multiple of %d bytes expected, got %d", kind.size, #bytes) end
    if not place or place < 1 or place > n then fail("unpack: struct %s of %d", tostring(i == nil and 1 or i), n) end
    return unpack_value(kind, bytes, (place - 1) * kind.size + 1)
  end))
end

function methods:buffer(device, list)
  local kind = kind_of(self, "buffer")
  return (at_caller(function()
    check_object("buffer", device, "device")
    local bytes, n = pack_list(kind, list)
    return device:buffer(bytes, "uchar", n, kind.size)
  end))
end

function methods:read(buffer, first, last)
  local kind = kind_of(self, "read")
  return (at_caller(function()
    check_object("read", buffer, "buffer")
    if buffer.bytes ~= #buffer * kind.size then
      fail("read: rows of %d bytes expected, got %d bytes in rows of %d", kind.size, buffer.bytes,
        buffer.bytes // math.max(#buffer, 1))
    end
    if first == nil then first = 1 end
    if last == nil then last = #buffer end
    local from, to = math.tointeger(first), math.tointeger(last)
    if not from or not to or from < 1 or from > to + 1 or to > #buffer then
      fail("read: rows %s to %s of %d", tostring(first), tostring(last), #buffer)
    end
    local view <close> = buffer:view(from, to)
    local bytes, list = view:string(), {}
    for i = 1, #view do list[i] = unpack_value(kind, bytes, (i - 1) * kind.size + 1) end
    return list
  end))
end

Struct.__index = arity.methods(methods, "Struct")

function Struct.__tostring(self)
  local kind, fields = kind_of(self, "tostring"), {}
  for i, field in ipairs(kind.fields) do fields[i] = ("%s %s%s"):format(field.type, field.name, field.extents) end
  return ("struct %s, %d bytes aligned on %d: %s"):format(kind.name, kind.size, kind.align, table.concat(fields, ", "))
end

-- --- cl.struct -------------------------------------------------------------------------------------

local OPTIONS = { structs = "table" }

--- The structs of the option, by name.
local function known_structs(given, own)
  local known = {}
  for i, struct in ipairs(given or {}) do
    if getmetatable(struct) ~= Struct then
      fail("struct: option 'structs': [%d] is no struct but %s", i, type(struct))
    end
    local kind = rawget(struct, KIND)
    if kind.name == own or known[kind.name] and known[kind.name] ~= kind then
      fail("struct: option 'structs': [%d] is a second struct of the name '%s'", i, kind.name)
    end
    known[kind.name] = kind
  end
  return known
end

local function declaration_of(kind)
  local lines = {}
  for i, field in ipairs(kind.fields) do lines[i] = ("  %s %s%s;\n"):format(field.type, field.name, field.extents) end
  return ("typedef struct %s {\n%s} %s;\n"):format(kind.name, table.concat(lines), kind.name)
end

local function make(name, text, given)
  if type(name) ~= "string" or not name:find "^[%a_][%w_]*$" then
    fail("struct: a name expected, got %s", tostring(name))
  end
  check_name("struct", name)
  if type(text) ~= "string" then fail("struct: text of fields expected, got %s", type(text)) end
  local o = options.check("struct", given or {}, OPTIONS)
  local kind, offsets = read_fields(name, text, known_structs(o.structs, name)), {}
  for _, field in ipairs(kind.fields) do offsets[field.name] = field.offset end
  return setmetatable({
    name = name, size = kind.size, align = kind.align, offsets = offsets, source = declaration_of(kind), [KIND] = kind,
  }, Struct)
end

local function struct(name, fields, given)
  return (at_caller(make, name, fields, given))
end

--- Adds the declarations of a struct's type to a list, after those of the structs in it; `seen` are the names.
local function add_declarations(list, seen, kind)
  if kind.of then return add_declarations(list, seen, kind.of) end
  if not kind.fields or seen[kind.name] then return end
  seen[kind.name] = true
  for _, field in ipairs(kind.fields) do add_declarations(list, seen, field.kind) end
  list[#list + 1] = declaration_of(kind)
end

--- What the library relies on, as a script may change the fields of its struct: {name=, size= bytes, declarations= a
-- list of texts that a program with it needs}; nil for what is no struct.
local function layout(value)
  if type(value) ~= "table" or getmetatable(value) ~= Struct then return nil end
  local kind, list = rawget(value, KIND), {}
  add_declarations(list, {}, kind)
  return { name = kind.name, size = kind.size, declarations = list }
end

return arity.functions { struct = struct, layout = layout }
