-- SPDX-License-Identifier: MIT
--- Known-answer tests of this library's fast kernels: rows as of `clcompute.answers.compiler_tests`, whose `operation`
-- computes in place of a source. A device that fails one takes the plain kernel instead (`clcompute.tuning`).

local M, K, N = 45, 70, 67 -- of a product: full tiles, edges, and an odd one left
local WHOLE, DEEP = 128, 32 -- of one that is whole tiles only, and read where it lies
local FEW, NARROW, LONG = 3, 20, 512 -- vectors of one with a matrix; and one of few columns, in parts of k

--- Small integers, so that products and sums are exact in any order.
local function element(i, j)
  return (7 * i + 3 * j + i * j % 5) % 9 - 4
end

local function matrix(rows, columns, of)
  local made = {}
  for i = 1, rows do
    made[i] = {}
    for j = 1, columns do made[i][j] = (of or element)(i, j) end
  end
  return made
end

local function transposed(i, j) return element(j, i) end

--- Adds the elements of a product, row by row.
local function add_product(list, rows, columns, depth, first, second)
  for i = 1, rows do
    for j = 1, columns do
      local sum = 0
      for l = 1, depth do sum = sum + first(i, l) * second(l, j) end
      list[#list + 1] = sum
    end
  end
end

--- The elements of the products below, one behind the other.
local function expected_products()
  local list = {}
  add_product(list, M, N, K, element, element)
  add_product(list, M, M, K, element, transposed)
  add_product(list, WHOLE, WHOLE, DEEP, transposed, element)
  add_product(list, M, FEW, K, element, transposed)
  add_product(list, FEW, N, K, element, element)
  add_product(list, WHOLE, NARROW, LONG, element, transposed)
  return list
end

local function flatten(list, rows)
  for _, row in ipairs(rows) do table.move(row, 1, #row, #list + 1, list) end
  return list
end

local function multiply(dtype, precision)
  return function(device)
    local gemm = require "clcompute.core".gemm
    local a <close> = device:buffer(matrix(M, K), dtype)
    local b <close> = device:buffer(matrix(K, N), dtype)
    local first <close> = gemm(a, b, { precision = precision })
    local second <close> = gemm(a, a, { precision = precision, transb = true })
    local d <close> = device:buffer(matrix(DEEP, WHOLE), dtype)
    local third <close> = gemm(d, d, { precision = precision, transa = true })
    local rows = a:view(1, FEW)
    local fourth <close> = gemm(a, rows, { precision = precision, transb = true })
    local fifth <close> = gemm(rows, b, { precision = precision })
    local e <close> = device:buffer(matrix(WHOLE, LONG), dtype)
    local sixth <close> = gemm(e, e:view(1, NARROW), { precision = precision, transb = true })
    local list = {}
    for _, product in ipairs { first, second, third, fourth, fifth, sixth } do flatten(list, product:read()) end
    return list
  end
end

-- --- classes of precision -----------------------------------------------------

--- Numbers from 1 to 2 of 24 bits, so that what a class drops shows.
local function fine(i, j)
  return 1 + (i * 2654435 + j * 4050301) % (1 << 23) / (1 << 23)
end

-- What is not finite, or nearly: one row for each way in which it can be lost when elements are split.
local EXTREMES = { { 1 / 0, 1, 1 }, { 1, -1 / 0, 1 }, { 1, 0 / 0, 1 }, { 1 / 0, -1 / 0, 1 },
  { 0x1.fffffep127, 0, 0 } }
local THIRDS = { { 0x1.555556p-2, 1 }, { 0x1.555556p-2, 1 }, { 0x1.555556p-2, 1 } }
local NOT_A_NUMBER, INFINITE = -3e38, 3e38 -- in answers, which are compared

local function comparable(value)
  if value ~= value then return NOT_A_NUMBER end
  return math.abs(value) == math.huge and (value > 0 and INFINITE or -INFINITE) or value
end

--- The elements of such products, one behind the other, after those above.
local function expected_of_class()
  local list, extremes = expected_products(), {}
  add_product(list, M, N, K, fine, fine)
  add_product(extremes, #EXTREMES, 2, 3, function(i, l) return EXTREMES[i][l] end,
    function(l, j) return THIRDS[l][j] end)
  for _, value in ipairs(extremes) do list[#list + 1] = comparable(value) end
  return list
end

local function multiply_in_class(dtype, precision)
  return function(device)
    local gemm = require "clcompute.core".gemm
    local list = multiply(dtype, precision)(device)
    local a <close> = device:buffer(matrix(M, K, fine), dtype)
    local b <close> = device:buffer(matrix(K, N, fine), dtype)
    local product <close> = gemm(a, b, { precision = precision })
    flatten(list, product:read())
    local c <close> = device:buffer(EXTREMES, dtype)
    local d <close> = device:buffer(THIRDS, dtype)
    local extremes <close> = gemm(c, d, { precision = precision })
    for _, value in ipairs(flatten({}, extremes:read())) do list[#list + 1] = comparable(value) end
    return list
  end
end

-- --- images ---------------------------------------------------------------------

--- Pixels in the middle of an image of single halves, as a kernel reads them: a driver may take more bytes for a pixel
-- than it has.
local function read_halves(device)
  local im <close> = device:image("r half", 16, 4):write(matrix(4, 16))
  local p <close> = device:program [[
    kernel void test(read_only image2d_t im, global float *out) {
      for (int i = 0; i < 4; i++) out[i] = read_imagef(im, (int2)(i + 1, 1)).x;
    }]]
  local out <close> = device:empty("float", 4)
  p.test(1, im, out)
  return out:read()
end

local function expected_halves() return { element(2, 2), element(2, 3), element(2, 4), element(2, 5) } end

--- Whether a device has such images.
local function has_halves(device) return (pcall(device.image, device, "r half", 1)) end

-- --- sorting --------------------------------------------------------------------

local KEYS = 20000 -- of several groups

--- Keys that differ in every digit, the same one twice now and then; and their places in order.
local function sort_key(i) return i * 2654435761 % 14983 * 286331 & 0xffffffff end

local function sort(device)
  local list = {}
  for i = 1, KEYS do list[i] = sort_key(i) end
  local x <close> = device:buffer(list, "uint")
  local places <close> = require "clcompute.core".argsort(x)
  return places:read()
end

local function expected_places()
  local places = {}
  for i = 1, KEYS do places[i] = i end
  table.sort(places, function(i, j) return sort_key(i) < sort_key(j) or sort_key(i) == sort_key(j) and i < j end)
  return places
end

-- --- systems of equations ---------------------------------------------------------

local SYSTEMS = { { 20, 1, 3 }, { 20, 3, 3 }, { 200, 1, 1 }, { 200, 1, 12 } } -- rows, how many, right-hand sides

--- Small integers without an order, so that pivots tie.
local function coefficient(i, j) return (i * i * 31 + j * j * 17 + i * j * 7 + (i ~ j) * 5) % 23 - 11 end

local function unknown(i, j) return (2 * i + j) % 9 + 1 end

--- The right-hand sides whose solution is `unknown`.
local function known_side(n)
  return function(i, j)
    local sum = 0
    for k = 1, n do sum = sum + coefficient(i, k) * unknown(k, j) end
    return sum
  end
end

local function copies(count, value)
  local list = {}
  for i = 1, count do list[i] = value end
  return list
end

--- The elements of the solutions, one behind the other.
local function solve(device, dtype)
  local list = {}
  for _, row in ipairs(SYSTEMS) do
    local n, count, columns = table.unpack(row)
    local left, right = matrix(n, n, coefficient), matrix(n, columns, known_side(n))
    local a <close> = device:buffer(count > 1 and copies(count, left) or left, dtype)
    local b <close> = device:buffer(count > 1 and copies(count, right) or right, dtype)
    local x <close> = require "clcompute.core".gauss(a, b)
    for _, solution in ipairs(count > 1 and x:read() or { x:read() }) do flatten(list, solution) end
  end
  return list
end

local function expected_solutions()
  local list = {}
  for _, row in ipairs(SYSTEMS) do
    for _, solution in ipairs(copies(row[2], matrix(row[1], row[3], unknown))) do flatten(list, solution) end
  end
  return list
end

local operation_tests = {}

--- A test whose answer is made when it is asked for: most processes read the verdict that was kept.
local function lazily(make, test)
  return setmetatable(test, { __index = function(self, key)
    if key ~= "expected" then return nil end
    self.expected = make()
    return self.expected
  end })
end

local function class(precision, within)
  return lazily(expected_of_class, { name = ("cl.gemm of float, precision %q"):format(precision), within = within,
    kernels = "gemm_tensor gemm_warpgroups gemm_pack gemm_pack_tiles",
    operation = multiply_in_class("float", precision), consequence = "cl.gemm serves this precision by plain floats",
    remedy = "update the driver" })
end

-- Files whose text a verdict is about.
local PRODUCTS = "gemm_panels gemm_blocks gemm_pipelined gemm_pack gemm_sum gemm_thin_rows gemm_thin_columns "
  .. "gemm_tensor_double"

--- The tests by operation and dtype, as `clcompute.tuning` asks for them.
operation_tests.rows = {
  ["gemm float"] = lazily(expected_products, { name = "cl.gemm of float, fast", operation = multiply "float",
    kernels = PRODUCTS, consequence = "cl.gemm takes a plain kernel on this device", remedy = "update the driver" }),
  -- as exact as doubles, which not every tensor core is
  ["gemm double"] = lazily(expected_of_class, { name = "cl.gemm of double, fast", within = 2.0 ^ -48,
    operation = multiply_in_class "double", kernels = PRODUCTS, needs = "has_double",
    consequence = "cl.gemm takes a plain kernel on this device", remedy = "update the driver" }),
  ["image half"] = lazily(expected_halves, { name = "images of single halves", needs = "has_images",
    operation = function(device)
      if not has_halves(device) then return nil end
      return read_halves(device)
    end, offered = "images of single halves", consequence = "d:image refuses \"r half\" and \"a half\"",
    remedy = "update the driver" }),
  ["gemm float-tensor float"] = class("float-tensor", 2.0 ^ -19),
  ["gemm tf32 float"] = class("tf32", 2.0 ^ -9),
}

--- The tests of single kernels, by the kernel that a row of `clcompute.tuning.known` names: where a device fails, the
-- next row is taken.
operation_tests.of_kernels = {
  sort_move_warps = lazily(expected_places, { name = "cl.sort by warps", kernels = "sort_move_warps sort_starts",
    operation = sort }),
  lu_tournament = lazily(expected_solutions, { name = "cl.gauss by tournaments", within = 2.0 ^ -7,
    kernels = "lu_tournament lu_below lu_right lu_sweep lu_walk lu_batch_rows lu_batch_sweep lu_batch_condition",
    operation = solve }),
}

-- The library does without what fails these: to the doctor a failure is a warning.
for _, test in pairs(operation_tests.rows) do test.avoided = true end

--- Their keys, in order.
function operation_tests.keys()
  local keys = {}
  for key in pairs(operation_tests.rows) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

return operation_tests
