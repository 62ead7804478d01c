-- SPDX-License-Identifier: MIT
--- The Game of Life by operators on slices: the field moved by one cell in eight directions, added up.
-- Usage: life.lua [generations [file.png]]

local cl = require "clcompute"
local device = cl.device()
local ROWS, COLUMNS = 96, 128
local GENERATIONS = tonumber(arg[1]) or 300

-- Dead cells surround the field, so that each cell has eight neighbours.
local field = device:zeros("uchar", ROWS + 2, COLUMNS + 2)
local soup = cl.lt(device:random("float", ROWS, COLUMNS, { seed = 3 }), 0.3)
soup:copy_rect { to = field, to_at = { 2, 2 } }

--- The cells that lie so many rows below and columns to the right.
local function moved(down, right)
  return field:slice({ 2 + down, ROWS + 1 + down }, { 2 + right, COLUMNS + 1 + right })
end

for _ = 1, GENERATIONS do
  local around = moved(-1, -1) + moved(-1, 0) + moved(-1, 1) + moved(0, -1) + moved(0, 1)
    + moved(1, -1) + moved(1, 0) + moved(1, 1)
  local living = cl.eq(around, 3) | cl.eq(around, 2) & moved(0, 0)
  living:copy_rect { to = field, to_at = { 2, 2 } }
end
local cells = field:slice({ 2, ROWS + 1 }, { 2, COLUMNS + 1 })
print(("%d cells live after %d generations"):format(cl.sum(cells), GENERATIONS))
print(cl.picture(cells))
if arg[2] then (cells * 255):save(arg[2]) end
