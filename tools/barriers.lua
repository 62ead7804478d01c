-- SPDX-License-Identifier: MIT
--- Searches kernels with barriers that POCL gets wrong: random ones (spec/support/random_barriers.lua), judged by
-- Oclgrind and by the same kernel under -cl-opt-disable. Prints a row for each kernel: the seed, whether POCL is
-- right, whether it is under -cl-opt-disable, and the lines of the loops that d:program would warn of. "unproven": a
-- careful device alone minds it; plain kernels must all be "right silent".
-- Usage: OCL_ICD_VENDORS=build/vendors lua5.4 tools/barriers.lua [first seed] [number of kernels] [plain]
-- in the environment of `make env`; tools/test.sh makes that folder, with Oclgrind in it. Under
-- OCLGRIND_DATA_RACES=1 Oclgrind tells of races.

package.path = "spec/support/?.lua;" .. package.path
local cl = require "clcompute"
local internal = require "clcompute.core.internal"
local random_barriers = require "random_barriers"

local LIMIT = 20 -- seconds: some kernels never end
local GROUPS = 2

local first, number = tonumber(arg[1]) or 1, tonumber(arg[2]) or 20
local isolated = cl.device("pocl", { isolated = true, limit = LIMIT })
local oclgrind = cl.device "oclgrind"
local n = GROUPS * random_barriers.group
local warned, kind -- of the source that was built last

function internal.judge_loops(_, _, ...)
  local places = {}
  for i, place in ipairs { ... } do places[i] = place or "-" end
  warned = table.concat(places, " ")
  kind = warned:find "^%- %- %- " and "unproven" or "warned"
  return false
end

--- What a kernel computes, as text; how it failed where it did.
local function compute(device, source, options)
  local ran, result = pcall(function()
    local program <close> = device:program(source, { options = options })
    local out <close> = device:zeros("uint", n)
    local input <close> = device:buffer(random_barriers.input(n), "uint")
    program.f({ global = n, group = random_barriers.group }, out, input, random_barriers.group)
    return table.concat(out:read(), " ")
  end)
  return ran and result or "failed: " .. tostring(result)
end

local function verdict(result, expected)
  if result == expected then return "right" end
  return result:find "^failed" and "ended" or "wrong"
end

local counts = {}
for seed = first, first + number - 1 do
  local source = random_barriers.kernel(seed, "f", arg[3] == "plain")
  warned, kind = "-", "silent"
  local expected = compute(oclgrind, source)
  local plain, disabled = compute(isolated, source), compute(isolated, source, "-cl-opt-disable")
  local row = ("%s %s"):format(verdict(plain, expected), kind)
  counts[row] = (counts[row] or 0) + 1
  print(seed, verdict(plain, expected), verdict(disabled, expected), warned)
  io.stdout:flush()
end
for row, count in pairs(counts) do print(count, row) end
