-- SPDX-License-Identifier: MIT

--- Ranks of a job that a launcher of MPI (mpirun, srun) started: numbers, strings, tables and buffers go from rank to
-- rank. Without a launcher there is a world of one rank, for which no library is opened.

local arity = require("clcompute.base").arity
local core = require "clcompute.core"
local raising = require("clcompute.base").raising
local type_of = require("clcompute.base").options.type_of
local values = require "clcompute.mpi.values"

local mpi = {}

local World = { __name = "clcompute.World", methods = {} }
local methods = World.methods

local function fail(...) error(string.format(...), 0) end

-- --- the launcher -------------------------------------------------------------------------------------

-- What launchers say of the number of ranks.
local LAUNCHERS = { { "OMPI_COMM_WORLD_SIZE", "Open MPI" }, { "PMI_SIZE", "MPICH or its kin" },
  { "PMIX_RANK", "a launcher with PMIx" } }

--- The launcher that started the process, and how many ranks it says there are, if it does.
local function find_launcher()
  for _, launcher in ipairs(LAUNCHERS) do
    local value = os.getenv(launcher[1])
    if value then return launcher[2], launcher[1]:find "SIZE" and math.tointeger(value) or nil end
  end
end

local function load_ranks()
  local ok, ranks = pcall(require, "clcompute.ranks")
  if ok then return ranks end
  local message = tostring(ranks)
  if message:find("libmpi", 1, true) then
    fail "mpi: the library of MPI (libmpi) is not installed; on Debian and Ubuntu: apt install openmpi-bin"
  end
  if message:find("module 'clcompute.ranks' not found", 1, true) then
    fail "mpi: clcompute was built where mpicc was not; apt install libopenmpi-dev openmpi-bin, and make again"
  end
  fail("mpi: %s", message)
end

--- Where the script calls, for ranks that disagree.
local function place()
  for level = 3, 20 do
    local info = debug.getinfo(level, "Sl")
    if not info then break end
    local is_ours = info.short_src:find("clcompute/", 1, true)
    if info.currentline > 0 and not is_ours then return (" (%s:%d)"):format(info.short_src, info.currentline) end
  end
  return ""
end

local function new_world()
  local launcher, count = find_launcher()
  if not launcher then return { rank = 0, size = 1, node_rank = 0, node_size = 1 } end
  local ranks = load_ranks()
  local world = { ranks = ranks, launcher = launcher }
  world.rank, world.size, world.node_rank, world.node_size = ranks.begin(place)
  if count and count ~= world.size then
    fail("mpi: started by %s with %d ranks, but this module was built for %s", launcher, count,
      ranks.library():match "^[^,\n]*")
  end
  return world
end

-- --- values ---------------------------------------------------------------------------------------------

--- A value as bytes; of a buffer its elements.
local function pack(where, value)
  if type_of(value) == "Buffer" then return "B" .. value.dtype .. "\0" .. value:string() end
  return values.pack(where, value)
end

--- Bytes as a value: those of a buffer go into `into`.
local function unpack(where, bytes, into)
  if bytes:sub(1, 1) ~= "B" then
    if into ~= nil then fail("%s: a buffer expected, but the rank sent none", where) end
    return values.unpack(bytes)
  end
  local dtype, at = bytes:match "^B(%l+)%z()"
  if into == nil then fail("%s: the rank sent a buffer of %s: a buffer to receive it expected", where, dtype) end
  if dtype ~= into.dtype or #bytes - at + 1 ~= into.bytes then
    fail("%s: %d bytes of %s came, for a buffer of %d bytes of %s", where, #bytes - at + 1, dtype, into.bytes,
      into.dtype)
  end
  return into:write(bytes:sub(at))
end

local function check(world)
  if getmetatable(world) ~= World then fail "mpi.world expected" end
  return world
end

--- Raises on all ranks unless all are in the same call.
local function agree(world, ...)
  check(world)
  if world.size > 1 then world.ranks.agree(string.format(...)) end
end

--- A rank that fails in a call of all raises on all, unless all have failed in the same way.
local function fail_together(world, message)
  if world.size > 1 then world.ranks.fail(message) end
end

local function describe(value)
  if type_of(value) ~= "Buffer" then return type_of(value) end
  return ("%s %s"):format(value.dtype, table.concat(value.shape, "x"))
end

local function check_rank(where, world, rank)
  if math.type(rank) ~= "integer" or rank < 0 or rank >= world.size then
    fail("%s: rank of 0 to %d expected, got %s", where, world.size - 1, tostring(rank))
  end
  return rank
end

local function check_root(where, world, root)
  return check_rank(where, world, root == nil and 0 or root)
end

--- Sends bytes, and waits until they have gone.
local function send(world, bytes, to, is_call)
  world.ranks.finish(world.ranks.start(bytes, to, is_call))
end

-- --- calls ----------------------------------------------------------------------------------------------

function methods:send(value, to)
  check_rank("send", check(self), to)
  if to == self.rank then fail "send: to this rank itself" end
  send(self, pack("send", value), to)
  return self
end

--- recv(from), or recv(buffer, from).
function methods:recv(...)
  local into, from = ...
  check(self)
  arity.check("recv", 2, 2, ...)
  if from == nil then into, from = nil, into end
  check_rank("recv", self, from)
  if from == self.rank then fail "recv: from this rank itself" end
  return unpack("recv", self.ranks.recv(from), into)
end

--- The value of the root on all; by a tree.
local function spread_bytes(world, bytes, root)
  local size, own = world.size, (world.rank - root) % world.size
  local step = 1
  while step < size do step = step * 2 end
  local has = own == 0
  while step > 1 do
    local half = step // 2
    if has and own % step == 0 and own + half < size then
      send(world, bytes, (own + half + root) % size, true)
    elseif not has and own % step == half then
      bytes, has = world.ranks.recv((own - half + root) % size, true), true
    end
    step = half
  end
  return bytes
end

--- What is packed before ranks agree raises on its own rank alone, and none of the others waits for it.
function methods:bcast(value, root)
  root = check_root("bcast", check(self), root)
  local is_buffer, is_root = type_of(value) == "Buffer", self.rank == root
  local bytes = is_root and pack("bcast", value) or nil
  agree(self, "bcast of %s from rank %d", is_buffer and describe(value) or "a value", root)
  if self.size == 1 then return value end
  bytes = spread_bytes(self, bytes, root)
  return is_root and value or unpack("bcast", bytes, is_buffer and value or nil)
end

--- The value of the root on all, of which no buffer is.
local function spread_value(world, bytes, root)
  return values.unpack(world.size == 1 and bytes or spread_bytes(world, bytes, root))
end

--- The list of all ranks' values, packed, on the root; nil elsewhere.
local function gather(world, bytes, root)
  if world.rank ~= root then
    send(world, bytes, root, true)
    return nil
  end
  local list = {}
  for rank = 0, world.size - 1 do
    list[rank + 1] = values.unpack(rank == root and bytes or world.ranks.recv(rank, true))
  end
  return list
end

--- The list of all ranks' values, in their order, on the root; nil elsewhere.
function methods:gather(value, root)
  root = check_root("gather", check(self), root)
  local bytes = values.pack("gather", value)
  agree(self, "gather to rank %d", root)
  return gather(self, bytes, root)
end

--- The list of values, packed, on all. Long ones go by the first rank.
local function allgather(world, bytes)
  local short = world.size > 1 and world.ranks.allgather(bytes)
  if short then
    for rank = 1, world.size do short[rank] = values.unpack(short[rank]) end
    return short
  end
  local list = gather(world, bytes, 0)
  if world.size == 1 then return list end
  return spread_value(world, list and values.pack("allgather", { n = world.size, list = list }), 0).list
end

function methods:allgather(value)
  local bytes = values.pack("allgather", value)
  agree(check(self), "allgather")
  return allgather(self, bytes)
end

local OPERATIONS = {
  sum = function(a, b) return a + b end, prod = function(a, b) return a * b end,
  min = math.min, max = math.max,
}

--- Numbers in the order of ranks, so that the same ranks give the same bits.
local function combine(where, list, operation)
  local f = OPERATIONS[operation or "sum"]
  if not f then fail("%s: sum, prod, min or max expected, got %s", where, tostring(operation)) end
  local total
  for rank, value in ipairs(list) do
    if type(value) ~= "number" then fail("%s: number expected, rank %d has a %s", where, rank - 1, type(value)) end
    total = total == nil and value or f(total, value)
  end
  return total
end

function methods:reduce(value, operation, root)
  root = check_root("reduce", check(self), root)
  local bytes = values.pack("reduce", value)
  agree(self, "reduce of a %s by %s to rank %d", type(value), operation or "sum", root)
  local list = gather(self, bytes, root)
  return list and combine("reduce", list, operation)
end

function methods:allreduce(value, operation)
  local bytes = values.pack("allreduce", value)
  agree(check(self), "allreduce of a %s by %s", type(value), operation or "sum")
  return combine("allreduce", allgather(self, bytes), operation)
end

function methods:barrier()
  check(self)
  agree(self, "barrier")
  return self
end

raising.guarded(arity.methods(methods, "World"))
World.__index = methods

-- --- devices --------------------------------------------------------------------------------------------

--- The device of this rank: those of a node are dealt to its ranks.
function mpi.device(selector)
  local first = core.device(selector)
  local devices = {}
  for _, device in ipairs(core.devices(selector or os.getenv "CLCOMPUTE_DEVICE" or first.type)) do
    if device.type == first.type and device.platform == first.platform then devices[#devices + 1] = device end
  end
  local world = mpi.world
  if world.node_size > #devices and first.type ~= "cpu" and world.node_rank == 0 then
    warn("clcompute: ", ("mpi.device: %d ranks share %d devices of this node"):format(world.node_size, #devices))
  end
  return devices[world.node_rank % #devices + 1]
end

raising.guarded(arity.functions(mpi))

local function begin()
  local world = new_world()
  world.internal = { -- for groups
    agree = agree, fail = fail_together, pack = values.pack, collect = allgather, spread = spread_value,
  }
  return setmetatable(world, World)
end

--- The world begins when it is asked for.
return setmetatable(mpi, { __index = function(_, key)
  if key ~= "world" then return nil end
  rawset(mpi, "world", begin())
  return mpi.world
end })
