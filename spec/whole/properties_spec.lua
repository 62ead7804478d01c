-- SPDX-License-Identifier: MIT
--- What products and solutions are for all operands: within the bounds of error analysis, over random shapes, strides,
-- transposes and scales, and over every class of hard matrices. LONG=1 (`make properties`) tries 10,000 shapes.

local cl = require "clcompute"
local helper = require "spec.helper"
local reference = require "spec.reference"
local systems = require "spec.support.systems"

local LONG = os.getenv "LONG" ~= nil
local SHAPES = LONG and 10000 or 300
local ROUNDS = LONG and 12 or 1 -- matrices of a class and size
local RATIO = 30 -- LAPACK's threshold for the backward error

local random = math.random
local matrix, uniform = systems.matrix, systems.uniform

local function pick(list) return list[random(#list)] end

-- --- gemm ----------------------------------------------------------------------------------------

local EXTENTS = { 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33 }
local LARGE = { 63, 64, 65, 70 }

local function extent() return random(12) == 1 and pick(LARGE) or random(3) == 1 and random(40) or pick(EXTENTS) end

local SMALLEST = { float = 2.0 ^ -126, double = 2.0 ^ -1022 } -- a device may flush what is below

--- Rows x cols numbers in a buffer of one dimension, rows `ld` apart behind `skip` others; the buffer as it is read.
local function place(d, dtype, rows, cols, ld, skip, make)
  local flat = {}
  for i = 1, skip + rows * ld do flat[i] = 0.5 end
  for i = 1, rows do for j = 1, cols do flat[skip + (i - 1) * ld + j] = make() end end
  local buffer = d:buffer(flat, dtype)
  return buffer:view(skip + 1, #flat)
end

local function nested(view, rows, cols, ld)
  local flat, nest = view:read(), {}
  for i = 1, rows do nest[i] = table.move(flat, (i - 1) * ld + 1, (i - 1) * ld + cols, 1, {}) end
  return nest
end

--- One random product; returns its shape in words, what share of the bound the worst error is, and 0 or the worst error
-- where all must be exact.
local function try_product(d)
  local dtype = d.has_double and random(4) == 1 and "double" or "float"
  local m, n, k = extent(), extent(), extent()
  local exact = random(3) == 1
  local scales = exact and { 1, 1 } or { 10.0 ^ random(-12, 12), 10.0 ^ random(-12, 12) }
  local o = { m = m, n = n, k = k, transa = random(2) == 1, transb = random(2) == 1,
    kernel = pick { "naive", "tiled", "fast" }, alpha = exact and random(-3, 3) or uniform() * 4,
    beta = exact and random(-2, 2) or pick { 0, 1, uniform() * 3 } }
  local function make(scale)
    return exact and function() return random(-8, 8) end or function() return uniform() * scale end
  end
  local rows_a, cols_a = o.transa and k or m, o.transa and m or k
  local rows_b, cols_b = o.transb and n or k, o.transb and k or n
  o.lda, o.ldb, o.ldc = cols_a + random(0, 3), cols_b + random(0, 3), n + random(0, 3)
  local a = place(d, dtype, rows_a, cols_a, o.lda, random(0, 5), make(scales[1]))
  local b = place(d, dtype, rows_b, cols_b, o.ldb, random(0, 5), make(scales[2]))
  o.c = place(d, dtype, m, n, o.ldc, random(0, 5), make(scales[1] * scales[2]))
  local before = nested(o.c, m, n, o.ldc)
  local ta, tb = nested(a, rows_a, cols_a, o.lda), nested(b, rows_b, cols_b, o.ldb)
  if o.transa then ta = reference.transpose(ta) end
  if o.transb then tb = reference.transpose(tb) end
  cl.gemm(a, b, o)
  local got = nested(o.c, m, n, o.ldc)
  local sum, magnitude = reference.gemm(ta, tb), reference.gemm(ta, tb, true)
  local u = helper.unit[dtype] * (dtype == "double" and 2 or 1) -- the reference's doubles round too
  local alpha, beta = d:buffer({ o.alpha }, dtype)[1], d:buffer({ o.beta }, dtype)[1]
  local worst, missed = 0, 0
  for i = 1, m do
    for j = 1, n do
      local error = math.abs(got[i][j] - (alpha * sum[i][j] + beta * before[i][j]))
      local bound = u * ((k + 2) * math.abs(alpha) * magnitude[i][j] + 2 * math.abs(beta * before[i][j]))
        + (k + 2) * SMALLEST[dtype]
      worst = error <= bound and math.max(worst, error / bound) or 1 / 0
      if exact then missed = math.max(missed, error == error and error or 1 / 0) end
      if worst > 1 then break end
    end
  end
  return ("%s %s %dx%dx%d alpha %g beta %g ld %d %d %d trans %s %s"):format(o.kernel, dtype, m, n, k, o.alpha, o.beta,
    o.lda, o.ldb, o.ldc, o.transa, o.transb), worst, missed
end

describe("gemm", function()
  it("is within u((k + 2)|alpha||A||B| + 2|beta||C|) for any shape, and exact on small integers", function()
    local d, worst = helper.device(), 0
    for _ = 1, SHAPES do
      local shape, share, missed = try_product(d)
      assert(share <= 1, ("%s: %g of the bound"):format(shape, share))
      assert(missed == 0, ("%s: off by %g where all is exact"):format(shape, missed))
      worst = math.max(worst, share)
    end
    print(("properties: gemm: %d shapes, worst %.3f of the bound"):format(SHAPES, worst))
  end)
end)

-- --- gauss ---------------------------------------------------------------------------------------

local SAYS = { "singular", "backward error ratio", "the elimination overflows", "overflow" }

local function says(message)
  for _, text in ipairs(SAYS) do if tostring(message):find(text, 1, true) then return true end end
  return false
end

--- Solves one system: "solved", "warned", "refused", or what is wrong.
local function try_system(d, class, n, dtype, kernel)
  local a = d:buffer(class.make(n), dtype)
  local b = d:buffer(matrix(n, 1, uniform), dtype):reshape(n)
  local ok, x, info = pcall(cl.gauss, a, b, { kernel = kernel })
  if not ok then return says(x) and "refused" or tostring(x) end
  local ratio = reference.ratio(a:read(), x:read(), b:read(), helper.eps[dtype])
  if not (ratio <= RATIO) then return ("silently wrong: backward error ratio %g"):format(ratio) end
  if info.warning then return "warned", ratio end
  local is_singular = class.singular == true or class.singular == dtype
  return is_singular and "solved without a warning though it is singular" or "solved", ratio
end

describe("gauss", function()
  local found, worst = { solved = 0, warned = 0, refused = 0 }, 0

  for _, class in ipairs(systems.classes) do
    it("solves, warns or refuses in words: " .. class.name, function()
      local d = helper.device()
      for _, dtype in ipairs(d.has_double and { "float", "double" } or { "float" }) do
        for _, n in ipairs(class.sizes) do
          for _ = 1, ROUNDS do
            local kernel = pick { "blocked", "unblocked" }
            local result, ratio = try_system(d, class, n, dtype, kernel)
            assert(found[result], ("%s, n = %d, %s, %s: %s"):format(class.name, n, dtype, kernel, result))
            found[result], worst = found[result] + 1, math.max(worst, ratio or 0)
          end
        end
      end
    end)
  end

  it("is never silently wrong", function()
    local text = "properties: gauss: %d solved, %d with a warning, worst ratio %.2f, %d refused, 0 silently wrong"
    print(text:format(found.solved, found.warned, worst, found.refused))
    assert.is_true(found.solved > found.warned + found.refused)
  end)
end)
