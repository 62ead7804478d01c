-- SPDX-License-Identifier: MIT

--- Spread buffers: the elements of one array with the ranks of a group, behind the interface of a buffer. The order of
-- elements, indices and files are those of a buffer on one device.

local arity = require("clcompute.base").arity
local formats = require "clcompute.formats"
local internal = require "clcompute.core.internal"
local placement = require "clcompute.groups.placement"
local raising = require("clcompute.base").raising
local rows = require "clcompute.groups.rows"

local spread = { sizes = rows.sizes, operations = {} }

local type_of = require("clcompute.base").options.type_of

local WAY_OUT = "a:parts() gives the buffers of each, a:copy(device) gathers"

local Spread = { __name = "clcompute.Spread", methods = {}, clcompute = spread.operations, flat = rows.flat,
  in_words = "spread buffer; " .. WAY_OUT }
local methods = Spread.methods

spread.way_out = WAY_OUT

local function fail(...) error(string.format(...), 0) end

-- --- the object -------------------------------------------------------------------------------------

--- A spread buffer of what ranks have.
-- @tparam Group group
-- @string dtype
-- @tparam table place a placement
-- @tparam table pieces buffers by rank, of this process
function spread.of(group, dtype, place, pieces)
  return setmetatable({ group = group, dtype = dtype, place = place, pieces = pieces }, Spread)
end

function spread.is_one(value) return getmetatable(value) == Spread end

--- A new one, whose pieces `make(rank, device, shape)` makes.
function spread.make(group, dtype, shape, make)
  local place, pieces = placement.new(shape, group.layout), {}
  for rank, device in pairs(group.ranks.devices) do pieces[rank] = make(rank, device, place:shape_of(rank)) end
  return spread.of(group, dtype, place, pieces)
end

--- One without values.
function spread.empty(group, dtype, shape)
  return spread.make(group, dtype, shape, function(_, device, own) return device:empty(dtype, table.unpack(own)) end)
end

--- What ranks agree on of an argument: shapes, dtypes, numbers, texts, and tables of these.
function spread.words(value, depth)
  if spread.is_one(value) then return value.dtype .. " " .. table.concat(value.place.shape, "x") end
  local kind = math.type(value) or type(value)
  if kind == "float" then return ("%.17g (float)"):format(value) end
  if kind ~= "table" or getmetatable(value) or depth == 3 then
    return (kind == "userdata" or kind == "table" or kind == "function") and type_of(value) or tostring(value)
  end
  local list = {}
  for key, inner in next, value do list[#list + 1] = ("%s = %s"):format(key, spread.words(inner, (depth or 0) + 1)) end
  table.sort(list)
  return "{ " .. table.concat(list, ", ") .. " }"
end

--- Ranks agree on a call that exchanges nothing; without ranks there is nothing to agree on.
function spread.agree(group, name, ...)
  if not group.rank then return end
  local list = { ... }
  for k = 1, select("#", ...) do list[k] = spread.words(list[k]) end
  group.ranks:agree("%s of %s", name, table.concat(list, ", "))
end

function spread.check(value, where, name)
  if not spread.is_one(value) then
    fail("%s: %s: spread buffer expected, got %s; g:buffer(b) spreads a buffer", where, name, type(value))
  end
  if rawget(value, "is_released") then fail("%s: %s is released", where, name) end
  return value
end

-- --- methods: moving elements -----------------------------------------------------------------------

--- Rows first .. last of a call, from 1, checked.
local function range_of(where, a, first, last)
  local n = a.place.rows
  first, last = first or 1, last or n
  for _, value in ipairs { first, last } do
    if math.type(value) ~= "integer" then fail("%s: integer expected, got %s", where, tostring(value)) end
  end
  if first < 1 or last > n or last < first - 1 then
    fail("%s: rows %d .. %d are outside 1 .. %d", where, first, last, n)
  end
  return first - 1, last
end

--- Ranks agree on what a call does with a value.
local function agree(a, value, ...)
  if a.group.rank then
    a.group.ranks:agree("%s %s", string.format(...), type(value) == "number" and value or type(value))
  end
end

--- A device of this process, on which values are converted.
local function any_device(group)
  return (select(2, next(group.ranks.devices)))
end

local function shape_with(a, count)
  local shape = a.shape
  shape[1] = count
  return table.unpack(shape)
end

function methods:string()
  return rows.read(spread.check(self, "string", "buffer"), 0, self.place.rows)
end

function methods:read(first, last)
  spread.check(self, "read", "buffer")
  local from, to = range_of("read", self, first, last)
  local own = any_device(self.group):buffer(rows.read(self, from, to), self.dtype, shape_with(self, to - from))
  local values = own:read()
  own:release()
  return values
end

--- Values of a call as packed bytes.
local function bytes_of(a, values)
  if type(values) == "string" then return values end
  if type(values) == "table" and not spread.is_one(values) then
    local buffer = any_device(a.group):buffer(values, a.dtype)
    local bytes = buffer:string()
    buffer:release()
    return bytes
  end
  if type_of(values) ~= "Buffer" and not spread.is_one(values) then
    fail("write: table, string or buffer expected, got %s", type_of(values))
  end
  if values.dtype ~= a.dtype then fail("write: %s elements expected, got %s", a.dtype, values.dtype) end
  return values:string()
end

function methods:write(values, first)
  spread.check(self, "write", "buffer")
  local is_like = not first and spread.is_one(values) and values.group == self.group and values.dtype == self.dtype
    and values.place:is_like(self.place)
  if is_like then
    for rank, piece in pairs(self.pieces) do piece:write(values.pieces[rank]) end
    return self
  end
  local bytes, from = bytes_of(self, values), range_of("write", self, first, self.place.rows)
  local width = rows.bytes_of_one(self)
  local count = width > 0 and #bytes // width or 0
  if width > 0 and #bytes % width ~= 0 then
    fail("write: %d bytes are no whole number of rows of %d bytes", #bytes, width)
  end
  if from + count > self.place.rows then
    fail("write: %d rows from %d on reach beyond the last, %d", count, from + 1, self.place.rows)
  end
  agree(self, values, "write of %d rows from %d on, of a", count, from + 1)
  if count > 0 then rows.write(self, from, from + count, bytes) end
  return self
end

function methods:fill(value, first, last)
  spread.check(self, "fill", "buffer")
  local from, to = range_of("fill", self, first, last)
  agree(self, value, "fill of rows %d to %d with", from + 1, to)
  for rank in pairs(self.pieces) do
    local own <close> = rows.of_rank(self, rank, from, to)
    if own then own:fill(value) end
  end
  return self
end

--- A new spread buffer with the same elements; or, of a device or another group, one of theirs.
function methods:copy(target)
  spread.check(self, "copy", "buffer")
  if target ~= nil and type_of(target) ~= "Device" and not type_of(target):find "^group" then
    fail("copy: device or group expected, got %s", type_of(target))
  end
  if target == nil and self.place.is_whole then
    local pieces = {}
    for rank, piece in pairs(self.pieces) do pieces[rank] = piece:copy() end
    return spread.of(self.group, self.dtype, self.place, pieces)
  end
  local new = (target or self.group):empty(self.dtype, table.unpack(self.shape))
  if self.bytes == 0 then return new end
  for from, to in rows.steps(self, 0, self.place.rows) do new:write(rows.read(self, from, to), from + 1) end
  return new
end

function methods:view(first, last)
  spread.check(self, "view", "buffer")
  local from, to = range_of("view", self, first, last)
  local place, pieces = self.place:of_rows(from, to - from), {}
  for rank, piece in pairs(self.pieces) do
    local at = self.place:place(rank)
    pieces[rank] = piece:view(self.place:rows_before(from, at) + 1, self.place:rows_before(to, at))
  end
  return spread.of(self.group, self.dtype, place, pieces)
end

--- The rank of an element by its indices, and its indices there.
local function find(where, a, ...)
  local shape, given = a.place.shape, table.pack(...)
  if given.n ~= #shape then
    fail("%s: %d ind%s expected, got %d", where, #shape, #shape == 1 and "ex" or "ices", given.n)
  end
  for k, n in ipairs(shape) do
    local i = math.tointeger(given[k])
    if not i or i < 1 or i > n then
      fail("%s: index %d is %s, outside 1 .. %d", where, k, tostring(given[k]), n)
    end
    given[k] = i
  end
  local is_matrix = #shape == 2
  local rank, row, column = a.place:find(given[1] - 1, is_matrix and given[2] - 1 or 0)
  given[1] = row + 1
  if is_matrix then given[2] = column + 1 end
  return rank, given
end

function methods:get(...)
  spread.check(self, "get", "buffer")
  local rank, at = find("get", self, ...)
  return self.group.ranks:from(rank, function() return self.pieces[rank]:get(table.unpack(at)) end)
end

function methods:set(...)
  spread.check(self, "set", "buffer")
  local given = table.pack(...)
  local rank, at = find("set", self, table.unpack(given, 1, given.n - 1))
  agree(self, given[given.n], "set of %d, %d to", at[1], rank)
  if self.pieces[rank] then
    at[#at + 1] = given[given.n]
    self.pieces[rank]:set(table.unpack(at))
  end
  return self
end

-- --- methods: what is there -------------------------------------------------------------------------

--- What this process has: a list of { device =, buffer =, rank =, rows =, columns = }.
function methods:parts()
  spread.check(self, "parts", "buffer")
  local list = {}
  for rank = 1, self.group.ranks.count do
    local buffer = self.pieces[rank]
    if buffer then
      local part = { rank = rank, device = buffer.device, buffer = buffer }
      part.rows, part.columns = self.place:intervals(rank)
      list[#list + 1] = part
    end
  end
  return list
end

function methods:release()
  for _, piece in pairs(self.pieces) do piece:release() end
  rawset(self, "is_released", true)
  return self
end

function methods:eval()
  for _, piece in pairs(self.pieces) do piece:eval() end
  return self
end

--- Formats write it by elements; pictures by one device.
local function save_here(a, path, options)
  if path:lower():find "%.png$" or path:lower():find "%.p[gp]m$" then
    local whole = a:copy(any_device(a.group))
    whole:save(path, options)
    whole:release()
    return
  end
  formats.save_buffer(a, path, options)
end

function methods:save(path, options)
  spread.check(self, "save", "buffer")
  if type(path) ~= "string" then fail("save: path (a string) expected, got %s", type_of(path)) end
  local group = self.group
  if not group.rank then
    save_here(self, path, options)
    return self
  end
  local whole = self:copy(any_device(group)) -- one rank writes, and all learn whether it could
  local fault = group.ranks:from(1, function()
    local ok, message = pcall(whole.save, whole, path, options)
    return not ok and tostring(message) or ""
  end)
  whole:release()
  if fault ~= "" then fail("%s", fault) end
  return self
end

-- --- the metatable ----------------------------------------------------------------------------------

local fields = {}

function fields.shape(a) return table.move(a.place.shape, 1, #a.place.shape, 1, {}) end
function fields.count(a) return a.place:count() end
function fields.bytes(a) return a.place:count() * rows.sizes[a.dtype] end
function fields.device(a) return a.group end

local OTHERWISE = { T = "cl.transpose(a) turns it; ", dot = "cl.dot and cl.matmul take it; " }

local function refuse(name)
  return function()
    fail("%s: a spread buffer has none; %sit works on one device: %s", name, OTHERWISE[name] or "", WAY_OUT)
  end
end

local ELSEWHERE = {}
for name in ("T as copy_rect dot raw read_async read_rect reshape slice write_rect"):gmatch "%S+" do
  ELSEWHERE[name] = refuse(name)
end

function Spread.__index(a, key)
  if math.type(key) == "integer" then
    if key == a.place.rows + 1 then return nil end -- ends ipairs
    if #a.place.shape == 1 then return methods.get(a, key) end
    fail("a[%d] of a spread matrix: a:view(%d, %d) is the row, a:get(i, j) an element", key, key, key)
  end
  local field = fields[key]
  if field then return field(a) end
  local method = methods[key] or ELSEWHERE[key]
  if method or key == "is_released" then return method end
  fail("a spread buffer has no field '%s'%s", tostring(key),
    internal.suggestion(key, "spread buffer", methods, "dtype shape count bytes device group"))
end

function Spread.__newindex(a, key, value)
  if math.type(key) == "integer" and #a.place.shape == 1 then return methods.set(a, key, value) end
  fail("a spread buffer has no field '%s' to set", tostring(key))
end

function Spread.__len(a) return a.place.rows end

local SHOWN = 6

--- The first elements as one device shows them, with the group in its name's place.
function Spread.__tostring(a)
  local head = ("%s buffer %s spread over %d device%s"):format(a.dtype, table.concat(a.place.shape, "x"),
    a.group.ranks.count, a.group.ranks.count == 1 and "" or "s")
  if rawget(a, "is_released") then return head .. " (released)" end
  if a.group.rank or a.bytes == 0 then return head end -- among ranks it would be a collective
  local count = math.min(a.place.rows, SHOWN)
  local first = any_device(a.group):buffer(rows.read(a, 0, count), a.dtype, shape_with(a, count))
  local text = tostring(first)
  first:release()
  return head .. (text:match ":[ \n].*$" or "") .. (count < a.place.rows and ", ..." or "")
end

Spread.__close = methods.release

spread.metatable = raising.guarded_fields(Spread)
raising.guarded(arity.methods(methods, "Spread"))

return spread
