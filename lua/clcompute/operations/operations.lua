-- SPDX-License-Identifier: MIT
--- Operations that combine two results, a and b, into one.
-- @module clcompute.operations.operations

local expression = require "clcompute.operations.expression"
local typing = require "clcompute.operations.typing"

local operations = {}

--- NaN wins: where one is NaN neither comparison holds, and the one that is NaN is taken.
operations.NAN_MIN, operations.NAN_MAX = "a < b || a != a ? a : b", "a > b || a != a ? a : b"

-- Those that Lua can compute with the few results of a CPU's chunks, which is quicker than one more launch; of floats
-- with more digits.
local IN_LUA = {
  ["a + b"] = function(a, b) return a + b end,
  ["max(a, b)"] = { long = math.max, ulong = function(a, b) return math.ult(a, b) and b or a end },
  ["min(a, b)"] = { long = math.min, ulong = function(a, b) return math.ult(a, b) and a or b end },
  [operations.NAN_MAX] = function(a, b) return (a > b or a ~= a) and a or b end,
  [operations.NAN_MIN] = function(a, b) return (a < b or a ~= a) and a or b end,
}

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

local translations = {} -- of texts that were right

--- Checks the text of an operation and returns it as kernels have it.
function operations.translate(where, text)
  if translations[text] then return translations[text] end
  local translated, used = expression.translate(where, text, KINDS)
  for name in pairs(KINDS) do
    if not used[name] then
      error(("%s: an operation combines a and b, but \"%s\" has no %s"):format(where, text, name), 0)
    end
  end
  translations[text] = translated:gsub("%f[%w_]" .. expression.PREFIX, "")
  return translations[text]
end

--- The function of two numbers of a dtype that is an operation; nil where there is none in Lua.
function operations.in_lua(text, dtype)
  local f = IN_LUA[text]
  if type(f) == "table" then return f[dtype] end
  return f
end

--- What leaves a value as it is under a known operation, as text of OpenCL C; nil for others.
-- @string translated
-- @string dtype
function operations.identity(translated, dtype)
  local of = KNOWN[translated]
  return of and of(dtype)
end

return operations
