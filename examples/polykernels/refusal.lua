-- SPDX-License-Identifier: MIT
--- What stands for the paper's "parser" (SPEC CPU 2000), which ran at x0.47 when its six small loops in three functions
-- were made kernels: a program that spends its time elsewhere and calls such functions often. No heuristics may take
-- these loops.

--- Before a sentence: nothing counted, each word its own place.
local function forget(counts, places, n)
  for i = 1, n do counts[i] = 0 end
  for i = 1, n do places[i] = i end
end

--- What a word costs, and the most that it has cost.
local function weigh(costs, weights, most, n)
  for i = 1, n do costs[i] = 0.5 * costs[i] + weights[i] end
  for i = 1, n do most[i] = math.max(most[i], costs[i]) end
end

--- Connectors to the left from those to the right, and back.
local function link(left, right, n)
  for i = 1, n do left[i] = right[n + 1 - i] + 1 end
  for i = 1, n do right[i] = left[i] % 7 end
end

local WORDS = 24 -- of a sentence

local function list_of(value)
  local list = {}
  for i = 1, WORDS do list[i] = value(i) end
  return list
end

--- The program's own work: the cheapest way to link a sentence, over all spans and where each is divided.
local function parse(costs, words, known)
  local spans = {}
  for length = 1, WORDS do
    for first = 1, WORDS - length + 1 do
      local key, best = words[first] .. length, math.huge
      for middle = first, first + length - 2 do
        local cost = spans[first * 64 + middle] + spans[(middle + 1) * 64 + first + length - 1]
        if cost < best then best = cost end
      end
      known[key] = (known[key] or 0) + 1
      spans[first * 64 + first + length - 1] = length == 1 and costs[first] or best + 0.01 * length
    end
  end
  return spans[64 + WORDS]
end

--- Parses sentences.
-- @tparam table functions `forget`, `weigh` and `link`, as they are or compiled
-- @tparam integer sentences
-- @treturn table all that it computed, for comparison
local function run(functions, sentences)
  local counts, places = list_of(function() return 1 end), list_of(function() return 0 end)
  local costs, weights = list_of(function(i) return i / 7 end), list_of(function(i) return 1 / i end)
  local most, left, right = list_of(function() return 0.0 end), list_of(function() return 0 end), list_of(function(i)
    return i
  end)
  local words = list_of(function(i) return "word" .. i % 5 end)
  local known, total = {}, 0.0
  for _ = 1, sentences do
    functions.forget(counts, places, WORDS)
    functions.weigh(costs, weights, most, WORDS)
    functions.link(left, right, WORDS)
    total = total + parse(costs, words, known)
  end
  return { counts, places, costs, most, left, right, { total } }
end

return {
  functions = { forget = forget, weigh = weigh, link = link }, loops = 6, run = run,
  sizes = { quick = 500, full = 5000 },
}
