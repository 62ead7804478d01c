-- SPDX-License-Identifier: MIT

--- Factorizations that one device, at home, is quicker with: the matrix is gathered there, and only results are spread.
--
-- A step over the grid waits for a panel to be factored, for its pivots to be read and for what moves, however small
-- the matrix is; one device waits for none of these. Where users give a block they have their matrix divided by it.

local arity = require("clcompute.base").arity
local core = require "clcompute.core"
local raising = require("clcompute.base").raising
local spread = require "clcompute.groups.spread"
local whole = require "clcompute.groups.whole"

local gathered = {}

-- Rows up to which one device was quicker than two: ranks of one processor's core each, and GPUs of one host.
local ROWS = { cpu = 2048, gpu = 12288 }

local function check_group(where, b, g)
  if b.group ~= g then error(("%s: b: a buffer of the same group expected"):format(where), 0) end
end

--- Whether the device at home factors a matrix of n rows alone.
function gathered.suits(g, n)
  return not g.has_block and n > 0 and n <= (ROWS[g.layout.home_type] or ROWS.gpu)
end

--- What f(b) returns at home for a right-hand side, a buffer like b first: that buffer spread, and the
-- rest.
local function solve(b, f)
  local g, bytes = b.group, b:string()
  local home = g.layout.home
  local found = g.ranks:from(home, function()
    local device = g.ranks.devices[home]
    local own <close> = device:buffer(bytes, b.dtype, table.unpack(b.shape))
    local x <close>, info = f(own)
    return { x:string(), info }
  end)
  return spread.empty(g, b.dtype, b.shape):write(found[1]), found[2]
end

--- cl.gauss and cl.solve, by their names.
function gathered.solve(name, a, b, o)
  local matrix, is_new = whole.of(a)
  local x, info = solve(b, function(own) return core[name](matrix, own, o) end)
  if matrix and is_new then matrix:release() end
  return x, info
end

-- --- factors ------------------------------------------------------------------------------------------

local Factors = { __name = "clcompute.SpreadFactors", methods = {} }
local methods = Factors.methods

--- What a function of the device's own factors returns, on all ranks.
local function of_own(self, where, f)
  if self.is_released then error(("%s: factors are released"):format(where), 0) end
  local ranks, words = self.group.ranks, ("%s of %d rows"):format(where, self.n)
  return ranks:together(words, ranks.from, ranks, self.group.layout.home, function() return f(self.own) end)
end

function methods:solve(b)
  if self.is_released then error("solve: factors are released", 0) end
  spread.check(b, "solve", "b")
  check_group("solve", b, self.group)
  return self.group.ranks:together(("solve of %s"):format(spread.words(b)), function()
    return (solve(b, function(own) return self.own:solve(own) end))
  end)
end

function methods:det() return of_own(self, "det", function(own) return own:det() end) end
function methods:rcond() return of_own(self, "rcond", function(own) return own:rcond() end) end

function methods:release()
  if self.own then self.own:release() end
  self.is_released = true
  return self
end

Factors.__close = methods.release
Factors.__index = function(self, key)
  local method = methods[key]
  if method or key == "own" or key == "is_released" then return method end
  if key == "device" then return self.group end
  error(("spread factors have no field '%s'"):format(tostring(key)), 0)
end

function Factors.__tostring(self)
  return ("LU factors of a %s matrix %dx%d spread over %d devices"):format(self.dtype, self.n, self.n, #self.group)
end

raising.guarded(arity.methods(methods, "SpreadFactors"))

function gathered.lu(a)
  local matrix, is_new = whole.of(a)
  local new = { group = a.group, n = a.place.rows, dtype = a.dtype }
  a.group.ranks:from(a.group.layout.home, function() new.own = core.lu(matrix) end)
  if matrix and is_new then matrix:release() end
  return setmetatable(new, Factors)
end

return gathered
