-- SPDX-License-Identifier: MIT

--- Reductions of spread buffers along an axis. Each rank reduces what it has along the axis. Ranks whose results are of
-- the same elements, a column of the grid for axis 1 and a row of it for axis 2, hand theirs to the first of them,
-- which combines them in the order of ranks.

local core = require "clcompute.core"
local elementwise = require "clcompute.groups.elementwise"
local operations = require "clcompute.operations"
local options = require("clcompute.base").options
local spread = require "clcompute.groups.spread"

local lines = {}

local operands = operations.operands

local function fail(...) error(string.format(...), 0) end

--- The axis of a call, as `operations.along_axis.read` has it, with what `known` allows; nil without one.
function lines.read(where, x, o, known)
  spread.check(x, where, "argument 1")
  return o ~= nil and operations.along_axis.read(where, options.check(where, o, known), x) or nil
end

--- The rank that has the results of a rank, and how far the axis reaches there.
local function owner_of(place, g, rank)
  local row, column = place:place(rank)
  local rows, columns = place:extent(rank)
  local is_matrix = #place.shape == 2
  if g.axis == 1 then return place:rank(place.row_line:place(0), column), rows end
  return place:rank(row, place.column_line:place(0)), is_matrix and columns or g.n
end

--- The ranks that hand their results to a rank: a list of them, and how far the axis reaches with each.
local function members_of(place, g, owner)
  local members, counts = {}, {}
  for rank = 1, place.p * place.q do
    local to, count = owner_of(place, g, rank)
    if to == owner and (count > 0 or g.n == 0 and rank == owner) then
      members[#members + 1], counts[#counts + 1] = rank, count
    end
  end
  return members, counts
end

local function flat(buffer, count) return buffer:reshape(1, count) end

--- An element in a rank's buffer of as many dimensions.
function lines.one_of(x, rank)
  local shape = {}
  for k in ipairs(x.place.shape) do shape[k] = 1 end
  return x.pieces[rank].device:zeros(x.dtype, table.unpack(shape))
end

--- What one rank finds, of elements or of none that stand for a rank without any.
local function partial_of(x, g, partial, rank)
  local piece = x.pieces[rank]
  if piece.bytes > 0 or g.n == 0 then return { partial(piece, rank) } end
  return { partial(lines.one_of(x, rank), rank) }
end

--- Hands the results of ranks to their owner: {counts= how far the axis reaches with each, stacks= where the owner is,
-- matrices whose rows they are}.
local function gather(x, g, found, kept, owner)
  local ranks, rows, columns = x.group.ranks, kept:extent(owner)
  local members, counts = members_of(x.place, g, owner)
  local count, device, stacks = rows * columns, ranks.devices[owner], {}
  for k = 1, #found[next(found)] do
    stacks[k] = device and device:empty(found[owner][k].dtype, #members, count)
    for at, rank in ipairs(count > 0 and members or {}) do
      ranks:move(rank, found[rank] and flat(found[rank][k], count), { 1, 1 }, owner, stacks[k], { at, 1 },
        { 1, count })
    end
  end
  return { counts = counts, stacks = device and stacks }
end

--- Reduces along an axis.
-- @tparam Spread x settled
-- @tparam table g of `lines.read`
-- @tparam function partial (piece, rank): a rank's results, one buffer or two, in which the axis is kept
-- @tparam function combine (list of matrices whose rows are the results of ranks, how far the axis reaches with each):
-- a list of buffers
-- @treturn {Spread,...} with the axis kept
local function reduce(x, g, partial, combine)
  local ranks = x.group.ranks
  local kept, found, pieces = x.place:without(g.axis, x.group.layout), {}, {}
  for rank in pairs(x.pieces) do found[rank] = partial_of(x, g, partial, rank) end
  local width = #found[next(found)]
  for k = 1, width do pieces[k] = {} end
  for owner = 1, ranks.count do
    local of_owner = gather(x, g, found, kept, owner)
    if of_owner.stacks then
      local results = #of_owner.counts > 0 and combine(of_owner.stacks, of_owner.counts) or {}
      for k, stack in ipairs(of_owner.stacks) do
        local result = results[k] or ranks.devices[owner]:empty(stack.dtype, 0)
        pieces[k][owner] = result:reshape(table.unpack(kept:shape_of(owner)))
      end
    end
  end
  local results = {}
  for k = 1, width do results[k] = spread.of(x.group, pieces[k][next(pieces[k])].dtype, kept, pieces[k]) end
  return results
end

--- The results without the axis, where it is not kept.
local function shaped(g, x) return elementwise.reshaped(x, g.shape) end

-- --- operations -----------------------------------------------------------------------------------------

local ALONG = { axis = 1 }

--- Combines the rows of one matrix by an operation of one device.
local function by(f)
  return function(stacks) return { f(stacks[1], ALONG) } end
end

--- How a rank reduces its own part: options that keep the axis.
local function keeping(g) return { axis = g.axis, keep = true } end

-- The operation that combines what ranks find.
local COMBINED = { sum = "sum", asum = "sum", norm2 = "norm2", min = "min", max = "max", count = "sum", any = "max",
  all = "min" }

--- Raises, on all ranks, where results need an element that there is not: those without a part would not learn.
function lines.check_some(where, g)
  if g.n == 0 and g.outer * g.inner > 0 then fail("%s: no elements along axis %d", where, g.axis) end
end

--- One of the operations above, of a buffer.
function lines.named(where, x, g)
  if where == "min" or where == "max" then lines.check_some(where, g) end
  x = elementwise.settled(x)
  return shaped(g, reduce(x, g, function(piece) return (core[where](piece, keeping(g))) end,
    by(core[COMBINED[where]]))[1])
end

--- What the operands of a call give.
-- @tparam table given aligned operands by their names
-- @tparam Spread x the first of them
-- @tparam function of_rank (a rank's operands, options that keep the axis, rank): its results
-- @tparam function f of one device, which combines the results of ranks along axis 1
function lines.of_operands(given, x, g, of_rank, f)
  local settled = {}
  for name, value in next, given do settled[name] = spread.is_one(value) and elementwise.settled(value) or value end
  return shaped(g, reduce(elementwise.settled(x), g, function(_, rank)
    local own = elementwise.of_rank(settled, rank)
    for name, value in next, settled do
      if spread.is_one(value) and own[name].bytes == 0 and g.n > 0 then own[name] = lines.one_of(value, rank) end
    end
    return (of_rank(own, keeping(g), rank))
  end, by(f))[1])
end

--- count, any and all.
function lines.condition(where, given, x, g, of_rank)
  return lines.of_operands(given, x, g, of_rank, core[COMBINED[where]])
end

--- Whether y, with its place b, goes before x, with its place a.
local BEFORE = "y[i] %s x[i] || (y[i] != y[i] && x[i] == x[i]) || "
  .. "((y[i] == x[i] || (y[i] != y[i] && x[i] != x[i])) && b[i] < a[i])"

--- argmin and argmax: places along the axis, and the elements there.
function lines.place(where, x, g)
  x = elementwise.settled(x)
  local before = BEFORE:format(where == "argmin" and "<" or ">")
  local found = reduce(x, g, function(piece, rank)
    local at, value = core[where](piece, keeping(g))
    return core.map(x.place:axis_text(rank, g.axis), { x = at }, { out = at }), value
  end, function(stacks)
    local at, value = stacks[1]:view(1, 1), stacks[2]:view(1, 1)
    for k = 2, #stacks[1] do
      local given = { x = value, y = stacks[2]:view(k, k), a = at, b = stacks[1]:view(k, k) }
      at, value = core.map(("%s ? b[i] : a[i]"):format(before), given, { dtype = "long" }),
        core.map(("%s ? y[i] : x[i]"):format(before), given, { dtype = x.dtype })
    end
    return { at, value }
  end)
  return shaped(g, found[1]), shaped(g, found[2])
end

--- The floating type that sums of a mean are of: that of one device.
local function real_of(x) return operands.widest_real(select(2, next(x.pieces)).device) end

--- Means of ranks' parts, and the sums of squares of what differs from these.
local function moments(x, g)
  local real = real_of(x)
  return reduce(x, g, function(piece, rank)
    local _, n = owner_of(x.place, g, rank)
    local how = keeping(g)
    how.map, how.dtype = ("(%s)x[i]"):format(real), real
    local total = core.reduce("a + b", piece, how)
    local scale = { x = total, n = math.max(n, 1) }
    local mean, var = core.map("x[i] / n", scale), core.var(piece, keeping(g))
    return mean, core.map("x[i] * n", { x = var, n = scale.n }, { dtype = real })
  end, function(stacks, counts)
    local mean, squares, n = stacks[1]:view(1, 1), stacks[2]:view(1, 1), counts[1]
    for k = 2, #counts do -- Chan, Golub & LeVeque 1979
      local m = n + counts[k]
      local given = { x = mean, y = stacks[1]:view(k, k), s = squares, t = stacks[2]:view(k, k),
        w = n * counts[k] / m, v = counts[k] / m }
      squares = core.map("s[i] + t[i] + (y[i] - x[i]) * (y[i] - x[i]) * w",
        { x = mean, y = given.y, s = squares, t = given.t, w = given.w })
      mean, n = core.map("x[i] + (y[i] - x[i]) * v", { x = mean, y = given.y, v = given.v }), m
    end
    return { mean, squares }
  end)
end

local function stored(x, g, text, given)
  return shaped(g, elementwise.map(text, given, { dtype = operands.floating(x.dtype) }))
end

function lines.mean(x, g)
  lines.check_some("mean", g)
  x = elementwise.settled(x)
  local real = real_of(x)
  local total = reduce(x, g, function(piece)
    local how = keeping(g)
    how.map, how.dtype = ("(%s)x[i]"):format(real), real
    return core.reduce("a + b", piece, how)
  end, by(core.sum))[1]
  return stored(x, g, "x[i] / n", { x = total, n = math.max(g.n, 1) })
end

function lines.var(where, x, g, ddof)
  lines.check_some(where, g)
  if not (ddof >= 0 and (ddof < g.n or g.n == 0)) then
    fail("%s: option 'ddof': 0 .. %d expected, less than there are elements, got %s", where, g.n - 1, ddof)
  end
  x = elementwise.settled(x)
  local text = where == "std" and "sqrt(x[i] / n)" or "x[i] / n"
  return stored(x, g, text, { x = moments(x, g)[2], n = math.max(g.n - ddof, 1) })
end

return lines
