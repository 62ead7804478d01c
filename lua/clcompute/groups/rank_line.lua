-- SPDX-License-Identifier: MIT

--- Lines of ranks, along which indices lie in rounds: in each the rank at a place has the next `sizes[place]` of them.
-- Pure functions; places and indices count from 0.
--
--     sizes 2, 1:   index  0 1 2 3 4 5 6 7 ...
--                   place  0 0 1 0 0 1 0 0 ...

local line = {}

local Line = {}
Line.__index = Line

--- A line whose ranks have so many indices of each round, as a list from the first place on.
function line.new(list)
  local new = { count = #list, sizes = {}, starts = {}, round = 0 }
  for k, size in ipairs(list) do
    new.sizes[k - 1], new.starts[k - 1] = size, new.round
    new.round = new.round + size
  end
  return setmetatable(new, Line)
end

--- One on which all have blocks of a size.
function line.even(count, block)
  local list = {}
  for k = 1, count do list[k] = block end
  return line.new(list)
end

--- One on which the rank at a place has all of n indices.
function line.only(count, at, n)
  local list = {}
  for k = 1, count do list[k] = k == at + 1 and math.max(1, n) or 0 end
  return line.new(list)
end

--- One on which n indices lie in one part for each rank, by whole shares.
function line.parts(shares, n)
  local list, total, sum, last = {}, 0, 0, 0
  for _, share in ipairs(shares) do total = total + share end
  for k, share in ipairs(shares) do
    sum = sum + share
    local stop = -(-math.max(1, n) * sum // total)
    list[k], last = stop - last, stop
  end
  return line.new(list)
end

--- How many of the first n indices a place has.
function Line:owned(n, at)
  local size = self.sizes[at]
  return n // self.round * size + math.max(0, math.min(size, n % self.round - self.starts[at]))
end

--- The place that has index i.
function Line:place(i)
  local rest, at = i % self.round, 0
  while rest >= self.starts[at] + self.sizes[at] do at = at + 1 end
  return at
end

--- Who has index i, and as which of its own.
function Line:find(i)
  local at = self:place(i)
  return at, i // self.round * self.sizes[at] + i % self.round - self.starts[at]
end

--- The index that is `own` of a place.
function Line:index(own, at)
  local size = self.sizes[at]
  return own // size * self.round + self.starts[at] + own % size
end

--- The same as an expression of OpenCL C.
function Line:text(own, at)
  local size = math.max(1, self.sizes[at])
  return ("(%s / %d * %d + %d + %s %% %d)"):format(own, size, self.round, self.starts[at], own, size)
end

--- Iterates over first .. last - 1 by runs that lie behind each other with a rank: the first, how many, the place.
-- Indices are those of the line less `skip`.
function Line:runs(first, last, skip)
  local from = first
  return function()
    if from >= last then return nil end
    local start, i = from, from + skip
    local at = self:place(i)
    from = math.min(last, i - i % self.round + self.starts[at] + self.sizes[at] - skip)
    return start, from - start, at
  end
end

--- What places have of a round, in units of so many indices, as a list.
function Line:shares(unit)
  local list = {}
  for at = 0, self.count - 1 do list[at + 1] = self.sizes[at] // unit end
  return list
end

--- Whether indices of both lie alike.
function Line:is_like(other)
  if self == other then return true end
  for at = 0, self.count - 1 do
    if self.sizes[at] ~= other.sizes[at] then return false end
  end
  return true
end

return line
