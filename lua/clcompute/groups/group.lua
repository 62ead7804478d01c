-- SPDX-License-Identifier: MIT

--- Groups: several devices that make buffers and compute as one does.

local base = require "clcompute.base"
local core = require "clcompute.core"
local formats = require "clcompute.formats"
local internal = require "clcompute.core.internal"
local layout = require "clcompute.groups.layout"
local ranks_here = require "clcompute.groups.ranks_here"
local raising = base.raising
local speed = require "clcompute.groups.speed"
local spread = require "clcompute.groups.spread"

local arity, options = base.arity, base.options

local group = {}

local Group = { __name = "clcompute.Group", methods = {},
  in_words = "group; g.devices lists its devices, g:buffer(b) spreads a buffer over them" }
local methods = Group.methods

local BLOCK = 256
local MOST_SHARES = 1000

local function fail(...) error(string.format(...), 0) end

-- --- making one -------------------------------------------------------------------------------------

--- Devices by a selector or a list; as `cl.device` chooses without one: all of that kind.
local function find_devices(given)
  if type(given) == "table" then
    if #given == 0 then fail "group: at least one device expected" end
    for k, device in ipairs(given) do
      if options.type_of(device) ~= "Device" then
        fail("group: device %d: Device expected, got %s", k, options.type_of(device))
      end
    end
    return table.move(given, 1, #given, 1, {})
  end
  local first = core.device(given)
  if given == nil and not os.getenv "CLCOMPUTE_DEVICE" then given = first.type end
  local devices = {}
  for _, device in ipairs(core.devices(given or os.getenv "CLCOMPUTE_DEVICE")) do
    if device.type == first.type and device.platform == first.platform then devices[#devices + 1] = device end
  end
  return devices
end

--- The grid that is the squarest, with no more rows than columns: a product needs the fewest transfers there.
local function find_grid(count)
  local p = math.floor(math.sqrt(count))
  while count % p > 0 do p = p - 1 end
  return { p, count // p }
end

local function check_grid(grid, count)
  if grid == nil then return find_grid(count) end
  local p, q = grid[1], grid[2]
  local is_one = #grid == 2 and math.type(p) == "integer" and math.type(q) == "integer" and p > 0 and q > 0
  if not is_one or p * q ~= count then
    fail("group: option 'grid': {rows, columns} with a product of %d, the number of devices, expected", count)
  end
  return { p, q }
end

local function check_block(block)
  if block ~= nil and block < 1 then fail("group: option 'block': at least 1 expected, got %d", block) end
  return block or BLOCK
end

--- The option 'share': nil, "speed", or whole shares as a list with one for each device.
local function check_share(share, count)
  if share == nil or share == "speed" then return share end
  local sum, is_one = 0, type(share) == "table" and #share == count
  for k = 1, is_one and count or 0 do
    is_one = is_one and math.type(share[k]) == "integer" and share[k] >= 0 and share[k] <= MOST_SHARES
    sum = sum + (is_one and share[k] or 0)
  end
  if not is_one or sum == 0 then
    fail("group: option 'share': \"speed\", or whole shares of %d devices, of 0 to %d, expected", count, MOST_SHARES)
  end
  return table.move(share, 1, count, 1, {})
end

--- How matrices and vectors lie. Ranks that share by speed have that measured. Where no block is given small matrices
-- are alone with the device at home.
local function make_layout(ranks, o)
  local share, block = check_share(o.share, ranks.count), check_block(o.block)
  local grid = check_grid(o.grid or share and { 1, ranks.count }, ranks.count)
  local new
  if share == "speed" then
    new = layout.by_speeds(grid, block, speed.measure(ranks))
  else
    new = share and layout.by_shares(grid, block, share) or layout.even(grid, block)
  end
  new.home_type = ranks:from(new.home, function() return ranks.devices[new.home].type end)
  if not o.block then new.alone = layout.alone_with(new.home_type) end
  return new
end

--- The ranks of the job where a launcher started it, each with its device of the selector; else devices of this
-- process.
local function make_ranks(given)
  for _, variable in ipairs { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK" } do
    if os.getenv(variable) and type(given) ~= "table" then
      local mpi = require "clcompute.mpi"
      return require("clcompute.groups.ranks_mpi").new(mpi.device(given))
    end
  end
  return ranks_here.new(find_devices(given))
end

--- cl.group([selector | devices][, options]).
function group.new(...)
  local given, o = ...
  arity.check("group", 2, 2, ...)
  local is_list = type(given) == "table" and given[1] ~= nil
  if type(given) == "table" and not is_list and next(given) ~= nil and o == nil then given, o = nil, given end
  o = o and options.check("group", o, { grid = "table", block = "integer", share = "string|table" }) or {}
  if given ~= nil and type(given) ~= "string" and type(given) ~= "table" then
    fail("group: selector or list of devices expected, got %s", options.type_of(given))
  end
  local ranks = make_ranks(given)
  local of = make_layout(ranks, o)
  local new = { ranks = ranks, devices = {}, layout = of, grid = of.grid, block = of.block, has_block = o.block ~= nil,
    rank = ranks.rank }
  for rank = 1, ranks.count do new.devices[#new.devices + 1] = ranks.devices[rank] end
  return setmetatable(new, Group)
end

function group.is_one(value) return getmetatable(value) == Group end

local function check(g, where)
  if not group.is_one(g) then fail("%s: group expected, got %s", where, options.type_of(g)) end
  if rawget(g, "is_closed") then fail("%s: group is closed", where) end
  return g.ranks.devices
end

-- --- buffers ----------------------------------------------------------------------------------------

--- The shape of a call; d:empty checks what it has in common with that of a device.
local function check_shape(where, dtype, ...)
  local shape, n = { ... }, select("#", ...)
  while n > 1 and shape[n] == nil do n = n - 1 end
  if not spread.sizes[dtype] then fail("%s: no dtype '%s'", where, tostring(dtype)) end
  if n < 1 or n > 4 then fail("%s: at most 4 dimensions, and at least one, expected, got %d", where, n) end
  for k = 1, n do
    local extent = math.tointeger(shape[k])
    if not extent or extent < 0 then
      fail("%s: extent %d: integer of at least 0 expected, got %s", where, k, tostring(shape[k]))
    end
    shape[k] = extent
  end
  return table.move(shape, 1, n, 1, {})
end

--- Checks a call that makes a buffer, which is the same on all ranks.
local function begin(g, where, ...)
  check(g, where)
  spread.agree(g, where, ...)
end

function methods:empty(dtype, ...)
  begin(self, "empty", dtype, ...)
  return spread.empty(self, dtype, check_shape("empty", dtype, ...))
end

function methods:zeros(dtype, ...)
  begin(self, "zeros", dtype, ...)
  return spread.make(self, dtype, check_shape("zeros", dtype, ...), function(_, device, shape)
    return device:zeros(dtype, table.unpack(shape))
  end)
end

function methods:full(dtype, value, ...)
  begin(self, "full", dtype, value, ...)
  return spread.make(self, dtype, check_shape("full", dtype, ...), function(_, device, shape)
    return device:full(dtype, value, table.unpack(shape))
  end)
end

local function any_device(g) return (select(2, next(g.ranks.devices))) end

--- Spreads a buffer of one device.
local function spread_out(g, buffer)
  local new, bytes = spread.empty(g, buffer.dtype, buffer.shape), buffer:string()
  if g.rank then -- the bytes count, and are not shown
    g.ranks:agree("a buffer of %s %s of the same values\0%s", buffer.dtype, table.concat(buffer.shape, "x"), bytes)
  end
  if buffer.bytes > 0 then new:write(bytes) end
  return new
end

--- The same of one that was made for this.
local function spread_made(g, buffer)
  local new = spread_out(g, buffer)
  buffer:release()
  return new
end

function methods:buffer(values, ...)
  check(self, "buffer")
  local is_buffer = spread.is_one(values) or options.type_of(values) == "Buffer"
  if is_buffer and select("#", ...) == 0 then return spread_out(self, values) end
  return spread_made(self, any_device(self):buffer(values, ...))
end

function methods:linspace(a, b, n, dtype)
  begin(self, "linspace", a, b, n, dtype)
  return spread_made(self, any_device(self):linspace(a, b, n, dtype))
end

function methods:arange(first, last, step, dtype)
  begin(self, "arange", first, last, step, dtype)
  return spread_made(self, any_device(self):arange(first, last, step, dtype))
end

function methods:eye(n, m, dtype)
  begin(self, "eye", n, m, dtype)
  return spread_made(self, any_device(self):eye(n, m, dtype))
end

function methods:permutation(n, o)
  begin(self, "permutation", n, o)
  return spread_made(self, any_device(self):permutation(n, o))
end

local ALIGNED = 4 -- elements from which on a sequence of random numbers may be begun

--- The rows first .. first + count - 1 of a sequence, as a buffer of `columns` elements a row.
local function random_rows(device, dtype, law, columns, first, count)
  local at = first * columns
  local before = at % ALIGNED
  local with = options.merge(law, { first = at - before + 1 })
  local line = device:random(dtype, before + count * columns, with)
  return line:view(before + 1, before + count * columns):reshape(count, columns)
end

--- Fills what a rank has of a spread buffer with its numbers of the sequence, by runs of rows.
local function fill_random(a, rank, law)
  local place, piece = a.place, a.pieces[rank]
  local rows, columns = place:extent(rank)
  local at_row, at_column = place:place(rank)
  local own = piece.bytes > 0 and piece:reshape(rows, columns)
  if not own then return end
  for first, count, row in place:row_runs(0, place.rows) do
    if row == at_row then
      local made <close> = random_rows(piece.device, a.dtype, law, place.columns, first, count)
      for column, width, at in place:column_runs(0, place.columns) do
        if at == at_column then
          made:copy_rect { to = own, size = { count, width }, at = { 1, column + 1 },
            to_at = { place:rows_before(first, at_row) + 1, place:columns_before(column, at_column) + 1 } }
        end
      end
    end
  end
end

function methods:random(dtype, ...)
  begin(self, "random", dtype, ...)
  local given = table.pack(...)
  while given.n > 0 and given[given.n] == nil do given.n = given.n - 1 end
  local law = type(given[given.n]) == "table" and given[given.n] or {}
  if law == given[given.n] then given.n = given.n - 1 end
  local shape = check_shape("random", dtype, table.unpack(given, 1, given.n))
  any_device(self):random(dtype, 0, law):release() -- raises what is wrong with the options
  if law.first then fail "random: option 'first' is for one device" end
  local a = spread.empty(self, dtype, shape)
  for rank in pairs(a.pieces) do fill_random(a, rank, law) end
  return a
end

--- A .npy file is read in pieces; what a device has to turn round, and other formats, by one device.
function methods:load(path, o)
  check(self, "load")
  local is_array, a = type(path) == "string" and path:find "%.npy$" ~= nil, nil
  if is_array and o == nil then is_array, a = pcall(formats.load, self, path) end
  if is_array and a then return a end
  return spread_made(self, any_device(self):load(path, o))
end

-- --- the rest ---------------------------------------------------------------------------------------

function methods:wait()
  check(self, "wait")
  self.ranks:wait()
  return self
end

--- The devices stay open: others may use them.
function methods:close()
  rawset(self, "is_closed", true)
  return self
end

local properties = {}

function properties.has_double(g)
  for _, device in pairs(g.ranks.devices) do if not device.has_double then return false end end
  return true
end

function properties.has_half(g)
  for _, device in pairs(g.ranks.devices) do if not device.has_half then return false end end
  return true
end

--- What ranks have of each round of rows of vectors, and of rows and columns of matrices; nil where they share evenly.
function properties.shares(g)
  local of = g.layout
  if of.is_even then return nil end
  return { vectors = table.move(of.shares, 1, #of.shares, 1, {}), rows = of.row_line:shares(of.block),
    columns = of.column_line:shares(of.block) }
end

--- Bytes that went from rank to rank so far, as this process knows.
function properties.bytes(g) return g.ranks.bytes end

function Group.__index(g, key)
  if properties[key] then return (properties[key](g)) end
  local method = methods[key]
  if method or key == "rank" or key == "is_closed" then return method end
  local device = any_device(g)
  local ok, of_device = pcall(function() return device[key] end)
  if ok and type(of_device) == "function" then
    fail("%s: a group has none; it works on one device: g.devices lists them", key)
  end
  fail("a group has no field '%s'%s", tostring(key),
    internal.suggestion(key, "group", methods, "devices grid block shares rank bytes has_double has_half"))
end

function Group.__newindex(_, key) fail("a group has no field '%s' to set", tostring(key)) end
function Group.__len(g) return g.ranks.count end
Group.__close = methods.close

local function words_of_shares(shares)
  if not shares then return "" end
  return (", shares of vectors %s, of rows %s, of columns %s"):format(table.concat(shares.vectors, ":"),
    table.concat(shares.rows, ":"), table.concat(shares.columns, ":"))
end

function Group.__tostring(g)
  local lines = { ("group of %d device%s, grid %dx%d, blocks of %d%s"):format(g.ranks.count,
    g.ranks.count == 1 and "" or "s", g.grid[1], g.grid[2], g.block, words_of_shares(g.shares)) }
  for rank = 1, g.ranks.count do
    local which = g.rank and ("rank %d, this process: "):format(g.rank) or ""
    if g.ranks.devices[rank] then lines[#lines + 1] = "  " .. which .. tostring(g.ranks.devices[rank]) end
  end
  return table.concat(lines, "\n")
end

group.metatable = raising.guarded_fields(Group)
raising.guarded(arity.methods(methods, "Group"))

return group
