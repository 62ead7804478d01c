-- SPDX-License-Identifier: MIT

--- Ranks of a job of MPI, each a process with one device: what `clcompute.groups.ranks_here` is in one process.

local internal = require "clcompute.core.internal"
local mpi = require "clcompute.mpi"
local operands = require("clcompute.operations").operands

local ranks_mpi = {}

local Ranks = {}
Ranks.__index = Ranks

local segments -- of the ranks of this machine, once they were asked for; false: there are none
local mailboxes = setmetatable({}, { __mode = "k" }) -- by device
local exchange = 0 -- the number of the last one, the same on all ranks
local under_way -- the last one, until it was delivered: {mailbox=, ranks=}

--- Where ranks of this machine leave for each other what goes from device to device; nil where they share no memory.
-- $CLCOMPUTE_MPI_SHARED=off, of any rank: all goes by messages.
local function mailbox_of(world, device)
  if world.size > 1 and segments == nil then
    local bytes = os.getenv "CLCOMPUTE_MPI_SHARED" ~= "off" and internal.mail_bytes(device) or 0
    world.internal.agree(world, "group")
    local addresses, sizes = world.ranks.segments(bytes)
    segments = addresses and { addresses = addresses, sizes = sizes } or false
  end
  if not segments then return nil end
  mailboxes[device] = mailboxes[device] or internal.mailbox(device, world.rank + 1, segments.addresses, segments.sizes)
  return mailboxes[device]
end

function ranks_mpi.new(device)
  local world = mpi.world
  local ranks = setmetatable({ count = world.size, world = world, rank = world.rank, own = world.rank + 1,
    devices = { [world.rank + 1] = device }, bytes = 0 }, Ranks)
  ranks.mailbox = mailbox_of(world, device)
  if world.ranks and device.type == "gpu" then world.ranks.spin_for_gpu() end
  return ranks
end

--- Raises on all ranks unless all are in the same call. Within one they are, as they agreed on all that it depends on.
function Ranks:agree(...)
  if not self.is_together then self.world.internal.agree(self.world, ...) end
end

--- Ranks have agreed on a call at its end at the latest. One that failed leaves nothing under way, nor in slots where
-- all have failed alike; where they disagree nothing was posted.
local function finish(ranks, words, ok, ...)
  ranks.is_together = false
  if ok then
    if ranks.world.ranks then ranks.world.ranks.end_call() end
    return ...
  end
  if ranks.mailbox then internal.abandon(ranks.mailbox) end
  under_way = nil
  ranks.world.internal.fail(ranks.world, ("%s: %s"):format(words:match "^%S+", ...))
  if ranks.mailbox then internal.empty_slots(ranks.mailbox) end
  error(..., 0)
end

--- Begins to agree, and calls f meanwhile.
local function call_together(ranks, words, f, ...)
  if ranks.world.ranks then ranks.world.ranks.begin_call(words) end
  ranks.is_together = true
  return f(...)
end

--- Devices compute while ranks agree: they exchange nothing before they have.
function Ranks:together(words, f, ...)
  return finish(self, words, pcall(call_together, self, words, f, ...))
end

--- What a rank's function returns, packed; or its error, which all raise.
local function packed_result(world, f, ...)
  local ok, value = pcall(f, ...)
  if not ok then value = { fault = tostring(value) } end
  return world.internal.pack("collect", value)
end

local function result_of(value)
  if type(value) == "table" and value.fault then error(value.fault, 0) end
  return value
end

function Ranks:collect(f, words)
  self:agree("%s", words or "what each rank has")
  local bytes = packed_result(self.world, f, self.own)
  local list, results = self.world.internal.collect(self.world, bytes), {}
  for rank = 1, self.count do results[rank] = result_of(list[rank]) end
  return results
end

function Ranks:from(rank, f)
  self:agree("what rank %d has", rank - 1)
  local bytes = rank == self.own and packed_result(self.world, f) or nil
  return result_of(self.world.internal.spread(self.world, bytes, rank - 1))
end

--- A rectangle as packed bytes.
local function pack(source, at, size)
  local shape = source.shape
  if size[1] == shape[1] and size[2] == shape[2] then return source:string() end
  local block = source.device:empty(source.dtype, size[1], size[2])
  source:copy_rect { to = block, size = size, at = at }
  local bytes = block:string()
  block:release()
  return bytes
end

local PIECE = 16 << 20 -- bytes of a message at most, unless a row has more: of more each string lies in fresh pages
local MOST_SENT = 4 -- messages of a rank that are on their way

--- A part of a rectangle: so many rows from `first` on, from 0.
local function rows_of(m, first, count)
  return { from = m.from, source = m.source, at = { m.at[1] + first, m.at[2] }, to = m.to, target = m.target,
    to_at = { m.to_at[1] + first, m.to_at[2] }, size = { count, m.size[2] } }
end

--- What this rank sends or gets in pieces of rows, a piece of each rectangle in turn: in an order that all ranks share.
local function pieces_of(list)
  local rounds, pieces = {}, {}
  for _, m in ipairs(list) do
    local rows = math.max(PIECE // (m.size[2] * operands.sizes[(m.source or m.target).dtype]), 1)
    for first = 0, m.size[1] - 1, rows do
      local round = first // rows + 1
      rounds[round] = rounds[round] or {}
      table.insert(rounds[round], rows_of(m, first, math.min(rows, m.size[1] - first)))
    end
  end
  for _, round in ipairs(rounds) do table.move(round, 1, #round, #pieces + 1, pieces) end
  return pieces
end

--- The moves of this rank: those within it are queued; to ranks of this machine, from these, and the others'.
local function sort_out(self, list)
  local sent, coming, far = {}, {}, {}
  for _, m in ipairs(list) do
    local is_from, is_to = m.from == self.own, m.to == self.own
    local is_one = (is_from or is_to) and m.size[1] > 0 and m.size[2] > 0
    if is_one and is_from and is_to then
      m.source:copy_rect { to = m.target, size = m.size, at = m.at, to_at = m.to_at }
    elseif is_one then
      local is_near = self.mailbox and segments.addresses[is_from and m.to or m.from]
      table.insert(not is_near and far or is_from and sent or coming, m)
    end
  end
  return sent, coming, far
end

--- Begins to send a piece; where as many as may be are on their way, behind the oldest.
local function send(self, m, sent)
  local ranks, bytes = self.world.ranks, pack(m.source, m.at, m.size)
  if #sent == MOST_SENT then ranks.finish(table.remove(sent, 1)) end
  self.bytes = self.bytes + #bytes
  sent[#sent + 1] = ranks.start(bytes, m.to - 1, true)
end

--- Moves by messages. All ranks go through the same pieces in the same order, and begin to send some ahead of it: so
-- none waits for what waits for it. What is sent may be read after something has come.
local function move_far(self, list)
  local pieces, own, sent, started = pieces_of(list), {}, {}, 0
  for at, m in ipairs(pieces) do
    if m.from == self.own then own[#own + 1] = at end
  end
  for at, m in ipairs(pieces) do
    while started < #own and (#sent < MOST_SENT or own[started + 1] == at) do
      started = started + 1
      send(self, pieces[own[started]], sent)
    end
    if m.to == self.own then
      m.target:write_rect(self.world.ranks.recv(m.from - 1, true), { size = m.size, at = m.to_at })
    end
  end
  for _, one in ipairs(sent) do self.world.ranks.finish(one) end
end

--- Until the last exchange is over.
local function deliver()
  if not under_way then return end
  local check_peer = under_way.ranks.check_peer
  internal.deliver(under_way.mailbox, check_peer)
  under_way = nil
end

--- The number of an exchange, behind those of all calls on which ranks agreed before, wherever they failed in one.
local function next_exchange(ranks)
  local agreed = ranks and ranks.settle() or 0
  return math.max(exchange, agreed << 24) + 1
end

--- Begins to move to and from ranks of this machine; what goes to other machines, or comes from them, has come when it
-- returns.
function Ranks:begin(list, is_ready)
  deliver()
  exchange = next_exchange(self.world.ranks)
  local sent, coming, far = sort_out(self, list)
  if #sent + #coming > 0 then
    for _, m in ipairs(sent) do
      self.bytes = self.bytes + operands.sizes[m.source.dtype] * m.size[1] * m.size[2]
    end
    internal.post(self.mailbox, exchange, sent, coming, is_ready)
    under_way = { mailbox = self.mailbox, ranks = self.world.ranks }
  end
  move_far(self, far)
  return under_way
end

function Ranks.arrive(_, one)
  if one ~= nil and one == under_way then deliver() end
end

function Ranks:ready()
  if self.mailbox then internal.await_mail(self.mailbox) end
end

function Ranks:move_all(list) self:arrive(self:begin(list)) end

function Ranks:move(from, source, at, to, target, to_at, size)
  self:move_all { { from = from, source = source, at = at, to = to, target = target, to_at = to_at, size = size } }
end

function Ranks:wait() self.devices[self.own]:wait() end

return ranks_mpi
