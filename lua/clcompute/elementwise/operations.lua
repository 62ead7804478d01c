-- SPDX-License-Identifier: MIT
--- Operations that combine two results, a and b, into one.
-- @module clcompute.elementwise.operations

local expression = require "clcompute.elementwise.expression"
local typing = require "clcompute.elementwise.typing"

local operations = {}

local KINDS = { a = "scalar", b = "scalar" }

local function zero() return "0" end
local function one() return "1" end
local function lowest(dtype) return typing.lowest[dtype] end
local function highest(dtype) return typing.highest[dtype] end

-- Those that commute and mean the same for vectors, as `translate` writes them down, with what leaves a value as it
-- is.
local KNOWN = {
  ["a + b"] = zero, ["b + a"] = zero, ["a * b"] = one, ["b * a"] = one,
  ["max ( a , b )"] = lowest, ["max ( b , a )"] = lowest, ["min ( a , b )"] = highest, ["min ( b , a )"] = highest,
  ["a | b"] = zero, ["b | a"] = zero, ["a ^ b"] = zero, ["b ^ a"] = zero,
}

--- Checks the text of an operation and returns it as kernels have it.
function operations.translate(where, text)
  local translated, used = expression.translate(where, text, KINDS)
  for name in pairs(KINDS) do
    if not used[name] then
      error(("%s: an operation combines a and b, but \"%s\" has no %s"):format(where, text, name), 0)
    end
  end
  return (translated:gsub("%f[%w_]" .. expression.PREFIX, ""))
end

--- What leaves a value as it is under a known operation, as text of OpenCL C; nil for others.
-- @string translated
-- @string dtype
function operations.identity(translated, dtype)
  local of = KNOWN[translated]
  return of and of(dtype)
end

return operations
