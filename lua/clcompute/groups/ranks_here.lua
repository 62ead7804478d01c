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
-- - `wait()` until all that was queued has ended
--
-- `bytes` counts what went from one rank to another.

local ranks_here = {}

local Ranks = {}
Ranks.__index = Ranks

function ranks_here.new(devices)
  return setmetatable({ count = #devices, devices = devices, bytes = 0 }, Ranks)
end

function Ranks.together(_, _, f, ...) return f(...) end

function Ranks:collect(f)
  local results = {}
  for rank = 1, self.count do results[rank] = f(rank) end
  return results
end

function Ranks.from(_, _, f) return f() end

function Ranks:move(from, source, at, to, target, to_at, size)
  if size[1] == 0 or size[2] == 0 then return end
  if from ~= to then self.bytes = self.bytes + source.bytes // (#source * source.shape[2]) * size[1] * size[2] end
  source:copy_rect { to = target, size = size, at = at, to_at = to_at }
end

function Ranks:move_all(list)
  for _, m in ipairs(list) do self:move(m.from, m.source, m.at, m.to, m.target, m.to_at, m.size) end
end

function Ranks:wait()
  for _, device in ipairs(self.devices) do device:wait() end
end

return ranks_here
