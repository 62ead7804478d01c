-- SPDX-License-Identifier: MIT

--- cl.mean, cl.var and cl.std.
--
-- The variance is of the elements less their mean, so that it keeps its digits where the mean is large. Where the mean
-- itself has the digits of float alone, what the differences add up to corrects it.

local along_axis = require "clcompute.operations.along_axis"
local map = require "clcompute.operations.map"
local operands = require "clcompute.operations.operands"
local options = require("clcompute.base").options
local reduce = require "clcompute.operations.reduce"

local AXIS = { axis = "integer", keep = "boolean" }
local OPTIONS = { axis = "integer", keep = "boolean", ddof = "number" }
local SUM, SUMS = "a + b", "of differences"

local moments = {}

--- The buffer, described; along which axis of it, or nil; and how many elements a result is of, one at least.
local function check(where, x, o, known, describe)
  local of = describe(where, "argument 1", x, "x")
  local g = o ~= nil and along_axis.read(where, options.check(where, o, known), of.value) or nil
  local n = g and g.n or of.count
  if n == 0 and (not g or g.outer * g.inner > 0) then
    error(where .. ": no elements" .. (g and " along axis " .. g.axis or ""), 0)
  end
  return of, g, n
end

--- The sum of an expression, as a real number or along an axis as a buffer of such.
local function sum(where, list, of, g, text, real)
  local how = { map = text:gsub("REAL", real), type = real, dtype = real, own = SUMS }
  return g and along_axis.reduce(where, SUM, list, of, g, how) or reduce.list(where, SUM, list, of, how)
end

local function mean(where, of, g, n, dtype)
  local real = operands.widest_real(of.device)
  local how = { map = ("(%s)x[i]"):format(real), type = real, dtype = dtype, own = "mean", finish = "x[i] / n" }
  return g and along_axis.reduce(where, SUM, { of }, of, g, how) or reduce.list(where, SUM, { of }, of, how) / n
end

function moments.mean(x, o)
  local of, g, n = check("mean", x, o, AXIS, operands.describe_lazily)
  return mean("mean", of, g, n, operands.floating(of.dtype))
end

--- The sum of the squares of differences to the mean.
local function squares(where, of, g, n)
  local real = operands.widest_real(of.device)
  local m = mean(where, of, g, n, real)
  local of_mean = g and operands.describe(where, "the mean", m) or { value = m, kind = "float", type = real }
  of_mean.name, of_mean.of_results = "m", g and true
  local list, difference = { of_mean, of }, ("((REAL)x[i] - %s)"):format(g and "m[i]" or "m")
  local total = sum(where, list, of, g, difference .. "*" .. difference, real)
  if real == "double" then return total end
  local rest = sum(where, list, of, g, difference, real)
  if not g then return math.max(total - rest * rest / n, 0) end
  return map.map("fmax(x[i] - y[i] * y[i] / n, 0 * n)", { x = total, y = rest, n = n + 0.0 }, { out = total })
end

local function variance(where, x, o, root)
  local of, g, n = check(where, x, o, OPTIONS, operands.describe)
  local ddof = o and o.ddof or 0
  if not (ddof >= 0 and (ddof < n or n == 0)) then
    error(("%s: option 'ddof': 0 .. %d expected, less than there are elements, got %s"):format(where, n - 1, ddof), 0)
  end
  local total = squares(where, of, g, n)
  if not g then return root(total / (n - ddof)) end
  local text = root == math.sqrt and "sqrt(x[i] / n)" or "x[i] / n"
  return map.map(text, { x = total, n = n - ddof }, { dtype = operands.floating(of.dtype) })
end

function moments.var(x, o)
  return variance("var", x, o, function(v) return v end)
end

function moments.std(x, o)
  return variance("std", x, o, math.sqrt)
end

return moments
