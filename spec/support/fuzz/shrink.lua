-- SPDX-License-Identifier: MIT
--- Makes a script that fails shorter: takes lines away, many at once, then few, as long as it fails in the same way
-- (delta debugging: Zeller, Hildebrandt 2002).

local shrink = {}

--- The lines without those from first to last.
local function without(lines, first, last)
  local rest = table.move(lines, 1, first - 1, 1, {})
  return table.move(lines, last + 1, #lines, first, rest)
end

--- Takes pieces of so many lines away, from the end on, which depends on what stands before it.
local function pass(lines, size, fails)
  local last = #lines
  while last >= 1 do
    local first = math.max(1, last - size + 1)
    local rest = without(lines, first, last)
    if fails(rest) then lines = rest end
    last = first - 1
  end
  return lines
end

--- The fewest lines found that still fail.
-- @tparam {string} lines
-- @tparam function fails takes lines, tells whether they fail as these do
-- @tparam[opt=math.huge] number most calls of it
-- @treturn {string} lines
function shrink.lines(lines, fails, most)
  local tries = 0
  local function try(rest)
    tries = tries + 1
    return tries <= (most or math.huge) and fails(rest)
  end
  local size = (#lines + 1) // 2
  repeat
    local before = #lines
    lines = pass(lines, size, try)
    size = math.max(1, size // 2)
  until size == 1 and #lines == before or tries > (most or math.huge)
  return lines
end

return shrink
