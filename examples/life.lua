-- SPDX-License-Identifier: MIT
--- The Game of Life by operators on slices: the field moved by one cell in eight directions, added up.
-- Usage: life.lua [generations [page.html]]

local cl = require "clcompute"
local device = cl.device()
local ROWS, COLUMNS = 96, 128
local GENERATIONS = tonumber(arg[1]) or 300
-- Dead cells surround the field, so that each cell has eight neighbours.
local field = device:zeros("uchar", ROWS + 2, COLUMNS + 2)
local living = cl.lt(device:random("float", ROWS, COLUMNS, { seed = 3 }), 0.3)
local pictures = {}

--- The cells that lie so many rows below and columns to the right.
local function moved(down, right)
  return field:slice({ 2 + down, ROWS + 1 + down }, { 2 + right, COLUMNS + 1 + right })
end

for generation = 0, GENERATIONS do
  if 3 * generation % GENERATIONS < 3 then
    pictures[#pictures + 1] = cl.picture(living, { title = "Life, generation " .. generation })
  end
  living:copy_rect { to = field, to_at = { 2, 2 } }
  local around = moved(-1, -1) + moved(-1, 0) + moved(-1, 1) + moved(0, -1) + moved(0, 1)
    + moved(1, -1) + moved(1, 0) + moved(1, 1)
  living = cl.eq(around, 3) | cl.eq(around, 2) & moved(0, 0)
end
print(("%d cells live after %d generations"):format(cl.sum(field), GENERATIONS))
print(pictures[#pictures])
if arg[2] then io.open(arg[2], "w"):write(pictures[1]:html(table.unpack(pictures, 2))):close() end
