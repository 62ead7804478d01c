-- SPDX-License-Identifier: MIT
--- What `clcompute tune` tries: for each operation and kind of device the sizes it is measured with and the values of
-- every number that it may change, one after the other.

local candidates = {}

--- A shape of `gemm_blocks`. On another GPU than it was measured on only how shapes compare counts.
local function block(bm, bn, bk, tm, tn, held, alone, full)
  return { bm = bm, bn = bn, bk = bk, tm = tm, tn = tn, held = held, alone = alone, full = full }
end

local SMALL = { block(64, 64, 16, 4, 4, 4, 16000, 32000), block(32, 64, 16, 4, 4, 8, 11700, 30000),
  block(32, 32, 16, 4, 4, 16, 5000, 22000) }

--- The shapes of `gemm_blocks` with another one for large products.
local function led_by(...)
  return { block(...), table.unpack(SMALL) }
end

--- A shape of `gemm_pipelined`.
local function pipelined(bm, bn, bk, tm, tn, stages, ways, held, alone, full, along)
  return { bm = bm, bn = bn, bk = bk, tm = tm, tn = tn, stages = stages, ways = ways, held = held, alone = alone,
    full = full, along = along }
end

--- A shape of `gemm_tensor_double`.
local function double(bm, bn, bk, tm, tn, stages, depth, held, alone, full)
  return { bm = bm, bn = bn, bk = bk, tm = tm, tn = tn, stages = stages, depth = depth, held = held, alone = alone,
    full = full }
end

local WIDE_DOUBLE, DOUBLE, LITTLE_DOUBLE = double(128, 128, 16, 8, 8, 3, 8, 1, 56000, 56000),
  double(128, 64, 16, 8, 4, 3, 8, 1, 53000, 53000), double(64, 32, 16, 8, 2, 4, 8, 3, 22000, 36000)

local LARGE, MIDDLE = pipelined(128, 64, 16, 8, 16, 3, 1, 4, 14500, 54200, 0),
  pipelined(64, 128, 16, 8, 8, 3, 1, 3, 38500, 47900, 96)
local BROAD = pipelined(64, 128, 16, 8, 16, 3, 1, 4, 14500, 54200, 0)
MIDDLE.two = 43000
local NARROW, LITTLE = pipelined(32, 64, 32, 4, 8, 3, 4, 2, 21200, 36000, 95),
  pipelined(32, 32, 32, 4, 8, 3, 4, 4, 20400, 28000, 82)
local SQUARE = pipelined(64, 64, 16, 8, 4, 4, 1, 6, 32300, 42400, 90)

candidates.gemm = {
  { kernel = "pipelined", lines = { { m = 256, n = 256, k = 256 }, { m = 1024, n = 1024, k = 1024 },
      { m = 1500, n = 1500, k = 1500 }, { m = 4096, n = 4096, k = 4096 } },
    values = {
      { "shapes", { { LARGE, BROAD, MIDDLE, NARROW, LITTLE }, { LARGE, MIDDLE, NARROW, LITTLE },
        { MIDDLE, NARROW, LITTLE }, { LARGE, SQUARE, LITTLE },
        { SQUARE, LITTLE }, { LARGE, MIDDLE, SQUARE, LITTLE } } },
      { "least", { 1 << 20, 1 << 24, 1 << 28 } },
    } },
  { kernel = "doubles", lines = { { m = 512, n = 512, k = 512 }, { m = 1024, n = 1024, k = 1024 },
      { m = 4096, n = 4096, k = 4096 } },
    values = {
      { "shapes", { { WIDE_DOUBLE, DOUBLE, LITTLE_DOUBLE }, { DOUBLE, LITTLE_DOUBLE }, { WIDE_DOUBLE, LITTLE_DOUBLE },
        { WIDE_DOUBLE }, { DOUBLE }, { double(128, 64, 16, 16, 4, 3, 8, 1, 54000, 54000), DOUBLE, LITTLE_DOUBLE } } },
      { "least", { 1 << 18, 1 << 21, 1 << 24 } },
    } },
  { kernel = "panels", lines = { { m = 512, n = 512, k = 512 }, { m = 1024, n = 1024, k = 1024 } },
    values = {
      { "kc", { 128, 192, 256, 320, 384, 512 } },
      { "mc", { 28, 56, 112, 168, 224 } },
      { "nc", { 256, 512, 1024, 2048 } },
      { "direct", { 1 << 14, 1 << 16, 1 << 17, 1 << 18 } },
    } },
  { kernel = "blocks", lines = { { m = 1024, n = 1024, k = 1024 }, { m = 4096, n = 4096, k = 4096 } },
    values = {
      { "blocks", { led_by(128, 64, 16, 8, 8, 4, 28000, 41500), led_by(64, 128, 16, 8, 8, 4, 28000, 41500),
        led_by(128, 128, 8, 8, 8, 2, 20000, 40800), led_by(64, 64, 16, 8, 4, 4, 18000, 36000),
        led_by(128, 128, 16, 8, 8, 1, 32000, 32000), led_by(128, 64, 8, 8, 4, 4, 28000, 38000), SMALL } },
    } },
}

candidates.loops = {
  { kernel = "tiles", lines = { { row = "mmm", n = 512 }, { row = "tmm", n = 400 }, { row = "trisolv", n = 400 },
      { row = "strmm", n = 500 }, { row = "jac2d", n = 700, steps = 20 }, { row = "jac", n = 200000, steps = 50 },
      { row = "lud", n = 500 } },
    values = {
      { "rows", { 4, 6, 8, 12 } },
      { "columns", { 1, 2, 3 } },
      { "lane", { 128, 256, 512, 1024 } },
      { "block", { 32, 64, 128, 256 } },
      { "blocks", { 4, 8, 16 } },
      { "small", { 512, 2048, 8192 } },
      { "passes", { 1, 16, 32, 256 } },
      { "jam", { 1, 2, 4, 8 } },
      { "cache", { 1 << 15, 1 << 17, 1 << 18, 1 << 19, 1 << 20 } },
    } },
  { kernel = "items", lines = { { row = "mmm", n = 1024 }, { row = "mmm", n = 2048 } },
    values = {
      { "rows", { 4, 8 } },
      { "columns", { 2, 4, 8 } },
      { "group", { 8, 16 } },
      { "depth", { 1, 8, 16, 32 } },
    } },
}

return candidates
