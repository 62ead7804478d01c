-- SPDX-License-Identifier: MIT

--- Ranks of a job of MPI, each a process with one device: what `clcompute.groups.ranks_here` is in one process.

local mpi = require "clcompute.mpi"

local ranks_mpi = {}

local Ranks = {}
Ranks.__index = Ranks

function ranks_mpi.new(device)
  local world = mpi.world
  return setmetatable({ count = world.size, world = world, rank = world.rank, own = world.rank + 1,
    devices = { [world.rank + 1] = device }, bytes = 0 }, Ranks)
end

--- Raises on all ranks unless all are in the same call.
function Ranks:agree(...) self.world.internal.agree(self.world, ...) end

local function finish(ranks, words, ok, ...)
  if ok then return ... end
  ranks.world.internal.fail(ranks.world, ("%s: %s"):format(words:match "^%S+", ...))
  error(..., 0)
end

function Ranks:together(words, f, ...)
  self:agree("%s", words)
  return finish(self, words, pcall(f, ...))
end

--- What a rank's function returns, packed; or its error, which all raise.
local function packed_result(world, f, ...)
  local ok, value = pcall(f, ...)
  return world.internal.pack("collect", ok and { value } or { fault = tostring(value) })
end

local function result_of(packed)
  if packed.fault then error(packed.fault, 0) end
  return packed[1]
end

function Ranks:collect(f, words)
  self:agree("%s", words or "what each rank has")
  local bytes = packed_result(self.world, f, self.own)
  local list, results = self.world.internal.collect(self.world, bytes), {}
  for rank, packed in ipairs(list) do results[rank] = result_of(packed) end
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

--- Moves at once: each rank sends all that it has to, then receives, so that none waits for another to begin.
function Ranks:move_all(list)
  local ranks, sent = self.world.ranks, {}
  for _, m in ipairs(list) do
    if m.size[1] > 0 and m.size[2] > 0 and m.from == self.own then
      if m.to == self.own then
        m.source:copy_rect { to = m.target, size = m.size, at = m.at, to_at = m.to_at }
      else
        local bytes = pack(m.source, m.at, m.size)
        self.bytes = self.bytes + #bytes
        sent[#sent + 1] = ranks.start(bytes, m.to - 1, true)
      end
    end
  end
  for _, m in ipairs(list) do
    if m.size[1] > 0 and m.size[2] > 0 and m.to == self.own and m.from ~= self.own then
      m.target:write_rect(ranks.recv(m.from - 1, true), { size = m.size, at = m.to_at })
    end
  end
  for _, one in ipairs(sent) do ranks.finish(one) end
end

--- MPI's messages go on when ranks wait for them: all at once.
function Ranks:begin(list) self:move_all(list) end

function Ranks.arrive() end
function Ranks.ready() end

function Ranks:move(from, source, at, to, target, to_at, size)
  self:move_all { { from = from, source = source, at = at, to = to, target = target, to_at = to_at, size = size } }
end

function Ranks:wait() self.devices[self.own]:wait() end

return ranks_mpi
