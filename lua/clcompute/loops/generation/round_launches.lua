-- SPDX-License-Identifier: MIT

--- A loop that may go in rounds, as Lua: its copies and launches.
-- @module clcompute.loops.generation.round_launches

local launches = require "clcompute.loops.generation.launches"
local round_kernels = require "clcompute.loops.generation.round_kernels"

local round_launches = {}

local add, indented = launches.add, launches.indented

--- The first and the last place of a nest on the line.
local function ends_of(place, nest)
  if not place.loop then return place.text, place.text end
  local frame = nest.tiles.frames[place.loop]
  return ("%s + %d"):format(frame.first, place.offset),
    ("%s + (%s) - 1 + %d"):format(frame.first, frame.count, place.offset)
end

--- Where the line of a loop's rounds begins and ends: at the first and the last pass, as no bound has a quotient of it.
local function print_line(part, output)
  local round, time = part.round, part.node.variable.id
  add(output, "local low, high = math.maxinteger, math.mininteger")
  add(output, "for _, %s in ipairs { %s_from, %s_to } do", time, time, time)
  for i, place in ipairs(round.places) do
    local first, last = ends_of(place, round.nests[i])
    add(output, "  low, high = min(low, %s), max(high, %s)", first, last)
  end
  add(output, "end")
end

--- The condition for rounds: all nests run on the device, none is empty in the first pass.
local function condition_of(round)
  local texts = {}
  for _, nest in ipairs(round.nests) do
    texts[#texts + 1] = ("on_device[%d]"):format(nest.index)
    for _, count in ipairs(nest.counts) do texts[#texts + 1] = ("%s > 0"):format(count) end
  end
  return table.concat(texts, " and ")
end

--- Makes arrays valid on the device for all of a loop: what its first nest for an array needs.
local function print_all_valid(round, output)
  local list = launches.arrays_of(round)
  for _, variable in ipairs(list) do
    for _, nest in ipairs(round.nests) do
      local _, writes = launches.arrays_of(nest)
      local is_used = writes[variable]
      for _, read in ipairs(nest.reads) do is_used = is_used or read == variable end
      if is_used then
        launches.validate(nest, variable, "to_device", output, ("memory(%s_array)"):format(variable.id))
        break
      end
    end
  end
end

--- Notes that all of a round's arrays are written: after both launches, as one leaves gaps.
local function print_written(round, output)
  for _, variable in ipairs(round.writes) do add(output, "  %s_array:written_on_device()", variable.id) end
end

--- The launches of a loop's rounds.
local function print_rounds(part, output)
  local round, time = part.round, part.node.variable.id
  local names = table.concat(round_kernels.names(round), ", ", 3)
  add(output, "do local %s = %s_from", time, time)
  indented(output, print_all_valid, round, output)
  add(output, "end")
  add(output, "for %s_first = %s_from, %s_to, rounds.passes do", time, time, time)
  add(output, "  local %s_last = min(%s_first + rounds.passes - 1, %s_to)", time, time, time)
  add(output, "  for number = 1, 2 do")
  add(output, "    local range, %s = rounds:pieces(number, %s_last)", names, time)
  add(output, "    if range then")
  indented(output, indented, output, indented, output, launches.launch, "rounds.kernel", "range", round, output)
  add(output, "      counters.launches = counters.launches + 1")
  add(output, "    end")
  add(output, "  end")
  print_written(round, output)
  add(output, "end")
end

--- A loop that may go in rounds; `otherwise` adds the lines of how it goes where that does not pay.
function round_launches.print(part, output, otherwise)
  local node, time = part.node, part.node.variable.id
  add(output, "do -- line %d", node.line)
  indented(output, function()
    add(output, "local %s_from, %s_to = %s, %s", time, time, launches.expression(node.from),
      launches.expression(node.to))
    add(output, "local rounds, %s = nil, %s_from", time, time)
    add(output, "if %s_from < %s_to and %s then", time, time, condition_of(part.round))
    indented(output, function()
      print_line(part, output)
      add(output, "rounds = kernels.rounds[%d]:over(%s_to - %s_from + 1, low, high, %s)", part.round.index, time, time,
        part.round.bytes)
    end)
    add(output, "end")
    add(output, "if rounds then")
    indented(output, print_rounds, part, output)
    add(output, "else")
    indented(output, otherwise)
    add(output, "end")
  end)
  add(output, "end")
end

return round_launches
