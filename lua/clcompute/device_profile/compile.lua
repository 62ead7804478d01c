-- SPDX-License-Identifier: MIT

--- What a program costs before its first result: built from a text never seen before, and from the caches.
-- @module clcompute.device_profile.compile

local curve = require "clcompute.device_profile.curve"
local figure = require "clcompute.device_profile.figure"

local STATEMENTS, QUICK_STATEMENTS = { 1, 10, 100 }, { 1, 4 }
local RUNS = 2 -- a compile takes long, and what was built stays in the cache folder
local KEPT = 1.5 -- times that a compile must take longer than a text from the caches
local SHIFT = 15
local MASK = 0xffffffff

local compile = {}

local unseen = 0

--- A constant that no program had before: of the clock, and a count.
local function new_seed()
  unseen = unseen + 1
  return (os.time() << 12 | unseen & 0xfff) & MASK
end

--- A kernel of so many statements, none of which a compiler can leave out or join with the next.
local function source(statements, seed)
  local lines = { "__kernel void mix(__global uint *out) {", ("  uint x = get_global_id(0) + %du;"):format(seed) }
  for i = 1, statements do lines[#lines + 1] = ("  x = (x ^ (x >> %d)) * %du;"):format(SHIFT, 2 * i + 1) end
  lines[#lines + 1] = "  out[get_global_id(0)] = x;\n}"
  return table.concat(lines, "\n")
end

--- What its first work-item computes.
local function expected(statements, seed)
  local x = seed
  for i = 1, statements do x = (x ~ x >> SHIFT) * (2 * i + 1) & MASK end
  return x
end

--- The points of a series, "never seen" or "from the caches".
local function points_of(rows, series)
  return curve.of(curve.only(rows, "series", series), "params.statements")
end

--- What the two curves say, in words.
function compile.read(rows)
  local cold, warm = points_of(rows, "never seen"), points_of(rows, "from the caches")
  if #cold < 2 or #warm < 2 then return { figure.TOO_FEW } end
  local most = cold[#cold]
  local again = curve.at(warm, most.x)
  local sentences = { ("A program of one statement that was never seen takes %s up to its first result, one of %d "
    .. "statements %s."):format(figure.seconds(cold[1].y), most.x, figure.seconds(most.y)) }
  if again then
    sentences[2] = ("A text that was built before takes %s: %s."):format(figure.seconds(again), most.y > KEPT * again
      and "what was compiled is kept" or "little of it is kept, or compiling is not what takes the time")
  end
  return sentences
end

--- Builds, launches once and waits.
local function build_and_run(device, text, out)
  device:program(text).mix(1, out):wait()
end

local function point(lab, statements, series, out)
  local kept, seed = new_seed(), nil
  return {
    name = ("%d statements, %s"):format(statements, series), params = { statements = statements },
    run = function()
      seed = series == "never seen" and new_seed() or kept
      build_and_run(lab.device, source(statements, seed), out)
    end,
    check = function() return out[1] == expected(statements, seed) end,
  }
end

local function measure(lab)
  local out <close> = lab.device:zeros("uint", 1)
  local list, series = {}, {}
  for _, statements in ipairs(lab:choose(STATEMENTS, QUICK_STATEMENTS)) do
    for _, name in ipairs { "never seen", "from the caches" } do
      list[#list + 1], series[#series + 1] = point(lab, statements, name, out), name
    end
  end
  local rows = lab:walls(list, RUNS)
  for i, row in ipairs(rows) do row.series = series[i] end
  return { figure.lines {
    how = ("A kernel of so many statements is built, launched with one work-item and waited for, by the host's clock, "
      .. "%d times. A text never seen has another constant each time; the other is the same each time."):format(RUNS),
    rows = rows, x = "params.statements", xtitle = "statements", ytitle = "build and first launch", yunit = "s",
    series = "series", series_title = "text", xlog = 10, ylog = 10, reading = compile.read(rows),
  } }
end

compile.name = "compile"
compile.title = "What compiling costs"
compile.teaches = "A kernel is a program that is compiled for the device it runs on (source 4, 1.7.1), when it is "
  .. "built; this library and most drivers keep what they compiled."
compile.measure = measure

return compile
