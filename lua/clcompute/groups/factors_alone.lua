-- SPDX-License-Identifier: MIT

--- Factors of a matrix that a group of one device has: those of the device itself.

local arity = require("clcompute.base").arity
local core = require "clcompute.core"
local raising = require("clcompute.base").raising
local spread = require "clcompute.groups.spread"

local factors_alone = {}

local Factors = { __name = "clcompute.SpreadFactors", methods = {} }
local methods = Factors.methods

function methods:solve(b)
  spread.check(b, "solve", "b")
  if b.group ~= self.group then error("solve: b: a buffer of the same group expected", 0) end
  local x = self.own:solve(b.pieces[1])
  return spread.make(b.group, x.dtype, x.shape, function() return x end)
end

function methods:det() return self.own:det() end
function methods:rcond() return self.own:rcond() end

function methods:release()
  self.own:release()
  return self
end

Factors.__close = methods.release
Factors.__index = function(self, key)
  if key == "device" then return rawget(self, "group") end
  return methods[key] or rawget(self, "own")[key]
end

function Factors.__tostring(self)
  return ("LU factors of a %s matrix %dx%d spread over 1 device"):format(self.dtype, self.n, self.n)
end

raising.guarded(arity.methods(methods, "SpreadFactors"))

function factors_alone.new(a)
  spread.check(a, "lu", "a")
  return setmetatable({ group = a.group, own = core.lu(a.pieces[1]) }, Factors)
end

return factors_alone
