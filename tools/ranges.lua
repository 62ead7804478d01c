-- SPDX-License-Identifier: MIT
--- Compares the groups that the library chooses on a CPU for ranges of two dimensions with groups of a few fixed sizes
--- (256, 16 or 1 work-items, and 1 for the rest) and with the driver's own: on random ranges, for a stencil and for a
--- kernel with more arithmetic. Fails where the choice takes longer than 1.1 times the better of both and a launch.
--- Usage: lua5.4 tools/ranges.lua [ranges [seed]]

local cl = require "clcompute"

local COUNT, SEED = tonumber(arg[1]) or 200, tonumber(arg[2]) or 1
local LARGEST, MOST, LAUNCH = 3000, 1.1, 20e-6
local ROUNDS, TRIALS = 5, 4 -- a range that seems slow is measured again

local d = cl.device "cpu"
local program = d:program [[
kernel void stencil(global const float *a, global float *b, int nx) {
  int i = get_global_id(1) * nx + get_global_id(0);
  b[i] = 0.2f * (a[i] + a[i + 1] + a[i + 2] + a[i + nx] + a[i + 2 * nx]);
}
kernel void arithmetic(global const float *a, global float *b, int nx) {
  int i = get_global_id(1) * nx + get_global_id(0);
  float s = a[i];
  for (int k = 0; k < 16; k++) s = s * s - 0.5f * s + 0.25f;
  b[i] = s;
}
]]
local a, b = d:random("float", (LARGEST + 2) * (LARGEST + 2)), d:zeros("float", LARGEST * LARGEST)

--- The three ways to launch a range: as the library chooses, with the fixed sizes, and as the driver chooses.
local function ways(nx, ny)
  local fixed = nx >= 256 and 256 or nx >= 16 and 16 or 1
  return {
    { nx, ny },
    { global = { nx, ny }, group = { fixed, 1 }, remainder = "split" },
    { global = { nx, ny }, group = "driver" },
  }
end

--- Seconds of the fastest of some launches of each way, which take turns.
local function measure(kernel, ranges, nx)
  local best = { math.huge, math.huge, math.huge }
  for round = 0, ROUNDS do -- the first one compiles
    for way, range in ipairs(ranges) do
      local start = cl.clock()
      kernel(range, a, b, nx)
      d:wait()
      if round > 0 then best[way] = math.min(best[way], cl.clock() - start) end
    end
  end
  return best[1], math.min(best[2], best[3])
end

math.randomseed(SEED)
local slow, worst, sum = 0, 0, 0
for _ = 1, COUNT do
  local nx, ny = math.random(LARGEST), math.random(LARGEST)
  for _, name in ipairs { "stencil", "arithmetic" } do
    local chosen, better
    local trial = 0
    repeat
      trial = trial + 1
      chosen, better = measure(program[name], ways(nx, ny), nx)
    until chosen <= MOST * better + LAUNCH or trial == TRIALS
    local ratio = math.max(chosen - LAUNCH, 0) / better
    worst, sum = math.max(worst, ratio), sum + chosen / better
    if ratio > MOST then
      slow = slow + 1
      print(("%s of %d x %d: %.0f us, the better of both %.0f us"):format(name, nx, ny, chosen * 1e6, better * 1e6))
    end
  end
end
print(("ranges: %d of %d slower than %.1f times the better choice and a launch, the worst %.2f times; %.2f on average "
  .. "(seed %d)"):format(slow, 2 * COUNT, MOST, worst, sum / (2 * COUNT), SEED))
os.exit(slow == 0, true)
