-- SPDX-License-Identifier: MIT

--- Ranks in one process: each is a device. This is all that an algorithm asks of ranks:
--
-- - `count`, how many there are; `devices`, by rank, those of this process alone; `rank`, the one of this process, nil
--   where it has all
-- - `together(words, f, ...)` calls f on all, which agree on the words: one that fails has none of the others wait
-- - `collect(f[, words])` calls f(rank) for each rank of this process; returns the list of the results of all ranks
-- - `from(rank, f)` returns to all what f() returns where the rank is
-- - `move(from, source, at, to, target, to_at, size)` copies a rectangle from a rank's matrix to a rank's; all
--   processes call it in the same order, and `source` and `target` are nil where the rank is not
-- - `move_all(list)` moves each {from=, source=, at=, to=, target=, to_at=, size=}, none of another's result
-- - `begin(list)` begins the same behind what is queued until now, and `arrive(what it returns)` ends it: what is
--   queued between the two needs none of it, and goes on meanwhile
-- - `ready()` before `begin(list, true)`: targets are not waited for any more than until then
-- - `wait()` until all that was queued has ended
--
-- `bytes` counts what went from one rank to another.

local internal = require "clcompute.core.internal"
local turns = require("clcompute.operations").turns

local ranks_here = {}

local Ranks = {}
Ranks.__index = Ranks

function ranks_here.new(devices)
  return setmetatable({ count = #devices, devices = devices, bytes = 0 }, Ranks)
end

function Ranks.together(_, _, f, ...) return f(...) end

function Ranks:collect(f) return turns.take(self.count, f) end

function Ranks.from(_, _, f) return f() end

--- Bytes of a rectangle of a matrix.
local function bytes_of(source, size) return source.bytes // (#source * source.shape[2]) * size[1] * size[2] end

function Ranks:begin(list, is_ready)
  local moves = {}
  for _, m in ipairs(list) do
    if m.size[1] > 0 and m.size[2] > 0 then
      moves[#moves + 1] = m
      if m.from ~= m.to then self.bytes = self.bytes + bytes_of(m.source, m.size) end
    end
  end
  return internal.carry(moves, is_ready)
end

function Ranks:ready()
  for _, device in ipairs(self.devices) do internal.await_free(device) end
end

function Ranks.arrive(_, under_way)
  if under_way then internal.arrive(under_way) end
end

function Ranks:move_all(list) self:arrive(self:begin(list)) end

function Ranks:move(from, source, at, to, target, to_at, size)
  self:move_all { { from = from, source = source, at = at, to = to, target = target, to_at = to_at, size = size } }
end

function Ranks:wait()
  for _, device in ipairs(self.devices) do device:wait() end
end

return ranks_here
